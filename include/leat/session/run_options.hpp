#pragma once
// Options of one run of a graph's session.

#include <cstdint>

namespace leat {

class cancellation;
class run_trace;
class tensor_exchange;

/// Options of one run; those of all runs are `session_options`.
struct run_options {
  /// Time limit of the run in milliseconds; 0: that of the session's options.
  std::int64_t timeout_in_ms = 0;
  /// Cancels the run from another thread.
  const cancellation* cancel = nullptr;
  /// Records which steps or nodes ran, and their times.
  run_trace* trace = nullptr;
  /// For a run of one device's subgraph of a run on several devices: passes tensors to and from the others.
  tensor_exchange* exchange = nullptr;
  /// For a session with a target: receives the nanoseconds for which the slowest task ran its subgraph, waiting included. The rest of the
  /// run's time is that of messages.
  std::int64_t* time_at_tasks = nullptr;
  /// For a prepared run: its results may be the memory of a message, which is not copied. A caller that sets it calls
  /// `graph_callable::release` when the results are no longer used.
  bool lends_results = false;
};

}  // namespace leat
