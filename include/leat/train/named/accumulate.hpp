#pragma once
// Gradients accumulated over several small batches in graphs with names.

#include <leat/core/function_bodies.hpp>
#include <leat/train/named/optimizer.hpp>

namespace leat {

/// The operations of accumulated training: `add` adds the gradients of one batch, `apply` makes a training step of the mean of all batches
/// since the last step.
struct accumulated_steps {
  graph_operation add;       // adds the gradients of one run
  graph_operation apply;     // updates the variables by the mean of them, and starts anew
  std::vector<output> sums;  // one for each variable that has a gradient
  output count;
};

/// Accumulates the gradients that `compute_gradients` returned: `auto [add, apply, sums, count] = accumulate_gradients(o,
/// o.compute_gradients(loss))`. Run `add` for each small batch, then `apply`, which counts as one step. `apply` without a preceding `add`
/// applies zeros. Sparse gradients are made dense, so that `apply` changes all rows as a dense gradient does. Untrainable variables that
/// start with zeros hold the state: `name/w` for each variable w, and `name/count`. Errors: as for `apply_gradients`; invalid_argument for
/// a variable of unknown shape.
accumulated_steps accumulate_gradients(const named_optimizer& optimizer, const std::vector<variable_gradient>& pairs,
                                       const apply_options& options = {}, std::string_view name = "accumulated",
                                       const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/accumulate.hpp>
#endif
