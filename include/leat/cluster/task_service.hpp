#pragma once
// Both services of a task, as other processes reach them: passes calls and notes to the worker or the master, on a thread of their own if
// they may block.

#include <leat/cluster/master.hpp>
#include <leat/cluster/worker.hpp>
#include <leat/core/function_bodies.hpp>

#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace leat::cluster {

class task_service {
 public:
  /// `devices` and `addresses`: of the cluster's tasks, by number; `own`: this task.
  task_service(task_network& network, const std::vector<std::string>& devices, const std::vector<std::string>& addresses, int own)
      : network_(network),
        worker_(network, devices[static_cast<std::size_t>(own)], static_cast<int>(devices.size())),
        master_(network, worker_, devices, addresses, own) {}

  /// Sets the answer to requests for the cluster's specification; must be called before there are calls.
  void set_description(std::string json) { description_ = std::move(json); }

  worker& its_worker() { return worker_; }
  master& its_master() { return master_; }

  /// Handles a call of another process, which `peer` identifies. Does not block.
  void called(std::uint64_t peer, method what, transport::message m, steady_time deadline, responder answer);
  /// Handles a note. Errors: those of inconsistent contents.
  void noted(std::uint64_t peer, method what, transport::message m);
  /// Called when a peer has gone: its sessions are closed, and its steps stopped.
  void lost(std::uint64_t peer);
  /// Ends all sessions and steps.
  void stop();

 private:
  struct under_way;
  std::shared_ptr<under_way> note_call(std::uint64_t peer, method what, const transport::message& m);
  transport::message answer_to(std::uint64_t peer, method what, const transport::message& m, steady_time deadline,
                               const cancellation* stop);
  void keep_registered(std::uint64_t peer, std::uint64_t session, std::optional<std::uint64_t> part);
  void drop_orphans(std::unique_lock<std::mutex>& lock);

  task_network& network_;
  worker worker_;
  master master_;
  std::mutex guard_;
  // By peer: its sessions here, and the parts that it has registered, by session. An entry exists from a peer's first such call until the
  // peer has gone.
  std::map<std::uint64_t, std::set<std::uint64_t>> sessions_;
  std::map<std::uint64_t, std::map<std::uint64_t, std::vector<std::uint64_t>>> registered_;
  std::deque<std::pair<std::uint64_t, std::vector<std::uint64_t>>> orphans_;    // sessions of masters that have gone, and their parts
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> steps_;                // running parts: the peer's number, the step's number
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, cancellation*> runs_;  // by peer, and its number for the run
  bool is_stopping_ = false;
  std::string description_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/task_service.hpp>
#endif
