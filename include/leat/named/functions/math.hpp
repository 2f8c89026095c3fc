#pragma once
// Element-wise functions, products and comparisons of named graphs, with a name for the node: `add(a, 2.0f, "sum")`. They make the same
// nodes as the functions and operators on handles. The default name is TensorFlow's: "Add" for the function, "add" for the operator.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat {

// A node without a name is called `default_name`.
#define LEAT_NAMED_PAIR(function, default_name)                                               \
  output function(const operand_value& x, const operand_value& y, std::string_view name = {}, \
                  const std::source_location& where = std::source_location::current());
#define LEAT_NAMED_SINGLE(function) \
  output function(const operand_value& x, std::string_view name, const std::source_location& where = std::source_location::current());

/// x + y, element by element, of operands that broadcast. Dtypes: numbers. Errors: invalid_argument for shapes that do not broadcast, and
/// for operands of different dtypes. Source: TensorFlow `add`.
LEAT_NAMED_PAIR(add, "Add")
/// x - y. Shapes, dtypes, errors: as for `add`. Source: TensorFlow `subtract`.
LEAT_NAMED_PAIR(subtract, "Sub")
/// x y. Shapes, dtypes, errors: as for `add`. Source: TensorFlow `multiply`.
LEAT_NAMED_PAIR(multiply, "Mul")
/// x / y rounded down. Shapes, dtypes, errors: as for `add`, and invalid_argument in a run where integers are divided by 0.
/// Source: TensorFlow `floordiv`.
LEAT_NAMED_PAIR(floordiv, "floordiv")
/// Element-wise functions of two operands, which broadcast. Dtypes and errors: those of the operators' typed functions.
/// Source: TensorFlow functions of the same names.
LEAT_NAMED_PAIR(maximum, "Maximum")
LEAT_NAMED_PAIR(minimum, "Minimum")
LEAT_NAMED_PAIR(pow, "Pow")
LEAT_NAMED_PAIR(squared_difference, "SquaredDifference")
LEAT_NAMED_PAIR(atan2, "Atan2")
LEAT_NAMED_PAIR(div_no_nan, "div_no_nan")
LEAT_NAMED_PAIR(xdivy, "Xdivy")
LEAT_NAMED_PAIR(xlogy, "Xlogy")
LEAT_NAMED_PAIR(polygamma, "Polygamma")
LEAT_NAMED_PAIR(zeta, "Zeta")
LEAT_NAMED_PAIR(bitwise_and, "BitwiseAnd")
LEAT_NAMED_PAIR(bitwise_or, "BitwiseOr")
LEAT_NAMED_PAIR(bitwise_xor, "BitwiseXor")
LEAT_NAMED_PAIR(left_shift, "LeftShift")
LEAT_NAMED_PAIR(right_shift, "RightShift")
LEAT_NAMED_PAIR(equal, "Equal")
LEAT_NAMED_PAIR(not_equal, "NotEqual")
LEAT_NAMED_PAIR(less, "Less")
LEAT_NAMED_PAIR(less_equal, "LessEqual")
LEAT_NAMED_PAIR(greater, "Greater")
LEAT_NAMED_PAIR(greater_equal, "GreaterEqual")
LEAT_NAMED_PAIR(logical_and, "LogicalAnd")
LEAT_NAMED_PAIR(logical_or, "LogicalOr")

/// -x, element by element. Dtypes: numbers. Source: TensorFlow `negative`.
LEAT_NAMED_SINGLE(negative)
/// Element-wise functions of one operand. Dtypes and errors: those of the operators' typed functions.
/// Source: TensorFlow functions of the same names.
LEAT_NAMED_SINGLE(reciprocal)
LEAT_NAMED_SINGLE(square)
LEAT_NAMED_SINGLE(abs)
LEAT_NAMED_SINGLE(sign)
LEAT_NAMED_SINGLE(floor)
LEAT_NAMED_SINGLE(ceil)
LEAT_NAMED_SINGLE(round)
LEAT_NAMED_SINGLE(exp)
LEAT_NAMED_SINGLE(expm1)
LEAT_NAMED_SINGLE(log)
LEAT_NAMED_SINGLE(log1p)
LEAT_NAMED_SINGLE(sqrt)
LEAT_NAMED_SINGLE(rsqrt)
LEAT_NAMED_SINGLE(tanh)
LEAT_NAMED_SINGLE(sigmoid)
LEAT_NAMED_SINGLE(softplus)
LEAT_NAMED_SINGLE(sin)
LEAT_NAMED_SINGLE(cos)
LEAT_NAMED_SINGLE(tan)
LEAT_NAMED_SINGLE(asin)
LEAT_NAMED_SINGLE(acos)
LEAT_NAMED_SINGLE(atan)
LEAT_NAMED_SINGLE(sinh)
LEAT_NAMED_SINGLE(cosh)
LEAT_NAMED_SINGLE(asinh)
LEAT_NAMED_SINGLE(acosh)
LEAT_NAMED_SINGLE(atanh)
LEAT_NAMED_SINGLE(erf)
LEAT_NAMED_SINGLE(erfc)
LEAT_NAMED_SINGLE(lgamma)
LEAT_NAMED_SINGLE(digamma)
LEAT_NAMED_SINGLE(rint)
LEAT_NAMED_SINGLE(invert)
LEAT_NAMED_SINGLE(relu)
LEAT_NAMED_SINGLE(relu6)
LEAT_NAMED_SINGLE(elu)
LEAT_NAMED_SINGLE(selu)
LEAT_NAMED_SINGLE(softsign)

