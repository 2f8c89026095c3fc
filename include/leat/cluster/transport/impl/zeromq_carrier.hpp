#pragma once
// Implementation of zeromq_carrier.hpp: dialed and accepted connections, and what arrives over them.

#include <leat/cluster/transport/endpoint_options.hpp>
#include <leat/cluster/transport/impl/zeromq_carrier_sockets.hpp>
#include <leat/cluster/transport/zeromq_carrier.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <sys/socket.h>
#include <zmq.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <deque>
#include <optional>
#include <set>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace leat::transport {

// State of the carrier. An accepted connection is represented by its socket, which is shut if the peer is refused, and its origin.
struct zeromq_carrier::state {
  struct accepted_socket {
    steady_time since;
    std::uint64_t cookie = 0;
    std::shared_ptr<routed> c;
    bool is_shut = false;
  };

  state(const endpoint_options& o, carrier_events& e, reactor& l, std::uint64_t t) : options(o), events(e), loop(l), token(t), context(1) {}

  zmq::socket_t make(zmq::socket_type type, const address& where);
  zmq::socket_t monitor_of(zmq::socket_t& socket, std::uint64_t number);
  void watch(zmq::socket_t& socket, std::uint64_t number) { loop.add(socket.get(zmq::sockopt::fd), token | number); }
  // After any use of a socket there may be input that no descriptor will report.
  void look_again(zmq::socket_t& socket, std::uint64_t number) {
    if (detail::has_input(socket)) set_ready(number);
  }
  void set_ready(std::uint64_t number) {
    if (std::find(ready.begin(), ready.end(), number) != ready.end()) return;
    ready.push_back(number);
    loop.kick();
  }
  void drop_oldest();
  bool pump_router();
  void pump_router_monitor();
  void pump_dealer(const std::shared_ptr<dealer>& d, bool& more);
  void pump_zap();
  // Shuts a connection, unless ZeroMQ has closed it and its descriptor number was reused, which the cookie shows.
  static void shut(int fd, accepted_socket& a) {
    a.is_shut = true;
    if (a.cookie != 0 && detail::cookie_of(fd) == a.cookie) ::shutdown(fd, SHUT_RDWR);
  }

  const endpoint_options& options;
  carrier_events& events;
  reactor& loop;
  std::uint64_t token;

  zmq::context_t context;
  zmq::socket_t router, router_monitor, zap;
  std::unordered_map<std::string, std::shared_ptr<routed>> peers;  // by the identity that the router gave
  std::unordered_map<int, accepted_socket> sockets;
  int unclaimed = 0;  // of them, those that have sent nothing
  steady_time last_look{};
  std::vector<std::shared_ptr<routed>> ending;
  std::vector<std::pair<steady_time, std::shared_ptr<routed>>> to_shut;
  std::vector<std::shared_ptr<routed>> blocked;
  std::set<std::string> allowed;

  std::unordered_map<std::uint64_t, std::shared_ptr<dealer>> dealers;
  std::vector<std::pair<steady_time, std::uint64_t>> leaving;  // dealers, until their connections are lost
  std::uint64_t last_number = 4;                               // of sockets; 0 router, 1 its monitor, 2 ZAP
  std::vector<std::uint64_t> ready;
};

// A channel to a peer that was dialed.
class zeromq_carrier::dealer final : public channel {
 public:
  dealer(state& s, std::uint64_t n, const address& where) : channel(way::network), s_(s), number(n), where_(where.text()) {}

