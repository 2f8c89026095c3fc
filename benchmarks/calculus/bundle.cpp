// calculus_bundle: the errors of 100,000 observed points in pictures, and their derivatives by camera and point.

#include <leat/calculus.hpp>
#include <leat/vmap.hpp>

#include <tuple>
#include <vector>

#include "../rivals/bundle.hpp"
#include "cases.hpp"
#include "suite.hpp"

namespace bench {
namespace {

constexpr auto error_of = [](const auto& p, const auto& seen) {
  using namespace leat;
  using namespace leat::literals;
  const auto at = [&]<int I>(std::integral_constant<int, I>) { return index<I>(p); };
#define AT(i) at(std::integral_constant<int, i>{})
  const auto d0 = AT(11) - AT(3), d1 = AT(12) - AT(4), d2 = AT(13) - AT(5);
  const auto angle = sqrt(square(AT(0)) + square(AT(1)) + square(AT(2)));
  const auto w0 = AT(0) / angle, w1 = AT(1) / angle, w2 = AT(2) / angle;
  const auto c = cos(angle);
  const auto s = sin(angle);
  const auto along = (w0 * d0 + w1 * d1 + w2 * d2) * (1_c - c);
  const auto y0 = d0 * c + (w1 * d2 - w2 * d1) * s + w0 * along;
  const auto y1 = d1 * c + (w2 * d0 - w0 * d2) * s + w1 * along;
  const auto y2 = d2 * c + (w0 * d1 - w1 * d0) * s + w2 * along;
  const auto u = y0 / y2;
  const auto v = y1 / y2;
  const auto rr = square(u) + square(v);
  const auto l = 1_c + rr * (AT(9) + AT(10) * rr);
  return stack<0>(AT(7) + AT(6) * l * u - index<0>(seen), AT(8) + AT(6) * l * v - index<1>(seen));
#undef AT
};

void compare_bundle(suite& cases, const std::string& name) {
  using namespace leat;
  constexpr std::size_t count = 100000;
  const bundle_data data(count);
  const auto all = variable<"all", double, 14, count>(data.all);
  const auto seen = variable<"seen", double, 2, count>(data.seen);
  const auto errors = untrainable_variable<"errors", double, 2, count>(zeros);
  const auto slopes = untrainable_variable<"slopes", double, 2, 14, count>(zeros);
  const auto [e, de] = vmap<-1>([](const auto& own, const auto& own_seen) {
    const auto error = error_of(own, own_seen);
    return std::tuple(error, [&]<int... I>(std::integer_sequence<int, I...>) {
      return stack<1>(jacobian<jacobian_mode::reverse>(error, index<I>(own))...);
    }(std::make_integer_sequence<int, 14>{}));
  })(all, seen);
  const auto update = group(assign(errors, e), assign(slopes, de));
  session s{update};
  s.initialize();
  auto step = s.prepare(fetch(update));
  const auto ours = contend("leat", [] {}, [&] { step(); },
                            [&] {
                              const auto a = s.value(errors);
                              const auto b = s.value(slopes);
                              std::vector<float> found(a.begin(), a.end());
                              found.insert(found.end(), b.begin(), b.end());
                              return found;
                            });
  bundle_jets jets(data);
  bundle_by_hand hand(data);
  cases.compare(name, 1e-6, ours, {rival("Ceres", jets), rival("C++ loop over arrays", hand)});
}

}  // namespace

void bundle(suite& cases) {
  on_one_thread(cases, "calculus_bundle", [&](const std::string& name) { compare_bundle(cases, name); });
}

}  // namespace bench
