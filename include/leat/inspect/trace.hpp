#pragma once
// Tracing: a `run_trace` that is passed to runs records an event for each step, with its operator, thread and time. It is exported
// as a Chrome trace (for chrome://tracing and Perfetto) or summed up as a table.
//
//   run_trace t;
//   s.run(loss, {{x, data}}, {.trace = &t});               // a dynamic session: programs as they run, one event a step
//   s.run_traced(t, fetch(loss, train), x = xs);            // a compiled one
//   t.write_chrome_trace("step.json");
//   std::cout << t.statistics_table();
//
// A fused program has one event per step, named after the step's operators. With `run_trace t(trace_detail::nodes)` a dynamic session
// runs each node by itself instead, which is slower but separates the nodes. Runs without a trace have no overhead.
//
// A session with a target brings the events of all tasks that took part, and the tensors that went between them, on the clock of this
// process. Source: TensorFlow 1.x `RunOptions.trace_level`, `RunMetadata.step_stats`.

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
  std::string name;     // of the node; of a fused step, its operators
  std::string type;     // the operator; "fused" for several; "Session" for a whole run, "Plan" for its preparation
  std::string made_at;  // file and line, if known
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int thread = 0;  // of its task; 0 is the first seen
  int run = 0;     // 1 is the first
  int task = 0;    // of run_trace::tasks; 0 is this process

  /// Nanoseconds.
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

/// A process that a trace has events of.
struct trace_task {
  std::string device;            // "/job:ps/replica:0/task:0/device:CPU:0"
  std::int64_t clock_error = 0;  // how far its times may be off those of this process, in nanoseconds
};

/// A tensor that went from one task to another.
struct trace_transfer {
  std::string tensor;  // "w/read:0"; "^init" of a control dependency; "feeds" and "fetches", which a part or run was given and gave
  int from = 0;        // of run_trace::tasks
  int to = 0;
  std::int64_t bytes = 0;    // of elements
  std::int64_t message = 0;  // those of a run and a task with the same number went in one message
  std::int64_t begin = 0;    // when it was given to be sent, in the events' time
  std::int64_t end = 0;      // when it had arrived
  int run = 0;
};

/// A task that took part in a run, and told nothing or not all of it.
struct trace_gap {
  std::string device;
  std::string why;
  int run = 0;
};

/// What the tasks of a cluster tell of a run: times are of one steady clock, tasks are indices of `tasks`, whose first is the asking process.
struct trace_of_tasks {
  std::vector<trace_task> tasks{{}};
  std::vector<trace_event> events{};
  std::vector<trace_transfer> transfers{};
  std::vector<trace_gap> gaps{};
};

/// What a task did in all runs of a trace. Times in nanoseconds; a message may carry several tensors.
struct trace_task_totals {
  std::string device;
  std::int64_t events = 0;
  std::int64_t busy = 0;  // the sum of its events' times, without phases
  std::int64_t messages_sent = 0;
  std::int64_t bytes_sent = 0;
  std::int64_t messages_received = 0;
  std::int64_t bytes_received = 0;
};

/// What went along an edge between two tasks in all runs of a trace.
struct trace_edge_totals {
  std::string tensor;
  std::string from;  // devices
  std::string to;
  std::int64_t messages = 0;  // that carried it, with others or alone
  std::int64_t bytes = 0;
};

class trace_scope;
class step_observer;

/// Events of any number of runs. Thread-safe; it must outlive the runs that it is passed to.
class run_trace {
 public:
  using clock = std::chrono::steady_clock;
  using scope_type = trace_scope;
  using observer_type = step_observer;

  explicit run_trace(trace_detail detail = trace_detail::steps) : detail_(detail) {}
  run_trace(const run_trace&) = delete;
  run_trace& operator=(const run_trace&) = delete;

  trace_detail detail() const { return detail_; }
  /// All events, in order of their ends.
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
  /// This process, and the tasks of clusters that took part in runs. Memory plans are of this process alone.
  std::vector<trace_task> tasks() const {
    const std::lock_guard lock(guard_);
    return tasks_;
  }
  /// Tensors that went between tasks.
  std::vector<trace_transfer> transfers() const {
    const std::lock_guard lock(guard_);
    return transfers_;
  }
  /// Tasks whose events are missing, and why.
  std::vector<trace_gap> gaps() const {
    const std::lock_guard lock(guard_);
    return gaps_;
  }
  /// Removes all events, memory plans and runs.
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
  /// The construction's time, in nanoseconds of std::chrono::steady_clock.
  std::int64_t started() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(start_.time_since_epoch()).count(); }
  /// Starts a run; returns its number.
  int begin_run() {
    const std::lock_guard lock(guard_);
    return ++runs_;
  }
  /// Adds an event of this thread.
  void add(int run, std::string name, std::string type, std::int64_t begin, std::int64_t end, std::string made_at = {});
  /// Adds what the tasks of a cluster tell of a run. `clock_offset`: their clock minus std::chrono::steady_clock of this process, in
  /// nanoseconds, give or take `clock_error`.
  void add_tasks(int run, trace_of_tasks told, std::int64_t clock_offset, std::int64_t clock_error);
  /// Says that a run, or a task's part of it, is not among the events.
  void add_gap(int run, std::string device, std::string why);
  /// Adds a program's memory plan, once per program and sizes. `holder` keeps a program that may be dropped alive.
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
  /// Totals by operator and node as a text table, of runs on a cluster also by task and edge; times in microseconds.
  std::string statistics_table() const;
  /// Chrome's trace event format: an object with `traceEvents`; times in microseconds. Each task is a process; a transfer is an
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

/// An event from construction to the end of the scope, also when an exception leaves it.
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

/// Records the steps of a program, as called by `run` of a bound program and of a compiled session. Names are resolved before the
/// first step.
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
#include <leat/inspect/trace_bodies.hpp>
#endif
