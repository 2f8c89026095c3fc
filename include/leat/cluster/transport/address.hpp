#pragma once
// The address at which a task listens: "host:port", with or without the prefix "tcp://"; "[::1]:4242" for a numeric IPv6 address.

#include <leat/cluster/transport/reactor.hpp>
#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>

namespace leat::transport {

struct address {
  std::string host;
  int port = 0;  ///< 0 requests a free port

  /// "host:port"
  std::string text() const;
};

/// Errors: invalid_argument, naming the text, if it is not an address.
address parse_address(std::string_view text);

/// Whether a host is this one by a name or number that no other host can reach: localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);
/// Whether a numeric address belongs to one of this host's interfaces, including loopback.
bool is_this_host(const std::string& number);

/// The numeric address of a host. Numeric addresses are returned unchanged; names are looked up.
/// Errors: unavailable if there is no such name; deadline_exceeded.
std::string resolve(const std::string& host, steady_time deadline);

/// The result of an attempt to connect, as a text: "refused (no process listens there)", "no route", "no such name", "accepted". Returns at
/// the deadline at the latest.
std::string probe(const address& where, steady_time deadline);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/address.hpp>
#endif
