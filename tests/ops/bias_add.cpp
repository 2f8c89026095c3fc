// bias_add: a sum along the last axis.

#include <leat/ops/bias_add.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>

using namespace leat;
using namespace leat_test;

TEST_CASE_TEMPLATE("bias_add", T, float, double, std::int32_t, std::uint8_t) {
  const auto x = placeholder<"x", T, "batch", 2, 3>();
  const auto bias = placeholder<"bias", T, 3>();
  const auto y = bias_add(x, bias);
  const auto named = bias_add(x, placeholder<"same", T, 3>());
  static_assert(std::is_same_v<typename decltype(y)::extents, typename decltype(x)::extents>);
  session s{y, named};
  for (const std::size_t n : {0u, 1u, 4u}) {
    const auto xs = filled<T, 3>({n, 2, 3}, 0, 50);
    const auto bs = filled<T, 1>({3}, 0, 50, 2);
    const auto [got] = s.run(fetch(y), x = xs, bias = bs);
    check_each("bias", got, 1e-6, [&](std::size_t i) { return xs.data()[i] + bs(i % 3); });
  }
}

TEST_CASE("the gradient by the bias sums over the other axes") {
  const auto x = placeholder<"x", float, "batch", "n">();
  const auto bias = placeholder<"bias", float, "n">();
  const auto [dx, db] = gradients(reduce_sum(square(bias_add(x, bias))), x, bias);
  session s{dx, db};
  const auto [a, b] = s.run(fetch(dx, db), x = xt::xtensor<float, 2>{{1, 2}, {3, 4}}, bias = xt::xtensor<float, 1>{1, -1});
  CHECK(a == xt::xtensor<float, 2>{{4, 2}, {8, 6}});
  CHECK(b == xt::xtensor<float, 1>{12, 8});
}
