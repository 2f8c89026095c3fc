#pragma once
// How a task reaches the others: calls with one answer each, and notes. transport/ sends them between processes; a test may deliver them
// within one process.

#include <leat/cluster/transport/traffic.hpp>
#include <leat/cluster/transport/wire.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace leat::cluster {

using steady_time = std::chrono::steady_clock::time_point;

/// The purpose of a call or a note. If a meaning changes, transport::wire_version must change.
enum class method : std::uint16_t {
  ping = 1,  // answered by any task
  // of the master
  create_session,
  extend_session,
  prepare_run,
  run,
  stop_run,  // a note
  close_session,
  reset_all,
  read_node,
  write_node,
  has_node,
  // of the worker
  register_part,
  drop_parts,  // a note
  run_part,
  cancel_step,  // a note
  tensor,       // a note: a tensor of a step along an edge
  tensors,      // a note: several
  reset,
  read_variable,
  write_variable,
  has_variable,
  // of the server
  describe_cluster,       // answered by the cluster's specification, as JSON
  clock,                  // answered by the task's steady clock
  count,                  // answered by the task's counters since its start, and by the tasks that have ended, with milliseconds since then
  placement,              // of the master: the devices of a session's nodes
  write_shards,           // of the master: makes tasks write variables into files
  write_shard,            // of the worker: writes variables into a file
  drop_run,               // a note to the master: drops a prepared run
  drop_part,              // a note to the worker: drops one part
  read_shards,            // of the master: makes tasks read variables of a checkpoint
  read_shard,             // of the worker: reads variables, and keeps their values aside
  adopt_shard,            // of the worker: sets the variables to the values kept aside
  list_devices,           // of the master: the devices of a session, as JSON
  random_state,           // of the master: the positions of a session's random numbers
  set_random_state,       // of the master: sets these positions at the tasks
  part_random_state,      // of the worker: the positions of what the task draws for a session
  set_part_random_state,  // of the worker: sets these positions
};

/// Receives a call's answer, or the error in place of it; called once, by any thread, and must not block.
using answer_handler = std::function<void(transport::message answer, std::exception_ptr failure)>;

/// Answers a call, once; may be called by any thread.
using responder = std::function<void(transport::message answer, std::exception_ptr failure)>;

/// Tasks are identified by numbers: those of the cluster in the order of `task_list`.
class task_network {
 public:
  virtual ~task_network() = default;
  /// Calls a task; connects first if necessary. Errors go to the handler.
  virtual void call(int task, method what, transport::message m, steady_time deadline, answer_handler done) = 0;
  /// Sends a note. Errors: unavailable.
  virtual void note(int task, method what, transport::message m) = 0;
  /// As `note`, for notes that may exceed the room of the queue: waits for room until the deadline, and returns whether the note was sent.
  /// If not, `m` may be passed again.
  virtual bool note_with_room(int task, method what, transport::message& m, steady_time) {
    note(task, what, std::move(m));
    return true;
  }
  /// Waits until `done`, which another thread sets before it calls `wake`; returns `done`.
  virtual bool wait(const std::atomic<bool>& done, steady_time until) = 0;
  virtual void wake() = 0;
  /// The number of connections to tasks that have been lost so far.
  virtual std::uint64_t losses() const { return 0; }
  /// Why the connection to a task was lost since `losses()` was `before`; null if it was not.
  virtual std::exception_ptr loss_of([[maybe_unused]] int task, [[maybe_unused]] std::uint64_t before) { return nullptr; }
  /// Describes a task that does not answer: the result of the last attempt to reach it. May take 100 ms.
  virtual std::string describe(int task) = 0;
  /// Memory whose contents are sent without a copy, to a task, or to the calling peer in an answer; empty if the connection has none.
  virtual transport::writable_frame memory_for_task([[maybe_unused]] int task, [[maybe_unused]] std::size_t bytes) { return {}; }
  virtual transport::writable_frame memory_for_peer([[maybe_unused]] std::uint64_t peer, [[maybe_unused]] std::size_t bytes) { return {}; }
  /// Tasks that have said goodbye and have not come back, and how long ago they ended.
  virtual std::vector<std::pair<int, std::chrono::milliseconds>> ended() const { return {}; }
  /// Totals of messages since the start.
  virtual transport::traffic its_traffic() const { return {}; }
};

}  // namespace leat::cluster
