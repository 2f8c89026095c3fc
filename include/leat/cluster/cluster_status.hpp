#pragma once
// Who of a cluster is there: every task is asked by a process that is none of them, over connections of its own.

#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// What a task has counted since its start, and what it holds.
struct task_counters {
  /// Parts of steps that it has run.
  std::uint64_t steps = 0;
  /// Messages to and from other tasks and clients, with their headers, in bytes; without signs of life.
  std::uint64_t messages_sent = 0;
  std::uint64_t bytes_sent = 0;
  std::uint64_t messages_received = 0;
  std::uint64_t bytes_received = 0;
  /// Now: sessions whose target the task is; parts of graphs that it keeps for sessions of all targets; the bytes of its process in memory,
  /// with the pages of programs and libraries that it shares.
  std::uint64_t sessions = 0;
  std::uint64_t parts = 0;
  std::uint64_t memory_in_bytes = 0;
};

/// What a task of a cluster answers when it is asked whether it is there.
struct task_status {
  std::string device{};   // "/job:ps/task:0"
  std::string address{};  // "host:port"
  bool is_up = false;
  /// Of a task that is up: its process's number on its host, and the random number of this start of its server.
  std::int64_t process = 0;
  std::uint64_t incarnation = 0;
  std::optional<task_counters> counted{};  // if it tells
  /// It said goodbye to a task that is up, and has not come back.
  bool has_ended = false;
  /// Why it is not up: nobody listens there, it does not answer, it belongs to another cluster, it refuses the keys. Also who knows that it
  /// has ended, and when it did.
  std::string problem{};
};

struct cluster_status_options {
  /// How long a task that seems to be there has for its answer (and a tenth of a second for each 32 tasks that gave none).
  std::int64_t timeout_in_ms = 5'000;
  /// Waits as long for tasks that are not there, too: somebody may be starting them.
  bool until_all_are_up = false;
};

/// The tasks of a cluster, in the order of the jobs' names and the tasks' numbers. Returns when all that can answer have: nobody waits for
/// a task where no process listens, or that has ended in order. Connects with the keys of `set_cluster_keys`.
/// Errors: invalid_argument for a cluster without tasks or a time that is not positive; those of the keys' files. What is wrong with a
/// task is told in its row.
std::vector<task_status> cluster_status(const cluster_spec& cluster, const cluster_status_options& options = {});
inline std::vector<task_status> cluster_status(const cluster_spec& cluster, std::int64_t timeout_in_ms) {
  return cluster_status(cluster, cluster_status_options{.timeout_in_ms = timeout_in_ms});
}

/// The cluster to which the server at a session's target, "tcp://host:port", belongs.
/// Errors: invalid_argument for what is no target; unavailable if no server answers there in time, at once where no process listens;
/// unauthenticated.
cluster_spec cluster_at(std::string_view target, const cluster_status_options& options = {});
inline cluster_spec cluster_at(std::string_view target, std::int64_t timeout_in_ms) {
  return cluster_at(target, cluster_status_options{.timeout_in_ms = timeout_in_ms});
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/cluster_status_bodies.hpp>
#endif
