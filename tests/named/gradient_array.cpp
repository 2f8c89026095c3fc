#include <leat/named/gradients/array.hpp>

#include "support/slopes.hpp"

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;
using leat_test::check_slopes;
using leat_test::some;

TEST_CASE("operators that rearrange arrays") {
  for (const shape_value& extent : {shape_value({2, 3}), shape_value({-1, 3})}) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, extent, "x");
    const auto y = placeholder(dtype::float32, {-1, 3}, "y");
    const auto of = [&](const output& z) {
      INFO(z.name());
      check_slopes(square(z, {}), {x}, {{"x", some({2, 3}, 1)}, {"y", some({4, 3}, 2)}});
      const auto slope = gradients({multiply(z, square(z, {}))}, {x})[0];
      check_slopes(square(slope, {}), {x}, {{"x", some({2, 3}, 3)}, {"y", some({4, 3}, 4)}});
    };
    of(reshape(x, {3, 2}));
    of(reshape(x, {-1}));
    of(expand_dims(x, 1));
    of(transpose(x, {1, 0}));
    of(broadcast_to(x, {4, 2, 3}, {}));
    of(tile(x, {2, 3}));
    of(tile(x, {1, 2}));
    of(slice(x, {0, 1}, {-1, 2}));
    of(slice(x, {1, 0}, {1, 3}));
    of(pad(x, tensor_literal({{1, 0}, {0, 2}})));
    of(identity(x, "same"));
    of(call_operator(g, "Print", {x, tensor_literal(1.0f)}, {{"message", "x"}}).result());
    of(concat({x, y, x}, 0));
    of(concat({x, x}, 1));
    of(concat({x}, 1));
    of(stack({x, x * 2.0f}, 1));
    of(stack({x, x * 2.0f}, -1));
    of(index(x, {along::all(), 1}));
    of(gather(x, constant({1, 0, 1}), "rows"));
    for (const output& part : unstack(x, 1)) of(part);
    const auto thirds = split(x, 3, 1);
    of(thirds[0] * thirds[2]);
    const auto parts = unstack(x, 1);
    of(parts[0] * parts[2]);
  }
}

TEST_CASE("one value in every element; products of stacks of matrices") {
  graph g;
  const auto scope = g.as_default();
  const auto v = placeholder(dtype::float32, {}, "v");
  const auto filled = call_operator(g, "Fill", {tensor_literal({2, 3}), v}).result();
  check_slopes(square(filled, {}), {v}, {{"v", {{}, {0.75}}}});
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const auto a = placeholder(dtype::float32, {2, -1, -1}, "a");
      const auto b = placeholder(dtype::float32, {1, -1, -1}, "b");
      check_slopes(square(matmul(a, b, {.transpose_a = ta, .transpose_b = tb}), {}), {a, b},
                   {{a.operation().name(), some(ta ? std::vector<std::int64_t>{2, 3, 4} : std::vector<std::int64_t>{2, 4, 3}, 1)},
                    {b.operation().name(), some(tb ? std::vector<std::int64_t>{1, 5, 3} : std::vector<std::int64_t>{1, 3, 5}, 2)}});
    }
}

TEST_CASE("gathered rows have a sparse gradient; of several the rows stand one after the other") {
  graph g;
  const auto scope = g.as_default();
  const auto table = placeholder(dtype::float32, {4, 2}, "table");
  const auto loss = reduce_sum(square(gather(table, constant({1, 3, 1}), "rows"), {}), all_axes);
  const auto rows = sparse_gradients({loss}, {table});
  REQUIRE(rows[0].is_sparse());
  CHECK(leat_test::evaluator({{"table", some({4, 2}, 3)}})(rows[0].indices).at == std::vector<double>{1, 3, 1});
  CHECK(shape_text(rows[0].values.extent()) == "(3, 2)");
  const auto twice = loss + reduce_sum(gather(table, constant({0}), "more"), all_axes);
  const auto both = sparse_gradients({twice}, {table});
  REQUIRE(both[0].is_sparse());
  CHECK(both[0].values.operation().type() == "ConcatV2");
  check_slopes(twice, {table}, {{"table", some({4, 2}, 4)}});
  // of ids of int32 and int64, all are int64
  const auto wide = twice + reduce_sum(square(gather(table, constant(std::vector<std::int64_t>{3, 0}), "wide"), {}), all_axes);
  const auto all = sparse_gradients({wide}, {table});
  REQUIRE(all[0].is_sparse());
  CHECK(all[0].indices.type() == dtype::int64);
  check_slopes(wide, {table}, {{"table", some({4, 2}, 6)}});
  // beside a whole gradient, the rows are made whole
  const auto mixed = loss + reduce_sum(table * table, all_axes);
  CHECK_FALSE(sparse_gradients({mixed}, {table})[0].is_sparse());
  check_slopes(mixed, {table}, {{"table", some({4, 2}, 5)}});
}
