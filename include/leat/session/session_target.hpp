#pragma once
// Sessions whose steps run on the server of a cluster that `session_options::target` names. The code that connects to a kind of target
// registers itself here, so that graph_session does not depend on it; <leat/cluster.hpp> does for "tcp://host:port".

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session_class.hpp>
#include <leat/session/shards.hpp>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat {

/// A set of fetches and feeds that the target has resolved.
class remote_run {
 public:
  virtual ~remote_run() = default;
};

/// Connection of a session to its target. Thread-safe.
class remote_session {
 public:
  virtual ~remote_session() = default;
  /// Resolves a run, after sending the target the nodes that were added to the graph.
  virtual std::shared_ptr<remote_run> prepare(const std::vector<output>& fetches, const std::vector<int>& targets,
                                              const std::vector<output>& feeds) = 0;
  /// Runs it and returns the values of the fetches. Errors: those of the nodes; unavailable, naming the task, if one can no longer be
  /// reached; aborted if one has been replaced by another process; deadline_exceeded; cancelled.
  virtual std::vector<tensor_value> run(remote_run& prepared, std::span<const tensor_value> feeds, const run_options& how,
                                        std::int64_t timeout_in_ms) = 0;
  /// Memory for the value of a feed that goes to its task without being copied; an empty value if there is none.
  virtual tensor_value feed_memory([[maybe_unused]] remote_run& prepared, [[maybe_unused]] std::size_t feed, [[maybe_unused]] dtype type,
                                   [[maybe_unused]] const shape& extent) {
    return {};
  }
  /// Access to variables on the tasks that store them.
  virtual bool is_initialized(const output& variable) = 0;
  virtual tensor_value value(const output& variable) = 0;
  virtual void assign(const output& variable, const tensor_value& value) = 0;
  /// The positions of the random sequences of the session's nodes, collected from the tasks that draw the numbers. Errors: as write_shards.
  virtual random_positions random_state() = 0;
  /// Sets the positions of the random sequences of these nodes. Names that the graph does not have are ignored. Errors: as write_shards.
  virtual void set_random_state(const random_positions& positions) = 0;
  /// The nodes of the graph and their devices, as the target has placed them.
  virtual std::vector<std::pair<std::string, std::string>> placement() = 0;
  /// The devices that the session uses, in the order of the cluster's tasks.
  virtual std::vector<std::string> devices() = 0;
  /// Tasks write variables into files of a shared folder, in parallel; returns when all files are on disk. Errors, of the first task that
  /// fails, which they name: not_found if it does not see its file; failed_precondition for a variable without a value or a file that
  /// cannot be written; resource_exhausted; those of `run`.
  virtual std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) = 0;
  /// Tasks read variables of a checkpoint in a shared folder, in parallel. Sets all of them or, if a task fails, none. Errors, naming the
  /// task: not_found if it does not see this checkpoint; data_loss for files that were altered; invalid_argument for a value that does not
  /// fit; those of `run`.
  virtual void read_shards(const std::vector<shard_reading>& orders) = 0;
  /// Drops the variables and queues of a container on all tasks.
  virtual void reset(std::string_view container) = 0;
  virtual void close() = 0;
};

using session_connector = std::function<std::unique_ptr<remote_session>(graph& g, const session_options& options)>;

namespace cluster {
LEAT_DECLARE_FILL(fill_cluster_targets);
}

/// Registers the function that connects sessions to targets that begin with `scheme`, such as "tcp://". Thread-safe; the first function
/// registered for a scheme stays.
void register_session_target(std::string_view scheme, session_connector connector);

/// Connects a session to its target. Errors: not_found for a target with no registered scheme; those of the connector.
std::unique_ptr<remote_session> connect_session(graph& g, const session_options& options);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/session/impl/session_target.hpp>
#endif
