#include "cluster_commands.hpp"

#include "graph_file.hpp"
#include "show.hpp"

#ifdef LEAT_USE_CLUSTER

#include <leat/cluster/cluster_role.hpp>
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/server.hpp>
#include <leat/cluster/transport/keys.hpp>
#include <leat/io/file.hpp>

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

namespace tool {

namespace {

bool is_cluster_flag(std::string_view word) {
  const auto name = word.substr(0, word.find('='));
  return (name.starts_with("--") && name.ends_with("_hosts") && name.size() > 8) || name == "--job_name" || name == "--task_index";
}

leat::cluster_flags flags_of(const cluster_request& request) {
  std::vector<const char*> words{"leat"};
  for (const auto& flag : request.flags) words.push_back(flag.c_str());
  return {static_cast<int>(words.size()), words.data()};
}

/// "ps=1,worker=3"
leat::job_sizes sizes_of(const std::string& text) {
  leat::job_sizes sizes;
  for (std::size_t at = 0; at < text.size();) {
    const auto end = std::min(text.find(',', at), text.size());
    const std::string_view item = std::string_view(text).substr(at, end - at);
    const auto equals = item.find('=');
    int count = 0;
    const char* const last = item.data() + item.size();
    if (equals == item.npos || equals == 0 ||
        std::from_chars(item.data() + equals + 1, last, count) != std::from_chars_result{last, std::errc{}} || count < 1)
      throw usage_error("--jobs: \"" + std::string(item) + "\" is not NAME=NUMBER: write --jobs ps=1,worker=3");
    sizes.emplace_back(item.substr(0, equals), count);
    at = end + 1;
  }
  if (sizes.empty())
    throw usage_error("--from slurm needs --jobs, such as --jobs ps=1,worker=3: Slurm knows how many tasks there are, not of which job");
  return sizes;
}

/// The cluster, and the task if one is named; nothing if none is told.
struct told_cluster {
  leat::cluster_spec cluster;
  std::string job_name;
  std::optional<int> task_index;
};

std::optional<told_cluster> cluster_of(const cluster_request& request) try {
  const auto flags = flags_of(request);
  if (!flags.rest.empty()) throw usage_error("\"" + flags.rest.front() + "\" is no flag of a cluster");
  const int ways = !flags.hosts.empty() + !request.file.empty() + !request.from.empty() + !request.target.empty();
  if (ways > 1) throw usage_error("the cluster is told twice: by a target, by --NAME_hosts, by --cluster or by --from");
  const bool has_index =
      std::any_of(request.flags.begin(), request.flags.end(), [](const auto& f) { return f.starts_with("--task_index"); });
  const bool is_named = has_index || !flags.job_name.empty();
  if (!request.jobs.empty() && request.from != "slurm") throw usage_error("--jobs belongs to --from slurm");
  if (request.from.empty() && request.file.empty() && flags.hosts.empty()) {
    if (is_named) throw usage_error("--job_name and --task_index name a task, and there is no cluster: give --NAME_hosts or --cluster");
    return std::nullopt;
  }
  told_cluster told;
  if (!request.from.empty()) {
    if (is_named) throw usage_error("--from " + request.from + " says which task this is: leave out --job_name and --task_index");
    const auto role =
        request.from == "slurm" ? leat::role_from_slurm(sizes_of(request.jobs), request.first_port) : leat::role_from_tf_config();
    return told_cluster{role.cluster, role.job_name, role.task_index};
  }
  if (has_index) told.task_index = flags.task_index;
  told.job_name = flags.job_name;
  if (request.file.empty()) {
    told.cluster = flags.cluster();
    return told;
  }
  const auto text = leat::io::read_file(request.file);
  try {
    told.cluster = leat::cluster_spec_from_json(text);
  } catch (const leat::invalid_argument& e) {
    throw usage_error(request.file + ": " + e.what());
  }
  return told;
} catch (const leat::invalid_argument& e) {
  throw usage_error(e.what());
} catch (const leat::failed_precondition& e) {  // the environment has no such variable
  throw usage_error("--from " + request.from + ": " + e.what());
}

/// Looks into the files, so that what is wrong with them is not taken for a failure of the network.
std::optional<leat::cluster_keys> keys_of(const cluster_request& request) {
  if (request.keys.empty()) {
    if (!request.server_keys.empty() || !request.allowed.empty())
      throw usage_error("--server_keys and --allowed need --keys, the pair of this process: leat keys FILE makes one");
    return std::nullopt;
  }
  leat::cluster_keys keys;
  keys.own = request.keys;
  static_cast<void>(leat::transport::read_keys(keys.own));
  for (const auto& [paths, to] : {std::pair{&request.server_keys, &keys.servers}, {&request.allowed, &keys.allowed}})
    for (const auto& path : *paths) {
      if (std::error_code none; std::filesystem::is_directory(path, none)) {  // its files are read with the cluster
        to->push_back(path);
        continue;
      }
      if (leat::transport::read_public_keys(path).empty()) throw leat::data_loss(path + ": has no public key");
      to->push_back(path);
    }
  return keys;
}

void complain(const std::exception& e) { std::fprintf(stderr, "leat: %s\n", printable_lines(e.what()).c_str()); }

std::string hex(std::uint64_t number) {
  char digits[17];
  std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(number));
  return digits;
}

/// "11.2 MB"
std::string bytes_as_text(std::uint64_t bytes) {
  constexpr const char* units[] = {"bytes", "kB", "MB", "GB", "TB"};
  auto size = static_cast<double>(bytes);
  std::size_t unit = 0;
  for (; size >= 1000 && unit + 1 < std::size(units); ++unit) size /= 1000;
  char text[32];
  std::snprintf(text, sizeof text, unit == 0 ? "%.0f %s" : "%.1f %s", size, units[unit]);
  return text;
}
/// "2741 messages (11.2 MB)"
std::string traffic(std::uint64_t messages, std::uint64_t bytes) {
  return std::to_string(messages) + " messages (" + bytes_as_text(bytes) + ")";
}
/// "1 session, 2 parts, 15.1 MB"
std::string holds(const leat::task_counters& c) {
  const auto several = [](std::uint64_t n, const char* what) { return std::to_string(n) + " " + what + (n == 1 ? "" : "s"); };
  return several(c.sessions, "session") + ", " + several(c.parts, "part") + ", " + bytes_as_text(c.memory_in_bytes);
}

}  // namespace

