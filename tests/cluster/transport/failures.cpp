#include <leat/cluster/transport/messenger.hpp>

#include "support/processes.hpp"
#include "support/transport.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/time.h>

#include <new>
#include <optional>

using leat::aborted;
using leat::failed_precondition;
using leat::invalid_argument;
using leat::unavailable;
using namespace leat::transport;
using namespace leat_test;

namespace {

constexpr way between_processes[] = {way::network, way::same_host};

std::string digit(way w) { return std::to_string(static_cast<int>(w)); }

struct loss {
  std::atomic<bool> is_there = false;
  std::atomic<steady_time::rep> when{0};
  std::string text;
};

// A client with a request under way to a server in another process.
struct asking {
  explicit asking(way w, messenger_options o) : server({transport_peer(), "serve", digit(w)}), client(std::move(o)) {
    client.start();
    p = client.dial(server.line(), {"ps", 0});
    client.await(p, in(5s));
    message m;
    m.method = never;
    client.begin(p, m, {in(30s)}, [this](outcome o2) {
      try {
        if (o2.problem) std::rethrow_exception(o2.problem);
      } catch (const unavailable& e) {
        lost.text = e.what();
      } catch (const std::exception& e) {
        lost.text = std::string("another error: ") + e.what();
      }
      lost.when = std::chrono::steady_clock::now().time_since_epoch().count();
      lost.is_there = true;
    });
  }
  double milliseconds_since(steady_time t) const {
    return std::chrono::duration<double, std::milli>(steady_time(steady_time::duration(lost.when)) - t).count();
  }
  loss lost;
  process server;
  messenger client;
  peer_id p = 0;
};

int descriptors() {
  int n = 0;
  for (int fd = 0; fd < 4096; ++fd) n += ::fcntl(fd, F_GETFD) >= 0;
  return n;
}

}  // namespace

TEST_CASE("a server that is killed is noticed within 50 ms, and named") {
  for (const way w : between_processes) {
    CAPTURE(name_of(w));
    asking a(w, client_options(w));
    std::this_thread::sleep_for(20ms);
    const auto before = std::chrono::steady_clock::now();
    a.server.send(SIGKILL);
    REQUIRE(until([&] { return a.lost.is_there.load(); }));
    CHECK(a.milliseconds_since(before) < 50);
    CAPTURE(a.lost.text);
    CHECK(a.lost.text.find("/job:ps/task:0 at 127.0.0.1:") == 0);
    CHECK_THROWS_AS(a.client.call(a.p, echo, {}, {in(1s)}), unavailable);
  }
}

TEST_CASE("a server that is stopped is noticed within 3 s") {
  for (const way w : between_processes) {
    CAPTURE(name_of(w));
    asking a(w, client_options(w));
    std::this_thread::sleep_for(20ms);
    const auto before = std::chrono::steady_clock::now();
    a.server.send(SIGSTOP);
    REQUIRE(until([&] { return a.lost.is_there.load(); }));
    CHECK(a.milliseconds_since(before) < 3000);
    CHECK(a.milliseconds_since(before) > 1000);
  }
}

TEST_CASE("a client that is killed or stopped is noticed by the server that watches it") {
  for (const way w : between_processes)
    for (const int signal : {SIGKILL, SIGSTOP}) {
      CAPTURE(name_of(w));
      CAPTURE(signal);
      echo_server server(w);
      process client({transport_peer(), "ask", digit(w), server.m.self().address});
      REQUIRE(client.line() == "ready");
      const auto peers = server.m.peers();
      REQUIRE(peers.size() == 1);
      server.m.watch(peers[0]);
      const auto before = std::chrono::steady_clock::now();
      client.send(signal);
      REQUIRE(until([&] { return server.gone == 1; }));
      const auto taken = std::chrono::steady_clock::now() - before;
      CHECK(taken < (signal == SIGKILL ? 50ms : 3000ms));
    }
}

TEST_CASE("a step that hangs is noticed though its process answers") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    echo_server server(w);
    messenger_options o = client_options(w);
    o.stalled = 1000ms;
    std::atomic<int> gone = 0;
    std::string why;
    messenger client(o);
    client.on_gone = [&](peer_id, const peer_info&, const departure& d) { why = d.text, ++gone; };
    client.start();
    const peer_id p = client.dial(server.m.self().address, {"ps", 0});
    client.await(p, in(5s));
    client.watch(p);
    server.m.begin_step();
    for (int i = 0; i < 20; ++i) {
      server.m.advance();
      std::this_thread::sleep_for(100ms);
    }
    CHECK(gone == 0);
    REQUIRE(until([&] { return gone == 1; }));
    CHECK(why.find("no progress") != std::string::npos);
  }
}

TEST_CASE("a server that starts again is another, whom old expectations do not reach") {
  for (const way w : between_processes) {
    CAPTURE(name_of(w));
    std::optional<asking> a(std::in_place, w, client_options(w));
    const std::string address = a->client.info(a->p)->address;
    const std::uint64_t first = a->client.info(a->p)->who.incarnation;
    a->server.send(SIGKILL);
    REQUIRE(until([&] { return a->lost.is_there.load(); }));
    a->server.wait();
    // Dialed while nobody is there: the connection is made when the next one starts.
    const peer_id old = a->client.dial(address, {"ps", 0, first});
    const peer_id next = a->client.dial(address, {"ps", 0});
    std::this_thread::sleep_for(100ms);
    process again({transport_peer(), "serve", digit(w), address});
    REQUIRE(again.line() == address);
    a->client.await(next, in(5s));
    CHECK(a->client.info(next)->who.incarnation != first);
    CHECK(equal(a->client.call(next, echo, {numbers(10)}, {in(5s)}).parts[0], numbers(10)));
    CHECK_THROWS_WITH_AS(a->client.await(old, in(5s)), doctest::Contains("started again"), aborted);
  }
}

