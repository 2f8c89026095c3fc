// The loop's thread, and one that takes part in it, in an order that a client forces: the loop asks it for the next timer.

#include <leat/cluster/transport/reactor.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <new>
#include <thread>
#include <vector>

using namespace leat::transport;
using namespace std::chrono_literals;

namespace {

template <class F>
bool until(F holds) {
  for (const auto end = std::chrono::steady_clock::now() + 5s; !holds(); std::this_thread::sleep_for(1ms))
    if (std::chrono::steady_clock::now() > end) return false;
  return true;
}

// Has one timer, and holds the loop's thread where it has looked for it.
struct held_client final : reactor_client {
  const std::thread::id own = std::this_thread::get_id();
  std::atomic<bool> looked = false, go_on = false, rang = false, throws = false;
  std::atomic<steady_time::rep> timer{no_deadline.time_since_epoch().count()};

  steady_time next_timer() override {
    const steady_time next{steady_time::duration(timer.load())};
    if (std::this_thread::get_id() != own && !looked.exchange(true)) until([&] { return go_on.load(); });
    return next;
  }
  bool run(const std::vector<std::uint64_t>&) override {
    if (throws.exchange(false)) throw std::bad_alloc();
    if (steady_time(steady_time::duration(timer.load())) <= std::chrono::steady_clock::now()) {
      timer = no_deadline.time_since_epoch().count();
      rang = true;
    }
    return false;
  }
};

}  // namespace

TEST_CASE("a timer is not missed that was set by a thread in the loop, which left while the loop's own went to sleep") {
  held_client client;
  reactor loop(client);
  loop.start();
  REQUIRE(until([&] { return client.looked.load(); }));
  // As a handler does that this thread runs: it takes part until its answer has come, and the timer is not due yet.
  client.timer = (std::chrono::steady_clock::now() + 50ms).time_since_epoch().count();
  const std::atomic<bool> never = false;
  CHECK_FALSE(loop.wait(never, std::chrono::steady_clock::now() + 1ms));
  client.go_on = true;
  CHECK(until([&] { return client.rang.load(); }));
  loop.stop();
}

TEST_CASE("an exception in a thread that takes part leaves the loop to the others") {
  held_client client;
  reactor loop(client);
  loop.start();
  REQUIRE(until([&] { return client.looked.load(); }));
  client.throws = true;
  loop.kick();
  std::atomic<bool> done = false;
  CHECK_THROWS_AS(loop.wait(done, std::chrono::steady_clock::now() + 5s), std::bad_alloc);
  client.timer = std::chrono::steady_clock::now().time_since_epoch().count();
  client.go_on = true;
  loop.kick();
  CHECK(until([&] { return client.rang.load(); }));
  std::thread waker([&] {
    done = true;
    loop.wake();
  });
  CHECK(loop.wait(done, std::chrono::steady_clock::now() + 5s));
  waker.join();
  loop.stop();
}
