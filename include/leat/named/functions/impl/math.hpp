#pragma once
// Implementation of named_math.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/einsum_equation.hpp>

namespace leat {

#define LEAT_NAMED_PAIR(function, definition, default_name)                                            \
  LEAT_FUNCTION output function(const operand_value& x, const operand_value& y, std::string_view name, \
                                const std::source_location& where) {                                   \
    return detail::call_named(info_of<definition>, {x, y}, {}, name, default_name, where);             \
  }
#define LEAT_NAMED_SINGLE(function, definition)                                                                     \
  LEAT_FUNCTION output function(const operand_value& x, std::string_view name, const std::source_location& where) { \
    return detail::call_named(info_of<definition>, {x}, {}, name, definition::type, where);                         \
  }

LEAT_NAMED_PAIR(add, add_op, "Add")
LEAT_NAMED_PAIR(subtract, sub_op, "Sub")
LEAT_NAMED_PAIR(multiply, mul_op, "Mul")
LEAT_NAMED_PAIR(floordiv, floor_div_op, "floordiv")
LEAT_NAMED_PAIR(maximum, maximum_op, "Maximum")
LEAT_NAMED_PAIR(minimum, minimum_op, "Minimum")
LEAT_NAMED_PAIR(pow, pow_op, "Pow")
LEAT_NAMED_PAIR(squared_difference, squared_difference_op, "SquaredDifference")
LEAT_NAMED_PAIR(atan2, atan2_op, "Atan2")
LEAT_NAMED_PAIR(div_no_nan, div_no_nan_op, "div_no_nan")
LEAT_NAMED_PAIR(xdivy, xdivy_op, "Xdivy")
LEAT_NAMED_PAIR(xlogy, xlogy_op, "Xlogy")
LEAT_NAMED_PAIR(polygamma, polygamma_op, "Polygamma")
LEAT_NAMED_PAIR(zeta, zeta_op, "Zeta")
LEAT_NAMED_PAIR(bitwise_and, bitwise_and_op, "BitwiseAnd")
LEAT_NAMED_PAIR(bitwise_or, bitwise_or_op, "BitwiseOr")
LEAT_NAMED_PAIR(bitwise_xor, bitwise_xor_op, "BitwiseXor")
LEAT_NAMED_PAIR(left_shift, left_shift_op, "LeftShift")
LEAT_NAMED_PAIR(right_shift, right_shift_op, "RightShift")
LEAT_NAMED_PAIR(equal, equal_op, "Equal")
LEAT_NAMED_PAIR(not_equal, not_equal_op, "NotEqual")
LEAT_NAMED_PAIR(less, less_op, "Less")
LEAT_NAMED_PAIR(less_equal, less_equal_op, "LessEqual")
LEAT_NAMED_PAIR(greater, greater_op, "Greater")
LEAT_NAMED_PAIR(greater_equal, greater_equal_op, "GreaterEqual")
LEAT_NAMED_PAIR(logical_and, logical_and_op, "LogicalAnd")
LEAT_NAMED_PAIR(logical_or, logical_or_op, "LogicalOr")

LEAT_NAMED_SINGLE(negative, neg_op)
LEAT_NAMED_SINGLE(reciprocal, reciprocal_op)
LEAT_NAMED_SINGLE(square, square_op)
LEAT_NAMED_SINGLE(abs, abs_op)
LEAT_NAMED_SINGLE(sign, sign_op)
LEAT_NAMED_SINGLE(floor, floor_op)
LEAT_NAMED_SINGLE(ceil, ceil_op)
LEAT_NAMED_SINGLE(round, round_op)
LEAT_NAMED_SINGLE(exp, exp_op)
LEAT_NAMED_SINGLE(expm1, expm1_op)
LEAT_NAMED_SINGLE(log, log_op)
LEAT_NAMED_SINGLE(log1p, log1p_op)
LEAT_NAMED_SINGLE(sqrt, sqrt_op)
LEAT_NAMED_SINGLE(rsqrt, rsqrt_op)
LEAT_NAMED_SINGLE(tanh, tanh_op)
LEAT_NAMED_SINGLE(sigmoid, sigmoid_op)
LEAT_NAMED_SINGLE(softplus, softplus_op)
LEAT_NAMED_SINGLE(sin, sin_op)
LEAT_NAMED_SINGLE(cos, cos_op)
LEAT_NAMED_SINGLE(tan, tan_op)
LEAT_NAMED_SINGLE(asin, asin_op)
LEAT_NAMED_SINGLE(acos, acos_op)
LEAT_NAMED_SINGLE(atan, atan_op)
LEAT_NAMED_SINGLE(sinh, sinh_op)
LEAT_NAMED_SINGLE(cosh, cosh_op)
LEAT_NAMED_SINGLE(asinh, asinh_op)
LEAT_NAMED_SINGLE(acosh, acosh_op)
LEAT_NAMED_SINGLE(atanh, atanh_op)
LEAT_NAMED_SINGLE(erf, erf_op)
LEAT_NAMED_SINGLE(erfc, erfc_op)
LEAT_NAMED_SINGLE(lgamma, lgamma_op)
LEAT_NAMED_SINGLE(digamma, digamma_op)
LEAT_NAMED_SINGLE(rint, rint_op)
LEAT_NAMED_SINGLE(invert, invert_op)
LEAT_NAMED_SINGLE(relu, relu_op)
LEAT_NAMED_SINGLE(relu6, relu6_op)
LEAT_NAMED_SINGLE(elu, elu_op)
LEAT_NAMED_SINGLE(selu, selu_op)
LEAT_NAMED_SINGLE(softsign, softsign_op)
LEAT_NAMED_SINGLE(logical_not, logical_not_op)
LEAT_NAMED_SINGLE(is_nan, is_nan_op)
LEAT_NAMED_SINGLE(is_inf, is_inf_op)
LEAT_NAMED_SINGLE(is_finite, is_finite_op)
LEAT_NAMED_SINGLE(stop_gradient, stop_gradient_op)

#undef LEAT_NAMED_PAIR
#undef LEAT_NAMED_SINGLE

LEAT_FUNCTION output cast(const operand_value& x, dtype to, std::string_view name, const std::source_location& where) {
  if (x.tensor() != nullptr && x.tensor()->type() == to) return *x.tensor();
  if (x.literal() != nullptr && x.literal()->type() == to_data_type(to)) {  // TensorFlow converts it in the scope of the cast
    graph& g = default_graph();
    const source_scope line(g, where);
    const name_scope scope(g, name.empty() ? "Cast" : name);
    return g.named().make_constant(g, *x.literal(), "x");
  }
  const std::int64_t numbers[]{static_cast<std::int64_t>(to)};
  return detail::call_named(info_of<cast_op>, {x}, numbers, name, "Cast", where);
}

LEAT_FUNCTION output clip_by_value(const output& x, const operand_value& low, const operand_value& high, std::string_view name,
                                   const std::source_location& where) {
  const name_scope scope(x.owner(), name.empty() ? "clip_by_value" : name);
  return detail::call_named(info_of<maximum_op>, {minimum(x, high, "Minimum", where), low}, {}, scope.text(), {}, where);
}

LEAT_FUNCTION output leaky_relu(const operand_value& x, double alpha, std::string_view name, const std::source_location& where) {
  const std::int64_t numbers[]{rule::setting_bits(alpha)};
  return detail::call_named(info_of<leaky_relu_op>, {x}, numbers, name, leaky_relu_op::type, where);
}

LEAT_FUNCTION output divide(const operand_value& x, const operand_value& y, std::string_view name, const std::source_location& where) {
  return detail::call_named(info_of<real_div_op>, {x, y}, {}, name, "truediv", where);
}

LEAT_FUNCTION output matmul(const operand_value& a, const operand_value& b, matmul_options options, std::string_view name,
                            const std::source_location& where) {
  const std::int64_t numbers[]{options.transpose_a, options.transpose_b};
  return detail::call_named(info_of<matmul_op>, {a, b}, numbers, name, "MatMul", where);
}

LEAT_FUNCTION output einsum(std::string_view equation, const std::vector<output>& operands, std::string_view name,
                            const std::source_location& where) {
  if (operands.empty()) throw invalid_argument("einsum: no operands");
  const source_scope line(operands.front().owner(), where);
  const detail::einsum_labels labels = detail::read_equation(equation);
  if (!labels.problem.empty()) throw invalid_argument("einsum: '" + std::string(equation) + "': " + std::string(labels.problem));
  std::string text;
  for (const char c : equation)
    if (c != ' ') text += c;
  if (!labels.has_arrow) {
    text += "->";
    for (int i = 0; i < labels.result.count; ++i)
      text +=
          labels.result[i] == detail::einsum_labels::ellipsis ? std::string("...") : std::string(1, static_cast<char>(labels.result[i]));
  }
  const std::vector<number_argument> inputs(operands.begin(), operands.end());
  return call_operator(operands.front().owner(), "Einsum", inputs, {{"equation", text}}, name).result();
}

LEAT_FUNCTION output select(const operand_value& condition, const operand_value& x, const operand_value& y, std::string_view name,
                            const std::source_location& where) {
  return detail::call_named(info_of<select_op>, {condition, x, y}, {}, name, "SelectV2", where, 1);
}

LEAT_FUNCTION output softmax(const operand_value& logits, std::string_view name, const std::source_location& where) {
  const std::int64_t last[]{-1};
  return detail::call_named(info_of<softmax_op>, {logits}, last, name, "Softmax", where);
}

LEAT_FUNCTION output log_softmax(const operand_value& logits, std::string_view name, const std::source_location& where) {
  const std::int64_t last[]{-1};
  return detail::call_named(info_of<log_softmax_op>, {logits}, last, name, "LogSoftmax", where);
}

LEAT_FUNCTION output assign(const output& variable, const operand_value& value, std::string_view name, const std::source_location& where) {
  return detail::call_named(info_of<assign_op>, {variable, value}, {}, name, "Assign", where);
}

LEAT_FUNCTION output assign_add(const output& variable, const operand_value& value, std::string_view name,
                                const std::source_location& where) {
  return detail::call_named(info_of<assign_add_op>, {variable, value}, {}, name, "AssignAdd", where);
}

LEAT_FUNCTION output assign_sub(const output& variable, const operand_value& value, std::string_view name,
                                const std::source_location& where) {
  return detail::call_named(info_of<assign_sub_op>, {variable, value}, {}, name, "AssignSub", where);
}

LEAT_FUNCTION output l2_loss(const operand_value& x, std::string_view name, const std::source_location& where) {
  return detail::call_named(info_of<l2_loss_op>, {x}, {}, name, "L2Loss", where);
}

}  // namespace leat
