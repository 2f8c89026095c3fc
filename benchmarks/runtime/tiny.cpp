// kalman_2x2, kalman_4x4: a step of a Kalman filter of 2 and of 4 states, feed included.

#include <leat/leat.hpp>

#include "../rivals/kalman.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

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

  auto x_before = matmul(f, x);
  auto p_before = matmul<false, true>(matmul(f, p), f) + q;
  auto ph = matmul<false, true>(p_before, h);
  auto gain = ph / (matmul(h, ph) + data.measurement_noise);
  auto x_after = x_before + matmul(gain, z - matmul(h, x_before));
  auto p_after = matmul(identity_matrix - matmul(gain, h), p_before);
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

}  // namespace

void tiny(suite& cases) {
  on_one_thread(cases, "kalman_2x2", [&](const std::string& name) { compare_kalman<2>(cases, name); });
  on_one_thread(cases, "kalman_4x4", [&](const std::string& name) { compare_kalman<4>(cases, name); });
}

}  // namespace bench
