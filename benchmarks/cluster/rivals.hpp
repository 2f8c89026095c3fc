#pragma once
// The bare programs: push and pull of one array, by ZeroMQ over TCP and by shared memory, with nothing else.

#include "processes.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <zmq.hpp>

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

namespace bench {

inline zmq::message_t lent(void* data, std::size_t bytes) {
  return zmq::message_t(data, bytes, [](void*, void*) {}, nullptr);
}

inline contender bare_zeromq() {
  contender c;
  c.name = "bare ZeroMQ";
  c.serve = [](std::size_t bytes, auto say) {
    zmq::context_t context(1);
    zmq::socket_t router(context, zmq::socket_type::router);
    router.bind("tcp://127.0.0.1:*");
    say(router.get(zmq::sockopt::last_endpoint));
    std::vector<float> values(bytes / sizeof(float));
    for (zmq::message_t id, head, gradient;;) {
      static_cast<void>(router.recv(id)), static_cast<void>(router.recv(head)), static_cast<void>(router.recv(gradient));
      apply(values.data(), gradient.data<float>(), values.size());
      router.send(id, zmq::send_flags::sndmore), router.send(head, zmq::send_flags::sndmore);
      router.send(lent(values.data(), bytes), zmq::send_flags::none);
    }
  };
  c.ask = [](std::size_t bytes, const std::string& address, int rounds) {
    zmq::context_t context(1);
    zmq::socket_t dealer(context, zmq::socket_type::dealer);
    dealer.connect(address);
    std::vector<float> gradient(bytes / sizeof(float), 1e-3f), values(bytes / sizeof(float));
    return time_rounds(rounds, [&] {
      dealer.send(zmq::message_t(24), zmq::send_flags::sndmore);
      dealer.send(lent(gradient.data(), bytes), zmq::send_flags::none);
      zmq::message_t head, answer;
      static_cast<void>(dealer.recv(head)), static_cast<void>(dealer.recv(answer));
      if (bytes <= 4096) std::memcpy(values.data(), answer.data(), bytes);
    });
  };
  return c;
}

// Both sides map a file without a name that the server's process hands out by its number in /proc; a socket is the doorbell.
struct bare_segment {
  std::atomic<int> asked, answered, server_sleeps, client_sleeps;
  alignas(64) char data[1];
};

// Waits until `flag` is `value`, asleep on the socket; false if the other side has gone.
inline bool wait_asleep(std::atomic<int>& flag, int value, std::atomic<int>& sleeps, int socket) {
  while (flag.load() != value) {
    sleeps = 1;
    if (flag.load() == value) break;
    char bell = 0;
    if (::read(socket, &bell, 1) <= 0) return false;
  }
  sleeps = 0;
  return true;
}
inline void ring(std::atomic<int>& sleeps, int socket) {
  if (sleeps.exchange(0) != 0) static_cast<void>(!::send(socket, "!", 1, MSG_NOSIGNAL));
}
// An abstract name of a Unix socket.
inline socklen_t abstract_name(sockaddr_un& to, const std::string& text) {
  to = {};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path + 1, text.data(), text.size());
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

inline contender bare_shared(bool in_place) {
  contender c;
  c.name = in_place ? "bare shared memory, in place" : "bare shared memory";
  const auto size = [](std::size_t bytes) { return 4096 + 2 * bytes; };
  const auto map = [=](int file, std::size_t bytes) {
    return static_cast<bare_segment*>(::mmap(nullptr, size(bytes), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
  };
  c.serve = [=](std::size_t bytes, auto say) {
    const int file = ::memfd_create("bare", 0);
    if (::ftruncate(file, static_cast<off_t>(size(bytes))) != 0) return;
    bare_segment* const s = map(file, bytes);
    const int listening = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    const std::string text = "bare-" + std::to_string(::getpid());
    const socklen_t length = abstract_name(name, text);
    if (::bind(listening, reinterpret_cast<sockaddr*>(&name), length) != 0 || ::listen(listening, 1) != 0) return;
    say(text + " /proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file));
    const int socket = ::accept(listening, nullptr, nullptr);
    float* const gradient = reinterpret_cast<float*>(s->data);
    float* const shared_values = reinterpret_cast<float*>(s->data + bytes);
    std::vector<float> own(bytes / sizeof(float));
    for (int round = 1; wait_asleep(s->asked, round, s->server_sleeps, socket); ++round) {
      apply(in_place ? shared_values : own.data(), gradient, own.size());
      if (!in_place) std::memcpy(shared_values, own.data(), bytes);
      s->answered = round;
      ring(s->client_sleeps, socket);
    }
  };
  c.ask = [=](std::size_t bytes, const std::string& address, int rounds) {
    const std::size_t space = address.find(' ');
    const int file = ::open(address.substr(space + 1).c_str(), O_RDWR);
    bare_segment* const s = map(file, bytes);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un name{};
    const socklen_t length = abstract_name(name, address.substr(0, space));
    if (::connect(socket, reinterpret_cast<sockaddr*>(&name), length) != 0) return std::vector<double>();
    std::vector<float> gradient(bytes / sizeof(float), 1e-3f), values(bytes / sizeof(float));
    int round = 0;
    return time_rounds(rounds, [&] {
      if (!in_place) std::memcpy(s->data, gradient.data(), bytes);
      s->asked = ++round;
      ring(s->server_sleeps, socket);
      wait_asleep(s->answered, round, s->client_sleeps, socket);
      if (!in_place) std::memcpy(values.data(), s->data + bytes, bytes);
    });
  };
  return c;
}

}  // namespace bench
