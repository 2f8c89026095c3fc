#pragma once
// Implementation of scopes.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/scopes/scopes.hpp>

namespace leat {

LEAT_FUNCTION control_dependencies::control_dependencies(const std::vector<control_input>& inputs) : graph_(&default_graph()) {
  named_nodes::control_frame frame;
  for (const auto& c : inputs) {
    if (&c.owner() != graph_)
      throw invalid_argument("control_dependencies: the node '" + graph_operation(c.owner(), c.index()).name() +
                             "' is not an element of this graph.");
    frame.nodes.push_back(c.index());
  }
  graph_->named().controls.push_back(std::move(frame));
}

LEAT_FUNCTION control_dependencies::~control_dependencies() {
  if (clears_) {
    outer_.swap(graph_->named().controls);
    graph_->named().context = context_;
  } else {
    graph_->named().controls.pop_back();
  }
}

LEAT_FUNCTION device::device(device_function function) : graph_(&default_graph()) {
  if (function) push({.what = named_nodes::device_frame::kind::function, .spec = {}, .function = std::move(function)});
  else push({.what = named_nodes::device_frame::kind::clear, .spec = {}, .function = {}});
}

}  // namespace leat
