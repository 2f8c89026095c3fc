#pragma once
// Implementation of nan_tensor.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/nan_tensor.hpp>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <set>

namespace leat {

namespace detail {

inline bool holds(const tensor_value& v, bool (*what)(double)) {
  if (!v) return false;
  const auto any = [&]<class T>(std::span<const T> all) {
    for (const T x : all)
      if (what(static_cast<double>(x))) return true;
    return false;
  };
  if (v.type() == dtype::float32) return any(v.values<float>());
  if (v.type() == dtype::float64) return any(v.values<double>());
  return false;
}
inline bool holds_nan(const tensor_value& v) {
  return holds(v, [](double x) { return std::isnan(x); });
}
inline bool holds_infinity(const tensor_value& v) {
  return holds(v, [](double x) { return std::isinf(x); });
}

inline bool is_variable_node(const graph& g, int index) { return g.at(index).op->kind == op_kind::variable; }

// Whether a node is computed again when a run is repeated: arithmetic, variables and writes to them, control flow.
inline bool repeats(const graph& g, int index) {
  const facts& what = g.at(index).op->what;
  return what.is <= nature::observes || !what.written.empty();
}

inline std::pair<int, int> key_of(const output& o) { return {o.index(), o.port()}; }
inline bool contains(std::span<const output> list, const output& o) {
  return std::any_of(list.begin(), list.end(), [&](const output& other) { return key_of(other) == key_of(o); });
}

// The indices of the nodes that these fetches need when some tensors are fed. A node's index is higher than those of its operands.
inline std::set<int> nodes_of_run(graph& g, std::span<const graph_element> fetches, std::span<const output> fed) {
  std::set<int> needed;
  std::vector<int> open;
  const auto is_fed = [&](const output& o) { return contains(fed, o); };
  const auto need = [&](int index) {
    if (needed.insert(index).second) open.push_back(index);
  };
  for (const graph_element& e : fetches) {
    if (const auto* tensor = std::get_if<output>(&e)) {
      if (!is_fed(*tensor)) need(tensor->index());
    } else {
      need(std::get<graph_operation>(e).index());
    }
  }
  while (!open.empty()) {
    const graph_operation node(g, open.back());
    open.pop_back();
    for (const output& in : node.inputs())
      if (!is_fed(in)) need(in.index());
    for (const graph_operation& waits : node.control_inputs()) need(waits.index());
  }
  return needed;
}

inline std::string place_of(const graph_operation& op) {
  const source_position at = op.made_at();
  std::string text = "node '" + op.name() + "' (" + std::string(op.type()) + ")";
  if (at.line != 0) text += std::string(", made at ") + at.file + ":" + std::to_string(at.line);
  return text;
}

}  // namespace detail

LEAT_FUNCTION std::vector<output> sources_of(graph& g, std::span<const graph_element> fetches, std::span<const output> fed) {
  std::vector<output> list;
  for (const int index : detail::nodes_of_run(g, fetches, fed)) {
    if (detail::repeats(g, index) || g.at(index).op->kind == op_kind::placeholder || !g.named().record(index).fetchable) continue;
    for (const output& o : graph_operation(g, index).outputs())
      if (o.type() != resource_dtype && to_data_type(o.type()) != data_type::invalid && !detail::contains(fed, o)) list.push_back(o);
  }
  return list;
}

LEAT_FUNCTION std::optional<nan_origin> find_nan(graph& g, const run_snapshot& begun_with) {
  for (const auto& [name, value] : begun_with.variables)
    if (detail::holds_nan(value))
      return nan_origin{.node = name, .is_variable = true, .text = "the variable '" + name + "' held NaN before the run"};
  std::vector<output> fed;
  std::vector<feed_item> feeds;
  for (const auto& [tensor, value] : begun_with.feeds) {
    fed.push_back(tensor);
    feeds.emplace_back(tensor, value);
    if (detail::holds_nan(value))
      return nan_origin{.node = tensor.operation().name(),
                        .text = "NaN came in by " + detail::place_of(tensor.operation()) + ", whose value was from outside"};
  }
  // Nodes with side effects outside the graph, and nodes that wait for them, are not repeated.
  std::vector<output> watched;
  std::set<int> acting;
  for (const int index : detail::nodes_of_run(g, begun_with.fetches, fed)) {
    const graph_operation node(g, index);
    bool acts = !detail::repeats(g, index) && g.at(index).op->kind != op_kind::placeholder;
    const auto outputs = node.outputs();
    if (acts && !outputs.empty())
      acts = !std::all_of(outputs.begin(), outputs.end(), [&](const output& o) { return detail::contains(fed, o); });
    for (const output& in : node.inputs()) acts = acts || (acting.contains(in.index()) && !detail::contains(fed, in));
    for (const graph_operation& waits : node.control_inputs()) acts = acts || acting.contains(waits.index());
    if (acts) acting.insert(index);
    if (acts || detail::is_variable_node(g, index) || !g.named().record(index).fetchable) continue;
    for (const output& o : outputs)
      if ((o.type() == dtype::float32 || o.type() == dtype::float64) && !detail::contains(fed, o)) watched.push_back(o);
  }
  graph_session again(g, {.fuse = false});
  for (const auto& [name, v] : saved_variables(g))
    if (const auto found = begun_with.variables.find(name); found != begun_with.variables.end()) again.assign(v, found->second);
  const auto results = again.run(watched, feeds);
  std::string before;
  for (std::size_t k = 0; k < watched.size(); ++k) {
    if (detail::holds_nan(results[k])) {
      const graph_operation node = watched[k].operation();
      std::string text = "NaN first appeared in " + detail::place_of(node) + ", of inputs that have none:";
      for (const output& in : node.inputs()) text += " " + in.name();
      return nan_origin{.node = node.name(), .text = text + before};
    }
    if (before.empty() && detail::holds_infinity(results[k]))
      before = "; infinity appeared before it in " + detail::place_of(watched[k].operation());
  }
  return std::nullopt;
}

namespace detail {

class nan_tensor_hook final : public session_run_hook {
 public:
  nan_tensor_hook(fetch_item loss, nan_options how) : loss_(std::move(loss)), how_(how) {}
  void after_create_session(watched_session&, coordinator&) override { now_ = before_ = {}; }
  session_run_args before_run(session_run_context& c) override {
    session_run_args asked{.fetches = {loss_}};
    if (!how_.locate) return asked;
    before_ = std::move(now_);
    now_ = {};
    now_.number = c.session().has_global_step() ? c.session().global_step() + 1 : before_.number + 1;
    if (graph_session* s = c.session().of_graph(); s != nullptr) {
      graph& g = s->owner();
      for (const fetch_item& f : c.original_fetches()) now_.begun_with.fetches.push_back(f.resolve(g));
      now_.begun_with.fetches.push_back(loss_.resolve(g));
      std::vector<output> fed;
      for (const feed_item& f : c.original_feeds().items()) fed.push_back(f.tensor.resolve(g));
      find_sources(g, fed);
      for (const output& o : sources_) asked.fetches.emplace_back(o);
    }
    now_.begun_with.variables = c.session().variables();
    return asked;
  }
  void after_run(session_run_context& c, const session_run_values& v) override {
    if (how_.locate && c.session().of_graph() != nullptr) {
      for (const feed_item& f : v.feeds->items()) {
        const output fed = f.tensor.resolve(c.session().of_graph()->owner());
        tensor_value value = f.value.kept();
        if (f.adapts && value.type() != fed.type())
          if (tensor_value fits = converted(value, fed.type())) value = std::move(fits);
        now_.begun_with.feeds.emplace_back(fed, std::move(value));
      }
      for (std::size_t k = 0; k < sources_.size(); ++k) now_.begun_with.feeds.emplace_back(sources_[k], v.results[k + 1]);
    }
    if (!holds_nan(v.results[0])) return;
    const std::string text = "NaN loss during training." + where(c);
    if (how_.fail_on_nan_loss) throw nan_loss_during_training(text);
    (how_.log != nullptr ? *how_.log : std::cerr) << text << "\n";
    c.request_stop();
  }

