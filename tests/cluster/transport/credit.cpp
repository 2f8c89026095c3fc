#include <leat/cluster/transport/messenger.hpp>

#include "support/transport.hpp"

#include <doctest/doctest.h>

using leat::resource_exhausted;
using namespace leat::transport;
using namespace leat_test;

namespace {
constexpr std::size_t mebibyte = std::size_t{1} << 20;

messenger_options small(messenger_options o) {
  o.endpoint.credit = 4 * mebibyte;
  o.endpoint.queue = 8 * mebibyte;
  return o;
}
}  // namespace

TEST_CASE("what a peer holds is bounded by its credit, what waits by the queue, and others go on") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    echo_server server(small(server_options(w)));
    messenger client(small(client_options(w))), other(small(client_options(w)));
    client.start(), other.start();
    const peer_id p = client.dial(server.m.self().address), q = other.dial(server.m.self().address);
    client.await(p, in(5s)), other.await(q, in(5s));
    message m;
    m.method = keep;
    m.parts = {numbers(mebibyte)};
    int sent = 0;
    const auto fill = [&] {
      for (; sent < 100; ++sent) client.begin(p, m, {}, [](outcome) {});
    };
    CHECK_THROWS_WITH_AS(fill(), doctest::Contains("is full"), resource_exhausted);
    CHECK(sent >= 10);
    CHECK(sent <= 16);
    CHECK(client.transport().under_way(p) <= 4 * mebibyte);
    CHECK_FALSE(client.transport().wait_for_room(p, in(50ms)));
    CHECK(equal(other.call(q, echo, {numbers(100000)}, {in(5s)}).parts[0], numbers(100000)));
    // What is let go of makes room.
    server.take_kept();
    CHECK(client.transport().wait_for_room(p, in(5s)));
    for (int i = 0; i < 200 && client.transport().queued(p) > 0; ++i) {
      server.take_kept();
      std::this_thread::sleep_for(10ms);
    }
    CHECK(client.transport().queued(p) == 0);
    CHECK(equal(client.call(p, echo, {numbers(100000)}, {in(5s)}).parts[0], numbers(100000)));
  }
}

TEST_CASE("a message longer than the credit arrives nevertheless") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    const frame f = numbers(24 * mebibyte + 12345);
    CHECK(equal(client.call(p, echo, {f, numbers(5)}, {in(20s)}).parts[0], f));
  }
}

TEST_CASE("credit comes back when a message is taken, though its parts are kept") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    std::vector<frame> parts;
    // Parts in place and those that come in chunks; more of them than shared memory has room, or descriptors, for.
    for (const auto& [count, bytes] : {std::pair<int, std::size_t>{30, mebibyte}, {3000, 5000}, {12, 3 * mebibyte}}) {
      for (int k = 0; k < count; ++k) {
        client.call(p, keep, {numbers(bytes)}, {in(20s)});
        for (message& m : server.take_kept()) parts.push_back(m.parts.at(0));
        parts.push_back(client.call(p, echo, {numbers(bytes)}, {in(20s)}).parts[0]);
      }
      for (const frame& f : parts) CHECK(f.size() == bytes);
      CHECK(equal(parts.front(), numbers(bytes)));
      CHECK(equal(parts.back(), numbers(bytes)));
      parts.clear();
    }
  }
}

TEST_CASE("a message of almost all the credit is sent after a small one that was taken") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    for (const std::size_t bytes : {mebibyte / 2, 4 * mebibyte - 5000, mebibyte / 2, 4 * mebibyte})
      CHECK(client.call(p, echo, {numbers(bytes)}, {in(20s)}).parts[0].size() == bytes);
  }
}

TEST_CASE("an answer that finds no room is an error in words, and the connection goes on") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    // The client's handlers wait, so that it takes nothing; its requests are small.
    server.m.on_request = [&](request r) {
      if (r.m.method == echo) return server.m.answer(r, r.m.parts);
      server.m.answer(r, std::vector<frame>{numbers(mebibyte)});
    };
    std::atomic<bool> go_on = false;
    std::atomic<int> answered = 0, refused = 0;
    constexpr int count = 40;
    message m;
    m.method = slow;
    for (int k = 0; k < count; ++k)
      client.begin(p, m, {in(20s)}, [&](outcome o) {
        until([&] { return go_on.load(); });
        try {
          if (o.problem) std::rethrow_exception(o.problem);
          ++answered;
        } catch (const resource_exhausted& e) {
          refused += std::string(e.what()).find("could not be sent") != std::string::npos;
        }
      });
    std::this_thread::sleep_for(300ms);  // more answers than have room; if it is too short, fewer are refused
    go_on = true;
    CHECK(until([&] { return answered + refused == count; }, 20s));
    CHECK(answered >= 8);
    CHECK(equal(client.call(p, echo, {numbers(1000)}, {in(20s)}).parts[0], numbers(1000)));
    CHECK(server.gone == 0);
  }
}

TEST_CASE("who sends notes may wait for room") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    echo_server server(small(server_options(w)));
    std::mutex guard;
    std::vector<message> come;
    server.m.on_note = [&](peer_id, message m) {
      const std::lock_guard lock(guard);
      come.push_back(std::move(m));
    };
    messenger client(small(client_options(w)));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    const auto next = [] {
      message m;
      m.parts = {numbers(mebibyte)};
      return m;
    };
    int sent = 0;
    for (message m = next(); client.note(p, m, {}); m = next()) ++sent;
    CHECK(sent >= 8);
    CHECK(sent <= 17);
    message m = next();
    CHECK_FALSE(client.note(p, m, in(30ms)));
    REQUIRE(m.parts.size() == 1);
    CHECK_THROWS_AS(client.note(p, m), resource_exhausted);
    message without_parts;
    CHECK_NOTHROW(client.note(p, without_parts));
    std::thread taker([&] {
      std::this_thread::sleep_for(20ms);
      const std::lock_guard lock(guard);
      come.clear();
    });
    CHECK(client.note(p, m, in(20s)));
    taker.join();
  }
}

