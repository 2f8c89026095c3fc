#pragma once
// Implementation of server.hpp.

#include <leat/cluster/attendance.hpp>
#include <leat/cluster/master_client.hpp>
#include <leat/cluster/messenger_network.hpp>
#include <leat/cluster/server.hpp>
#include <leat/core/descriptor.hpp>
#include <leat/core/fill.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/session/session_target.hpp>

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

namespace leat::cluster {

/// Returns the file itself, or the files with public keys of a folder, ordered by name.
inline std::vector<std::filesystem::path> files_of_keys(const std::filesystem::path& path) {
  std::error_code none;
  if (!std::filesystem::is_directory(path, none)) return {path};
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(path, none))
    if (entry.path().extension() == ".public") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

inline std::vector<std::string> read_allowed(const cluster_keys& keys) {
  std::vector<std::string> allowed;
  for (const auto& path : keys.allowed)
    for (const auto& file : files_of_keys(path))
      for (const std::string& key : transport::read_public_keys(file)) allowed.push_back(key);
  return allowed;
}

/// The lists of allowed clients in their files: a server checks once a second whether the files have changed.
class allowed_lists {
 public:
  explicit allowed_lists(cluster_keys keys) : keys_(std::move(keys)), seen_(look()) {}
  /// The new lists, if a file has changed and all files can be read. A file that cannot be read changes nothing and is reported once on
  /// standard error.
  std::optional<std::vector<std::string>> changed() {
    auto now = look();
    if (now == seen_) return std::nullopt;
    seen_ = std::move(now);
    try {
      return read_allowed(keys_);
    } catch (const std::exception& e) {
      std::fprintf(stderr, "the list of allowed clients stays what it was: %s\n", e.what());
      return std::nullopt;
    }
  }

 private:
  using file_state = std::tuple<ino_t, off_t, time_t, long>;
  std::vector<file_state> look() const {
    std::vector<file_state> all;
    for (const auto& path : keys_.allowed)
      for (const auto& file : files_of_keys(path)) {
        struct stat s{};
        if (::stat(file.c_str(), &s) != 0) s = {};
        all.emplace_back(s.st_ino, s.st_size, s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
      }
    return all;
  }
  cluster_keys keys_;
  std::vector<file_state> seen_;
};

/// The public key of each task, by job and number, from a folder; empty if all servers share one key.
using keys_of_tasks = std::map<std::pair<std::string, int>, std::string>;

/// Errors: not_found, invalid_argument, data_loss, naming the task and its file.
inline keys_of_tasks read_task_keys(const std::filesystem::path& folder, const cluster_spec& cluster) {
  keys_of_tasks read;
  for (const std::string& job : cluster.jobs())
    for (const auto& [index, address] : cluster.tasks(job)) {
      const auto file = folder / (job + "." + std::to_string(index) + ".public");
      std::vector<std::string> keys;
      try {
        keys = transport::read_public_keys(file);
      } catch (const error& e) {
        leat::detail::rethrow_saying(e, "the key of /job:" + job + "/task:" + std::to_string(index) + ": " + e.what());
      }
      if (keys.size() != 1)
        throw invalid_argument("the key of /job:" + job + "/task:" + std::to_string(index) + ": " + file.string() + " has " +
                               std::to_string(keys.size()) + " keys");
      read[{job, index}] = keys[0];
    }
  return read;
}

/// The folder with the tasks' keys, or an empty path if all servers share one key. Errors: invalid_argument for a folder next to another
/// entry.
inline std::filesystem::path folder_of_tasks(const cluster_keys& keys) {
  std::error_code none;
  for (const auto& path : keys.servers) {
    if (!std::filesystem::is_directory(path, none)) continue;
    if (keys.servers.size() > 1)
      throw invalid_argument("cluster_keys: " + path.string() +
                             " is a folder with a key for each task; it is the only entry of servers then");
    return path;
  }
  return {};
}

/// `cluster`: the cluster of the servers, if it is known.
inline std::optional<transport::key_options> read_key_options(const std::optional<cluster_keys>& keys, const cluster_spec& cluster) {
  if (!keys) return std::nullopt;
  transport::key_options read;
  read.own = transport::read_keys(keys->own);
  read.allowed = read_allowed(*keys);
  if (const auto folder = folder_of_tasks(*keys); !folder.empty()) {
    if (!cluster)
      throw invalid_argument("cluster_keys: " + folder.string() +
                             " is a folder with a key for each task; cluster_keys::cluster says at which addresses these are");
    for (const auto& [task, key] : read_task_keys(folder, cluster)) {
      auto where = transport::parse_address(cluster.task_address(task.first, task.second));
      where.host = transport::resolve(where.host, std::chrono::steady_clock::now() + std::chrono::seconds(5));
      read.server_keys[where.text()] = key;
    }
    return read;
  }
  for (const auto& path : keys->servers)
    for (const std::string& key : transport::read_public_keys(path)) {
      if (!read.server_key.empty() && read.server_key != key)
        throw invalid_argument("cluster_keys: " + path.string() +
                               " gives a second key of servers: they share one, or a folder has a file for each task");
      read.server_key = key;
    }
  return read;
}

/// A hash of a cluster's specification, which distinguishes the tasks of different clusters.
inline std::string fingerprint_of(const cluster_spec& c) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char byte : c.text()) hash = (hash ^ static_cast<unsigned char>(byte)) * 0x100000001b3;
  constexpr const char* digits = "0123456789abcdef";
  std::string text;
  for (int shift = 60; shift >= 0; shift -= 4) text += digits[hash >> shift & 15];
  return text;
}

