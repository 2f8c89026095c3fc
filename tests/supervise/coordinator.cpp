#include <leat/supervise/coordinator.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <future>

using namespace leat;
using namespace std::chrono_literals;

TEST_CASE("a stop that one thread asks for ends all, and its exception comes out of join") {
  coordinator c;
  std::atomic<int> ended{0};
  for (int k = 0; k < 4; ++k)
    c.start([&, k] {
      for (int i = 0; !c.should_stop(); ++i) {
        if (k == 2 && i == 3) throw invalid_argument("thread two");
        c.wait_for_stop(1ms);
      }
      ++ended;
    });
  CHECK_THROWS_WITH_AS(c.join({.grace_period = 10s, .timeout = 10s}), "thread two", invalid_argument);
  CHECK(ended == 3);
  CHECK(c.joined());
  CHECK(c.live_threads().empty());
  CHECK_THROWS_WITH_AS(c.rethrow_requested(), "thread two", invalid_argument);
}

TEST_CASE("only the first exception counts, and the end of the input is an orderly stop") {
  coordinator c;
  c.request_stop(failed_precondition("first"));
  c.request_stop(failed_precondition("second"));
  CHECK_THROWS_WITH_AS(c.join(), "first", failed_precondition);
  // who reports an error after the join gets it back
  CHECK_THROWS_WITH_AS(c.request_stop(not_found("late")), "late", not_found);
  c.clear_stop();
  CHECK_FALSE(c.should_stop());
  CHECK_FALSE(c.joined());
  c.request_stop(out_of_range("no more"));
  CHECK(c.should_stop());
  CHECK_NOTHROW(c.join());
  CHECK_THROWS_AS(c.start([] {}), failed_precondition);
}

TEST_CASE("join has a grace period, and names the threads that do not end") {
  std::promise<void> go;
  coordinator c;
  c.start([&] { go.get_future().wait(); }, "stubborn");
  c.start([] {}, "quick");
  CHECK_THROWS_AS(c.join({.grace_period = 1s, .timeout = 20ms}), deadline_exceeded);
  c.request_stop();
  CHECK_THROWS_WITH_AS(c.join({.grace_period = 20ms}), "Coordinator stopped with threads still running: stubborn", failed_precondition);
  CHECK_NOTHROW(c.join({.grace_period = 0s, .ignore_live_threads = true}));
  CHECK(c.live_threads() == std::vector<std::string>{"stubborn"});
  go.set_value();
}

TEST_CASE("waiting for a stop ends at its time, or at the stop") {
  coordinator c;
  CHECK_FALSE(c.wait_for_stop(5ms));
  CHECK_FALSE(c.wait_for_stop(-1s));
  int called = 0;
  c.on_stop([&] { ++called; });
  std::promise<void> waits;
  c.start([&] {
    waits.get_future().wait();
    c.request_stop();
  });
  waits.set_value();
  CHECK(c.wait_for_stop(10s));
  c.request_stop();
  c.join();
  CHECK(called == 1);
  c.on_stop([&] { ++called; });
  CHECK(called == 2);
}

TEST_CASE("a coordinator that goes waits for its threads, also those that they start") {
  std::atomic<int> ended{0};
  {
    coordinator c;
    c.start([&] {
      c.start([&] {
        c.wait_for_stop(10s);
        ++ended;
      });
      ++ended;
      ended.notify_one();
    });
    ended.wait(0);
  }
  CHECK(ended == 2);
}
