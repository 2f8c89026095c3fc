#pragma once
// What an endpoint has sent and received.

#include <cstdint>

namespace leat::transport {

/// Messages and their bytes, headers included; without signs of life, greetings and credit.
struct traffic {
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
};

}  // namespace leat::transport
