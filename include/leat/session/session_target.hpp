#pragma once
// Sessions whose steps run elsewhere: at the server of a cluster that `session_options::target` names. What connects to a kind of target
// registers itself here, so that graph_session knows none of it; <leat/cluster.hpp> does for "tcp://host:port".

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

/// A set of fetches and feeds that the other side has resolved.
class remote_run {
 public:
  virtual ~remote_run() = default;
};

/// The other side of a session. Thread-safe, as the session is.
class remote_session {
 public:
  virtual ~remote_session() = default;
  /// Resolves a run, after telling the other side what the graph has grown by.
  virtual std::shared_ptr<remote_run> prepare(const std::vector<output>& fetches, const std::vector<int>& targets,
                                              const std::vector<output>& feeds) = 0;
  /// Runs it; returns the values of the fetches. Errors: those of the nodes; unavailable, naming the task, if one cannot be reached any
  /// more; aborted if one has been replaced by another process; deadline_exceeded; cancelled.
  virtual std::vector<tensor_value> run(remote_run& prepared, std::span<const tensor_value> feeds, const run_options& how,
                                        std::int64_t timeout_in_ms) = 0;
  /// Memory for the value of a feed that goes to its task without being copied; an empty value where there is none.
  virtual tensor_value feed_memory([[maybe_unused]] remote_run& prepared, [[maybe_unused]] std::size_t feed, [[maybe_unused]] dtype type,
                                   [[maybe_unused]] const shape& extent) {
    return {};
  }
  /// Variables, where they are.
  virtual bool is_initialized(const output& variable) = 0;
  virtual tensor_value value(const output& variable) = 0;
  virtual void assign(const output& variable, const tensor_value& value) = 0;
  /// Where the random numbers of the session's nodes are, at the tasks that draw them. Errors: as of write_shards.
  virtual random_positions random_state() = 0;
  /// Sets them: these nodes go on from there. Names that the graph does not have are passed over. Errors: as of write_shards.
  virtual void set_random_state(const random_positions& positions) = 0;
  /// The nodes of the graph and their devices, as the other side has placed them.
  virtual std::vector<std::pair<std::string, std::string>> placement() = 0;
  /// The devices that the session uses, in the order of the cluster's tasks.
  virtual std::vector<std::string> devices() = 0;
  /// Has tasks write variables into files of a folder that they share, side by side, and waits until all are on the disk. Errors, of the
  /// first task that has one, which they name: not_found if it does not see its file; failed_precondition for a variable without a value or
  /// a file that cannot be written; resource_exhausted; those of `run`.
  virtual std::vector<written_shard> write_shards(const std::vector<shard_order>& orders) = 0;
  /// Has tasks read variables of a checkpoint in a folder that they share, side by side; sets them all or, if a task has an error, none.
  /// Errors, naming the task: not_found if it does not see this checkpoint; data_loss for files that were altered; invalid_argument for a
  /// value that does not fit; those of `run`.
  virtual void read_shards(const std::vector<shard_reading>& orders) = 0;
  /// Drops the variables and queues of a container on all tasks.
  virtual void reset(std::string_view container) = 0;
  virtual void close() = 0;
};

using session_connector = std::function<std::unique_ptr<remote_session>(graph& g, const session_options& options)>;

namespace cluster {
LEAT_DECLARE_FILL(fill_cluster_targets);
}

/// Registers who connects sessions to targets that begin with `scheme`, "tcp://". Thread-safe; the first one of a scheme stays.
void register_session_target(std::string_view scheme, session_connector connector);

/// Connects a session to its target. Errors: not_found for a target of no registered kind; those of the connector.
std::unique_ptr<remote_session> connect_session(graph& g, const session_options& options);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/session/session_target_bodies.hpp>
#endif
