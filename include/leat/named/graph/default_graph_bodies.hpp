#pragma once
// Implementation of default_graph.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/named.hpp>

#include <algorithm>

namespace leat {

LEAT_FUNCTION graph& default_graph() {
  auto& stack = detail::default_graphs();
  if (!stack.entered.empty()) return *stack.entered.back();
  if (!stack.own) {
    stack.own = std::make_unique<graph>();
    stack.own->named();
  }
  return *stack.own;
}

LEAT_FUNCTION void reset_default_graph() {
  auto& stack = detail::default_graphs();
  if (!stack.entered.empty())
    throw failed_precondition(
        "Do not use reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.");
  if (stack.own) stack.former.push_back(std::move(stack.own));
}

LEAT_FUNCTION default_graph_scope::~default_graph_scope() {
  auto& entered = detail::default_graphs().entered;
  const auto at = std::find(entered.rbegin(), entered.rend(), graph_);  // the innermost, unless scopes end out of order
  if (at != entered.rend()) entered.erase(std::next(at).base());
}

}  // namespace leat
