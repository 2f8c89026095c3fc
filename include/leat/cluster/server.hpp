#pragma once
// The server of a task, which each process of a cluster runs. It provides both of TensorFlow's services: the master, for sessions that
// chose it as their target, and the worker, which runs parts of graphs for any master.
//
//   cluster_spec c{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223"}}};
//   server here(c, {.job_name = "ps", .task_index = 0});
//   here.join();
//
// Source: TensorFlow 1.x `tf.train.Server`.

#include <leat/cluster/cluster_role.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session_class.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// The keys of a process: its own pair, the keys of servers it connects to, and the keys that may connect. `leat keys` makes the files.
struct cluster_keys {
  std::filesystem::path own{};  // a file with a pair
  /// Public keys of the cluster's servers: files with the one key that all of them share, or a folder with a file for each task,
  /// "ps.0.public".
  std::vector<std::filesystem::path> servers{};
  std::vector<std::filesystem::path> allowed{};  // public keys that may connect: files, and folders with files "....public"
  /// The addresses of the tasks in a folder of `servers`. Clients need it, because the server at an address must have the key of the task
  /// that listens there. Names of hosts are looked up when keys are read. A server uses its own cluster.
  cluster_spec cluster{};
};

/// Options of a server.
struct server_options {
  /// The task that this server serves; may be omitted if the cluster has one job, or the job one task.
  std::string job_name{};
  std::optional<int> task_index{};
  /// Identifies the training run: processes of another run, such as leftovers of an earlier one, are refused. Empty for any.
  std::string run{};
  /// Keys for all connections over the network. Without keys only addresses of this host are used, unless `insecure_network` is set.
  std::optional<cluster_keys> keys{};
  /// Permits other addresses without keys: then whoever reaches the port can do everything that a client can, and read what is sent.
  bool insecure_network = false;
  /// Whether tasks of one process or host communicate through memory instead of the network.
  bool use_shared_memory = true;
  /// Limit in bytes of the arrays of each part of a graph, as session_options::memory_limit_in_bytes; 0 for no limit. A run that needs more
  /// fails with resource_exhausted.
  std::int64_t memory_limit_in_bytes = 0;
  /// The folder in which nodes of graphs may read and write files, as session_options::file_root; empty: they may not.
  std::string file_root{};
};

/// When a server's `join` returns.
struct server_join_options {
  /// Returns when the process receives SIGTERM or SIGINT, so that it can exit with 0.
  bool until_signal = true;
  /// Also returns when every task of the other jobs has been connected and has ended in order. A task that was killed, or has not connected
  /// yet, is waited for.
  bool until_workers_done = false;
};

/// The server of a task. It serves from construction until it is stopped.
class server {
 public:
  /// Starts serving. If its address has port 0, the system chooses a port, which `target` reports.
  /// Errors: invalid_argument for a task that the cluster does not have, an address that other hosts can reach without keys, or a negative
  /// limit; failed_precondition if its address is in use or does not belong to this host.
  explicit server(cluster_spec cluster, server_options options = {});
  explicit server(const cluster_role& role, server_options options = {});
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  /// Stops the server.
  ~server();

  /// A server of the only task of a cluster, "/job:local/task:0", at a free port of this host. `options` must not name a task.
  static server local(const server_options& options = {});

  /// The target for sessions: "tcp://host:port".
  std::string target() const;
  /// "/job:worker/task:1".
  std::string device() const;
  const cluster_spec& cluster() const;
  const std::string& job_name() const;
  int task_index() const;

  /// Waits until the server is stopped, by `stop`, by a signal, or because the workers are done.
  /// Errors: invalid_argument for `until_workers_done` if the cluster has no other job.
  void join(const server_join_options& options = {});
  /// Ends sessions and steps, and says goodbye to the other tasks. Idempotent.
  void stop();

 private:
  struct kept;
  std::shared_ptr<kept> kept_;
};

/// Sets the keys with which sessions of this process connect to targets over the network; there are none initially.
void set_cluster_keys(std::optional<cluster_keys> keys, bool insecure_network = false);

/// Generates keys: writes a pair to a file that only its owner can read, and the public key to a file next to it, with ".public" appended
/// to the name.
/// Errors: already_exists; failed_precondition.
void make_cluster_keys(const std::filesystem::path& path);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/server.hpp>
#endif
