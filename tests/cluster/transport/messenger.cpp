#include <leat/cluster/transport/messenger.hpp>
#include <leat/core/error.hpp>

#include "support/transport.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <string>
#include <thread>

using leat::aborted;
using leat::cancelled;
using leat::deadline_exceeded;
using leat::error;
using leat::failed_precondition;
using leat::invalid_argument;
using leat::not_found;
using leat::unavailable;
using leat::unimplemented;
using namespace leat::transport;
using namespace leat_test;

TEST_CASE("requests are answered, over every transport") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    echo_server server(w);
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address, {"ps", 0});
    client.await(p, in(5s));
    CHECK(client.info(p)->who.name() == "/job:ps/task:0");
    CHECK(client.info(p)->by == w);
    CHECK(client.info(p)->clock_error >= 0);
    for (const std::size_t n : {0, 1, 100, 4096, 4097, 40000, 262144, 262145, 3000000}) {
      const frame f = numbers(n);
      const message answer = client.call(p, echo, {f, numbers(3)}, {in(20s)});
      REQUIRE(answer.parts.size() == 2);
      CHECK(equal(answer.parts[0], f));
      CHECK(equal(answer.parts[1], numbers(3)));
    }
  }
}

TEST_CASE("an error is thrown again where the request was made, in its class") {
  for (const way w : ways) {
    connected_pair both(w);
    auto& [server, client, p] = both;
    CHECK_THROWS_WITH_AS(client.call(p, throw_not_found, {}, {in(5s)}), "there is no such thing", not_found);
    CHECK_THROWS_WITH_AS(client.call(p, 99, {}, {in(5s)}), "method 99", unimplemented);
  }
}

TEST_CASE("a request that is not answered ends at its deadline, and others go on") {
  for (const way w : ways) {
    echo_server server(w);
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address, {"ps", 0});
    client.await(p, in(5s));
    const auto before = std::chrono::steady_clock::now();
    CHECK_THROWS_AS(client.call(p, never, {}, {in(100ms)}), deadline_exceeded);
    CHECK(std::chrono::steady_clock::now() - before < 2s);
    CHECK(client.call(p, echo, {numbers(3)}, {in(5s)}).parts.size() == 1);
  }
}

TEST_CASE("who dials a server of this process that is closing hears of it at once") {
  messenger client(client_options(way::same_process));
  client.start();
  for (int i = 0; i < 300; ++i) {
    auto server = std::make_unique<echo_server>(way::same_process);
    const std::string address = server->m.self().address;
    std::atomic<bool> go = false;
    std::thread ends([&] {
      while (!go) {}
      server->m.close(in(1s));
    });
    go = true;
    std::string met;
    try {
      client.await(client.dial(address, {"ps", 0}), in(500ms));
    } catch (const error& e) {
      met = e.what();
    }
    ends.join();
    // Who came after the server's end is told that nobody listens there.
    CAPTURE(met);
    CHECK(met.find("took the connection") == met.npos);
  }
}

TEST_CASE("several threads ask at the same time") {
  for (const way w : ways) {
    connected_pair both(w);
    auto& [server, client, p] = both;
    std::atomic<int> right = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int i = 0; i < 200; ++i) {
          const frame f = numbers(static_cast<std::size_t>(1 + t * 1000 + i));
          if (equal(client.call(p, echo, {f}, {in(20s)}).parts[0], f)) ++right;
        }
      });
    for (auto& t : threads) t.join();
    CHECK(right == 800);
  }
}

TEST_CASE("requests without waiting, and cancelled ones") {
  for (const way w : ways) {
    connected_pair both(w);
    auto& [server, client, p] = both;
    std::atomic<int> answered = 0, cancelled_ones = 0, late = 0;
    const auto count = [&](outcome o) {
      if (!o.problem) return void(++answered);
      try {
        std::rethrow_exception(o.problem);
      } catch (const cancelled&) {
        ++cancelled_ones;
      } catch (const deadline_exceeded&) {
        ++late;
      }
    };
    message m;
    m.method = echo;
    for (int i = 0; i < 100; ++i) client.begin(p, m, {in(10s)}, count);
    m.method = never;
    client.cancel(client.begin(p, m, {in(10s)}, count));
    client.begin(p, m, {in(50ms)}, count);
    CHECK(until([&] { return answered == 100 && cancelled_ones == 1 && late == 1; }));
    CHECK(until([&] { return server.cancelled == 2; }));
  }
}

