#pragma once
// Implementation of validate.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/proto/graph_def.hpp>
#include <leat/proto/in_quotes.hpp>
#include <leat/proto/node_index.hpp>
#include <leat/proto/operator_names.hpp>
#include <leat/proto/tensor_contents.hpp>
#include <leat/proto/validate.hpp>

namespace leat::proto {

LEAT_FUNCTION std::string to_text(const finding& f) {
  std::string text = f.node;
  if (!f.field.empty()) text += (text.empty() ? "" : ": ") + f.field;
  return text.empty() ? f.what : text + ": " + f.what;
}

}  // namespace leat::proto

namespace leat::proto::detail {

/// Checks one graph; `positions_` maps names to nodes.
class graph_check {
 public:
  explicit graph_check(const graph_def& graph, std::size_t most) : graph_(graph), most_(most), positions_(graph.nodes) {}

  std::vector<finding> run() {
    check_names();
    check_inputs();
    check_cycles();
    for (std::size_t i = 0; i < graph_.nodes.size() && !full(); ++i) {
      node_ = i;
      check_attributes(graph_.nodes[i].attributes, "");
    }
    return std::move(findings_);
  }

 private:
  bool full() const { return findings_.size() >= most_; }
  std::string label(std::size_t i) const {
    const auto& name = graph_.nodes[i].name;
    return name.empty() ? "node number " + std::to_string(i) : "node " + in_quotes(name);
  }
  void found(std::size_t i, std::string field, std::string what) {
    if (!full()) findings_.push_back({label(i), std::move(field), std::move(what)});
  }

  void check_names() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& node = graph_.nodes[i];
      if (!is_node_name(node.name))
        found(i, "name", "is not a name: letters, digits and . _ / \\ > - beginning with one of the first three");
      if (node.op.empty()) found(i, "op", "is missing");
      const std::size_t other = positions_.insert(i);
      if (other != node_index::none) found(i, "name", "node number " + std::to_string(other) + " has it already");
    }
  }

  void check_inputs() {
    first_edge_.assign(graph_.nodes.size() + 1, 0);
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      const auto& node = graph_.nodes[i];
      const bool merge = leat::detail::is_merge(node.op);
      bool control = false;
      for (std::size_t k = 0; k < node.inputs.size(); ++k) {
        const auto field = [&] { return "input[" + std::to_string(k) + "]"; };
        const auto input = parse_input(node.inputs[k]);
        if (!input) {
          found(i, field(), in_quotes(node.inputs[k]) + " is not \"name\", \"name:1\" or \"^name\"");
          continue;
        }
        if (control && !input->control) found(i, field(), in_quotes(node.inputs[k]) + " after a control input");
        control = control || input->control;
        const std::size_t at = positions_.find(input->node);
        if (at == node_index::none) {
          found(i, field(), "there is no node " + in_quotes(input->node));
          continue;
        }
        if (merge && !input->control && leat::detail::is_next_iteration(graph_.nodes[at].op)) continue;
        edges_.push_back(at);
      }
      first_edge_[i + 1] = edges_.size();
    }
  }

  /// Depth-first search with an explicit stack; an edge to an open node closes a cycle.
  void check_cycles() {
    enum : std::uint8_t { unseen, open, closed };
    std::vector<std::uint8_t> state(graph_.nodes.size(), unseen);
    std::vector<std::pair<std::size_t, std::size_t>> stack;  // node, its next edge
    for (std::size_t start = 0; start < graph_.nodes.size() && !full(); ++start) {
      if (state[start] != unseen) continue;
      stack.assign(1, {start, first_edge_[start]});
      state[start] = open;
      while (!stack.empty()) {
        auto& [node, edge] = stack.back();
        if (edge == first_edge_[node + 1]) {
          state[node] = closed;
          stack.pop_back();
          continue;
        }
        const std::size_t next = edges_[edge++];
        if (state[next] == open) {
          report_cycle(stack, next);
          return;  // one cycle is reported, since others may be the same
        }
        if (state[next] == unseen) {
          state[next] = open;
          stack.emplace_back(next, first_edge_[next]);
        }
      }
    }
  }
  void report_cycle(const std::vector<std::pair<std::size_t, std::size_t>>& stack, std::size_t node) {
    constexpr std::ptrdiff_t shown = 8;
    auto at = std::find_if(stack.begin(), stack.end(), [&](const auto& entry) { return entry.first == node; });
    std::string way;
    const auto length = stack.end() - at;
    for (std::ptrdiff_t i = 0; i < length && i < shown; ++i) way += in_quotes(graph_.nodes[(at + i)->first].name) + " needs ";
    if (length > shown) way += "... (" + std::to_string(length - shown) + " more) needs ";
    found(node, "input", "a cycle that is no loop: " + way + in_quotes(graph_.nodes[node].name));
  }

  void check_attributes(const attribute_map& attributes, const std::string& path) {
    for (const auto& [name, value] : attributes) {
      if (full()) return;
      check_value(value, path, name);
    }
  }
  /// Checks an attribute's value. The path is built for errors only.
  void check_value(const attribute_value& value, const std::string& path, const std::string& name) {
    const auto here = [&](std::string_view rest) { return path + "attr[" + in_quotes(name) + "]." + std::string(rest); };
    if (const auto* shape = value.get_if<tensor_shape_proto>()) {
      if (auto problem = problem_of(*shape); !problem.empty()) found(node_, here("shape"), problem);
    } else if (const auto* tensor = value.get_if<tensor_proto>()) {
      if (auto problem = problem_of(*tensor); !problem.empty()) found(node_, here("tensor"), problem);
    } else if (const auto* function = value.get_if<function_value>()) {
      if (!function->attributes.empty()) check_attributes(function->attributes, here("func."));
    } else if (const auto* list = value.get_if<attribute_list>()) {
      if (const auto* shapes = list->get_if<tensor_shape_proto>()) {
        for (std::size_t i = 0; i < shapes->size() && !full(); ++i)
          if (auto problem = problem_of((*shapes)[i]); !problem.empty())
            found(node_, here("list.shape[" + std::to_string(i) + "]"), problem);
      } else if (const auto* tensors = list->get_if<tensor_proto>()) {
        for (std::size_t i = 0; i < tensors->size() && !full(); ++i)
          if (auto problem = problem_of((*tensors)[i]); !problem.empty())
            found(node_, here("list.tensor[" + std::to_string(i) + "]"), problem);
      } else if (const auto* functions = list->get_if<function_value>()) {
        for (std::size_t i = 0; i < functions->size() && !full(); ++i)
          check_attributes((*functions)[i].attributes, here("list.func[" + std::to_string(i) + "]."));
      }
    }
  }

  const graph_def& graph_;
  std::size_t most_;
  std::size_t node_ = 0;
  node_index positions_;
  std::vector<std::size_t> edges_, first_edge_;
  std::vector<finding> findings_;
};

}  // namespace leat::proto::detail

namespace leat::proto {

LEAT_FUNCTION std::vector<finding> findings(const graph_def& graph, std::size_t most) { return detail::graph_check(graph, most).run(); }

LEAT_FUNCTION void validate(const graph_def& graph) {
  const auto list = findings(graph);
  if (list.empty()) return;
  std::string text = to_text(list.front());
  if (list.size() > 1)
    text += " (and " + std::to_string(list.size() - 1) + (list.size() >= detail::most_findings ? " or more" : "") + " others)";
  throw invalid_argument(text);
}

}  // namespace leat::proto
