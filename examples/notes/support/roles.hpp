#pragma once
// Programs of a cluster: one source is every role. A process that is given `--job_name` is that task of the cluster.

#include <leat/cluster.hpp>

#include <chrono>
#include <cstdio>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

namespace leat::examples {

/// Whether the arguments say which task a process is.
inline bool has_role(int count, char** arguments) {
  for (int k = 1; k < count; ++k)
    if (std::string_view(arguments[k]).starts_with("--job_name")) return true;
  return false;
}

/// Says who is there, and who this is.
inline void introduce(const server& here) {
  for (const std::string& job : here.cluster().jobs()) {
    std::printf("job %s:", job.c_str());
    for (const auto& [index, address] : here.cluster().tasks(job)) std::printf(" %d -> %s", index, address.c_str());
    std::printf("\n");
  }
  std::printf("started server with target %s\n", here.target().c_str());
  std::fflush(stdout);
}

/// Runs the role's part of a program, printing what it throws: 0 if all is well.
template <class Part>
int run_role(Part part) {
  try {
    return part();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}

/// The text after `--name=` among a role's other arguments, or what it is without.
inline std::string argument(const cluster_flags& flags, const std::string& name, const std::string& without = {}) {
  for (const std::string& f : flags.rest)
    if (f.starts_with("--" + name + "=")) return f.substr(name.size() + 3);
  return without;
}

/// Waits until something holds, for a minute.
template <class Holds>
void wait_until(const char* what, Holds holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error(std::string("for a minute it does not hold that ") + what);
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
}

/// All tasks of a cluster in this process: parameter servers, and workers, each `work(server, cluster)` on a thread of its own, the chief's
/// the last to start. Throws what the first of the workers has thrown.
template <class Work>
void run_in_this_process(int parameter_servers, int workers, Work work) {
  const auto free_addresses = [](int count) {
    std::vector<std::string> addresses;
    for (int k = 0; k < count; ++k) addresses.push_back(server::local().target().substr(6));
    return addresses;
  };
  const cluster_spec c{{"ps", free_addresses(parameter_servers)}, {"worker", free_addresses(workers)}};
  std::vector<std::unique_ptr<server>> servers;
  for (int k = 0; k < parameter_servers; ++k)
    servers.push_back(std::make_unique<server>(c, server_options{.job_name = "ps", .task_index = k}));
  std::vector<std::exception_ptr> failed(static_cast<std::size_t>(workers));
  std::vector<std::thread> threads;
  for (int k = workers - 1; k >= 0; --k)
    threads.emplace_back([&, k] {
      try {
        const server here(c, {.job_name = "worker", .task_index = k});
        work(here, c);
      } catch (...) {
        failed[static_cast<std::size_t>(k)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const auto& f : failed)
    if (f) std::rethrow_exception(f);
}

}  // namespace leat::examples
