#pragma once
// Implementation of shared_carrier.hpp.

#include <leat/cluster/transport/endpoint_options.hpp>
#include <leat/cluster/transport/shared_carrier.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace leat::transport {

namespace detail {
inline constexpr std::size_t shared_packets_at_once = 64;
inline constexpr std::uint32_t shared_bells_at_once = 32;  // a socket has room for about 200
inline constexpr auto shared_first_pause = std::chrono::milliseconds(5);
inline constexpr auto shared_longest_pause = std::chrono::milliseconds(200);

// An abstract name has no file, and vanishes with the socket.
LEAT_FUNCTION socklen_t abstract_name(sockaddr_un& to, const std::string& where) {
  to = {};
  to.sun_family = AF_UNIX;
  const std::string name = "leat/" + std::to_string(::getuid()) + "/" + where;
  const std::size_t size = std::min(name.size(), sizeof to.sun_path - 1);
  std::memcpy(to.sun_path + 1, name.data(), size);
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + size);
}

LEAT_FUNCTION descriptor unix_socket() { return descriptor(::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)); }

LEAT_FUNCTION bool is_same_user(int socket) {
  ucred peer{};
  socklen_t size = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 && peer.uid == ::getuid();
}

// Passes the descriptor of a segment, together with one byte.
LEAT_FUNCTION bool pass_descriptor(int socket, int file) {
  char byte = 'L';
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr m{};
  m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = control.data(), m.msg_controllen = control.size();
  cmsghdr* const c = CMSG_FIRSTHDR(&m);
  c->cmsg_level = SOL_SOCKET, c->cmsg_type = SCM_RIGHTS, c->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(c), &file, sizeof file);
  return ::sendmsg(socket, &m, MSG_DONTWAIT | MSG_NOSIGNAL) == 1;
}

// Receives a descriptor; -1 if none has arrived yet, and an error for anything else.
LEAT_FUNCTION descriptor take_descriptor(int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(4 * sizeof(int))> control{};
  msghdr m{};
  m.msg_iov = &data, m.msg_iovlen = 1, m.msg_control = control.data(), m.msg_controllen = control.size();
  const ssize_t count = ::recvmsg(socket, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return {};
  if (count <= 0) throw unavailable("the connection was lost");
  std::vector<descriptor> got;
  for (const cmsghdr* c = CMSG_FIRSTHDR(&m); c != nullptr; c = CMSG_NXTHDR(&m, const_cast<cmsghdr*>(c))) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (c->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int file = -1;
      std::memcpy(&file, CMSG_DATA(c) + i * sizeof(int), sizeof file);
      got.emplace_back(file);
    }
  }
  if (byte != 'L' || got.size() != 1 || !got[0]) throw data_loss("a connection that passes no shared memory");
  return std::move(got[0]);
}
}  // namespace detail

class shared_carrier::shared_channel final : public channel {
 public:
  shared_channel(shared_carrier& s, std::uint64_t n, std::string where)
      : channel(way::same_host), carrier_(s), number(n), where_(std::move(where)) {}

  sending send(packet& p) override {
    if (!is_open || is_closed) return sending::gone;
    if (!out->write(p, !is_data(peek_kind(p).value_or(kind::beat)))) {
      is_blocked = true;
      return sending::later;
    }
    if (out->must_ring()) detail::ring(socket->get());
    return sending::done;
  }
  void close(bool) override {
    if (is_stranger()) --carrier_.strangers_;
    if (std::exchange(is_closed, true)) return;
    // The peer sees the end of the socket, and first reads what is left in the segment.
    if (socket && *socket) {
      carrier_.loop_.remove(socket->get());
      ::shutdown(socket->get(), SHUT_RDWR);
    }
    carrier_.handle(number, false);
    carrier_.loop_.kick();
  }
  std::size_t chunk_bytes() const override { return chunk; }
  std::string peer() const override { return where_; }
  writable_frame allocate(std::size_t bytes) override {
    if (out && bytes <= chunk)
      if (auto room = out->allocate(bytes)) return std::move(*room);
    return writable_frame::make(bytes);
  }
  writable_frame lend(std::size_t bytes) override {
    if (out && is_open && !is_closed && bytes <= chunk)
      if (auto room = out->lend(bytes)) return std::move(*room);
    return {};
  }

