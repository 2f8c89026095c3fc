#include <leat/expr/tensor.hpp>

#include <leat/leat.hpp>

#include <doctest/doctest.h>

#include <string_view>
#include <typeinfo>

using namespace leat;
using namespace leat::literals;

namespace {
template <int N, class H>
constexpr auto levels(const H& h) {
  if constexpr (N == 0)
    return h;
  else
    return levels<N - 1>(h * h + h);
}
}  // namespace

TEST_CASE("a type's name does not grow with the expression") {
  const auto x = placeholder<"x", float, 64>();
  const auto deep = levels<200>(x);
  static_assert(std::is_empty_v<decltype(deep)>);
  CHECK(std::string_view(typeid(deep).name()).size() <= std::string_view(typeid(x).name()).size() + 8);
}

TEST_CASE("equal expressions are one type") {
  const auto x = placeholder<"x", float, 64>();
  static_assert(std::is_same_v<decltype(exp(x) * x), decltype(exp(x) * x)>);
  static_assert(!std::is_same_v<decltype(exp(x) * x), decltype(x * exp(x))>);
  static_assert(std::is_same_v<decltype(reduce_sum(x)), decltype(reduce_sum<0>(x))>);
  static_assert(std::is_same_v<decltype(reduce_sum<-1>(x)), decltype(reduce_sum<0>(x))>);
  CHECK(true);
}

TEST_CASE("results have the shapes and dtypes that the rules say") {
  const auto x = placeholder<"x", float, "batch", 1, 5>();
  const auto y = placeholder<"y", float, 4, 1>();
  static_assert(std::is_same_v<decltype(x + y)::extents, dims_of<"batch", 4, 5>>);
  static_assert(std::is_same_v<decltype(greater(x, y))::element, bool>);
  static_assert(std::is_same_v<decltype(reduce_mean<0, 2>(x))::extents, dims<1>>);
  static_assert(std::is_same_v<decltype(reduce_sum_keep<1>(y))::extents, dims<4, 1>>);
  static_assert(std::is_same_v<decltype(cast<double>(x))::element, double>);
  static_assert(std::is_same_v<decltype(argmax<2>(x))::extents, dims_of<"batch", 1>>);
  CHECK(true);
}

TEST_CASE("entering an expression twice enters it once") {
  const auto x = placeholder<"x", float, 64>();
  graph g;
  const int first = flatten<decltype(exp(x) + x)>(g);
  const int size = g.size();
  CHECK(flatten<decltype(exp(x) + x)>(g) == first);
  CHECK(g.size() == size);
  flatten<decltype(exp(x) * x)>(g);
  CHECK(g.size() == size + 1);
  CHECK(size == 3);
}

TEST_CASE("300 shared levels are 600 nodes") {
  graph g;
  flatten<decltype(levels<300>(placeholder<"x", float, 64>()))>(g);
  CHECK(g.size() == 601);
}
