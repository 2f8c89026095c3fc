#pragma once
// Data-parallel training on all ranks (data_parallel.hpp) for graphs with names: `data_parallel(adam(0.001f)).minimize(loss)` averages
// small gradients by one HorovodGroupedAllreduce per dtype, and each large gradient by a HorovodAllreduce. Gradients of looked-up rows are
// made dense first. All ranks must build the same graph.

#include <leat/collective/data_parallel.hpp>
#include <leat/collective/named_collective.hpp>
#include <leat/session/graph_variables.hpp>
#include <leat/train/named/optimizers.hpp>

namespace leat {

namespace detail {

inline std::vector<variable_gradient> averaged(std::vector<variable_gradient> pairs) {
  for (const dtype type : {dtype::float32, dtype::float64}) {
    std::vector<output> gradients;
    std::vector<std::size_t> places;
    for (std::size_t k = 0; k < pairs.size(); ++k) {
      gradient_value& its = pairs[k].gradient;
      if (!static_cast<bool>(its) || its.values.type() != type) continue;
      const name_scope scope(its.values.owner(), "data_parallel");
      gradients.push_back(densified(its));
      places.push_back(k);
    }
    if (gradients.empty()) continue;
    const name_scope scope(gradients.front().owner(), "data_parallel");
    const auto means = all_reduce(gradients, {.how = reduce_by::mean, .name = "gradients"});
    for (std::size_t k = 0; k < places.size(); ++k) pairs[places[k]].gradient = means[k];
  }
  return pairs;
}

}  // namespace detail

/// An optimizer of graphs with names that averages gradients over the ranks; small gradients of one dtype share a message. Made by
/// `data_parallel`.
class named_data_parallel {
 public:
  explicit named_data_parallel(named_optimizer optimizer) : optimizer_(std::move(optimizer)) {}

  /// As the optimizer's `compute_gradients`; the gradients are means over the ranks, and dense. All ranks must build the same graph.
  std::vector<variable_gradient> compute_gradients(const output& loss, const minimize_options& options = {},
                                                   const std::source_location& where = std::source_location::current()) const {
    return detail::averaged(optimizer_.compute_gradients(loss, options, where));
  }
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options = {},
                                  const std::source_location& where = std::source_location::current()) const {
    return optimizer_.apply_gradients(pairs, options, where);
  }
  /// Calls `compute_gradients` and `apply_gradients`. Errors: those of the optimizer's `minimize`.
  graph_operation minimize(const output& loss, const minimize_options& options = {},
                           const std::source_location& where = std::source_location::current()) const {
    return apply_gradients(compute_gradients(loss, options, where), {.global_step = options.global_step, .name = options.name}, where);
  }
  const named_optimizer& optimizer() const { return optimizer_; }

 private:
  named_optimizer optimizer_;
};

/// Returns the optimizer, for graphs with names, with its gradients averaged over the ranks of the process's `collective::communicator`.
inline named_data_parallel data_parallel(named_optimizer optimizer) { return named_data_parallel(std::move(optimizer)); }

/// Gives the variables of a session's graph, except local ones, the values that they have on rank `root`. All ranks must call it, with
/// sessions of the same graph. Errors: failed_precondition if a variable has no value on some rank; those of `collective::communicator`.
/// Source: Horovod `broadcast_global_variables`.
inline void broadcast_variables(graph_session& s, int root = 0) {
  auto& ranks = collective::communicator::current();
  session_values values;
  bool has_all = true;
  try {
    values = values_of(s);
  } catch (const failed_precondition&) {
    has_all = false;
  }
  detail::require_values_on_all(has_all, -1);
  for (auto& [name, value] : values) {
    tensor_value received(value.type(), value.extent());
    const shape extent = value.extent();
    ranks.broadcast({name, value.type(), {&extent, 1}}, root, std::as_const(value).data(), received.data());
    value = std::move(received);
  }
  if (ranks.rank() != root) restore_values(s, values);
}

}  // namespace leat
