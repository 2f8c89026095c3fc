#pragma once
// Definitions of queues and accumulators, through which steps and threads exchange values.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_queue_definitions) {
  constexpr facts holds{.is = nature::effect, .work = work_kind::none, .narrow = narrow_rule::moves};
  // In older graphs handles are references to strings.
  for (const bool old : {false, true}) {
    const std::string v = old ? "" : "V2";
    const std::string handle = old ? "handle: &string" : "handle: resource";
    // TensorFlow has "no gradient" entries only under these older names.
    const facts waits{.is = nature::effect, .narrow = narrow_rule::moves, .stops_gradient = old, .waits = true};
    const std::string queue = "component_types: list(type) >= 1; shapes: list(shape) = []; capacity: int = -1; ";
    const std::string place = "container: string = \"\"; shared_name: string = \"\"";
    const std::string made = "() -> (" + handle + "); " + queue;
    define_operator("FIFOQueue" + v + made + place, holds, shapes::numbers);
    define_operator("PaddingFIFOQueue" + v + made + place, holds, shapes::numbers);
    define_operator("RandomShuffleQueue" + v + made + "min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; " + place, holds,
                    shapes::numbers);
    define_operator("PriorityQueue" + v + "() -> (" + handle +
                        "); component_types: list(type) = []; shapes: list(shape) = []; capacity: int = -1; " + place,
                    holds, shapes::numbers);
    for (const char* many : {"", "Many"})
      define_operator("QueueEnqueue" + (many + v) + "(" + handle + ", components: list(Tcomponents)) -> (); timeout_ms: int = -1", waits);
    define_operator("QueueDequeue" + v + "(" + handle + ") -> (components: list(component_types)); timeout_ms: int = -1", waits);
    for (const char* many : {"Many", "UpTo"})
      define_operator(
          "QueueDequeue" + (many + v) + "(" + handle + ", n: int32) -> (components: list(component_types)); timeout_ms: int = -1", waits);
    define_operator("QueueClose" + v + "(" + handle + ") -> (); cancel_pending_enqueues: bool = false",
                    {.is = nature::effect, .work = work_kind::none, .stops_gradient = old});
    define_operator("QueueIsClosed" + v + "(" + handle + ") -> (is_closed: bool)", {.is = nature::effect, .work = work_kind::none},
                    shapes::numbers);
    define_operator("QueueSize" + v + "(" + handle + ") -> (size: int32)",
                    {.is = nature::effect, .work = work_kind::none, .stops_gradient = old}, shapes::numbers);
  }

  const std::string kind =
      "; dtype: type; shape: shape; container: string = \"\"; shared_name: string = \"\"; reduction_type: string = \"MEAN\"";
  for (const bool old : {false, true}) {
    const std::string by = old ? "" : "Resource", handle = old ? "handle: &string" : "handle: resource";
    define_operator(by + "ConditionalAccumulator() -> (" + handle + ")" + kind, shapes::two_elements);
    define_operator(by + "AccumulatorApplyGradient(" + handle + ", local_step: int64, gradient: dtype) -> ()");
    define_operator(by + "AccumulatorNumAccumulated(" + handle + ") -> (num_accumulated: int32)", shapes::numbers);
    define_operator(by + "AccumulatorSetGlobalStep(" + handle + ", new_global_step: int64) -> ()");
    define_operator(by + "AccumulatorTakeGradient(" + handle + ", num_required: int32) -> (average: dtype)",
                    {.is = nature::effect, .waits = true});
  }
  define_operator("SparseConditionalAccumulator() -> (handle: &string)" + kind, shapes::two_elements);
  define_operator(
      "SparseAccumulatorApplyGradient(handle: &string, local_step: int64, gradient_indices: int64, gradient_values: dtype, gradient_shape: "
      "int64) -> (); has_known_shape: bool");
  define_operator("SparseAccumulatorTakeGradient(handle: &string, num_required: int32) -> (indices: int64, values: dtype, shape: int64)",
                  {.is = nature::effect, .waits = true}, [](shape_context& c) {
                    c.set(0, shapes::vector_of(-1));
                    c.set(2, shapes::vector_of(-1));
                  });

  const std::string area = "; capacity: int >= 0 = 0; memory_limit: int >= 0 = 0; ",
                    its_name = "container: string = \"\"; shared_name: string = \"\"";
  constexpr facts stages{.is = nature::effect, .narrow = narrow_rule::moves, .waits = true};
  constexpr facts counts{.is = nature::effect, .work = work_kind::none, .narrow = narrow_rule::any};
  const std::string dtypes = "dtypes: list(type) = []; ";
  define_operator("Stage(values: list(dtypes)) -> ()" + area + its_name, stages);
  define_operator("Unstage() -> (values: list(dtypes))" + area + its_name, stages);
  define_operator("StagePeek(index: int32) -> (values: list(dtypes))" + area + its_name, stages);
  define_operator("StageSize() -> (size: int32)" + area + dtypes + its_name, counts, shapes::numbers);
  define_operator("StageClear() -> ()" + area + dtypes + its_name, counts);

  // Operators of this library: the gradients of synchronous replicas, one for each replica, and the rounds in which they are given.
  const std::string named = "container: string = \"\"; shared_name: string = \"\"";
  define_operator("ReplicaRounds() -> (handle: resource); replicas: int >= 1; " + named, shapes::numbers);
  define_operator("ReplicaRoundsJoin(handle: resource, replica: int32) -> ()");
  define_operator("ReplicaRoundsLeave(handle: resource, replica: int32) -> ()");
  define_operator("ReplicaRoundsArrive(handle: resource, replica: int32) -> (applies: bool); timeout_ms: int = 0; step: string = \"\"",
                  {.is = nature::effect, .waits = true}, shapes::numbers);
  define_operator("ReplicaRoundsEnd(handle: resource, replica: int32) -> ()");
  define_operator("ReplicaGradients() -> (handle: resource); dtype: type; shape: shape; " + named, shapes::numbers);
  define_operator("ReplicaGradientsGive(handle: resource, replica: int32, gradient: dtype) -> ()");
  define_operator(
      "ReplicaGradientsGiveRows(handle: resource, replica: int32, gradient: dtype, indices: Tindices) -> (); Tindices: {int32, int64}");
  define_operator("ReplicaGradientsDrop(handle: resource, replica: int32) -> ()");
  define_operator("ReplicaGradientsMean(handle: resource) -> (mean: dtype)");
  define_operator("ReplicaGradientsMeanRows(handle: resource) -> (mean: dtype, indices: Tindices); Tindices: {int32, int64}");

  // Operators of this library: the roster of the replicas that take part in training through accumulators and tokens. A state is four
  // integers (kernels_roster.hpp).
  const std::string who = "who: string = \"\"";
  define_operator("ReplicaRoster() -> (handle: resource); replicas: int >= 1; gradients: int >= 1; " + named, shapes::numbers);
  define_operator("ReplicaRosterJoin(handle: resource, global_step: int64) -> (state: int64); " + who, shapes::vector_of_numbers<4>);
  define_operator("ReplicaRosterLeave(handle: resource) -> (state: int64); " + who, shapes::vector_of_numbers<4>);
  define_operator("ReplicaRosterLeft(handle: resource) -> (lines: string)", shapes::numbers);
  define_operator("ReplicaRosterRestore(handle: resource, version: int64, left: string) -> (state: int64)", shapes::vector_of_numbers<4>);
  define_operator("ReplicaRosterGave(handle: resource) -> (); " + who);
  define_operator("ReplicaRosterTook(handle: resource, token: int64) -> (); " + who);
  define_operator("ReplicaRosterUpdated(handle: resource, global_step: int64) -> (state: int64)", shapes::vector_of_numbers<4>);
  define_operator("ReplicaRosterState(handle: resource) -> (state: int64)", shapes::vector_of_numbers<4>);
  define_operator("ReplicaRosterTokens(handle: resource) -> (count: int32)", shapes::vector_of_numbers<1>);
  define_operator("ReplicaRosterNews(handle: resource, since: int64) -> (lines: string)", shapes::numbers);
  define_operator("ReplicaRosterMissing(handle: resource) -> (text: string, all_wait: bool)", shapes::numbers);
  define_operator("ReplicaAccumulatorGive(handle: resource, local_step: int64, replica: int32, gradient: dtype) -> ()");
  define_operator("ReplicaAccumulatorAwait(handle: resource, state: int64) -> ()");
}

}  // namespace leat::detail
