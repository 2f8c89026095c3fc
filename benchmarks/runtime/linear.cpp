// linear_1, linear_100: one step of linear regression on one feature, feeds and fetch included.

#include "../rivals/linear.hpp"

#include <leat/leat.hpp>
#include <xtensor/xadapt.hpp>

#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <int N>
void compare_linear(suite& cases, const std::string& name) {
  using namespace leat;
  const linear_data data(N);
  xt::xtensor<float, 1> xs = xt::adapt(data.x.data(), {N}), ys = xt::adapt(data.y.data(), {N});
  float last_loss = 0;

  auto x = placeholder<"x", float, N>();
  auto y = placeholder<"y", float, N>();
  auto w = variable<"w", float>(linear_start_w);
  auto b = variable<"b", float>(linear_start_b);
  auto loss = reduce_mean(square(w * x + b - y));
  auto train = gradient_descent(linear_rate).minimize(loss);
  session s{loss, train};
  s.initialize();
  auto step = s.prepare(fetch(loss, train), x = xs, y = ys);
  const auto ours = contend(
      "leat", [&] { s.initialize(); }, [&] { last_loss = std::get<0>(step()); },
      [&] {
        return std::vector<float>{s.value(w), s.value(b), last_loss};
      });

  linear_loop<N> loop(data);
  linear_eigen<N> eigen(data);
  linear_xtensor_fixed<N> fixed(data);
  linear_xtensor_dynamic dynamic(data);
  cases.compare(
      name, 1e-5, ours,
      {rival("C++ loop", loop), rival("Eigen", eigen), rival("xtensor_fixed", fixed), rival("xtensor", dynamic)});
}

}  // namespace

void linear(suite& cases) {
  on_one_thread(cases, "linear_1", [&](const std::string& name) { compare_linear<1>(cases, name); });
  on_one_thread(cases, "linear_100", [&](const std::string& name) { compare_linear<100>(cases, name); });
}

}  // namespace bench
