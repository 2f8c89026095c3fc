#include <leat/core/sanitizer.hpp>
#include <leat/session/typed/session.hpp>

#include "support/check.hpp"

#include <atomic>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("two sessions in two threads do not disturb each other") {
  const auto x = placeholder<"x", double, "n">();
  const auto total = variable<"total", double>(0.0);
  const auto sum = reduce_sum(exp(x) * 2_c);
  const auto add = assign_add(total, sum);
  const auto results = [&] {
    std::array<double, 2> totals{};
    std::vector<std::thread> threads;
    for (std::size_t k = 0; k < 2; ++k)
      threads.emplace_back([&, k] {
        session s{sum, add};
        s.initialize();
        for (std::size_t n = 1; n < 200; ++n) s.run(fetch(sum, add), x = filled<double, 1>({n}, -1, 1, k));
        totals[k] = s.value(total);
      });
    for (auto& t : threads) t.join();
    return totals;
  }();
  for (std::size_t k = 0; k < 2; ++k) {
    session s{sum, add};
    s.initialize();
    for (std::size_t n = 1; n < 200; ++n) s.run(fetch(sum, add), x = filled<double, 1>({n}, -1, 1, k));
    CHECK(s.value(total) == results[k]);
  }
}

TEST_CASE("one session entered by two threads says so") {
  const auto x = placeholder<"x", float, "n", "n">();
  const auto y = reduce_sum(matmul(x, x));
  session s{y};
  const auto xs = filled<float, 2>({300, 300});
  std::atomic<int> refused{0};
  std::atomic<int> done{0};
  std::atomic<bool> start{false};
  std::vector<std::thread> threads;
  for (int k = 0; k < 2; ++k)
    threads.emplace_back([&] {
      while (!start.load()) std::this_thread::yield();
      for (int i = 0; i < 400 && refused.load() == 0; ++i) {
        try {
          s.run(fetch(y), x = xs);
          ++done;
        } catch (const failed_precondition&) {
          ++refused;
        }
      }
    });
  start.store(true);
  for (auto& t : threads) t.join();
  CHECK(refused.load() > 0);
  CHECK(done.load() > 0);
  CHECK(std::isfinite(std::get<0>(s.run(fetch(y), x = xs))));
}

TEST_CASE("results do not depend on the number of threads, to the last bit") {
  const auto x = placeholder<"x", float, "rows", "columns">();
  const auto w = placeholder<"w", float, "columns", 40>();
  const auto total = reduce_sum(exp(x));
  const auto rows = reduce_mean<1>(square(x));
  const auto columns = reduce_sum<0>(x * 0.3_c);
  const auto p = softmax(x);
  const auto h = tanh(matmul(x, w));
  const auto [dx, dw] = gradients(reduce_mean(square(h)), x, w);
  session s{total, rows, columns, p, h, dx, dw};
#if defined(LEAT_THREAD_SANITIZER)  // every access is checked: as large as is cut into chunks
  const std::array<std::array<std::size_t, 2>, 3> areas{{{600, 70}, {2, 20000}, {20000, 2}}};
#else
  const std::array<std::array<std::size_t, 2>, 3> areas{{{3000, 70}, {7, 40000}, {200000, 3}}};
#endif
  const int before = cpu::thread_count();
  for (const auto& [height, width] : areas) {
    const auto xs = filled<float, 2>({height, width});
    const auto ws = filled<float, 2>({width, 40});
    cpu::set_thread_count(1);
    const auto one = s.run(fetch(total, rows, columns, p, h, dx, dw), x = xs, w = ws);
    for (const int threads : {2, 4}) {
      cpu::set_thread_count(threads);
      const auto several = s.run(fetch(total, rows, columns, p, h, dx, dw), x = xs, w = ws);
      CHECK(std::get<0>(one) == std::get<0>(several));
      CHECK(std::get<1>(one) == std::get<1>(several));
      CHECK(std::get<2>(one) == std::get<2>(several));
      CHECK(std::get<3>(one) == std::get<3>(several));
      CHECK(std::get<4>(one) == std::get<4>(several));
      CHECK(std::get<5>(one) == std::get<5>(several));
      CHECK(std::get<6>(one) == std::get<6>(several));
    }
  }
  cpu::set_thread_count(before);
}
