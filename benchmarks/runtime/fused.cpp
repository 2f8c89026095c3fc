// fused_1e3, fused_1e5, fused_1e7: tanh(a b + c) sigmoid(d) - a / 2, from four arrays into one that is there already.

#include "../rivals/fused.hpp"

#include <leat/leat.hpp>

#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

template <int N>
void compare_fused(suite& cases, const std::string& name) {
  using namespace leat;
  const fused_data data(N);
  const auto array = [](const buffer& values) {
    return xt::adapt(values.data(), values.size(), xt::no_ownership(), std::array{values.size()});
  };
  const auto as = array(data.a), bs = array(data.b), cs = array(data.c), ds = array(data.d);
  buffer results(N);
  auto out = xt::adapt(results.data(), results.size(), xt::no_ownership(), std::array{results.size()});

  auto a = placeholder<"a", float, N>();
  auto b = placeholder<"b", float, N>();
  auto c = placeholder<"c", float, N>();
  auto d = placeholder<"d", float, N>();
  auto result = tanh(a * b + c) * sigmoid(d) - 0.5f * a;
  session s{result};
  auto step = s.prepare(fetch(into(result, out)), a = as, b = bs, c = cs, d = ds);
  const auto ours = contend(
      "leat", [] {}, [&] { step(); }, [&] { return joined(results); });

  fused_loop loop(data);
  fused_eigen eigen(data);
  fused_xtensor xtensor(data);
  fused_limit memory(data);
  cases.compare(
      name, 2e-6, ours,
      {rival("C++ loop", loop), rival("Eigen", eigen), rival("xtensor", xtensor), limit("memory", std::ref(memory))});
}

}  // namespace

void fused(suite& cases) {
  on_one_thread(cases, "fused_1e3", [&](const std::string& name) { compare_fused<1'000>(cases, name); });
  on_one_thread(cases, "fused_1e5", [&](const std::string& name) { compare_fused<100'000>(cases, name); });
  on_one_and_two_threads(cases, "fused_1e7", [&](const std::string& name) { compare_fused<10'000'000>(cases, name); });
}

}  // namespace bench
