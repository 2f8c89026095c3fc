#pragma once
// Implementation of default_graph.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/named.hpp>

#include <algorithm>
#include <memory>
#include <vector>

namespace leat {

namespace detail {
struct graph_stack {
  std::vector<graph*> entered;
  std::unique_ptr<graph> own;
  std::vector<std::unique_ptr<graph>> former;  // kept, so that handles to their nodes remain valid
};
inline graph_stack& default_graphs() {
  thread_local graph_stack stack;
  return stack;
}
}  // namespace detail

LEAT_FUNCTION default_graph_scope::default_graph_scope(graph& g) : graph_(&g) { detail::default_graphs().entered.push_back(&g); }

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
  const auto at = std::find(entered.rbegin(), entered.rend(), graph_);  // the innermost entry, in case scopes end out of order
  if (at != entered.rend()) entered.erase(std::next(at).base());
}

}  // namespace leat
