#include <leat/cpu/parallel.hpp>

#include <doctest/doctest.h>

#include <leat/cpu/configuration.hpp>

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

using namespace leat::cpu;

TEST_CASE("one thread runs the chunks in order") {
  set_thread_count(1);
  REQUIRE(thread_count() == 1);
  std::vector<std::int64_t> order;
  parallel_for(5, [&](std::int64_t chunk) { order.push_back(chunk); });
  CHECK(order == std::vector<std::int64_t>{0, 1, 2, 3, 4});
}

TEST_CASE("no chunks, no calls") {
  int calls = 0;
  parallel_for(0, [&](std::int64_t) { ++calls; });
  parallel_for(-3, [&](std::int64_t) { ++calls; });
  CHECK(calls == 0);
}

TEST_CASE("an exception reaches the caller") {
  CHECK_THROWS_AS(parallel_for(3,
                               [](std::int64_t chunk) {
                                 if (chunk == 1) throw std::runtime_error("chunk");
                               }),
                  std::runtime_error);
}

TEST_CASE("the number of threads is at least one") {
  set_thread_count(0);
  CHECK(thread_count() == 1);
}

namespace {
struct stop_at final : interruption {
  explicit stop_at(std::int64_t its_chunk) : chunk(its_chunk) {}
  void check(std::int64_t now) const override {
    if (now >= chunk) throw std::runtime_error("stopped");
  }
  std::int64_t chunk;
};
}  // namespace

TEST_CASE("a loop of a thread with an interruption ends before the chunk at which that says so") {
  set_thread_count(1);
  const stop_at third(2), at_once(0);
  std::vector<std::int64_t> ran;
  const auto run = [&] { parallel_for(5, [&](std::int64_t chunk) { ran.push_back(chunk); }); };
  {
    scoped_interruption scope(&third);
    CHECK(thread_interruption() == &third);
    CHECK_THROWS_WITH(run(), "stopped");
    CHECK(ran == std::vector<std::int64_t>{0, 1});
    {
      const scoped_interruption inner(&at_once);
      CHECK_THROWS_WITH(run(), "stopped");
      CHECK(ran.size() == 2);
    }
    CHECK(thread_interruption() == &third);
    scope.set(nullptr);
    run();
    CHECK(ran.size() == 7);
  }
  CHECK(thread_interruption() == nullptr);
}

TEST_CASE("a program of one configuration goes on, one of two is refused with both") {
  require_one_configuration();
  detail::other_configuration = ".leat.avx2";
  std::string problem;
  try {
    require_one_configuration();
  } catch (const leat::failed_precondition& e) {
    problem = e.what();
  }
  detail::other_configuration = nullptr;
  CHECK(problem.find(std::string("one has ") + detail::first_configuration + ", one .leat.avx2") != problem.npos);
}