  sending send(packet& p) override {
    if (!socket.handle() || !is_open || is_leaving) return sending::gone;
    for (std::size_t i = 0; i < p.frames.size(); ++i) {
      if (!detail::send(socket, detail::message_of(p.frames[i]), i + 1 < p.frames.size())) {
        is_blocked = true;
        return sending::later;
      }
    }
    s_.look_again(socket, number);
    return sending::done;
  }
  // ZeroMQ aborts the process if a connection is lost just when its socket is closed while a message of several frames is half sent. So a
  // close that discards messages first shuts down the connection, and closes the socket after the connection is lost.
  void close(bool orderly) override {
    if (!socket.handle() || is_leaving) return;
    if (orderly || !is_open || tcp_cookie == 0 || detail::cookie_of(tcp) != tcp_cookie) return close_socket(orderly);
    ::shutdown(tcp, SHUT_RDWR);
    is_leaving = true;
    s_.leaving.emplace_back(std::chrono::steady_clock::now() + detail::longest_leave, number);
    s_.loop.kick();
  }
  void close_socket(bool orderly) {
    if (!socket.handle()) return;
    s_.loop.remove(socket.get(zmq::sockopt::fd));
    s_.loop.remove(monitor.get(zmq::sockopt::fd));
    socket.set(zmq::sockopt::linger, orderly ? 500 : 0);
    ::zmq_socket_monitor(socket.handle(), nullptr, 0);
    monitor.close();
    socket.close();
    s_.set_ready(number);  // so that the channel is erased
  }
  std::size_t chunk_bytes() const override { return detail::largest_frame; }
  std::string peer() const override { return where_; }

  state& s_;
  const std::uint64_t number;
  zmq::socket_t socket, monitor;
  int tcp = -1;  // descriptor of its connection
  std::uint64_t tcp_cookie = 0;
  bool is_open = false;
  bool is_leaving = false;
  bool is_blocked = false;

 private:
  std::string where_;
};

// A channel to a peer that the router accepted.
class zeromq_carrier::routed final : public channel {
 public:
  routed(state& s, std::string id, int socket, std::string where, std::string user)
      : channel(way::network), fd(socket), s_(s), id_(std::move(id)), where_(std::move(where)), key_(std::move(user)) {}

  sending send(packet& p) override {
    if (is_closed) return sending::gone;
    try {
      if (!detail::send(s_.router, zmq::message_t(id_.data(), id_.size()), true)) {
        if (!std::exchange(is_blocked, true)) s_.blocked.push_back(s_.peers[id_]);
        return sending::later;
      }
      for (std::size_t i = 0; i < p.frames.size(); ++i)
        static_cast<void>(detail::send(s_.router, detail::message_of(p.frames[i]), i + 1 < p.frames.size()));
    } catch (const zmq::error_t&) {
      return sending::gone;  // EHOSTUNREACH
    }
    s_.look_again(s_.router, 0);
    return sending::done;
  }
  void close(bool orderly) override {
    if (std::exchange(is_closed, true)) return;
    link = 0;
    // ZeroMQ has no call that ends one connection of a router, so its descriptor is shut.
    if (const auto found = s_.sockets.find(fd); found != s_.sockets.end() && found->second.c.get() == this) {
      // The entry stays, so that what the peer still sends is not taken for messages of a new one.
      if (orderly) {
        s_.to_shut.emplace_back(std::chrono::steady_clock::now() + std::chrono::milliseconds(200), found->second.c);
        s_.loop.kick();
      } else {
        state::shut(fd, found->second);
      }
    }
    s_.peers.erase(std::string(id_));
  }
  std::size_t chunk_bytes() const override { return detail::largest_frame; }
  std::string peer() const override { return where_; }
  std::string key() const override { return key_; }

  const int fd;
  bool is_blocked = false;
  bool is_closed = false;

 private:
  state& s_;
  std::string id_, where_, key_;
};

