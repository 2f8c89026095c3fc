#pragma once
// Derivatives along a direction, as expressions: `vjp` (reverse mode) and `jvp` (forward mode), and what is made of them. Each takes a
// tensor or a tuple of tensors where it speaks of tensors, and gives a tensor for a tensor and a tuple for a tuple.

#include <leat/expr/tensor_list.hpp>
#include <leat/passes/gradient.hpp>

#include <tuple>

namespace leat {

namespace detail {

using passes::derivative_kind;

constexpr std::string_view derivative_word(derivative_kind kind) { return kind == derivative_kind::tangent ? "jvp" : "vjp"; }

// One call of vjp or jvp: `Along` are the weights of the ys, or the directions of the xs.
template <derivative_kind Kind, class Ys, class Xs, class Along>
struct derivative_call;
template <derivative_kind Kind, class... Ys, class... Xs, class... Along>
struct derivative_call<Kind, std::tuple<Ys...>, std::tuple<Xs...>, std::tuple<Along...>> {
  static constexpr bool is_tangent = Kind == derivative_kind::tangent;
  static constexpr std::uint64_t base =
      mix(mix(expressions_hash<303, Ys..., Xs..., Along...>, static_cast<std::uint64_t>(Kind)), sizeof...(Ys));

  static constexpr message text() {
    message m;
    const std::string_view word = derivative_word(Kind);
    graph g;
    const int ys[]{flatten<Ys>(g)...}, xs[]{flatten<Xs>(g)...}, along[]{flatten<Along>(g)...};
    const std::span<const int> moved = is_tangent ? std::span<const int>(xs) : std::span<const int>(ys);
    if (((!is_floating(Ys::type)) || ...) || ((!is_floating(Xs::type)) || ...))
      return m << word << ": only of floating-point expressions";
    if (moved.size() != sizeof...(Along))
      return m << word << ": " << static_cast<long long>(moved.size())
               << (is_tangent ? " operands to move along " : " results to weigh with ") << static_cast<long long>(sizeof...(Along))
               << " tensors";
    for (std::size_t k = 0; k < moved.size(); ++k) {
      const tensor_info &own = g.at(moved[k]).result, &given = g.at(along[k]).result;
      if (own.type == given.type && own.extent == given.extent) continue;
      return m << word << (is_tangent ? ": a direction is " : ": a weight is ") << describe(given, g).view() << ", but it goes with "
               << describe(own, g).view();
    }
    for (int x : xs) {  // each x moves some y, and each y is moved by some x
      message why;
      bool any = false;
      for (int y : ys) {
        const message o = passes::obstacle(g, y, x);
        any = any || o.size == 0;
        if (o.size > 0) why = o;
      }
      if (!any) return m << word << ": " << why.view();
    }
    for (int y : ys) {
      bool any = false;
      for (int x : xs) any = any || passes::obstacle(g, y, x).size == 0;
      if (!any) return m << word << ": a result does not depend on what is differentiated by";
    }
    return m;
  }
  static constexpr bool none = text().size == 0;

  template <std::size_t I>
  struct structure : numbers_of<Ys..., Xs..., Along...> {
    template <class E>
    static constexpr int enter(graph& g) {
      if (const int known = g.find(mix(base, I + 1000)); known >= 0) return known;
      const int operands[]{flatten<Ys>(g)..., flatten<Xs>(g)..., flatten<Along>(g)...};
      return enter_derivative<base>(g, I, Kind, operands, sizeof...(Ys));
    }
  };
  template <std::size_t I, class E>
  using result = typename record<id<gradient_hash<base>(I)>, structure<I>>::template tensor<typename E::element, typename E::extents>;

