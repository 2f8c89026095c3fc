#pragma once
// The role of a process in a cluster, as given by flags, JSON, TensorFlow's TF_CONFIG, or the environments of Slurm and MPI.

#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat {

/// The cluster, and the task of it that a process serves.
struct cluster_role {
  cluster_spec cluster{};  // all jobs and tasks
  std::string job_name{};  // the job of this process
  int task_index = 0;      // its number in the job
  /// "/job:worker/task:1".
  std::string device() const { return "/job:" + job_name + "/task:" + std::to_string(task_index); }
  bool operator==(const cluster_role&) const = default;
};

/// Reads JSON: `{"ps": ["a:1"], "worker": {"1": "b:1"}}`, or TensorFlow's ClusterDef, `{"job": [{"name": "ps", "tasks": {"0": "a:1"}}]}`.
/// Errors: invalid_argument, naming the entry, for text of neither form and for specifications that `cluster_spec` refuses.
cluster_spec cluster_spec_from_json(std::string_view text);
/// Writes TensorFlow's ClusterDef as JSON.
std::string json_text(const cluster_spec& cluster);

/// Flags in TensorFlow's customary form, all optional: `--ps_hosts=a:1,b:2 --worker_hosts=c:3 --job_name=ps --task_index=0 --logdir=log`.
/// Each `--NAME_hosts` defines a job. Other flags, and arguments that are not flags, are left in `rest`.
struct cluster_flags {
  /// Errors: invalid_argument, naming the flag, for a flag without a value, given twice, or with a malformed number.
  cluster_flags(int argc, const char* const* argv);
  /// The jobs of the flags. Errors: those of `cluster_spec`.
  cluster_spec cluster() const { return cluster_spec(hosts); }
  /// The cluster and the task. Errors: invalid_argument if the cluster has no such task, or if there are several and the flags name none.
  cluster_role role() const;

  std::vector<cluster_spec::job> hosts;
  std::string job_name;
  int task_index = 0;
  std::string logdir;
  std::vector<std::string> rest;
};

/// The role of a process in a cluster. The job need not be named if the cluster has only one, nor the task if the job has only one.
/// Errors: invalid_argument for a job or a task that does not exist, or if there are several and none is named.
cluster_role role_in(cluster_spec cluster, std::string_view job_name = {}, std::optional<int> task_index = {});

/// Looks up a variable of the environment.
using environment = std::function<std::optional<std::string>(const char*)>;
/// Looks up a variable in the process's own environment.
std::optional<std::string> environment_variable(const char* name);

/// Reads TensorFlow's environment variable TF_CONFIG: `{"cluster": {...}, "task": {"type": "worker", "index": 1}}`. An evaluator need not
/// be in the cluster. Errors: failed_precondition if it is not set; invalid_argument if it is malformed or names no task of the cluster.
cluster_role role_from_tf_config(const environment& variables = environment_variable);
cluster_role role_from_tf_config(std::string_view text);

/// The number of tasks of each job, in the order in which ranks are assigned: `{{"ps", 1}, {"worker", 3}}`.
using job_sizes = std::vector<std::pair<std::string, int>>;

/// Reads the nodes and tasks of the step from Slurm's environment. The tasks of a node use ports from `first_port` on.
/// Errors: failed_precondition if a variable is not set; invalid_argument if one is malformed, or if the number of tasks differs from the
/// number that Slurm started. Source: TensorFlow `SlurmClusterResolver`.
cluster_role role_from_slurm(const job_sizes& jobs, int first_port = 8888, const environment& variables = environment_variable);

/// Reads the environment of OpenMPI's or MPICH's launcher. It contains the rank and the number of ranks, but not the hosts; these are
/// passed in the order of ranks, or left out if all ranks are on this machine. The tasks of a host use ports from `first_port` on.
/// Errors: as role_from_slurm.
cluster_role role_from_mpi(const job_sizes& jobs, const std::vector<std::string>& hosts = {}, int first_port = 8888,
                           const environment& variables = environment_variable);

/// Expands Slurm's list of hosts, such as "n[01-03,7],x", to names. Errors: invalid_argument if it is malformed or has more than 100,000
/// names.
std::vector<std::string> slurm_hosts(std::string_view list);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/impl/cluster_role.hpp>
#endif
