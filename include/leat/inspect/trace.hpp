#pragma once
// Tracing: a `run_trace` that is passed to runs records an event for each step, with its operator, thread and time. It is exported as a
// Chrome trace (for chrome://tracing and Perfetto) or summed up as a table.
//
//   run_trace t;
//   s.run(loss, {{x, data}}, {.trace = &t});               // a dynamic session: programs as they run, one event a step
//   s.run_traced(t, fetch(loss, train), x = xs);            // a compiled one
//   t.write_chrome_trace("step.json");
//   std::cout << t.statistics_table();
//
// A fused program has one event per step, named after the step's operators. With `run_trace t(trace_detail::nodes)` a dynamic session runs
// each node by itself instead, which is slower but separates the nodes. Runs without a trace have no overhead.
//
// With a session that has a target, the trace has the events of all tasks that took part, and the tensors that were sent between them, in
// this process's time. Source: TensorFlow 1.x `RunOptions.trace_level`, `RunMetadata.step_stats`.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/memory_plan.hpp>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

namespace leat {

/// The granularity of events: executed steps, or single nodes of the graph.
enum class trace_detail { steps, nodes };

/// A step or node that ran, or a phase of a run. Times are nanoseconds since the trace was constructed.
struct trace_event {
  std::string name;     // of the node; of a fused step: its operators
  std::string type;     // the operator; "fused" for several; "Session" for a whole run, "Plan" for its preparation
  std::string made_at;  // file and line, if known
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int thread = 0;  // within its task; 0 is the first seen
  int run = 0;     // 1 is the first
  int task = 0;    // index in run_trace::tasks; 0 is this process

  /// In nanoseconds.
  std::int64_t duration() const { return end - begin; }
  /// Whether it encloses other events.
  bool is_phase() const { return type == "Session" || type == "Plan"; }
};

/// Call count and total time, in nanoseconds, of a node or an operator type.
struct trace_statistics {
  std::string name;
  std::string type;
  std::int64_t count = 0;
  std::int64_t total = 0;
  std::int64_t least = 0;
  std::int64_t most = 0;
  /// Mean time of a call, in nanoseconds.
  double mean() const { return count == 0 ? 0 : static_cast<double>(total) / static_cast<double>(count); }
};

/// A process that has events in a trace.
struct trace_task {
  std::string device;            // "/job:ps/replica:0/task:0/device:CPU:0"
  std::int64_t clock_error = 0;  // maximal error of its times relative to this process, in nanoseconds
};

/// A tensor that was sent from one task to another.
struct trace_transfer {
  std::string tensor;  // "w/read:0"; "^init": control dependency; "feeds", "fetches": arguments and results of a run or subgraph
  int from = 0;        // index in run_trace::tasks
  int to = 0;
  std::int64_t bytes = 0;    // of elements
  std::int64_t message = 0;  // tensors of a run and a task with one number shared a message
  std::int64_t begin = 0;    // when it was passed to the sender, in the events' time
  std::int64_t end = 0;      // when it had arrived
  int run = 0;
};

/// A task that took part in a run, but has no events in the trace or not all of them.
struct trace_gap {
  std::string device;
  std::string why;
  int run = 0;
};

/// Events of one run, collected from the tasks of a cluster. All times are of one steady clock; tasks are indices in `tasks`, and the first
/// is the requesting process.
struct trace_of_tasks {
  std::vector<trace_task> tasks{{}};
  std::vector<trace_event> events{};
  std::vector<trace_transfer> transfers{};
  std::vector<trace_gap> gaps{};
};

/// Totals of a task over all runs of a trace. Times are in nanoseconds; a message may carry several tensors.
struct trace_task_totals {
  std::string device;
  std::int64_t events = 0;
  std::int64_t busy = 0;  // the sum of its events' times, without phases
  std::int64_t messages_sent = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t messages_received = 0;
  std::int64_t bytes_received = 0;
};

/// Totals of an edge between two tasks over all runs of a trace.
struct trace_edge_totals {
  std::string tensor;
  std::string from;  // devices
  std::string to;
  std::int64_t messages = 0;  // messages that carried it, alone or with others
  std::int64_t bytes = 0;
};

class trace_scope;
class step_observer;

/// Events of any number of runs. Thread-safe. It must outlive the runs that it is passed to.
class run_trace {
 public:
  using clock = std::chrono::steady_clock;
  using scope_type = trace_scope;
  using observer_type = step_observer;

  explicit run_trace(trace_detail detail = trace_detail::steps) : detail_(detail) {}
  run_trace(const run_trace&) = delete;
  run_trace& operator=(const run_trace&) = delete;

  /// How much is recorded.
  trace_detail detail() const { return detail_; }
  /// All events, in the order in which they were added.
  std::vector<trace_event> events() const {
    const std::lock_guard lock(guard_);
    return events_;
  }
  /// The memory plans of the programs that ran, each once.
  std::vector<memory_plan> memory() const {
    const std::lock_guard lock(guard_);
    return plans_;
  }
  /// The number of runs recorded.
  int runs() const {
    const std::lock_guard lock(guard_);
    return runs_;
  }
  /// This process, and the tasks of clusters that took part in runs. Memory plans exist only for this process.
  std::vector<trace_task> tasks() const {
    const std::lock_guard lock(guard_);
    return tasks_;
  }
  /// The tensors that were sent between tasks.
  std::vector<trace_transfer> transfers() const {
    const std::lock_guard lock(guard_);
    return transfers_;
  }
  /// The tasks whose events are missing, and why.
  std::vector<trace_gap> gaps() const {
    const std::lock_guard lock(guard_);
    return gaps_;
  }
  /// Removes all events, transfers, gaps, memory plans and runs.
  void clear() {
    const std::lock_guard lock(guard_);
    events_.clear();
    transfers_.clear();
    gaps_.clear();
    tasks_.resize(1);
    plans_.clear();
    planned_.clear();
    runs_ = 0;
  }

