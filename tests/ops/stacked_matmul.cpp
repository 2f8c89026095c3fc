// Products of stacks of matrices: broadcast, transposed, of sizes that become code, and of sizes that become a kernel.

#include <leat/ops/stacked_matmul.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <leat/cpu/stacked_matmul.hpp>

#include <cstdint>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

// Stacks a [n, h, m, k] and b [h, k, c], whichever is transposed.
template <class T, std::int64_t H, std::int64_t M, std::int64_t K, std::int64_t C, bool Ta, bool Tb>
void check_stacks() {
  const auto a = placeholder<"a", T, "n", H, Ta ? K : M, Ta ? M : K>();
  const auto b = placeholder<"b", T, H, Tb ? C : K, Tb ? K : C>();
  const auto product = matmul<Ta, Tb>(a, b);
  static_assert(decltype(product)::rank == 4 && decltype(product)::extent[1] == H && decltype(product)::extent[3] == C);
  session s{product};
  constexpr auto h = static_cast<std::size_t>(H), m = static_cast<std::size_t>(M), k = static_cast<std::size_t>(K), c = static_cast<std::size_t>(C);
  for (const std::size_t n : {0u, 1u, 3u}) {
    CAPTURE(n);
    const auto as = filled<T, 4>({n, h, Ta ? k : m, Ta ? m : k}, -4, 4);
    const auto bs = filled<T, 3>({h, Tb ? c : k, Tb ? k : c}, -4, 4, 5);
    const auto [got] = s.run(fetch(product), a = as, b = bs);
    REQUIRE(got.size() == n * h * m * c);
    check_each("product", got, std::is_same_v<T, float> ? 1e-4 : 1e-12, [&](std::size_t at) {
      const std::size_t j = at % c, i = at / c % m, head = at / c / m % h, row = at / c / m / h;
      double sum = 0;
      for (std::size_t l = 0; l < k; ++l)
        sum += static_cast<double>(Ta ? as(row, head, l, i) : as(row, head, i, l)) * static_cast<double>(Tb ? bs(head, j, l) : bs(head, l, j));
      return sum;
    });
  }
}
template <class T, std::int64_t H, std::int64_t M, std::int64_t K, std::int64_t C>
void check_layouts() {
  check_stacks<T, H, M, K, C, false, false>();
  check_stacks<T, H, M, K, C, true, false>();
  check_stacks<T, H, M, K, C, false, true>();
  check_stacks<T, H, M, K, C, true, true>();
}

}  // namespace

TEST_CASE("products of stacks, small and large, of each dtype") {
  check_layouts<float, 2, 3, 4, 2>();
  check_layouts<float, 3, 20, 33, 17>();
  check_layouts<double, 2, 40, 5, 1>();
  check_stacks<std::int32_t, 2, 3, 40, 5, false, true>();
  check_stacks<std::int64_t, 1, 17, 3, 18, true, false>();
  check_stacks<float, 2, 20, 0, 3, false, false>();
  check_stacks<float, 0, 20, 7, 3, false, false>();
}

TEST_CASE("gradients of products of stacks sum over the axes that broadcast") {
  const auto a = placeholder<"a", double, "n", 1, 6, 20>();
  const auto b = variable<"b", double, 3, 20, 5>(random_uniform(-1, 1, 1));
  const auto y = matmul(a, b);
  const auto loss = reduce_sum(y * y * y);
  const auto [da, db] = gradients(loss, a, b);
  static_assert(decltype(da)::rank == 4 && decltype(da)::extent[1] == 1);
  session s{loss, da, db};
  s.initialize();
  auto as = filled<double, 4>({2, 1, 6, 20});
  const auto [slope_a, slope_b] = s.run(fetch(da, db), a = as);
  const auto at = s.value(b);
  for (const std::size_t i : {0u, 7u, 120u, 299u}) {
    const auto moved = [&](double step) {
      auto there = at;
      there.data()[i] += step;
      s.assign(b, there);
      return std::get<0>(s.run(fetch(loss), a = as));
    };
    CHECK(slope_b.data()[i] == doctest::Approx((moved(1e-6) - moved(-1e-6)) / 2e-6).epsilon(1e-5));
    s.assign(b, at);
  }
  for (const std::size_t i : {0u, 100u, 239u}) {
    const auto moved = [&](double step) {
      auto there = as;
      there.data()[i] += step;
      return std::get<0>(s.run(fetch(loss), a = there));
    };
    CHECK(slope_a.data()[i] == doctest::Approx((moved(1e-6) - moved(-1e-6)) / 2e-6).epsilon(1e-5));
  }
}

TEST_CASE("attention: each row a mean of values, weighted by how alike a query and the keys are") {
  const auto x = placeholder<"x", float, "batch", 2, 12, 16>();
  const auto scores = matmul<false, true>(x, x) * 0.25f;
  const auto y = matmul(softmax(scores), x);
  session s{scores, y};
  const auto xs = filled<float, 4>({3, 2, 12, 16});
  const auto [ss, ys] = s.run(fetch(scores, y), x = xs);
  double worst = 0;
  for (std::size_t n = 0; n < 3; ++n)
    for (std::size_t h = 0; h < 2; ++h)
      for (std::size_t i = 0; i < 12; ++i)
        for (std::size_t j = 0; j < 16; ++j) {
          double all = 0, sum = 0;
          for (std::size_t l = 0; l < 12; ++l) {
            const double weight = std::exp(static_cast<double>(ss(n, h, i, l)));
            all += weight;
            sum += weight * static_cast<double>(xs(n, h, l, j));
          }
          worst = std::max(worst, std::abs(sum / all - static_cast<double>(ys(n, h, i, j))));
        }
  CHECK(worst < 1e-5);
}

TEST_CASE("items of other devices give what the products of the CPU give") {
  for (const bool ta : {false, true})
    for (const bool tb : {false, true}) {
      const std::vector<std::int64_t> a{2, 1, ta ? 7 : 4, ta ? 4 : 7}, b{3, tb ? 5 : 7, tb ? 7 : 5};
      const kernels::matrix_stacks stacks(a.data(), 4, b.data(), 3, ta, tb);
      REQUIRE(stacks.count == 6);
      std::vector<std::int64_t> numbers{2, ta, tb, 4};
      numbers.insert(numbers.end(), a.begin(), a.end());
      numbers.push_back(3);
      numbers.insert(numbers.end(), b.begin(), b.end());
      for (const std::int64_t n : {4, 2, 3, 4, 5}) numbers.push_back(n);
      auto as = filled<double, 1>({56}), bs = filled<double, 1>({105}, -1, 1, 3);
      std::vector<double> by_items(120), by_products(120);
      void* p[]{as.data(), bs.data(), by_items.data()};
      const kernels::stacked_products_kernel<double> kernel(p, kernels::step_numbers(numbers.data()));
      REQUIRE(kernel.items() == 120);
      for (std::int64_t k = 0; k < kernel.items(); ++k) kernel(k);
      cpu::multiply_stacks(stacks, as.data(), bs.data(), by_products.data());
      for (std::size_t i = 0; i < 120; ++i) CHECK(by_items[i] == doctest::Approx(by_products[i]));
    }
}
