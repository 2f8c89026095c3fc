#include <leat/data/arrays.hpp>
#include <leat/data/prefetch.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

using namespace leat;

TEST_CASE("elements made ahead are those made in place, in the same order") {
  const auto data = dataset::range(1000).shuffle(100, 3).map([](std::int64_t i) { return std::to_string(i); }).repeat(2);
  std::vector<std::string> here, ahead;
  for (auto& [text] : data) here.push_back(text);
  for (const std::size_t count : {1, 2, 16, 5000}) {
    ahead.clear();
    for (auto& [text] : data.prefetch(count)) ahead.push_back(text);
    CHECK(ahead == here);
    ahead.clear();
    for (auto& [text] : data.prefetch(2).prefetch(count)) ahead.push_back(text);
    CHECK(ahead == here);
  }
}

TEST_CASE("memory is bounded: no more elements are made than the ring takes") {
  const auto made = std::make_shared<std::atomic<int>>(0);
  const auto data = dataset::range(1000).modify([made](std::int64_t&) { ++*made; }).prefetch(5);
  auto rows = data.iterate();
  for (int k = 1; k <= 40; ++k) {
    CHECK(rows.next());
    std::this_thread::yield();
    CHECK(made->load() <= k + 5);
  }
}

TEST_CASE("a function's error on another thread reaches the consumer in its element's place") {
  const auto data = dataset::range(10).modify([](std::int64_t& i) {
    if (i == 4) throw std::runtime_error("not four");
    if (i == 7) throw invalid_argument("not seven");
  });
  for (const std::size_t count : {1, 3, 100}) {
    auto rows = data.prefetch(count).iterate();
    std::string seen;
    for (bool more = true; more;) {
      try {
        more = rows.next();
        if (more) seen += std::to_string(std::get<0>(rows.element()));
      } catch (const invalid_argument& e) {
        seen += e.what();
      } catch (const std::runtime_error& e) {
        seen += e.what();
      }
    }
    CHECK(seen == "0123not four56not seven89");
    CHECK(!rows.next());
  }
}

TEST_CASE("iterators end at any moment, and many run at once") {
  const auto data = dataset::range(10000).map([](std::int64_t i) { return std::vector<std::string>(10, std::to_string(i)); }).prefetch(8);
  for (int k = 0; k < 200; ++k) {
    auto rows = data.iterate();
    for (int taken = 0; taken < k % 7; ++taken) rows.next();
    if (k % 3 == 0) rows.restart();
    if (k % 3 == 0 && k % 2 == 0) CHECK((rows.next() && std::get<0>(rows.element())[0] == "0"));
  }
  std::vector<std::thread> threads;
  std::atomic<std::int64_t> sum = 0;
  const auto numbers = dataset::range(2000).shuffle(2000, 1).batch(7).prefetch(2);
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      for (auto& [row] : numbers)
        for (const std::int64_t i : row) sum += i;
    });
  for (auto& thread : threads) thread.join();
  CHECK(sum == 6 * 1999 * 1000);
}
