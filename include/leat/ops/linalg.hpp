#pragma once
// Matrix products. Errors of all functions: rules.hpp.

#include <leat/ops/reduction.hpp>

namespace leat {

/// Base of the matrix products, of two matrices or of two stacks: their attributes say whether each operand is transposed; the gradients
/// are again such products.
template <class Op>
struct product_rule {
  /// The result's dtype, or an error if the operands' dtypes do not fit.
  static constexpr inference dtype_of(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (!is_number(x.type(0)) || x.type(0) == dtype::uint8) return inference::wrong("takes float32, float64, int32 and int64 only");
    return {x.type(0), {}};
  }
  template <class Handle>  // a template: instantiated after the operator's class is complete
  static constexpr Handle product(const Handle& a, bool ta, const Handle& b, bool tb) {
    const std::int64_t attribute[]{ta, tb};
    return make_node<Op>(attribute, a, b);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const bool ta = g.attribute(0) != 0;
    const bool tb = g.attribute(1) != 0;
    const auto a = g.input(0);
    const auto b = g.input(1);
    if (g.wants(0)) give(g, 0, ta ? product(b, tb, g.dy(), true) : product(g.dy(), false, b, !tb));
    if (g.wants(1)) give(g, 1, tb ? product(g.dy(), true, a, ta) : product(a, !ta, g.dy(), false));
  }
};

/// Matrix product, with either operand transposed. Attributes: transpose a, transpose b.
struct matmul_op : product_rule<matmul_op> {
  static constexpr std::string_view type = "MatMul";
  static constexpr facts what{.work = work_kind::product, .of_complex = complex_slopes::of_conjugates};
  static constexpr field form[]{{field_kind::operand, "a"},
                                {field_kind::operand, "b"},
                                {field_kind::flag, "transpose_a"},
                                {field_kind::flag, "transpose_b"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_flag, "grad_a", 0},
                                {field_kind::fixed_flag, "grad_b", 0}};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    inference got = dtype_of(x);
    if (!got.problem.empty()) return got;
    if (x.extent(0).rank != 2 || x.extent(1).rank != 2) return inference::wrong("takes matrices, rank 2");
    const bool ta = x.attribute(0) != 0;
    const bool tb = x.attribute(1) != 0;
    if (!may_equal(x.extent(0)[ta ? 0 : 1], x.extent(1)[tb ? 1 : 0])) return inference::wrong("inner dimensions differ");
    got.extent.push(x.extent(0)[ta ? 1 : 0]);
    got.extent.push(x.extent(1)[tb ? 0 : 1]);
    return got;
  }
};
namespace detail {
// Whether both have matrices and one of them more than one: stacked_matmul.hpp multiplies them.
template <class A, class B>
constexpr bool are_stacks() {
  if constexpr (tensor_expression<A> && tensor_expression<B>) return A::rank >= 2 && B::rank >= 2 && A::rank + B::rank > 4;
  else return false;
}
}  // namespace detail
/// The matrix product a b; `matmul<true, false>(a, b)` is aᵀ b. Shapes: a [m, k], or [k, m] if transposed; b [k, n], or [n, k]; result [m,
/// n]. Dtypes: float32, float64, int32, int64, the same on both sides. Errors: the inner dimensions differ. Source: TensorFlow `MatMul`.
template <bool TransposeA = false, bool TransposeB = false, class A, class B>
  requires accepted_with<matmul_op, attributes<TransposeA, TransposeB>, A, B>
constexpr made_with<matmul_op, attributes<TransposeA, TransposeB>, A, B> matmul(const A& a, const B& b) {
  return make<matmul_op, attributes<TransposeA, TransposeB>>(a, b);
}
template <bool TransposeA = false, bool TransposeB = false, class A, class B>
  requires refused_with<matmul_op, attributes<TransposeA, TransposeB>, A, B> && (!detail::are_stacks<A, B>())
why_with<matmul_op, attributes<TransposeA, TransposeB>, A, B> matmul(const A&, const B&) = delete;
LEAT_OTHERWISE_OF(matmul, "(a, b) takes two tensors of rank 2 or more; matmul<true, false>(a, b) transposes the first; " LEAT_TENSORS);

}  // namespace leat
