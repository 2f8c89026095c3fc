#pragma once
// The decomposition of matrices into orthonormal columns and an upper triangle, along the last two axes of an array. Errors of all
// functions: rules.hpp.

#include <leat/ops/decomposition_sizes.hpp>
#include <leat/ops/solve.hpp>
#include <leat/ops/splits.hpp>

#include <utility>

namespace leat {

namespace rule {

/// A node whose result holds several matrices for each matrix of its operand, one after the other along a last axis.
struct packed_matrices {
  /// Elements [begin, begin + rows columns) of each line as matrices, or as vectors if `rows` is negative.
  static constexpr output part(const output& packed, std::int64_t begin, std::int64_t rows, std::int64_t columns) {
    const int rank = packed.extent().rank;
    std::int64_t numbers[2 * max_rank]{};
    for (int i = 0; i < rank; ++i) numbers[rank + i] = -1;
    numbers[rank - 1] = begin;
    numbers[2 * rank - 1] = rows < 0 ? columns : rows * columns;
    const output line = make_node<slice_op>({numbers, static_cast<std::size_t>(2 * rank)}, packed);
    if (rows < 0) return line;
    shape s = packed.extent();
    s.dim[--s.rank] = 0;
    return reshape_to(line, matrices::with(s, rows, columns));
  }
  static constexpr inference infer(const operand_list& x, std::int64_t elements) {
    return {x.type(0), matrices::with(matrices::stack(x.extent(0)), elements)};
  }
  static constexpr std::string_view problem(const operand_list& x) {
    if (!is_floating(x.type(0))) return refusal(takes::floating);
    if (x.extent(0).rank < 2) return "takes matrices, rank 2 and more";
    if (matrices::rows(x.extent(0)) < 0 || matrices::columns(x.extent(0)) < 0)
      return "the numbers of rows and columns must be sizes that the compiler knows";
    constexpr std::int64_t most = std::int64_t{1} << 21;  // the products of such sizes are numbers
    if (matrices::rows(x.extent(0)) > most || matrices::columns(x.extent(0)) > most) return "more than 2^21 rows or columns";
    return {};
  }
};

}  // namespace rule

namespace detail {
template <class X, std::int64_t Rows, std::int64_t Columns>
struct packed_part {
  static constexpr number_list sizes() {
    number_list list;
    for (int i = 0; i + 1 < X::rank; ++i) list.push(X::extent[i]);
    list.push(Rows);
    list.push(Columns);
    return list;
  }
};
/// The matrices that begin at element `Begin` of each line.
template <std::int64_t Begin, std::int64_t Rows, std::int64_t Columns, class X>
constexpr auto part_of_packed(const X& x) {
  return make_from<reshape_op, packed_part<X, Rows, Columns>::sizes>(slice_along<X::rank - 1, Begin, Rows * Columns>(x));
}
}  // namespace detail

/// Q and R of each matrix, and the memory of the decomposition. Attribute: whether Q is square. Graphs with names have TensorFlow's
/// operator, which has two results, by its definition (named/definitions/matrices.hpp). Source: TensorFlow `Qr`.
struct qr_op {
  static constexpr std::string_view type = "leat.QR";
  static constexpr facts what{.work = work_kind::product, .by_matrix = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr qr_sizes sizes(const shape& s, bool is_full) { return {rule::matrices::rows(s), rule::matrices::columns(s), is_full}; }
  static constexpr inference infer(const operand_list& x) {
    if (const auto why = rule::packed_matrices::problem(x); !why.empty()) return inference::wrong(why);
    const auto of = sizes(x.extent(0), x.attribute(0) != 0);
    return rule::packed_matrices::infer(x, of.results() + of.scratch());
  }
  /// The gradient of A, from both parts and their gradients. Source: TensorFlow `_QrGrad`.
  template <class M>
  static constexpr output slope(const M& m, const output& a, const output& q, const output& r, const output& dq, const output& dr) {
    const std::int64_t rows = rule::matrices::rows(q.extent()), columns = rule::matrices::columns(r.extent());
    if (rows >= columns) return slope_of_tall(m, q, r, dq, dr);
    const output y = m.columns(a, rows, columns);
    const output u = m.columns(r, 0, rows);
    const output dv = m.columns(dr, rows, columns);
    const output du = m.columns(dr, 0, rows);
    const output dy = m.product(q, dv);
    const output more = m.product(y, dv, false, true);
    const output both = dq + more;
    const output dx = slope_of_tall(m, q, u, both, du);
    return m.beside(dx, dy);
  }
  /// The gradient, where TensorFlow has none: of decompositions with a square Q of matrices with more rows than columns.
  static constexpr bool has_slope(const shape& q, const shape& r) {
    return !(rule::matrices::rows(r) > rule::matrices::columns(r) && rule::matrices::rows(q) == rule::matrices::columns(q));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (!g.wants(0)) return;
    const auto of = sizes(g.input(0).extent(), g.attribute(0) != 0);
    const std::int64_t k = of.between(), begin_of_r = of.m * k;
    using rule::packed_matrices;
    const output q = packed_matrices::part(g.result(), 0, of.m, k), r = packed_matrices::part(g.result(), begin_of_r, k, of.n);
    const output dq = packed_matrices::part(g.dy(), 0, of.m, k), dr = packed_matrices::part(g.dy(), begin_of_r, k, of.n);
    if (!has_slope(q.extent(), r.extent()))
      LEAT_THROW(unimplemented("QrGrad not implemented when nrows > ncols and full_matrices is true."));
    give(g, 0, slope(matrix_rows{}, g.input(0), q, r, dq, dr));
  }

 private:
  template <class M>
  static constexpr output slope_of_tall(const M& m, const output& q, const output& r, const output& dq, const output& dr) {
    const auto divided = [&](const output& x) {  // x (R⁻¹)ᵀ
      const output turned = m.adjoint(x);
      return m.adjoint(m.triangular_solve(r, turned, false, false));
    };
    const output qdq = m.product(q, dq, true, false);
    const output turned_q = m.adjoint(qdq);
    const output of_q = qdq - turned_q;
    const output rdr = m.product(r, dr, false, true);
    const output turned_r = m.adjoint(rdr);
    const output of_r = rdr - turned_r;
    const output sum = of_q + of_r;
    const output lower = m.band(sum, -1, 0);
    const output solved = divided(lower);
    const output within = dr + solved;
    const output first = m.product(q, within);
    const output covered = m.product(q, qdq);
    const output rest = dq - covered;
    const output second = divided(rest);
    return first + second;
  }
};

/// The decomposition a = q r of matrices, where the columns of q are orthonormal and r is upper triangular: `auto [q, r] = qr(a)`; with
/// `qr<true>(a)` q is square. Shapes: a [..., m, n]; results [..., m, k] and [..., k, n], where k is min(m, n), or m if q is square.
/// Dtypes: floating point. Source: TensorFlow `Qr`.
template <bool FullMatrices = false, tensor_expression A>
  requires accepted_with<qr_op, attributes<FullMatrices>, A>
constexpr auto qr(const A& a) {
  constexpr auto of = qr_op::sizes(A::extent, FullMatrices);
  const auto both = make<qr_op, attributes<FullMatrices>>(a);
  return std::pair(detail::part_of_packed<0, of.m, of.between()>(both),
                   detail::part_of_packed<of.m * of.between(), of.between(), of.n>(both));
}
template <bool FullMatrices = false, class A>
  requires refused_with<qr_op, attributes<FullMatrices>, A>
why_with<qr_op, attributes<FullMatrices>, A> qr(const A&) = delete;
LEAT_OTHERWISE_OF(qr, "(a) takes one tensor of rank 2 or more; qr<true>(a) has a square q; " LEAT_TENSORS);

}  // namespace leat
