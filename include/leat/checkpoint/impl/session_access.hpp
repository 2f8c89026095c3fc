#pragma once
// Implementation of session_access.hpp.

#include <leat/checkpoint/session_access.hpp>
#include <leat/core/function_bodies.hpp>

namespace leat::detail {

LEAT_FUNCTION std::string fingerprint_text(std::uint64_t hash) {
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; hash >>= 4) text[i] = "0123456789abcdef"[hash & 15];
  return text;
}

LEAT_FUNCTION std::vector<written_shard> session_access::write_shards(const std::vector<shard_order>&) const {
  throw unimplemented("a session without a target has no tasks that write its variables");
}

LEAT_FUNCTION void session_access::read_shards(const std::vector<shard_reading>&) {
  throw unimplemented("a session without a target has no tasks that read its variables");
}

}  // namespace leat::detail
