#pragma once
// Implementation of named_optimizer.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/handle.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/named/optimizer.hpp>

#include <map>
#include <tuple>

namespace leat {

struct named_optimizer::state {
  using slot_key = std::tuple<std::uint64_t, int, std::string>;  // a graph's serial number, a variable's node, and the slot's name
  optimizer_description what;
  bool locks = false;
  std::map<slot_key, output> slots;
  std::map<std::pair<std::uint64_t, std::string>, output> powers;
  std::map<std::string, output> prepared;  // the settings of the current step as tensors
  std::vector<output> made;
};

LEAT_FUNCTION named_optimizer::named_optimizer(optimizer_description what) : state_(std::make_shared<state>()) {
  state_->what = std::move(what);
}
LEAT_FUNCTION const std::string& named_optimizer::name() const { return state_->what.name; }
LEAT_FUNCTION named_optimizer& named_optimizer::use_locking(bool locks) {
  state_->locks = locks;
  return *this;
}
LEAT_FUNCTION const std::vector<output>& named_optimizer::variables() const { return state_->made; }
LEAT_FUNCTION bool named_optimizer::locks() const { return state_->locks; }

LEAT_FUNCTION std::vector<variable_gradient> named_optimizer::compute_gradients(const output& loss, const minimize_options& options,
                                                                                const std::source_location& where) const {
  if (!static_cast<bool>(loss)) throw invalid_argument("compute_gradients: the loss is no node of a graph");
  if (!is_floating(loss.type()))
    throw invalid_argument("Invalid type " + dtype_text(loss) + " for " + loss.name() + ", expected: float32 or float64.");
  std::vector<output> variables = options.variables;
  if (variables.empty()) variables = get_tensors(loss.owner(), collection::trainable_variables);
  if (variables.empty()) throw invalid_argument("No variables to optimize.");
  gradient_options settings{.gate_gradients = options.gate == gate_gradients::operation};
  if (static_cast<bool>(options.gradient_of_loss)) settings.grad_ys = {options.gradient_of_loss};
  std::vector<gradient_value> made = sparse_gradients({loss}, variables, settings, where);
  if (options.gate == gate_gradients::graph) gate_all(made);
  std::vector<variable_gradient> pairs;
  for (std::size_t k = 0; k < variables.size(); ++k) pairs.push_back({made[k], variables[k]});
  return pairs;
}

LEAT_FUNCTION graph_operation named_optimizer::apply_gradients(const std::vector<variable_gradient>& pairs, const output& global_step,
                                                               std::string_view name, const std::source_location& where) const {
  if (pairs.empty()) throw invalid_argument("No variables provided.");
  std::vector<output> variables;
  for (const auto& p : pairs) {
    check(p);
    if (static_cast<bool>(p.gradient)) variables.push_back(p.variable);
  }
  if (variables.empty()) throw invalid_argument("No gradients provided for any variable: " + list_of(pairs) + ".");
  graph& g = variables.front().owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const default_graph_scope here(g);
  const bool held = std::exchange(nodes.position_held, true);
  const struct back {
    named_nodes& nodes;
    bool held;
    ~back() { nodes.position_held = held; }
  } restore{nodes, held};
  make_slots(variables);
  const name_scope scope(g, name.empty() ? std::string_view(this->name()) : name);
  prepare(g);
  std::vector<graph_operation> updates;
  for (const auto& p : pairs) {
    if (!static_cast<bool>(p.gradient)) continue;
    const name_scope inner(g, "update_" + p.variable.operation().name());
    const colocate_with there(p.variable);
    for (const auto& made : update(p)) updates.push_back(made);
  }
  graph_operation step;
  if (!static_cast<bool>(global_step)) {
    step = finish(g, updates, scope.text());
  } else {
    const control_dependencies wait({finish(g, updates, "update")});
    const colocate_with there(global_step);
    step = detail::write_of(assign_add(global_step, 1, scope.text()));
  }
  bool known = false;
  for (const auto& item : get_collection(g, collection::train_op)) {
    const auto* op = std::get_if<graph_operation>(&item);
    known = known || (op != nullptr && *op == step);
  }
  if (!known) add_to_collection(g, collection::train_op, step);
  return step;
}

LEAT_FUNCTION graph_operation named_optimizer::minimize(const output& loss, const minimize_options& options,
                                                        const std::source_location& where) const {
  const auto pairs = compute_gradients(loss, options, where);
  bool any = false;
  for (const auto& p : pairs) any = any || static_cast<bool>(p.gradient);
  if (!any)
    throw invalid_argument(
        "No gradients provided for any variable, check your graph for ops that do not support gradients, between variables " +
        list_of(pairs) + " and loss " + describe(loss) + ".");
  return apply_gradients(pairs, options.global_step, options.name, where);
}

LEAT_FUNCTION output named_optimizer::slot(const output& variable, std::string_view its_name) const {
  const auto at = state_->slots.find({variable.owner().named().serial(), variable.index(), std::string(its_name)});
  return at == state_->slots.end() ? output{} : at->second;
}

LEAT_FUNCTION output named_optimizer::argument(const std::string& name, dtype type) const {
  const auto prepared = state_->prepared.find(name);
  if (prepared != state_->prepared.end()) {
    for (const auto& s : state_->what.settings)
      if (s.name == name && s.keeps_dtype) return prepared->second;
    if (prepared->second.type() == type && detail::is_handle(prepared->second)) return prepared->second;
    return cast(value_of(prepared->second), type);
  }
  throw not_found("the optimizer " + this->name() + " has no setting \"" + name + "\"");
}

LEAT_FUNCTION output named_optimizer::argument(const std::string& name, const gradient_value& gradient, const output& variable) const {
  graph& g = variable.owner();
  if (name == "gradient") return g.named().value_of(gradient.values);
  if (name == "indices") return gradient.indices;
  const bool is_slot = name.starts_with('&');
  if (is_slot || !state_->prepared.contains(name))
    if (const output found = slot(variable, is_slot ? name.substr(1) : name); static_cast<bool>(found)) return found;
  return argument(name, variable.type());
}

LEAT_FUNCTION std::string named_optimizer::list_of(const std::vector<variable_gradient>& pairs) {
  std::string text;
  for (const auto& p : pairs)
    text += (text.empty() ? "\"<tf.Variable '" : ", \"<tf.Variable '") + p.variable.name() + "' shape=" + shape_text(p.variable.extent()) +
            " dtype=" + dtype_text(p.variable) + ">\"";
  return "[" + text + "]";
}

LEAT_FUNCTION void named_optimizer::check(const variable_gradient& p) {
  if (!static_cast<bool>(p.variable)) throw invalid_argument("apply_gradients: a variable that is no node of a graph");
  graph& g = p.variable.owner();
  if (g.at(p.variable.index()).op->kind != op_kind::variable)
    throw invalid_argument("apply_gradients: " + describe(p.variable) + " is not a variable");
  if (!static_cast<bool>(p.gradient)) return;
  g.named().check_graph(g, std::array{p.variable, p.gradient.values});
  if (p.gradient.values.type() != p.variable.type())
    throw invalid_argument("apply_gradients: " + describe(p.gradient.values) + " is the gradient of " + describe(p.variable) +
                           ", which has another dtype");
  if (!p.gradient.is_sparse() && !may_equal(p.gradient.values.extent(), p.variable.extent()))
    throw invalid_argument("apply_gradients: " + describe(p.gradient.values) + " is the gradient of " + describe(p.variable) +
                           ", which has another shape");
}

LEAT_FUNCTION void named_optimizer::gate_all(std::vector<gradient_value>& all) {
  std::vector<output> some;
  for (const auto& v : all)
    if (static_cast<bool>(v)) some.push_back(v.values);
  if (some.empty()) return;
  const auto made = tuple(some);
  std::size_t next = 0;
  for (auto& v : all)
    if (static_cast<bool>(v)) v.values = made[next++];
}

LEAT_FUNCTION void named_optimizer::make_slots(const std::vector<output>& variables) const {
  graph& g = variables.front().owner();
  const output* first = &variables.front();
  for (const output& v : variables)
    if (v.name() < first->name()) first = &v;
  for (const auto& power : state_->what.powers) {
    const auto key = std::pair(g.named().serial(), power);
    if (state_->powers.contains(key)) continue;
    const bool by_handle = detail::is_handle(*first);
    const colocate_with there(*first);
    for (const auto& s : state_->what.settings)
      if (s.name == power)
        state_->made.push_back(state_->powers[key] = variable(s.value, power + "_power", {.trainable = false, .use_resource = by_handle}));
  }
  for (const output& v : variables)
    for (const auto& s : state_->what.slots) {
      const state::slot_key key{g.named().serial(), v.index(), s.name};
      if (state_->slots.contains(key)) continue;
      const variable_scope scope(nullptr, {.default_name = v.operation().name() + "/" + name()});
      const colocate_with there(v);
      const output made = detail::find_or_make_variable(
          "", v.extent(), {.type = v.type(), .initializer = s.start, .trainable = false, .use_resource = detail::is_handle(v)});
      detail::slice_like(made, v);
      state_->slots.emplace(key, made);
      state_->made.push_back(made);
    }
}

LEAT_FUNCTION void named_optimizer::prepare(graph& g) const {
  state_->prepared.clear();
  for (const auto& s : state_->what.settings) {
    if (s.compute) {
      state_->prepared[s.name] = s.compute();
      continue;
    }
    const output* tensor = s.value.tensor();
    if (tensor != nullptr && &tensor->owner() != &g) throw invalid_argument(name() + ": the setting " + s.name + " is of another graph");
    state_->prepared[s.name] = tensor != nullptr ? g.named().value_of(*tensor) : g.named().make_constant(g, *s.value.literal(), s.name);
  }
  const std::uint64_t serial = g.named().serial();
  for (const auto& power : state_->what.powers) {
    const output& its = state_->powers.at({serial, power});
    state_->prepared[power + "_power"] = detail::is_handle(its) ? its : value_of(its);  // each update reads a handle anew
  }
}

LEAT_FUNCTION std::vector<graph_operation> named_optimizer::update(const variable_gradient& p) const {
  const optimizer_description& what = state_->what;
  const bool has_rows = !what.sparse.type.empty() || what.sparse_update;
  if (!p.gradient.is_sparse() || !has_rows) {
    const gradient_value whole = p.gradient.is_sparse() ? gradient_value(detail::densified(p.gradient)) : p.gradient;
    if (what.dense_update) return what.dense_update(*this, whole, p.variable);
    return {apply(what.dense, whole, p.variable)};
  }
  const gradient_value rows = what.adds_equal_rows ? without_equal_rows(p.gradient) : p.gradient;
  if (what.sparse_update) return what.sparse_update(*this, rows, p.variable);
  return {apply(what.sparse, rows, p.variable)};
}

LEAT_FUNCTION graph_operation named_optimizer::apply(const optimizer_update& how, const gradient_value& gradient,
                                                     const output& variable) const {
  graph& g = variable.owner();
  const bool by_handle = detail::is_handle(variable);
  const std::string type = by_handle ? "Resource" + how.type : how.type;
  std::vector<output> inputs{variable};
  const operator_definition* defined = state_->what.casts_settings ? nullptr : find_definition(how.type);
  for (const auto& a : how.arguments) {
    const auto prepared = state_->prepared.find(a);
    if (defined != nullptr && prepared != state_->prepared.end() && prepared->second.type() != variable.type())
      throw invalid_argument("Input '" + defined->inputs[inputs.size()].name + "' of '" + how.type + "' Op has type " +
                             dtype_text(prepared->second) + " that does not match type " + std::string(name_of_dtype(variable.type())) +
                             " of argument 'var'.");
    inputs.push_back(argument(a, gradient, variable));
  }
  attribute_map attributes = how.attributes;
  attributes["T"] = variable.type();
  attributes["use_locking"] = locks();
  if (gradient.is_sparse()) attributes["Tindices"] = gradient.indices.type();
  if (!by_handle) return g.named().raw(g, type, inputs, std::move(attributes), {{variable.type(), variable.extent()}});
  const name_scope scope(g, type);
  for (std::size_t k = 0; k < how.arguments.size(); ++k)
    if (state_->prepared.contains(how.arguments[k])) inputs[k + 1] = value_of(inputs[k + 1]);
  return g.named().raw(g, type, inputs, std::move(attributes), {}, scope.text());
}

LEAT_FUNCTION gradient_value named_optimizer::without_equal_rows(const gradient_value& v) {
  graph& g = v.values.owner();
  const shape open = detail::vector_of(unknown_dimension);
  const graph_operation unique = g.named().raw(g, "Unique", std::array{v.indices}, {{"T", v.indices.type()}, {"out_idx", dtype::int32}},
                                               {{v.indices.type(), open}, {dtype::int32, v.indices.extent()}});
  const output extent = shape_of(unique.result(0));
  const output rows = detail::densified({v.values, unique.result(1), extent});
  return {rows, unique.result(0), v.dense_shape};
}

LEAT_FUNCTION graph_operation named_optimizer::finish(graph& g, std::vector<graph_operation> updates, const std::string& its_name) const {
  std::vector<control_input> all(updates.begin(), updates.end());
  if (!state_->what.powers.empty()) {
    const control_dependencies wait(all);
    const colocate_with there(state_->powers.at({g.named().serial(), state_->what.powers.front()}));
    for (const auto& power : state_->what.powers) {
      const output variable = state_->powers.at({g.named().serial(), power});
      const output product = value_of(variable) * state_->prepared.at(power);
      const output next = assign(variable, product);
      detail::set_locking(next, locks());
      all.emplace_back(detail::write_of(next));
    }
  }
  return group(all, its_name);
}

LEAT_FUNCTION std::vector<std::string> named_optimizer::slot_names() const {
  std::vector<std::string> names;
  for (const auto& s : state_->what.slots) names.push_back(s.name);
  return names;
}

LEAT_FUNCTION named_optimizer& named_optimizer::rename(std::string name) {
  state_->what.name = std::move(name);
  return *this;
}

LEAT_FUNCTION graph_operation named_optimizer::apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                                               const std::source_location& where) const {
  return apply_gradients(pairs, options.global_step, options.name, where);
}

LEAT_FUNCTION graph_operation named_optimizer::minimize(const output& loss, const output& global_step,
                                                        const std::source_location& where) const {
  return minimize(loss, {.global_step = global_step}, where);
}

}  // namespace leat
