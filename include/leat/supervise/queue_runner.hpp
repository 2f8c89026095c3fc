#pragma once
// Threads that keep a queue filled. Each thread runs one enqueue operation of a graph session in a loop, until the input ends
// (out_of_range), the queue is closed, or the coordinator stops. Then the queue is closed, so that consumers get the remaining elements and
// then out_of_range. A graph's collection "queue_runners" stores the runners as TensorFlow's messages, so that they are exchanged with the
// graph.
// Source: TensorFlow 1.x `train.QueueRunner`, `add_queue_runner`, `start_queue_runners`, queue_runner.proto.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/queue.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/supervise/coordinator.hpp>

#include <functional>
#include <string>
#include <vector>

namespace leat {

namespace collection {
/// The queue runners that `start_queue_runners` starts.
inline constexpr std::string_view queue_runners = "queue_runners";
}  // namespace collection

namespace detail {
// Places the closing operation on the queue's device, because the current device scopes may name another task.
graph_operation close_on_its_device(const graph_queue& queue, bool cancel_pending_enqueues);
}  // namespace detail

/// Keeps a queue filled by threads that run its enqueue operations.
class queue_runner {
 public:
  /// Runs each of these operations on a thread of its own. Adds two operations to the queue's graph: one closes the queue, the other closes
  /// it and cancels enqueues that wait for room. Errors: invalid_argument without an operation.
  queue_runner(const graph_queue& queue, std::vector<graph_operation> enqueue_ops);
  /// Reads TensorFlow's QueueRunnerDef, as the collection stores it. Errors: data_loss for malformed bytes; not_found for names that the
  /// graph does not have.
  queue_runner(graph& g, std::string_view message);

  /// The name of the queue's node.
  const std::string& name() const { return name_; }
  const std::vector<graph_operation>& enqueue_ops() const { return enqueue_ops_; }
  /// Closes the queue when the input of the last thread has ended.
  const graph_operation& close_op() const { return close_op_; }
  /// Closes the queue when the coordinator stops.
  const graph_operation& cancel_op() const { return cancel_op_; }

  /// Starts the threads, which belong to the coordinator. Session and coordinator must outlive them. An error of a thread is a request to
  /// stop. `keeps_queue` is called at the stop and returns whether another session continues to use the queue; if so, the queue is not
  /// closed.
  void start(graph_session& s, coordinator& c, std::function<bool()> keeps_queue = {}) const;

  /// The runner as a serialized QueueRunnerDef.
  std::string message() const;

 private:
  std::string name_;
  std::vector<graph_operation> enqueue_ops_;
  graph_operation close_op_, cancel_op_;
  std::vector<std::int64_t> closed_codes_;  // status codes that mean the end of the input
};

/// Adds a runner to a collection of its graph. Errors: failed_precondition in a finalized graph.
void add_queue_runner(const queue_runner& runner, std::string_view collection = collection::queue_runners);
/// Starts all runners of a collection of the session's graph. Returns the number of threads.
/// Errors: data_loss or not_found if a collection from a file does not fit the graph; failed_precondition after a request to stop.
std::size_t start_queue_runners(graph_session& s, coordinator& c, std::string_view collection = collection::queue_runners,
                                const std::function<bool()>& keeps_queues = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/queue_runner.hpp>
#endif
