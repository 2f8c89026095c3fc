#pragma once
// Products of stacks of matrices, as `matmul` makes them of arrays of more than two axes, and `vmap` of a matrix for each model. Small
// products are a chain of multiplications and additions over whole stacks, which fusion merges with their neighbors. Larger ones have a
// kernel.

#include <leat/ops/linalg.hpp>

namespace leat {

/// a b + c of floating-point values, rounded once where the processor supports that. Small matrix products consist of it.
struct multiply_add_op {
  static constexpr std::string_view type = "MultiplyAdd";
  static constexpr op_kind kind = op_kind::element;
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0)) || x.type(1) != x.type(0) || x.type(2) != x.type(0))
      return inference::wrong("takes floating point of one dtype");
    const auto factors = broadcast(x.extent(0), x.extent(1));
    const auto all = broadcast(factors.extent, x.extent(2));
    if (!factors.ok || !all.ok) return inference::wrong("shapes do not broadcast");
    return {x.type(0), all.extent};
  }
  template <class M, class V>
  static constexpr V apply(V a, V b, V c) {
    return M::fma(a, b, c);
  }
};

/// The shape rule of products of stacks.
struct stacked_product_rule {
  static constexpr std::int64_t rows(const shape& s, bool transposed) { return s[s.rank - (transposed ? 1 : 2)]; }
  static constexpr std::int64_t columns(const shape& s, bool transposed) { return rows(s, !transposed); }
  static constexpr inference infer(const operand_list& x) {
    inference got = product_rule<stacked_product_rule>::dtype_of(x);
    if (!got.problem.empty()) return got;
    if (x.extent(0).rank < 2 || x.extent(1).rank < 2) return inference::wrong("takes matrices, rank 2 and more");
    const bool ta = x.attribute(0) != 0;
    const bool tb = x.attribute(1) != 0;
    if (!may_equal(columns(x.extent(0), ta), rows(x.extent(1), tb))) return inference::wrong("inner dimensions differ");
    shape a = x.extent(0), b = x.extent(1);
    a.rank -= 2;
    b.rank -= 2;
    const auto stack = broadcast(a, b);
    if (!stack.ok) return inference::wrong("the numbers of matrices differ");
    for (int i = 0; i < stack.extent.rank; ++i) got.extent.push(stack.extent[i]);
    if (got.extent.rank + 3 > max_rank) return inference::wrong("more than 7 dimensions");
    got.extent.push(rows(x.extent(0), ta));
    got.extent.push(columns(x.extent(1), tb));
    return got;
  }
};

/// Products of stacks as one kernel, in the place of `stacked_matmul_op` before a program runs. Attributes: transpose a, transpose b.
struct stacked_products_op : stacked_product_rule {
  static constexpr std::string_view type = "leat.StackedProducts";
  static constexpr facts what{.work = work_kind::product};
  static constexpr op_kind kind = op_kind::kernel;
};

/// Matrix products along the last two axes; the axes before them broadcast. Attributes: transpose a, transpose b. Source: TensorFlow
/// `BatchMatMulV2`.
struct stacked_matmul_op : stacked_product_rule, product_rule<stacked_matmul_op> {
  static constexpr std::string_view type = "BatchMatMulV2";
  static constexpr facts what{.work = work_kind::product};
  static constexpr field form[]{{field_kind::operand, "x"},
                                {field_kind::operand, "y"},
                                {field_kind::flag, "adj_x"},
                                {field_kind::flag, "adj_y"},
                                {field_kind::type_of, "T"}};
  static constexpr op_kind kind = op_kind::composite;
  static constexpr std::int64_t largest_matrix = 16;  // the most elements, rows or columns of a matrix in a small product
  static constexpr std::int64_t longest_sum = 8;

  /// Whether a product of matrices of m × k and k × n elements is small.
  static constexpr bool is_small(dtype of, std::int64_t m, std::int64_t k, std::int64_t n) {
    return is_floating(of) && m > 0 && n > 0 && k > 0 && k <= longest_sum && m <= largest_matrix && n <= largest_matrix &&
           m * n <= largest_matrix && m * k <= largest_matrix && n * k <= largest_matrix;
  }
  /// Transposes each matrix of a stack.
  static constexpr output turned(const output& x) {
    const int rank = x.extent().rank;
    std::int64_t axes[max_rank]{};
    for (int i = 0; i < rank; ++i) axes[i] = i;
    std::swap(axes[rank - 2], axes[rank - 1]);
    return make_node<transpose_op>({axes, static_cast<std::size_t>(rank)}, x);
  }
  template <class G>
  static constexpr output expand(G& g) {
    const bool ta = g.attribute(0) != 0;
    const bool tb = g.attribute(1) != 0;
    const std::int64_t m = rows(g.input(0).extent(), ta), inner = columns(g.input(0).extent(), ta);
    const std::int64_t n = columns(g.input(1).extent(), tb);
    if (is_small(g.input(0).type(), m, inner, n)) {
      const output a = ta ? turned(g.input(0)) : g.input(0);
      const output b = tb ? turned(g.input(1)) : g.input(1);
      output sum;
      for (std::int64_t p = 0; p < inner; ++p) {
        const output left = part(a, a.extent().rank - 1, p), right = part(b, b.extent().rank - 2, p);
        sum = p == 0 ? make_node<mul_op>({}, left, right) : make_node<multiply_add_op>({}, left, right, sum);
      }
      return sum;
    }
    const std::int64_t flags[]{g.attribute(0), g.attribute(1)};
    return make_node<stacked_products_op>(flags, g.input(0), g.input(1));
  }

 private:
  // The slice of size 1 at a position along an axis.
  static constexpr output part(const output& x, int axis, std::int64_t place) {
    const int rank = x.extent().rank;
    std::int64_t attribute[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) attribute[rank + i] = -1;
    attribute[axis] = place;
    attribute[rank + axis] = 1;
    return make_node<slice_op>({attribute, static_cast<std::size_t>(2 * rank)}, x);
  }
};

/// Matrix products of stacks, of the last two axes; the axes before them broadcast. Shapes: a [..., m, k], b [..., k, n], transposed as for
/// two matrices; result [..., m, n]. Dtypes: float32, float64, int32, int64, the same on both sides. Errors: the inner dimensions or the
/// numbers of matrices differ. Source: TensorFlow `BatchMatMulV2`.
template <bool TransposeA = false, bool TransposeB = false, class A, class B>
  requires(detail::are_stacks<A, B>()) && accepted_with<stacked_matmul_op, attributes<TransposeA, TransposeB>, A, B>
constexpr made_with<stacked_matmul_op, attributes<TransposeA, TransposeB>, A, B> matmul(const A& a, const B& b) {
  return make<stacked_matmul_op, attributes<TransposeA, TransposeB>>(a, b);
}
template <bool TransposeA = false, bool TransposeB = false, class A, class B>
  requires(detail::are_stacks<A, B>()) && refused_with<stacked_matmul_op, attributes<TransposeA, TransposeB>, A, B>
why_with<stacked_matmul_op, attributes<TransposeA, TransposeB>, A, B> matmul(const A&, const B&) = delete;

}  // namespace leat
