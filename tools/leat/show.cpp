#include "show.hpp"

#include <leat/named/graph/literal.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <algorithm>
#include <map>
#include <utility>
#include <variant>
#include <vector>

namespace tool {

using namespace leat;

std::string printable(std::string_view text) {
  std::string out(text);
  const bool readable = io::is_utf8(text);
  for (std::size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<unsigned char>(out[i]);
    if (byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable)) out[i] = '?';
    // U+0080 to U+009F are controls of eight-bit terminals
    if (byte == 0xc2 && i + 1 < out.size() && static_cast<unsigned char>(out[i + 1]) < 0xa0) out[i] = out[i + 1] = '?';
  }
  return out;
}

std::string printable_lines(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    if (at > 0) out += "\n  ";
    while (line.starts_with('\t')) {
      out += "  ";
      line.remove_prefix(1);
    }
    out += printable(line);
    at = end + 1;
  }
  return out;
}

namespace {

std::string dtype_text(const node_def& node, std::string_view attribute) {
  const auto* value = node.attributes.find(attribute);
  const auto* type = value != nullptr ? value->get_if<data_type>() : nullptr;
  return type != nullptr ? name_of_data_type(*type) : "?";
}

/// All shapes that `_output_shapes` tells, or the one of `shape` or of the value.
std::string shapes_text(const node_def& node, std::int32_t producer) {
  if (const auto* value = node.attributes.find("_output_shapes"))
    if (const auto* list = value->get_list<tensor_shape_proto>()) {
      std::string text;
      for (const auto& s : *list) text += (text.empty() ? "" : " ") + to_text(s);
      return text;
    }
  return io::detail::drawn_shape(node, producer);
}

std::string padded(std::string text, std::size_t width) {
  if (text.size() < width) text.append(width - text.size(), ' ');
  return text;
}

void show_leaves(std::string& out, const graph_def& graph, std::string_view title, bool (*is_one)(std::string_view op)) {
  std::size_t widest = 0;
  std::vector<const node_def*> found;
  for (const auto& node : graph.nodes)
    if (is_one(node.op)) {
      found.push_back(&node);
      widest = std::max(widest, node.name.size());
    }
  if (found.empty()) return;
  out += std::string(title) + "\n";
  for (const auto* node : found) {
    out += "  " + padded(printable(node->name), std::min<std::size_t>(widest, 40)) + "  " + dtype_text(*node, "dtype");
    if (const auto shape = shapes_text(*node, graph.versions.producer); !shape.empty()) out += " " + shape;
    out += "\n";
  }
}

void show_tensors(std::string& out, std::string_view title, const std::map<std::string, signature_tensor>& tensors) {
  for (const auto& [name, tensor] : tensors) {
    std::string where = "?";
    if (const auto* text = std::get_if<std::string>(&tensor.encoding)) where = *text;
    if (const auto* sparse = std::get_if<signature_tensor::sparse>(&tensor.encoding)) where = "sparse " + sparse->values_tensor_name;
    out += "    " + std::string(title) + " " + printable(name) + ": " + printable(where) + " " + name_of_data_type(tensor.dtype);
    if (tensor.tensor_shape) out += " " + to_text(*tensor.tensor_shape);
    out += "\n";
  }
}

std::string collection_text(const collection_def& collection) {
  const auto text = [](const auto& list) -> std::string {
    using kind = std::decay_t<decltype(list)>;
    if constexpr (std::is_same_v<kind, std::monostate>) {
      return "nothing";
    } else {
      const auto count = std::to_string(list.value.size());
      if constexpr (std::is_same_v<kind, collection_def::node_list>)
        return list.value.size() == 1 ? "1 nodes or tensors: " + printable(list.value[0]) : count + " nodes or tensors";
      if constexpr (std::is_same_v<kind, collection_def::bytes_list>) return count + " texts or messages";
      if constexpr (std::is_same_v<kind, collection_def::int64_list>) return count + " integers";
      if constexpr (std::is_same_v<kind, collection_def::float_list>) return count + " floats";
      return count + " messages";
    }
  };
  return std::visit(text, collection.kind);
}

}  // namespace

