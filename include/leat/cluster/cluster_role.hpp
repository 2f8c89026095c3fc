#pragma once
// A process's place in a cluster, as whoever started it says: flags, JSON, TensorFlow's TF_CONFIG, the environments of Slurm and MPI.

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

/// The cluster, and which of its tasks a process is.
struct cluster_role {
  cluster_spec cluster{};
  std::string job_name{};
  int task_index = 0;
  /// "/job:worker/task:1".
  std::string device() const { return "/job:" + job_name + "/task:" + std::to_string(task_index); }
  bool operator==(const cluster_role&) const = default;
};

/// From JSON: `{"ps": ["a:1"], "worker": {"1": "b:1"}}`, or TensorFlow's ClusterDef, `{"job": [{"name": "ps", "tasks": {"0": "a:1"}}]}`.
/// Errors: invalid_argument, naming the entry, for what is neither and for what `cluster_spec` refuses.
cluster_spec cluster_spec_from_json(std::string_view text);
/// As TensorFlow's ClusterDef in JSON.
std::string json_text(const cluster_spec& cluster);

/// Flags in TensorFlow's customary form, all optional: `--ps_hosts=a:1,b:2 --worker_hosts=c:3 --job_name=ps --task_index=0 --logdir=log`. Each
/// `--NAME_hosts` is a job. Flags with other names are left in `rest`, with the arguments that are no flags.
struct cluster_flags {
  /// Errors: invalid_argument, naming the flag, for one without a value, given twice, or whose number is none.
  cluster_flags(int argc, const char* const* argv);
  /// The jobs of the flags. Errors: what `cluster_spec` refuses.
  cluster_spec cluster() const { return cluster_spec(hosts); }
  /// With the task. Errors: invalid_argument if the cluster has no such task, or there are several and none is named.
  cluster_role role() const;

  std::vector<cluster_spec::job> hosts;
  std::string job_name;
  int task_index = 0;
  std::string logdir;
  std::vector<std::string> rest;
};

/// The task of a cluster that a process is; where the cluster has one job, or the job one task, it need not be named.
/// Errors: invalid_argument for a job or a task that is not there, or if there are several and none is named.
cluster_role role_in(cluster_spec cluster, std::string_view job_name = {}, std::optional<int> task_index = {});

/// Looks up a variable of the environment.
using environment = std::function<std::optional<std::string>(const char*)>;
/// The process's own.
std::optional<std::string> environment_variable(const char* name);

/// From TensorFlow's environment variable TF_CONFIG: `{"cluster": {...}, "task": {"type": "worker", "index": 1}}`. An evaluator need not
/// be in the cluster. Errors: failed_precondition if it is not set; invalid_argument if it is malformed or names no task of the cluster.
cluster_role role_from_tf_config(const environment& variables = environment_variable);
cluster_role role_from_tf_config(std::string_view text);

/// How many tasks each job has, in the order in which ranks are dealt out: `{{"ps", 1}, {"worker", 3}}`.
using job_sizes = std::vector<std::pair<std::string, int>>;

/// From Slurm's environment: the step's nodes and tasks. A node's tasks have ports from `first_port` on.
/// Errors: failed_precondition if a variable is not set; invalid_argument if one is malformed, or the jobs have other tasks than Slurm
/// started. Source: TensorFlow `SlurmClusterResolver`.
cluster_role role_from_slurm(const job_sizes& jobs, int first_port = 8888, const environment& variables = environment_variable);

/// From the environment of OpenMPI's or MPICH's launcher, which tells rank and count, not the hosts: these are given in the order of ranks,
/// or are left out where all ranks are on this machine. A host's tasks have ports from `first_port` on.
/// Errors: as role_from_slurm.
cluster_role role_from_mpi(const job_sizes& jobs, const std::vector<std::string>& hosts = {}, int first_port = 8888,
                           const environment& variables = environment_variable);

/// Slurm's list of hosts, "n[01-03,7],x": its names. Errors: invalid_argument if it is malformed or has more than 100,000 names.
std::vector<std::string> slurm_hosts(std::string_view list);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/cluster/cluster_role_bodies.hpp>
#endif
