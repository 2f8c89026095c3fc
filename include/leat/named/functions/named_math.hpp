#pragma once
// Element-wise functions, products and comparisons of named graphs, with names: `add(a, 2.0f, "sum")`. They make the same nodes as the
// functions and operators on handles. The default name is TensorFlow's, "Add" for the function and "add" for the operator.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>

namespace leat {

#define LEAT_NAMED_PAIR(function, definition, default_name)                                          \
  inline output function(const operand_value& x, const operand_value& y, std::string_view name = {}, \
                         const std::source_location& where = std::source_location::current()) {      \
    return detail::call_named(info_of<definition>, {x, y}, {}, name, default_name, where);           \
  }
#define LEAT_NAMED_SINGLE(function, definition)                                                 \
  inline output function(const operand_value& x, std::string_view name,                         \
                         const std::source_location& where = std::source_location::current()) { \
    return detail::call_named(info_of<definition>, {x}, {}, name, definition::type, where);     \
  }

/// Element-wise functions of two operands, which broadcast. Dtypes and errors: those of the operators' typed functions.
/// Source: TensorFlow functions of the same names.
LEAT_NAMED_PAIR(add, add_op, "Add")
LEAT_NAMED_PAIR(subtract, sub_op, "Sub")
LEAT_NAMED_PAIR(multiply, mul_op, "Mul")
LEAT_NAMED_PAIR(floordiv, floor_div_op, "floordiv")
LEAT_NAMED_PAIR(maximum, maximum_op, "Maximum")
LEAT_NAMED_PAIR(minimum, minimum_op, "Minimum")
LEAT_NAMED_PAIR(pow, pow_op, "Pow")
LEAT_NAMED_PAIR(squared_difference, squared_difference_op, "SquaredDifference")
LEAT_NAMED_PAIR(equal, equal_op, "Equal")
LEAT_NAMED_PAIR(not_equal, not_equal_op, "NotEqual")
LEAT_NAMED_PAIR(less, less_op, "Less")
LEAT_NAMED_PAIR(less_equal, less_equal_op, "LessEqual")
LEAT_NAMED_PAIR(greater, greater_op, "Greater")
LEAT_NAMED_PAIR(greater_equal, greater_equal_op, "GreaterEqual")
LEAT_NAMED_PAIR(logical_and, logical_and_op, "LogicalAnd")
LEAT_NAMED_PAIR(logical_or, logical_or_op, "LogicalOr")

/// Element-wise functions of one operand. Dtypes and errors: those of the operators' typed functions.
/// Source: TensorFlow functions of the same names.
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
LEAT_NAMED_SINGLE(erf, erf_op)
LEAT_NAMED_SINGLE(relu, relu_op)
LEAT_NAMED_SINGLE(relu6, relu6_op)
LEAT_NAMED_SINGLE(elu, elu_op)

/// x where x > 0, alpha x elsewhere. Source: TensorFlow `leaky_relu`.
inline output leaky_relu(const operand_value& x, double alpha = leaky_relu_op::usual_alpha, std::string_view name = {},
                         const std::source_location& where = std::source_location::current()) {
  const std::int64_t numbers[]{rule::setting_bits(alpha)};
  return detail::call_named(info_of<leaky_relu_op>, {x}, numbers, name, leaky_relu_op::type, where);
}
LEAT_NAMED_SINGLE(logical_not, logical_not_op)
LEAT_NAMED_SINGLE(is_nan, is_nan_op)
LEAT_NAMED_SINGLE(is_inf, is_inf_op)
LEAT_NAMED_SINGLE(is_finite, is_finite_op)
LEAT_NAMED_SINGLE(stop_gradient, stop_gradient_op)

#undef LEAT_NAMED_PAIR
#undef LEAT_NAMED_SINGLE

/// -x, named "Neg".
inline output negative(const output& x) { return negative(x, {}); }

/// Element-wise x / y. Integers are divided as float64, as in TensorFlow; cast them for another dtype.
/// Source: `divide`.
inline output divide(const operand_value& x, const operand_value& y, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<real_div_op>, {x, y}, {}, name, "truediv", where);
}

/// Transpositions of `matmul`.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
};
/// The matrix product a b, also of batches, whose first dimensions broadcast. Shapes: a [..., m, k], b [..., k, n]; result [..., m, n].
/// Source: `matmul`.
inline output matmul(const operand_value& a, const operand_value& b, matmul_options options, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  const std::int64_t numbers[]{options.transpose_a, options.transpose_b};
  return detail::call_named(info_of<matmul_op>, {a, b}, numbers, name, "MatMul", where);
}
inline output matmul(const operand_value& a, const operand_value& b, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  return matmul(a, b, matmul_options{}, name, where);
}

/// x where the condition holds, y elsewhere; all three broadcast. Source: `where` (version 2).
inline output select(const operand_value& condition, const operand_value& x, const operand_value& y, std::string_view name,
                     const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<select_op>, {condition, x, y}, {}, name, "SelectV2", where, 1);
}

/// x converted to another dtype; unchanged if it has that dtype. Source: `cast`.
output cast(const operand_value& x, dtype to, std::string_view name = {},
                   const std::source_location& where = std::source_location::current());

/// e^x / Σ e^x along the last axis. Shapes: result like x. Dtypes: floating point. Source: `softmax`.
inline output softmax(const operand_value& logits, std::string_view name,
                      const std::source_location& where = std::source_location::current()) {
  const std::int64_t last[]{-1};
  return detail::call_named(info_of<softmax_op>, {logits}, last, name, "Softmax", where);
}
/// log softmax(x) along the last axis. Shapes: result like x. Dtypes: floating point. Source: `log_softmax`.
inline output log_softmax(const operand_value& logits, std::string_view name,
                          const std::source_location& where = std::source_location::current()) {
  const std::int64_t last[]{-1};
  return detail::call_named(info_of<log_softmax_op>, {logits}, last, name, "LogSoftmax", where);
}

/// x limited to [low, high]: max(min(x, high), low), composed as in TensorFlow.
/// Source: `clip_by_value`.
output clip_by_value(const output& x, const operand_value& low, const operand_value& high, std::string_view name,
                            const std::source_location& where = std::source_location::current());

// ---- assignments ----------------------------------------------------------------------------------------------------

/// variable = value; the result refers to the variable. Source: `assign`.
inline output assign(const output& variable, const operand_value& value, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<assign_op>, {variable, value}, {}, name, "Assign", where);
}
/// variable += value; the result refers to the variable. Source: `assign_add`.
inline output assign_add(const output& variable, const operand_value& value, std::string_view name = {},
                         const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<assign_add_op>, {variable, value}, {}, name, "AssignAdd", where);
}
/// variable -= value; the result refers to the variable. Source: `assign_sub`.
inline output assign_sub(const output& variable, const operand_value& value, std::string_view name = {},
                         const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<assign_sub_op>, {variable, value}, {}, name, "AssignSub", where);
}

/// Σ x² / 2 over all elements, a scalar. Dtypes: floating point. Source: `l2_loss`.
inline output l2_loss(const operand_value& x, std::string_view name, const std::source_location& where = std::source_location::current()) {
  return detail::call_named(info_of<l2_loss_op>, {x}, {}, name, "L2Loss", where);
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/named_math_bodies.hpp>
#endif
