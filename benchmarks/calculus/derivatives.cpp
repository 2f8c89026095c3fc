// calculus_hvp: the product of the Hessian of a 784-64-10 network's loss on 64 images with a direction, against the gradient of the product
// of the gradient and the direction. calculus_hessian_10: the Hessian of Rosenbrock's function of 10 variables. calculus_radar,
// calculus_radar_1000: the measurement of a position by a radar with its Jacobian, of one and of a thousand positions.

#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include <array>
#include <tuple>
#include <vector>

#include "../rivals/derivatives.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <std::size_t N>
std::vector<float> values(float scale) {
  std::vector<float> all(N);
  for (std::size_t i = 0; i < N; ++i) all[i] = scale * static_cast<float>(static_cast<int>(i * 37 % 101) - 50);
  return all;
}

void compare_hvp(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  auto x = placeholder<"x", float, 64, 784>();
  auto labels = placeholder<"labels", std::int32_t, 64>();
  auto w1 = variable<"w1", float, 784, 64>(values<784 * 64>(0.001f));
  auto b1 = variable<"b1", float, 64>(0.01f);
  auto w2 = variable<"w2", float, 64, 10>(values<64 * 10>(0.002f));
  auto b2 = variable<"b2", float, 10>(0.0f);
  auto v1 = variable<"v1", float, 784, 64>(values<784 * 64>(0.0005f));
  auto v2 = variable<"v2", float, 64, 10>(values<64 * 10>(0.001f));
  auto logits = matmul(tanh(matmul(x, w1) + b1), w2) + b2;
  auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, logits));

  auto [h1, h2] = hvp(loss, std::tuple(w1, w2), std::tuple(v1, v2));
  auto [g1, g2] = gradients(loss, w1, w2);
  auto [t1, t2] = gradients(reduce_sum(g1 * v1) + reduce_sum(g2 * v2), w1, w2);

  const auto images = values<64 * 784>(0.01f);
  std::vector<std::int32_t> digits;
  for (int i = 0; i < 64; ++i) digits.push_back(i % 10);
  const auto with = [&](const char* who, const auto& first, const auto& second, auto use) {
    auto r1 = untrainable_variable<"r1", float, 784, 64>(zeros);
    auto r2 = untrainable_variable<"r2", float, 64, 10>(zeros);
    auto update = group(assign(r1, first), assign(r2, second));
    session s{update};
    s.initialize();
    auto step = s.prepare(fetch(update), x = images, labels = digits);
    use(contend(who, [] {}, [&] { step(); },
                [&] {
                  const auto a = s.value(r1);
                  const auto b = s.value(r2);
                  std::vector<float> all(a.begin(), a.end());
                  all.insert(all.end(), b.begin(), b.end());
                  return all;
                }));
  };
  with("leat", h1, h2, [&](const contender& ours) {
    with("leat, two gradients", t1, t2, [&](const contender& twice) { cases.compare(name, 1e-4, ours, {twice}); });
  });
}

void compare_hessian(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  constexpr int n = 10;
  const rosenbrock_data<n> data;
  auto x = placeholder<"x", double, n>();
  auto head = slice<begins<0>, sizes<n - 1>>(x);
  auto tail = slice<begins<1>, sizes<n - 1>>(x);
  auto loss = reduce_sum(100_c * square(tail - square(head)) + square(1_c - head));
  auto h = hessian(loss, x);
  session s{h};
  std::vector<double> found(n * n);
  auto step = s.prepare(fetch(into(h, found)), x = data.x);
  const auto ours = contend("leat", [] {}, [&] { step(); }, [&] { return std::vector<float>(found.begin(), found.end()); });
  rosenbrock_hessian<n> loop(data);
  cases.compare(name, 1e-6, ours, {rival("C++ loop", loop)});
}

constexpr auto radar = [](const auto& position) {
  using namespace leat;
  const auto east = index<0>(position);
  const auto north = index<1>(position);
  return stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
};

template <int Count>
void compare_radar(suite& cases, const std::string& name) {
  using namespace leat;
  std::vector<double> positions;
  for (int i = 0; i < 2 * Count; ++i) positions.push_back(1 + 0.01 * (i * 7 % 97));
  auto at = variable<"at", double, 2, Count>(positions);
  auto seen = untrainable_variable<"seen", double, 2, Count>(zeros);
  auto slopes = untrainable_variable<"slopes", double, 2, 2, Count>(zeros);
  auto [z, dz] = vmap<-1>([](const auto& p) {
    const auto measured = radar(p);
    return std::tuple(measured, jacobian(measured, p));
  })(at);
  auto update = group(assign(seen, z), assign(slopes, dz));
  session s{update};
  s.initialize();
  auto step = s.prepare(fetch(update));
  const auto ours = contend("leat", [] {}, [&] { step(); },
                            [&] {
                              const auto a = s.value(seen);
                              const auto b = s.value(slopes);
                              std::vector<float> all(a.begin(), a.end());
                              all.insert(all.end(), b.begin(), b.end());
                              return all;
                            });
  radar_loop loop(positions);
  cases.compare(name, 1e-6, ours, {rival("C++ loop", loop)});
}

}  // namespace

void derivatives(suite& cases) {
  on_one_thread(cases, "calculus_hvp", [&](const std::string& name) { compare_hvp(cases, name); });
  on_one_thread(cases, "calculus_hessian_10", [&](const std::string& name) { compare_hessian(cases, name); });
  on_one_thread(cases, "calculus_radar", [&](const std::string& name) { compare_radar<1>(cases, name); });
  on_one_thread(cases, "calculus_radar_1000", [&](const std::string& name) { compare_radar<1000>(cases, name); });
}

}  // namespace bench
