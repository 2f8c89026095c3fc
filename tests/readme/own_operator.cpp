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

// [listing own_operator_results]
/// Radius and angle of points x, y.
struct polar_op {
  static constexpr std::string_view type = "Polar";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr int results = 2;
  static constexpr inference infer(const operand_list& x) { return rule::broadcast_pair(x, rule::takes::floating); }
  template <class G>
  static constexpr output expand(G& g) {
    const output x = g.input(0), y = g.input(1);
    return g.result_number() == 0 ? sqrt(x * x + y * y) : atan2(y, x);
  }
};
// [end]

// [listing own_operator_texts]
/// The sum or the product of tensors, times a factor.
struct merged_op {
  static constexpr std::string_view type = "Merged";
  static constexpr op_kind kind = op_kind::composite;
  static constexpr std::string_view ways[]{"sum", "product"};
  static constexpr field form[]{{field_kind::operands, "inputs"},
                                {field_kind::type_of, "T"},
                                {field_kind::word, "way", 0, ways},
                                {field_kind::integer, "factor", 1}};
  static constexpr inference infer(const operand_list& x) {
    for (int k = 1; k < x.count; ++k)
      if (!may_equal(x.extent(k), x.extent(0))) return inference::wrong("shapes differ");
    return {x.type(0), x.extent(0)};
  }
  template <class G>
  static constexpr output expand(G& g) {
    output all = g.input(0);
    for (int k = 1; k < g.input_count(); ++k) all = g.attribute(0) == 0 ? all + g.input(k) : all * g.input(k);
    return all * g.attribute(1);
  }
};
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

  // [listing own_operator_results_used]
  auto a = placeholder<"a", double>();
  auto b = placeholder<"b", double>();
  auto [radius, angle] = make_results<polar_op>(a, b);
  auto product = make<merged_op, attributes<1, 10>>(a, b, radius);
  auto [by_a] = gradients(angle, a);

  session polar{radius, angle, product, by_a};
  auto [r, phi, p, d] = polar.run(fetch(radius, angle, product, by_a), a = 3, b = 4);  // 5, 0.927, 600, -0.16
  // [end]

  const double at[]{-2, -0.5, 0, 0.25, 4};
  bool right = r == 5 && p == 600 && std::abs(phi - std::atan2(4, 3)) < 1e-12 && std::abs(d + 0.16) < 1e-12;
  for (std::size_t k = 0; k < 5; ++k) {
    const double root = 1 / std::sqrt(1 + 9 * at[k] * at[k]);
    right = right && std::abs(static_cast<double>(values(k)) - 3 * at[k] * root) < 1e-6;
    right = right && std::abs(static_cast<double>(slopes(k)) - 3 * root * root * root) < 1e-6;
    right = right && std::abs(static_cast<double>(same[k]) - 3 * root * root * root) < 1e-6;
    std::printf("root_sigmoid(3 * %5.2f) = %7.4f, slope %6.4f\n", at[k], static_cast<double>(values(k)),
                static_cast<double>(slopes(k)));
  }
  return right ? 0 : 1;
}
