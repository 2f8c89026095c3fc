#pragma once
// The model: whether a point lies in a disc. A model is a function from expressions to expressions, so that the program, the test and the
// benchmark share it.

#include <leat/leat.hpp>

#include <cstdint>

using namespace leat::literals;

/// Two numbers for each point [batch, 2], of which the greater one says: outside, inside. The layers make their variables: "disc/hidden/kernel", ...
template <leat::fixed_string Scope, leat::tensor_expression Points>
auto disc_model(const Points& points) {
  auto hidden = tanh(leat::dense<Scope / "hidden", 16>(points));
  return leat::dense<Scope / "output", 2>(hidden);
}

/// A batch of points of the square [-1, 1] x [-1, 1], and whether each is in the disc. The same numbers give the same points.
struct disc_points {
  xt::xtensor<float, 2> points = xt::xtensor<float, 2>::from_shape({200, 2});
  xt::xtensor<std::int64_t, 1> inside = xt::xtensor<std::int64_t, 1>::from_shape({200});

  explicit disc_points(std::uint64_t seed) {
    for (std::size_t row = 0; row < 200; ++row) {
      const float x = 2 * leat::uniform<float>(seed, 2 * row) - 1;
      const float y = 2 * leat::uniform<float>(seed, 2 * row + 1) - 1;
      points(row, 0) = x;
      points(row, 1) = y;
      const float distance = x * x + y * y;
      inside(row) = distance < 0.5f ? 1 : 0;
    }
  }
};
