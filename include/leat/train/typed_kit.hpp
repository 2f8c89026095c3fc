#pragma once
// The kit for formulas that are written once for both kinds of operands (train/loss_formulas.hpp): this one creates typed expressions.

#include <leat/ops/state.hpp>
#include <leat/train/optimizer.hpp>

namespace leat::detail {

// The number of elements along some dimensions: a scalar.
template <class T, class Dims>
struct extent_leaf : no_numbers {
  static constexpr std::uint64_t hash = mix(mix(Dims::hash, static_cast<std::uint64_t>(dtype_of<T>)), 107);
  template <class E>
  static constexpr int enter(graph& g) {
    dimension_names<Dims>::enter(g);
    return extent_of(g, dtype_of<T>, Dims::value).index();
  }
};

/// Stands for weights that were not given: 1 everywhere.
struct unit_weights {};

struct typed_kit {
  template <class A, class B>
  constexpr auto subtract(const A& a, const B& b) const {
    return a - b;
  }
  template <class A, class B>
  constexpr auto multiply(const A& a, const B& b) const {
    return a * b;
  }
  template <class A>
  constexpr auto multiply(const A& a, unit_weights) const {
    return a;
  }
  template <class A, class B>
  constexpr auto divide(const A& a, const B& b) const {
    return a / b;
  }
  template <class A, class B>
  constexpr auto add(const A& a, const B& b) const {
    return a + b;
  }
  template <class A, class B>
  constexpr auto add_last(const A& a, const B& b) const {
    return a + b;
  }
  template <class A, class B>
  constexpr auto multiply_last(const A& a, const B& b) const {
    return a * b;
  }
  template <class A, class B>
  constexpr auto minimum(const A& a, const B& b) const {
    return leat::minimum(a, b);
  }
  template <class A, class B>
  constexpr auto maximum(const A& a, const B& b) const {
    return leat::maximum(a, b);
  }
  template <class A, class B>
  constexpr auto greater(const A& a, const B& b) const {
    return leat::greater(a, b);
  }
  template <class A, class B>
  constexpr auto squared_difference(const A& a, const B& b) const {
    return leat::squared_difference(a, b);
  }
#define LEAT_TYPED_SINGLE(function)           \
  template <class X>                          \
  constexpr auto function(const X& x) const { \
    return leat::function(x);                 \
  }
  LEAT_TYPED_SINGLE(abs)
  LEAT_TYPED_SINGLE(square)
  LEAT_TYPED_SINGLE(log)
  LEAT_TYPED_SINGLE(log1p)
  LEAT_TYPED_SINGLE(exp)
  LEAT_TYPED_SINGLE(relu)
  LEAT_TYPED_SINGLE(l2_loss)
#undef LEAT_TYPED_SINGLE
  template <class X>
  constexpr auto negative(const X& x) const {
    return -x;
  }

  template <class X>
  constexpr auto zero(const X& like) const {
    return constant_beside<0>(like);
  }
  template <class X>
  constexpr auto one(const X& like) const {
    return constant_beside<1>(like);
  }
  template <class X>
  constexpr auto two(const X& like) const {
    return constant_beside<2>(like);
  }
  template <class X>
  constexpr auto half(const X& like) const {
    return beside<void>(like, compile_time_number<std::bit_cast<std::uint64_t>(0.5), true>{});
  }
  /// A scalar 1, which broadcasts.
  template <class X>
  constexpr auto ones_like(const X& x) const {
    return one(x);
  }
  template <class X>
  constexpr auto class_count(const X&) const {
    return elements_of<typename X::element, dims<X::extent[X::rank - 1]>>();
  }
  template <class X, class Y>
  constexpr auto divide_no_nan(const X& x, const Y& y, std::string_view) const {
    const auto none = equal(y, zero(y));
    return select(none, zero(x), x / select(none, one(y), y));
  }
  template <class C, class X>
  constexpr auto choose_or_zero(const C& condition, const X& x, std::string_view) const {
    return select(condition, x, zero(x));
  }