TEST_CASE("a message may have thousands of small parts") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(w);
    auto& [server, client, p] = both;
    const std::vector<frame> parts(3000, numbers(5000));
    const message answer = client.call(p, echo, parts, {in(20s)});
    REQUIRE(answer.parts.size() == parts.size());
    for (const frame& f : answer.parts) CHECK(equal(f, parts[0]));
  }
}

TEST_CASE("small parts that are more than the credit together are sent") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    const std::vector<frame> parts(300, numbers(31 * 1024));
    CHECK(client.call(p, echo, parts, {in(20s)}).parts.size() == parts.size());
  }
}

TEST_CASE("a message is sent, whatever its receiver keeps, and whatever memory messages to come have") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    echo_server server(server_options(w));
    std::mutex guard;
    std::vector<frame> kept;
    std::atomic<int> come = 0;
    std::atomic<bool> has_begun = false, go_on = false;
    server.m.on_note = [&](peer_id, message m) {
      if (m.parts.empty()) {  // the thread that reads stands still
        has_begun = true;
        until([&] { return go_on.load(); });
        return;
      }
      const std::lock_guard lock(guard);
      if (++come <= 5) kept.push_back(m.parts[0]);
    };
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    const auto send = [&](std::size_t bytes) {
      message m;
      if (bytes > 0) m.parts = {writable_frame::make(bytes)};
      client.note(p, std::move(m));
    };
    // Five eighths of the memory are kept in place.
    for (int k = 1; k <= 5; ++k) {
      send(10 * mebibyte);
      REQUIRE(until([&] { return come == k; }));
    }
    send(0);
    REQUIRE(until([&] { return has_begun.load(); }));
    // Memory that is taken while messages are on their way must not break up the rest.
    std::vector<writable_frame> to_come;
    for (const int count : {300, 10}) {
      send(10 * mebibyte);
      for (int k = 0; k < count; ++k) to_come.push_back(client.transport().allocate(p, 100));
    }
    go_on = true;
    REQUIRE(until([&] { return come == 7; }));
    send(14 * mebibyte);
    CHECK(until([&] { return come == 8; }));
  }
}

TEST_CASE("memory that a transport gave is sent and read in place") {
  connected_pair both(server_options(way::same_host), client_options(way::same_host));
  auto& [server, client, p] = both;
  for (int i = 0; i < 200; ++i) {
    writable_frame f = client.transport().allocate(p, mebibyte);
    std::fill(f.bytes().begin(), f.bytes().end(), static_cast<std::byte>(i));
    const message answer = client.call(p, echo, {f}, {in(5s)});
    CHECK(equal(answer.parts[0], f));
    CHECK(reinterpret_cast<std::uintptr_t>(answer.parts[0].data()) % 64 == 0);
  }
}

TEST_CASE("memory that is lent is at most half of what a connection has, and comes back") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    connected_pair both(small(server_options(w)), small(client_options(w)));
    auto& [server, client, p] = both;
    std::vector<writable_frame> lent;
    for (writable_frame f; lent.size() < 1000 && (f = client.transport().lend(p, mebibyte / 4)).size() != 0;) lent.push_back(f);
    CHECK(lent.size() < 100);
    CHECK(lent.empty() == (w != way::same_host));
    // What is not lent has room.
    CHECK(equal(client.call(p, echo, {numbers(mebibyte)}, {in(5s)}).parts[0], numbers(mebibyte)));
    if (lent.empty()) continue;
    std::fill(lent[0].bytes().begin(), lent[0].bytes().end(), std::byte{7});
    CHECK(equal(client.call(p, echo, {lent[0]}, {in(5s)}).parts[0], lent[0]));
    CHECK(client.transport().lend(p, mebibyte / 4).size() == 0);
    CHECK(client.transport().lend(p, SIZE_MAX).size() == 0);
    lent.clear();
    client.call(p, echo, {numbers(1)}, {in(5s)});
    CHECK(client.transport().lend(p, mebibyte / 4).size() == mebibyte / 4);
  }
}

TEST_CASE("frames outlive connections") {
  for (const way w : ways) {
    std::vector<frame> kept;
    {
      connected_pair both(w);
      auto& [server, client, p] = both;
      for (const std::size_t n : {10, 5000, 300000}) {
        kept.push_back(client.call(p, echo, {numbers(n)}, {in(5s)}).parts[0]);
        client.call(p, keep, {numbers(n)}, {in(5s)});
      }
      for (const message& m : server.take_kept()) kept.push_back(m.parts.at(0));
    }
    for (const frame& f : kept) CHECK(equal(f, numbers(f.size())));
  }
}

TEST_CASE("who keeps thousands of messages is not taken for dead") {
  for (const way w : ways) {
    CAPTURE(name_of(w));
    std::atomic<int> gone = 0, answered = 0;  // the client's last handlers run when it ends
    echo_server server(w);
    messenger client(client_options(w));
    client.on_gone = [&](peer_id, const peer_info&, const departure&) { ++gone; };
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    client.watch(p);
    message m;
    m.method = keep;
    m.parts = {numbers(4000)};
    for (int i = 0; i < 5000; ++i) client.begin(p, m, {}, [&](outcome o) { answered += o.problem == nullptr; });
    std::this_thread::sleep_for(2700ms);
    CHECK(gone == 0);
    CHECK(until([&] {
      server.take_kept();
      return answered == 5000;
    }));
    CHECK(gone == 0);
  }
}
