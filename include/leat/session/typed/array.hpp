#pragma once
// Arrays of the user's program: the memory that a feed is read from and a fetch is written to. This is the only header that includes
// xtensor, in its flat (0.24) or nested (0.26 and later) layout.

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

/// The address of an array's first element.
template <class A>
auto* array_data(A& a) {
  if constexpr (requires { a.data_offset(); })
    return a.data() + a.data_offset();
  else
    return a.data();
}

/// Whether the elements are contiguous and row-major.
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

// Messages are built in cold functions that are not templates, as in expr/feed.hpp.
[[noreturn, gnu::cold]] inline void throw_two_sizes(std::string_view dimension, std::int64_t before, std::int64_t now,
                                                    std::string_view name) {
  message m;
  m << "named dimension \"" << dimension << "\" has size " << static_cast<long long>(before) << " in one feed and "
    << static_cast<long long>(now) << " in that of \"" << name << "\": it has one size in one run";
  throw invalid_argument(std::string(m.view()));
}
// For a feed without a shape (a flat range): its length follows from the placeholder's shape, with the named dimensions that other feeds
// have bound.
[[noreturn, gnu::cold]] inline void throw_bound_size(std::string_view name, std::string_view expected, std::int64_t needed,
                                                     std::int64_t got) {
  message m;
  m << "the feed of \"" << name << "\" is " << expected << ": with the sizes that other feeds of this run have bound it has "
    << static_cast<long long>(needed) << " elements, the array has " << static_cast<long long>(got)
    << "; a named dimension has one size in one run";
  throw invalid_argument(std::string(m.view()));
}

}  // namespace detail

}  // namespace leat
