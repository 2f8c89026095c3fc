#pragma once
// Where the gradient of an operator comes from in graphs with names: a function of the table (gradient_functions.hpp), the operator's
// class, or nowhere. Some operators pass none although they take and give floating-point tensors: functions of steps, what depends on shapes
// alone, random numbers, writes, what leaves the graph. Of all others asking for a gradient is an error, so that none is lost in silence.
// Source: TensorFlow's `NotDifferentiable`, and its gradient functions that give `None`.

#include <leat/named/gradients/gradient_functions.hpp>

#include <algorithm>
#include <string_view>

namespace leat::detail {

constexpr bool passes_no_gradient(std::string_view type) {
  constexpr std::string_view types[]{
      "StopGradient", "ZerosLike", "OnesLike", "Shape", "ShapeN", "Size", "Rank", "BroadcastGradientArgs", "ConcatOffset",
      "InvertPermutation",
      // steps and places
      "Floor", "Ceil", "Round", "Rint", "FloorDiv", "TruncateDiv", "ArgMax", "ArgMin", "OneHot", "Range", "LinSpace", "Equal", "NotEqual",
      "ApproximateEqual", "Less", "LessEqual", "Greater", "GreaterEqual", "InTopK", "InTopKV2", "Where", "Bucketize",
      // random numbers
      "RandomShuffle", "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "TruncatedNormal", "Multinomial",
      // writes
      "Assign", "AssignAdd", "AssignSub", "ScatterAdd", "ScatterSub", "ScatterMul", "ScatterDiv", "ScatterNdUpdate", "StackV2",
      "StackPushV2", "StackPopV2", "StackCloseV2",
      // what leaves the graph
      "Assert", "NoOp", "PyFunc", "PyFuncStateless", "QueueEnqueue", "QueueEnqueueMany", "QueueDequeue", "QueueDequeueMany",
      "QueueDequeueUpTo", "QueueClose", "QueueSize"};
  return std::ranges::find(types, type) != std::ranges::end(types) || type.ends_with("Summary") || type.ends_with("SummaryV2");
}

enum class gradient_way { nothing, function, by_class, unknown };
inline gradient_way gradient_way_of(std::string_view type, bool class_has_gradient) {
  if (find_gradient(type)) return gradient_way::function;
  if (passes_no_gradient(type)) return gradient_way::nothing;
  return class_has_gradient ? gradient_way::by_class : gradient_way::unknown;
}

}  // namespace leat::detail
