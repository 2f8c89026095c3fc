#pragma once
// The statistics that a traced step returns in addition to its values: each task reports to its master what its part did, on the task's own
// clock; the master converts the reports of all tasks to its clock, and sends them to the client. A step that is not traced has no
// statistics and reads no clock.

#include <leat/cluster/clock_reading.hpp>
#include <leat/cluster/transport/frame.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <cstdint>
#include <span>
#include <vector>

namespace leat::cluster {

/// How a step is traced; sent in `message::edge` of the message that begins the step, and of the answer, which has the statistics as its
/// first part. The level `times` has no statistics: the answer's `mark` is the time in nanoseconds that the part, or the slowest part,
/// took.
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
  std::int64_t message = 0;  // for a sent tensor: tensors with the same number were sent together
  std::int64_t at = 0;       // when it was passed to be sent, or had arrived
};

/// The report of a task about its part. Times are nanoseconds of the task's steady clock.
struct part_statistics {
  std::int64_t began = 0;
  std::int64_t ended = 0;
  std::vector<trace_event> events{};
  std::int64_t left_out = 0;  // number of events beyond `most_told_events`, which are not reported
  std::vector<passed_tensor> sent{};
  std::vector<passed_tensor> received{};
};
/// The maximal number of events that a task reports for one step.
inline constexpr std::size_t most_told_events = std::size_t{1} << 18;

/// The report of a master about a run, on the master's clock. `told.tasks[1]` is the master's.
struct step_statistics {
  std::int64_t began = 0;  // when the run was requested, and when the master answered
  std::int64_t ended = 0;
  trace_of_tasks told{};
};

/// Conversion to and from a part of a message. Errors of reading: data_loss for inconsistent contents.
transport::frame frame_of(const part_statistics& s);
part_statistics part_statistics_of(const transport::frame& f);
transport::frame frame_of(const step_statistics& s);
step_statistics step_statistics_of(const transport::frame& f);

/// A client's request to trace a run, and the results: at the level `times` the time alone, at other levels the rest.
struct traced_run {
  trace_level level = trace_level::steps;
  step_statistics statistics{};
  clock_reading clock{};  // of the master's clock
  std::int64_t slowest_part = 0;
};

/// The size of the elements of tensors in bytes.
std::int64_t element_bytes(const tensor_value& value);
std::int64_t element_bytes(std::span<const tensor_value> values);

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/step_statistics.hpp>
#endif