/// The servers of this process, by address: sessions at them need no connection.
class servers_here {
 public:
  void add(const std::string& address, const std::shared_ptr<task_service>& service) {
    const std::lock_guard lock(guard_);
    by_address_[address] = {service, transport::fork_generation()};
  }
  void remove(const std::string& address) {
    const std::lock_guard lock(guard_);
    by_address_.erase(address);
  }
  std::shared_ptr<task_service> find(const std::string& address) {
    const std::lock_guard lock(guard_);
    const auto at = by_address_.find(address);
    // In the child of a fork the parent's servers are reached over a connection, as from any other process.
    return at == by_address_.end() || at->second.second != transport::fork_generation() ? nullptr : at->second.first.lock();
  }

 private:
  std::mutex guard_;
  std::map<std::string, std::pair<std::weak_ptr<task_service>, std::uint64_t>> by_address_;
};
inline servers_here& all_servers_here() {
  static servers_here list;
  return list;
}

struct client_settings {
  std::mutex guard;
  std::optional<cluster_keys> keys;
  bool insecure_network = false;
};
inline client_settings& settings_of_clients() {
  static client_settings s;
  return s;
}

/// Options for a messenger of this process that belongs to no task. `cluster`: the cluster it connects to, if it is known; if empty, that
/// of the keys.
inline transport::messenger_options options_of_clients(const cluster_spec& cluster = {}) {
  transport::messenger_options made;
  auto& settings = settings_of_clients();
  const std::lock_guard lock(settings.guard);
  made.endpoint.keys = read_key_options(settings.keys, cluster || !settings.keys ? cluster : settings.keys->cluster);
  made.endpoint.insecure_network = settings.insecure_network;
  return made;
}

/// Errors: invalid_argument for an address without a known key.
inline void require_key_of(const std::optional<transport::key_options>& keys, const std::string& address) {
  if (!keys || keys->server_keys.empty()) return;
  auto where = transport::parse_address(address);
  where.host = transport::resolve(where.host, std::chrono::steady_clock::now() + std::chrono::seconds(5));
  if (!keys->server_keys.contains(where.text()))
    throw invalid_argument("no task of cluster_keys::cluster is at " + address + ", so no key of a server there is known");
}

inline std::unique_ptr<remote_session> connect_to_target(graph& g, const session_options& options) {
  const std::string address = options.target.substr(6);  // after "tcp://"
  static_cast<void>(host_and_port(address, "the session's target"));
  if (const auto here = all_servers_here().find(address)) return session_at(g, options, access_to(here));
  auto made = options_of_clients();
  require_key_of(made.endpoint.keys, address);
  auto network = std::make_shared<messenger_network>(std::move(made), std::vector<task_address>{{"", 0, address}});
  network->start();
  return session_at(g, options, access_to(std::static_pointer_cast<task_network>(network), 0));
}

