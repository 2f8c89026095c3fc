// calculus_mixture: the likelihood of 10,000 points of 16 dimensions under a mixture of 25 normal distributions, and its gradient.

#include <leat/calculus.hpp>

#include <vector>

#include "../rivals/mixture.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <class A, class M, class Q, class X>
constexpr auto likelihood(const A& a, const M& means, const Q& raw, const X& x) {
  using namespace leat;
  using namespace leat::literals;
  constexpr auto n = static_cast<std::int64_t>(mixture_data::n), k = static_cast<std::int64_t>(mixture_data::k),
                 d = static_cast<std::int64_t>(mixture_data::d);
  const auto logs = matrix_diag_part(raw);
  const auto roots = matrix_set_diag(matrix_band_part<-1, 0>(raw), exp(logs));
  const auto shift = reshape<k * d>(reduce_sum<2>(roots * reshape<k, 1, d>(means)));
  const auto y = matmul<false, true>(x, reshape<k * d, d>(roots)) - shift;
  const auto inner = a + reduce_sum<1>(logs) - reduce_sum<2>(reshape<n, k, d>(square(y))) * 0.5_c;
  const auto largest = stop_gradient(reduce_max_keep<1>(inner));
  const auto terms = log(reduce_sum<1>(exp(inner - largest))) + squeeze<1>(largest);
  return reduce_sum(terms) - log(reduce_sum(exp(a))) * constant<static_cast<double>(n)>();
}

void compare_mixture(suite& cases, const std::string& name) {
  using namespace leat;
  constexpr std::size_t n = mixture_data::n, k = mixture_data::k, d = mixture_data::d;
  const mixture_data data;
  const auto a = variable<"a", double, k>(data.weights);
  const auto means = variable<"means", double, k, d>(data.means);
  const auto raw = variable<"roots", double, k, d, d>(data.roots);
  const auto x = placeholder<"x", double, n, d>();
  const auto [value, da, dm, dq] = value_and_gradient(likelihood(a, means, raw, x), a, means, raw);
  session s{value, da, dm, dq};
  s.initialize();
  double found = 0;
  std::vector<double> by_a(k), by_means(k * d), by_roots(k * d * d);
  auto step = s.prepare(fetch(value, into(da, by_a), into(dm, by_means), into(dq, by_roots)), x = data.points);
  const auto ours = contend("leat", [] {}, [&] { found = std::get<0>(step()); },
                            [&] {
                              std::vector<float> all{static_cast<float>(found)};
                              for (const auto* part : {&by_a, &by_means, &by_roots}) all.insert(all.end(), part->begin(), part->end());
                              return all;
                            });
  mixture_by_tape tape(data);
  mixture_by_hand hand(data);
  cases.compare(name, 1e-5, ours, {rival("ADOL-C", tape), rival("C++ loop", hand)});
}

}  // namespace

void mixture(suite& cases) {
  on_one_thread(cases, "calculus_mixture", [&](const std::string& name) { compare_mixture(cases, name); });
}

}  // namespace bench
