// Typed functions that rearrange arrays, look elements up and contract axes, against the same expressions in a graph with names.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;

namespace {

template <class Both>
bool has_node(Both& both, std::string_view type) {
  const graph& g = both.dynamic().owner();
  for (int i = 0; i < g.size(); ++i)
    if (g.at(i).op->type == type) return true;
  return false;
}

}  // namespace

TEST_CASE("parts, orders and repetitions agree with those of graphs") {
  const auto x = placeholder<"x", float, "batch", 4, 6>();
  const auto w = variable<"w", float, 4, 6>(random_uniform(-1, 1, 1));
  const auto y = x * w;
  const auto [a, b, c] = split<2, 3>(y);
  const auto [top, rest] = split_sizes<1, 1, -1>(y);
  const auto turned = reverse<0, 2>(y) * roll<1, 1>(y);
  const auto tiled = tile<1, 2, 1>(y);
  const auto stepped = index<along::all(-1), along::between(1, 4, 2), along::all(-4)>(y);
  const auto last = index<-1, along::rest(), 2>(y);
  const auto scaled = y * range<float, 1, 13, 2>();
  const auto biased = bias_add(y, index<0>(w));
  const auto loss = reduce_sum(a * b + c) + reduce_sum(top * rest) + reduce_sum(turned) + reduce_sum(tiled * tiled) +
                    reduce_sum(square(stepped)) + reduce_sum(square(last)) + reduce_sum(square(scaled)) + reduce_sum(square(biased));
  const auto [dw] = gradients(loss, w);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, loss, dw, a, rest, turned, tiled, stepped, last, scaled, biased);
  CHECK(has_node(both, "ReverseV2"));
  CHECK(has_node(both, "Range"));
  both.copy(w);
  for (const std::size_t n : {2u, 5u, 1u}) {
    CAPTURE(n);
    const auto xs = leat_test::filled<float, 3>({n, 4, 6}, -1, 1, n);
    CHECK(both.look({{"x:0", tensor_value(xs)}}, x = xs) < 1e-5);
    both.train({{"x:0", tensor_value(xs)}}, x = xs);
    CHECK(both.of(w) < 1e-5);
  }
}

TEST_CASE("lookups by index tuples agree with those of graphs") {
  const auto x = placeholder<"x", float, "batch", 4, 3>();
  const auto ids = placeholder<"ids", std::int32_t, "k", 2>();
  const auto columns = placeholder<"columns", std::int64_t, 2>();
  const auto w = variable<"w", float, 4, 3>(random_uniform(-1, 1, 1));
  const auto y = x * w;
  const auto found = gather_nd(y, ids);
  const auto by_axis = gather<2>(y, columns);
  const auto sums = scatter_nd<"batch", 4, 3>(ids, found);
  const auto loss = reduce_sum(square(found)) + reduce_sum(square(by_axis)) + reduce_sum(square(sums));
  const auto [dw] = gradients(loss, w);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, loss, dw, found, by_axis, sums);
  for (const char* type : {"GatherNd", "ScatterNd"}) CHECK(has_node(both, type));
  both.copy(w);
  for (const std::size_t n : {2u, 5u}) {
    CAPTURE(n);
    const auto xs = leat_test::filled<float, 3>({n, 4, 3}, -1, 1, n);
    const xt::xtensor<std::int32_t, 2> is{{1, 3}, {0, 0}, {1, 3}};
    const xt::xtensor<std::int64_t, 1> cs{2, 0};
    const feed_list feeds{{"x:0", tensor_value(xs)}, {"ids:0", tensor_value(is)}, {"columns:0", tensor_value(cs)}};
    CHECK(both.look(feeds, x = xs, ids = is, columns = cs) < 1e-5);
    both.train(feeds, x = xs, ids = is, columns = cs);
    CHECK(both.of(w) < 1e-5);
  }
}

TEST_CASE("contractions agree with those of graphs") {
  const auto x = placeholder<"x", float, "batch", 4, 4>();
  const auto w = variable<"w", float, 4, 3, 2>(random_uniform(-1, 1, 1));
  const auto product = einsum<"bij,jkl->bikl">(x, w);
  const auto stacks = einsum<"bij,bik->bjk">(x, x);
  const auto diagonal = einsum<"bii->bi">(x);
  const auto flat = tensordot<axis_list<2>, axis_list<0>>(x, w);
  const auto loss = reduce_sum(square(product)) + reduce_sum(flat) + reduce_sum(einsum<"bi,ikl->bkl">(diagonal, w)) + reduce_sum(stacks);
  const auto [dw] = gradients(loss, w);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, loss, dw, product, stacks, diagonal, flat);
  CHECK(has_node(both, "BatchMatMulV2"));
  both.copy(w);
  for (const std::size_t n : {2u, 5u}) {
    CAPTURE(n);
    const auto xs = leat_test::filled<float, 3>({n, 4, 4}, -1, 1, n);
    CHECK(both.look({{"x:0", tensor_value(xs)}}, x = xs) < 1e-5);
    both.train({{"x:0", tensor_value(xs)}}, x = xs);
    CHECK(both.of(w) < 1e-5);
  }
}
