#pragma once
// Dtype and shape rules that operators share, and helpers for their gradients.
//
// Unless a docstring in ops/ says otherwise, the result of an element-wise function has the shape and the dtype of its operand, and two
// operands have the same dtype and broadcast. The dtypes called numbers are the floating-point and integer ones. Errors of all functions in
// ops/: operands that do not fit are a compile-time error for typed expressions, and throw invalid_argument for handles.

#include <leat/expr/array_leaf.hpp>

namespace leat {

// Defines the overloads of a function of one tensor, or of two that broadcast, one of which may be a number. There are overloads for
// operands that the operator's rule accepts; for operands that it rejects, with a message that says why; and for anything else, with a
// message that shows how to call the function. A quotient also rejects the number 0 as an integer divisor.
#define LEAT_FUNCTION_OF_ONE(function, op)          \
  template <class X>                                \
    requires accepted<op, X>                        \
  constexpr made<op, X> function(const X& x) {      \
    return make<op>(x);                             \
  }                                                 \
  template <class X>                                \
    requires refused<op, X>                         \
  why<op, X> function(const X&) = delete;           \
  LEAT_TAKES_ONE_TENSOR(function)
#define LEAT_FUNCTION_OF_TWO(function, op) LEAT_FUNCTION_BESIDE_NUMBERS(function, op, with_number)
#define LEAT_QUOTIENT_OF_TWO(function, op) LEAT_FUNCTION_BESIDE_NUMBERS(function, op, with_divisor)
#define LEAT_FUNCTION_BESIDE_NUMBERS(function, op, with)                                                          \
  template <class A, class B>                                                                                     \
    requires accepted<op, A, B>                                                                                   \
  constexpr made<op, A, B> function(const A& a, const B& b) {                                                     \
    return make<op>(a, b);                                                                                        \
  }                                                                                                               \
  template <class A, class B>                                                                                     \
    requires refused<op, A, B>                                                                                    \
  why<op, A, B> function(const A&, const B&) = delete;                                                            \
  template <class A, class B, LEAT_NUMBER_SITE>                                                                   \
    requires operand_and_number<A, B>                                                                             \
  constexpr auto function(const A& a, const B& b) {                                                               \
    return detail::with<Site>(a, b, [](const auto& p, const auto& q) { return function(p, q); });                 \
  }                                                                                                               \
  template <class A, class B>                                                                                     \
    requires refused_beside<A, B>                                                                                 \
  LEAT_WHY_BESIDE function(A&&, B&&) LEAT_DELETED;                                                                \
  LEAT_TAKES_TWO_TENSORS(function)

namespace rule {

enum class takes { floating, number, integer, any, boolean };

/// Whether a rule accepts a dtype.
constexpr bool fits(takes t, dtype d) {
  switch (t) {
    case takes::floating: return is_floating(d);
    case takes::number: return is_number(d);
    case takes::integer: return is_integer(d);
    case takes::boolean: return d == dtype::boolean;
    case takes::any: return d != dtype::invalid;
  }
  return false;
}
/// The message for a dtype that a rule does not accept.
constexpr std::string_view refusal(takes t) {
  switch (t) {
    case takes::floating: return "takes floating-point dtypes only";
    case takes::number: return "takes numbers, not bool";
    case takes::integer: return "takes integers only";
    case takes::boolean: return "takes bool only";
    case takes::any: break;
  }
  return "takes tensors with a value";
}

/// Resolves an axis that may be negative; -1 if it is out of range.
constexpr int axis_of(std::int64_t given, int rank) {
  const std::int64_t at = given < 0 ? given + rank : given;
  return at < 0 || at >= rank ? -1 : static_cast<int>(at);
}

/// Rule of operators with one operand; the result has its dtype and shape.
template <takes T>
struct unary {
  static constexpr op_kind kind = op_kind::element;
  static constexpr auto& form = leat::form::single;
  static constexpr inference infer(const operand_list& x) {
    if (!fits(T, x.type(0))) return inference::wrong(refusal(T));
    return {x.type(0), x.extent(0)};
  }
};

/// Rule for two operands of one dtype, broadcast to one shape.
constexpr inference broadcast_pair(const operand_list& x, takes t) {
  if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
  if (!fits(t, x.type(0))) return inference::wrong(refusal(t));
  const auto both = broadcast(x.extent(0), x.extent(1));
  if (!both.ok) return inference::wrong("shapes do not broadcast");
  return {x.type(0), both.extent};
}
template <takes T>
struct binary {
  static constexpr op_kind kind = op_kind::element;
  static constexpr auto& form = leat::form::pair;
  static constexpr inference infer(const operand_list& x) { return broadcast_pair(x, T); }
};

/// Rule of operators with two operands of one dtype and one shape.
template <takes T>
struct equal_pair : binary<T> {
  static constexpr inference infer(const operand_list& x) {
    if (!may_equal(x.extent(0), x.extent(1))) return inference::wrong("shapes differ");
    inference got = broadcast_pair(x, T);
    got.extent = known_of(x.extent(0), x.extent(1));
    return got;
  }
};

/// Rule of operators with two operands of one dtype that broadcast; the result is bool.
template <takes T>
struct comparison {
  static constexpr op_kind kind = op_kind::element;
  static constexpr facts what{.stops_gradient = true};
  static constexpr auto& form = leat::form::pair;
  static constexpr inference infer(const operand_list& x) {
    auto got = broadcast_pair(x, T);
    got.type = dtype::boolean;
    return got;
  }
};

/// Rule of operators with one operand; the result is bool.
template <takes T>
struct predicate {
  static constexpr op_kind kind = op_kind::element;
  static constexpr auto& form = leat::form::single;
  static constexpr inference infer(const operand_list& x) {
    if (!fits(T, x.type(0))) return inference::wrong(refusal(T));
    return {dtype::boolean, x.extent(0)};
  }
};

}  // namespace rule

/// The sum of `value` over the axes along which `to` was broadcast, in the shape `to`. It is a template, though `output` is its only
/// handle, so that its definition can follow the sums, in reduction.hpp.
template <class Handle>
constexpr Handle sum_to(const Handle& value, const shape& to);

/// Adds to the gradient of input `k`, summed over the axes along which that input was broadcast.
template <class G>
constexpr void give(G& g, int k, const output& value) {
  g.give(k, sum_to(value, g.input(k).extent()), [](const auto& a, const auto& b) { return a + b; });
}

}  // namespace leat
