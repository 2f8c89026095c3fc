#pragma once
// Implementation of call.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/graph/bind_arguments.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/operator_definition.hpp>

#include <algorithm>

namespace leat {

namespace detail {
// A node of an operator that has a class. `given` are its operands, then the inputs that hold numeric attributes; other numeric attributes
// are read from the named ones.
LEAT_FUNCTION output call_known(graph& g, const op_info& op, std::span<const number_argument> given, attribute_map attributes,
                                std::string_view name, std::vector<int> waits) {
  const auto fields = form_of(op, static_cast<int>(given.size()));
  std::size_t held = 0;
  for (const field& f : fields) held += is_number_input(f.kind) ? 1 : 0;
  const std::size_t operands = given.size() - std::min(held, given.size());
  dtype type = dtype::invalid;
  for (std::size_t k = 0; k < operands && type == dtype::invalid; ++k)
    if (const auto* tensor = std::get_if<output>(&given[k]); tensor != nullptr && static_cast<bool>(*tensor)) type = tensor->type();
  std::vector<output> inputs;
  std::vector<tensor_info> infos;
  for (std::size_t k = 0; k < operands; ++k) {
    const auto* literal = std::get_if<tensor_literal>(&given[k]);
    if (literal == nullptr) inputs.push_back(std::get<output>(given[k]));
    else inputs.push_back(g.named().make_literal(g, type == dtype::invalid ? *literal : literal->as(type)));
    if (static_cast<bool>(inputs.back())) infos.push_back({inputs.back().type(), inputs.back().extent()});
  }
  std::vector<field> named;
  for (const field& f : fields)
    if (!is_number_input(f.kind)) named.push_back(f);
  for (const field& f : named) {
    const attribute_value* const value = f.kind == field_kind::word ? attributes.find(f.name) : nullptr;
    const std::string* const word = value != nullptr ? value->get_if<std::string>() : nullptr;
    if (word == nullptr || std::find(f.words.begin(), f.words.end(), *word) != f.words.end()) continue;
    std::string known;
    for (const std::string_view w : f.words) known += (known.empty() ? "\"" : ", \"") + std::string(w) + '"';
    throw invalid_argument(std::string(op.type) + ": attribute " + std::string(f.name) + " is \"" + *word + "\", which is none of " +
                           known);
  }
  const auto numbers = numbers_from({named.data(), named.size()}, attributes, {}, infos);
  const output made = g.named().build(g, op, inputs, numbers ? *numbers : std::vector<std::int64_t>{}, name.empty() ? op.type : name,
                                      given.subspan(operands), std::move(waits));
  attribute_map& its = g.named().record(made.index()).attributes;
  for (auto& [key, value] : attributes)
    if (!its.contains(key)) its[key] = std::move(value);
  return made;
}
}  // namespace detail

LEAT_FUNCTION graph_operation call_operator(graph& g, std::string_view type, std::span<const number_argument> given,
                                            attribute_map attributes, std::string_view name, std::vector<int> waits) {
  const operator_definition* d = find_definition(type);
  named_part& nodes = g.named();
  if (d == nullptr) {
    const op_info* const known = find_operator(type);
    if (known == nullptr) throw unimplemented("the operator '" + std::string(type) + "' is not defined: define_operator makes it known");
    const older_spelling* const s = find_older_spelling(type);
    if (s == nullptr) return {g, detail::call_known(g, *known, given, std::move(attributes), name, std::move(waits)).index()};
    std::vector<number_argument> ordered(given.begin(), given.end());
    if (s->number_first && !ordered.empty()) std::rotate(ordered.begin(), ordered.begin() + 1, ordered.end());
    const int made = detail::call_known(g, *known, ordered, std::move(attributes), name, std::move(waits)).index();
    nodes.record(made).attributes.erase(s->lacks);
    return {g, made};
  }
  const auto ranges = detail::ranges_of(*d, static_cast<int>(given.size()), attributes);
  const std::string outer = nodes.names.scope();
  const std::string scope = nodes.names.open_scope(name.empty() ? std::string_view(d->info.call_name) : name);
  const struct restore {
    name_table& names;
    const std::string& outer;
    ~restore() { names.set_scope(outer); }
  } back{nodes.names, outer};
  nodes.names.set_scope(scope);
  std::vector<output> inputs(given.size());
  std::vector<int> variables;
  // Tensors come first, because arrays take the dtype of the tensors.
  for (const auto& range : ranges)
    for (int k = range.first; k < range.first + range.count; ++k) {
      const auto* tensor = std::get_if<output>(&given[static_cast<std::size_t>(k)]);
      if (tensor == nullptr) continue;
      if (!static_cast<bool>(*tensor))
        throw invalid_argument(std::string(type) + ": an operand that is no node of a graph" + nodes.place(scope));
      if (&tensor->owner() != &g) {
        for (const auto& other : given)
          if (const auto* o = std::get_if<output>(&other); o != nullptr && static_cast<bool>(*o) && &o->owner() == &g)
            throw invalid_argument(describe(*tensor) + " must be from the same graph as " + describe(*o) + ".");
        throw invalid_argument(describe(*tensor) + " is not an element of this graph.");
      }
      const bool is_reference = is_reference_result(*g.at(tensor->index()).op, tensor->port());
      if (range.argument->reference && !is_reference && g.at(tensor->index()).op->kind != op_kind::placeholder)
        throw invalid_argument("Input '" + range.argument->name + "' of '" + d->type + "' Op requires l-value input: " + describe(*tensor) +
                               nodes.place(scope));
      if (range.argument->reference && is_reference) variables.push_back(tensor->index());
      inputs[static_cast<std::size_t>(k)] = range.argument->reference ? *tensor : nodes.value_of(*tensor);
      if (!range.argument->reference) nodes.name_number(g, inputs[static_cast<std::size_t>(k)], range.argument->name);
    }
  for (const auto& range : ranges)
    for (int k = range.first; k < range.first + range.count; ++k) {
      const auto* literal = std::get_if<tensor_literal>(&given[static_cast<std::size_t>(k)]);
      if (literal == nullptr) continue;
      dtype wanted = array_dtype(range.argument->type);
      if (!range.argument->type_attribute.empty()) {
        for (const auto& other : ranges)
          if (other.argument->type_attribute == range.argument->type_attribute)
            for (int j = other.first; j < other.first + other.count && wanted == dtype::invalid; ++j)
              if (inputs[static_cast<std::size_t>(j)]) wanted = array_dtype(to_data_type(inputs[static_cast<std::size_t>(j)].type()));
      }
      std::string its_name = range.argument->name;
      if (range.argument->is_list()) its_name += "_" + std::to_string(k - range.first);
      inputs[static_cast<std::size_t>(k)] = nodes.make_constant(
          g, wanted == dtype::invalid || to_data_type(wanted) == literal->type() ? *literal : literal->as(wanted), its_name);
    }
  std::vector<tensor_info> infos;
  for (const output& o : inputs) infos.push_back({o.type(), o.extent()});
  std::vector<tensor_info> results;
  try {
    detail::bind_attributes(*d, ranges, infos, attributes);
    detail::check_attributes(*d, attributes);
    results = detail::infer_results(*d, inputs, infos, attributes);
  } catch (const invalid_argument& e) {
    std::string text = e.what();
    for (std::size_t i = 0; i < inputs.size() && i < 4; ++i) text += (i == 0 ? ": " : " and ") + describe(inputs[i]);
    throw invalid_argument(text + nodes.place(scope));
  }
  // A node that refers to variables is colocated with all of them.
  const int last = variables.empty() ? -1 : variables.back();
  for (std::size_t i = 0; i + 1 < variables.size(); ++i) nodes.colocations.push_back(variables[i]);
  const struct pop {
    named_part& of;
    std::size_t count;
    ~pop() { of.colocations.resize(of.colocations.size() - count); }
  } popped{nodes, variables.empty() ? 0 : variables.size() - 1};
  return {g, nodes.append(g, {.op = &d->info,
                              .name = scope,
                              .inputs = inputs,
                              .attributes = std::move(attributes),
                              .controls = std::move(waits),
                              .results = std::move(results),
                              .stands_with = last})};
}

namespace detail {
LEAT_FUNCTION output call_by_handle(graph& g, const op_info& op, std::span<const output> operands, std::span<const std::int64_t> numbers,
                                    std::string_view name) {
  static constexpr std::pair<std::string_view, std::string_view> types[]{{"Assign", "AssignVariableOp"},
                                                                         {"AssignAdd", "AssignAddVariableOp"},
                                                                         {"AssignSub", "AssignSubVariableOp"},
                                                                         {"GatherV2", "ResourceGather"}};
  for (const auto& [of_reference, of_handle] : types) {
    if (op.code != code_of_type(of_reference)) continue;
    const bool writes = op.what.is == nature::effect;
    if (!writes && std::ranges::any_of(numbers, [](std::int64_t axis) { return axis != 0; })) break;
    if (name.empty() || name == of_reference) name = writes ? of_handle : "Gather";
    attribute_map attributes;
    if (of_reference == types[0].first) attributes["validate_shape"] = true;
    const graph_operation made = call_operator(g, of_handle, {operands[0], operands[1]}, std::move(attributes), name);
    return writes ? g.named().read_handle(g, operands[0], {made.index()}) : made.result();
  }
  return {};
}
LEAT_FUNCTION output magnitude(graph& g, const output& x, std::string_view name) {
  return call_operator(g, "ComplexAbs", {x}, {{"Tout", part_dtype(x.type())}}, name.empty() ? "Abs" : name).result();
}
LEAT_FUNCTION output stacked_product(graph& g, std::span<const output> operands, std::span<const std::int64_t> transposed,
                                     std::string_view name) {
  return call_operator(g, "BatchMatMulV2", {operands[0], operands[1]}, {{"adj_x", transposed[0] != 0}, {"adj_y", transposed[1] != 0}},
                       name.empty() ? "MatMul" : name)
      .result();
}
}  // namespace detail

}  // namespace leat

namespace leat {

LEAT_FUNCTION graph_operation call_operator(graph& g, std::string_view type, std::initializer_list<number_argument> given,
                                            attribute_map attributes, std::string_view name, std::vector<int> waits) {
  return call_operator(g, type, std::span<const number_argument>(given.begin(), given.size()), std::move(attributes), name,
                       std::move(waits));
}

}  // namespace leat
