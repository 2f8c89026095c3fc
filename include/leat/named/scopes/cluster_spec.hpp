#pragma once
// The members of a cluster: jobs, their tasks, and each task's address. cluster/ reads a `cluster_spec` from flags, files and environment
// variables.
// Source: TensorFlow 1.x `ClusterSpec`.

#include <leat/core/function_bodies.hpp>

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat {

/// The jobs of a cluster and the addresses of their tasks: `cluster_spec c{{"ps", {"localhost:2222"}}, {"worker", {"localhost:2223",
/// "localhost:2224"}}};`. Tasks are numbered from 0, or as given: `{"worker", {{1, "a:2222"}, {3, "b:2222"}}}`. Jobs are sorted by name.
/// With port 0, "localhost:0", the system chooses the port of a task's server, which `server::target` returns; other tasks do not learn
/// that port, so that this task must connect to them.
class cluster_spec {
 public:
  /// Addresses by task number.
  using task_map = std::map<int, std::string>;
  /// A job and its tasks.
  struct job {
    job(std::string its_name, std::initializer_list<std::string> addresses);
    job(std::string its_name, std::initializer_list<std::pair<const int, std::string>> its_tasks)
        : name(std::move(its_name)), tasks(its_tasks) {}
    job(std::string its_name, const std::vector<std::string>& addresses);
    job(std::string its_name, task_map its_tasks) : name(std::move(its_name)), tasks(std::move(its_tasks)) {}
    std::string name;
    task_map tasks;
  };

  cluster_spec() = default;
  /// Errors: invalid_argument, naming the entry, for a job without a name or named twice, a negative task number, an address that is not
  /// "host:port" with a port from 0 to 65535, and an address that two tasks have (except with port 0).
  cluster_spec(std::initializer_list<job> jobs) : cluster_spec(std::vector<job>(jobs)) {}
  explicit cluster_spec(const std::vector<job>& jobs);

  /// Whether there is at least one job.
  explicit operator bool() const { return !jobs_.empty(); }
  bool operator==(const cluster_spec&) const = default;

  /// The jobs' names, sorted.
  std::vector<std::string> jobs() const;
  bool has_job(std::string_view name) const { return jobs_.find(name) != jobs_.end(); }
  /// Errors (all below): invalid_argument for a job, or a task, that does not exist.
  int num_tasks(std::string_view job_name) const { return static_cast<int>(tasks(job_name).size()); }
  /// The tasks' numbers, ascending.
  std::vector<int> task_indices(std::string_view job_name) const;
  const std::string& task_address(std::string_view job_name, int task_index) const;
  /// Addresses by task number; empty for a number that no task has.
  std::vector<std::optional<std::string>> job_tasks(std::string_view job_name) const;
  const task_map& tasks(std::string_view job_name) const;

  /// The number of tasks of all jobs.
  int size() const;
  /// The specification as TensorFlow prints it: "ClusterSpec({'ps': ['a:1'], 'worker': {1: 'b:1'}})".
  std::string text() const;

 private:
  std::map<std::string, task_map, std::less<>> jobs_;
};

/// Host and port of an address "host:port" or "[::1]:2222". Errors: invalid_argument, naming `what`, if a part is missing or the port is
/// not a number from `least_port` to 65535.
std::pair<std::string, int> host_and_port(std::string_view address, std::string_view what, int least_port = 1);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/scopes/impl/cluster_spec.hpp>
#endif
