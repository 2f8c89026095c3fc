// A thousand models of one structure as one step: what docs/vmap.md shows.

// [listing vmap_includes]
#include <leat/vmap.hpp>

#include <array>
#include <cmath>
#include <cstdio>
#include <tuple>
#include <vector>
// [end]

using namespace leat;
using namespace leat::literals;

namespace {

// A Kalman filter for each of a thousand tracks.
bool filters() {
  // [listing vmap_kalman]
  constexpr int tracks = 1000;
  auto f = constant(std::array<std::array<double, 2>, 2>{{{1, 0.1}, {0, 1}}});  // of all tracks
  auto h = constant(std::array<std::array<double, 2>, 1>{{{1, 0}}});

  // One track: position and speed x [2, 1], their uncertainty p [2, 2], a measured position z [].
  auto filter = [&](auto x, auto p, auto z) {
    auto x_before = matmul(f, x);
    auto p_before = matmul<false, true>(matmul(f, p), f) + 0.01_c;
    auto ph = matmul<false, true>(p_before, h);
    auto gain = ph / (matmul(h, ph) + 0.25_c);
    auto x_after = x_before + matmul(gain, z - matmul(h, x_before));
    auto p_after = p_before - matmul(gain, matmul(h, p_before));
    return std::tuple(x_after, p_after);
  };

  // All tracks: along the last axis.
  auto x = variable<"x", double, 2, 1, tracks>(zeros);
  auto p = variable<"p", double, 2, 2, tracks>(ones);
  auto z = placeholder<"z", double, tracks>();
  auto [x_after, p_after] = vmap<-1>(filter)(x, p, z);
  auto step = group(assign(x, x_after), assign(p, p_after));

  session s{step};
  s.initialize();
  std::vector<double> measured(tracks, 1.5);
  auto filter_all = s.prepare(fetch(step), z = measured);
  for (int i = 0; i < 50; ++i) filter_all();
  // [end]
  const auto xs = s.value(x);
  std::printf("track 999 is at %.3f\n", xs(0, 0, 999));
  bool right = true;
  for (std::size_t t = 0; t < tracks; ++t) right = right && std::abs(xs(0, 0, t) - 1.5) < 0.05;
  return right;
}

// A regression for each of a thousand customers, trained by one optimizer.
bool regressions() {
  // [listing vmap_training]
  constexpr int customers = 1000;
  auto w = variable<"w", float, customers, 3>(zeros);  // each has its own,
  auto slope = variable<"slope", float>(1.0f);         // and all have one in common
  auto features = placeholder<"features", float, customers, 8, 3>();
  auto spent = placeholder<"spent", float, customers, 8>();

  auto losses = vmap([&](auto weights, auto xs, auto ys) {
    auto predicted = squeeze<1>(matmul(xs, expand_dims<1>(weights))) * slope;
    return reduce_mean(square(predicted - ys));
  })(w, features, spent);
  auto loss = reduce_mean(losses);
  auto train = adam(0.05f).minimize(loss);
  // [end]

  session s{losses, train};
  s.initialize();
  xt::xtensor<float, 3> xs(std::array<std::size_t, 3>{customers, 8, 3});
  xt::xtensor<float, 2> ys(std::array<std::size_t, 2>{customers, 8});
  for (std::size_t c = 0; c < customers; ++c)
    for (std::size_t r = 0; r < 8; ++r) {
      float sum = 0;
      for (std::size_t k = 0; k < 3; ++k) {
        xs(c, r, k) = std::sin(static_cast<float>(c + 3 * r + 5 * k * r));
        sum += xs(c, r, k) * 0.2f * static_cast<float>(c % 5 + k);
      }
      ys(c, r) = sum;
    }
  for (int i = 0; i < 600; ++i) s.run(fetch(train), features = xs, spent = ys);
  const auto [left] = s.run(fetch(losses), features = xs, spent = ys);
  float most = 0;
  for (const float l : left) most = std::max(most, l);
  std::printf("largest loss %.6f\n", static_cast<double>(most));
  return most < 1e-2f;
}

// A gradient for each example of a batch, and distances of all pairs.
bool others() {
  // [listing vmap_per_example]
  auto x = placeholder<"x", float, "batch", 4>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 4>(0.5f);
  auto [loss_of_each, gradient_of_each] = vmap([&](auto example, auto target) {
    auto loss = square(reduce_sum(example * w) - target);
    auto [dw] = gradients(loss, w);
    return std::tuple(loss, dw);
  })(x, y);

  auto distances = vmap([&](auto a) {  // [batch, batch]
    return vmap([&](auto b) { return reduce_sum(square(a - b)); })(x);
  })(x);
  // [end]
  session s{loss_of_each, gradient_of_each, distances};
  s.initialize();
  const xt::xtensor<float, 2> xs{{1, 2, 3, 4}, {0, 1, 0, 1}, {2, 2, 2, 2}};
  const std::vector<float> ys{1, 2, 3};
  const auto [losses, slopes, apart] = s.run(fetch(loss_of_each, gradient_of_each, distances), x = xs, y = ys);
  std::printf("losses %g %g %g, distance of the first two %g\n", static_cast<double>(losses(0)), static_cast<double>(losses(1)),
              static_cast<double>(losses(2)), static_cast<double>(apart(0, 1)));
  bool right = apart(0, 1) == 1 + 1 + 9 + 9 && apart(1, 1) == 0;
  for (std::size_t k = 0; k < 3; ++k) {
    float sum = 0;
    for (std::size_t i = 0; i < 4; ++i) sum += xs(k, i) * 0.5f;
    for (std::size_t i = 0; i < 4; ++i) right = right && std::abs(slopes(k, i) - 2 * (sum - ys[k]) * xs(k, i)) < 1e-5f;
  }
  return right;
}

}  // namespace

int main() { return filters() && regressions() && others() ? 0 : 1; }
