#pragma once
// Implementation of scopes.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/scopes/scopes.hpp>

namespace leat {

LEAT_FUNCTION control_input::control_input(const collection_item& item) {
  const auto* tensor = std::get_if<output>(&item);
  const auto* operation = std::get_if<graph_operation>(&item);
  if (tensor == nullptr && operation == nullptr)
    throw invalid_argument("nodes wait for tensors and operations; a collection has another element");
  *this = tensor != nullptr ? control_input(*tensor) : control_input(*operation);
}

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

LEAT_FUNCTION name_scope::name_scope(graph& g, std::string_view name) : names_(&g.named().names), outer_(names_->scope()) {
  names_->set_scope(names_->open_scope(name));
  text_ = names_->scope().empty() ? std::string{} : names_->scope() + "/";
}

LEAT_FUNCTION control_dependencies::control_dependencies(std::nullptr_t) : graph_(&default_graph()), clears_(true) {
  outer_.swap(graph_->named().controls);
  context_ = std::exchange(graph_->named().context, nullptr);
}

LEAT_FUNCTION device::device(std::nullptr_t) : graph_(&default_graph()) {
  push({.what = named_nodes::device_frame::kind::clear, .spec = {}, .function = {}});
}

LEAT_FUNCTION name_scope::~name_scope() { names_->set_scope(std::move(outer_)); }

LEAT_FUNCTION device::device(std::string_view text) : graph_(&default_graph()) { push({.spec = parse_device(text), .function = {}}); }

LEAT_FUNCTION device::~device() { graph_->named().devices.pop_back(); }

LEAT_FUNCTION void device::push(named_nodes::device_frame frame) { graph_->named().devices.push_back(std::move(frame)); }

LEAT_FUNCTION colocate_with::colocate_with(const control_input& with) : graph_(&with.owner()) {
  graph_->named().colocations.push_back(with.index());
}

LEAT_FUNCTION colocate_with::~colocate_with() { graph_->named().colocations.pop_back(); }

LEAT_FUNCTION container::container(graph& g, std::string name) : graph_(&g) { g.named().containers.push_back(std::move(name)); }

LEAT_FUNCTION container::~container() { graph_->named().containers.pop_back(); }

LEAT_FUNCTION source_scope::source_scope(graph& g, const std::source_location& where) : nodes_(&g.named()), outer_(nodes_->position) {
  if (!nodes_->position_held) nodes_->position = where;
}

}  // namespace leat
