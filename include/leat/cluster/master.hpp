#pragma once
// The master service of a task: sessions of clients that chose the task as their target. It keeps a session's graph, places it on the
// cluster's tasks, partitions it for each set of fetches and feeds, gives each task its part, and runs steps: each step needs one call to
// each task that takes part, and one answer from each. The first error of any task ends the step everywhere.

#include <leat/cluster/task_network.hpp>
#include <leat/cluster/worker.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/placement/partition.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <iosfwd>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::cluster {

/// What a client requests for its session.
struct master_session_options {
  bool allow_soft_placement = false;
  std::vector<std::string> device_filters{};
  steady_time deadline = steady_time::max();  // all tasks must have answered by then
  std::ostream* log = nullptr;                // logs the tasks that a session waits for; null is standard error
};

/// A run, given by names: "y:0", "train".
struct run_names {
  std::vector<std::string> fetches{};
  std::vector<std::string> targets{};
  std::vector<std::string> feeds{};
};

class master {
 public:
  /// `devices`: the device of each task, by number; `own`: this task.
  master(task_network& network, worker& own_worker, std::vector<std::string> devices, std::vector<std::string> addresses, int own);
  master(const master&) = delete;
  master& operator=(const master&) = delete;
  ~master();

  /// Waits until the tasks that the session may use answer. Errors: deadline_exceeded, naming the tasks that did not and the result of the
  /// last attempts; invalid_argument for device filters that no task matches.
  std::uint64_t create_session(const master_session_options& options, const cancellation* cancel = nullptr);
  /// Adds nodes to a session's graph. Errors: those of import; the session is then unchanged.
  void extend_session(std::uint64_t session, const graph_def& more);
  /// Places, partitions and registers a run. Errors: those of `place` and `partition`; not_found for unknown names.
  std::uint64_t prepare(std::uint64_t session, const run_names& names, steady_time deadline);
  /// Forgets a prepared run, here and at the tasks. A step of it that has not begun on all tasks fails.
  void drop_run(std::uint64_t session, std::uint64_t prepared);
  /// Runs a prepared run; this task's part runs on the calling thread. Returns the values of the fetches. If the step succeeds, `traced`
  /// receives the tasks' statistics.
  std::vector<tensor_value> run(std::uint64_t session, std::uint64_t prepared, std::span<const tensor_value> feeds, steady_time deadline,
                                const cancellation* cancel = nullptr, traced_run* traced = nullptr);
  /// Memory for the value of a feed of a prepared run; see remote_session::feed_memory.
  tensor_value feed_memory(std::uint64_t session, std::uint64_t prepared, std::size_t feed, dtype type, const shape& extent);
  /// The names of the nodes of a session's graph, and their devices.
  std::vector<std::pair<std::string, std::string>> placement(std::uint64_t session);
  /// The devices of a session's tasks.
  std::vector<std::string> devices(std::uint64_t session);
  void close_session(std::uint64_t session);
  /// The number of open sessions.
  std::uint64_t sessions_open();
  /// Drops the contents of a container on all tasks.
  void reset(const std::string& container, steady_time deadline);

  /// Access to variables, by the names of their nodes.
  tensor_value read_variable(std::uint64_t session, const std::string& node, steady_time deadline);
  void write_variable(std::uint64_t session, const std::string& node, const tensor_value& value, steady_time deadline);
  bool has_variable(std::uint64_t session, const std::string& node, steady_time deadline);
  /// Makes tasks write variables into files, in parallel. Errors: the first of any task; deadline_exceeded, naming the tasks that have not
  /// answered; invalid_argument for an order with variables of two tasks.
  std::vector<written_shard> write_shards(std::uint64_t session, const std::vector<shard_order>& orders, steady_time deadline);
  /// Makes tasks read variables of a checkpoint, in parallel, and then set them. Errors, before any variable is set: as of write_shards.
  void read_shards(std::uint64_t session, const std::vector<shard_reading>& orders, steady_time deadline);
  /// The positions of the random number generators of a session's nodes, requested in parallel from the tasks that have some. Errors: as of
  /// write_shards.
  random_positions random_state(std::uint64_t session, steady_time deadline);
  /// Sets the positions of the random number generators of these nodes at their tasks. Errors: as of write_shards; some tasks may have set
  /// theirs by then.
  void set_random_state(std::uint64_t session, const random_positions& positions, steady_time deadline);

 private:
  struct session_kept;
  struct prepared_run;
  struct running;
  struct told_of_part;
  static void hear(running& step, std::size_t part, const transport::frame* told, std::span<const tensor_value> values);
  step_statistics gathered(const prepared_run& what, std::vector<told_of_part> parts) const;
  std::exception_ptr lost_sender(const prepared_run& what, std::uint64_t losses_before) const;
  struct variable_place {
    int task;
    std::uint64_t incarnation;
    std::string container;
    std::string name;
    shape extent;
  };
  /// The nodes for which a task draws random numbers.
  struct random_share {
    std::uint64_t incarnation = 0;
    random_positions positions;
  };
  std::map<int, random_share> random_shares(std::uint64_t session, const random_positions* positions);
  std::shared_ptr<session_kept> find(std::uint64_t session);
  void drop_parts_of(const prepared_run& run) noexcept;
  variable_place place_of(std::uint64_t session, const std::string& node);
  /// Performs an operation at several tasks in parallel: calls the other tasks, performs this task's own share by `here`, and waits for
  /// all; `heard` receives the answers of the others, under a lock. Errors: the first of any task; deadline_exceeded, naming the tasks that
  /// have not answered and `what` failed, such as "variables were not saved".
  void at_tasks(const std::vector<int>& tasks, const char* what, steady_time deadline, method asked,
                const std::function<transport::message(std::size_t)>& call, const std::function<void(std::size_t)>& here,
                const std::function<void(std::size_t, const transport::message&)>& heard);
  /// Calls a task and waits for its answer.
  transport::message ask(int task, method what, transport::message m, steady_time deadline);
  std::string task_text(int task) const {
    return devices_[static_cast<std::size_t>(task)] + " at " + addresses_[static_cast<std::size_t>(task)];
  }

  task_network& network_;
  worker& own_worker_;
  const std::vector<std::string> devices_;
  const std::vector<std::string> addresses_;
  const int own_;
  std::mutex guard_;
  std::map<std::uint64_t, std::shared_ptr<session_kept>> sessions_;
  std::mt19937_64 random_{std::random_device{}()};
  std::atomic<std::uint64_t> next_step_;
};

}  // namespace leat::cluster

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/master.hpp>
#endif
