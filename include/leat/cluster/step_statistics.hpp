#pragma once
// What a traced step brings beside its values: each task tells its master what its part did, on its own clock; the master puts that of all
// tasks on its clock, and tells the client. A step that is not traced has none of it, and does not look at the clock.

#include <leat/cluster/clock_reading.hpp>
#include <leat/cluster/transport/frame.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace leat::cluster {

/// How a step is traced; travels in `message::edge` of what begins it, and of the answer, which has statistics as its first part. At the
/// level `times` there are none: the answer's `mark` is the time that the part, or the slowest part, took, in nanoseconds.
enum class trace_level : std::uint32_t { none, steps, nodes, times };
constexpr trace_level level_in(std::uint32_t edge) {
  return edge > static_cast<std::uint32_t>(trace_level::times) ? trace_level::none : static_cast<trace_level>(edge);
}
constexpr bool has_statistics(trace_level l) { return l == trace_level::steps || l == trace_level::nodes; }
inline trace_level level_of(trace_detail d) { return d == trace_detail::nodes ? trace_level::nodes : trace_level::steps; }
inline trace_detail detail_of(trace_level l) { return l == trace_level::nodes ? trace_detail::nodes : trace_detail::steps; }

/// A tensor that a part sent or received.
struct passed_tensor {
  std::int64_t edge = 0;
  std::int64_t bytes = 0;    // of its elements
  std::int64_t message = 0;  // of a sent one: those with the same number went together
  std::int64_t at = 0;       // when it was given to be sent, or had arrived
};

/// What a task tells of its part. Times are nanoseconds of its steady clock.
struct part_statistics {
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::vector<trace_event> events{};
  std::int64_t left_out = 0;  // events that are too many to be told
  std::vector<passed_tensor> sent{};
  std::vector<passed_tensor> received{};
};
/// No task tells of more events of one step.
inline constexpr std::size_t most_told_events = std::size_t{1} << 18;

/// What a master tells of a run, on its clock. `told.tasks[1]` is the master's.
struct step_statistics {
  std::int64_t began = 0;  // when it was asked to run it, and when it answered
  std::int64_t ended = 0;
  trace_of_tasks told{};
};

/// As a message's part. Errors of reading: data_loss for what contradicts itself.
transport::frame frame_of(const part_statistics& s);
part_statistics part_statistics_of(const transport::frame& f);
transport::frame frame_of(const step_statistics& s);
step_statistics step_statistics_of(const transport::frame& f);

/// A client's order to trace a run, and what it learns: of the level `times` the time alone, of others the rest.
struct traced_run {
  trace_level level = trace_level::steps;
  step_statistics statistics{};
  clock_reading clock{};  // the master's
  std::int64_t slowest_part = 0;
};

/// Bytes of the elements of tensors.
std::int64_t element_bytes(const tensor_value& value);
std::int64_t element_bytes(std::span<const tensor_value> values);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/step_statistics_bodies.hpp>
#endif