 private:
  struct past_run {
    std::int64_t number = 0;  // the global step after the run
    run_snapshot begun_with;
  };

  // A loop repeats the same fetches, so their sources are searched for only once.
  void find_sources(graph& g, const std::vector<output>& fed) {
    std::vector<std::pair<int, int>> key;
    for (const graph_element& e : now_.begun_with.fetches)
      if (const auto* tensor = std::get_if<output>(&e)) key.push_back(key_of(*tensor));
      else key.emplace_back(std::get<graph_operation>(e).index(), -1);
    key.emplace_back(-1, -1);
    for (const output& o : fed) key.push_back(key_of(o));
    if (key == sources_are_of_) return;
    sources_ = sources_of(g, now_.begun_with.fetches, fed);
    sources_are_of_ = std::move(key);
  }

  std::string where(session_run_context& c) const {
    const auto at_step = [](std::int64_t step) { return " In step " + std::to_string(step) + ": "; };
    if (!how_.locate || c.session().of_graph() == nullptr) {
      for (const auto& [name, value] : how_.locate ? now_.begun_with.variables : c.session().variables())
        if (holds_nan(value))
          return how_.locate ? at_step(now_.number) + "the variable '" + name + "' held NaN before the run."
                             : " The variable '" + name + "' holds NaN after the run.";
      return how_.locate ? at_step(now_.number) + "no variable held NaN before the run." : "";
    }
    try {
      graph& g = c.session().of_graph()->owner();
      auto found = find_nan(g, now_.begun_with);
      if (!found) return at_step(now_.number) + "no node's result was NaN when the run was repeated.";
      if (found->is_variable && !before_.begun_with.fetches.empty())
        if (const auto earlier = find_nan(g, before_.begun_with)) return at_step(before_.number) + earlier->text + ".";
      return at_step(now_.number) + found->text + ".";
    } catch (const std::exception& e) {
      return at_step(now_.number) + "the run could not be repeated: " + e.what();
    }
  }

  fetch_item loss_;
  nan_options how_;
  std::vector<output> sources_;
  std::vector<std::pair<int, int>> sources_are_of_;
  past_run now_, before_;
};

}  // namespace detail

LEAT_FUNCTION hook nan_tensor(fetch_item loss, nan_options how) { return std::make_shared<detail::nan_tensor_hook>(std::move(loss), how); }

}  // namespace leat
