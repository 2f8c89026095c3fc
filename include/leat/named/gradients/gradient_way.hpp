#pragma once
// Where the gradient of an operator comes from in graphs with names: a function of the table (gradient_functions.hpp), the operator's
// class, or nowhere. Some operators pass none although they take and give floating-point tensors (`stops_gradient`): functions of steps,
// what depends on shapes alone, random numbers, writes, what leaves the graph. Of all others asking for a gradient is an error, so that
// none is lost in silence. Source: TensorFlow's `NotDifferentiable`, and its gradient functions that give `None`.

#include <leat/named/gradients/gradient_functions.hpp>

namespace leat::detail {

enum class gradient_way { nothing, function, by_class, unknown };
inline gradient_way gradient_way_of(const op_info& op) {
  if (find_gradient(op.type)) return gradient_way::function;
  if (op.what.stops_gradient) return gradient_way::nothing;
  return op.gradient != nullptr ? gradient_way::by_class : gradient_way::unknown;
}

}  // namespace leat::detail
