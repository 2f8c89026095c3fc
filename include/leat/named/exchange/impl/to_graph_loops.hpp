#pragma once
// Implementation of to_graph.hpp: loops of typed expressions as TensorFlow 1.x's functions make them. A scan reads its sequences from
// arrays of tensors, and writes what it gives to others, in a loop over the steps; a loop with a condition is a `while_loop`; branches are
// a `cond`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/exchange/graph_writer.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/tensor_array.hpp>

#include <optional>
#include <vector>

namespace leat::detail {

class loop_writer {
 public:
  loop_writer(graph_writer& w, int row)
      : w_(w), form_(w.loop_at(row)), body_(form_.body), n_(w.from().at(row)), states_(body_.states.size()), outs_(body_.outs.size()),
        used_(body_.results() + 1, 0) {
    for (int i = row + 1; i < w.from().size(); ++i)
      if (const node& user = w.from().at(i);
          w.is_live(i) && is_operator<passes::loop_result_op>(*user.op) && w.from().input(user, 1) == row)
        used_[static_cast<std::size_t>(w.number(user, 0))] = 1;
  }

  std::vector<output> run() {
    std::vector<output> results(used_.size());
    if (form_.is_branch) {
      const std::vector<output> made = branch();
      std::copy(made.begin(), made.end(), results.begin());
      return results;
    }
    std::optional<name_scope> scope;  // as TensorFlow's functions have, around the loop
    if (!body_.is_limited) scope.emplace(w_.to(), outs_ > 0 ? "scan" : body_.is_reversed ? "foldr" : "foldl");
    count_ = steps();
    size_ = is_named(length()) ? count_ : operand_value(as_int32(length()));
    for (std::size_t k = 0; k < body_.xs.size(); ++k) {
      const tensor_info& entry = body_.g.at(body_.xs[k]).result;
      const output all = input(states_ + k);
      read_.push_back(array_of(entry).unstack(all));
    }
    std::vector<operand_value> variables;
    if (has_number()) variables.emplace_back(body_.is_reversed ? operand_value(last_step()) : operand_value(std::int32_t{0}));
    for (std::size_t k = 0; k < states_; ++k) variables.emplace_back(input(k));
    for (std::size_t k = 0; k < outs_ + body_.tapes(); ++k)
      if (used_[states_ + k] != 0) {
        given_.push_back(k);
        written_.push_back(array_of(info_of_given(k)));
        variables.emplace_back(written_.back().flow());
      }
    for (std::size_t k = 0; k < body_.invariants.size(); ++k) prepare_invariant(k);
    while_options options;
    if (!has_number()) options.maximum_iterations = as_int32(length());
    const std::vector<output> made = make_loop([&](const auto& v) { return condition(v); }, [&](const auto& v) { return body(v); },
                                               variables, options, std::source_location::current());
    const std::size_t first = has_number() ? 1 : 0;
    for (std::size_t k = 0; k < states_; ++k) results[k] = made[first + k];
    for (std::size_t j = 0; j < given_.size(); ++j) {
      results[states_ + given_[j]] = written_[j].with_flow(made[first + states_ + j]).stack();
      set_shape(results[states_ + given_[j]], without_names(passes::with_length(length(), info_of_given(given_[j]).extent)));
    }
    if (counts()) results.back() = cast(made[0], dtype::int64);
    return results;
  }

 private:
  std::int64_t length() const { return w_.number(n_, passes::loop_length); }
  bool counts() const { return used_.back() != 0; }
  bool gives() const {
    for (std::size_t k = states_; k + 1 < used_.size(); ++k)
      if (used_[k] != 0) return true;
    return false;
  }
  // Whether the number of the step is a variable. A loop with a condition has one of its own for its maximum.
  bool has_number() const { return !form_.has_condition() || counts() || gives(); }
  output input(std::size_t k) const { return w_.input(n_, static_cast<int>(k)); }
  int node_of_given(std::size_t k) const { return k < outs_ ? body_.outs[k] : body_.on_tape(k - outs_); }
  tensor_info info_of_given(std::size_t k) const { return body_.g.at(node_of_given(k)).result; }
  tensor_array array_of(const tensor_info& entry) const {
    return {entry.type, size_, {.element_shape = without_names(entry.extent)}};
  }

  // The number of steps: a number, or a scalar of int32.
  operand_value steps() const {
    if (body_.is_limited && !form_.has_condition()) return cast(input(static_cast<std::size_t>(form_.inputs())), dtype::int32);
    if (!is_named(length())) return as_int32(length());
    return w_.size_at(length());
  }
  operand_value last_step() const {
    if (count_.tensor() == nullptr) return as_int32(length() - 1);
    return subtract(*count_.tensor(), std::int32_t{1}, "sub");
  }

