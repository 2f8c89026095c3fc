#pragma once
// A task's server: what a process of a cluster runs. It offers both services of TensorFlow's, the master of sessions that chose it as their
// target, and the worker that runs parts of graphs for any master.
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

/// Keys of a process: its own pair, whom it talks to, who may connect. Files are made by `leat keys`.
struct cluster_keys {
  std::filesystem::path own{};  // a file with a pair
  /// Public keys of the cluster's servers: files with the one key that all of them share, or a folder with a file for each task,
  /// "ps.0.public".
  std::vector<std::filesystem::path> servers{};
  std::vector<std::filesystem::path> allowed{};  // public keys of those who may connect: files, and folders with files "....public"
  /// Where the tasks of a folder of `servers` are. Clients need it: what answers at an address must have the key of the task that is there.
  /// Names of hosts are looked up when keys are read. A server has its own cluster's.
  cluster_spec cluster{};
};

struct server_options {
  /// Which task this is; may be left out where the cluster has one job, or the job one task.
  std::string job_name{};
  std::optional<int> task_index{};
  /// The training that the process belongs to: processes of another one, left over from before, are refused. Empty for any.
  std::string run{};
  /// Keys for all connections over the network. Without them only addresses of this host are used,
  std::optional<cluster_keys> keys{};
  /// unless this is true: then whoever reaches the port can do all that a client can, and read what is sent.
  bool insecure_network = false;
  /// Whether tasks of one process or host talk by memory instead of the network.
  bool use_shared_memory = true;
  /// Bytes that the arrays of each part of a graph may take here, as session_options::memory_limit_in_bytes; 0 for any. What needs more
  /// ends in resource_exhausted.
  std::int64_t memory_limit_in_bytes = 0;
};

/// Until when a server's `join` waits.
struct server_join_options {
  /// Ends with 0 when the process is asked to (SIGTERM, SIGINT).
  bool until_signal = true;
  /// Also ends when every task of the other jobs has been connected and has ended in order. One that was killed, or has not come yet, is
  /// waited for.
  bool until_workers_done = false;
};

class server {
 public:
  /// Serves from now on; where its address has port 0, at a port that the system chooses and `target` says. Errors: invalid_argument for a task that the cluster has not, an address that others can reach without keys, or a
  /// limit below 0;
  /// failed_precondition if its address is in use or not of this host.
  explicit server(cluster_spec cluster, server_options options = {});
  explicit server(const cluster_role& role, server_options options = {});
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  /// Stops.
  ~server();

  /// The only task of a cluster, "/job:local/task:0", at a free port of this host. `options` name no task.
  static server local(const server_options& options = {});

  /// For sessions: "tcp://host:port".
  std::string target() const;
  /// "/job:worker/task:1".
  std::string device() const;
  const cluster_spec& cluster() const;
  const std::string& job_name() const;
  int task_index() const;

  /// Waits until the server is stopped, by `stop`, by a signal, or because the workers are done.
  /// Errors: invalid_argument for `until_workers_done` where the cluster has no other job.
  void join(const server_join_options& options = {});
  /// Ends sessions and steps, says goodbye to the other tasks. Idempotent.
  void stop();

 private:
  struct kept;
  std::shared_ptr<kept> kept_;
};

/// The keys with which sessions of this process connect to targets over the network; none at first.
void set_cluster_keys(std::optional<cluster_keys> keys, bool insecure_network = false);

/// Makes keys: a pair in a file that only its owner can read, and its public part beside it, in a file of that name with ".public"
/// appended.
/// Errors: already_exists; failed_precondition.
void make_cluster_keys(const std::filesystem::path& path);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/server_bodies.hpp>
#endif
