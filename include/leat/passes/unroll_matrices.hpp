#pragma once
// Small matrices as scalars: the algorithms of ops/linear_systems.hpp run on values that record what is done with them, as nodes of the
// graph. The scalars are computed by the same operations as the kernels' numbers, so both give the same bits.

#include <leat/core/list.hpp>
#include <leat/ops/decompositions.hpp>
#include <leat/ops/linear_systems.hpp>
#include <leat/passes/unroll_elements.hpp>

#include <limits>

namespace leat::passes::detail {

/// A scalar of the graph, or a number that becomes one where it meets a scalar.
struct recorded {
  element_writer* to = nullptr;
  dtype type = dtype::invalid;
  int node = -1;
  double number = 0;

  constexpr recorded() = default;
  template <class Number>
    requires std::is_arithmetic_v<Number>
  constexpr explicit recorded(Number value) : number(static_cast<double>(value)) {}
  constexpr recorded(element_writer& writer, dtype of, int at) : to(&writer), type(of), node(at) {}

  constexpr int node_for(element_writer& writer, dtype of) const { return to != nullptr ? node : writer.number(of, number); }
};
/// A bool of the graph, with the dtype of the scalars that it was made of, or one that is known.
struct recorded_truth {
  element_writer* to = nullptr;
  dtype type = dtype::invalid;
  int node = -1;
  bool value = true;

  constexpr explicit recorded_truth(bool known) : value(known) {}
  constexpr recorded_truth(element_writer& writer, dtype of, int at) : to(&writer), type(of), node(at) {}
  constexpr recorded_truth operator!() const {
    if (to == nullptr) return recorded_truth(!value);
    return {*to, type, to->operate<logical_not_op>(dtype::boolean, node)};
  }
  friend constexpr recorded_truth operator&&(const recorded_truth& a, const recorded_truth& b) {
    if (a.to == nullptr) return a.value ? b : a;
    if (b.to == nullptr) return b.value ? a : b;
    return {*a.to, a.type, a.to->operate<logical_and_op>(dtype::boolean, a.node, b.node)};
  }
};
/// Arithmetic on scalars of the graph, with the members of `scalar_math` that the algorithms use.
struct recording_math {
  using mask = recorded_truth;
  static constexpr recorded sqrt(const recorded& x) { return {*x.to, x.type, x.to->operate<sqrt_op>(x.type, x.node)}; }
  static constexpr recorded abs(const recorded& x) { return {*x.to, x.type, x.to->operate<abs_op>(x.type, x.node)}; }
  static constexpr recorded negate(const recorded& x) { return {*x.to, x.type, x.to->operate<neg_op>(x.type, x.node)}; }
  static constexpr recorded divide(const recorded& a, const recorded& b) {
    const recorded& known = a.to != nullptr ? a : b;
    element_writer& to = *known.to;
    return {to, known.type, to.operate<real_div_op>(known.type, a.node_for(to, known.type), b.node_for(to, known.type))};
  }
  static constexpr recorded fma(const recorded& a, const recorded& b, const recorded& c) {
    const recorded& known = a.to != nullptr ? a : b.to != nullptr ? b : c;
    element_writer& to = *known.to;
    const dtype type = known.type;
    return {to, type, to.multiply_add(type, a.node_for(to, type), b.node_for(to, type), c.node_for(to, type))};
  }
  static constexpr recorded select(const recorded_truth& condition, const recorded& a, const recorded& b) {
    if (condition.to == nullptr) return condition.value ? a : b;
    const dtype type = condition.type;
    element_writer& to = *condition.to;
    return {to, type, to.select(type, condition.node, a.node_for(to, type), b.node_for(to, type))};
  }
  static constexpr recorded_truth less_equal(const recorded& a, const recorded& b) { return compare<less_equal_op>(a, b); }
  static constexpr recorded_truth greater(const recorded& a, const recorded& b) { return compare<greater_op>(a, b); }
  static constexpr recorded_truth equal(const recorded& a, const recorded& b) { return compare<equal_op>(a, b); }