LEAT_FILL(fill_cluster_targets) { register_session_target("tcp://", connect_to_target); }

// The event through which a signal handler notifies the process to end.
struct signal_teller {
  int event = -1;
  pid_t process = 0;
};
inline signal_teller& teller_of_signals() {
  static signal_teller t;
  return t;
}
inline void tell_of_signal(int signal) {
  const int before = errno;
  // The child of a fork has inherited the handler and the parent's event, but does not wait for it; there the signal has its default
  // effect.
  if (::getpid() != teller_of_signals().process) {
    ::signal(signal, SIG_DFL);
    ::raise(signal);
    return;
  }
  const std::uint64_t one = 1;
  static_cast<void>(!::write(teller_of_signals().event, &one, sizeof one));
  errno = before;
}

}  // namespace leat::cluster

namespace leat {

struct server::kept {
  cluster_role role;
  std::string address;
  std::unique_ptr<cluster::messenger_network> network;
  std::shared_ptr<cluster::task_service> service;
  std::once_flag stopped;
  const std::uint64_t generation = transport::fork_generation();
  descriptor stop_event{::eventfd(0, EFD_CLOEXEC)};
  descriptor ended_event{::eventfd(0, EFD_CLOEXEC)};  // a task of another job has ended
  cluster::attendance others;                         // the tasks of the other jobs
  std::optional<cluster::allowed_lists> allowed;      // with keys
  std::set<std::pair<std::string, int>> told_of;      // refused tasks that were logged; used only by handlers
  cluster::keys_of_tasks task_keys;                   // if each task has its own key

  kept(cluster_role its_role, const server_options& options) : role(std::move(its_role)) {
    leat::detail::compile_fill(cluster::fill_cluster_targets);  // a session in another source may use this server
    if (options.memory_limit_in_bytes < 0)
      throw invalid_argument("server_options: memory_limit_in_bytes is " + std::to_string(options.memory_limit_in_bytes) +
                             "; it is the number of bytes, or 0");
    std::vector<cluster::task_address> tasks;
    int own = -1;
    for (const std::string& job : role.cluster.jobs())
      for (const auto& [index, where] : role.cluster.tasks(job)) {
        if (job == role.job_name && index == role.task_index) own = static_cast<int>(tasks.size());
        else if (job != role.job_name) others.await(job, index);
        tasks.push_back({job, index, where});
      }
    transport::messenger_options made;
    made.self.cluster = cluster::fingerprint_of(role.cluster);
    made.self.run = options.run;
    made.self.job = role.job_name;
    made.self.task = role.task_index;
    made.endpoint.listen = tasks[static_cast<std::size_t>(own)].address;
    const bool chooses_port = host_and_port(made.endpoint.listen, "the server's address", 0).second == 0;
    if (options.keys) allowed.emplace(*options.keys);
    made.endpoint.keys = cluster::read_key_options(options.keys, role.cluster);
    if (options.keys)
      if (const auto folder = cluster::folder_of_tasks(*options.keys); !folder.empty()) read_task_keys(folder, *options.keys);
    made.endpoint.insecure_network = options.insecure_network;
    if (!options.use_shared_memory) made.endpoint.same_host = made.endpoint.same_process = false;
    std::vector<std::string> devices, addresses;
    for (const auto& t : tasks) {
      devices.push_back("/job:" + t.job + "/replica:0/task:" + std::to_string(t.index) + "/device:CPU:0");
      addresses.push_back(t.address);
    }
    network = std::make_unique<cluster::messenger_network>(std::move(made), std::move(tasks));
    address = addresses[static_cast<std::size_t>(own)];
    if (chooses_port) {
      address = addresses[static_cast<std::size_t>(own)] = network->its_messenger().self().address;
      // If there are several tasks, all use the specification with which they were started.
      if (addresses.size() == 1) role.cluster = cluster_spec{{role.job_name, cluster_spec::task_map{{role.task_index, address}}}};
    }
    service = std::make_shared<cluster::task_service>(*network, devices, addresses, own);
    service->set_description(json_text(role.cluster));
    service->its_worker().set_memory_limit(options.memory_limit_in_bytes);
    service->its_worker().set_file_root(options.file_root);
    serve();
    network->start();
    if (allowed) watch_allowed();
  }
  ~kept() {
    if (generation != transport::fork_generation()) {
      // In the child of a fork none of it works, and its locks may be held by threads that do not exist there.
      static_cast<void>(network.release());
      static_cast<void>(new std::shared_ptr<cluster::task_service>(std::move(service)));
      return;
    }
    stop();
  }