TEST_CASE("two servers do not listen at one port") {
  for (const way w : ways) {
    echo_server server(w);
    messenger_options o = server_options(w);
    o.endpoint.listen = server.m.self().address;
    CHECK_THROWS_WITH_AS(echo_server{o}, doctest::Contains("another process listens there"), failed_precondition);
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    CHECK(client.info(p)->who.incarnation == server.m.self().incarnation);
  }
}

TEST_CASE("other addresses than loopback want keys, or to be told that there are none") {
  messenger_options o = server_options(way::network);
  for (const char* address : {"0.0.0.0:0", "*:0"}) {
    o.endpoint.listen = address;
    CHECK_THROWS_WITH_AS(echo_server{o}, doctest::Contains("insecure_network"), invalid_argument);
  }
  o.endpoint.insecure_network = true;
  echo_server open(o);
  messenger client(client_options(way::network));
  client.start();
  CHECK_THROWS_WITH_AS(client.dial("192.0.2.1:2222"), doctest::Contains("keys are needed"), invalid_argument);
}

TEST_CASE("after a fork nothing that was there before is used, and the parent goes on") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(w);
    auto& [server, client, p] = both;
    const pid_t child = ::fork();
    if (child == 0) {
      int status = 1;
      try {
        client.call(p, echo, {}, {in(1s)});
      } catch (const failed_precondition& e) {
        status = std::string(e.what()).find("fork") == std::string::npos ? 2 : 0;
      } catch (...) {
      }
      ::_exit(status);
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    CHECK(status == 0);
    CHECK(equal(client.call(p, echo, {numbers(10)}, {in(5s)}).parts[0], numbers(10)));
  }
}

TEST_CASE("signals interrupt nothing") {
  struct sigaction on{}, before{};
  on.sa_handler = [](int) {};  // without SA_RESTART: calls of the system end with EINTR
  ::sigaction(SIGALRM, &on, &before);
  const itimerval often{{0, 150}, {0, 150}}, never_again{};
  ::setitimer(ITIMER_REAL, &often, nullptr);
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(w);
    auto& [server, client, p] = both;
    int done = 0;
    for (const auto end = in(300ms); std::chrono::steady_clock::now() < end; ++done)
      CHECK(equal(client.call(p, echo, {numbers(3000)}, {in(10s)}).parts[0], numbers(3000)));
    CHECK(done > 20);
    CHECK(server.gone == 0);
  }
  ::setitimer(ITIMER_REAL, &never_again, nullptr);
  ::sigaction(SIGALRM, &before, nullptr);
}

TEST_CASE("calls that have ended leave no timers behind") {
  connected_pair both(server_options(way::same_process), client_options(way::same_process));
  auto& [server, client, p] = both;
  std::atomic<int> done = 0;
  for (int i = 0; i < 2000; ++i) {
    message m;
    m.method = i % 10 == 0 ? throw_not_found : echo;
    const std::uint64_t number = client.begin(p, std::move(m), {in(1h)}, [&](outcome) { ++done; });
    if (i % 7 == 0) client.cancel(number);
  }
  REQUIRE(until([&] { return done == 2000; }));
  CHECK(until([&] { return client.transport().timers() < 5; }));
}

TEST_CASE("an answer that no message can hold is an error of the request") {
  for (const way w : ways) {
    echo_server server(w);
    server.m.on_request = [&](request r) { server.m.answer(r, std::vector<frame>(70'000)); };
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    CHECK_THROWS_WITH_AS(client.call(p, echo, {}, {in(5s)}), doctest::Contains("70000 parts"), invalid_argument);
  }
}

TEST_CASE("a handler that fails loses its connection, not the process") {
  for (const way w : ways) {
    echo_server server(w);
    server.m.on_note = [](peer_id, message) { throw std::bad_alloc(); };
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    client.note(p, {});
    CHECK(until([&] { return server.gone == 1; }));
    const peer_id again = client.dial(server.m.self().address);
    client.await(again, in(5s));
    CHECK(client.call(again, echo, {}, {in(5s)}).parts.empty());
  }
}

TEST_CASE("many peers at once, and nothing is left of them") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    const int before = descriptors();
    {
      echo_server server(w);
      std::vector<std::unique_ptr<messenger>> clients;
      std::vector<peer_id> peers;
      for (int i = 0; i < 64; ++i) {
        clients.push_back(std::make_unique<messenger>(client_options(w)));
        clients.back()->start();
        peers.push_back(clients.back()->dial(server.m.self().address));
      }
      for (std::size_t i = 0; i < clients.size(); ++i) {
        clients[i]->await(peers[i], in(20s));
        CHECK(equal(clients[i]->call(peers[i], echo, {numbers(i)}, {in(20s)}).parts[0], numbers(i)));
      }
      CHECK(server.m.peers().size() == 64);
      clients.clear();
      CHECK(until([&] { return server.gone == 64; }));
    }
    CHECK(descriptors() == before);
  }
}
