#include <leat/core/fill.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

namespace {

std::vector<int> filled;
int faults = 0;
std::atomic<int> slow_fills{0};

leat::detail::table_fills& outer();
leat::detail::table_fills& inner() {
  static constinit leat::detail::table_fills fills;
  fills.run({[] { filled.push_back(2); }, nullptr});
  return fills;
}
leat::detail::table_fills& outer() {
  static constinit leat::detail::table_fills fills;
  fills.run({[] { filled.push_back(1); }, [] { inner(); }, [] { outer(); }, [] { filled.push_back(3); }});
  return fills;
}

}  // namespace

TEST_CASE("a table is filled when it is used, once, and may use another one and itself meanwhile") {
  filled.clear();
  outer();
  CHECK(filled == std::vector<int>{1, 2, 3});
  outer();
  inner();
  CHECK(filled == std::vector<int>{1, 2, 3});
}

TEST_CASE("after an error the table is filled by its next user") {
  static constinit leat::detail::table_fills fills;
  const auto use = [] {
    fills.run({[] {
      if (++faults == 1) throw std::runtime_error("no memory for a table");
    }});
  };
  CHECK_THROWS_WITH(use(), "no memory for a table");
  use();
  use();
  CHECK(faults == 2);
}

TEST_CASE("other threads wait until a table is full") {
  static constinit leat::detail::table_fills fills;
  std::vector<std::thread> threads;
  std::atomic<int> early{0};
  for (int k = 0; k < 8; ++k)
    threads.emplace_back([&] {
      fills.run({[] {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        ++slow_fills;
      }});
      if (slow_fills != 1) ++early;
    });
  for (std::thread& t : threads) t.join();
  CHECK(slow_fills == 1);
  CHECK(early == 0);
}
