#include <leat/train/named/clip.hpp>

#include "support/evaluate.hpp"

#include <leat/graphs.hpp>

#include <doctest/doctest.h>

using namespace leat;
using leat_test::evaluator;

TEST_CASE("norms are limited, and nodes named as TensorFlow names them") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({3.0f, 4.0f}, "x");
  const auto value = [](const output& o) { return evaluator({})(o).at; };
  const auto once = clip_by_norm(x, 1.0f);
  CHECK(once.name() == "clip_by_norm:0");
  CHECK(value(once)[0] == doctest::Approx(0.6));
  CHECK(value(clip_by_norm(x, 10.0f, {}, "wide"))[1] == doctest::Approx(4));
  CHECK(value(clip_by_norm(zeros_of({2}), 1.0f)) == std::vector<double>{0, 0});
  const auto rows = constant({{3.0f, 4.0f}, {0.3f, 0.4f}}, "rows");
  CHECK(value(clip_by_norm(rows, 1.0f, {1}))[3] == doctest::Approx(0.4));
  const auto average = clip_by_average_norm(x, 1.0f);
  CHECK(average.name() == "clip_by_average_norm:0");
  CHECK(value(average)[0] == doctest::Approx(3.0 * std::min(2.0 / 5, 1.0)));
  CHECK_THROWS_AS(clip_by_norm(x, constant({{1.0f}, {2.0f}})), invalid_argument);
}

TEST_CASE("all gradients together; those that are not there stay so") {
  graph g;
  const auto scope = g.as_default();
  const auto x = constant({3.0f, 0.0f}, "x");
  const auto y = constant(4.0f, "y");
  const auto made = clip_by_global_norm({gradient_value(x), {}, gradient_value(y)}, 1.0f);
  CHECK(made.norm.name() == "global_norm/global_norm:0");
  CHECK(evaluator({})(made.norm).at[0] == doctest::Approx(5));
  REQUIRE(made.values.size() == 3);
  CHECK_FALSE(static_cast<bool>(made.values[1]));
  CHECK(made.values[2].values.name() == "clip_by_global_norm/clip_by_global_norm/_2:0");
  CHECK(evaluator({})(made.values[2].values).at[0] == doctest::Approx(0.8));
  CHECK(evaluator({})(clip_by_global_norm({gradient_value(x)}, 100.0f).values[0].values).at[0] == doctest::Approx(3));
  CHECK_THROWS_AS(global_norm({gradient_value{}}), invalid_argument);
  const auto infinite = constant(std::numeric_limits<float>::infinity(), "infinite");
  CHECK(std::isnan(evaluator({})(clip_by_global_norm({gradient_value(infinite), gradient_value(y)}, 1.0f).values[1].values).at[0]));
}
