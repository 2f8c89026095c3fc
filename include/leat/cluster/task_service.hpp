#pragma once
// Both services of a task, as others reach them: what a call or a note asks for is given to the worker or the master, on a thread of its
// own where it may block.

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
  /// `devices` and `addresses`: of the cluster's tasks, by number; `own`: this one.
  task_service(task_network& network, const std::vector<std::string>& devices, const std::vector<std::string>& addresses, int own)
      : network_(network),
        worker_(network, devices[static_cast<std::size_t>(own)], static_cast<int>(devices.size())),
        master_(network, worker_, devices, addresses, own) {}

  /// What others are told who ask for the cluster's specification; set before there are calls.
  void set_description(std::string json) { description_ = std::move(json); }

  worker& its_worker() { return worker_; }
  master& its_master() { return master_; }

  /// A call of another process, which `peer` identifies. Does not block.
  void called(std::uint64_t peer, method what, transport::message m, steady_time deadline, responder answer);
  /// A note. Errors: what it contains contradicts itself.
  void noted(std::uint64_t peer, method what, transport::message m);
  /// A peer has gone: its sessions are closed, its steps stopped.
  void lost(std::uint64_t peer);
  /// Ends everything.
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
  // By peer: its sessions here; the parts that it has registered, by session. A peer that has called for one is there until it has gone.
  std::map<std::uint64_t, std::set<std::uint64_t>> sessions_;
  std::map<std::uint64_t, std::map<std::uint64_t, std::vector<std::uint64_t>>> registered_;
  std::deque<std::pair<std::uint64_t, std::vector<std::uint64_t>>> orphans_;    // sessions whose master has gone, and their parts
  std::multiset<std::pair<std::uint64_t, std::uint64_t>> steps_;                // parts that run for a peer: its number, the step's
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, cancellation*> runs_;  // by peer and its number for the run
  bool is_stopping_ = false;
  std::string description_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/task_service_bodies.hpp>
#endif
