#pragma once
// Queues and accumulators: what several steps, or several threads, hand each other.

#include <leat/ops/defined_shapes.hpp>

namespace leat::detail {

// The shapes that a queue was made with, if its node is the one that makes it.
inline const bool queue_operators_defined = [] {
  const char* made =
      "() -> (handle: resource); component_types: list(type) >= 1; shapes: list(shape) = []; capacity: int = -1; container: string = \"\"; "
      "shared_name: string = \"\"";
  define_operator(std::string("FIFOQueueV2") + made, shapes::numbers);
  define_operator(std::string("PaddingFIFOQueueV2") + made, shapes::numbers);
  define_operator(
      "RandomShuffleQueueV2() -> (handle: resource); component_types: list(type) >= 1; shapes: list(shape) = []; capacity: int = -1; "
      "min_after_dequeue: int = 0; seed: int = 0; seed2: int = 0; container: string = \"\"; shared_name: string = \"\"",
      shapes::numbers);
  define_operator("QueueEnqueueV2(handle: resource, components: list(Tcomponents)) -> (); timeout_ms: int = -1");
  define_operator("QueueEnqueueManyV2(handle: resource, components: list(Tcomponents)) -> (); timeout_ms: int = -1");
  define_operator("QueueDequeueV2(handle: resource) -> (components: list(component_types)); timeout_ms: int = -1");
  define_operator("QueueDequeueManyV2(handle: resource, n: int32) -> (components: list(component_types)); timeout_ms: int = -1");
  define_operator("QueueDequeueUpToV2(handle: resource, n: int32) -> (components: list(component_types)); timeout_ms: int = -1");
  define_operator("QueueCloseV2(handle: resource) -> (); cancel_pending_enqueues: bool = false");
  define_operator("QueueIsClosedV2(handle: resource) -> (is_closed: bool)", shapes::numbers);
  define_operator("QueueSizeV2(handle: resource) -> (size: int32)", shapes::numbers);

  define_operator(
      "ResourceConditionalAccumulator() -> (handle: resource); dtype: type; shape: shape; container: string = \"\"; shared_name: string = "
      "\"\"; reduction_type: string = \"MEAN\"",
      shapes::two_elements);
  define_operator("ResourceAccumulatorApplyGradient(handle: resource, local_step: int64, gradient: dtype) -> ()");
  define_operator("ResourceAccumulatorNumAccumulated(handle: resource) -> (num_accumulated: int32)", shapes::numbers);
  define_operator("ResourceAccumulatorSetGlobalStep(handle: resource, new_global_step: int64) -> ()");
  define_operator("ResourceAccumulatorTakeGradient(handle: resource, num_required: int32) -> (average: dtype)");
  return true;
}();

}  // namespace leat::detail