std::string show(const graph_file& file, const show_options& options) {
  const auto& graph = file.meta.graph;
  std::string out = (!file.kind.empty() ? file.kind : file.is_meta ? "MetaGraphDef" : "GraphDef") + ", ";
  if (file.checkpoint != nullptr) out += std::to_string(file.arrays.size()) + " tensors, ";
  out += file.checkpoint != nullptr && !file.is_meta ? "no graph" : std::to_string(graph.nodes.size()) + " nodes";
  if (graph.versions.producer != 0) out += ", graph version " + std::to_string(graph.versions.producer);
  if (!file.meta.meta_info.tensorflow_version.empty()) out += ", TensorFlow " + printable(file.meta.meta_info.tensorflow_version);
  out += "\n";
  for (const auto& tag : file.meta.meta_info.tags) out += "tag " + printable(tag) + "\n";
  if (!graph.library.empty()) out += "a library of functions, " + std::to_string(graph.library.size()) + " bytes\n";

  std::map<std::string_view, int> counts;
  for (const auto& node : graph.nodes) ++counts[node.op];
  std::vector<std::pair<std::string_view, int>> operators(counts.begin(), counts.end());
  std::sort(operators.begin(), operators.end(),
            [](const auto& a, const auto& b) { return a.second != b.second ? a.second > b.second : a.first < b.first; });
  if (!operators.empty()) out += "operators\n";
  for (const auto& [op, count] : operators) {
    const auto number = std::to_string(count);
    out += std::string(number.size() < 6 ? 6 - number.size() : 0, ' ') + number + "  " + printable(op) + "\n";
  }
  show_leaves(out, graph, "placeholders", [](std::string_view op) { return op.starts_with("Placeholder"); });
  show_leaves(out, graph, "variables",
              [](std::string_view op) { return leat::detail::is_kept_variable(op) || op == "TemporaryVariable" || op == "VarHandleOp"; });

  if (!file.arrays.empty()) out += "saved values\n";
  std::size_t widest = 0;
  for (const auto& array : file.arrays) widest = std::max(widest, array.name.size());
  for (const auto& array : file.arrays)
    out += "  " + padded(printable(array.name), std::min<std::size_t>(widest, 40)) + "  " + dtype_name(array.type) + " " +
           to_text(to_proto(array.extent)) + "\n";
  for (const auto& [key, text] : file.metadata) out += "note " + printable(key) + ": " + printable(text) + "\n";

  if (!file.meta.signatures.empty()) out += "signatures\n";
  for (const auto& [name, s] : file.meta.signatures) {
    out += "  " + printable(name) + (s.method_name.empty() ? "" : " (" + printable(s.method_name) + ")") + "\n";
    show_tensors(out, "input", s.inputs);
    show_tensors(out, "output", s.outputs);
  }
  if (!file.meta.collections.empty()) out += "collections\n";
  for (const auto& [name, collection] : file.meta.collections) out += "  " + printable(name) + ": " + collection_text(collection) + "\n";

  if (!options.nodes && !options.shapes) return out;
  out += "nodes\n";
  for (const auto& node : graph.nodes) {
    out += "  " + printable(node.name) + " = " + printable(node.op) + "(";
    for (std::size_t i = 0; i < node.inputs.size(); ++i) out += (i > 0 ? ", " : "") + printable(node.inputs[i]);
    out += ")";
    if (options.shapes)
      if (const auto shapes = shapes_text(node, graph.versions.producer); !shapes.empty()) out += " " + shapes;
    if (!node.device.empty()) out += " on " + printable(node.device);
    out += "\n";
  }
  return out;
}

}  // namespace tool
