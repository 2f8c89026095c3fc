#pragma once
// What an endpoint is made with, as its transports see it.

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
  /// Where to listen; port 0 for a free one; empty not to listen.
  std::string listen;
  /// Keys for all connections over the network. Without them only loopback addresses are listened at and dialed,
  std::optional<key_options> keys;
  /// unless this is true: then whoever reaches the port can do all that a client can, and read what is sent.
  bool insecure_network = false;
  /// Transports that need no network. With keys, they are off unless set: then every process of the same user is trusted.
  std::optional<bool> same_process;
  std::optional<bool> same_host;

  /// Bytes that may be on their way to a peer, or wait there until it takes them; the same for all processes of a cluster.
  std::size_t credit = std::size_t{64} << 20;
  /// Bytes that may wait behind them here; one message always may.
  std::size_t queue = std::size_t{256} << 20;
  std::uint64_t message_bytes = wire_limits().message_bytes;

  /// For a connection that says nothing.
  std::chrono::milliseconds stranger_time{5000};
  /// How often signs of life are exchanged with a peer that is watched, and without which for how long the connection is over.
  std::chrono::milliseconds heartbeat{500};
  std::chrono::milliseconds silence{2000};
  /// How many connections may not have introduced themselves yet.
  int strangers = 256;
};

/// "same process", "same host", "network"
std::string_view name_of(way w);

}  // namespace leat::transport
