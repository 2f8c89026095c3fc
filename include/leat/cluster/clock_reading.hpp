#pragma once
// How far the clocks of tasks are from this process's, by round trips: half of what a question and its answer took is how far the reading
// between them may be off. Source: D. Mills, "Internet time synchronization: the Network Time Protocol" (1991).

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

/// No clock is beyond, in nanoseconds (36 years): sums of a few do not overflow.
inline constexpr std::int64_t last_clock = std::int64_t{1} << 60;

/// Another steady clock minus this process's, in nanoseconds.
struct clock_reading {
  std::int64_t offset = 0;
  std::int64_t error = last_clock;  // of a clock that was not read
};

/// What a round trip tells: it was sent and came back at times of this clock, and was received and answered at times of the other's. The
/// reading has no meaning if a time is beyond `last_clock`.
clock_reading clock_of_round_trip(std::int64_t sent, std::int64_t received, std::int64_t answered, std::int64_t came_back);

/// Reads the clocks of tasks, each by the fastest of three round trips. Those that do not answer until then are left out.
std::map<int, clock_reading> read_clocks(task_network& network, const std::vector<int>& tasks, steady_time until);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/clock_reading_bodies.hpp>
#endif
