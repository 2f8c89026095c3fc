#include <leat/cluster/transport/messenger.hpp>

#include "support/transport.hpp"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <zmq.hpp>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>

namespace leat::transport::detail {
// Of impl/shared_carrier.hpp, which other sources compile.
socklen_t abstract_name(sockaddr_un& to, const std::string& where);
bool pass_descriptor(int socket, int file);
}  // namespace leat::transport::detail

using leat::already_exists;
using leat::data_loss;
using leat::descriptor;
using leat::failed_precondition;
using leat::invalid_argument;
using leat::not_found;
using leat::unauthenticated;
using namespace leat::transport;
using namespace leat_test;

namespace {

descriptor connected(const std::string& where) {
  const address to = parse_address(where);
  descriptor s(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in in{};
  in.sin_family = AF_INET, in.sin_port = htons(static_cast<std::uint16_t>(to.port)), in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&in), sizeof in) != 0) s.reset();
  return s;
}

descriptor unix_connected(const std::string& where) {
  sockaddr_un name;
  const socklen_t size = leat::transport::detail::abstract_name(name, where);
  descriptor s(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (::connect(s.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) s.reset();
  return s;
}

// Whether the other side has not closed it; reads what has come.
bool is_open(const descriptor& s) {
  char bytes[256];
  ssize_t n = 0;
  while ((n = ::recv(s.get(), bytes, sizeof bytes, MSG_DONTWAIT)) > 0) {
  }
  return n < 0 && errno == EAGAIN;
}

void put(const descriptor& s, std::string_view bytes) { static_cast<void>(!::send(s.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL)); }

// The greeting of ZMTP 3.0 with the mechanism NULL, and its READY command as a DEALER.
std::string zmtp() {
  std::string greeting = std::string("\xff\0\0\0\0\0\0\0\1\x7f\3\0NULL", 16);
  greeting.resize(64, '\0');
  const std::string ready = std::string("\5READY\x0bSocket-Type\0\0\0\6DEALER", 6 + 12 + 4 + 6);
  return greeting + '\4' + static_cast<char>(ready.size()) + ready;
}

struct keyed {
  key_pair server = generate_keys(), client = generate_keys();
  messenger_options serving() const {
    messenger_options o = server_options(way::network);
    o.endpoint.same_process.reset(), o.endpoint.same_host.reset();
    o.endpoint.keys = key_options{.own = server, .server_key = server.public_key, .server_keys = {}, .allowed = {client.public_key}};
    return o;
  }
  messenger_options asking(const key_pair& own, const std::string& expected) const {
    messenger_options o = client_options(way::network);
    o.endpoint.same_process.reset(), o.endpoint.same_host.reset();
    o.endpoint.keys = key_options{.own = own, .server_key = expected, .server_keys = {}, .allowed = {}};
    return o;
  }
};

}  // namespace

TEST_CASE("random bytes at a live server harm nobody") {
  for (const way w : {way::network, way::same_host}) {
    CAPTURE(name_of(w));
    messenger_options o = server_options(w);
    o.endpoint.stranger_time = 300ms;
    connected_pair both(o, client_options(w));
    auto& [server, client, p] = both;
    std::mt19937 random(7);
    const auto end = in(2s);
    for (int i = 0; std::chrono::steady_clock::now() < end; ++i) {
      const descriptor s = connected(server.m.self().address);
      REQUIRE(s);
      std::string bytes(random() % 3000, '\0');
      for (char& c : bytes) c = static_cast<char>(random());
      switch (i % 4) {
        case 0: put(s, bytes); break;
        case 1: put(s, zmtp().substr(0, random() % zmtp().size())); break;
        case 2: put(s, zmtp() + std::string(1, '\0') + static_cast<char>(bytes.size() % 200) + bytes); break;
        case 3:  // a frame that claims 20 GB
          put(s, zmtp() + std::string("\2\0\0\0\4\xa8\x17\xc8\0", 9) + bytes);
          break;
      }
      if (i % 10 == 0) CHECK(equal(client.call(p, echo, {numbers(1000)}, {in(5s)}).parts[0], numbers(1000)));
    }
    CHECK(server.gone == 0);
    CHECK(client.call(p, echo, {}, {in(5s)}).parts.empty());
  }
}

TEST_CASE("who speaks an old protocol of ZeroMQ, or none, is cut off at once") {
  messenger_options o = server_options(way::network);
  o.endpoint.stranger_time = 20s;
  echo_server server(o);
  // ZMTP 1.0 with a name and without, 2.0, and another program's first words.
  const std::string names[] = {std::string("\5\0name", 6), std::string("\1\0\4\0abc", 7),
                               std::string("\xff\0\0\0\0\0\0\0\1\x7f\0\5\0\0", 14), std::string("\xff\0\0\0\0\0\0\0\1\x7f\1\5\0\0", 14),
                               "GET / HTTP/1.1\r\n\r\n"};
  for (const std::string& words : names) {
    CAPTURE(words.size());
    const descriptor s = connected(server.m.self().address);
    put(s, words);
    for (int k = 0; k < 300 && is_open(s); ++k) std::this_thread::sleep_for(10ms);
    CHECK_FALSE(is_open(s));
  }
  messenger client(client_options(way::network));
  client.start();
  const peer_id p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(client.call(p, echo, {}, {in(5s)}).parts.empty());
}

TEST_CASE("who says nothing is dropped in time") {
  messenger_options o = server_options(way::network);
  o.endpoint.stranger_time = 200ms;
  echo_server server(o);
  const descriptor silent = connected(server.m.self().address), greeted = connected(server.m.self().address);
  put(greeted, zmtp());
  for (const descriptor* s : {&silent, &greeted}) {
    timeval patience{3, 0};
    ::setsockopt(s->get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    char byte = 0;
    ssize_t n = 0;
    while ((n = ::recv(s->get(), &byte, 1, 0)) > 0) {
    }
    const bool is_closed = n == 0 || errno == ECONNRESET;
    CHECK(is_closed);
  }
}

TEST_CASE("500 connections that are opened and left cost no more than the last 256, and nobody else a place") {
  rlimit files{};
  ::getrlimit(RLIMIT_NOFILE, &files);
  rlimit more = files;
  more.rlim_cur = std::min<rlim_t>(files.rlim_max, 4096);
  REQUIRE(more.rlim_cur >= 2048);
  ::setrlimit(RLIMIT_NOFILE, &more);
  for (const way w : {way::network, way::same_host}) {
    CAPTURE(name_of(w));
    messenger_options o = server_options(w);
    o.endpoint.stranger_time = 1500ms;
    echo_server server(o);
    const auto begin = std::chrono::steady_clock::now();
    std::vector<descriptor> open;
    for (int i = 0; i < 500; ++i) {
      if (w == way::network) {
        open.push_back(connected(server.m.self().address));
        if (i % 2 == 0) put(open.back(), zmtp().substr(0, static_cast<std::size_t>(i) % 90));
      } else {
        open.push_back(unix_connected(server.m.self().address));
      }
      REQUIRE(open.back());
    }
    messenger client(client_options(w));
    client.start();
    const peer_id p = client.dial(server.m.self().address);
    client.await(p, in(5s));
    CHECK(equal(client.call(p, echo, {numbers(1000)}, {in(5s)}).parts[0], numbers(1000)));
    CHECK(client.info(p)->by == w);
    const auto count_open = [&] { return std::count_if(open.begin(), open.end(), [](const descriptor& s) { return is_open(s); }); };
    CHECK(until([&] { return count_open() <= 256; }, 1s));
    if (std::chrono::steady_clock::now() - begin < 1s) CHECK(count_open() > 200);
    CHECK(until([&] { return count_open() == 0; }, 5s));
    CHECK(server.gone == 0);
    CHECK(client.call(p, echo, {}, {in(5s)}).parts.empty());
  }
  ::setrlimit(RLIMIT_NOFILE, &files);
}

TEST_CASE("a first message that has no end is not waited for") {
  messenger_options o = server_options(way::network);
  echo_server server(o);
  const descriptor s = connected(server.m.self().address);
  timeval patience{0, 100'000};
  ::setsockopt(s.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  put(s, zmtp());
  std::this_thread::sleep_for(50ms);
  std::string frame = std::string("\3\0\0\0\0\0\1\0\0", 9) + std::string(65536, 'x');  // there is more, says each
  std::uint64_t sent = 0;
  const auto end = in(4s);
  while (std::chrono::steady_clock::now() < end) {
    const std::size_t at = sent % frame.size();
    const ssize_t n = ::send(s.get(), frame.data() + at, frame.size() - at, MSG_NOSIGNAL);
    // Its window may stay shut after it has closed the connection.
    if ((n < 0 && errno != EAGAIN) || !is_open(s)) break;
    if (n > 0) sent += static_cast<std::uint64_t>(n);
    if (sent % (std::uint64_t{1} << 20) < frame.size()) std::this_thread::sleep_for(200us);  // some GB a second otherwise
  }
  CHECK(std::chrono::steady_clock::now() < end);
  CHECK(sent < (std::uint64_t{256} << 20));
  MESSAGE("it was cut off after " << (sent >> 20) << " MiB");
}

TEST_CASE("floods that end suddenly, before they are read, end no process") {
  std::atomic<int> notes = 0;
  std::atomic<bool> is_slow = true;
  echo_server server(way::network);
  server.m.on_note = [&](peer_id, message) {
    ++notes;
    if (is_slow) std::this_thread::sleep_for(1ms);
  };
  std::vector<packet> hello, note;
  message m;
  m.what = kind::hello;
  m.parts.push_back(encode_greeting({identity{"cluster", "run", "", -1, random_incarnation(), "", 1}, {}, 0}));
  encode(m, 0, hello);
  encode(message(), 0, note);
  const auto framed = [](const packet& p) {
    return '\0' + std::string(1, static_cast<char>(p.frames[0].size())) + std::string(p.frames[0].text());
  };
  REQUIRE(hello[0].frames[0].size() < 256);
  std::string flood = framed(hello[0]);
  for (int i = 0; i < 3000; ++i) flood += framed(note[0]);
  std::vector<descriptor> floods;
  for (int i = 0; i < 3; ++i) {
    floods.push_back(connected(server.m.self().address));
    put(floods.back(), zmtp());
    std::this_thread::sleep_for(20ms);
    put(floods.back(), flood);
  }
  CHECK(until([&] { return notes > 50; }));
  for (descriptor& s : floods) {
    const linger at_once{1, 0};
    ::setsockopt(s.get(), SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    s.reset();
  }
  std::this_thread::sleep_for(700ms);  // ZeroMQ's timers come meanwhile
  is_slow = false;
  messenger client(client_options(way::network));
  client.start();
  const peer_id p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(equal(client.call(p, echo, {numbers(100)}, {in(5s)}).parts[0], numbers(100)));
}

TEST_CASE("a number of a connection that has ended may be another's, which is not shut") {
  messenger_options o = server_options(way::network);
  o.endpoint.stranger_time = 200ms;
  echo_server server(o);
  {
    std::vector<descriptor> ended;
    for (int i = 0; i < 20; ++i) {
      ended.push_back(connected(server.m.self().address));
      put(ended.back(), "GET / HTTP/1.1\r\n\r\n" + std::string(200, 'x'));
    }
    std::this_thread::sleep_for(50ms);
  }
  std::vector<std::pair<descriptor, descriptor>> others;
  for (int i = 0; i < 60; ++i) {
    int both[2] = {-1, -1};
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, both) == 0);
    others.emplace_back(descriptor(both[0]), descriptor(both[1]));
  }
  std::this_thread::sleep_for(600ms);
  for (const auto& [a, b] : others) {
    CHECK(is_open(a));
    CHECK(is_open(b));
  }
}

TEST_CASE("another version of the protocol is told so in words") {
  echo_server server(way::network);
  zmq::context_t context(1);
  zmq::socket_t s(context, zmq::socket_type::dealer);
  s.set(zmq::sockopt::linger, 0);
  s.set(zmq::sockopt::rcvtimeo, 3000);
  s.connect("tcp://" + server.m.self().address);
  message m;
  m.what = kind::hello;
  m.parts.push_back(encode_greeting({identity{}, {}, 0}));
  std::vector<packet> packets;
  encode(m, 0, packets);
  std::string head(packets[0].frames[0].text());
  head[4] = 9;
  s.send(zmq::buffer(head), zmq::send_flags::none);
  zmq::message_t answer;
  REQUIRE(s.recv(answer));
  CHECK(answer.to_string().find("the peer speaks version 9 of the protocol, this process version 2") != std::string::npos);
}

TEST_CASE("who takes a name that a connection has disturbs it not") {
  echo_server server(way::network);
  zmq::context_t context(1);
  const auto hello = [&] {
    message m;
    m.what = kind::hello;
    m.parts.push_back(encode_greeting({identity{"cluster", "run", "", -1, random_incarnation(), "", 1}, {}, 0}));
    std::vector<packet> packets;
    encode(m, 0, packets);
    return std::string(packets[0].frames[0].text());
  }();
  const auto named = [&] {
    zmq::socket_t s(context, zmq::socket_type::dealer);
    s.set(zmq::sockopt::linger, 0);
    s.set(zmq::sockopt::rcvtimeo, 1000);
    s.set(zmq::sockopt::routing_id, "the same");
    s.connect("tcp://" + server.m.self().address);
    s.send(zmq::buffer(hello), zmq::send_flags::none);
    return s;
  };
  zmq::message_t answer;
  zmq::socket_t first = named();
  REQUIRE(first.recv(answer));
  zmq::socket_t second = named();
  CHECK(server.m.peers().size() == 1);
  CHECK(server.gone == 0);
  messenger client(client_options(way::network));
  client.start();
  const peer_id p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(equal(client.call(p, echo, {numbers(100)}, {in(5s)}).parts[0], numbers(100)));
  CHECK(server.m.peers().size() == 2);
}

TEST_CASE("a process of this host that passes nonsense is dropped") {
  echo_server server(way::same_host);
  std::vector<descriptor> open;
  for (int i = 0; i < 20; ++i) {
    descriptor s = unix_connected(server.m.self().address);
    REQUIRE(s);
    if (i % 3 == 0) put(s, "GET / HTTP/1.1\r\n");
    if (i % 3 == 1) leat::transport::detail::pass_descriptor(s.get(), 0);
    open.push_back(std::move(s));
  }
  messenger client(client_options(way::same_host));
  client.start();
  const peer_id p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(client.info(p)->by == way::same_host);
  CHECK(server.m.peers().size() == 1);
}

TEST_CASE("with keys only those who are listed get in, and are told otherwise") {
  const keyed k;
  echo_server server(k.serving());
  const auto try_as = [&](messenger_options o) {
    messenger client(std::move(o));
    client.start();
    const peer_id p = client.dial(server.m.self().address, {"ps", 0});
    client.await(p, in(5s));
    CHECK(client.info(p)->by == way::network);
    CHECK(equal(client.call(p, echo, {numbers(300000)}, {in(10s)}).parts[0], numbers(300000)));
  };
  try_as(k.asking(k.client, k.server.public_key));
  CHECK_THROWS_WITH_AS(try_as(k.asking(generate_keys(), k.server.public_key)), doctest::Contains("refused this process's key"),
                       unauthenticated);
  CHECK_THROWS_AS(try_as(k.asking(k.client, generate_keys().public_key)), unauthenticated);
  CHECK_THROWS_AS(try_as(client_options(way::network)), unauthenticated);
  // A client is no task, whatever it says of itself.
  messenger_options task = k.asking(k.client, k.server.public_key);
  task.self.job = "worker", task.self.task = 0;
  CHECK_THROWS_WITH_AS(try_as(task), doctest::Contains("has not the key of the cluster's servers"), unauthenticated);
  CHECK(server.m.peers().empty());
  CHECK_THROWS_AS(messenger(k.asking({"short", "x"}, k.server.public_key)), invalid_argument);
}

TEST_CASE("a key that is revoked ends its connections and opens no more") {
  const keyed k;
  echo_server server(k.serving());
  std::atomic<int> gone = 0;
  messenger client(k.asking(k.client, k.server.public_key));
  client.on_gone = [&](peer_id, const peer_info&, const departure&) { ++gone; };
  client.start();
  const peer_id p = client.dial(server.m.self().address);
  client.await(p, in(5s));
  CHECK(server.m.info(server.m.peers().at(0))->key == k.client.public_key);
  server.m.transport().set_allowed({generate_keys().public_key});
  CHECK(until([&] { return gone == 1; }));
  const peer_id again = client.dial(server.m.self().address);
  CHECK_THROWS_AS(client.await(again, in(5s)), unauthenticated);
}

TEST_CASE("keys in files") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / ("leat-keys-" + std::to_string(::getpid()));
  std::filesystem::create_directory(folder);
  const key_pair keys = generate_keys();
  write_keys(folder / "k", keys);
  CHECK(read_keys(folder / "k").secret_key == keys.secret_key);
  CHECK(read_public_keys(folder / "k.public") == std::vector<std::string>{keys.public_key});
  CHECK_THROWS_AS(write_keys(folder / "k", keys), already_exists);
  CHECK_THROWS_AS(read_keys(folder / "none"), not_found);
  CHECK_THROWS_AS(read_keys(folder / "k.public"), data_loss);
  ::chmod((folder / "k").c_str(), 0644);
  CHECK_THROWS_WITH_AS(read_keys(folder / "k"), doctest::Contains("others than its owner may read"), failed_precondition);
  const auto file = [&](const std::string& text) {
    std::ofstream(folder / "list") << text;
    return folder / "list";
  };
  CHECK(read_public_keys(file("# the workers\npublic " + keys.public_key + "\n\npublic " + keys.public_key + "\n")).size() == 2);
  CHECK_THROWS_AS(read_public_keys(file("public abc\n")), data_loss);
  CHECK_THROWS_AS(read_public_keys(file("private " + keys.public_key)), data_loss);
  CHECK_THROWS_AS(read_public_keys(file(std::string(100000, 'x'))), data_loss);
  const key_pair other = generate_keys();
  std::ofstream(folder / "mixed") << "public " << keys.public_key << "\nsecret " << other.secret_key << "\n";
  ::chmod((folder / "mixed").c_str(), 0600);
  CHECK_THROWS_WITH_AS(read_keys(folder / "mixed"), doctest::Contains("do not belong together"), data_loss);
  std::filesystem::remove_all(folder);
}
