#pragma once
// The options of an endpoint, which its transports read, too.

#include <leat/cluster/transport/carrier.hpp>
#include <leat/cluster/transport/keys.hpp>
#include <leat/cluster/transport/wire.hpp>
#include <leat/core/function_bodies.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace leat::transport {

struct endpoint_options {
  /// Address to listen at; port 0 requests a free port; empty: the endpoint does not listen.
  std::string listen;
  /// Keys for all connections over the network. Without keys only loopback addresses are listened at and dialed, unless `insecure_network`
  /// is set.
  std::optional<key_options> keys;
  /// Permits other addresses without keys: then whoever reaches the port can do everything that a client can, and read what is sent.
  bool insecure_network = false;
  /// Transports that need no network. With keys they are off unless set, because they trust every process of the same user.
  std::optional<bool> same_process;
  std::optional<bool> same_host;

  /// Bytes that may be in flight to a peer, or wait there until they are taken; the same for all processes of a cluster.
  std::size_t credit = std::size_t{64} << 20;
  /// Further bytes that may wait in the local queue; one message is always accepted.
  std::size_t queue = std::size_t{256} << 20;
  std::uint64_t message_bytes = wire_limits().message_bytes;

  /// How long a connection may stay silent before it has introduced itself.
  std::chrono::milliseconds stranger_time{5000};
  /// The interval of heartbeats with a watched peer, and the time without a heartbeat after which the connection is given up.
  std::chrono::milliseconds heartbeat{500};
  std::chrono::milliseconds silence{2000};
  /// How many connections may exist that have not introduced themselves yet.
  int strangers = 256;
};

/// "same process", "same host", "network"
std::string_view name_of(way w);

}  // namespace leat::transport
