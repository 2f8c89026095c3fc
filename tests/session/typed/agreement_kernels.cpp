// Typed convolutions, pools and random numbers against the same expressions in a graph with names, whose nodes are TensorFlow's.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

namespace {

// `f` of images and filters, and the gradients by both, compiled and in a graph.
template <int Filters, class F>
void compare(F f, std::initializer_list<const char*> types) {
  const auto x = placeholder<"x", float, "batch", 7, 6, 4>();
  const auto w = variable<"w", float, 3, 2, 4, Filters>(random_uniform(-1, 1, 1));
  const auto y = f(x, w);
  const auto loss = reduce_sum(y * y);
  const auto [dx, dw] = gradients(loss, x, w);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, y, loss, dx, dw);
  both.copy(w);
  std::string names;
  const graph& g = both.dynamic().owner();
  for (int i = 0; i < g.size(); ++i) names += " " + std::string(g.at(i).op->type);
  for (const char* type : types) {
    CAPTURE(type);
    CHECK(names.find(type) != std::string::npos);
  }
  for (const std::size_t n : {2u, 5u, 1u}) {
    CAPTURE(n);
    const auto images = leat_test::filled<float, 4>({n, 7, 6, 4}, -1, 1, n);
    CHECK(both.look({{"x:0", tensor_value(images)}}, x = images) < 1e-5);
    both.train({{"x:0", tensor_value(images)}}, x = images);
    CHECK(both.of(w) < 1e-5);
  }
}

}  // namespace

TEST_CASE("convolutions agree with those of graphs") {
  compare<5>([](const auto& x, const auto& w) { return conv2d(x, w); }, {"Conv2D", "Conv2DBackpropInput", "Conv2DBackpropFilter"});
  compare<5>([](const auto& x, const auto& w) { return conv2d<hw{2, 3}, padding::same>(x, w); }, {"Conv2D"});
  compare<4>([](const auto& x, const auto& w) { return conv2d<1, padding::same, hw{2, 1}>(x, w); }, {"Conv2D"});
  compare<2>([](const auto& x, const auto& w) { return depthwise_conv2d<1, padding::same>(x, w); },
             {"DepthwiseConv2dNative", "DepthwiseConv2dNativeBackpropFilter"});
}

TEST_CASE("pools agree with those of graphs") {
  compare<3>([](const auto& x, const auto& w) { return max_pool<2>(conv2d<1, padding::same>(x, w)); }, {"MaxPool", "MaxPoolGrad"});
  compare<3>([](const auto& x, const auto& w) { return max_pool<3, 2, padding::same>(conv2d(x, w)); }, {"MaxPool"});
  compare<3>([](const auto& x, const auto& w) { return avg_pool<hw{3, 2}, hw{2, 1}, padding::same>(conv2d(x, w)); }, {"AvgPool", "AvgPoolGrad"});
}

TEST_CASE("random numbers of a seed are the same in a graph, fused and node by node") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto uniform_numbers = stateless_random_uniform<float, 3, 5>(seed);
  const auto normal_numbers = stateless_random_normal<double, 1000>(seed);
  const auto shifted = uniform_numbers + 1.0f;
  session compiled{uniform_numbers, normal_numbers, shifted};
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(uniform_numbers, normal_numbers, shifted);
  const std::vector<graph_element> wanted(made.begin(), made.end());
  const std::vector<std::int64_t> given{4, -9};
  const auto [u, n, t] = compiled.run(fetch(uniform_numbers, normal_numbers, shifted), seed = given);
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph_session s(g, {.fuse = fuse});
    const auto results = s.run(wanted, {{"seed:0", given}});
    CHECK(leat_test::distance(results[0], u) == 0);
    CHECK(leat_test::distance(results[1], n) == 0);
    CHECK(leat_test::distance(results[2], t) == 0);
  }
  // a named dimension takes its size from the placeholder that has it
  const auto x = placeholder<"x", float, "batch", 2>();
  const auto open = stateless_random_uniform<float, "batch", 3>(seed);
  const auto beside = reduce_sum(x) + 0.0f;
  session as_typed{open, beside};
  graph h;
  const auto other = h.as_default();
  const auto sized = to_graph(open, beside);
  const xt::xtensor<float, 2> xs = xt::ones<float>({7, 2});
  const auto [expected, sum] = as_typed.run(fetch(open, beside), seed = given, x = xs);
  for (const bool fuse : {true, false}) {
    graph_session s(h, {.fuse = fuse});
    const auto results = s.run(std::vector<graph_element>(sized.begin(), sized.end()), {{"seed:0", given}, {"x:0", tensor_value(xs)}});
    CHECK(leat_test::distance(results[0], expected) == 0);
  }
}

TEST_CASE("other random tensors of a seed are the same in a graph") {
  const auto seed = placeholder<"seed", std::int64_t, 2>();
  const auto logits = placeholder<"logits", float, "rows", 5>();
  const auto truncated = stateless_truncated_normal<float, "rows", 5>(seed);
  const auto whole = stateless_random_integer<std::int64_t, -4, 90000000000, 7>(seed);
  const auto narrow = stateless_random_integer<std::int32_t, -4, 90, "rows", 2>(seed);
  const auto classes = stateless_multinomial<6, std::int32_t>(logits, seed);
  const auto beside = logits + 1.0f;
  session compiled{truncated, whole, narrow, classes, beside};
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(truncated, whole, narrow, classes, beside);
  const std::vector<graph_element> wanted(made.begin(), made.end());
  for (std::size_t k = 0; k < 4; ++k) CHECK(std::get<output>(made[k]).operation().type().starts_with("Stateless"));
  const std::vector<std::int64_t> given{4, -9};
  const auto rows = leat_test::filled<float, 2>({6, 5}, -1, 1, 3);
  const auto [t, w, n, c, unused] = compiled.run(fetch(truncated, whole, narrow, classes, beside), seed = given, logits = rows);
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph_session s(g, {.fuse = fuse});
    const auto results = s.run(wanted, {{"seed:0", given}, {"logits:0", tensor_value(rows)}});
    CHECK(leat_test::distance(results[0], t) == 0);
    CHECK(leat_test::distance(results[1], w) == 0);
    CHECK(leat_test::distance(results[2], n) == 0);
    CHECK(leat_test::distance(results[3], c) == 0);
  }
  CHECK_THROWS_AS(to_graph(stateless_shuffle(logits, seed)), unimplemented);
}

TEST_CASE("what TensorFlow has no node for is refused by to_graph, by its name") {
  const auto params = placeholder<"params", float, 5, 4, 3>();
  const auto indices = placeholder<"indices", std::int32_t, 5, 2, 2>();
  const auto each = vmap([](const auto& p, const auto& i) { return gather_nd(p, i); })(params, indices);
  graph g;
  const auto scope = g.as_default();
  std::string said;
  try {
    to_graph(each);
  } catch (const unimplemented& e) {
    said = e.what();
  }
  CHECK(said.find("to_graph: a GatherPlaces") != std::string::npos);
}
