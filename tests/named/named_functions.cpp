#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;

// Functions of named graphs that are composed of several nodes: shapes of their results, and what they refuse. Their nodes are
// compared with TensorFlow's in default_names_reference.cpp.

namespace {
std::string shape_of_result(const output& o) { return shape_text(o.extent()); }
}  // namespace

TEST_CASE("index takes parts of an array") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {6, 4, -1}, "x");
  CHECK(shape_of_result(index(x, {0})) == "(4, ?)");
  CHECK(shape_of_result(index(x, {-1})) == "(4, ?)");
  CHECK(shape_of_result(index(x, {along::all(), along::from(1)})) == "(6, 3, ?)");
  CHECK(shape_of_result(index(x, {along::between(1, -1, 2), 3})) == "(2, ?)");
  CHECK(shape_of_result(index(x, {along::all(-1)})) == "(6, 4, ?)");
  CHECK(shape_of_result(index(x, {along::new_axis(), along::rest(), 0})) == "(1, 6, 4)");
  CHECK(shape_of_result(index(x, {along::until(2), along::rest()})) == "(2, 4, ?)");
  CHECK_THROWS_AS(index(x, {6}), invalid_argument);
  CHECK_THROWS_AS(index(x, {0, 0, 0, 0}), invalid_argument);
  CHECK_THROWS_AS(index(x, {along::rest(), along::rest()}), invalid_argument);
}

TEST_CASE("sizes that are computed from shapes are known") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 4, 6}, "x");
  const output sizes = shape_of(x);
  const output wide = index(sizes, {1}) * index(sizes, {2});
  CHECK(shape_of_result(reshape(x, stack({index(sizes, {0}), wide}))) == "(?, 24)");
  CHECK(shape_of_result(reshape(x, stack({wide, identity(index(sizes, {0}), "n")}))) == "(24, ?)");
}

TEST_CASE("arrays taken apart, and repeated") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {4, -1, 6}, "x");
  const auto rows = unstack(x, -3, "rows");
  REQUIRE(rows.size() == 4);
  CHECK(rows[3].name() == "rows:3");
  CHECK(shape_of_result(rows[3]) == "(?, 6)");
  CHECK(*rows[0].operation().attribute("num").get_if<std::int64_t>() == 4);
  CHECK(*rows[0].operation().attribute("axis").get_if<std::int64_t>() == -3);
  CHECK(*rows[0].operation().attribute("T").get_if<data_type>() == data_type::float32);
  for (const int axis : {2, -1}) {
    const auto parts = split(x, 3, axis, "parts");
    REQUIRE(parts.size() == 3);
    CHECK(shape_of_result(parts[1]) == "(4, ?, 2)");
    CHECK(parts[0].operation().inputs()[0].name() == (axis == 2 ? "parts/split_dim:0" : "parts_1/split_dim:0"));
    CHECK(std::string(parts[0].operation().made_at().file).ends_with("named_functions.cpp"));
  }
  CHECK(shape_of_result(split(x, 2, 1)[0]) == "(4, ?, 6)");
  const output sizes = constant({1, 5}, "sizes"), last = constant(-1, "last");
  const auto uneven = call_operator(g, "SplitV", {x, sizes, last}, {{"num_split", std::int64_t{2}}}).outputs();
  CHECK(shape_of_result(uneven[1]) == "(4, ?, 5)");
  const output wide = tile(x, {2, 3, 1}, "wide");
  CHECK(shape_of_result(wide) == "(8, ?, 6)");
  CHECK(wide.operation().inputs()[1].name() == "wide/multiples:0");
  CHECK_THROWS_WITH_AS(unstack(x, 1), doctest::Contains("the size along the axis is not known"), invalid_argument);
  CHECK_THROWS_AS(unstack(x, 3), invalid_argument);
  CHECK_THROWS_WITH_AS(split(x, 4, 2), doctest::Contains("Dimension size must be evenly divisible by 4 but is 6"), invalid_argument);
  CHECK_THROWS_WITH_AS(split(x, 4, 2), doctest::Contains("named_functions.cpp"), invalid_argument);
  CHECK_THROWS_AS(split(x, 0), invalid_argument);
  CHECK_THROWS_AS(split(x, 2, -4), invalid_argument);
  CHECK_THROWS_WITH_AS(tile(x, {2, 3}), doctest::Contains("must be rank 2 but is rank 3"), invalid_argument);
}