std::vector<std::string> take_cluster_flags(std::vector<std::string>& words) {
  std::vector<std::string> taken;
  if (words.empty() || (words[0] != "serve" && words[0] != "cluster")) return taken;
  for (std::size_t k = 1; k < words.size();) {
    if (!is_cluster_flag(words[k])) {
      ++k;
      continue;
    }
    std::string flag = std::move(words[k]);
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(k));
    if (flag.find('=') == flag.npos) {
      if (k == words.size() || words[k].starts_with("--"))
        throw usage_error("the flag " + flag + " has no value: write " + flag + "=VALUE");
      flag += "=" + words[k];
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(k));
    }
    taken.push_back(std::move(flag));
  }
  return taken;
}

int make_keys(const std::string& path) {
  leat::make_cluster_keys(path);
  std::printf(
      "%s         the pair: for the processes that own it, and nobody else (only its owner can read it)\n"
      "%s.public  its public key: for all who talk to them\n"
      "\n"
      "The servers of a cluster share one pair, or a folder has one for each task (leat keys DIR/ps.0);\n"
      "each client has its own. With the pairs \"servers\" and \"client\":\n"
      "  leat serve ... --keys servers --server_keys servers.public --allowed servers.public --allowed client.public\n"
      "  leat cluster TARGET --keys client --server_keys servers.public\n"
      "In programs: server_options::keys and set_cluster_keys.\n",
      path.c_str(), path.c_str());
  return 0;
}

int show_keys(const std::string& path) {
  const auto keys = leat::transport::read_public_keys(path);
  if (keys.empty()) throw leat::data_loss(path + ": has no public key");
  for (const auto& key : keys) std::printf("%s\n", key.c_str());
  return 0;
}

