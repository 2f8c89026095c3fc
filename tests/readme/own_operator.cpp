// An operator defined outside the library, in the one place that README.md and docs/architecture.md speak of.

// [listing own_operator_includes]
#include <leat/cpu/use_operator.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include <cmath>
#include <cstdio>
#include <vector>
// [end]

// [listing own_operator]
using namespace leat;

/// x / √(1 + x²): a sigmoid without an exponential.
struct root_sigmoid_op : rule::unary<rule::takes::floating> {
  static constexpr std::string_view type = "RootSigmoid";
  template <class M, class V>
  static constexpr auto apply(V x) {
    return M::multiply(x, M::rsqrt(M::add(V(1), M::square(x))));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    const auto r = rsqrt(1 + square(g.input(0)));
    if (g.wants(0)) give(g, 0, g.dy() * r * r * r);
  }
};
LEAT_FUNCTION_OF_ONE(root_sigmoid, root_sigmoid_op);
// [end]

int main() {
  // [listing own_operator_used]
  auto x = placeholder<"x", float, "n">();
  auto y = root_sigmoid(3.0f * x);
  auto [slope] = gradients(reduce_sum(y), x);

  session s{y, slope};
  auto [values, slopes] = s.run(fetch(y, slope), x = std::vector<float>{-2, -0.5f, 0, 0.25f, 4});
  // [end]

  // [listing own_operator_in_graphs]
  use_operator<root_sigmoid_op>();

  graph g;
  auto scope = g.as_default();
  auto z = placeholder(dtype::float32, {-1}, "z");
  auto w = root_sigmoid(3.0f * z);
  auto dw = gradients({w}, {z})[0];

  graph_session dynamic(g);
  auto same = dynamic.run<std::vector<float>>(dw, {{z, std::vector<float>{-2, -0.5f, 0, 0.25f, 4}}});
  // [end]

  const double at[]{-2, -0.5, 0, 0.25, 4};
  bool right = true;
  for (std::size_t k = 0; k < 5; ++k) {
    const double r = 1 / std::sqrt(1 + 9 * at[k] * at[k]);
    right = right && std::abs(static_cast<double>(values(k)) - 3 * at[k] * r) < 1e-6;
    right = right && std::abs(static_cast<double>(slopes(k)) - 3 * r * r * r) < 1e-6;
    right = right && std::abs(static_cast<double>(same[k]) - 3 * r * r * r) < 1e-6;
    std::printf("root_sigmoid(3 * %5.2f) = %7.4f, slope %6.4f\n", at[k], static_cast<double>(values(k)),
                static_cast<double>(slopes(k)));
  }
  return right ? 0 : 1;
}
