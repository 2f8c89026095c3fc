#pragma once
// The graph that `constant`, `placeholder` and scopes apply to: each thread has its own, under a stack of temporary defaults.
// Source: TensorFlow `get_default_graph`, `Graph.as_default`, `reset_default_graph`.

#include <leat/named/graph/named.hpp>

#include <algorithm>

namespace leat {

namespace detail {
struct graph_stack {
  std::vector<graph*> entered;
  std::unique_ptr<graph> own;
  std::vector<std::unique_ptr<graph>> former;  // their nodes stay usable
};
inline graph_stack& default_graphs() {
  thread_local graph_stack stack;
  return stack;
}
}  // namespace detail

/// This thread's innermost default graph, or its own.
inline graph& default_graph() {
  auto& stack = detail::default_graphs();
  if (!stack.entered.empty()) return *stack.entered.back();
  if (!stack.own) {
    stack.own = std::make_unique<graph>();
    stack.own->named();
  }
  return *stack.own;
}

/// Replaces this thread's own graph by an empty one; handles into the former stay usable until the thread ends.
/// Errors: failed_precondition inside `as_default`.
inline void reset_default_graph() {
  auto& stack = detail::default_graphs();
  if (!stack.entered.empty())
    throw failed_precondition(
        "Do not use reset_default_graph() to clear nested graphs. If you need a cleared graph, exit the nesting and create a new graph.");
  if (stack.own) stack.former.push_back(std::move(stack.own));
}

/// Makes a graph the default during its lifetime: the result of `graph::as_default`.
class default_graph_scope {
 public:
  explicit default_graph_scope(graph& g) : graph_(&g) { detail::default_graphs().entered.push_back(&g); }
  default_graph_scope(const default_graph_scope&) = delete;
  default_graph_scope& operator=(const default_graph_scope&) = delete;
  ~default_graph_scope() {
    auto& entered = detail::default_graphs().entered;
    const auto at = std::find(entered.rbegin(), entered.rend(), graph_);  // the innermost, unless scopes end out of order
    if (at != entered.rend()) entered.erase(std::next(at).base());
  }

 private:
  graph* graph_;
};

inline default_graph_scope graph::as_default() {
  named();
  return default_graph_scope(*this);
}

}  // namespace leat
