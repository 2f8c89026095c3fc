#pragma once
// Implementation of zeromq_carrier.hpp: frames as ZeroMQ messages, its sockets, and the reports of its monitors.

#include <leat/cluster/transport/zeromq_carrier.hpp>
#include <leat/core/function_bodies.hpp>

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <zmq.hpp>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

namespace leat::transport {

namespace detail {
inline constexpr std::size_t copied_frame_bytes = 8192;  // up to this size a copy costs less than an allocation and a callback
// A frame of this size is neither copied together with others nor awaited in pieces, and it arrives well before a silent peer would be
// given up.
inline constexpr std::size_t largest_frame = wire_frame_bytes;
inline constexpr int packets_at_once = 64;  // before everything else is checked again

// Keeps a frame alive until ZeroMQ's thread has sent it.
struct sent_frame {
  frame f;
  std::atomic<int> ready{0};
};

LEAT_FUNCTION zmq::message_t message_of(const frame& f) {
  if (f.size() <= copied_frame_bytes) return zmq::message_t(f.data(), f.size());
  auto* const kept = new sent_frame{f, {}};
  kept->ready.store(1, std::memory_order_release);
  return zmq::message_t(
      const_cast<std::byte*>(f.data()), f.size(),
      [](void*, void* hint) {
        auto* const done = static_cast<sent_frame*>(hint);
        static_cast<void>(done->ready.load(std::memory_order_acquire));
        delete done;
      },
      kept);
}

LEAT_FUNCTION frame frame_of(zmq::message_t m) {
  auto owner = std::make_shared<zmq::message_t>(std::move(m));
  const auto* const data = static_cast<const std::byte*>(owner->data());
  const std::size_t size = owner->size();
  return frame(std::move(owner), data, size);
}

struct monitor_event {
  std::uint16_t what = 0;
  std::uint32_t value = 0;
  std::string where;
};

// A signal ends any call of ZeroMQ with EINTR, even a nonblocking one, so the call is repeated. Errors: zmq::error_t.
template <class Call>
void despite_signals(Call call) {
  while (call() != 0)
    if (errno != EINTR) throw zmq::error_t();
}

LEAT_FUNCTION bool receive(zmq::socket_t& socket, zmq::message_t& into) {
  while (::zmq_msg_recv(into.handle(), socket.handle(), ZMQ_DONTWAIT) < 0) {
    if (errno == EAGAIN) return false;
    if (errno != EINTR) throw zmq::error_t();
  }
  return true;
}

LEAT_FUNCTION bool send(zmq::socket_t& socket, zmq::message_t m, bool has_more) {
  while (::zmq_msg_send(m.handle(), socket.handle(), ZMQ_DONTWAIT | (has_more ? ZMQ_SNDMORE : 0)) < 0) {
    if (errno == EAGAIN) return false;
    if (errno != EINTR) throw zmq::error_t();
  }
  return true;
}

LEAT_FUNCTION bool has_input(zmq::socket_t& socket) {
  int events = 0;
  std::size_t size = sizeof events;
  despite_signals([&] { return ::zmq_getsockopt(socket.handle(), ZMQ_EVENTS, &events, &size); });
  return (events & ZMQ_POLLIN) != 0;
}

// A number that the system gives to no other socket; 0 if there is none.
LEAT_FUNCTION std::uint64_t cookie_of(int fd) {
  std::uint64_t cookie = 0;
  socklen_t size = sizeof cookie;
  return ::getsockopt(fd, SOL_SOCKET, SO_COOKIE, &cookie, &size) == 0 ? cookie : 0;
}

// The bytes received over a connection: tcpi_bytes_received of linux/tcp.h, a field that glibc's tcp_info does not include.
LEAT_FUNCTION std::uint64_t received_bytes(int fd) {
  std::array<std::uint64_t, 17> info{};
  socklen_t size = sizeof info;
  return ::getsockopt(fd, IPPROTO_TCP, TCP_INFO, info.data(), &size) == 0 && size == sizeof info ? info[16] : 0;
}

LEAT_FUNCTION std::optional<monitor_event> next_event(zmq::socket_t& monitor) {
  zmq::message_t head, where;
  if (!receive(monitor, head)) return std::nullopt;
  monitor_event e;
  if (head.size() >= 6) {
    std::memcpy(&e.what, head.data(), 2);
    std::memcpy(&e.value, head.data<std::byte>() + 2, 4);
  }
  if (head.more() && receive(monitor, where)) e.where = where.to_string();
  return e;
}

inline constexpr int monitored = ZMQ_EVENT_CONNECTED | ZMQ_EVENT_CONNECT_RETRIED | ZMQ_EVENT_ACCEPTED | ZMQ_EVENT_DISCONNECTED |
                                 ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL |
                                 ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL | ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;

inline constexpr int backlog = 1024;
inline constexpr int pipe_messages = 512;  // of 256 KiB: more than the credit
// How much a connection may send before its first message is complete, and how often that is checked.
inline constexpr std::uint64_t first_message_bytes = std::uint64_t{2} << 20;
inline constexpr auto between_looks = std::chrono::milliseconds(20);
inline constexpr auto longest_leave = std::chrono::milliseconds(1000);
}  // namespace detail

}  // namespace leat::transport
