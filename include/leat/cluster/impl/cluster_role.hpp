#pragma once
// Implementation of cluster_role.hpp.

#include <leat/cluster/cluster_role.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cstdlib>
#include <limits>
#include <set>

namespace leat::detail {

inline int whole_number(std::string_view digits, const std::string& what) {
  int value = -1;
  const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (failed != std::errc{} || end != digits.data() + digits.size() || value < 0)
    throw invalid_argument(what + " is '" + std::string(digits) + "', which is not a number from 0 on");
  return value;
}

inline nlohmann::json parsed_json(std::string_view text, const std::string& what) {
  nlohmann::json parsed = nlohmann::json::parse(text, nullptr, false);
  if (parsed.is_discarded()) throw invalid_argument(what + " is not JSON: " + std::string(text.substr(0, 80)));
  return parsed;
}

inline std::string address_of(const nlohmann::json& value, const std::string& what) {
  if (!value.is_string()) throw invalid_argument(what + ": Task address " + value.dump() + " must be a text");
  return value.get<std::string>();
}

inline cluster_spec::job job_of(const std::string& name, const nlohmann::json& tasks) {
  const std::string what = "The tasks for job '" + name + "'";
  cluster_spec::task_map addresses;
  if (tasks.is_array()) {
    for (const auto& address : tasks) addresses.emplace(static_cast<int>(addresses.size()), address_of(address, what));
  } else if (tasks.is_object()) {
    for (auto task = tasks.begin(); task != tasks.end(); ++task)
      if (!addresses.emplace(whole_number(task.key(), what + ": a task's number"), address_of(*task, what)).second)
        throw invalid_argument(what + ": the number " + task.key() + " is given twice");
  } else {
    throw invalid_argument(what + " must be a list of addresses, or an object of addresses by number, not " + tasks.dump());
  }
  return {name, std::move(addresses)};
}

inline cluster_spec cluster_of_json(const nlohmann::json& given) {
  if (!given.is_object())
    throw invalid_argument("a cluster is an object of jobs, {\"ps\": [\"a:1\"], \"worker\": [\"b:1\"]}, not " + given.dump().substr(0, 80));
  std::vector<cluster_spec::job> jobs;
  const auto list = given.find("job");
  if (given.size() == 1 && list != given.end() && list->is_array() && (list->empty() || list->front().is_object())) {
    for (const auto& entry : *list) {
      const auto name = entry.find("name");
      if (!entry.is_object() || name == entry.end() || !name->is_string())
        throw invalid_argument("the cluster's job " + std::to_string(jobs.size()) + " has no name: " + entry.dump().substr(0, 80));
      jobs.push_back(job_of(name->get<std::string>(), entry.value("tasks", nlohmann::json::object())));
    }
  } else {
    for (auto entry = given.begin(); entry != given.end(); ++entry) jobs.push_back(job_of(entry.key(), *entry));
  }
  return cluster_spec(jobs);
}

inline std::string needed_variable(const environment& variables, std::initializer_list<const char*> names) {
  std::string all;
  for (const char* name : names) {
    if (auto value = variables(name)) return *value;
    all += (all.empty() ? "" : " nor ") + std::string(name);
  }
  throw failed_precondition("the environment has no " + all);
}

// Assigns the tasks to the ranks 0, 1, ..., each with its host.
inline cluster_role dealt_out(const job_sizes& jobs, const std::vector<std::string>& hosts, int first_port, int rank) {
  std::map<std::string, int> used;  // number of ports used on each host
  std::vector<cluster_spec::job> made;
  cluster_role role;
  std::size_t next = 0;
  for (const auto& [name, count] : jobs) {
    if (count < 0) throw invalid_argument("the job '" + name + "' has " + std::to_string(count) + " tasks");
    std::vector<std::string> addresses;
    for (int k = 0; k < count && next < hosts.size(); ++k, ++next) {
      if (static_cast<int>(next) == rank) {
        role.job_name = name;
        role.task_index = k;
      }
      const std::string& host = hosts[next];
      addresses.push_back(host + ":" + std::to_string(first_port + used[host]++));
    }
    made.emplace_back(name, addresses);
  }
  long long wanted = 0;
  for (const auto& [name, count] : jobs) wanted += count;
  if (wanted != static_cast<long long>(hosts.size()))
    throw invalid_argument("the jobs have " + std::to_string(wanted) + " tasks, and " + std::to_string(hosts.size()) + " were started");
  if (rank >= static_cast<int>(hosts.size()))
    throw invalid_argument("this process is number " + std::to_string(rank) + " of " + std::to_string(hosts.size()));
  role.cluster = cluster_spec(made);
  return role;
}

// "2(x3),1" means 2, 2, 2, 1.
inline std::vector<int> slurm_counts(std::string_view list) {
  const std::string what = "Slurm's tasks per node, '" + std::string(list) + "',";
  std::vector<int> counts;
  while (!list.empty()) {
    const auto comma = list.find(',');
    std::string_view item = list.substr(0, comma);
    list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
    int times = 1;
    if (const auto open = item.find("(x"); open != item.npos) {
      if (item.back() != ')') throw invalid_argument(what + " has an unfinished bracket");
      times = whole_number(item.substr(open + 2, item.size() - open - 3), what + " how often");
      item = item.substr(0, open);
    }
    const int count = whole_number(item, what + " a count");
    if (times > 100'000 || counts.size() + static_cast<std::size_t>(times) > 100'000)
      throw invalid_argument(what + " has over 100,000 nodes");
    counts.insert(counts.end(), static_cast<std::size_t>(times), count);
  }
  return counts;
}

// Appends the names of one item of Slurm's list, such as "n[1-2]x[3,5]"; recursive in the text after the first bracket.
inline void add_slurm_names(std::string_view item, const std::string& prefix, std::string_view whole, std::vector<std::string>& names) {
  const auto refuse = [&](const char* why) -> void { throw invalid_argument("Slurm's hosts '" + std::string(whole) + "': " + why); };
  const auto open = item.find('[');
  if (open == item.npos) {
    if (item.find(']') != item.npos) refuse("a bracket that was not opened");
    if (names.size() >= 100'000) refuse("more than 100,000 names");
    names.push_back(prefix + std::string(item));
    if (names.back().empty()) refuse("a name is empty");
    return;
  }
  const auto close = item.find(']', open);
  if (close == item.npos) refuse("an unfinished bracket");
  std::string_view ranges = item.substr(open + 1, close - open - 1);
  if (ranges.empty()) refuse("an empty bracket");
  while (!ranges.empty()) {
    const auto comma = ranges.find(',');
    const std::string_view range = ranges.substr(0, comma);
    ranges = comma == ranges.npos ? std::string_view{} : ranges.substr(comma + 1);
    const auto dash = range.find('-');
    const std::string_view low = range.substr(0, dash), high = dash == range.npos ? low : range.substr(dash + 1);
    if (low.size() > 9 || high.size() > 9) refuse("a number of more than nine digits");
    const int first = whole_number(low, "Slurm's hosts '" + std::string(whole) + "': a number");
    const int last = whole_number(high, "Slurm's hosts '" + std::string(whole) + "': a number");
    if (last < first || last - first > 100'000) refuse("a range that ends before it begins, or of more than 100,000 names");
    for (int n = first; n <= last; ++n) {
      std::string digits = std::to_string(n);
      if (digits.size() < low.size()) digits.insert(0, low.size() - digits.size(), '0');
      add_slurm_names(item.substr(close + 1), prefix + std::string(item.substr(0, open)) + digits, whole, names);
    }
  }
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION cluster_spec cluster_spec_from_json(std::string_view text) {
  return detail::cluster_of_json(detail::parsed_json(text, "the cluster"));
}

LEAT_FUNCTION std::string json_text(const cluster_spec& cluster) {
  nlohmann::ordered_json jobs = nlohmann::ordered_json::array();
  for (const std::string& name : cluster.jobs()) {
    nlohmann::ordered_json tasks = nlohmann::ordered_json::object();
    for (const auto& [index, address] : cluster.tasks(name)) tasks[std::to_string(index)] = address;
    jobs.push_back({{"name", name}, {"tasks", std::move(tasks)}});
  }
  return nlohmann::ordered_json{{"job", std::move(jobs)}}.dump();
}

LEAT_FUNCTION cluster_role role_in(cluster_spec cluster, std::string_view job_name, std::optional<int> task_index) {
  if (!cluster) throw invalid_argument("the cluster has no jobs");
  if (job_name.empty()) {
    if (cluster.jobs().size() != 1) throw invalid_argument("Must specify an explicit `job_name`: the cluster is " + cluster.text());
  } else if (!cluster.has_job(job_name)) {
    throw invalid_argument("Job \"" + std::string(job_name) + "\" was not defined in cluster " + cluster.text());
  }
  std::string name = job_name.empty() ? cluster.jobs().front() : std::string(job_name);
  const auto& tasks = cluster.tasks(name);
  if (!task_index) {
    if (tasks.size() != 1) throw invalid_argument("Must specify an explicit `task_index`: the cluster is " + cluster.text());
    task_index = tasks.begin()->first;
  }
  if (!tasks.contains(*task_index))
    throw invalid_argument("Task " + std::to_string(*task_index) + " was not defined in job \"" + name + "\" of " + cluster.text());
  return {std::move(cluster), std::move(name), *task_index};
}

LEAT_FUNCTION cluster_flags::cluster_flags(int argc, const char* const* argv) {
  std::set<std::string> given;
  for (int k = 1; k < argc; ++k) {
    const std::string_view argument = argv[k];
    const auto equals = argument.find('=');
    const std::string name(argument.substr(0, equals));
    const bool is_hosts = name.starts_with("--") && name.ends_with("_hosts") && name.size() > 8;
    if (!is_hosts && name != "--job_name" && name != "--task_index" && name != "--logdir") {
      rest.emplace_back(argument);
      continue;
    }
    std::string_view value;
    if (equals != argument.npos) value = argument.substr(equals + 1);
    else if (k + 1 < argc && !std::string_view(argv[k + 1]).starts_with("--")) value = argv[++k];
    else throw invalid_argument("the flag " + name + " has no value: write " + name + "=VALUE");
    if (!given.insert(name).second) throw invalid_argument("the flag " + name + " is given twice");
    if (name == "--job_name") {
      job_name = value;
    } else if (name == "--task_index") {
      task_index = detail::whole_number(value, "the flag --task_index");
    } else if (name == "--logdir") {
      logdir = value;
    } else {
      std::vector<std::string> addresses;
      while (!value.empty()) {
        const auto comma = value.find(',');
        addresses.emplace_back(value.substr(0, comma));
        if (comma == value.npos) break;
        value.remove_prefix(comma + 1);
        if (value.empty()) addresses.emplace_back();  // for a comma at the end
      }
      for (const std::string& a : addresses) static_cast<void>(host_and_port(a, "the flag " + name, 0));
      hosts.emplace_back(name.substr(2, name.size() - 8), addresses);
    }
  }
}

LEAT_FUNCTION cluster_role cluster_flags::role() const { return role_in(cluster(), job_name, task_index); }

LEAT_FUNCTION std::optional<std::string> environment_variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

LEAT_FUNCTION cluster_role role_from_tf_config(const environment& variables) {
  return role_from_tf_config(std::string_view(detail::needed_variable(variables, {"TF_CONFIG"})));
}

LEAT_FUNCTION cluster_role role_from_tf_config(std::string_view text) {
  const nlohmann::json config = detail::parsed_json(text, "TF_CONFIG");
  if (!config.is_object() || !config.contains("cluster"))
    throw invalid_argument("TF_CONFIG has no \"cluster\": " + std::string(text.substr(0, 80)));
  cluster_spec cluster = detail::cluster_of_json(config["cluster"]);
  const nlohmann::json task = config.value("task", nlohmann::json::object());
  if (!task.is_object()) throw invalid_argument("TF_CONFIG: \"task\" must be {\"type\": JOB, \"index\": NUMBER}, not " + task.dump());
  const nlohmann::json type = task.value("type", nlohmann::json("")), index = task.value("index", nlohmann::json(0));
  if (!type.is_string()) throw invalid_argument("TF_CONFIG: the task's type is " + type.dump() + ", not a text");
  int number = -1;
  if (index.is_number_integer() && index >= 0 && index <= std::numeric_limits<int>::max()) number = index.get<int>();
  else if (index.is_string()) number = detail::whole_number(index.get<std::string>(), "TF_CONFIG: the task's index");
  else throw invalid_argument("TF_CONFIG: the task's index is " + index.dump() + ", which is not a number from 0 on");
  if (type == "evaluator" && !cluster.has_job("evaluator")) return {std::move(cluster), "evaluator", number};
  const bool told = task.contains("index");
  return role_in(std::move(cluster), type.get<std::string>(), told ? std::optional(number) : std::nullopt);
}

LEAT_FUNCTION std::vector<std::string> slurm_hosts(std::string_view list) {
  std::vector<std::string> names;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t k = 0; k <= list.size(); ++k) {
    if (k < list.size() && list[k] == '[') ++depth;
    if (k < list.size() && list[k] == ']') --depth;
    if (k < list.size() && (list[k] != ',' || depth > 0)) continue;
    detail::add_slurm_names(list.substr(begin, k - begin), "", list, names);
    begin = k + 1;
  }
  return names;
}

LEAT_FUNCTION cluster_role role_from_slurm(const job_sizes& jobs, int first_port, const environment& variables) {
  const auto nodes = slurm_hosts(detail::needed_variable(variables, {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST", "SLURM_NODELIST"}));
  const auto counts = detail::slurm_counts(detail::needed_variable(variables, {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"}));
  const int rank = detail::whole_number(detail::needed_variable(variables, {"SLURM_PROCID"}), "SLURM_PROCID");
  if (nodes.size() != counts.size())
    throw invalid_argument("Slurm names " + std::to_string(nodes.size()) + " nodes and the tasks of " + std::to_string(counts.size()));
  std::vector<std::string> hosts;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    if (hosts.size() + static_cast<std::size_t>(counts[n]) > 100'000) throw invalid_argument("Slurm names more than 100,000 tasks");
    hosts.insert(hosts.end(), static_cast<std::size_t>(counts[n]), nodes[n]);
  }
  return detail::dealt_out(jobs, hosts, first_port, rank);
}

LEAT_FUNCTION cluster_role role_from_mpi(const job_sizes& jobs, const std::vector<std::string>& hosts, int first_port,
                                         const environment& variables) {
  const int rank = detail::whole_number(detail::needed_variable(variables, {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}), "the MPI rank");
  const int size =
      detail::whole_number(detail::needed_variable(variables, {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}), "the number of MPI ranks");
  if (size > 100'000) throw invalid_argument("MPI tells of " + std::to_string(size) + " ranks");
  if (hosts.empty()) {
    const auto here = variables("OMPI_COMM_WORLD_LOCAL_SIZE");
    const auto here_too = here ? here : variables("MPI_LOCALNRANKS");
    if (!here_too || detail::whole_number(*here_too, "the number of MPI ranks on this machine") != size)
      throw failed_precondition(
          "MPI's ranks are on several machines, whose names its environment does not tell: give them as hosts, one for each rank");
    return detail::dealt_out(jobs, std::vector<std::string>(static_cast<std::size_t>(size), "localhost"), first_port, rank);
  }
  if (hosts.size() != static_cast<std::size_t>(size))
    throw invalid_argument(std::to_string(hosts.size()) + " hosts for " + std::to_string(size) + " MPI ranks");
  return detail::dealt_out(jobs, hosts, first_port, rank);
}

}  // namespace leat