  shared_carrier& carrier_;
  const std::uint64_t number;
  std::shared_ptr<descriptor> socket;
  std::shared_ptr<segment_mapping> made;
  std::optional<segment_writer> out;
  std::optional<segment_reader> in;
  std::size_t chunk = wire_chunk_bytes;
  bool is_accepted = false;
  bool has_ended = false;
  std::uint32_t taken = 0;  // bells that had been requested when the socket was last emptied
  bool is_open = false;
  bool is_blocked = false;
  bool is_closed = false;
  /// Whether the connection was accepted and has not passed its memory.
  bool is_stranger() const { return is_accepted && !is_open && !is_closed; }
  // Used while no process listens at the address.
  address to;
  steady_time next_try{};
  steady_time::duration pause = detail::shared_first_pause;
  steady_time since{};

 private:
  std::string where_;
};

LEAT_FUNCTION shared_carrier::shared_carrier(const endpoint_options& options, carrier_events& events, reactor& loop, std::uint64_t token)
    : options_(options), events_(events), loop_(loop), token_(token) {}

LEAT_FUNCTION shared_carrier::~shared_carrier() { shared_carrier::close(std::chrono::steady_clock::now()); }

LEAT_FUNCTION void shared_carrier::listen(const address& where) {
  descriptor socket = detail::unix_socket();
  sockaddr_un name;
  const socklen_t size = detail::abstract_name(name, where.text());
  if (!socket || ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), size) != 0 || ::listen(socket.get(), 1024) != 0) return;
  loop_.add(socket.get(), token_);
  listening_ = std::move(socket);
}

LEAT_FUNCTION void shared_carrier::add(const std::shared_ptr<shared_channel>& c) {
  c->chunk = std::max<std::size_t>(options_.credit / 4, wire_chunk_bytes);
  c->made = segment_mapping::make(std::max(options_.credit + options_.credit / 4 + (std::size_t{1} << 20),
                                           segment_arena_bytes(wire_packet_frames + 1, wire_packet_bytes(c->chunk))));
  c->since = std::chrono::steady_clock::now();
  channels_[c->number] = c;
  loop_.add(c->socket->get(), token_ | c->number);
}

LEAT_FUNCTION shared_carrier::attempt shared_carrier::try_connect(shared_channel& c) {
  const std::string any = c.to.host.find(':') == std::string::npos ? "0.0.0.0" : "::";
  for (const std::string& host : {c.to.host, any}) {
    auto socket = std::make_shared<descriptor>(detail::unix_socket());
    sockaddr_un name;
    const socklen_t size = detail::abstract_name(name, address{host, c.to.port}.text());
    if (!*socket) throw resource_exhausted("no descriptor for a connection");
    if (::connect(socket->get(), reinterpret_cast<const sockaddr*>(&name), size) != 0) continue;
    if (!detail::is_same_user(socket->get())) continue;
    c.socket = std::move(socket);
    return attempt::connected;
  }
  // A process that listens at the port without a socket of that name wants the network.
  return probe(c.to, std::chrono::steady_clock::now() + std::chrono::milliseconds(2)) == "accepted" ? attempt::network_only
                                                                                                    : attempt::nobody;
}

LEAT_FUNCTION std::shared_ptr<channel> shared_carrier::dial(const address& where) {
  auto c = std::make_shared<shared_channel>(*this, ++last_number_, where.text());
  c->to = where;
  switch (try_connect(*c)) {
    case attempt::connected:
      add(c);
      if (!detail::pass_descriptor(c->socket->get(), c->made->file())) return nullptr;
      break;
    case attempt::network_only: return nullptr;
    case attempt::nobody:
      c->next_try = std::chrono::steady_clock::now() + c->pause;
      trying_.push_back(c);
      break;
  }
  return c;
}

LEAT_FUNCTION void shared_carrier::handle(std::uint64_t token, bool has_ended) {
  if (const auto found = channels_.find(token); has_ended && found != channels_.end()) found->second->has_ended = true;
  if (std::find(ready_.begin(), ready_.end(), token) == ready_.end()) ready_.push_back(token);
}