LEAT_FUNCTION zmq::socket_t zeromq_carrier::state::make(zmq::socket_type type, const address& where) {
  zmq::socket_t socket(context, type);
  socket.set(zmq::sockopt::linger, 0);
  // With a ZAP domain, peers of ZeroMQ's protocols 1 and 2 are refused, and so is any other byte sequence. Without it libzmq 4.3 would take
  // the first bytes for a name, and abort the process if the connection is being closed at that moment.
  socket.set(zmq::sockopt::zap_domain, "leat");
  socket.set(zmq::sockopt::maxmsgsize, std::int64_t{wire_frame_bytes});
  socket.set(zmq::sockopt::sndhwm, detail::pipe_messages);
  socket.set(zmq::sockopt::rcvhwm, detail::pipe_messages);
  socket.set(zmq::sockopt::immediate, true);
  socket.set(zmq::sockopt::reconnect_ivl, 10);
  socket.set(zmq::sockopt::reconnect_ivl_max, 500);
  socket.set(zmq::sockopt::backlog, detail::backlog);
  socket.set(zmq::sockopt::ipv6, where.host.find(':') != std::string::npos);
  // ZeroMQ's heartbeats are off: libzmq 4.3 aborts the process when their timer fires for a connection that was lost while more data had
  // arrived than was read. Watched peers send heartbeats as messages, and TCP keepalive covers idle connections.
  socket.set(zmq::sockopt::tcp_keepalive, 1);
  socket.set(zmq::sockopt::tcp_keepalive_idle, 10);
  socket.set(zmq::sockopt::tcp_keepalive_intvl, 2);
  socket.set(zmq::sockopt::tcp_keepalive_cnt, 3);
  socket.set(zmq::sockopt::tcp_maxrt, static_cast<int>(options.silence.count()));
  socket.set(zmq::sockopt::handshake_ivl, static_cast<int>(options.stranger_time.count()));
  return socket;
}

LEAT_FUNCTION zmq::socket_t zeromq_carrier::state::monitor_of(zmq::socket_t& socket, std::uint64_t number) {
  const std::string name = "inproc://monitor-" + std::to_string(number);
  detail::despite_signals([&] { return ::zmq_socket_monitor(socket.handle(), name.c_str(), detail::monitored); });
  zmq::socket_t monitor(context, zmq::socket_type::pair);
  monitor.set(zmq::sockopt::linger, 0);
  monitor.set(zmq::sockopt::rcvhwm, 0);
  detail::despite_signals([&] { return ::zmq_connect(monitor.handle(), name.c_str()); });
  watch(monitor, number);
  return monitor;
}

LEAT_FUNCTION zeromq_carrier::zeromq_carrier(const endpoint_options& options, carrier_events& events, reactor& loop, std::uint64_t token)
    : s_(std::make_unique<state>(options, events, loop, token)) {}

LEAT_FUNCTION zeromq_carrier::~zeromq_carrier() {
  if (s_) close(std::chrono::steady_clock::now());
}

LEAT_FUNCTION address zeromq_carrier::listen(const address& where) {
  state& s = *s_;
  try {
    s.router = s.make(zmq::socket_type::router, where);
    s.router.set(zmq::sockopt::router_mandatory, true);
    if (s.options.keys) {
      s.allowed = {s.options.keys->allowed.begin(), s.options.keys->allowed.end()};
      // The handler must exist before the port is open, because without a handler ZeroMQ accepts every peer.
      s.zap = zmq::socket_t(s.context, zmq::socket_type::rep);
      s.zap.set(zmq::sockopt::linger, 0);
      detail::despite_signals([&] { return ::zmq_bind(s.zap.handle(), "inproc://zeromq.zap.01"); });
      s.watch(s.zap, 2);
      s.router.set(zmq::sockopt::curve_server, true);
      s.router.set(zmq::sockopt::curve_secretkey, s.options.keys->own.secret_key);
      s.router.set(zmq::sockopt::curve_publickey, s.options.keys->own.public_key);
    }
    s.router_monitor = s.monitor_of(s.router, 1);
    const std::string at = "tcp://" + where.text();
    detail::despite_signals([&] { return ::zmq_bind(s.router.handle(), at.c_str()); });
    s.watch(s.router, 0);
  } catch (const zmq::error_t& e) {
    const std::string why = e.num() == EADDRINUSE      ? "another process listens there"
                            : e.num() == EADDRNOTAVAIL ? "this host has no such address"
                            : e.num() == ENODEV        ? "this host has no such address"
                                                       : e.what();
    throw failed_precondition("cannot listen at " + where.text() + ": " + why);
  }
  return parse_address(s.router.get(zmq::sockopt::last_endpoint));
}

LEAT_FUNCTION void zeromq_carrier::set_allowed(const std::vector<std::string>& keys) { s_->allowed = {keys.begin(), keys.end()}; }