int serve(const cluster_request& request) {
  const auto told = cluster_of(request);
  leat::server_options options;
  options.keys = keys_of(request);
  options.insecure_network = request.insecure_network;
  options.run = request.run;
  if (told) {
    options.job_name = told->job_name;
    options.task_index = told->task_index;
  }
  // The server's threads inherit the mask: the signals wait for sigwait, also those that come before the server is there.
  sigset_t ends;
  ::sigemptyset(&ends);
  ::sigaddset(&ends, SIGTERM);
  ::sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);
  try {
    leat::server here = told ? leat::server(told->cluster, options) : leat::server::local(options);
    std::printf("%s serves at %s, process %lld\n", printable(here.device()).c_str(), here.target().c_str(),
                static_cast<long long>(::getpid()));
    std::fflush(stdout);
    std::exception_ptr refused;
    std::thread waits;
    if (request.until_done)
      waits = std::thread([&] {
        try {
          here.join({.until_signal = false, .until_workers_done = true});
        } catch (const leat::error&) {
          refused = std::current_exception();
        }
        ::kill(::getpid(), SIGTERM);
      });
    int signal = 0;
    while (::sigwait(&ends, &signal) == EINTR) {
    }
    here.stop();
    if (waits.joinable()) waits.join();
    if (refused) std::rethrow_exception(refused);
  } catch (const leat::invalid_argument& e) {
    throw usage_error(e.what());
  } catch (const leat::error& e) {
    complain(e);
    return 1;
  }
  return 0;
}

int show_cluster(const cluster_request& request) {
  const auto told = cluster_of(request);
  if (!told && request.target.empty())
    throw usage_error("which cluster? Give one of its servers, tcp://host:port, or the cluster by --NAME_hosts, --cluster or --from");
  auto keys = keys_of(request);
  if (keys) {
    if (told) keys->cluster = told->cluster;
    else if (std::any_of(keys->servers.begin(), keys->servers.end(), [](const auto& path) { return std::filesystem::is_directory(path); }))
      throw usage_error(
          "--server_keys is a folder with a key for each task: tell the cluster by --NAME_hosts, --cluster or --from, not by a target");
  }
  leat::set_cluster_keys(std::move(keys), request.insecure_network);
  const auto timeout = static_cast<std::int64_t>(request.timeout * 1000);
  std::vector<leat::task_status> tasks;
  try {
    const bool has_scheme = request.target.find("://") != std::string::npos;
    const leat::cluster_status_options how{.timeout_in_ms = timeout, .until_all_are_up = request.wait};
    const auto cluster = told ? told->cluster : leat::cluster_at(has_scheme ? request.target : "tcp://" + request.target, how);
    tasks = leat::cluster_status(cluster, how);
  } catch (const leat::invalid_argument& e) {
    throw usage_error(e.what());
  } catch (const leat::error& e) {
    complain(e);
    return 1;
  }
  int device = 0, address = 0;
  for (const auto& t : tasks) {
    device = std::max(device, static_cast<int>(printable(t.device).size()));
    address = std::max(address, static_cast<int>(printable(t.address).size()));
  }
  int code = 0;
  for (const auto& t : tasks) {
    std::string said;
    if (t.is_up) {
      said = "up    process " + std::to_string(t.process) + ", incarnation " + hex(t.incarnation);
      if (t.counted)
        said += ", " + std::to_string(t.counted->steps) + " steps, sent " + traffic(t.counted->messages_sent, t.counted->bytes_sent) +
                ", received " + traffic(t.counted->messages_received, t.counted->bytes_received) + ", " + holds(*t.counted);
    } else {
      code = 1;
      const std::string its_name = t.device + " at " + t.address + ": ";  // the row says it already
      said = (t.has_ended ? "ended " : "down  ") + (t.problem.starts_with(its_name) ? t.problem.substr(its_name.size()) : t.problem);
    }
    std::printf("%-*s  %-*s  %s\n", device, printable(t.device).c_str(), address, printable(t.address).c_str(), printable(said).c_str());
  }
  return code;
}

}  // namespace tool

#else

#include <algorithm>

namespace tool {

namespace {
[[noreturn]] void refuse() {
  throw usage_error("this leat was built without clusters: libzmq (with libsodium) and cppzmq were not found when it was configured");
}
}  // namespace

// So that the command is refused, not one of its flags.
std::vector<std::string> take_cluster_flags(std::vector<std::string>& words) {
  const bool asks_for_help = std::any_of(words.begin(), words.end(), [](const auto& w) { return w == "--help" || w == "-h"; });
  if (!words.empty() && (words[0] == "serve" || words[0] == "cluster") && !asks_for_help) refuse();
  return {};
}
int make_keys(const std::string&) { refuse(); }
int show_keys(const std::string&) { refuse(); }
int serve(const cluster_request&) { refuse(); }
int show_cluster(const cluster_request&) { refuse(); }

}  // namespace tool

#endif
