#pragma once
// Counts what an endpoint has sent and received.

#include <cstdint>

namespace leat::transport {

/// Messages and their bytes, including headers; heartbeats, greetings and credit are not counted.
struct traffic {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
};

}  // namespace leat::transport