LEAT_FUNCTION std::shared_ptr<channel> zeromq_carrier::dial(const address& where) {
  state& s = *s_;
  const std::uint64_t number = s.last_number += 2;
  auto d = std::make_shared<dealer>(s, number, where);
  try {
    d->socket = s.make(zmq::socket_type::dealer, where);
    if (s.options.keys) {
      const auto named = s.options.keys->server_keys.find(where.text());
      const std::string& server = named != s.options.keys->server_keys.end() ? named->second : s.options.keys->server_key;
      if (!is_key(server)) throw invalid_argument("no key is known of the server at " + where.text() + ": set server_key");
      d->socket.set(zmq::sockopt::curve_serverkey, server);
      d->socket.set(zmq::sockopt::curve_publickey, s.options.keys->own.public_key);
      d->socket.set(zmq::sockopt::curve_secretkey, s.options.keys->own.secret_key);
    }
    d->monitor = s.monitor_of(d->socket, number + 1);
    const std::string to = "tcp://" + where.text();
    detail::despite_signals([&] { return ::zmq_connect(d->socket.handle(), to.c_str()); });
    s.watch(d->socket, number);
  } catch (const zmq::error_t& e) {
    throw unavailable("cannot connect to " + where.text() + ": " + e.what());
  }
  s.dealers[number] = d;
  return d;
}

LEAT_FUNCTION void zeromq_carrier::handle(std::uint64_t token, bool) {
  if (std::find(s_->ready.begin(), s_->ready.end(), token) == s_->ready.end()) s_->ready.push_back(token);
}

LEAT_FUNCTION bool zeromq_carrier::pump() {
  state& s = *s_;
  if (s.ready.empty()) return false;
  std::vector<std::uint64_t> now;
  now.swap(s.ready);
  bool more = false;
  for (const std::uint64_t number : now) {
    if (number == 0 || number == 1) {
      if (s.router.handle() && s.pump_router()) {
        more = true;
        if (std::find(s.ready.begin(), s.ready.end(), 0U) == s.ready.end()) s.ready.push_back(0);
      }
    } else if (number == 2) {
      s.pump_zap();
    } else if (const auto found = s.dealers.find(number & ~std::uint64_t{1}); found != s.dealers.end()) {
      const std::shared_ptr<dealer> d = found->second;
      bool left = false;
      if (d->socket.handle()) s.pump_dealer(d, left);
      if (!d->socket.handle()) {
        s.dealers.erase(d->number);
      } else if (left) {
        more = true;
        s.ready.push_back(d->number);
      }
    }
  }
  return more;
}

LEAT_FUNCTION void zeromq_carrier::state::pump_router_monitor() {
  while (const auto e = detail::next_event(router_monitor)) {
    const int fd = static_cast<int>(e->value);
    switch (e->what) {
      case ZMQ_EVENT_ACCEPTED:
        if (const auto found = sockets.find(fd); found == sockets.end() || found->second.c != nullptr) ++unclaimed;
        sockets[fd] = {std::chrono::steady_clock::now(), detail::cookie_of(fd), nullptr};
        if (unclaimed > options.strangers) drop_oldest();
        break;
      case ZMQ_EVENT_DISCONNECTED:
        if (const auto found = sockets.find(fd); found != sockets.end()) {
          if (found->second.c) {
            ending.push_back(found->second.c);
          } else {
            --unclaimed;
          }
          sockets.erase(found);
        }
        break;
      // A failed handshake has no descriptor: ZeroMQ closes its socket, and the number is soon reused.
      default: break;
    }
  }
}

// A new connection is more likely to be a genuine peer than the one that has been silent for the longest time.
LEAT_FUNCTION void zeromq_carrier::state::drop_oldest() {
  auto oldest = sockets.end();
  for (auto i = sockets.begin(); i != sockets.end(); ++i)
    if (i->second.c == nullptr && !i->second.is_shut && (oldest == sockets.end() || i->second.since < oldest->second.since)) oldest = i;
  if (oldest != sockets.end()) shut(oldest->first, oldest->second);
}

