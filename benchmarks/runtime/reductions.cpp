// sum_last, sum_first, moments_last, moments_first: sums, or means and variances, along an axis of a matrix [4096,
// 1024].

#include "../rivals/reductions.hpp"

#include <leat/leat.hpp>

#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <int Axis, class Loop>
void compare_sum(suite& cases, const std::string& name) {
  using namespace leat;
  const matrix_data data;
  const auto xs = xt::adapt(data.x.data(), data.x.size(), xt::no_ownership(), data.shape);
  xt::xtensor<float, 1> sums = xt::zeros<float>({data.shape[1 - Axis]});

  auto x = placeholder<"x", float, reduction_rows, reduction_columns>();
  auto sum = reduce_sum<Axis>(x);
  session s{sum};
  auto step = s.prepare(fetch(into(sum, sums)), x = xs);
  const auto ours = contend(
      "leat", [] {}, [&] { step(); }, [&] { return joined(sums); });

  Loop loop(data);
  reduction_eigen<Axis, false> eigen(data);
  reduction_xtensor<Axis, false> xtensor(data);
  read_limit reading(data);
  cases.compare(
      name, 1e-4, ours,
      {rival("C++ loop", loop), rival("Eigen", eigen), rival("xtensor", xtensor), limit("reading", std::ref(reading))});
}

template <int Axis, class Loop>
void compare_moments(suite& cases, const std::string& name) {
  using namespace leat;
  const matrix_data data;
  const auto xs = xt::adapt(data.x.data(), data.x.size(), xt::no_ownership(), data.shape);
  xt::xtensor<float, 1> means = xt::zeros<float>({data.shape[1 - Axis]}), variances = means;

  auto x = placeholder<"x", float, reduction_rows, reduction_columns>();
  auto mean = reduce_mean<Axis>(x);
  auto variance = reduce_mean<Axis>(square(x - reduce_mean_keep<Axis>(x)));
  session s{mean, variance};
  auto step = s.prepare(fetch(into(mean, means), into(variance, variances)), x = xs);
  const auto ours = contend(
      "leat", [] {}, [&] { step(); }, [&] { return joined(means, variances); });

  Loop loop(data);
  reduction_eigen<Axis, true> eigen(data);
  reduction_xtensor<Axis, true> xtensor(data);
  read_limit reading(data);
  cases.compare(
      name, 1e-4, ours,
      {rival("C++ loop", loop), rival("Eigen", eigen), rival("xtensor", xtensor), limit("reading", std::ref(reading))});
}

}  // namespace

void reductions(suite& cases) {
  on_one_and_two_threads(cases, "sum_last",
                         [&](const std::string& name) { compare_sum<1, sum_last_loop>(cases, name); });
  on_one_and_two_threads(cases, "sum_first",
                         [&](const std::string& name) { compare_sum<0, sum_first_loop>(cases, name); });
  on_one_and_two_threads(cases, "moments_last",
                         [&](const std::string& name) { compare_moments<1, moments_last_loop>(cases, name); });
  on_one_and_two_threads(cases, "moments_first",
                         [&](const std::string& name) { compare_moments<0, moments_first_loop>(cases, name); });
}

}  // namespace bench
