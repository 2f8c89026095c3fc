// Resized images: TensorFlow's values and gradients in all three ways, gradients of float64 against differences, items of other devices,
// errors.

#include <leat/ops/resize.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// The results of [1, 2, 3, 2] images in the size Height x Width, and the gradients where that of the results is k % 7 - 3 for element k.
template <std::int64_t Height, std::int64_t Width, pixels How>
void agrees(std::vector<double> nearest, std::vector<double> between, std::vector<double> nearest_slopes, std::vector<double> slopes) {
  const auto x = placeholder<"x", float, 1, 2, 3, 2>();
  const auto g = placeholder<"g", float, 1, Height, Width, 2>();
  const auto a = resize_nearest_neighbor<Height, Width, How>(x);
  const auto b = resize_bilinear<Height, Width, How>(x);
  const auto [da] = gradients(reduce_sum(a * g), x);
  const auto [db] = gradients(reduce_sum(b * g), x);
  session s{a, b, da, db};
  xt::xtensor<float, 4> images(std::array<std::size_t, 4>{1, 2, 3, 2});
  const float pi[]{3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8};
  std::copy_n(pi, 12, images.data());
  xt::xtensor<float, 4> weights(std::array<std::size_t, 4>{1, Height, Width, 2});
  for (std::size_t i = 0; i < weights.size(); ++i) weights.data()[i] = static_cast<float>(static_cast<int>(i % 7) - 3);
  const auto [n, m, dn, dm] = s.run(fetch(a, b, da, db), x = images, g = weights);
  const auto same = [](const auto& got, const std::vector<double>& expected) {
    CHECK(got.size() == expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) CHECK(got.data()[i] == doctest::Approx(expected[i]).epsilon(1e-6));
  };
  same(n, nearest);
  same(m, between);
  same(dn, nearest_slopes);
  same(dm, slopes);
}

}  // namespace

// made by tf.raw_ops of TensorFlow 2.21
TEST_CASE("resized images and their gradients are those of TensorFlow") {
  agrees<4, 5, pixels::usual>(
      {3, 1, 3, 1, 4, 1, 4, 1, 5, 9, 3, 1, 3, 1, 4, 1, 4, 1, 5, 9, 2, 6, 2, 6, 5, 3, 5, 3, 5, 8, 2, 6, 2, 6, 5, 3, 5, 3, 5, 8},
      {3, 1, 3.6, 1,   4.2, 2.6, 4.8, 7.400001, 5, 9, 2.5, 3.5, 3.7, 2.6, 4.6, 3.3, 4.9, 7.200001, 5, 8.5,
       2, 6, 3.8, 4.2, 5,   4,   5,   7,        5, 8, 2,   6,   3.8, 4.2, 5,   4,   5,   7,        5, 8},
      {-2, 2, 0, -3, -1, 1, 1, -2, 3, 0, -3, -1}, {-3, -0.9, 0.09999985, 1.1, 0.4, -2.2, 2, -1.5, 1.1, -0.4999999, -2.6, 0.9999999});
  agrees<1, 2, pixels::usual>({3, 1, 4, 1},
    {3, 1, 4.5, 5},
    {-3, -2, -1, 0, 0, 0, 0, 0, 0, 0, 0, 0},
    {-3, -2, -0.5, 0, -0.5, 0, 0, 0, 0, 0, 0, 0});
  agrees<4, 5, pixels::align_corners>(
      {3, 1, 4, 1, 4, 1, 5, 9, 5, 9, 3, 1, 4, 1, 4, 1, 5, 9, 5, 9, 2, 6, 5, 3, 5, 3, 5, 8, 5, 8, 2, 6, 5, 3, 5, 3, 5, 8, 5, 8},
      {3,        1,        3.5,      1,        4,   1,        4.5,      5,        5,   9,        2.666667, 2.666667, 3.5,      2.166667,
       4.333333, 1.666667, 4.666667, 5.166667, 5,   8.666667, 2.333333, 4.333333, 3.5, 3.333333, 4.666667, 2.333333, 4.833333, 5.333333,
       5,        8.333333, 2,        6,        3.5, 4.5,      5,        3,        5,   5.5,      5,        8},
      {-3, -1, -1, 3, 1, -2, 2, -3, 2, -1, -3, 1},
      {-2.166667, -1.5, 0.3333333, 0.8333334, -0.8333333, -1.333333, 1.166667, -0.5, 1.666667, -1.333333, -2.166667, 0.8333334});
  agrees<1, 2, pixels::align_corners>({3, 1, 5, 9},
    {3, 1, 5, 9},
    {-3, -2, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0},
    {-3, -2, 0, 0, -1, 0, 0, 0, 0, 0, 0, 0});
  agrees<4, 5, pixels::half_pixel_centers>(
      {3, 1, 3, 1, 4, 1, 5, 9, 5, 9, 3, 1, 3, 1, 4, 1, 5, 9, 5, 9, 2, 6, 2, 6, 5, 3, 5, 8, 5, 8, 2, 6, 2, 6, 5, 3, 5, 8, 5, 8},
      {3,    1,    3.4,  1,    4,    1,   4.6, 5.800001, 5, 9,    2.75, 2.25, 3.35, 1.95, 4.25, 1.5, 4.7, 5.850001, 5, 8.75,
       2.25, 4.75, 3.25, 3.85, 4.75, 2.5, 4.9, 5.950001, 5, 8.25, 2,    6,    3.2,  4.8,  5,    3,   5,   6.000001, 5, 8},
      {-2, 2, -2, 0, 1, -2, 1, -2, 3, -2, -3, 1},
      {-2.25, -0.8000001, -0.1500004, 0.6500004, -0.3499996, -1.35, 1.25, -0.8000001, 1.95, -1.45, -2.45, 0.7500002});
  agrees<1, 2, pixels::half_pixel_centers>({2, 6, 5, 8},
    {3, 3.125, 4.875, 6.875},
    {0, 0, 0, 0, 0, 0, -3, -2, 0, 0, -1, 0},
    {-1.125, -0.75, -0.5, -0.25, -0.375, 0, -1.125, -0.75, -0.5, -0.25, -0.375, 0});
}

