#pragma once
// Gradients accumulated over several small batches in graphs with names.

#include <leat/core/function_bodies.hpp>
#include <leat/named/train/named_optimizer.hpp>

namespace leat {

/// Gradients of small batches: `add` takes in those of one, `apply` makes a training step of the mean of all since the last one.
struct accumulated_steps {
  graph_operation add;
  graph_operation apply;
  std::vector<output> sums;  // of each variable that has a gradient
  output count;
};

/// Accumulates what `compute_gradients` gave: `auto [add, apply, sums, count] = accumulate_gradients(o, o.compute_gradients(loss))`; run
/// `add` for each small batch, then `apply`, which counts as one step. `apply` without any `add` before it applies zeros. Sparse gradients
/// are made dense, so that `apply` changes all rows as a dense gradient does. Variables, untrainable, that start with zeros: `name/w` for
/// each variable w, `name/count`. Errors: as `apply_gradients`; invalid_argument for a variable of unknown shape.
accumulated_steps accumulate_gradients(const named_optimizer& optimizer, const std::vector<variable_gradient>& pairs,
                                       const apply_options& options = {}, std::string_view name = "accumulated",
                                       const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_accumulate_bodies.hpp>
#endif
