// An operator defined outside the library, in the one place that README.md and docs/architecture.md speak of.

// [listing own_operator_includes]
#include <leat/leat.hpp>

#include <cmath>
#include <cstdio>
#include <vector>
// [end]

// [listing own_operator]
using namespace leat;

/// x / (1 + |x|): a sigmoid without an exponential.
struct softsign_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "Softsign";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::divide(x, M::add(V(1), M::abs(x)));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, g.dy() / square(1 + abs(g.input(0))));
  }
};
template <class X>
  requires accepted<softsign_op, X>
constexpr made<softsign_op, X> softsign(const X& x) {
  return make<softsign_op>(x);
}
template <class X>
  requires refused<softsign_op, X>
why<softsign_op, X> softsign(const X&) = delete;
// [end]

int main() {
  // [listing own_operator_used]
  auto x = placeholder<"x", float, "n">();
  auto y = softsign(3.0f * x);
  auto [slope] = gradients(reduce_sum(y), x);

  session s{y, slope};
  auto [values, slopes] = s.run(fetch(y, slope), x = std::vector<float>{-2, -0.5f, 0, 0.25f, 4});
  // [end]

  const double at[]{-2, -0.5, 0, 0.25, 4};
  bool right = true;
  for (std::size_t k = 0; k < 5; ++k) {
    const double d = 1 + std::abs(3 * at[k]);
    right = right && std::abs(static_cast<double>(values(k)) - 3 * at[k] / d) < 1e-6;
    right = right && std::abs(static_cast<double>(slopes(k)) - 3 / (d * d)) < 1e-6;
    std::printf("softsign(3 * %5.2f) = %7.4f, slope %6.4f\n", at[k], static_cast<double>(values(k)),
                static_cast<double>(slopes(k)));
  }
  return right ? 0 : 1;
}