TEST_CASE("several arrays put together, and added") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {2, -1}, "x"), y = placeholder(dtype::float32, {-1, 3}, "y");
  const output together = stack({x, y}, -1, "together");
  CHECK(together.name() == "together:0");
  CHECK(shape_of_result(together) == "(2, 3, 2)");
  CHECK(*together.operation().attribute("N").get_if<std::int64_t>() == 2);
  CHECK(*together.operation().attribute("axis").get_if<std::int64_t>() == -1);
  const output sum = add_n({x, y, x});
  CHECK(sum.name() == "AddN:0");
  CHECK(shape_of_result(sum) == "(2, 3)");
  CHECK(*sum.operation().attribute("N").get_if<std::int64_t>() == 3);
  CHECK(*sum.operation().attribute("T").get_if<data_type>() == data_type::float32);
  const output wide = placeholder(dtype::float32, {2, 4}, "wide"), whole = placeholder(dtype::int32, {2, 3}, "whole");
  const int nodes = g.size();
  CHECK_THROWS_WITH_AS(stack({y, wide}), doctest::Contains("Shapes of all inputs must match: (?, 3) and (2, 4)"), invalid_argument);
  CHECK_THROWS_WITH_AS(stack({y, wide}), doctest::Contains("wide"), invalid_argument);
  CHECK_THROWS_WITH_AS(stack({y, whole}), doctest::Contains("has type int32 that does not match type float32"), invalid_argument);
  CHECK_THROWS_AS(stack({x}, 3), invalid_argument);
  CHECK_THROWS_AS(stack({x}, -4), invalid_argument);
  CHECK_THROWS_WITH_AS(stack({}), "stack: nothing to put together", invalid_argument);
  CHECK_THROWS_WITH_AS(add_n({y, wide}), doctest::Contains("shapes differ"), invalid_argument);
  CHECK_THROWS_WITH_AS(add_n({y, whole}), doctest::Contains("has type int32 that does not match type float32"), invalid_argument);
  CHECK_THROWS_WITH_AS(add_n({y, wide}), doctest::Contains("wide"), invalid_argument);
  CHECK_THROWS_WITH_AS(add_n({}), "add_n: nothing to add", invalid_argument);
  CHECK(g.size() == nodes);
}

TEST_CASE("products of stacks of matrices") {
  graph g;
  const auto scope = g.as_default();
  const output a = placeholder(dtype::float32, {5, 1, 2, 3}, "a");
  const output b = placeholder(dtype::float32, {7, 3, 4}, "b");
  const output c = matmul(a, b);
  CHECK(c.operation().type() == "BatchMatMulV2");
  CHECK(c.name() == "MatMul:0");
  CHECK(shape_of_result(c) == "(5, 7, 2, 4)");
  CHECK(shape_of_result(matmul(b, b, {.transpose_b = true})) == "(7, 3, 3)");
  CHECK_THROWS_AS(matmul(b, b), invalid_argument);
}

TEST_CASE("rows of tables, whole and in shards") {
  graph g;
  const auto scope = g.as_default();
  const output whole = variable(zeros_of({10, 3}), "whole");
  const output ids = placeholder(dtype::int64, {-1, 2}, "ids");
  CHECK(shape_of_result(embedding_lookup(whole, ids)) == "(?, 2, 3)");
  const output first = variable(zeros_of({5, 3}), "first");
  const output second = variable(zeros_of({5, 3}), "second");
  CHECK(shape_of_result(embedding_lookup({first, second}, ids)) == "(?, 2, 3)");
  CHECK(shape_of_result(embedding_lookup({first, second}, ids, partition_strategy::div)) == "(?, 2, 3)");
  CHECK_THROWS_AS(embedding_lookup(std::vector<output>{}, ids), invalid_argument);
  CHECK_THROWS_AS(embedding_lookup(whole, placeholder(dtype::float32, {2}, "no_ids")), invalid_argument);
}

