#pragma once
// Implementation of master.hpp: the state of sessions and of steps.

#include <leat/cluster/master.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <atomic>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace leat::cluster {

struct master::prepared_run {
  struct part {
    int task = 0;
    std::uint64_t number = 0;  // at the task
    std::vector<int> feeds;    // indices of the run's feeds, in the part's order
    std::vector<int> fetches;
  };
  std::vector<part> parts;
  std::vector<cut_edge> edges;  // between tasks
  int own = -1;                 // the part of the master's own task
  std::vector<std::pair<int, int>> passed;
  int fetches = 0;
  int feeds = 0;
};

struct master::session_kept {
  std::uint64_t number = 0;
  master_session_options options;
  std::vector<int> tasks;                     // the tasks that the session may use
  std::vector<std::string> devices;           // of these tasks
  std::map<int, std::uint64_t> incarnations;  // by task
  int own = 0;                                // index of the default device
  std::mutex guard;
  graph_def def;
  std::unique_ptr<graph> g;
  std::vector<int> places;
  std::map<std::uint64_t, std::shared_ptr<const prepared_run>> prepared;
  std::uint64_t last_prepared = 0;
};

// The statistics that a task reports of its part of a traced step.
struct master::told_of_part {
  part_statistics its;
  clock_reading clock;
  std::string missing = "it answered none";  // why there are no statistics
  std::int64_t asked = 0;                    // times of request and answer, on this task's clock
  std::int64_t answered = 0;
  std::int64_t fed_bytes = 0;
  std::int64_t fetched_bytes = 0;
};

// A step in progress. Its answers may come after it has ended.
struct master::running {
  std::mutex guard;
  std::vector<tensor_value> values;
  std::exception_ptr failure;
  std::vector<told_of_part> told;  // by part, for a traced step
  std::int64_t slowest_part = 0;   // nanoseconds, for a timed step
  int left = 0;
  std::atomic<bool> done{false};  // all parts have ended
  std::atomic<bool> news{false};  // all parts have ended, or one has failed

  void note_time(std::int64_t nanoseconds) {
    if (nanoseconds <= 0) return;
    const std::lock_guard lock(guard);
    slowest_part = std::max(slowest_part, nanoseconds);
  }
};

inline std::string text_of(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const std::exception& e) {
    return e.what();
  }
}

LEAT_FUNCTION std::shared_ptr<master::session_kept> master::find(std::uint64_t session) {
  const std::lock_guard lock(guard_);
  const auto at = sessions_.find(session);
  if (at == sessions_.end())
    throw aborted("Session handle is not found at " + task_text(own_) + ": it was closed, or the server has been started anew");
  return at->second;
}

}  // namespace leat::cluster
