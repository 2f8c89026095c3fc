// rosenbrock_10, rosenbrock_1000: Rosenbrock's function with its gradient, whose slices become paddings. Feed and fetches included.

#include <leat/leat.hpp>

#include "../rivals/rosenbrock.hpp"
#include "cases.hpp"
#include "suite.hpp"

#include <xtensor/xadapt.hpp>

namespace bench {
namespace {

template <int N>
void compare_rosenbrock(suite& cases, const std::string& name) {
  using namespace leat;
  using namespace leat::literals;
  const rosenbrock_data<N> data;
  const xt::xtensor<double, 1> xs = xt::adapt(data.x, {static_cast<std::size_t>(N)});
  xt::xtensor<double, 1> slope = xt::zeros<double>({static_cast<std::size_t>(N)});
  double value = 0;

  auto x = placeholder<"x", double, N>();
  auto before = slice<begins<0>, sizes<N - 1>>(x);
  auto after = slice<begins<1>, sizes<N - 1>>(x);
  auto f = reduce_sum(100_c * square(after - square(before)) + square(1_c - before));
  auto [gradient] = gradients(f, x);
  session s{f, gradient};
  auto step = s.prepare(fetch(f, into(gradient, slope)), x = xs);
  const auto ours = contend("leat", [] {}, [&] { value = std::get<0>(step()); }, [&] { return rosenbrock_result(value, slope); });

  rosenbrock_loop<N> loop(data);
  cases.compare(name, 1e-6, ours, {rival("C++ loop", loop)});
}

}  // namespace

void slices(suite& cases) {
  on_one_thread(cases, "rosenbrock_10", [&](const std::string& name) { compare_rosenbrock<10>(cases, name); });
  on_one_thread(cases, "rosenbrock_1000", [&](const std::string& name) { compare_rosenbrock<1000>(cases, name); });
}

}  // namespace bench
