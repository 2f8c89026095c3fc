#pragma once
// Which tasks of a cluster are connected to this one, and which have ended in order, so that a server with variables for others knows when
// they are done. A task that was killed has not said goodbye, and is waited for until it has come back and says it.

#include <leat/cluster/transport/messenger.hpp>

#include <algorithm>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <utility>

namespace leat::cluster {

class attendance {
 public:
  /// Adds a task to those that are waited for. All are added before any of them connects.
  void await(const std::string& job, int task) { tasks_[{job, task}]; }
  bool is_for_nobody() const { return tasks_.empty(); }
  void came(transport::peer_id peer, const std::string& job, int task) {
    const std::lock_guard lock(guard_);
    const auto at = tasks_.find({job, task});
    if (at == tasks_.end()) return;
    at->second.connections.insert(peer);
    at->second.has_ended = false;
  }
  /// Returns whether the peer is one of the tasks, and has just ended.
  bool left(transport::peer_id peer, bool is_orderly) {
    const std::lock_guard lock(guard_);
    for (auto& [name, task] : tasks_)
      if (task.connections.erase(peer) > 0) return task.has_ended = is_orderly && task.connections.empty();
    return false;
  }
  /// Whether each of the tasks has been connected, and has ended.
  bool have_all_ended() const {
    const std::lock_guard lock(guard_);
    return std::all_of(tasks_.begin(), tasks_.end(), [](const auto& one) { return one.second.has_ended; });
  }

 private:
  struct one_task {
    std::set<transport::peer_id> connections;
    bool has_ended = false;
  };
  mutable std::mutex guard_;
  std::map<std::pair<std::string, int>, one_task> tasks_;
};

}  // namespace leat::cluster
