#pragma once
// Implementation of dot.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/dot.hpp>
#include <leat/io/encoding.hpp>
#include <leat/proto/producer.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstddef>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

namespace leat::io::detail {

LEAT_FUNCTION std::string dot_text(std::string_view text) {
  const bool readable = is_utf8(text);
  std::string out = "\"";
  for (char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out.append("\\").push_back(c);
    else if (c == '\n') out += "\\n";
    else out += byte < 0x20 || byte == 0x7f || (byte >= 0x80 && !readable) ? '?' : c;
  }
  return out + "\"";
}

LEAT_FUNCTION std::string drawn_shape(const node_def& node, std::int32_t producer) {
  if (const auto* shapes = node.attributes.find("_output_shapes"))
    if (const auto* list = shapes->get_list<tensor_shape_proto>(); list != nullptr && !list->empty()) return to_text(list->front());
  if (const auto* value = node.attributes.find("value"))
    if (const auto* tensor = value->get_if<tensor_proto>()) return to_text(tensor->shape);
  const auto shape = declared_shape(node, producer);
  return shape ? to_text(*shape) : std::string{};
}

class dot_writer {
 public:
  explicit dot_writer(const graph_def& graph) : graph_(graph) {}

  std::string run() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& name = graph_.nodes[i].name;
      ids_.emplace(name, i);
      scope* s = &root_;
      std::size_t begin = 0;
      for (int depth = 0; depth < deepest; ++depth) {
        const auto slash = name.find('/', begin);
        if (slash == name.npos) break;
        auto& inner = s->inner[name.substr(begin, slash - begin)];
        if (!inner) inner = std::make_unique<scope>();
        s = inner.get();
        begin = slash + 1;
      }
      s->nodes.push_back({i, begin});
    }
    out_ = "digraph {\n  rankdir=BT;\n  node [shape=box, fontname=\"sans-serif\"];\n";
    write_scope(root_, 1);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i)
      for (const auto& input : graph_.nodes[i].inputs) write_edge(input, i);
    out_ += "}\n";
    return std::move(out_);
  }

 private:
  static constexpr int deepest = 16;  // names come from files, and frames are written recursively

  struct member {
    std::size_t node;
    std::size_t name_begin;  // where the name begins after its scopes
  };
  struct scope {
    std::map<std::string, std::unique_ptr<scope>> inner;
    std::vector<member> nodes;
  };

  void write_scope(const scope& s, int depth) {
    const std::string margin(static_cast<std::size_t>(2 * depth), ' ');
    for (const auto& [node, name_begin] : s.nodes) {
      const auto& n = graph_.nodes[node];
      std::string label = n.name.substr(name_begin) + "\n" + n.op;
      if (const auto shape = drawn_shape(n, graph_.versions.producer); !shape.empty()) label += " " + shape;
      out_ += margin + "n" + std::to_string(node) + " [label=" + dot_text(label);
      if (n.op == "Const") out_ += ", style=rounded";
      if (!n.device.empty()) out_ += ", tooltip=" + dot_text(n.device);
      out_ += "];\n";
    }
    for (const auto& [name, inner] : s.inner) {
      out_ += margin + "subgraph cluster" + std::to_string(clusters_++) + " {\n" + margin + "  label=" + dot_text(name) + ";\n";
      write_scope(*inner, depth + 1);
      out_ += margin + "}\n";
    }
  }

  void write_edge(std::string_view input, std::size_t to) {
    const bool control = input.starts_with('^');
    if (control) input.remove_prefix(1);
    std::string_view output;
    if (const auto colon = input.rfind(':'); colon != input.npos) {
      output = input.substr(colon + 1);
      input = input.substr(0, colon);
    }
    const auto [at, missing] = ids_.emplace(input, graph_.nodes.size() + missing_);
    if (missing) out_ += "  n" + std::to_string(graph_.nodes.size() + missing_++) + " [label=" + dot_text(input) + ", style=dashed];\n";
    out_ += "  n" + std::to_string(at->second) + " -> n" + std::to_string(to);
    if (control) out_ += " [style=dotted]";
    else if (!output.empty() && output != "0") out_ += " [taillabel=" + dot_text(output) + "]";
    out_ += ";\n";
  }

  const graph_def& graph_;
  scope root_;
  std::unordered_map<std::string_view, std::size_t> ids_;
  std::size_t missing_ = 0;
  std::size_t clusters_ = 0;
  std::string out_;
};

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::string write_dot(const graph_def& graph) { return detail::dot_writer(graph).run(); }

}  // namespace leat::io
