#pragma once
// Graphs of single operators as TensorFlow was recorded to run them (ops.json): a node of its type, named "the_op", whose inputs "in0", "in1"
// are fed.

#include <leat/named/graph/operator_definition.hpp>
#include <leat/proto/graph_def.hpp>

#include "support/reference_values.hpp"

#include <nlohmann/json.hpp>

#include <map>
#include <string>
#include <vector>

namespace leat_test {

using namespace leat;

inline attribute_value attribute_of_json(const nlohmann::json& j, const attribute_definition* known) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_string()) {
    const std::string text = j;
    if (known == nullptr || known->kind == attribute_kind::type)
      if (const dtype d = dtype_named(text); d != dtype::invalid) return d;
    return text;
  }
  if (j.is_number()) {
    if (j.is_number_float() || (known != nullptr && known->kind == attribute_kind::real)) return j.get<float>();
    return j.get<std::int64_t>();
  }
  const bool is_shape = known != nullptr && known->kind == attribute_kind::shape && !known->is_list;
  if (j.is_null() || is_shape) {
    tensor_shape_proto s;
    s.unknown_rank = j.is_null();
    if (!j.is_null())
      for (const auto& n : j) s.dims.push_back({n.get<std::int64_t>(), {}});
    return s;
  }
  if (!j.empty() && j[0].is_string()) {
    std::vector<data_type> types;
    for (const auto& t : j) types.push_back(to_data_type(dtype_named(t)));
    return types;
  }
  std::vector<std::int64_t> list;
  for (const auto& n : j) list.push_back(n.get<std::int64_t>());
  return list;
}

/// Placeholders, of unknown shape or of those of the inputs, and the node.
inline graph_def graph_of(const nlohmann::json& c, bool with_shapes = false) {
  graph_def def;
  node_def node{.name = "the_op", .op = c.at("op")};
  const operator_definition* defined = find_definition(node.op);
  int k = 0;
  std::map<std::string, int> counts;
  for (const auto& in : c.at("inputs")) {
    const std::string name = "in" + std::to_string(k++);
    tensor_shape_proto open;
    open.unknown_rank = !with_shapes;
    if (with_shapes)
      for (const auto& size : in.at("shape")) open.dims.push_back({size.get<std::int64_t>(), {}});
    def.nodes.push_back({.name = name, .op = "Placeholder", .attributes = {{"dtype", dtype_named(in.at("dtype"))}, {"shape", open}}});
    node.inputs.push_back(name);
    ++counts[in.value("arg", "")];
  }
  for (const auto& [name, value] : c.at("attrs").items())
    node.attributes[name] = attribute_of_json(value, defined != nullptr ? defined->find_attribute(name) : nullptr);
  if (defined != nullptr)
    for (const auto& a : defined->inputs)
      if (!a.count_attribute.empty() && !node.attributes.contains(a.count_attribute))
        node.attributes[a.count_attribute] = std::int64_t{counts[a.name]};
  def.nodes.push_back(std::move(node));
  return def;
}

}  // namespace leat_test
