#pragma once
// Measures the offset between the clocks of other tasks and this process's clock by round trips: the error of the offset is at most half of
// the round-trip time. Source: D. Mills, "Internet time synchronization: the Network Time Protocol" (1991).

#include <leat/cluster/task_network.hpp>
#include <leat/core/function_bodies.hpp>

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <vector>

namespace leat::cluster {

/// std::chrono::steady_clock, in nanoseconds.
inline std::int64_t clock_now() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Upper limit of valid clock values in nanoseconds (36 years), so that sums of a few values do not overflow.
inline constexpr std::int64_t last_clock = std::int64_t{1} << 60;

/// The offset of another steady clock: its value minus that of this process's clock, in nanoseconds.
struct clock_reading {
  std::int64_t offset = 0;
  std::int64_t error = last_clock;  // the initial value: the clock was not read
};

/// Computes an offset from a round trip: the message was sent and the answer came back at times of this clock, and it was received and
/// answered at times of the other clock. The reading is meaningless if a time is beyond `last_clock`.
clock_reading clock_of_round_trip(std::int64_t sent, std::int64_t received, std::int64_t answered, std::int64_t came_back);

/// Reads the clocks of tasks, each by the fastest of three round trips. Tasks that do not answer before `until` are left out.
std::map<int, clock_reading> read_clocks(task_network& network, const std::vector<int>& tasks, steady_time until);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/clock_reading.hpp>
#endif