  // The server's own pair must belong to its task, because others would take it for another task.
  void read_task_keys(const std::filesystem::path& folder, const cluster_keys& keys) {
    task_keys = cluster::read_task_keys(folder, role.cluster);
    if (const std::string name = role.job_name + "." + std::to_string(role.task_index);
        transport::read_keys(keys.own).public_key != task_keys.at({role.job_name, role.task_index}))
      throw invalid_argument("cluster_keys: " + keys.own.string() + " is not the pair of /job:" + role.job_name + "/task:" +
                             std::to_string(role.task_index) + ", whose public key stands in " + (folder / (name + ".public")).string());
  }
  // A peer that claims to be a task has the key of some server; it must be the key of that task.
  bool has_its_key(const transport::peer_info& info) {
    if (task_keys.empty() || !info.is_accepted || info.who.job.empty()) return true;
    const auto its = task_keys.find({info.who.job, info.who.task});
    if (its != task_keys.end() && its->second == info.key) return true;
    if (!told_of.emplace(info.who.job, info.who.task).second) return false;  // logged once, because the peer may try repeatedly
    std::string whose = "a key of no task";
    for (const auto& [task, key] : task_keys)
      if (key == info.key) whose = "the key of /job:" + task.first + "/task:" + std::to_string(task.second);
    std::fprintf(stderr, "/job:%s/task:%d is not let in: it has %s\n", info.who.job.c_str(), info.who.task, whose.c_str());
    return false;
  }

  // When a key is removed from its list, its connections end, and new ones are refused.
  void watch_allowed() {
    transport::endpoint& e = network->its_messenger().transport();
    e.at(std::chrono::steady_clock::now() + std::chrono::seconds(1), [this, &e] {
      if (auto keys = allowed->changed()) e.set_allowed(std::move(*keys));
      watch_allowed();
    });
  }

  void serve() {
    transport::messenger& m = network->its_messenger();
    m.on_request = [this](transport::request r) {
      const auto what = static_cast<cluster::method>(r.m.method);
      transport::message asked = std::move(r.m);
      r.m = {};
      const bool is_step = what == cluster::method::run_part;
      if (is_step) network->its_messenger().watch(r.from);
      service->called(r.from, what, std::move(asked), r.deadline,
                      [this, r, is_step](transport::message answer, std::exception_ptr failure) {
                        transport::messenger& its = network->its_messenger();
                        if (is_step) its.unwatch(r.from);
                        try {
                          if (!failure) return its.answer(r, std::move(answer));
                          std::rethrow_exception(failure);
                        } catch (const std::exception& e) {
                          its.fail(r, e);
                        }
                      });
    };
    m.on_note = [this](transport::peer_id peer, transport::message note) {
      try {
        const auto what = static_cast<cluster::method>(note.method);
        service->noted(peer, what, std::move(note));
      } catch (const std::exception&) {
        network->its_messenger().hang_up(peer, false);  // an invalid message
      }
    };
    network->on_lost_note = [this](std::uint64_t step, std::exception_ptr why) { service->its_worker().fail(step, std::move(why)); };
    network->admits = [this](const transport::peer_info& info) { return has_its_key(info); };
    network->on_found_peer = [this](transport::peer_id peer, const transport::peer_info& info) {
      others.came(peer, info.who.job, info.who.task);
    };
    network->on_lost_peer = [this](transport::peer_id peer, const transport::departure& why) {
      service->lost(peer);
      if (others.left(peer, why.is_orderly)) tell(ended_event);
    };
  }

