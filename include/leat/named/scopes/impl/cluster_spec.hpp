#pragma once
// Implementation of cluster_spec.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/scopes/cluster_spec.hpp>

#include <charconv>

namespace leat {

LEAT_FUNCTION std::pair<std::string, int> host_and_port(std::string_view address, std::string_view what, int least_port) {
  const auto refuse = [&](const std::string& why) -> void {
    throw invalid_argument(std::string(what) + ": the address '" + std::string(address) + "' " + why + "; it is written host:port");
  };
  const auto colon = address.rfind(':');
  if (colon == address.npos) refuse("has no port");
  std::string_view host = address.substr(0, colon);
  const std::string_view digits = address.substr(colon + 1);
  if (host.empty()) refuse("has no host");
  if (host.front() == '[') {
    if (host.back() != ']' || host.size() < 3) refuse("has an unfinished [host]");
  } else if (host.find(':') != host.npos) {
    refuse("has several colons: an IPv6 host stands in brackets");
  }
  for (const char c : address)
    if (static_cast<unsigned char>(c) <= ' ' || c == '/' || c == ',' || c == 127) refuse("has a space, a comma, a slash or a control code");
  int port = -1;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
  if (failed != std::errc{} || end != digits.data() + digits.size() || port < least_port || port > 65535)
    refuse("has the port '" + std::string(digits) + "', which is not a number from " + std::to_string(least_port) + " to 65535");
  return {std::string(host), port};
}

namespace detail {
template <class Addresses>
cluster_spec::task_map numbered(const Addresses& addresses) {
  cluster_spec::task_map tasks;
  for (const std::string& a : addresses) tasks.emplace(static_cast<int>(tasks.size()), a);
  return tasks;
}
}  // namespace detail

LEAT_FUNCTION cluster_spec::job::job(std::string its_name, std::initializer_list<std::string> addresses)
    : name(std::move(its_name)), tasks(detail::numbered(addresses)) {}
LEAT_FUNCTION cluster_spec::job::job(std::string its_name, const std::vector<std::string>& addresses)
    : name(std::move(its_name)), tasks(detail::numbered(addresses)) {}

LEAT_FUNCTION cluster_spec::cluster_spec(const std::vector<job>& jobs) {
  std::map<std::string, std::string> owners;  // by address: the task that has it
  for (const job& j : jobs) {
    if (j.name.empty()) throw invalid_argument("cluster_spec: a job without a name");
    if (j.name.find_first_of("/: ") != j.name.npos)
      throw invalid_argument("cluster_spec: the job's name '" + j.name + "' has a slash, a colon or a space, so no device could name it");
    if (!jobs_.emplace(j.name, j.tasks).second) throw invalid_argument("cluster_spec: the job '" + j.name + "' is given twice");
    for (const auto& [index, address] : j.tasks) {
      const std::string task = "/job:" + j.name + "/task:" + std::to_string(index);
      if (index < 0) throw invalid_argument("cluster_spec: " + task + ": a task's number is at least 0");
      if (host_and_port(address, "cluster_spec: " + task, 0).second == 0) continue;  // the system chooses a port for each task
      const auto [owner, is_new] = owners.emplace(address, task);
      if (!is_new) throw invalid_argument("cluster_spec: " + owner->second + " and " + task + " have one address, '" + address + "'");
    }
  }
}

LEAT_FUNCTION std::vector<std::string> cluster_spec::jobs() const {
  std::vector<std::string> names;
  for (const auto& [name, tasks] : jobs_) names.push_back(name);
  return names;
}

LEAT_FUNCTION const cluster_spec::task_map& cluster_spec::tasks(std::string_view job_name) const {
  const auto at = jobs_.find(job_name);
  if (at != jobs_.end()) return at->second;
  std::string there;
  for (const auto& [name, tasks] : jobs_) there += (there.empty() ? "" : ", ") + name;
  throw invalid_argument("No such job in cluster: '" + std::string(job_name) + "'" +
                         (there.empty() ? "; the cluster is empty" : "; there are: " + there));
}

LEAT_FUNCTION std::vector<int> cluster_spec::task_indices(std::string_view job_name) const {
  std::vector<int> numbers;
  for (const auto& [index, address] : tasks(job_name)) numbers.push_back(index);
  return numbers;
}

LEAT_FUNCTION const std::string& cluster_spec::task_address(std::string_view job_name, int task_index) const {
  const task_map& all = tasks(job_name);
  const auto at = all.find(task_index);
  if (at == all.end())
    throw invalid_argument("No task with index " + std::to_string(task_index) + " in job '" + std::string(job_name) + "'");
  return at->second;
}

LEAT_FUNCTION std::vector<std::optional<std::string>> cluster_spec::job_tasks(std::string_view job_name) const {
  const task_map& all = tasks(job_name);
  if (!all.empty() && all.rbegin()->first >= 1'000'000)
    throw invalid_argument("job_tasks: the job '" + std::string(job_name) + "' has a task of number " +
                           std::to_string(all.rbegin()->first) + "; ask for tasks()");
  std::vector<std::optional<std::string>> list(all.empty() ? 0 : static_cast<std::size_t>(all.rbegin()->first) + 1);
  for (const auto& [index, address] : all) list[static_cast<std::size_t>(index)] = address;
  return list;
}

LEAT_FUNCTION int cluster_spec::size() const {
  std::size_t count = 0;
  for (const auto& [name, tasks] : jobs_) count += tasks.size();
  return static_cast<int>(count);
}

LEAT_FUNCTION std::string cluster_spec::text() const {
  std::string all;
  for (const auto& [name, tasks] : jobs_) {
    const bool dense = !tasks.empty() && tasks.rbegin()->first == static_cast<int>(tasks.size()) - 1;
    std::string list;
    for (const auto& [index, address] : tasks) {
      if (!list.empty()) list += ", ";
      if (!dense) list += std::to_string(index) + ": ";
      list += "'" + address + "'";
    }
    if (!all.empty()) all += ", ";
    all += "'" + name + "': " + (dense ? "[" + list + "]" : "{" + list + "}");
  }
  return "ClusterSpec({" + all + "})";
}

}  // namespace leat
