#include <leat/cluster/transport/wire.hpp>
#include <leat/core/error.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <string>

using leat::data_loss;
using leat::dtype;
using leat::error;
using leat::failed_precondition;
using leat::invalid_argument;
using leat::resource_exhausted;
using namespace leat::transport;

namespace {

frame bytes_of(std::size_t n, int seed = 1) {
  writable_frame f = writable_frame::make(n);
  for (std::size_t i = 0; i < n; ++i) f.data()[i] = static_cast<std::byte>(i * 31 + static_cast<std::size_t>(seed));
  return f;
}

message sent(std::vector<std::size_t> sizes) {
  message m;
  m.what = kind::request;
  m.method = 7, m.flags = 3, m.edge = 11, m.number = 1'000'000'007, m.incarnation = 0x123456789abcdef0, m.mark = 5, m.deadline = 250'000;
  for (std::size_t i = 0; i < sizes.size(); ++i) m.parts.push_back(bytes_of(sizes[i], static_cast<int>(i)));
  return m;
}

std::vector<packet> packets_of(const message& m, std::size_t chunk = wire_chunk_bytes) {
  std::vector<packet> packets;
  encode(m, chunk, packets);
  return packets;
}

message through(const message& m, std::size_t chunk = wire_chunk_bytes) {
  assembler in;
  std::optional<message> got;
  for (packet& p : packets_of(m, chunk)) {
    CHECK_FALSE(got.has_value());
    got = in.add(std::move(p));
  }
  REQUIRE(got.has_value());
  CHECK_FALSE(in.waits());
  return *got;
}

bool equal(const frame& a, const frame& b) { return std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end()); }

void check_equal(const message& a, const message& b) {
  CHECK(a.what == b.what);
  CHECK(a.method == b.method);
  CHECK(a.flags == b.flags);
  CHECK(a.edge == b.edge);
  CHECK(a.number == b.number);
  CHECK(a.incarnation == b.incarnation);
  CHECK(a.mark == b.mark);
  CHECK(a.deadline == b.deadline);
  CHECK(a.element == b.element);
  CHECK(a.sizes == b.sizes);
  REQUIRE(a.parts.size() == b.parts.size());
  for (std::size_t i = 0; i < a.parts.size(); ++i) CHECK(equal(a.parts[i], b.parts[i]));
}

// Bytes of a head to be spoiled.
std::string head_of(const message& m) { return std::string(packets_of(m)[0].frames[0].text()); }
packet as_packet(std::string head) { return {{frame::of(std::move(head))}}; }
template <class T>
std::string with(std::string head, std::size_t at, T value) {
  return head.replace(at, sizeof value, reinterpret_cast<const char*>(&value), sizeof value);
}

}  // namespace

TEST_CASE("messages come back as they were sent, whatever the sizes of their parts") {
  for (const std::vector<std::size_t>& sizes : std::vector<std::vector<std::size_t>>{{},
                                                                                     {0},
                                                                                     {1},
                                                                                     {3, 5, 0, 9},
                                                                                     {4096},
                                                                                     {4097},
                                                                                     {4000, 96, 1},
                                                                                     {32768},
                                                                                     {262144},
                                                                                     {262145},
                                                                                     {1000000, 3, 262144, 5000},
                                                                                     {300000, 300000}}) {
    const message m = sent(sizes);
    check_equal(through(m), m);
    check_equal(through(m, 0), m);
    check_equal(through(m, 5000), m);
  }
}

TEST_CASE("small parts are packed into the head, large ones shared in chunks of 256 KiB") {
  CHECK(packets_of(sent({40, 60, 3000})).size() == 1);
  CHECK(packets_of(sent({40, 60, 3000}))[0].frames.size() == 1);
  CHECK(packets_of(sent({4096}))[0].frames.size() == 1);
  const message m = sent({std::size_t{1} << 20});
  const auto packets = packets_of(m);
  CHECK(packets.size() == 5);
  CHECK(packets[1].frames[1].size() == wire_chunk_bytes);
  CHECK(packets[1].frames[1].data() == m.parts[0].data());
  CHECK(packets_of(m, 0).size() == 1);
}

TEST_CASE("a tensor's sizes must give its bytes, on both sides") {
  message m = sent({24});
  m.element = dtype::float32;
  m.sizes = {2, 3};
  check_equal(through(m), m);
  m.sizes = {2, 4};
  CHECK_THROWS_AS(packets_of(m), invalid_argument);
  m.sizes = {2, -3};
  CHECK_THROWS_AS(packets_of(m), invalid_argument);
  m.sizes = {2, 3};
  const std::string head = head_of(m);
  CHECK_THROWS_AS(assembler().add(as_packet(with(head, 64, std::int64_t{-2}))), data_loss);
  CHECK_THROWS_AS(assembler().add(as_packet(with(head, 64, std::int64_t{1} << 62))), data_loss);
  CHECK_THROWS_AS(assembler().add(as_packet(with(head, 64, std::int64_t{3}))), data_loss);
  m.sizes = {std::int64_t{1} << 40, 0};
  m.parts = {frame()};
  check_equal(through(m), m);
}

