#pragma once
// Implementation of graph_operation.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/nodes.hpp>
#include <leat/named/graph/operator_definition.hpp>

namespace leat {

LEAT_FUNCTION const attribute_value& graph_operation::attribute(std::string_view name) const {
  if (const auto* value = record().attributes.find(name)) return *value;
  throw not_found("the node '" + record().name + "' has no attribute '" + std::string(name) + "'");
}

LEAT_FUNCTION std::vector<output> graph_operation::inputs() const {
  std::vector<output> list;
  const auto& nodes = detail::nodes_of(*owner_);
  for (int k = 0; k < nodes.input_count(*owner_, index_); ++k) list.push_back(nodes.input(*owner_, index_, k));
  return list;
}

LEAT_FUNCTION std::vector<graph_operation> graph_operation::control_inputs() const {
  std::vector<graph_operation> list;
  const node& n = owner_->at(index_);
  for (int k = 0; k < n.control_count; ++k) list.emplace_back(*owner_, owner_->control(n, k));
  return list;
}

LEAT_FUNCTION output graph_operation::result(int port) const {
  if (port < 0 || port >= record().results)
    throw out_of_range("the operation '" + name() + "' has " + std::to_string(record().results) + " outputs, not one of number " +
                       std::to_string(port));
  return {*owner_, index_, port};
}

LEAT_FUNCTION std::string dtype_text(const output& o) {
  const graph& g = o.owner();
  std::string text(name_of_dtype(o.type()));
  if (to_dtype(to_data_type(o.type())) == dtype::invalid) text = lower_name_of_data_type(to_data_type(o.type()));
  if (is_reference_result(*g.at(o.index()).op, o.port())) text += "_ref";
  return text;
}

LEAT_FUNCTION std::string shape_text(const shape& s, std::string_view unknown) {
  if (!s.has_rank()) return "<unknown>";
  std::string text = "(";
  for (int i = 0; i < s.rank; ++i) {
    if (i > 0) text += ", ";
    text += s[i] < 0 ? std::string(unknown) : std::to_string(s[i]);
  }
  return text + (s.rank == 1 ? ",)" : ")");
}

LEAT_FUNCTION std::string describe(const output& o) {
  std::string text = "Tensor(\"" + o.name() + "\"";
  if (o.extent().has_rank()) text += ", shape=" + shape_text(o.extent(), "None");
  return text + ", dtype=" + dtype_text(o) + ")";
}

LEAT_FUNCTION void named_nodes::apply_devices(graph& g, int index) {
  node_record& r = record(index);
  for (auto frame = devices.rbegin(); frame != devices.rend(); ++frame) {
    if (frame->what == device_frame::kind::clear) return;
    if (frame->what == device_frame::kind::text) {
      if (frame->spec.empty()) continue;
      device_spec spec = frame->spec;
      spec.merge_from(parse_device(r.device));
      r.device = keep_device(spec.text());
    } else {
      const auto answer = frame->function(graph_operation(g, index));
      if (!answer) throw invalid_argument("a device function answered nothing for the node '" + r.name + "': Expected a string, got None");
      r.device = keep_device(*answer);
    }
  }
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION const named_nodes& nodes_of(const graph& g) {
  if (g.names() == nullptr) throw failed_precondition("a graph without names: call named() or as_default() first");
  return static_cast<const named_nodes&>(*g.names());
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::vector<output> graph_operation::outputs() const {
  std::vector<output> list;
  for (int k = 0; k < record().results; ++k) list.emplace_back(*owner_, index_, k);
  return list;
}

}  // namespace leat
