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

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/memory_plan.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
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
  std::string name;       // of the node; of a fused step, its operators
  std::string type;       // the operator; "fused" for several; "Session" for a whole run, "Plan" for its preparation
  std::string made_at;    // file and line, if known
  std::int64_t begin = 0;
  std::int64_t end = 0;
  int thread = 0;         // 0 is the first seen
  int run = 0;            // 1 is the first

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
  /// Removes all events, memory plans and runs.
  void clear() {
    const std::lock_guard lock(guard_);
    events_.clear();
    plans_.clear();
    planned_.clear();
    runs_ = 0;
  }

  // ---- for sessions ----

  /// Nanoseconds since the trace was constructed.
  std::int64_t now() const { return std::chrono::duration_cast<std::chrono::nanoseconds>(clock::now() - start_).count(); }
  /// Starts a run; returns its number.
  int begin_run() {
    const std::lock_guard lock(guard_);
    return ++runs_;
  }
  /// Adds an event of this thread.
  void add(int run, std::string name, std::string type, std::int64_t begin, std::int64_t end, std::string made_at = {});
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
  /// Both as a text table; times in microseconds.
  std::string statistics_table() const {
    std::string text = std::to_string(runs()) + " runs\n";
    text += table("operator", by_operator()) + "\n" + table("node", by_node());
    return text;
  }
  /// Chrome's trace event format: an object with `traceEvents`; times in microseconds.
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
  static std::string microseconds(std::int64_t nanoseconds) {
    char text[40];
    std::snprintf(text, sizeof text, "%lld.%03d", static_cast<long long>(nanoseconds / 1000), static_cast<int>(nanoseconds % 1000));
    return text;
  }
  static std::string quoted(std::string_view s);

  const trace_detail detail_;
  const clock::time_point start_ = clock::now();
  mutable std::mutex guard_;
  std::vector<trace_event> events_;
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