TEST_CASE("what is no message is refused with words") {
  assembler in;
  CHECK_THROWS_AS(in.add({}), data_loss);
  CHECK_THROWS_AS(in.add(as_packet("")), data_loss);
  CHECK_THROWS_AS(in.add(as_packet("GET / HTTP/1.1\r\n")), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(std::string(64, '\xff'))), data_loss);
  const std::string head = head_of(sent({10, 20}));
  for (std::size_t n = 0; n < head.size(); ++n) CHECK_THROWS_AS(in.add(as_packet(head.substr(0, n))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(head + "x")), data_loss);
  CHECK_THROWS_WITH_AS(in.add(as_packet(with(head, 4, std::uint16_t{9}))),
                       ("the peer speaks version 9 of the protocol, this process version " + std::to_string(wire_version) +
                        ": use one version of the library on both sides")
                           .c_str(),
                       failed_precondition);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 6, std::uint16_t{0}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 6, std::uint16_t{100}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 12, std::uint16_t{65535}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 40, std::int64_t{-1}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 48, std::uint64_t{29}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 48, std::uint64_t{31}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 48, ~std::uint64_t{0}))), resource_exhausted);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 64, std::uint64_t{10 * 4 + 3}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 64, std::uint64_t{10 * 4 + 1}))), data_loss);
  CHECK_THROWS_AS(in.add(as_packet(with(head, 64, ~std::uint64_t{0} - 3))), data_loss);
}

TEST_CASE("no memory is taken for a size that is only claimed") {
  // 3 GB in chunks are announced: nothing happens until they come; more than the limit is refused at once.
  message m = sent({std::size_t{1} << 20});
  const std::string head = head_of(m);
  const std::uint64_t claimed = std::uint64_t{3} << 30;
  const std::string liar = with(with(head, 48, claimed), 64, claimed * 4 + 2);
  assembler in;
  CHECK_FALSE(in.add(as_packet(liar)).has_value());
  CHECK(in.waits());
  assembler careful({.message_bytes = 65536});
  CHECK_THROWS_AS(careful.add(as_packet(liar)), resource_exhausted);
}

TEST_CASE("chunks come in their order, of one message at a time") {
  const message m = sent({std::size_t{1} << 20});
  const auto fresh = [&] {
    auto packets = packets_of(m);
    assembler in;
    in.add(std::move(packets[0]));
    return std::pair{std::move(in), std::move(packets)};
  };
  {
    assembler in;
    CHECK_THROWS_AS(in.add(packets_of(m)[1]), data_loss);
  }
  {
    auto [in, packets] = fresh();
    CHECK_THROWS_AS(in.add(packets[2]), data_loss);
  }
  {
    auto [in, packets] = fresh();
    in.add(packets[1]);
    CHECK_THROWS_AS(in.add(packets[1]), data_loss);
  }
  {
    auto [in, packets] = fresh();
    CHECK_THROWS_AS(in.add(packets_of(m)[0]), data_loss);
  }
  {
    auto [in, packets] = fresh();
    const message small = sent({3});
    in.add(packets[1]);
    CHECK(in.add(packets_of(small)[0]).has_value());
    in.add(packets[2]), in.add(packets[3]);
    CHECK(in.add(packets[4]).has_value());
  }
  {
    auto [in, packets] = fresh();
    packets[1].frames[1] = bytes_of(2 << 20);
    CHECK_THROWS_AS(in.add(packets[1]), data_loss);
  }
  {
    auto [in, packets] = fresh();
    packets[1].frames[1] = frame();
    CHECK_THROWS_AS(in.add(packets[1]), data_loss);
  }
}

TEST_CASE("spoiled bytes give an error or another message, never harm") {
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string head = head_of(sent({10, 200, 0, 5000}));
    for (unsigned n = 1 + random() % 4; n > 0; --n) head[random() % head.size()] = static_cast<char>(random());
    if (random() % 4 == 0) head.resize(random() % head.size());
    packet p = as_packet(head);
    if (random() % 2) p.frames.push_back(bytes_of(random() % 2 ? 5000 : random() % 10000));
    assembler in({.message_bytes = 1 << 20});
    try {
      in.add(p);
    } catch (const error& e) {
      CHECK(e.what()[0] != '\0');
    }
  }
}