LEAT_FUNCTION bool zeromq_carrier::state::pump_router() {
  pump_router_monitor();
  zmq::message_t id, part;
  for (int i = 0; i < detail::packets_at_once; ++i) {
    if (!detail::receive(router, id)) {
      // Everything that the departed peers sent has been received.
      for (const auto& c : std::exchange(ending, {})) {
        const bool was_closed = std::exchange(c->is_closed, true);
        std::erase_if(peers, [&](const auto& p) { return p.second == c; });
        if (!was_closed) events.closed(*c, {closing::cause::lost, "the connection was lost"});
      }
      for (const auto& c : std::exchange(blocked, {})) {
        if (c == nullptr || c->is_closed) continue;
        c->is_blocked = false;
        events.writable(*c);
      }
      return false;
    }
    packet p;
    int fd = -1;
    std::string user, where;
    while (id.more() || part.more()) {
      if (!detail::receive(router, part)) break;
      if (p.frames.empty()) {
        fd = ::zmq_msg_get(part.handle(), ZMQ_SRCFD);
        if (const char* const text = ::zmq_msg_gets(part.handle(), "User-Id")) user = text;
        if (const char* const text = ::zmq_msg_gets(part.handle(), "Peer-Address")) where = text;
      }
      const bool is_last = !part.more();
      // No valid message has more frames: the frames that are dropped make the message contradict its head.
      if (p.frames.size() <= wire_limits().parts + 1) p.frames.push_back(detail::frame_of(std::move(part)));
      part.rebuild();
      if (is_last) break;
    }
    std::string name = id.to_string();
    std::shared_ptr<routed> c;
    if (const auto found = peers.find(name); found != peers.end()) {
      c = found->second;
    } else {
      // The connection was announced before its first message; if it is gone by now, the message is dropped.
      pump_router_monitor();
      const auto socket = sockets.find(fd);
      if (socket == sockets.end() || socket->second.c != nullptr) continue;
      c = std::make_shared<routed>(*this, name, fd, where, user);
      socket->second.c = c;
      --unclaimed;
      peers.emplace(std::move(name), c);
      events.accepted(c);
    }
    if (!c->is_closed) events.received(*c, std::move(p));
  }
  return true;
}

LEAT_FUNCTION void zeromq_carrier::state::pump_dealer(const std::shared_ptr<dealer>& d, bool& more) {
  std::optional<closing> over;
  while (!over) {
    const auto e = detail::next_event(d->monitor);
    if (!e) break;
    switch (e->what) {
      case ZMQ_EVENT_CONNECTED:
        d->tcp = static_cast<int>(e->value);
        d->tcp_cookie = detail::cookie_of(d->tcp);
        break;
      case ZMQ_EVENT_HANDSHAKE_SUCCEEDED:
        if (!d->is_open) d->is_open = true, events.opened(*d);
        break;
      case ZMQ_EVENT_DISCONNECTED:
        if (d->is_open) over = {closing::cause::lost, "the connection was lost"};
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_AUTH:
        over = {closing::cause::refused_keys, "it refused this process's key (" + std::to_string(e->value) + ")"};
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_PROTOCOL:
        over = {closing::cause::refused_keys,
                options.keys ? "it uses no keys, or is no server of this library" : "it asks for keys, or is no server of this library"};
        break;
      case ZMQ_EVENT_HANDSHAKE_FAILED_NO_DETAIL:
        // Without keys the server went away during the greeting: another attempt follows.
        if (options.keys) over = {closing::cause::refused_keys, "it has another key than expected, or refuses this process's key"};
        break;
      default: break;
    }
  }
  if (d->is_leaving) {
    if (over) d->close_socket(false);
    return;
  }
  for (int i = 0; d->socket.handle() && !d->is_leaving; ++i) {
    zmq::message_t part;
    if (!detail::receive(d->socket, part)) break;
    packet p;
    for (;;) {
      const bool is_last = !part.more();
      p.frames.push_back(detail::frame_of(std::move(part)));
      part.rebuild();
      if (is_last || !detail::receive(d->socket, part)) break;
    }
    events.received(*d, std::move(p));
    if (i == detail::packets_at_once && !over) {
      more = true;
      return;
    }
  }
  if (!d->socket.handle()) return;
  if (d->is_leaving) {
    if (over) d->close_socket(false);
  } else if (over) {
    d->tcp_cookie = 0;  // the connection no longer exists
    events.closed(*d, std::move(*over));
  } else if (d->is_blocked) {
    d->is_blocked = false;
    events.writable(*d);
  }
}

