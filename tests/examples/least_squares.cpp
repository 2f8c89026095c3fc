#include "examples/support/least_squares.hpp"

#include <doctest/doctest.h>

#include <string>
#include <vector>

namespace examples = leat::examples;

TEST_CASE("least squares finds the plane that the points lie on") {
  const xt::xtensor<float, 2> a{{0, 0}, {1, 0}, {0, 1}, {2, 3}, {-1, 5}};
  auto b = xt::xtensor<float, 1>::from_shape({5});
  for (std::size_t row = 0; row < 5; ++row) b(row) = 2 * a(row, 0) - 3 * a(row, 1) + 7;
  const std::vector<double> weights = examples::least_squares(a, b);
  REQUIRE(weights.size() == 3);
  CHECK(weights[0] == doctest::Approx(2));
  CHECK(weights[1] == doctest::Approx(-3));
  CHECK(weights[2] == doctest::Approx(7));
  CHECK(examples::root_mean_squared_error(examples::predict(weights, a), b) < 1e-6);
}

TEST_CASE("least squares leaves a residual that is orthogonal to every column") {
  const xt::xtensor<double, 2> a{{1, 2}, {2, 1}, {3, 5}, {4, 4}, {5, 9}, {6, 1}};
  const xt::xtensor<double, 1> b{1, 4, 2, 8, 5, 7};
  const auto fitted = examples::predict(examples::least_squares(a, b), a);
  for (std::size_t column = 0; column < 3; ++column) {
    double product = 0;
    for (std::size_t row = 0; row < 6; ++row) product += (fitted(row) - b(row)) * (column < 2 ? a(row, column) : 1.0);
    CHECK(product == doctest::Approx(0).epsilon(1e-9));
  }
}

TEST_CASE("least squares refuses columns that depend on each other") {
  const xt::xtensor<double, 2> a{{1, 2}, {2, 4}, {3, 6}, {5, 10}};
  const xt::xtensor<double, 1> b{1, 2, 3, 4};
  CHECK_THROWS_WITH(examples::least_squares(a, b), "the columns depend on each other");
}
