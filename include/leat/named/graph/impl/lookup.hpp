#pragma once
// Implementation of lookup.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/graph/named.hpp>
#include <leat/named/graph/operator_definition.hpp>

#include <algorithm>

namespace leat {

LEAT_FUNCTION graph_element as_graph_element(graph& g, std::string_view name, element_kinds kinds) {
  if (!kinds.tensors && !kinds.operations) throw invalid_argument("allow_tensor and allow_operation can't both be False.");
  named_part& nodes = g.named();
  nodes.settle_names(g);
  const std::string text(name);
  const auto colon = name.find(':');
  if (colon == name.npos) {
    if (!kinds.operations)
      throw invalid_argument("The name '" + text + "' " +
                             (nodes.find(name) < 0 ? "looks like an (invalid) Operation name" : "refers to an Operation") +
                             ", not a Tensor. Tensor names must be of the form \"<op_name>:<output_index>\".");
    const int index = nodes.find(name);
    if (index < 0) throw not_found("The name '" + text + "' refers to an Operation not in the graph.");
    return graph_operation(g, index);
  }
  if (!kinds.tensors) throw invalid_argument("Name '" + text + "' appears to refer to a Tensor, not a Operation.");
  const std::string_view node_name = name.substr(0, colon);
  const std::string_view digits = name.substr(colon + 1);
  if (!detail::all_digits(digits) || digits.size() > 6)
    throw invalid_argument(
        "The name '" + text +
        "' looks like a Tensor name, but is not a valid one. Tensor names must be of the form \"<op_name>:<output_index>\".");
  const int index = nodes.find(node_name);
  const std::string missing =
      "The name '" + text + "' refers to a Tensor which does not exist. The operation, '" + std::string(node_name) + "', ";
  if (index < 0) throw not_found(missing + "does not exist in the graph.");
  const int port = std::stoi(std::string(digits));
  if (const op_info& op = *g.at(index).op;
      port >= nodes.record(index).results && op.infer == nullptr && find_definition(op.type) == nullptr)
    throw not_found(missing + "exists, and the operator '" + std::string(op.type) +
                    "' is not known: of its outputs a file tells those that other nodes take.");
  if (port >= nodes.record(index).results)
    throw not_found(missing + "exists but only has " + std::to_string(nodes.record(index).results) + " outputs.");
  return output(g, index, port);
}

LEAT_FUNCTION std::vector<graph_operation> get_operations(graph& g) {
  g.named().settle_names(g);
  std::vector<graph_operation> list;
  for (int i = 0; i < g.size(); ++i) list.emplace_back(g, i);
  const named_part& nodes = g.named();
  const auto before = [&](const auto& a, const auto& b) {
    return std::pair(nodes.record(a.index()).order, a.index()) < std::pair(nodes.record(b.index()).order, b.index());
  };
  if (!std::is_sorted(list.begin(), list.end(), before)) std::sort(list.begin(), list.end(), before);
  return list;
}

LEAT_FUNCTION std::vector<output> get_tensors(graph& g) {
  std::vector<output> list;
  for (const graph_operation& op : get_operations(g))
    for (const output& result : op.outputs()) list.push_back(result);
  return list;
}

LEAT_FUNCTION std::vector<graph_operation> consumers(const output& o) {
  std::vector<graph_operation> list;
  for (const graph_operation& op : get_operations(o.owner()))
    for (const output& in : op.inputs())
      if (in.index() == o.index() && in.port() == o.port()) list.push_back(op);
  return list;
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::string shape_in_brackets(const shape& s) {
  std::string text = "[";
  for (int i = 0; i < s.rank; ++i) text += (i > 0 ? "," : "") + (s[i] < 0 ? std::string("?") : std::to_string(s[i]));
  return text + "]";
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION void set_shape(const output& o, const shape& more) {
  const shape before = o.extent();
  if (!may_equal(before, more)) {
    const std::string both = detail::shape_in_brackets(before) + " and " + detail::shape_in_brackets(more);
    std::string text = "Shapes " + both + " must have equal rank.";
    for (int i = 0; i < before.rank && before.rank == more.rank; ++i)
      if (!may_equal(before[i], more[i])) {
        text = "Dimension " + std::to_string(i) + " in both shapes must be equal, but are " + std::to_string(before[i]) + " and " +
               std::to_string(more[i]) + ". Shapes are " + both + ".";
        break;
      }
    throw invalid_argument(text);
  }
  const shape known = known_of(before, more);
  if (o.port() == 0) o.owner().at(o.index()).result.extent = known;
  else o.owner().named().record(o.index()).beyond_first[static_cast<std::size_t>(o.port() - 1)].extent = known;
}

LEAT_FUNCTION void set_shape(const output& o, std::initializer_list<std::int64_t> sizes) {
  shape more;
  for (const std::int64_t size : sizes) {
    if (size < -1) throw invalid_argument("set_shape: a dimension of " + std::to_string(size) + "; -1 is one that is not known");
    more.push(size);
  }
  set_shape(o, more);
}

LEAT_FUNCTION void add_to_collection(graph& g, std::string_view name, collection_item item) {
  named_part& nodes = g.named();
  if (nodes.is_finalized()) throw failed_precondition("Graph is finalized and cannot be modified.");
  auto at = nodes.collections.find(name);
  if (at == nodes.collections.end()) at = nodes.collections.emplace(std::string(name), std::vector<collection_item>{}).first;
  at->second.push_back(std::move(item));
}

LEAT_FUNCTION std::vector<collection_item> get_collection(graph& g, std::string_view name, std::string_view scope) {
  std::vector<collection_item> list;
  const auto& all = g.named().collections;
  const auto at = all.find(name);
  if (at == all.end()) return list;
  for (const auto& item : at->second) {
    if (!scope.empty()) {
      const auto* tensor = std::get_if<output>(&item);
      const auto* node = std::get_if<graph_operation>(&item);
      const std::string its_name = tensor != nullptr ? tensor->name() : node != nullptr ? node->name() : std::string{};
      if (!its_name.starts_with(scope)) continue;
    }
    list.push_back(item);
  }
  return list;
}

LEAT_FUNCTION std::vector<output> get_tensors(graph& g, std::string_view name, std::string_view scope) {
  std::vector<output> list;
  for (const auto& item : get_collection(g, name, scope))
    if (const auto* tensor = std::get_if<output>(&item)) list.push_back(*tensor);
  return list;
}

LEAT_FUNCTION std::vector<std::string> get_all_collection_keys(graph& g) {
  std::vector<std::string> keys;
  for (const auto& [name, items] : g.named().collections)
    if (!items.empty()) keys.push_back(name);
  return keys;
}

LEAT_FUNCTION output as_graph_element(graph& g, const output& o) {
  if (&o.owner() != &g) throw invalid_argument("Tensor " + describe(o) + " is not an element of this graph.");
  return o;
}

LEAT_FUNCTION graph_operation as_graph_element(graph& g, const graph_operation& o) {
  if (&o.owner() != &g) throw invalid_argument("Operation '" + o.name() + "' is not an element of this graph.");
  return o;
}

LEAT_FUNCTION output get_tensor_by_name(graph& g, std::string_view name) {
  return std::get<output>(as_graph_element(g, name, {.operations = false}));
}

LEAT_FUNCTION graph_operation get_operation_by_name(graph& g, std::string_view name) {
  return std::get<graph_operation>(as_graph_element(g, name, {.tensors = false}));
}

LEAT_FUNCTION bool is_finalized(const graph& g) { return detail::nodes_of(g).is_finalized(); }
LEAT_FUNCTION void finalize(graph& g) {
  g.named().settle_names(g);
  g.named().finalize();
}

LEAT_FUNCTION std::string unique_name(std::string_view name, bool mark_as_used) {
  return default_graph().named().names.unique_name(name, mark_as_used);
}

LEAT_FUNCTION std::string get_name_scope() { return default_graph().named().names.scope(); }

LEAT_FUNCTION void add_to_collection(std::string_view name, collection_item item) {
  add_to_collection(default_graph(), name, std::move(item));
}

LEAT_FUNCTION std::vector<collection_item> get_collection(std::string_view name, std::string_view scope) {
  return get_collection(default_graph(), name, scope);
}

}  // namespace leat
