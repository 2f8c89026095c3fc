// calculus_kalman: a Kalman filter of 4 states and 2 measurements. calculus_extended_kalman: the extended filter of a radar, whose
// measurement's derivatives are a Jacobian. calculus_extended_kalman_1000: a thousand of them in one step.

#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include <tuple>
#include <vector>

#include "../rivals/filters.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <bool Extended>
constexpr auto filtered = [](const auto& f, const auto& q, const auto& r, const auto& x, const auto& p, const auto& z, const auto&... h) {
  using namespace leat;
  const auto x_before = matmul(f, x);
  const auto p_before = matmul<false, true>(matmul(f, p), f) + q;
  const auto line = reshape<4>(x_before);
  const auto [seen, slope] = [&] {
    if constexpr (Extended) {
      const auto east = index<0>(line);
      const auto north = index<1>(line);
      const auto both = stack<0>(sqrt(square(east) + square(north)), atan2(north, east));
      return std::tuple(reshape<2, 1>(both), jacobian(both, line));
    } else {
      return std::tuple(matmul(h..., x_before), h...);
    }
  }();
  const auto hp = matmul(slope, p_before);
  const auto gain = cholesky_solve(cholesky(matmul<false, true>(hp, slope) + r), hp);  // transposed
  return std::tuple(x_before + matmul<true, false>(gain, z - seen), p_before - matmul<true, false>(gain, hp));
};

template <bool Extended>
void compare_filter(suite& cases, const std::string& name) {
  using namespace leat;
  const filter_data data;
  const auto z = placeholder<"z", double, 2, 1>();
  const auto f = constant(data.transition);
  const auto q = constant(data.noise);
  const auto r = constant(data.measurement_noise);
  const auto h = constant(data.measured);
  const auto x = variable<"x", double, 4, 1>(std::vector<double>(data.start.begin(), data.start.end()));
  const auto p = variable<"p">(data.uncertainty);
  const auto [x_after, p_after] = filtered<Extended>(f, q, r, x, p, z, h);
  const auto update = group(assign(x, x_after), assign(p, p_after));
  session s{update};
  s.initialize();
  const std::vector<double> measurement(data.measurement.begin(), data.measurement.end());
  auto step = s.prepare(fetch(update), z = measurement);
  const auto ours = contend("leat", [&] { s.initialize(); }, [&] { step(); },
                            [&] { return values_of(s, x, p); });
  filter_eigen<Extended> eigen(data);
  cases.compare(name, 1e-6, ours, {rival("Eigen", eigen)});
}

void compare_filters(suite& cases, const std::string& name) {
  using namespace leat;
  constexpr std::size_t tracks = 1000;
  const filter_data data;
  std::vector<double> start, uncertainty;
  for (const double v : data.start) start.insert(start.end(), tracks, v);
  for (const auto& row : data.uncertainty)
    for (const double v : row) uncertainty.insert(uncertainty.end(), tracks, v);
  const auto measurements = data.measurements(tracks);
  const auto z = placeholder<"z", double, 2, 1, tracks>();
  const auto f = constant(data.transition);
  const auto q = constant(data.noise);
  const auto r = constant(data.measurement_noise);
  const auto x = variable<"x", double, 4, 1, tracks>(start);
  const auto p = variable<"p", double, 4, 4, tracks>(uncertainty);
  const auto [x_after, p_after] =
      vmap<-1>([&](const auto& own_x, const auto& own_p, const auto& own_z) { return filtered<true>(f, q, r, own_x, own_p, own_z); })(x, p, z);
  const auto update = group(assign(x, x_after), assign(p, p_after));
  session s{update};
  s.initialize();
  auto step = s.prepare(fetch(update), z = measurements);
  const auto ours = contend("leat", [&] { s.initialize(); }, [&] { step(); },
                            [&] { return values_of(s, x, p); });
  extended_filters loop(data, tracks);
  cases.compare(name, 1e-6, ours, {rival("C++ loop over arrays", loop)});
}

}  // namespace

void filters(suite& cases) {
  on_one_thread(cases, "calculus_kalman", [&](const std::string& name) { compare_filter<false>(cases, name); });
  on_one_thread(cases, "calculus_extended_kalman", [&](const std::string& name) { compare_filter<true>(cases, name); });
  on_one_thread(cases, "calculus_extended_kalman_1000", [&](const std::string& name) { compare_filters(cases, name); });
}

}  // namespace bench