TEST_CASE("strangers are refused and told why") {
  for (const way w : ways) {
    echo_server server(w);
    const auto refused = [&](auto change, expectation wants) {
      messenger_options o = client_options(w);
      change(o);
      messenger client(o);
      client.start();
      const peer_id p = client.dial(server.m.self().address, wants);
      client.await(p, in(5s));
    };
    CHECK_THROWS_WITH_AS(refused([](auto& o) { o.self.cluster = "other"; }, {}), doctest::Contains("another cluster"), failed_precondition);
    CHECK_THROWS_WITH_AS(refused([](auto& o) { o.self.run = "old"; }, {}), doctest::Contains("forgotten process"), aborted);
    CHECK_THROWS_WITH_AS(refused([](auto&) {}, {"ps", 1}), doctest::Contains("is not /job:ps/task:1"), failed_precondition);
    CHECK_THROWS_WITH_AS(refused([](auto&) {}, {"ps", 0, 42}), doctest::Contains("started again"), aborted);
    refused([](auto&) {}, {"ps", 0, server.m.self().incarnation});
  }
}

TEST_CASE("who cannot be reached is named, with what the last attempt met") {
  messenger client(client_options(way::network));
  client.start();
  const peer_id nobody = client.dial("127.0.0.1:1", {"ps", 3});
  CHECK_THROWS_WITH_AS(client.await(nobody, in(100ms)),
                       "/job:ps/task:3 at 127.0.0.1:1: not reached; the last attempt met: refused (no process listens there)", unavailable);
  CHECK_THROWS_AS(client.dial("no-such-name.invalid:2222", {"ps", 3}), error);
  for (const char* wrong : {"", "ps", "ps:", "ps:x", "ps:70000", "ps:-1", "http://ps:1", "a b:1", "::1:22", "[::1]"})
    CHECK_THROWS_AS(client.dial(wrong), invalid_argument);
}

TEST_CASE("an end in order is known as such") {
  for (const way w : ways) {
    auto server = std::make_unique<echo_server>(w);
    std::atomic<int> orderly = 0;
    messenger client(client_options(w));
    client.on_gone = [&](peer_id, const peer_info&, const departure& d) { orderly = d.is_orderly ? 1 : 2; };
    client.start();
    const peer_id p = client.dial(server->m.self().address, {"ps", 0});
    client.await(p, in(5s));
    std::atomic<bool> failed = false;
    message m;
    m.method = never;
    client.begin(p, m, {in(10s)}, [&](outcome o) { failed = o.problem != nullptr; });
    server->m.close(in(5s));  // the destructor gives its goodbye a fifth of a second, which a loaded machine may need
    server.reset();
    CHECK(until([&] { return orderly == 1; }));
    CHECK(failed);
    CHECK_THROWS_WITH_AS(client.call(p, echo, {}, {in(1s)}), doctest::Contains("has ended in order"), unavailable);
  }
}

TEST_CASE("a repeated request is executed once and has one answer") {
  for (const way w : ways) {
    echo_server server(w);
    messenger client(client_options(w));
    client.start();
    const peer_id first = client.dial(server.m.self().address);
    client.await(first, in(5s));
    const std::uint64_t number = client.new_number();
    const message a = client.call(first, count, {}, {in(5s), true, number});
    const peer_id second = client.dial(server.m.self().address);
    client.await(second, in(5s));
    client.hang_up(first, false);
    const message b = client.call(second, count, {}, {in(5s), true, number});
    CHECK(a.mark == 1);
    CHECK(b.mark == 1);
    CHECK(client.call(second, count, {}, {in(5s), true}).mark == 2);
  }
}

TEST_CASE("a handler that waits for an answer is told so") {
  echo_server server(way::network);
  messenger client(client_options(way::network));
  std::atomic<int> told = 0;
  peer_id p = 0;
  client.on_ready = [&](peer_id ready, const peer_info&) {
    try {
      client.call(ready, echo, {}, {in(5s)});
    } catch (const failed_precondition&) {
      told = 1;
    }
  };
  client.start();
  p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(told == 1);
}