 private:
  template <class Op>
  static constexpr recorded_truth compare(const recorded& a, const recorded& b) {
    const recorded& known = a.to != nullptr ? a : b;
    if (known.to == nullptr) return recorded_truth(Op::template apply<folding_comparison>(a.number, b.number));
    element_writer& to = *known.to;
    return {to, known.type, to.operate<Op>(known.type, a.node_for(to, known.type), b.node_for(to, known.type))};
  }
  struct folding_comparison {
    static constexpr bool less_equal(double a, double b) { return a <= b; }
    static constexpr bool greater(double a, double b) { return a > b; }
    static constexpr bool equal(double a, double b) { return a == b; }
  };
};

/// Which operators on matrices become scalars, and how.
struct small_matrices {
  static constexpr std::int64_t most_elements = 64;  // of a matrix that is decomposed
  static constexpr std::int64_t most_rows_by_lu = 4;  // rows are exchanged by selection, which needs many instructions

  /// Whether an operator is one of them, for arrays with so many axes before those of a matrix: none, or one for each of many models.
  static constexpr bool knows(const graph& g, const node& n, int stacked = 0) {
    const int code = n.op->code;
    const shape& own = n.result.extent;
    const int rank = own.rank - stacked;
    if (code == operator_record<cholesky_op>::code) return rank == 2;
    if (code == operator_record<matrix_triangular_solve_op>::code)
      return rank == 2 && is_matrix(g, n, 0, stacked) && is_matrix(g, n, 1, stacked);
    if (code == operator_record<lu_op>::code) return rank == 3 && own[own.rank - 1] <= most_rows_by_lu;
    if (code == operator_record<lu_solve_op>::code)
      return rank == 2 && own[own.rank - 2] <= most_rows_by_lu && g.attribute(n, 1) == static_cast<std::int64_t>(inverse_check::none);
    return false;
  }

  /// The elements of a result of `count` elements; `elements(k)` are the scalars of input k, of a single matrix.
  template <class Elements>
  static constexpr list<int> results(const graph& g, const node& n, std::int64_t count, element_writer& to, Elements elements) {
    const dtype type = n.result.type;
    const shape& own = n.result.extent;
    const std::int64_t rows = own[own.rank - 2], columns = own[own.rank - 1];
    const auto values = [&](int k) {
      list<recorded> all;
      for (const int x : elements(k)) all.push_back(recorded(to, type, x));
      return all;
    };
    const int code = n.op->code;
    const list<recorded> a = values(0);
    list<recorded> made(static_cast<std::size_t>(count), recorded(0));
    if (code == operator_record<cholesky_op>::code) {
      linear_systems::decompose_cholesky<recording_math>(a.data(), made.data(), rows,
                                                         recorded(std::numeric_limits<double>::quiet_NaN()));
    } else if (code == operator_record<lu_op>::code) {
      linear_systems::decompose_lu<recording_math>(
          a.data(), made.data(), rows, [&](std::int64_t k, const recorded& other) { made[static_cast<int>(rows * rows + k)] = other; });
    } else {
      made = values(1);
      if (code == operator_record<lu_solve_op>::code) {
        linear_systems::solve_by_lu<recording_math>(a.data(), a.data() + rows * rows, g.attribute(n, 0) != 0, rows, made.data(), columns);
      } else {
        const bool is_lower = g.attribute(n, 0) != 0, is_adjoint = g.attribute(n, 1) != 0;
        const linear_systems::matrix_view<recorded> view(a.data(), rows, is_adjoint);
        linear_systems::solve_triangular<recording_math, false>(view, is_lower != is_adjoint, rows, made.data(), columns);
      }
    }
    list<int> parts;
    for (const recorded& x : made) parts.push_back(x.node_for(to, type));
    return parts;
  }

 private:
  // Whether an operand is a matrix, or one for each model.
  static constexpr bool is_matrix(const graph& g, const node& n, int k, int stacked) {
    const int rank = g.at(g.input(n, k)).result.extent.rank;
    return rank == 2 || rank == 2 + stacked;
  }
};

}  // namespace leat::passes::detail