  // A product of sizes is computed in the step, of sizes that are known before the loop.
  void prepare_invariant(std::size_t k) const {
    const node& captured = w_.row_of(n_, static_cast<int>(states_ + body_.xs.size() + k));
    if (captured.op->kind != op_kind::extent) return;
    for (int d = 1; d < captured.attribute_count; ++d) static_cast<void>(w_.size_at(w_.number(captured, d)));
  }
  // What a step computes, of these states and entries.
  std::vector<output> compute(std::span<const output> states, const std::vector<output>& entries, const list<int>& targets) const {
    return compute_of(w_, n_, body_, states, entries, targets);
  }
  static std::vector<output> compute_of(graph_writer& w, const node& n, const passes::loop_body& b, std::span<const output> states,
                                        const std::vector<output>& entries, const list<int>& targets) {
    const std::span<const int> wanted(targets.data(), targets.size());
    graph_writer step(w.to(), b.g, w.all_carried(), &w);
    const std::vector<char> live = step.needed(wanted);
    const auto is_live = [&](int leaf) { return live[static_cast<std::size_t>(leaf)] != 0; };
    for (std::size_t k = 0; k < b.states.size(); ++k)
      if (is_live(b.states[k])) {
        if (states.empty()) step.put(b.states[k], w, w.from().input(n, static_cast<int>(k)));
        else step.put(b.states[k], states[k]);
      }
    for (std::size_t k = 0; k < entries.size(); ++k)
      if (is_live(b.xs[k])) step.put(b.xs[k], entries[k]);
    for (std::size_t k = 0; k < b.invariants.size(); ++k)
      if (is_live(b.invariants[k])) step.put(b.invariants[k], w, w.from().input(n, static_cast<int>(b.states.size() + b.xs.size() + k)));
    step.run(wanted);
    std::vector<output> made;
    for (const int t : targets) {
      made.push_back(step.result(t));
      set_shape(made.back(), without_names(b.g.at(t).result.extent));
    }
    return made;
  }
  std::vector<output> next_states(std::span<const output> states, const std::vector<output>& made) const {
    std::vector<output> next;
    for (std::size_t k = 0; k < states_; ++k) next.push_back(body_.adds[k] != 0 ? add(states[k], made[k], "add") : made[k]);
    return next;
  }

  // v: the number of the step, if there is one, the states, and what follows the writes to each array.
  branch_result condition(const std::vector<output>& v) const {
    branch_result made;
    std::optional<output> goes_on;
    if (has_number()) goes_on = body_.is_reversed ? greater_equal(v[0], std::int32_t{0}) : less(v[0], count_);
    if (form_.has_condition()) {
      const list<int> holds{body_.holds};
      const output held = compute(std::span(v).subspan(has_number() ? 1 : 0, states_), {}, holds)[0];
      goes_on = goes_on ? logical_and(*goes_on, held) : held;
    }
    add_item(made, *goes_on);
    return made;
  }
  branch_result body(const std::vector<output>& v) const {
    const std::span<const output> states = std::span(v).subspan(has_number() ? 1 : 0, states_);
    std::vector<output> entries;
    for (const tensor_array& x : read_) entries.push_back(x.read(v[0]));
    list<int> targets = body_.next;
    for (const std::size_t k : given_) targets.push_back(node_of_given(k));
    const std::vector<output> made = compute(states, entries, targets);
    branch_result next;
    if (has_number()) add_item(next, body_.is_reversed ? subtract(v[0], std::int32_t{1}, "sub") : add(v[0], std::int32_t{1}, "add"));
    for (const output& s : next_states(states, made)) add_item(next, s);
    for (std::size_t j = 0; j < given_.size(); ++j) {
      const output& value = made[states_ + j];
      const output& flow = v[v.size() - given_.size() + j];
      add_item(next, written_[j].with_flow(flow).write(v[0], value).flow());
    }
    return next;
  }

  std::vector<output> branch() const {
    const auto taken = [&]() {
      branch_result made;
      std::vector<output> states;
      for (std::size_t k = 0; k < states_; ++k)
        if (body_.adds[k] != 0) states.resize(states_);
      if (!states.empty())
        for (std::size_t k = 0; k < states_; ++k) states[k] = input(k);
      const std::vector<output> computed = compute(states, {}, body_.next);
      for (const output& o : states.empty() ? computed : next_states(states, computed)) add_item(made, o);
      return made;
    };
    const auto other = [&]() {
      branch_result made;
      if (form_.otherwise >= 0) {
        const passes::loop_body& b = w_.loop_at(form_.otherwise).body;
        for (const output& o : compute_of(w_, w_.from().at(form_.otherwise), b, {}, {}, b.next)) add_item(made, o);
      } else {
        for (std::size_t k = 0; k < states_; ++k) add_item(made, input(k));
      }
      return made;
    };
    const output predicate = form_.predicate >= 0 ? w_.result(form_.predicate)
                                                  : greater(input(static_cast<std::size_t>(form_.inputs())), std::int64_t{0});
    if (form_.is_negated) return build_cond(predicate, other, taken, "cond");
    return build_cond(predicate, taken, other, "cond");
  }

  graph_writer& w_;
  const loop_form& form_;
  const passes::loop_body& body_;
  const node& n_;
  std::size_t states_, outs_;
  std::vector<char> used_;
  operand_value count_{std::int32_t{0}};  // how many steps there are
  operand_value size_{std::int32_t{0}};   // the elements of sequences, of which a loop that is limited uses the first
  std::vector<tensor_array> read_, written_;
  std::vector<std::size_t> given_;  // what is written, by its number behind the states
};

LEAT_FUNCTION std::vector<output> write_loop(graph_writer& w, int row) { return loop_writer(w, row).run(); }

}  // namespace leat::detail
