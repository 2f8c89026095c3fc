#pragma once
// Implementation of cluster_status.hpp.

#include <leat/cluster/cluster_role.hpp>
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/impl/server.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>

namespace leat::cluster {

/// Calls `f` for 0, 1, ..., on at most 32 threads in parallel, so that lookups of names and waits for silent tasks overlap.
inline void side_by_side(std::size_t count, const std::function<void(std::size_t)>& f) {
  std::atomic<std::size_t> next{0};
  std::vector<std::jthread> threads;
  for (std::size_t k = 0; k < std::min<std::size_t>(count, 32); ++k)
    threads.emplace_back([&] {
      for (std::size_t n = next++; n < count; n = next++) f(n);
    });
}

inline steady_time deadline_of_question(std::int64_t timeout_in_ms) {
  if (timeout_in_ms <= 0) throw invalid_argument("a cluster is asked with " + std::to_string(timeout_in_ms) + " ms to answer in");
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(std::min<std::int64_t>(timeout_in_ms, 1'000'000'000));
}

/// Waits until a task has introduced itself; checks every 50 ms whether waiting is still useful. Errors: those of messenger::await; unless
/// `waits` is set, already before the deadline if no process listens there or `is_over`.
inline void await_task(transport::messenger& asking, transport::peer_id peer, const std::string& address, steady_time deadline, bool waits,
                       const std::function<bool()>& is_over) {
  if (waits) return asking.await(peer, deadline);
  for (;;) {
    try {
      return asking.await(peer, std::min(deadline, std::chrono::steady_clock::now() + std::chrono::milliseconds(50)));
    } catch (const unavailable&) {
      const auto now = std::chrono::steady_clock::now();
      if (now >= deadline || !asking.info(peer) || is_over()) throw;
      const std::string met = transport::probe(transport::parse_address(address), now + std::chrono::milliseconds(100));
      if (met != "accepted" && met != "no answer from the host") throw;
    }
  }
}

/// Collects what tasks that are up know about the ends of others.
class known_endings {
 public:
  /// Takes an answer to `method::count`, whose second part lists tasks that have ended. An answer without that part changes nothing.
  void hear(const std::string& from, const transport::message& answer) {
    if (answer.parts.size() < 2) return;
    const std::size_t count = answer.parts[1].size() / 8;
    const auto words = words_of(answer, 1, count);
    const std::lock_guard lock(guard_);
    for (std::size_t k = 0; k + 1 < count; k += 2) {
      ending& its = by_task_[words[k]];
      if (its.known_by.empty() || words[k + 1] < its.milliseconds) its = {from, words[k + 1]};
    }
  }
  bool has(std::size_t task) const {
    const std::lock_guard lock(guard_);
    return by_task_.contains(task);
  }
  /// "it ended in order 3 s ago, as /job:ps/task:0 knows"
  std::string text(std::size_t task) const {
    const std::lock_guard lock(guard_);
    const ending& its = by_task_.at(task);
    return "it ended in order " + std::to_string(its.milliseconds / 1000) + " s ago, as " + its.known_by + " knows";
  }

 private:
  struct ending {
    std::string known_by;
    std::uint64_t milliseconds = 0;
  };
  mutable std::mutex guard_;
  std::map<std::uint64_t, ending> by_task_;
};

}  // namespace leat::cluster

namespace leat {

LEAT_FUNCTION std::vector<task_status> cluster_status(const cluster_spec& cluster, const cluster_status_options& options) {
  if (!cluster) throw invalid_argument("the cluster has no jobs");
  const auto deadline = cluster::deadline_of_question(options.timeout_in_ms);
  auto made = cluster::options_of_clients(cluster);
  // Tasks that were started with another specification refuse this one. A single server may have chosen its port after its specification
  // was made, so its specification is not compared.
  if (cluster.size() > 1) made.self.cluster = cluster::fingerprint_of(cluster);
  transport::messenger asking(std::move(made));
  asking.start();

  std::vector<task_status> found;
  std::vector<transport::expectation> wanted;
  for (const std::string& job : cluster.jobs())
    for (const auto& [index, address] : cluster.tasks(job)) {
      found.push_back({.device = "/job:" + job + "/task:" + std::to_string(index), .address = address});
      wanted.push_back({job, index, 0});
    }
  std::vector<transport::peer_id> peers(found.size());
  cluster::known_endings endings;
  const auto tell = [&](std::size_t k, const auto& attempt) {
    try {
      attempt();
    } catch (const std::exception& e) {
      found[k].problem = e.what();
    }
  };
  cluster::side_by_side(found.size(),
                        [&](std::size_t k) { tell(k, [&] { peers[k] = asking.dial(found[k].address, wanted[k], deadline); }); });
  cluster::side_by_side(found.size(), [&](std::size_t k) {
    if (!found[k].problem.empty()) return;
    tell(k, [&] {
      cluster::await_task(asking, peers[k], found[k].address, deadline, options.until_all_are_up, [&] { return endings.has(k); });
      const auto info = asking.info(peers[k]);
      if (!info) throw unavailable(found[k].device + " at " + found[k].address + ": answered, and went away");
      found[k].is_up = true;
      found[k].process = info->who.process;
      found[k].incarnation = info->who.incarnation;
    });
    if (!found[k].is_up) return;
    try {
      const auto answer = asking.call(peers[k], static_cast<std::uint16_t>(cluster::method::count), {}, {.deadline = deadline});
      const auto words = cluster::words_of(answer, 0, 8);
      found[k].counted = {words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7]};
      endings.hear(found[k].device, answer);
    } catch (const std::exception&) {
      // The task is up nevertheless.
    }
  });
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (found[k].is_up || !endings.has(k)) continue;
    found[k].has_ended = true;
    found[k].problem += "; " + endings.text(k);
  }
  return found;
}

LEAT_FUNCTION cluster_spec cluster_at(std::string_view target, const cluster_status_options& options) {
  constexpr std::string_view scheme = "tcp://";
  if (!target.starts_with(scheme)) throw invalid_argument("'" + std::string(target) + "' is no target: tcp://host:port is expected");
  const std::string address(target.substr(scheme.size()));
  static_cast<void>(host_and_port(address, "the target"));
  const auto deadline = cluster::deadline_of_question(options.timeout_in_ms);
  auto made = cluster::options_of_clients();
  cluster::require_key_of(made.endpoint.keys, address);
  transport::messenger asking(std::move(made));
  asking.start();
  const transport::peer_id peer = asking.dial(address, {}, deadline);
  cluster::await_task(asking, peer, address, deadline, options.until_all_are_up, [] { return false; });
  const auto answer = asking.call(peer, static_cast<std::uint16_t>(cluster::method::describe_cluster), {}, {.deadline = deadline});
  return cluster_spec_from_json(cluster::part_at(answer, 0).text());
}

}  // namespace leat
