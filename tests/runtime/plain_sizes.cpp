#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

using namespace leat;

TEST_CASE("one program serves all sizes that change nothing else") {
  graph g;
  auto scope = g.as_default();
  const auto numbers = [](std::int64_t n, float step) {
    std::vector<float> all;
    for (std::int64_t i = 0; i < n; ++i) all.push_back(std::sin(step * static_cast<float>(i)));
    return all;
  };
  const auto x = placeholder(dtype::float32, {-1, 6}, "x");
  const auto y = placeholder(dtype::float32, {-1, 3}, "y");
  const auto rows = [&](std::int64_t n, std::int64_t m) {
    return feed_list{{x, tensor_value(shape{2, {n, 6}}, numbers(n * 6, 0.3f))}, {y, tensor_value(shape{2, {m, 3}}, numbers(m * 3, 0.7f))}};
  };
  const auto w = variable(constant(numbers(18, 0.9f), {6, 3}), "w");
  const auto b = variable({0.1f, -0.2f, 0.3f}, "b");
  const auto made = add(matmul(x, w), b);
  const auto loss = reduce_mean(square(subtract(tanh(made), y)));
  const auto entropy = reduce_mean(softmax_cross_entropy_with_logits(softmax(y), made));
  const auto train = adam(0.05f).minimize(loss);
  const auto apart = matmul(x, multiply(transpose(x), 2.0f));
  const auto few = slice(x, {0, 0}, {4, 6});
  const auto most = strided_slice(x, {0, 0}, {50, 6}, {1, 1});  // all of them up to 50
  const auto flat = reshape(x, {-1, 2});
  const auto sides = reduce_sum(x, {0, 1}) + reduce_sum(y, {0, 1});
  const auto spread = add(reduce_sum(x, {1}), reduce_sum(y, {1}));
  const auto gradient = gradients({entropy}, {made, w})[0];

  graph_session s(g), alone(g, {.fuse = false});
  for (auto* each : {&s, &alone}) each->run(global_variables_initializer());
  const auto check_equal = [&](const output& what, const feed_list& feeds) {
    const tensor_value a = s.run(what, feeds), c = alone.run(what, feeds);
    REQUIRE(a.extent() == c.extent());
    for (std::size_t i = 0; i < static_cast<std::size_t>(a.elements()); ++i)
      CHECK(a.values<float>()[i] == doctest::Approx(c.values<float>()[i]).epsilon(1e-4));
    // a session that has seen nothing else gives the same to the last bit
    graph_session fresh(g);
    fresh.assign(w, s.value(w));
    fresh.assign(b, s.value(b));
    const tensor_value only = fresh.run(what, feeds);
    CHECK(std::memcmp(a.data(), only.data(), a.bytes()) == 0);
  };
  std::int64_t before = 0;
  for (const std::int64_t n : {5, 8, 9, 4, 7, 100, 1, 2, 33, 600, 8, 5}) {
    CAPTURE(n);
    if (n == 4) before = s.program_bytes();
    for (const output& what : std::vector<output>{made, loss, entropy, apart, few, most, flat, sides, gradient})
      if (n >= 4 || what.name() != few.name()) check_equal(what, rows(n, n));
    s.run(train, rows(n, n));
    alone.run(train, rows(n, n));
  }
  CHECK(s.program_bytes() < before + 1'200'000);  // 600 x 600 elements are 1.44 MB
  const auto fused = s.fused_runs();
  for (std::int64_t n = 40; n < 140; ++n) s.run(train, rows(n, n));
  CHECK(s.fused_runs() == fused + 100);
  // sizes that were the same, and then are not; that broadcast; and nothing at all
  for (const auto& [n, m] : {std::pair{5, 5}, {8, 8}, {9, 9}, {9, 4}, {6, 7}, {7, 6}, {0, 3}, {0, 0}}) check_equal(sides, rows(n, m));
  for (const auto& [n, m] : {std::pair{5, 5}, {8, 1}, {9, 9}, {1, 4}, {1, 1}, {7, 7}, {0, 0}, {1, 0}}) check_equal(spread, rows(n, m));
  CHECK_THROWS_AS(s.run(spread, rows(4, 5)), invalid_argument);
  CHECK_THROWS_AS(s.run(few, rows(3, 3)), invalid_argument);
}