  void stop() {
    if (generation != transport::fork_generation()) return;
    std::call_once(stopped, [&] {
      cluster::all_servers_here().remove(address);
      service->stop();
      network->its_messenger().close(std::chrono::steady_clock::now() + std::chrono::milliseconds(500));
      tell(stop_event);
    });
  }
  static void tell(const descriptor& event) {
    const std::uint64_t one = 1;
    static_cast<void>(!::write(event.get(), &one, sizeof one));
  }
};

LEAT_FUNCTION server::server(cluster_spec cluster, server_options options)
    : server(role_in(std::move(cluster), options.job_name, options.task_index), options) {}

LEAT_FUNCTION server::server(const cluster_role& role, server_options options)
    : kept_(std::make_shared<kept>(role_in(role.cluster, role.job_name, role.task_index), options)) {
  // Sessions in this process share ownership of the whole state, because they may outlive the server.
  cluster::all_servers_here().add(kept_->address, std::shared_ptr<cluster::task_service>(kept_, kept_->service.get()));
}

LEAT_FUNCTION server server::local(const server_options& options) {
  return server(cluster_role{cluster_spec{{"local", {"127.0.0.1:0"}}}, "local", 0}, options);
}

LEAT_FUNCTION server::~server() {
  if (kept_ != nullptr) kept_->stop();
}

LEAT_FUNCTION std::string server::target() const { return "tcp://" + kept_->address; }
LEAT_FUNCTION std::string server::device() const { return kept_->role.device(); }
LEAT_FUNCTION const cluster_spec& server::cluster() const { return kept_->role.cluster; }
LEAT_FUNCTION const std::string& server::job_name() const { return kept_->role.job_name; }
LEAT_FUNCTION int server::task_index() const { return kept_->role.task_index; }
LEAT_FUNCTION void server::stop() { kept_->stop(); }

LEAT_FUNCTION void server::join(const server_join_options& options) {
  transport::check_generation(kept_->generation);
  if (options.until_workers_done && kept_->others.is_for_nobody())
    throw invalid_argument("join until the workers are done: the cluster has no job but " + kept_->role.job_name);
  struct handlers {
    bool set = false;
    struct sigaction term{}, interrupt{};
    ~handlers() {
      if (!set) return;
      ::sigaction(SIGTERM, &term, nullptr);
      ::sigaction(SIGINT, &interrupt, nullptr);
    }
  } before;
  pollfd waits[3] = {{kept_->stop_event.get(), POLLIN, 0}, {-1, POLLIN, 0}, {-1, POLLIN, 0}};
  if (options.until_workers_done) waits[2].fd = kept_->ended_event.get();
  if (options.until_signal) {
    auto& teller = cluster::teller_of_signals();
    if (teller.process != ::getpid()) {
      teller.event = ::eventfd(0, EFD_CLOEXEC);
      teller.process = ::getpid();
    }
    waits[1].fd = teller.event;
    struct sigaction on{};
    on.sa_handler = cluster::tell_of_signal;
    ::sigaction(SIGTERM, &on, &before.term);
    ::sigaction(SIGINT, &on, &before.interrupt);
    before.set = true;
  }
  for (;;) {
    // A redundant connection that is closed also says goodbye, so the state must last for a moment.
    const bool seem_done = options.until_workers_done && kept_->others.have_all_ended();
    const int ready = ::poll(waits, 3, seem_done ? 300 : -1);
    if (ready < 0) continue;  // EINTR
    if (ready == 0 && kept_->others.have_all_ended()) return kept_->stop();
    if (waits[1].revents != 0) return kept_->stop();
    if (waits[0].revents != 0) return;
    std::uint64_t ignored = 0;
    if (waits[2].revents != 0) static_cast<void>(!::read(waits[2].fd, &ignored, sizeof ignored));
  }
}

LEAT_FUNCTION void set_cluster_keys(std::optional<cluster_keys> keys, bool insecure_network) {
  auto& settings = cluster::settings_of_clients();
  const std::lock_guard lock(settings.guard);
  settings.keys = std::move(keys);
  settings.insecure_network = insecure_network;
}

LEAT_FUNCTION void make_cluster_keys(const std::filesystem::path& path) { transport::write_keys(path, transport::generate_keys()); }

}  // namespace leat
