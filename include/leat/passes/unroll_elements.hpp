#pragma once
// The elements of small arrays as nodes of a graph, one for each. Their arithmetic is simplified as that of arrays is, and in addition
// nothing is computed of an element that is absent: one that is zero whatever the values are, because it is the derivative along another
// direction (`unit_arrays` of passes/jacobian.hpp). A product with an absent element is absent, a sum is its other operand.

#include <leat/core/list.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/passes/simplify.hpp>

namespace leat::passes::detail {

/// Whether a node's elements are the numbers of directions of derivatives.
constexpr bool counts_directions(const node& n) { return n.op->kind == op_kind::index && n.attribute_count == direction_attributes; }
/// Whether a node says which direction each element belongs to.
constexpr bool is_direction(const graph& g, const node& n) {
  return is_operator<equal_op>(*n.op) && counts_directions(g.at(g.input(n, 0))) && counts_directions(g.at(g.input(n, 1)));
}

class element_writer {
 public:
  static constexpr int absent = -2;

  constexpr explicit element_writer(graph& to) : to_(to) {}

  constexpr int number(dtype type, double value) { return leat::constant(to_, type, {}, value).index(); }
  /// The node of an element, a zero if the element is absent.
  constexpr int present(int x, dtype type) { return x == absent ? number(type, 0) : x; }

  /// The vector that has an element for each of so many models; one that they share is repeated.
  constexpr int repeated(int x, std::int64_t models) {
    return to_.at(x).result.extent.rank == 1 ? x : to_.add(info_of<copy_op>, {&x, 1}, {&models, 1});
  }

  /// An element-wise operator on elements of these dtypes. Those of many models are vectors, next to scalars that models share; `models` is
  /// then their number.
  constexpr int operate(const op_info& op, list_view<int> in, const dtype* types, list_view<std::int64_t> attributes = {},
                        std::int64_t models = 0) {
    if (const int known = simpler(op, in, types, attributes); known != none) return known;
    int operands[graph::max_operands];
    for (std::size_t k = 0; k < in.size(); ++k) operands[k] = present(in[k], types[k]);
    // Products and sums are the same in either order, so that equal ones merge.
    const bool commutes = (op.commutative && in.size() == 2) || is_operator<multiply_add_op>(op);
    if (commutes && operands[0] > operands[1]) std::swap(operands[0], operands[1]);
    // An operator that does not broadcast, as TanhGrad, takes vectors alone.
    if (models != 0 && !to_.infer(op, operands, static_cast<int>(in.size()), attributes).problem.empty())
      for (std::size_t k = 0; k < in.size(); ++k) operands[k] = repeated(operands[k], models);
    return to_.add(op, {operands, in.size()}, attributes);
  }
  template <class Op>
  constexpr int operate(dtype type, int a, int b) {
    const int in[]{a, b};
    const dtype types[]{type, type};
    return operate(info_of<Op>, in, types);
  }
  template <class Op>
  constexpr int operate(dtype type, int a) {
    return operate(info_of<Op>, {&a, 1}, &type);
  }
  constexpr int multiply_add(dtype type, int a, int b, int c) {
    const int in[]{a, b, c};
    const dtype types[]{type, type, type};
    return operate(info_of<multiply_add_op>, in, types);
  }
  constexpr int select(dtype type, int condition, int a, int b) {
    const int in[]{condition, a, b};
    const dtype types[]{dtype::boolean, type, type};
    return operate(info_of<select_op>, in, types);
  }

 private:
  static constexpr int none = -1;

  constexpr bool is(int x, double value) const { return x >= 0 && is_number(to_, x, value); }
  constexpr bool is_negative(int x) const { return x >= 0 && is_operator<neg_op>(*to_.at(x).op); }

  // The element that the result equals, `absent`, or `none` if the operator has to be applied.
  constexpr int simpler(const op_info& op, list_view<int> in, const dtype* types, list_view<std::int64_t> attributes) {
    const int a = in[0];
    const int b = in.size() > 1 ? in[1] : none;
    const int code = op.code;
    const dtype type = types[0];
    if (code == operator_record<mul_op>::code) {
      if (a == absent || b == absent) return absent;
      if (is(b, 1)) return a;
      if (is(a, 1)) return b;
      if (is(b, -1)) return operate<neg_op>(type, a);
      if (is(a, -1)) return operate<neg_op>(type, b);
    } else if (code == operator_record<add_op>::code) {
      if (a == absent || is(a, 0)) return b;
      if (b == absent || is(b, 0)) return a;
      if (is_negative(b)) return operate<sub_op>(type, a, to_.input(to_.at(b), 0));
      if (is_negative(a)) return operate<sub_op>(type, b, to_.input(to_.at(a), 0));
    } else if (code == operator_record<sub_op>::code) {
      if (b == absent || is(b, 0)) return a;
      if (a == absent) return operate<neg_op>(type, b);
      if (is_negative(b)) return operate<add_op>(type, a, to_.input(to_.at(b), 0));
    } else if (code == operator_record<real_div_op>::code) {
      if (a == absent) return absent;
      if (is(b, 1)) return a;
    } else if (code == operator_record<multiply_add_op>::code) {
      const int c = in[2];
      if (a == absent || b == absent) return c;
      if (c == absent) return operate<mul_op>(type, a, b);
      if (is(a, 1)) return operate<add_op>(type, b, c);
      if (is(b, 1)) return operate<add_op>(type, a, c);
      if (is(a, -1)) return operate<sub_op>(type, c, b);
      if (is(b, -1)) return operate<sub_op>(type, c, a);
    } else if (code == operator_record<neg_op>::code) {
      if (a == absent) return absent;
      if (is_negative(a)) return to_.input(to_.at(a), 0);
    } else if (code == operator_record<copy_op>::code) {
      return a;
    } else if (code == operator_record<cast_op>::code) {
      if (a == absent) return absent;
      if (type == dtype::boolean && is_constant(to_, a)) return number(static_cast<dtype>(attributes[0]), constant_value(to_, a));
    } else if (code == operator_record<select_op>::code) {
      if (b == absent && in[2] == absent) return absent;
      if (b == in[2]) return b;
      if (a >= 0 && is_constant(to_, a)) return constant_value(to_, a) != 0 ? b : in[2];
    } else if (code == operator_record<softplus_grad_op>::code) {
      if (a == absent) return absent;
    } else if (takes_slope_last(code)) {
      if (b == absent) return absent;
    }
    return folded(op, in, types);
  }
  // Whether an operator is a gradient (y, dy), a multiple of dy.
  static constexpr bool takes_slope_last(int code) {
    return code == operator_record<sqrt_grad_op>::code || code == operator_record<rsqrt_grad_op>::code ||
           code == operator_record<tanh_grad_op>::code || code == operator_record<sigmoid_grad_op>::code ||
           code == operator_record<reciprocal_grad_op>::code;
  }
  // The result of an operator on numbers known at compile time, by the rule of `simplify`.
  constexpr int folded(const op_info& op, list_view<int> in, const dtype* types) {
    if (!op.folds || in.size() > 2) return none;
    for (std::size_t k = 0; k < in.size(); ++k)
      if (in[k] != absent && !is_constant(to_, in[k])) return none;
    double values[2]{};
    for (std::size_t k = 0; k < in.size(); ++k) values[k] = in[k] == absent ? 0 : constant_value(to_, in[k]);
    return fold_number(to_, op, types[0], {}, values);
  }

  graph& to_;
};

}  // namespace leat::passes::detail
