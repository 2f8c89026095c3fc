#pragma once
// Arrays at the border: which memory a feed lies in, and what a fetch is written to. The one header that includes xtensor,
// in its flat (0.24) or nested (0.26 and later) layout.

#if __has_include(<xtensor/containers/xtensor.hpp>)
#include <xtensor/containers/xtensor.hpp>
#else
#include <xtensor/xtensor.hpp>
#endif

#include <leat/expr/feed.hpp>
#include <leat/expr/fetch.hpp>

namespace leat {

/// The array type of a typed expression: a number for a scalar, else `xt::xtensor<T, rank>`.
template <tensor_expression E>
struct array_type {
  using type = xt::xtensor<typename E::element, static_cast<std::size_t>(E::rank)>;
};
template <tensor_expression E>
  requires(E::rank == 0)
struct array_type<E> {
  using type = typename E::element;
};
template <tensor_expression E>
using array_of = typename array_type<E>::type;

namespace detail {

template <class A>
concept strided_array = shaped_array<A> && requires(const A& a) {
  a.data();
  a.strides();
};

/// Where the elements of an array begin.
template <class A>
auto* array_data(A& a) {
  if constexpr (requires { a.data_offset(); })
    return a.data() + a.data_offset();
  else
    return a.data();
}

/// Whether the elements lie one after the other, last axis fastest.
template <class A>
bool is_row_major(const A& a) {
  std::ptrdiff_t expected = 1;
  for (std::size_t k = a.dimension(); k-- > 0;) {
    const auto extent = static_cast<std::ptrdiff_t>(a.shape()[k]);
    if (extent != 1 && static_cast<std::ptrdiff_t>(a.strides()[k]) != expected) return false;
    expected *= extent;
  }
  return true;
}

template <class Leaf, int Axis>
inline constexpr std::int64_t leaf_dimension = Leaf::extent.dim[Axis];

template <class Leaf>
std::string leaf_name() {
  if constexpr (requires { structure_with<typename Leaf::identity>::name; })
    return "\"" + std::string(structure_with<typename Leaf::identity>::name) + "\"";
  else
    return "the expression";
}
template <class E>
std::string shape_text() {
  return std::string(describe_expression<E>().view());
}
template <class A>
std::string array_shape_text(const A& a) {
  std::string text = "[";
  if constexpr (shaped_array<A>) {
    for (std::size_t k = 0; k < a.dimension(); ++k) text += (k > 0 ? ", " : "") + std::to_string(a.shape()[k]);
  } else if constexpr (plain_range<A>) {
    text += std::to_string(a.size());
  } else {
    static_cast<void>(a);
  }
  return text + "]";
}

template <class E, class A>
[[noreturn, gnu::cold, gnu::noinline]] void wrong_shape(const char* what, const A& a) {
  throw invalid_argument(std::string(what) + " " + leaf_name<E>() + " is " + shape_text<E>() + ", the array has shape " + array_shape_text(a));
}

}  // namespace detail

}  // namespace leat
