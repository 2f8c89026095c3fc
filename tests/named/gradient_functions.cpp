#include <leat/named/gradients/gradient_functions.hpp>

#include "support/slopes.hpp"

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;

TEST_CASE("a program says how gradients pass an operator that the library does not know") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto unknown =
      g.named().raw(g, "Thrice", std::array{x}, {{"T", dtype::float32}}, {{dtype::float32, x.extent()}}, "thrice").result();
  CHECK_THROWS_WITH_AS(gradients({unknown}, {x}),
                       doctest::Contains("the node 'thrice' (Thrice): no gradient is known of this operator: register_gradient"),
                       unimplemented);
  register_gradient("Thrice", [](const gradient_call& c) { return std::vector<gradient_value>{c.dy() * 3.0f}; });
  const auto dx = gradients({unknown}, {x}, {.name = "again"})[0];
  CHECK(dx.name() == "again/thrice_grad/mul:0");
  CHECK(leat_test::evaluator({})(dx).at == std::vector<double>{3, 3});
  // a function may give more than there are inputs, which is told
  register_gradient("Thrice", [](const gradient_call& c) { return std::vector<gradient_value>{c.dy(), c.dy()}; });
  CHECK_THROWS_WITH_AS(gradients({unknown}, {x}), doctest::Contains("gives 2 gradients for 1 inputs"), unimplemented);
}

TEST_CASE("several results: those that no gradient reaches get zeros") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const graph_operation two =
      g.named().raw(g, "SumAndDifference", std::array{x, x}, {}, {{dtype::float32, x.extent()}, {dtype::float32, x.extent()}}, "two");
  register_gradient("SumAndDifference", [](const gradient_call& c) {
    CHECK(c.all().size() == 2);
    CHECK(c.dy(1).operation().type() == "ZerosLike");
    CHECK(c.dy(1).name().ends_with("/zeros_like:0"));
    const output first = c.dy(0) + c.dy(1);
    return std::vector<gradient_value>{first, c.dy(0) - c.dy(1)};
  });
  CHECK(gradients({two.result(0)}, {x})[0].operation().type() == "AddN");
}