  // The results, with the numbers that the operands carry.
  template <class... Es, std::size_t... I>
  static constexpr auto make(const std::tuple<Es...>*, std::index_sequence<I...>, const auto&... from) {
    return std::tuple<result<I, Es>...>{carry_all<result<I, Es>>(from...)...};
  }
  static constexpr auto make(const std::tuple<Ys...>& ys, const std::tuple<Xs...>& xs, const std::tuple<Along...>& along) {
    using like = std::conditional_t<is_tangent, std::tuple<Ys...>, std::tuple<Xs...>>;
    return std::apply(
        [](const auto&... from) {
          return make(static_cast<const like*>(nullptr), std::make_index_sequence<std::tuple_size_v<like>>{}, from...);
        },
        std::tuple_cat(ys, xs, along));
  }
};

template <derivative_kind Kind, class Ys, class Xs, class Along>
struct derivative_refusal {};  // for what are no tensors, because clang instantiates the return type before it checks constraints
template <derivative_kind Kind, tensors Ys, tensors Xs, tensors Along>
struct derivative_refusal<Kind, Ys, Xs, Along> {
  using problem = error_in_expression<problem_text<derivative_call<Kind, tensors_of<Ys>, tensors_of<Xs>, tensors_of<Along>>>()>;
};
template <derivative_kind Kind, class Ys, class Xs, class Along>
concept derives = derivative_call<Kind, tensors_of<Ys>, tensors_of<Xs>, tensors_of<Along>>::none;

// A message of another function, as one of `word`: "gradients: what is wrong" becomes "word: of: what is wrong". No message is none.
constexpr message retold(std::string_view word, std::string_view of, std::string_view told) {
  return told.empty() ? message{} : message{} << word << of << told.substr(told.find(": "));
}
template <class Y, class... Xs>
using slopes_of = decltype(gradients(std::declval<const Y&>(), std::declval<const Xs&>()...));
template <class Y, class Xs, class Along>
struct hvp_problem;
template <class Y, class... Xs, class Along>
struct hvp_problem<Y, std::tuple<Xs...>, Along> {
  static constexpr message text() {
    if constexpr (!gradient_problem<Y, Xs...>::none)
      return retold("hvp", "", gradient_problem<Y, Xs...>::text().view());
    else
      return retold("hvp", ": of the gradient",
                    derivative_call<derivative_kind::tangent, slopes_of<Y, Xs...>, std::tuple<Xs...>, Along>::text().view());
  }
  static constexpr bool derives() {
    if constexpr (gradient_problem<Y, Xs...>::none)
      return derivative_call<derivative_kind::tangent, slopes_of<Y, Xs...>, std::tuple<Xs...>, Along>::none;
    else return false;
  }
  static constexpr bool none = derives();
};
template <class Y, class X, class Along>
struct hvp_refusal {};
template <tensor_expression Y, tensors X, tensors Along>
struct hvp_refusal<Y, X, Along> {
  using problem = error_in_expression<problem_text<hvp_problem<Y, tensors_of<X>, tensors_of<Along>>>(), operand_text<Y>()>;
};

template <derivative_kind Kind, tensors Like, tensors Ys, tensors Xs, tensors Along>
constexpr auto make_derivative(const Ys& ys, const Xs& xs, const Along& along) {
  auto made = derivative_call<Kind, tensors_of<Ys>, tensors_of<Xs>, tensors_of<Along>>::make(as_tuple(ys), as_tuple(xs), as_tuple(along));
  if constexpr (tensor_list<Like>::single) return std::get<0>(made);
  else return made;
}

}  // namespace detail

/// The gradients of `sum(weight * y)` with respect to x: the product of a weight with the Jacobian, by reverse mode. `y`, `weight`, `x`:
/// tensors or tuples of tensors; a weight for each y. Shapes and dtypes: a weight is as its y, a result as its x; floating point.
/// `vjp(y, weight, x)` computes as much as `gradients(y, x)`. Errors (at compile time): a weight of another shape or dtype; an x on which
/// no y depends. Source: Griewank and Walther, "Evaluating Derivatives".
template <detail::tensors Y, detail::tensors Weight, detail::tensors X>
  requires detail::derives<passes::derivative_kind::weighed_gradient, Y, X, Weight>
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto vjp(const Y& y, const Weight& weight,
                                                                                                  const X& x) {
  return detail::make_derivative<passes::derivative_kind::weighed_gradient, X>(y, x, weight);
}
template <detail::tensors Y, detail::tensors Weight, detail::tensors X>
  requires(!detail::derives<passes::derivative_kind::weighed_gradient, Y, X, Weight>)
typename detail::derivative_refusal<passes::derivative_kind::weighed_gradient, Y, X, Weight>::problem vjp(const Y&, const Weight&,
                                                                                                         const X&) = delete;
LEAT_OTHERWISE("vjp(y, weight, x) takes tensors, or tuples of tensors, of the same number for y and weight; " LEAT_TENSORS)
vjp(...) LEAT_DELETED;

/// How y moves where x moves along `along`: the product of the Jacobian with a direction, by forward mode, which keeps nothing for a way
/// back. `y`, `x`, `along`: tensors or tuples of tensors; a direction for each x. Shapes and dtypes: a direction is as its x, a result as
/// its y; floating point. Errors (at compile time): a direction of another shape or dtype; a y that depends on no x. Source: Griewank and
/// Walther, "Evaluating Derivatives".
template <detail::tensors Y, detail::tensors X, detail::tensors Along>
  requires detail::derives<passes::derivative_kind::tangent, Y, X, Along>
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto jvp(const Y& y, const X& x,
                                                                                                  const Along& along) {
  return detail::make_derivative<passes::derivative_kind::tangent, Y>(y, x, along);
}
template <detail::tensors Y, detail::tensors X, detail::tensors Along>
  requires(!detail::derives<passes::derivative_kind::tangent, Y, X, Along>)
typename detail::derivative_refusal<passes::derivative_kind::tangent, Y, X, Along>::problem jvp(const Y&, const X&, const Along&) = delete;
LEAT_OTHERWISE("jvp(y, x, along) takes tensors, or tuples of tensors, of the same number for x and along; " LEAT_TENSORS)
jvp(...) LEAT_DELETED;

/// The product of the Hessian of y (summed, if it is not a scalar) by x with a direction: forward over reverse, about as much work as two
/// gradients. `x`, `along`: tensors or tuples of tensors, of the same shapes and dtypes, which are those of the results, too. Errors (at
/// compile time): as of `gradients` and `jvp`; a gradient that does not depend on x, because y is linear. Source: Pearlmutter, "Fast Exact
/// Multiplication by the Hessian" (1994).
template <tensor_expression Y, detail::tensors X, detail::tensors Along>
  requires(detail::hvp_problem<Y, detail::tensors_of<X>, detail::tensors_of<Along>>::none)
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto hvp(const Y& y, const X& x,
                                                                                                  const Along& along) {
  const auto slopes = std::apply([&](const auto&... xs) { return gradients(y, xs...); }, detail::as_tuple(x));
  if constexpr (detail::tensor_list<X>::single) return jvp(std::get<0>(slopes), x, along);
  else return jvp(slopes, x, along);
}
template <tensor_expression Y, detail::tensors X, detail::tensors Along>
  requires(!detail::hvp_problem<Y, detail::tensors_of<X>, detail::tensors_of<Along>>::none)
typename detail::hvp_refusal<Y, X, Along>::problem hvp(const Y&, const X&, const Along&) = delete;
LEAT_OTHERWISE("hvp(y, x, along) takes a tensor y, and x and along as tensors or tuples of tensors; " LEAT_TENSORS)
hvp(...) LEAT_DELETED;

/// `y` and its gradients: `auto [loss, dw, db] = value_and_gradient(loss, w, b)`. Errors: as of `gradients`.
template <tensor_expression Y, tensor_expression... Xs>
  requires(sizeof...(Xs) > 0 && detail::gradient_problem<Y, Xs...>::none)
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto value_and_gradient(const Y& y,
                                                                                                                 const Xs&... xs) {
  return std::tuple_cat(std::tuple(y), gradients(y, xs...));
}
template <tensor_expression Y, tensor_expression... Xs>
  requires(sizeof...(Xs) > 0 && !detail::gradient_problem<Y, Xs...>::none)
typename detail::gradient_refusal<Y, Xs...>::problem value_and_gradient(const Y&, const Xs&...) = delete;
LEAT_OTHERWISE("value_and_gradient(y, x1, x2, ...) takes the tensor to differentiate, then those to differentiate by; " LEAT_TENSORS)
value_and_gradient(...) LEAT_DELETED;

}  // namespace leat