// ZAP 1.0 (RFC 27): accepts exactly the public keys of the list.
LEAT_FUNCTION void zeromq_carrier::state::pump_zap() {
  std::vector<zmq::message_t> parts;
  for (zmq::message_t part; detail::receive(zap, part);) {
    const bool is_last = !part.more();
    parts.push_back(std::move(part));
    part.rebuild();
    if (!is_last) continue;
    std::string key;
    if (parts.size() == 7 && parts[5].to_string_view() == "CURVE" && parts[6].size() == 32) {
      key.resize(41);
      ::zmq_z85_encode(key.data(), parts[6].data<std::uint8_t>(), 32);
      key.resize(40);
    }
    const bool is_allowed = allowed.count(key) == 1;
    const std::string request = parts.size() > 1 ? parts[1].to_string() : std::string();
    const std::string_view answer[] = {
        "1.0", request, is_allowed ? "200" : "400", is_allowed ? "OK" : "this key is not allowed", is_allowed ? std::string_view(key) : "",
        ""};
    for (std::size_t i = 0; i < std::size(answer); ++i)
      static_cast<void>(detail::send(zap, zmq::message_t(answer[i].data(), answer[i].size()), i + 1 < std::size(answer)));
    parts.clear();
  }
}

LEAT_FUNCTION steady_time zeromq_carrier::next_timer() const {
  const state& s = *s_;
  steady_time next = no_deadline;
  for (const auto& [when, c] : s.to_shut) next = std::min(next, when);
  for (const auto& [when, number] : s.leaving) next = std::min(next, when);
  // A router does not report which pipe has room again, and a silent connection causes no event, so both are polled.
  if (!s.blocked.empty()) next = std::min(next, std::chrono::steady_clock::now() + std::chrono::milliseconds(2));
  if (s.unclaimed > 0)
    for (const auto& [fd, a] : s.sockets)
      if (a.c == nullptr && !a.is_shut)
        next = std::min({next, a.since + s.options.stranger_time, std::max(s.last_look, a.since) + detail::between_looks});
  return next;
}

LEAT_FUNCTION void zeromq_carrier::on_timer(steady_time now) {
  state& s = *s_;
  for (auto i = s.to_shut.begin(); i != s.to_shut.end();) {
    if (i->first > now) {
      ++i;
      continue;
    }
    if (const auto found = s.sockets.find(i->second->fd); found != s.sockets.end() && found->second.c == i->second)
      state::shut(i->second->fd, found->second);
    i = s.to_shut.erase(i);
  }
  std::erase_if(s.leaving, [&](const auto& l) {
    if (l.first > now) return false;
    if (const auto found = s.dealers.find(l.second); found != s.dealers.end()) found->second->close_socket(false);
    return true;
  });
  if (s.unclaimed > 0) {
    s.last_look = now;
    for (auto& [fd, a] : s.sockets) {
      if (a.c != nullptr || a.is_shut) continue;
      // ZeroMQ buffers the frames of a message until its last one has arrived, however many there are.
      if (now - a.since >= s.options.stranger_time || detail::received_bytes(fd) > detail::first_message_bytes) state::shut(fd, a);
    }
  }
  if (!s.blocked.empty()) handle(0, false);
}

LEAT_FUNCTION void zeromq_carrier::close(steady_time deadline) {
  state& s = *s_;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now()).count();
  const int linger = static_cast<int>(std::clamp<std::int64_t>(left, 0, 2000));
  for (auto& [number, d] : s.dealers) d->close_socket(true);
  s.dealers.clear();
  if (s.router.handle()) {
    s.router.set(zmq::sockopt::linger, linger);
    ::zmq_socket_monitor(s.router.handle(), nullptr, 0);
    s.router_monitor.close();
    s.router.close();
  }
  if (s.zap.handle()) s.zap.close();
  s.sockets.clear(), s.peers.clear(), s.ending.clear(), s.blocked.clear();
  s.context.close();
  s_.reset();
}

LEAT_FUNCTION void zeromq_carrier::forget() { static_cast<void>(s_.release()); }

}  // namespace leat::transport
