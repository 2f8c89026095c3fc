#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
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

TEST_CASE("a thread's limit holds for the loops that it begins") {
  set_thread_count(4);
  for (const int limit : {1, 2, 3, 4, 9}) {
    CAPTURE(limit);
    const scoped_thread_limit within(limit);
    const int wanted = std::min(limit, 4);
    CHECK(thread_count() == wanted);
    CHECK(within.count_outside() == 4);
    std::mutex guard;
    std::condition_variable changed;
    std::set<std::thread::id> seen;
    std::vector<std::atomic<int>> calls(200);
    // so many threads that each waits for the others before it goes on
    parallel_for(200, [&](std::int64_t chunk) {
      ++calls[static_cast<std::size_t>(chunk)];
      std::unique_lock lock(guard);
      seen.insert(std::this_thread::get_id());
      changed.notify_all();
      changed.wait_for(lock, std::chrono::seconds(20), [&] { return static_cast<int>(seen.size()) >= wanted; });
    });
    CHECK(static_cast<int>(seen.size()) == wanted);
    for (const std::atomic<int>& each : calls) CHECK(each == 1);
  }
  CHECK(thread_count() == 4);
}

TEST_CASE("of several limits the least counts, 0 says nothing, and other threads have none") {
  set_thread_count(4);
  const scoped_thread_limit outer(2);
  {
    const scoped_thread_limit more(3), none(0);
    CHECK(thread_count() == 2);
    const scoped_thread_limit less(1);
    CHECK(thread_count() == 1);
    CHECK(less.count_outside() == 2);
  }
  CHECK(thread_count() == 2);
  int elsewhere = 0;
  std::thread([&] { elsewhere = thread_count(); }).join();
  CHECK(elsewhere == 4);
  std::atomic<int> within = 0, calls = 0;
  parallel_for(8, [&](std::int64_t) {
    within += thread_count();
    parallel_for(3, [&](std::int64_t) { ++calls; });
  });
  CHECK(within == 8);
  CHECK(calls == 24);
  CHECK(thread_count() == 2);
}

TEST_CASE("an exception under a limit ends the loop and reaches the caller") {
  set_thread_count(4);
  const scoped_thread_limit within(2);
  std::atomic<int> calls = 0;
  const auto failing = [&](std::int64_t chunk) {
    ++calls;
    if (chunk == 0) throw std::runtime_error("chunk");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  CHECK_THROWS_AS(parallel_for(100'000, failing), std::runtime_error);
  CHECK(calls < 100'000);
  CHECK(thread_count() == 2);
  calls = 0;
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
                         {false, false, 64, 128, 256},
                         {true, false, 300, 20, 200},
                         {false, true, 9, 1000, 300},
                         {true, true, 257, 129, 400}}) {
    const std::int64_t lda = s.transpose_a ? s.m : s.k;
    const std::int64_t ldb = s.transpose_b ? s.k : s.n;
    std::vector<T> a(static_cast<std::size_t>(s.m * s.k));
    std::vector<T> b(static_cast<std::size_t>(s.k * s.n));
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<double>(i * 7919 % 1000) / 37);
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<double>(i * 104729 % 1000) / 41);
    std::vector<T> results[7];
    for (int threads = 1; threads <= 7; ++threads) {
      set_thread_count(threads);
      std::vector<T>& c = results[threads - 1];
      c.assign(static_cast<std::size_t>(s.m * s.n), T(1));
      matmul<T>(s.transpose_a, s.transpose_b, s.m, s.n, s.k, T(2), a.data(), lda, b.data(), ldb, T(1), c.data(), s.n);
    }
    {
      const scoped_thread_limit within(2);
      set_thread_count(4);
      std::vector<T> c(results[0].size(), T(1));
      matmul<T>(s.transpose_a, s.transpose_b, s.m, s.n, s.k, T(2), a.data(), lda, b.data(), ldb, T(1), c.data(), s.n);
      CHECK(std::memcmp(results[0].data(), c.data(), c.size() * sizeof(T)) == 0);
    }
    for (int other = 1; other < 7; ++other)
      CHECK(std::memcmp(results[0].data(), results[other].data(), results[0].size() * sizeof(T)) == 0);
  }
}

TEST_CASE("chunks on other threads look at the interruption of the thread that began the loop") {
  set_thread_count(4);
  struct stop_at_half final : interruption {
    void check(std::int64_t chunk) const override {
      if (chunk >= 500) throw std::runtime_error("stopped");
    }
  } const half;
  std::atomic<int> ran = 0;
  const scoped_interruption scope(&half);
  CHECK_THROWS_WITH(parallel_for(1000,
                                 [&](std::int64_t chunk) {
                                   if (chunk >= 500) throw std::runtime_error("a chunk behind the stop");
                                   ++ran;
                                 }),
                    "stopped");
  CHECK(ran <= 500);
}
