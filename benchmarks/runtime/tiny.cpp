// kalman_2x2, kalman_4x4: a step of a Kalman filter of 2 and of 4 states, feed included. kalman_1000, kalman_1000_2x2: of a thousand such
// filters of 4 and of 2 states in one step, each with its measurement.

#include <leat/vmap.hpp>

#include <tuple>
#include <vector>

#include "../rivals/kalman.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

// Prediction and update as expressions: x and P after a measurement z.
constexpr auto kalman_step = [](const auto& f, const auto& q, const auto& identity_matrix, const auto& h, double noise, const auto& x,
                                const auto& p, const auto& z) {
  using leat::matmul;
  const auto x_before = matmul(f, x);
  const auto p_before = matmul<false, true>(matmul(f, p), f) + q;
  const auto ph = matmul<false, true>(p_before, h);
  const auto gain = ph / (matmul(h, ph) + noise);
  const auto x_after = x_before + matmul(gain, z - matmul(h, x_before));
  const auto p_after = matmul(identity_matrix - matmul(gain, h), p_before);
  return std::tuple(x_after, p_after);
};

template <int N>
void compare_kalman(suite& cases, const std::string& name) {
  using namespace leat;
  const kalman_data<N> data;
  const double measurement = data.measurement;

  auto z = placeholder<"z", double>();
  auto f = constant(data.transition);
  auto q = constant(data.noise);
  auto identity_matrix = constant(data.identity);
  auto h = constant(data.measured);
  auto x = variable<"x", double, N, 1>(zeros);
  auto p = variable<"p">(data.uncertainty);

  auto [x_after, p_after] = kalman_step(f, q, identity_matrix, h, data.measurement_noise, x, p, z);
  auto update = group(assign(x, x_after), assign(p, p_after));

  session s{update};
  s.initialize();
  auto step = s.prepare(fetch(update), z = measurement);
  const auto ours =
      contend("leat", [&] { s.initialize(); }, [&] { step(); }, [&] { return kalman_result<N>(s.value(x).data(), s.value(p).data()); });

  kalman_loops<N> loops(data);
  kalman_eigen<N> eigen(data);
  cases.compare(name, 1e-6, ours, {rival("C++ loop", loops), rival("Eigen", eigen)});
}

template <int N>
void compare_tracks(suite& cases, const std::string& name) {
  using namespace leat;
  constexpr int tracks = 1000;
  const kalman_data<N> data;
  const std::vector<double> measurements = kalman_measurements(data, tracks);
  std::vector<double> start;
  for (const auto& row : data.uncertainty)
    for (const double v : row) start.insert(start.end(), tracks, v);

  auto z = placeholder<"z", double, tracks>();
  auto f = constant(data.transition);
  auto q = constant(data.noise);
  auto identity_matrix = constant(data.identity);
  auto h = constant(data.measured);
  auto x = variable<"x", double, N, 1, tracks>(zeros);
  auto p = variable<"p", double, N, N, tracks>(start);

  auto [x_after, p_after] = vmap<-1>([&](auto x_of_track, auto p_of_track, auto z_of_track) {
    return kalman_step(f, q, identity_matrix, h, data.measurement_noise, x_of_track, p_of_track, z_of_track);
  })(x, p, z);
  auto update = group(assign(x, x_after), assign(p, p_after));

  session s{update};
  s.initialize();
  auto step = s.prepare(fetch(update), z = measurements);
  const auto ours = contend("leat", [&] { s.initialize(); }, [&] { step(); },
                            [&] { return values_of(s, x, p); });
  kalman_tracks<N, tracks> loop(data);
  cases.compare(name, 1e-6, ours, {rival("C++ loop over arrays", loop)});
}

}  // namespace

void tiny(suite& cases) {
  on_one_thread(cases, "kalman_2x2", [&](const std::string& name) { compare_kalman<2>(cases, name); });
  on_one_thread(cases, "kalman_4x4", [&](const std::string& name) { compare_kalman<4>(cases, name); });
  on_one_thread(cases, "kalman_1000", [&](const std::string& name) { compare_tracks<4>(cases, name); });
  on_one_thread(cases, "kalman_1000_2x2", [&](const std::string& name) { compare_tracks<2>(cases, name); });
}

}  // namespace bench
