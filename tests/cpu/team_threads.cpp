#include <leat/cpu/parallel.hpp>

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#if defined(LEAT_USE_TBB)
#include <leat/cpu/team.hpp>

using namespace leat::cpu;

namespace {

// Runs `f` for each chunk on the team, which must not be taken.
template <class F>
bool on_team(int threads, std::int64_t chunks, F f) {
  const auto call = [](void* to, std::int64_t begin, std::int64_t end, const interruption*) {
    for (std::int64_t chunk = begin; chunk < end; ++chunk) (*static_cast<F*>(to))(chunk);
  };
  return detail::team::instance().run(threads, chunks, {call, &f, nullptr});
}

}  // namespace

TEST_CASE("every chunk of many loops runs once, awake or asleep") {
  for (int round = 0; round < 400; ++round) {
    if (round % 100 == 99) std::this_thread::sleep_for(std::chrono::milliseconds(5));  // the threads sleep by now
    const int threads = 1 + round % 5;
    const std::int64_t chunks = 1 + round * 7 % 67;
    std::vector<int> calls(static_cast<std::size_t>(chunks));
    REQUIRE(on_team(threads, chunks, [&](std::int64_t chunk) { ++calls[static_cast<std::size_t>(chunk)]; }));
    for (const int each : calls) REQUIRE(each == 1);
  }
}

TEST_CASE("all threads come, if there is work for them") {
  std::mutex guard;
  std::condition_variable changed;
  std::set<std::thread::id> seen;
  REQUIRE(on_team(4, 4, [&](std::int64_t) {
    std::unique_lock lock(guard);
    seen.insert(std::this_thread::get_id());
    changed.notify_all();
    changed.wait_for(lock, std::chrono::seconds(20), [&] { return seen.size() == 4; });
  }));
  CHECK(seen.size() == 4);
}

TEST_CASE("a loop within a loop, and one beside it, are told that the team is taken") {
  std::atomic<int> refused = 0;
  REQUIRE(on_team(2, 4, [&](std::int64_t) {
    if (!on_team(2, 4, [](std::int64_t) {})) ++refused;
    std::thread([&] {
      if (!on_team(2, 4, [](std::int64_t) {})) ++refused;
    }).join();
  }));
  CHECK(refused == 8);
  CHECK(on_team(2, 4, [](std::int64_t) {}));
}

TEST_CASE("more threads or chunks than the team takes are refused before anything runs") {
  int calls = 0;
  CHECK_FALSE(on_team(detail::team::most_threads + 1, 2, [&](std::int64_t) { ++calls; }));
  CHECK_FALSE(on_team(2, detail::team::most_chunks + 1, [&](std::int64_t) { ++calls; }));
  CHECK(calls == 0);
  std::atomic<int> all = 0;
  CHECK(on_team(2, detail::team::most_chunks, [&](std::int64_t) { ++all; }));
  CHECK(all == detail::team::most_chunks);
}

TEST_CASE("the first exception ends the team's loop and reaches the caller; the next loop runs") {
  for (int round = 0; round < 50; ++round) {
    std::atomic<int> calls = 0;
    CHECK_THROWS_WITH_AS(on_team(3, 64,
                                 [&](std::int64_t chunk) {
                                   ++calls;
                                   if (chunk % 21 == 0) throw std::runtime_error("chunk");
                                 }),
                         "chunk", std::runtime_error);
    CHECK(calls < 64);
    calls = 0;
    CHECK(on_team(3, 64, [&](std::int64_t) { ++calls; }));
    CHECK(calls == 64);
  }
}

TEST_CASE("loops that several threads begin at once all run") {
  set_thread_count(3);
  std::atomic<int> wrong = 0;
  std::vector<std::thread> all;
  for (int t = 0; t < 3; ++t)
    all.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        std::atomic<int> calls = 0;
        parallel_for(17, [&](std::int64_t) { ++calls; });
        if (calls != 17) ++wrong;
      }
    });
  for (std::thread& each : all) each.join();
  CHECK(wrong == 0);
}

#if !defined(LEAT_THREAD_SANITIZER)
TEST_CASE("in a forked process, which has none of the threads, the caller runs all chunks") {
  CHECK(on_team(2, 4, [](std::int64_t) {}));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int calls = 0;
    const bool ran = on_team(2, 4, [&](std::int64_t) { ++calls; });
    _exit(ran && calls == 4 ? 0 : 1);
  }
  int status = 1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(status == 0);
}
#endif
#endif