TEST_CASE("gradients of both orders, of a named batch of float64") {
  const auto x = placeholder<"x", double, "batch", 3, 4, 2>();
  const auto y = resize_nearest_neighbor<5, 3>(x * x);
  const auto z = resize_bilinear<2, 7, pixels::half_pixel_centers>(x * x);
  static_assert(decltype(y)::type == dtype::float64 && decltype(z)::type == dtype::float32);
  const auto loss = reduce_sum(y * y) + cast<double>(reduce_sum(z * z));
  const auto [dx] = gradients(loss, x);
  const auto bend = reduce_sum(dx * dx);
  const auto [ddx] = gradients(bend, x);
  session s{loss, dx, bend, ddx};
  auto images = filled<double, 4>({2, 3, 4, 2}, 0.5, 1, 4);
  const auto [d, dd] = s.run(fetch(dx, ddx), x = images);
  for (const std::size_t i : {0u, 7u, 23u, 47u}) {
    const auto moved = [&](const auto& of, double step) {
      auto there = images;
      there.data()[i] += step;
      return std::get<0>(s.run(fetch(of), x = there));
    };
    CHECK(d.data()[i] == doctest::Approx((moved(loss, 1e-2) - moved(loss, -1e-2)) / 2e-2).epsilon(1e-2));
    CHECK(dd.data()[i] == doctest::Approx((moved(bend, 1e-2) - moved(bend, -1e-2)) / 2e-2).epsilon(1e-2));
  }
  const auto [none] = s.run(fetch(dx), x = xt::xtensor<double, 4>(std::array<std::size_t, 4>{0, 3, 4, 2}));
  CHECK(none.size() == 0);
}

TEST_CASE("what does not fit is refused in words") {
  const auto problem = [](std::initializer_list<std::int64_t> sizes, const std::vector<std::int64_t>& numbers,
                          dtype type = dtype::float32) {
    shape extent;
    for (const std::int64_t n : sizes) extent.push(n);
    const tensor_info one{type, extent};
    return resize_bilinear_op::infer({&one, 1, numbers.data(), static_cast<int>(numbers.size())}).problem;
  };
  CHECK(problem({2, 3, 3, 1}, {0, 0, 5, 5}).empty());
  CHECK(problem({3, 3, 1}, {0, 0, 5, 5}) == "takes rank 4: images [batch, height, width, channels]");
  CHECK(problem({2, 3, 3, 1}, {1, 1, 5, 5}) == "If half_pixel_centers is True, align_corners must be False");
  CHECK(problem({2, 0, 3, 1}, {0, 0, 5, 5}) == "input image must be of non-zero size");
  CHECK(problem({2, 3, 3, 1}, {0, 0, 0, 5}) == "output dimensions must be positive");
  CHECK(problem({2, 3, 3, 1}, {0, 0, std::int64_t{1} << 62, 5}) == "output dimensions must be positive");
  CHECK(problem({2, -5000, 3, 1}, {0, 0, 5, 5}) == "height, width and channels must be sizes that the compiler knows");
  CHECK(problem({2, 3, 3, 1}, {0, 0, 5, 5}, dtype::boolean) == "takes numbers, not bool");
}
