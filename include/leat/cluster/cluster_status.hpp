#pragma once
// The state of a cluster: queries every task, from a process that is not a task, over connections of its own.

#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// Counters of a task since its start, and its current state.
struct task_counters {
  /// The number of parts of steps that it has run.
  std::uint64_t steps = 0;
  /// Messages to and from other tasks and clients, and their bytes including headers; heartbeats are not counted.
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  /// Current values: sessions with this task as their target; parts of graphs that it keeps for sessions of all targets; the resident
  /// memory of its process in bytes, including shared pages of programs and libraries.
  std::uint64_t sessions = 0;
  std::uint64_t parts = 0;
  std::uint64_t memory_in_bytes = 0;
};

/// The state of a task of a cluster.
struct task_status {
  std::string device{};   // "/job:ps/task:0"
  std::string address{};  // "host:port"
  bool is_up = false;
  /// If the task is up: its process id on its host, and the random number of this start of its server.
  std::int64_t process = 0;
  std::uint64_t incarnation = 0;
  std::optional<task_counters> counted{};  // if the task reports them
  /// The task said goodbye to a task that is up, and has not come back.
  bool has_ended = false;
  /// Why the task is not up: no process listens there, it does not answer, it belongs to another cluster, or it refuses the keys. Also
  /// which task knows that it has ended, and when it did.
  std::string problem{};
};

/// Options of `cluster_status` and `cluster_at`.
struct cluster_status_options {
  /// How long a task that accepts connections has for its answer (plus a tenth of a second for each 32 tasks that gave none).
  std::int64_t timeout_in_ms = 5'000;
  /// Waits as long for tasks where no process listens, because they may be starting.
  bool until_all_are_up = false;
};

/// Returns the state of the tasks of a cluster, ordered by job name and task number. Returns when all tasks that can answer have answered:
/// tasks where no process listens, or that have ended in order, are not waited for. Connects with the keys of `set_cluster_keys`.
/// Errors: invalid_argument for a cluster without tasks or a timeout that is not positive; those of the keys' files. Problems of a task are
/// reported in its row.
std::vector<task_status> cluster_status(const cluster_spec& cluster, const cluster_status_options& options = {});
inline std::vector<task_status> cluster_status(const cluster_spec& cluster, std::int64_t timeout_in_ms) {
  return cluster_status(cluster, cluster_status_options{.timeout_in_ms = timeout_in_ms});
}

/// The cluster to which the server at a session's target, "tcp://host:port", belongs.
/// Errors: invalid_argument for a malformed target; unavailable if no server answers there in time, or at once if no process listens;
/// unauthenticated.
cluster_spec cluster_at(std::string_view target, const cluster_status_options& options = {});
inline cluster_spec cluster_at(std::string_view target, std::int64_t timeout_in_ms) {
  return cluster_at(target, cluster_status_options{.timeout_in_ms = timeout_in_ms});
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/cluster_status.hpp>
#endif
