#pragma once
// The worker service of a task: runs parts of graphs for masters, keeps variables and queues, and passes tensors to the other tasks.

#include <leat/cluster/shard_message.hpp>
#include <leat/cluster/step_table.hpp>
#include <leat/cluster/worker_threads.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/placement/partition.hpp>
#include <leat/session/graph_session.hpp>

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace leat::cluster {

/// The subgraph that a task runs for one signature (a part), as it is sent: its graph, and the destinations of its edges.
struct part_order {
  std::uint64_t session = 0;
  std::uint64_t incarnation = 0;  // the incarnation of the task that the session knows; 0 for any
  graph_def def{};
  std::vector<std::string> feeds{};    // placeholders, in the order of their values
  std::vector<std::string> fetches{};  // tensors, in the order of the values in the answer
  std::vector<std::string> targets{};
  std::map<std::int64_t, int> sends{};  // edge -> receiving task
};
/// Conversion to and from the parts of a message. Errors of reading: data_loss, invalid_argument.
void put_part(transport::message& m, const part_order& p);
part_order part_of(const transport::message& m);

/// Options of a step.
struct step_order {
  std::uint64_t number = 0;
  steady_time deadline = steady_time::max();
  const cancellation* cancel = nullptr;
  /// The level of tracing, and where the statistics are stored; also if the step fails.
  trace_level traced = trace_level::none;
  part_statistics* statistics = nullptr;
  /// Allocates memory from which the values of the fetches are sent to the caller, if there is any.
  std::function<transport::writable_frame(std::size_t)> memory{};
};

/// Receives the values of a part's fetches, or the error that ended it; called once, by any thread.
using part_handler = std::function<void(std::vector<tensor_value> values, std::exception_ptr failure)>;

/// The worker service of one task.
class worker {
 public:
  /// `device`: the task's full device name; `tasks`: the number of tasks of the cluster.
  worker(task_network& network, std::string device, int tasks);
  worker(const worker&) = delete;
  worker& operator=(const worker&) = delete;
  ~worker();

  const std::string& device() const { return device_; }
  /// A random number of this start of the task; never 0. Numbers of parts begin at it, so that numbers of an earlier start are not found.
  std::uint64_t incarnation() const { return incarnation_; }
  /// Errors: aborted if `wanted`, unless 0, is the incarnation of another start.
  void require_incarnation(std::uint64_t wanted) const;

  /// Limits the memory of the arrays of each part, 0 for no limit; must be called before there are calls.
  void set_memory_limit(std::int64_t bytes) { memory_limit_ = bytes; }
  /// Sets the folder of files of the graphs that are registered from now on.
  void set_file_root(std::string folder) { file_root_ = std::move(folder); }
  /// Prepares a part to run; returns its number. Errors: those of importing its graph; invalid_argument for a node of another task, or an
  /// edge to a task that does not exist; aborted if the order is for an earlier start.
  std::uint64_t register_part(const part_order& order);
  /// Forgets all parts of a master's session.
  void drop_parts(std::uint64_t session);
  /// Forgets these parts, and the positions of random numbers of these sessions if they have no other parts.
  void drop_parts(const std::vector<std::uint64_t>& numbers, const std::vector<std::uint64_t>& sessions);
  /// Forgets one part of a session that continues.
  void drop_part(std::uint64_t number);
  /// The positions of the random numbers that this task has drawn for a session's nodes. Errors: aborted if `incarnation`, unless 0, is
  /// that of another start.
  random_positions random_state(std::uint64_t session, std::uint64_t incarnation);
  /// Sets the positions of these nodes, also for parts that are registered later, until the session is forgotten. Errors: as random_state.
  void set_random_state(std::uint64_t session, std::uint64_t incarnation, const random_positions& positions);
  /// The number of parts that are kept.
  std::size_t parts_kept();
  /// Runs a part on the calling thread. Errors: those of its nodes; aborted for a part that does not exist (the task was restarted, or the
  /// session has ended); the error that ended the step.
  std::vector<tensor_value> run_part(std::uint64_t part, const step_order& how, std::span<const tensor_value> feeds);
  /// The number of parts that have been run.
  std::uint64_t parts_run() const { return parts_run_.load(std::memory_order_relaxed); }
  /// Whether a part has been run before, is little work, and can run without blocking, so that a thread of its own would cost more than the
  /// part.
  bool is_light(std::uint64_t part);
  /// Runs a light part without blocking: sends what it reads, and runs the rest at once or when the last tensor has arrived, on the thread
  /// that delivers it. `done` is called once. Errors, for a step that has not begun: as run_part.
  void begin_light(std::uint64_t part, const step_order& how, std::vector<tensor_value> feeds, part_handler done);
  /// Runs a job of the task on a thread of its own.
  void on_thread(std::function<void()> job) { threads_.give(std::move(job)); }

  /// Delivers tensors for a step. `peer`: their sender; `at`: the arrival time, if the step is traced; `credit`: of the message that
  /// brought them.
  void arrive(std::uint64_t step, const std::vector<std::int64_t>& edges, std::vector<tensor_value> values, std::uint64_t peer = 0,
              std::int64_t at = 0, std::shared_ptr<const void> credit = nullptr) {
    steps_.arrive(step, edges, std::move(values), peer, at, std::move(credit));
  }
  void forget_from(std::uint64_t peer) { steps_.forget_from(peer); }
  void fail(std::uint64_t step, std::exception_ptr why) { steps_.fail(step, std::move(why)); }

  // ---- variables ----

  /// Errors: not_found for a variable that does not exist; failed_precondition for one without a value.
  tensor_value read_variable(const std::string& container, const std::string& name) const;
  /// Sets a variable's value; makes the variable if necessary. Errors: invalid_argument if dtype or shape differ.
  void write_variable(const std::string& container, const std::string& name, const shape& extent, const tensor_value& value);
  bool has_variable(const std::string& container, const std::string& name) const;
  /// Writes variables into a file that the session's client has created, and waits until they are on the disk. Errors, naming this task:
  /// those of read_variable and of detail::write_shard.
  written_shard write_shard(const shard_of_task& order) const;
  /// Reads variables of a checkpoint, checks that they fit, and keeps the values aside for `adopt_shard`; values that the session kept
  /// before are dropped. Errors, naming this task: not_found if the checkpoint does not exist, or is another one; those of
  /// checkpoint_reader and of write_variable.
  void read_shard(const reading_of_task& order, steady_time deadline);
  /// Sets the session's variables to the values that were kept aside. Errors: failed_precondition if there are none.
  void adopt_shard(std::uint64_t session);
  /// Drops the contents of a container.
  void reset(std::string_view container) { resources_->clear(container); }
  const std::shared_ptr<resource_table>& resources() const { return resources_; }

  /// Ends all steps, and accepts no new ones.
  void stop(const std::exception_ptr& why);

 private:
  struct held_part;
  std::shared_ptr<held_part> part_for_run(std::uint64_t number, std::size_t feeds);
  std::shared_ptr<variable_slot> find_variable(const std::string& container, const std::string& name) const;
  std::shared_ptr<variable_slot> slot_for(const std::string& container, const std::string& name, const shape& extent,
                                          const tensor_value& value);
  /// Values that a session has read from a checkpoint and not set yet.
  struct read_aside {
    std::vector<std::pair<std::shared_ptr<variable_slot>, tensor_value>> values;
    steady_time until;  // dropped after this time
  };

  task_network& network_;
  const std::string device_;
  const int tasks_;
  const std::uint64_t incarnation_;
  std::int64_t memory_limit_ = 0;
  std::string file_root_;
  std::shared_ptr<resource_table> resources_ = std::make_shared<resource_table>();
  step_table steps_;
  std::mutex guard_;
  std::unordered_map<std::uint64_t, std::shared_ptr<held_part>> parts_;
  std::map<std::uint64_t, std::shared_ptr<random_table>> random_numbers_;  // by session
  std::map<std::uint64_t, read_aside> read_aside_;                         // by session
  std::uint64_t last_part_ = incarnation_;
  std::atomic<std::uint64_t> parts_run_{0};
  worker_threads threads_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/worker.hpp>
#endif