  template <class X>
  constexpr auto sum(const X& x) const {
    return reduce_sum(x);
  }
  template <class X, int... Axes>
  constexpr auto sum_keep(const X& x, std::integer_sequence<int, Axes...>) const {
    if constexpr (sizeof...(Axes) == 0) return x;
    else return reduce_sum_keep<Axes...>(x);
  }
  /// All axes but the first.
  template <class X>
  constexpr auto axes_of_samples(const X&) const {
    return []<int... I>(std::integer_sequence<int, I...>) {
      return std::integer_sequence<int, (I + 1)...>{};
    }(std::make_integer_sequence<int, X::rank - 1>{});
  }

  template <class X>
  constexpr auto element_count(const X&) const {
    return elements_of<typename X::element, typename X::extents>();
  }
  /// The sum of the weights, broadcast to x.
  template <class X, class W>
  constexpr auto sum_of_weights(const X& x, const W& weights) const {
    if constexpr (has_fixed_sizes<W>) return reduce_sum(weights) * elements_of<typename W::element, typename repeated<X, W, 0>::type>();
    else return reduce_sum(broadcast(weights, x));
  }
  template <class X>
  constexpr auto sum_of_weights(const X& x, unit_weights) const {
    return element_count(x);
  }
  template <class X, class W>
  constexpr auto present(const X& x, const W& weights) const {
    return sum_of_weights(x, is_present(weights));
  }
  template <class X>
  constexpr auto present(const X& x, unit_weights) const {
    return element_count(x);
  }
  template <class X, class W>
  constexpr auto present_of_samples(const X& x, const W& weights) const {
    const auto present = is_present(weights);
    const auto axes = axes_of_samples(x);
    using count = typename repeated<X, W, 1>::type;
    if constexpr (W::rank == 0) return present * elements_of<typename W::element, count>();
    else if constexpr (has_fixed_sizes<W>) return sum_keep(present, axes) * elements_of<typename W::element, count>();
    else return sum_keep(broadcast(present, x), axes);
  }
  template <class X>
  constexpr auto present_of_samples(const X&, unit_weights) const {
    return elements_of<typename X::element, typename rest<X>::type>();
  }

 private:
  template <class T, class Dims>
  static constexpr auto elements_of() {
    return leaf_tensor<extent_leaf<T, Dims>, T, dims<>>{};
  }
  template <class W>
  constexpr auto is_present(const W& weights) const {
    return cast<typename W::element>(not_equal(weights, zero(weights)));
  }
  template <class W>
  static constexpr bool has_fixed_sizes = [] {
    for (int i = 0; i < W::rank; ++i)
      if (W::extent[i] < 0) return false;
    return true;
  }();
  // For weights of known sizes: each weight applies to as many elements of x as there are along those axes, from `From` on, where the
  // weights have size 1.
  template <class X, class W, int From>
  struct repeated {
    template <std::size_t... I>
    static auto pack(std::index_sequence<I...>)
        -> dims<(static_cast<int>(I) >= From && (W::rank == 0 || W::extent[static_cast<int>(I)] == 1) ? X::extent[static_cast<int>(I)]
                                                                                                      : 1)...>;
    using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(X::rank)>{}));
  };
  // Broadcasts other weights to the shape of x by a selection that depends on each element of x: a graph that is written from typed
  // expressions (named/exchange/to_graph.hpp) may be fed weights of any sizes that broadcast, [1, c] for [n, c]. A session of typed
  // expressions, where a named dimension has one size, eliminates the selection.
  template <class W, class X>
  constexpr auto broadcast(const W& weights, const X& x) const {
    return select(is_nan(x), weights, weights);
  }
  template <class X>
  struct rest {
    template <std::size_t... I>
    static auto pack(std::index_sequence<I...>) -> dims<X::extent[static_cast<int>(I) + 1]...>;
    using type = decltype(pack(std::make_index_sequence<static_cast<std::size_t>(X::rank) - 1>{}));
  };
};

}  // namespace leat::detail