/// Leaky rectifier: x where x > 0, alpha x elsewhere. Shapes and dtypes: result like x. Source: TensorFlow `leaky_relu`.
output leaky_relu(const operand_value& x, double alpha = leaky_relu_op::usual_alpha, std::string_view name = {},
                  const std::source_location& where = std::source_location::current());
LEAT_NAMED_SINGLE(logical_not)
LEAT_NAMED_SINGLE(is_nan)
LEAT_NAMED_SINGLE(is_inf)
LEAT_NAMED_SINGLE(is_finite)
LEAT_NAMED_SINGLE(stop_gradient)

#undef LEAT_NAMED_PAIR
#undef LEAT_NAMED_SINGLE

/// -x, in a node named "Neg".
inline output negative(const output& x) { return negative(x, {}); }

/// Element-wise x / y, broadcast. Integers are converted to float64 first, as in TensorFlow; use `cast` for another dtype.
/// Source: `divide`.
output divide(const operand_value& x, const operand_value& y, std::string_view name = {},
              const std::source_location& where = std::source_location::current());

/// Options of `matmul`: which operands are transposed.
struct matmul_options {
  bool transpose_a = false;
  bool transpose_b = false;
};
/// The matrix product a b, also of batches of matrices, whose batch dimensions broadcast. Shapes: a [..., m, k], b [..., k, n]; result
/// [..., m, n].
/// Source: `matmul`.
output matmul(const operand_value& a, const operand_value& b, matmul_options options, std::string_view name = {},
              const std::source_location& where = std::source_location::current());
inline output matmul(const operand_value& a, const operand_value& b, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  return matmul(a, b, matmul_options{}, name, where);
}

/// Einstein's sum of one operand or two: a letter of the equation names an axis, and the result sums the products over all letters that it
/// lacks. `einsum("bij,bjk->bik", {a, b})` is a matrix product for each b; "..." are axes that broadcast. Without an arrow the result has
/// the letters that occur once, in alphabetical order. Shapes: as the letters say. Dtypes: float32, float64, int32, int64, the same in both
/// operands. Errors: invalid_argument for an equation that is none, or for ranks and sizes that it does not fit. Source: TensorFlow 2
/// `einsum`.
output einsum(std::string_view equation, const std::vector<output>& operands, std::string_view name = {},
              const std::source_location& where = std::source_location::current());

/// x where the condition holds, y elsewhere; all three broadcast. Dtypes: condition bool; x and y equal. Source: `where` (version 2).
output select(const operand_value& condition, const operand_value& x, const operand_value& y, std::string_view name = {},
              const std::source_location& where = std::source_location::current());

/// x converted to another dtype; x itself if it has that dtype. Shapes: result like x. Source: `cast`.
output cast(const operand_value& x, dtype to, std::string_view name = {},
            const std::source_location& where = std::source_location::current());

/// e^x / Σ e^x along the last axis. Shapes: result like x. Dtypes: floating point. Source: `softmax`.
output softmax(const operand_value& logits, std::string_view name, const std::source_location& where = std::source_location::current());
/// log softmax(x) along the last axis. Shapes: result like x. Dtypes: floating point. Source: `log_softmax`.
output log_softmax(const operand_value& logits, std::string_view name, const std::source_location& where = std::source_location::current());

/// x limited to [low, high], as max(min(x, high), low), in the nodes that TensorFlow makes.
/// Source: `clip_by_value`.
output clip_by_value(const output& x, const operand_value& low, const operand_value& high, std::string_view name = {},
                     const std::source_location& where = std::source_location::current());
/// `clip_by_value` of a handle. Overload resolution prefers it to the function of expressions (ops/comparison.hpp), which would make a
/// single ClipByValue node.
template <class L, class H>
  requires(std::convertible_to<const L&, operand_value> && std::convertible_to<const H&, operand_value>)
output clip_by_value(const output& x, const L& low, const H& high, std::string_view name = {},
                     const std::source_location& where = std::source_location::current()) {
  return clip_by_value(x, operand_value(low), operand_value(high), name, where);
}

// ---- assignments ----------------------------------------------------------------------------------------------------

/// Assigns a value to a variable; the result refers to the variable, or is a read after the assignment of a variable by handle.
/// Source: `assign`.
output assign(const output& variable, const operand_value& value, std::string_view name = {},
              const std::source_location& where = std::source_location::current());
/// Adds a value to a variable; the result refers to the variable. Source: `assign_add`.
output assign_add(const output& variable, const operand_value& value, std::string_view name = {},
                  const std::source_location& where = std::source_location::current());
/// Subtracts a value from a variable; the result refers to the variable. Source: `assign_sub`.
output assign_sub(const output& variable, const operand_value& value, std::string_view name = {},
                  const std::source_location& where = std::source_location::current());

/// Half the sum of squares, Σ x² / 2, over all elements, a scalar. Dtypes: floating point. Source: `l2_loss`.
output l2_loss(const operand_value& x, std::string_view name, const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/math.hpp>
#endif
