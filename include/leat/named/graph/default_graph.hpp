#pragma once
// The default graph, to which `constant`, `placeholder` and scopes apply. Each thread has its own, below a stack of temporary defaults.
// Source: TensorFlow `get_default_graph`, `Graph.as_default`, `reset_default_graph`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// The innermost graph that this thread made the default, or the thread's own graph.
graph& default_graph();

/// Replaces this thread's own graph by an empty one; handles to nodes of the old one remain valid until the thread ends.
/// Errors: failed_precondition inside `as_default`.
void reset_default_graph();

/// Makes a graph the default during its lifetime: the result of `graph::as_default`.
class default_graph_scope {
 public:
  explicit default_graph_scope(graph& g);
  default_graph_scope(const default_graph_scope&) = delete;
  default_graph_scope& operator=(const default_graph_scope&) = delete;
  ~default_graph_scope();

 private:
  graph* graph_;
};

inline default_graph_scope graph::as_default() {
  named();
  return default_graph_scope(*this);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/default_graph.hpp>
#endif