  // ---- for sessions ----

  /// Nanoseconds since the trace was constructed.
  std::int64_t now() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count(); }
  /// The time of construction, in nanoseconds of std::chrono::steady_clock.
  std::int64_t started() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count(); }
  /// Starts a run; returns its number.
  int begin_run() {
    const std::lock_guard lock(guard_);
    return ++runs_;
  }
  /// Adds an event of the calling thread.
  void add(int run, std::string name, std::string type, std::int64_t begin, std::int64_t end, std::string made_at = {});
  /// Adds the events of a run that were collected from the tasks of a cluster. `clock_offset`: their clock minus std::chrono::steady_clock
  /// of this process, in nanoseconds, with an error of at most `clock_error`.
  void add_tasks(int run, trace_of_tasks told, std::int64_t clock_offset, std::int64_t clock_error);
  /// Records that the events of a run, or of a task in a run, are missing.
  void add_gap(int run, std::string device, std::string why);
  /// Adds a program's memory plan, once per program and sizes. `holder` keeps alive a program that might be dropped.
  void add_memory(const planned_program& p, std::shared_ptr<const void> holder = {});

  // ---- results ----

  /// Totals by node, slowest first, without phases.
  std::vector<trace_statistics> by_node() const {
    return sum([](const trace_event& e) { return std::pair(e.name, e.type); });
  }
  /// Totals by operator type, slowest first, without phases.
  std::vector<trace_statistics> by_operator() const {
    return sum([](const trace_event& e) { return std::pair(e.type, e.type); });
  }
  /// Totals by task, in the order of `tasks`.
  std::vector<trace_task_totals> by_task() const;
  /// Totals by edge between tasks, most bytes first.
  std::vector<trace_edge_totals> by_edge() const;
  /// Totals by operator and node as a text table; for runs on a cluster, also by task and edge. Times are in microseconds.
  std::string statistics_table() const;
  /// Chrome's trace event format: an object with `traceEvents`, times in microseconds. Each task is a process; a transfer is an
  /// asynchronous event of the task that received it.
  std::string chrome_trace() const;
  /// Writes `chrome_trace` to a file. Errors: not_found if it cannot be opened, data_loss if it cannot be written.
  void write_chrome_trace(const std::string& path) const;

 private:
  template <class Key>
  std::vector<trace_statistics> sum(Key key) const {
    std::map<std::pair<std::string, std::string>, trace_statistics> rows;
    {
      const std::lock_guard lock(guard_);
      for (const trace_event& e : events_) {
        if (e.is_phase()) continue;
        trace_statistics& row = rows[key(e)];
        row.least = row.count == 0 ? e.duration() : std::min(row.least, e.duration());
        row.most = std::max(row.most, e.duration());
        row.total += e.duration();
        ++row.count;
      }
    }
    std::vector<trace_statistics> list;
    for (auto& [names, row] : rows) {
      row.name = names.first;
      row.type = names.second;
      list.push_back(std::move(row));
    }
    std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
      return a.total != b.total ? a.total > b.total : std::tie(a.name, a.type) < std::tie(b.name, b.type);
    });
    return list;
  }
  static std::string table(std::string_view title, const std::vector<trace_statistics>& rows);
  std::string table_of_tasks() const;
  static std::string microseconds(std::int64_t nanoseconds) {
    char text[40];
    const char* const sign = nanoseconds < 0 ? "-" : "";
    std::snprintf(text, sizeof text, "%s%lld.%03d", sign, std::abs(static_cast<long long>(nanoseconds / 1000)),
                  std::abs(static_cast<int>(nanoseconds % 1000)));
    return text;
  }
  static std::string quoted(std::string_view s);

  const trace_detail detail_;
  const clock::time_point start_ = clock::now();
  mutable std::mutex guard_;
  std::vector<trace_event> events_;
  std::vector<trace_task> tasks_{{"/job:localhost/replica:0/task:0/device:CPU:0", 0}};
  std::vector<trace_transfer> transfers_;
  std::vector<trace_gap> gaps_;
  std::vector<memory_plan> plans_;
  struct seen_program {
    const std::int64_t* data;
    std::vector<std::int64_t> sizes;
    std::shared_ptr<const void> holder;
  };
  std::vector<seen_program> planned_;
  std::map<std::thread::id, int> threads_;
  int runs_ = 0;
};

/// Records an event from construction to the end of the scope, even if an exception ends it.
class trace_scope {
 public:
  trace_scope(run_trace* trace, int run, std::string name, std::string type, std::string made_at = {})
      : trace_(trace),
        run_(run),
        name_(std::move(name)),
        type_(std::move(type)),
        made_at_(std::move(made_at)),
        begin_(trace != nullptr ? trace->now() : 0) {}
  trace_scope(const trace_scope&) = delete;
  trace_scope& operator=(const trace_scope&) = delete;
  ~trace_scope() { end(); }
  /// Ends the event early.
  void end();

 private:
  run_trace* trace_;
  int run_;
  std::string name_;
  std::string type_;
  std::string made_at_;
  std::int64_t begin_;
};

/// Observer that records the steps of a program, for `run` of a bound program and of a compiled session. Names are resolved before the
/// first step, so that this takes no time of the steps.
class step_observer {
 public:
  step_observer(run_trace& trace, int run, const std::int64_t* program);
  void before(int) { begin_ = trace_.now(); }
  void after(int step);

 private:
  run_trace& trace_;
  int run_;
  std::vector<std::pair<std::string, bool>> steps_;
  std::int64_t begin_ = 0;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/inspect/impl/trace.hpp>
#endif
