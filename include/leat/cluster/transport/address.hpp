#pragma once
// Where a task listens: "host:port", with or without "tcp://" before it; "[::1]:4242" for a numeric address of IPv6.

#include <leat/cluster/transport/reactor.hpp>
#include <leat/core/function_bodies.hpp>

#include <string>
#include <string_view>

namespace leat::transport {

struct address {
  std::string host;
  int port = 0;  ///< 0 asks for a free one

  /// "host:port"
  std::string text() const;
};

/// Errors: invalid_argument for what is no address, naming it.
address parse_address(std::string_view text);

/// Whether a host is this one by a name or number that nobody else can reach: localhost, 127.0.0.0/8, ::1.
bool is_loopback(std::string_view host);
/// Whether a numeric address is one of this host's interfaces, loopback included.
bool is_this_host(const std::string& number);

/// The numeric address of a host. Numbers come back as they are; names are looked up.
/// Errors: unavailable if there is no such name; deadline_exceeded.
std::string resolve(const std::string& host, steady_time deadline);

/// What an attempt to connect meets, in words: "refused (no process listens there)", "no route", "no such name", "accepted". Takes at
/// most until the deadline.
std::string probe(const address& where, steady_time deadline);

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/address_bodies.hpp>
#endif
