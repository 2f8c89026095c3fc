#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <vector>

using namespace leat::cpu;

TEST_CASE("every chunk runs once, for any number of threads") {
  for (const int threads : {1, 2, 3, 4}) {
    set_thread_count(threads);
    std::vector<std::atomic<int>> calls(1000);
    parallel_for(1000, [&](std::int64_t chunk) { ++calls[static_cast<std::size_t>(chunk)]; });
    for (const std::atomic<int>& each : calls) CHECK(each == 1);
  }
}

TEST_CASE("loops nest") {
  set_thread_count(2);
  std::atomic<int> calls = 0;
  parallel_for(4, [&](std::int64_t) { parallel_for(4, [&](std::int64_t) { ++calls; }); });
  CHECK(calls == 16);
}

TEST_CASE("chunks run in the caller's floating-point mode") {
  set_thread_count(2);
  for (const float_mode mode : {float_mode::flushing(), float_mode::current()}) {
    const scoped_float_mode scope(mode);
    std::atomic<int> differing = 0;
    parallel_for(64, [&](std::int64_t) {
      if (!(float_mode::current() == mode)) ++differing;
    });
    CHECK(differing == 0);
  }
}

TEST_CASE("an exception of one chunk reaches the caller, and the next loop runs") {
  set_thread_count(2);
  CHECK_THROWS_AS(parallel_for(64,
                               [](std::int64_t chunk) {
                                 if (chunk == 33) throw std::runtime_error("chunk");
                               }),
                  std::runtime_error);
  std::atomic<int> calls = 0;
  parallel_for(64, [&](std::int64_t) { ++calls; });
  CHECK(calls == 64);
}

TEST_CASE_TEMPLATE("products do not depend on the number of threads", T, float, double, std::int32_t) {
  struct shape {
    bool transpose_a, transpose_b;
    std::int64_t m, n, k;
  };
  for (const shape& s : {shape{false, false, 64, 256, 784},
                         {true, false, 784, 256, 64},
                         {false, true, 130, 258, 301},
                         {false, false, 300, 300, 300},
                         {true, true, 257, 129, 400}}) {
    const std::int64_t lda = s.transpose_a ? s.m : s.k;
    const std::int64_t ldb = s.transpose_b ? s.k : s.n;
    std::vector<T> a(static_cast<std::size_t>(s.m * s.k));
    std::vector<T> b(static_cast<std::size_t>(s.k * s.n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<double>(i * 7919 % 1000) / 37);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<double>(i * 104729 % 1000) / 41);
    std::vector<T> results[3];
    for (int threads = 1; threads <= 3; ++threads) {
      set_thread_count(threads);
      std::vector<T>& c = results[threads - 1];
      c.assign(static_cast<std::size_t>(s.m * s.n), T(1));
      matmul<T>(s.transpose_a, s.transpose_b, s.m, s.n, s.k, T(2), a.data(), lda, b.data(), ldb, T(1), c.data(), s.n);
    }
    for (int other : {1, 2})
      CHECK(std::memcmp(results[0].data(), results[other].data(), results[0].size() * sizeof(T)) == 0);
  }
}