LEAT_FUNCTION void shared_carrier::accept_all() {
  for (;;) {
    descriptor socket(::accept4(listening_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) return;
    if (!detail::is_same_user(socket.get())) continue;
    if (strangers_ >= options_.strangers) drop_oldest();
    auto c = std::make_shared<shared_channel>(*this, ++last_number_, "a process of this host");
    c->is_accepted = true;
    c->socket = std::make_shared<descriptor>(std::move(socket));
    try {
      add(c);
    } catch (const resource_exhausted&) {
      channels_.erase(c->number);
      return;  // the peer sees the end of its socket
    }
    ++strangers_;
    handle(c->number, false);
  }
}

LEAT_FUNCTION void shared_carrier::drop_oldest() {
  std::shared_ptr<shared_channel> oldest;
  for (const auto& [number, c] : channels_)
    if (c->is_stranger() && (oldest == nullptr || number < oldest->number)) oldest = c;
  if (oldest != nullptr) oldest->close(false);
}

// Receives the peer's segment.
LEAT_FUNCTION void shared_carrier::greet(shared_channel& c) {
  descriptor file = detail::take_descriptor(c.socket->get());
  if (!file) return;
  c.in.emplace(segment_mapping::of(std::move(file)), c.socket);
  c.out.emplace(c.made);
  if (c.is_accepted && !detail::pass_descriptor(c.socket->get(), c.made->file())) throw unavailable("the connection was lost");
  if (c.is_accepted) --strangers_;
  c.is_open = true;
}

LEAT_FUNCTION void shared_carrier::advance(const std::shared_ptr<shared_channel>& c, bool& more) {
  bool is_over = false;
  closing why{closing::cause::lost, "the connection was lost"};
  try {
    if (!c->is_open) {
      greet(*c);
      if (!c->is_open) return;
      if (c->is_accepted) events_.accepted(c);
      else events_.opened(*c);
    }
    // A bell causes an event even if earlier bells have not been read from the socket. They are read before the socket is full, because a
    // bell that finds no room is lost, and also when the peer has closed the socket, because its last messages are still read. One event
    // may stand for several bells, but the peer sends at most one for each request.
    if (const std::uint32_t asked = c->in->asked() + c->out->asked(); c->has_ended || asked - c->taken >= detail::shared_bells_at_once) {
      c->taken = asked;
      std::array<char, 256> bells;
      for (ssize_t count = 1; count > 0;) {
        count = ::recv(c->socket->get(), bells.data(), bells.size(), MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR)) is_over = true;
      }
    }
    for (std::size_t i = 0; !c->is_closed; ++i) {
      std::optional<packet> p = c->in->read();
      if (!p) {
        if (c->in->sleep()) break;
        continue;
      }
      events_.received(*c, std::move(*p));
      if (i == detail::shared_packets_at_once && !is_over) {
        handle(c->number, false);
        more = true;
        return;
      }
    }
  } catch (const data_loss& e) {
    is_over = true;
    why = {closing::cause::bad_bytes, e.what()};
  } catch (const error& e) {
    is_over = true;
    why.text = e.what();
  }
  if (c->is_closed) return;
  if (is_over) {
    if (c->link != 0) events_.closed(*c, std::move(why));
    c->close(false);
  } else if (std::exchange(c->is_blocked, false)) {
    events_.writable(*c);
  }
}

LEAT_FUNCTION bool shared_carrier::pump() {
  if (ready_.empty()) return false;
  bool more = false;
  pumped_.clear();
  pumped_.swap(ready_);
  for (const std::uint64_t number : pumped_) {
    if (number == 0) {
      accept_all();
      continue;
    }
    const auto found = channels_.find(number);
    if (found == channels_.end()) continue;
    const std::shared_ptr<shared_channel> c = found->second;
    if (!c->is_closed) advance(c, more);
    if (c->is_closed) channels_.erase(number);
  }
  return more || !ready_.empty();
}

LEAT_FUNCTION steady_time shared_carrier::next_timer() const {
  steady_time next = no_deadline;
  for (const auto& c : trying_) next = std::min(next, c->next_try);
  if (strangers_ > 0)
    for (const auto& [number, c] : channels_)
      if (c->is_stranger()) next = std::min(next, c->since + options_.stranger_time);
  return next;
}

LEAT_FUNCTION void shared_carrier::on_timer(steady_time now) {
  if (strangers_ > 0)
    for (const auto& [number, c] : channels_)
      if (c->is_stranger() && now - c->since >= options_.stranger_time) c->close(false);
  for (auto& c : std::exchange(trying_, {})) {
    if (c->is_closed) continue;
    if (c->next_try > now) {
      trying_.push_back(c);
      continue;
    }
    try {
      switch (try_connect(*c)) {
        case attempt::connected:
          add(c);
          if (!detail::pass_descriptor(c->socket->get(), c->made->file())) throw unavailable("the connection was lost");
          break;
        case attempt::network_only: events_.fall_back(*c, c->to); break;
        case attempt::nobody:
          c->pause = std::min<steady_time::duration>(c->pause * 3 / 2, detail::shared_longest_pause);
          c->next_try = now + c->pause;
          trying_.push_back(c);
          break;
      }
    } catch (const error& e) {
      events_.closed(*c, {closing::cause::lost, e.what()});
    }
  }
}

LEAT_FUNCTION void shared_carrier::close(steady_time) {
  for (auto& [number, c] : channels_) c->close(true);
  channels_.clear();
  trying_.clear();
  listening_.reset();
}

LEAT_FUNCTION void shared_carrier::forget() {}

}  // namespace leat::transport
