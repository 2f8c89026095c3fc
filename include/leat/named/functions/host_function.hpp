#pragma once
// Host functions as operators: `host_function(f, {x}, {dtype::float32})` makes a node that calls `f` at run time. The graph stores the
// function under a token. A saved graph contains only the token, so that the node runs only in a graph that has a function for it.
// Source: TensorFlow `py_func`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// Options of `host_function`. With `stateful = false` the results depend on the inputs alone, and the function may be called once for
/// equal inputs.
struct host_function_options {
  bool stateful = true;
  std::string_view name{};
};

/// A node that calls `function` with its inputs' values in each run; the function returns one array for each of `result_types`. It may be
/// called from any thread; an exception fails the run.
/// Shapes: those of the results are unknown; `set_shape` specifies them.
/// Errors: invalid_argument without a function, or for inputs of another graph. Source: `py_func`.
graph_operation host_function(host_callback function, const std::vector<operand_value>& inputs, const std::vector<dtype>& result_types,
                              const host_function_options& options = {},
                              const std::source_location& where = std::source_location::current());

/// The function that a node calls. Errors: invalid_argument for another kind of node; failed_precondition if the graph does not have the
/// function, because the graph was read from another program's file.
const host_callback& host_function_of(const graph_operation& node);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/host_function.hpp>
#endif
