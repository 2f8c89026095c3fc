#pragma once
// Options of one run of a session of a graph.

#include <cstdint>

namespace leat {

class cancellation;
class run_trace;
class tensor_exchange;

/// Options of one run; those of all runs are `session_options`.
struct run_options {
  /// 0: as in the session's options.
  std::int64_t timeout_in_ms = 0;
  /// Cancels the run from another thread.
  const cancellation* cancel = nullptr;
  /// Records what ran, and for how long.
  run_trace* trace = nullptr;
  /// Of a run that is one device's part of a run on several: how it passes tensors to the others.
  tensor_exchange* exchange = nullptr;
  /// Of a session with a target: gets the nanoseconds for which the slowest task had its part of the run, what it waited for included. The
  /// rest of the run's time is the messages'.
  std::int64_t* time_at_tasks = nullptr;
  /// Of a prepared run: its results may be the memory of a message, which is not copied. Who asks for it calls
  /// `graph_callable::release` when they are used.
  bool lends_results = false;
};

}  // namespace leat
