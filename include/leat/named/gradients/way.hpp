#pragma once
// The source of an operator's gradient in graphs with names: a function of the table (gradient_functions.hpp), the operator's class, or
// none. Some operators pass no gradient although they take and return floating-point tensors (`stops_gradient`): step functions, operators
// that depend only on shapes, random values, writes, and operators whose results leave the graph. For all other operators without a
// gradient, asking for one is an error, so that no gradient is lost silently. Source: TensorFlow's `NotDifferentiable`, and its gradient
// functions that return `None`.

#include <leat/named/gradients/functions.hpp>

namespace leat::detail {

enum class gradient_way { nothing, function, by_class, unknown };
inline gradient_way gradient_way_of(const op_info& op) {
  if (find_gradient(op.type)) return gradient_way::function;
  if (op.what.stops_gradient) return gradient_way::nothing;
  return op.has_gradient ? gradient_way::by_class : gradient_way::unknown;
}

}  // namespace leat::detail