TEST_CASE("functions of networks know their shapes") {
  graph g;
  const auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {-1, 8}, "x");
  CHECK(shape_of_result(bias_add(x, std::vector<float>(8, 1.0f))) == "(?, 8)");
  CHECK_THROWS_AS(bias_add(x, std::vector<float>(7, 1.0f)), invalid_argument);
  CHECK(shape_of_result(dropout(x, 0.3)) == "(?, 8)");
  CHECK_THROWS_AS(dropout(x, 1.0), invalid_argument);
  const auto both = moments(x, {0});
  CHECK(shape_of_result(both.mean) == "(8,)");
  CHECK(shape_of_result(both.variance) == "(8,)");
  CHECK(shape_of_result(softmax_cross_entropy_with_logits(x, x, "")) == "(?,)");
  CHECK(shape_of_result(sparse_softmax_cross_entropy_with_logits(placeholder(dtype::int64, {-1}, "labels"), x, "")) == "(?,)");
  CHECK(shape_of_result(boolean_mask(x, placeholder(dtype::boolean, {-1}, "mask"))) == "(?, 8)");
  const output images = placeholder(dtype::float32, {-1, 28, 28, 1}, "images");
  const output filters = variable(zeros_of({5, 5, 1, 6}), "filters");
  const output maps = conv2d(images, filters, {1, 2, 2, 1}, padding::same);
  CHECK(shape_of_result(maps) == "(?, 14, 14, 6)");
  CHECK(shape_of_result(conv2d(images, filters, {1, 1, 1, 1}, padding::valid)) == "(?, 24, 24, 6)");
  CHECK(shape_of_result(max_pool(maps, {1, 2, 2, 1}, {1, 2, 2, 1}, padding::valid)) == "(?, 7, 7, 6)");
  CHECK(shape_of_result(avg_pool(maps, {1, 3, 3, 1}, {1, 2, 2, 1}, padding::same)) == "(?, 7, 7, 6)");
  CHECK(shape_of_result(top_k(x, 3).second) == "(?, 3)");
  const output count = placeholder(dtype::int32, {}, "count");
  CHECK(shape_of_result(top_k(x, count).first) == "(?, ?)");
  const output ids = placeholder(dtype::int64, {-1}, "ids");
  CHECK(shape_of_result(unsorted_segment_sum(x, ids, 3)) == "(3, 8)");
  CHECK(shape_of_result(unsorted_segment_sum(x, ids, count)) == "(?, 8)");
  CHECK_THROWS_AS(unsorted_segment_sum(x, ids, -1), invalid_argument);
  CHECK_THROWS_AS(unsorted_segment_sum(x, placeholder(dtype::float32, {-1}, "wrong"), 3), invalid_argument);
  CHECK(shape_of_result(one_hot(placeholder(dtype::int32, {-1}, "classes"), 5)) == "(?, 5)");
}

TEST_CASE("what clips a handle is made of the same nodes, whatever its limits are") {
  const auto nodes = [](const auto& clip) {
    graph g;
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, unknown_shape, "x");
    constant(0.5f, "low");
    constant(2.0f, "high");
    clip(x);
    std::string types;
    for (const auto& op : get_operations(g))
      if (op.type() != "Const") types += op.name() + " " + std::string(op.type()) + ", ";
    return types;
  };
  const std::string expected = "x Placeholder, clip_by_value/Minimum Minimum, clip_by_value Maximum, ";
  const auto of = [](const output& x, const char* name) { return get_tensor_by_name(x.owner(), std::string(name) + ":0"); };
  CHECK(nodes([](const output& x) { clip_by_value(x, 0.5f, 2.0f); }) == expected);
  CHECK(nodes([](const output& x) { clip_by_value(x, 0.5, 2); }) == expected);
  CHECK(nodes([](const output& x) { clip_by_value(x, 0.5f, 2.0f, ""); }) == expected);
  CHECK(nodes([](const output& x) { clip_by_value(x, {0.5f, 1.0f}, {2.0f, 3.0f}); }) == expected);
  CHECK(nodes([&](const output& x) { clip_by_value(x, of(x, "low"), of(x, "high")); }) == expected);
  CHECK(nodes([&](const output& x) { clip_by_value(x, of(x, "low"), 2.0f); }) == expected);
  CHECK(nodes([](output x) { clip_by_value(x, 0.5f, 2.0f, "clip_by_value"); }) == expected);
}

TEST_CASE("lists in braces need no name behind them") {
  graph g;
  auto scope = g.as_default();
  auto table = constant({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}}, "table");
  CHECK(gather(table, {0, 2}).extent() == shape_value{2, 2});
  CHECK(gather(table, constant({1})).extent() == shape_value{1, 2});
  CHECK(gather(table, {0, 2}, "rows").name() == "rows:0");
  CHECK(broadcast_to(constant({1.0f, 2.0f}), {3, 2}).operation().inputs()[1].type() == dtype::int32);
  CHECK(select(constant({true, false}), constant({1.0f, 2.0f}), {0.0f, 0.0f}).extent() == shape_value{2});
  CHECK(select(constant({true, false}), constant({1.0f, 2.0f}), 0.0f).extent() == shape_value{2});
  CHECK(clip_by_value(table, 2.0f, 4.0f).extent() == shape_value{3, 2});
  CHECK(sparse_softmax_cross_entropy_with_logits({1, 0, 1}, table).extent() == shape_value{3});
  CHECK(identity({1.0f, 2.0f}).extent() == shape_value{2});
  CHECK(identity(table, "").name() == "Identity_1:0");
  auto rows = placeholder(dtype::float32, unknown_shape, "rows");
  set_shape(rows, {-1, 3});
  CHECK(shape_text(rows.extent()) == "(?, 3)");
  CHECK_THROWS_AS(set_shape(rows, {-1, 4}), invalid_argument);
  CHECK_THROWS_AS(set_shape(rows, {-2, 3}), invalid_argument);
}
