#pragma once
// Implementation of messenger.hpp: the state of peers and calls.

#include <leat/cluster/transport/messenger.hpp>
#include <leat/core/function_bodies.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace leat::transport {

namespace detail {
inline constexpr std::uint16_t flag_repeatable = 1;   // of a request
inline constexpr std::uint16_t flag_wants_beats = 1;  // of a beat
inline constexpr std::size_t remembered_departures = 4096;
inline constexpr std::size_t remembered_callers = 1024;

LEAT_FUNCTION std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// The memory that a kept answer takes.
LEAT_FUNCTION std::size_t kept_size(const message& m) { return 256 + static_cast<std::size_t>(m.bytes()) + m.parts.size() * sizeof(frame); }

LEAT_FUNCTION std::string seconds(steady_time::duration d) {
  const auto tenths = std::chrono::duration_cast<std::chrono::milliseconds>(d).count() / 100;
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " s";
}
}  // namespace detail

struct messenger::peer_state {
  peer_info info;
  expectation wants;
  std::vector<std::shared_ptr<std::atomic<bool>>> waiters;
  bool is_open = false;
  int watches = 0;
  int calls = 0;  // pending
  bool wants_beats = false;
  bool asked_for_beats = false;
  std::int64_t greeted_at = 0;
  // Progress of the peer's step at the last check, and when it last changed.
  bool is_busy = false;
  steady_time progressed{};
  steady_time grace{};  // silence before this time was caused by this process
};

struct messenger::pending {
  std::uint64_t number = 0;
  peer_id to = 0;
  std::atomic<bool> done{false};
  bool is_repeatable = false;
  endpoint::timer expiry;
  // The thread that throws the exception constructs it.
  message answer;
  status code = status::ok;
  std::string problem;
  std::function<void(outcome)> then;
};

struct messenger::kept_answer {
  link_id to = 0;
  bool is_there = false;
  message m;
};
struct messenger::caller {
  std::map<std::uint64_t, kept_answer> answers;
  std::size_t bytes = 0;
  std::uint64_t dropped_below = 0;
};

}  // namespace leat::transport
