#include <leat/cpu/parallel.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
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
