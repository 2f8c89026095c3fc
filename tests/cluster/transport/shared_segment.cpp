// One direction of a connection through shared memory, without the sockets and threads around it: whatever is held, and by whom, the next
// packet finds room as soon as the reader has read what is before it.

#include <leat/cluster/transport/shared_segment.hpp>

#include <leat/cluster/transport/wire.hpp>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::transport;

namespace {

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr std::size_t block = 4608;  // what a head takes of an arena

// Both halves of a segment, and the socket that the reader rings.
struct both_halves {
  explicit both_halves(std::size_t arena_bytes) : made(segment_mapping::make(arena_bytes)), out(made) {
    std::array<int, 2> ends{};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
    heard = descriptor(ends[0]);
    in.emplace(segment_mapping::of(descriptor(::dup(made->file()))), std::make_shared<descriptor>(ends[1]));
  }
  bool was_rung() {
    char bell = 0;
    return ::recv(heard.get(), &bell, 1, MSG_DONTWAIT) == 1;
  }

  std::shared_ptr<segment_mapping> made;
  segment_writer out;
  descriptor heard;
  std::optional<segment_reader> in;
};

packet body_of(std::size_t bytes) { return {{writable_frame::make(bytes)}}; }

}  // namespace

TEST_CASE("what is held, and memory of messages to come, leave room for the next packet") {
  both_halves s(8 * mebibyte);  // 5 are held, if anyone holds them
  std::vector<packet> held;
  for (int k = 0; k < 5; ++k) {
    REQUIRE(s.out.write(body_of(mebibyte), false));
    held.push_back(*s.in->read());
  }
  // Two messages are made while packets are on their way, which are read later: their heads would break the free memory into three.
  std::vector<writable_frame> heads;
  for (int k = 0; k < 2; ++k) {
    REQUIRE(s.out.write(body_of(mebibyte / 10 * 9), false));
    if (auto head = s.out.allocate(100)) heads.push_back(std::move(*head));
  }
  for (int k = 0; k < 2; ++k) static_cast<void>(s.in->read());
  SUBCASE("which are queued") {}
  SUBCASE("which have been sent") { heads.clear(); }
  SUBCASE("which are many") {
    while (auto head = s.out.allocate(100)) heads.push_back(std::move(*head));
  }
  REQUIRE(s.out.write(body_of(2 * mebibyte), false));
  CHECK(s.in->read()->bytes() == 2 * mebibyte);
  CHECK(s.out.write(body_of(3 * mebibyte), false));
}

TEST_CASE("the largest packet of a message has room, whatever is held") {
  for (const std::size_t chunk : {wire_chunk_bytes, 16 * mebibyte}) {
    CAPTURE(chunk);
    both_halves s(segment_arena_bytes(wire_packet_frames + 1, wire_packet_bytes(chunk)));
    std::vector<packet> held;
    for (int k = 0; k < 4000; ++k) {
      if (!s.out.write(body_of(k < 40 ? mebibyte : 100), false)) break;
      held.push_back(*s.in->read());
    }
    transport::message m;
    for (int k = 0; k < 300; ++k) m.parts.push_back(writable_frame::make(wire_whole_bytes - 1));
    for (std::size_t k = 0; k < chunk / wire_whole_bytes; ++k) m.parts.push_back(writable_frame::make(wire_whole_bytes));
    while (m.parts.size() < wire_limits().parts) m.parts.push_back(writable_frame::make(1));
    std::vector<packet> packets;
    encode(m, chunk, packets);
    CHECK(packets[0].bytes() <= wire_packet_bytes(chunk));
    CHECK(packets[0].frames.size() <= wire_packet_frames + 1);
    CHECK(s.out.write(packets[0], false));
    CHECK(s.in->read().has_value());
  }
}

TEST_CASE("who finds no room is rung when there is some") {
  both_halves s(8 * mebibyte);
  REQUIRE(s.out.write(body_of(5 * mebibyte), false));
  REQUIRE(s.out.write(body_of(3 * mebibyte), false));
  CHECK_FALSE(s.out.write(body_of(mebibyte), false));
  CHECK_FALSE(s.was_rung());
  {
    const auto held = s.in->read();
    CHECK(s.was_rung());  // a descriptor is free, no memory
    CHECK_FALSE(s.out.write(body_of(mebibyte), false));
  }
  CHECK(s.was_rung());
  CHECK(s.out.write(body_of(mebibyte), false));
}

namespace {

// What an endpoint does with a segment, of which one thing after the other is tried in every order: messages are made and queued, the
// peer grants credit for what it has read, it reads one, it lets go of what it holds. The arena has eight blocks; five are held.
struct small_connection {
  static constexpr std::size_t credit = 2;  // messages
  both_halves s{8 * block};
  std::deque<packet> queue;
  std::vector<packet> held;
  std::size_t sent = 0, granted = 0, read = 0;

  void flush() {  // as endpoint::flush
    while (!queue.empty() && sent - granted < credit && s.out.write(queue.front(), false)) {
      queue.pop_front();
      ++sent;
    }
  }
  bool send() {  // as endpoint::try_send
    if (queue.size() == 3) return false;
    packet p;
    if (auto head = s.out.allocate(100)) p.frames.emplace_back(*head);
    else p.frames.emplace_back(writable_frame::make(100));
    p.frames.emplace_back(writable_frame::make(2 * block));
    queue.push_back(std::move(p));
    flush();
    return true;
  }
  bool grant() {
    if (granted == read) return false;
    granted = read;
    flush();
    return true;
  }
  bool receive() {
    auto p = s.in->read();
    if (!p) return false;
    held.push_back(std::move(*p));
    ++read;
    return true;
  }
  bool let_go() {
    if (held.empty()) return false;
    held.erase(held.begin());
    return true;
  }
  bool does(int what) { return what == 0 ? send() : what == 1 ? grant() : what == 2 ? receive() : let_go(); }

  // Whether all that waits is sent if the peer reads, and grants, but holds what it has.
  bool ends() {
    while (grant() || receive() || s.was_rung()) flush();
    return queue.empty();
  }
};

}  // namespace

TEST_CASE("no order of sending, granting, reading and letting go leaves a message without room") {
  constexpr int length = 9;
  std::vector<int> order;
  int tried = 0;
  std::string stuck;
  const auto walk = [&](const auto& self) -> void {
    {
      small_connection c;
      for (const int what : order)
        if (!c.does(what)) return;  // nothing to do: as without it
      if (static_cast<int>(order.size()) == length) {
        ++tried;
        if (!c.ends() && stuck.empty())
          for (const int what : order) stuck += "sgrl"[what];
        return;
      }
    }
    for (int what = 0; what < 4; ++what) {
      order.push_back(what);
      self(self);
      order.pop_back();
    }
  };
  walk(walk);
  CHECK(tried > 500);
  CHECK(stuck == "");
}
