#pragma once
// Measurements of a team: parameter servers and workers, each a process of its own, forked from one without threads. All workers step side
// by side for some time; counted are the steps of all in it, and the processor time of every process.

#include <leat/named/scopes/cluster_spec.hpp>

#include "rivals.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace bench {

inline double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Addresses of this host at which nobody listens, all different.
inline std::vector<std::string> free_addresses(int count) {
  std::vector<int> sockets;
  std::vector<std::string> all;
  for (int k = 0; k < count; ++k) {
    sockets.push_back(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in a{};
    a.sin_family = AF_INET;
    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    auto* const its = reinterpret_cast<sockaddr*>(&a);
    socklen_t size = sizeof a;
    if (::bind(sockets.back(), its, size) != 0 || ::getsockname(sockets.back(), its, &size) != 0) std::abort();
    all.push_back("127.0.0.1:" + std::to_string(ntohs(a.sin_port)));
  }
  for (const int s : sockets) ::close(s);
  return all;
}

/// What a server and a worker of a bare program share: memory, and two ends of a socket, the server's first.
struct line {
  float* memory = nullptr;
  int bell[2]{-1, -1};
};

struct shape_of_team {
  int servers = 0, workers = 0;
  std::vector<std::string> ps, worker;
  std::vector<bench::line> lines{};
  const bench::line& line(int server, int its_worker) const { return lines[static_cast<std::size_t>(server * workers + its_worker)]; }
  leat::cluster_spec spec() const { return {{"ps", ps}, {"worker", worker}}; }
};

/// Sums of all workers' steps, in nanoseconds.
struct result {
  double steps = 0;
  double seconds = 0;  // of the longest worker
  double total = 0, reading = 0, computing = 0, network = 0, waiting = 0;
  double worker_processor = 0, server_processor = 0;

  double steps_a_second() const { return seconds > 0 ? steps / seconds : 0; }
  /// Microseconds of one step.
  double each(double sum) const { return steps > 0 ? sum / steps / 1e3 : 0; }
  double step() const { return each(total); }
};

/// Called by a worker that is ready: begins to measure, steps, and tells what it has measured.
using ready = std::function<void(std::function<void()> begin, std::function<void()> step, std::function<void(result&)> told)>;

struct team {
  std::string name;
  std::string rival;  ///< whose figure it is compared with; empty for a rival itself
  /// Serves until it is killed.
  std::function<void(const shape_of_team&, int server)> serve;
  std::function<void(const shape_of_team&, int worker, const ready& when_ready)> work;
  std::function<std::size_t(int server, int servers)> line_bytes;  // none: there are no lines
};

/// Nanoseconds of processor time of a process.
inline double processor_time(pid_t process) {
  clockid_t its{};
  timespec t{};
  if (::clock_getcpuclockid(process, &its) != 0 || ::clock_gettime(its, &t) != 0) return 0;
  return 1e9 * static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec);
}

/// The sums; without steps if a worker failed, which has said why.
inline result run_once(const team& t, int servers, int workers, double seconds) {
  shape_of_team s;
  s.servers = servers, s.workers = workers;
  const auto addresses = free_addresses(servers + workers);
  s.ps.assign(addresses.begin(), addresses.begin() + servers);
  s.worker.assign(addresses.begin() + servers, addresses.end());
  for (int p = 0; p < servers && t.line_bytes; ++p)
    for (int w = 0; w < workers; ++w) {
      line l;
      l.memory = static_cast<float*>(
          ::mmap(nullptr, t.line_bytes(p, servers), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_POPULATE, -1, 0));
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, l.bell) != 0) return {};
      s.lines.push_back(l);
    }
  int told[2], go[2];
  if (::pipe(told) != 0 || ::pipe(go) != 0) return {};
  std::vector<pid_t> ps, work;
  for (int k = 0; k < servers; ++k) {
    ps.push_back(::fork());
    if (ps.back() != 0) continue;
    ::close(told[1]);  // whose end is the workers'
    t.serve(s, k);
    ::_exit(0);
  }
  for (int k = 0; k < workers; ++k) {
    work.push_back(::fork());
    if (work.back() != 0) continue;
    ::alarm(120);
    try {
      t.work(s, k, [&](const auto& begin, const auto& step, const auto& tell) {
        result r;
        char bell = 0;
        static_cast<void>(!::write(told[1], &r, sizeof r));
        if (::read(go[0], &bell, 1) != 1) return;
        begin();
        const double from = now();
        double last = from;
        for (; last < from + seconds; last = now()) step(), ++r.steps;
        r.seconds = last - from, r.total = 1e9 * r.seconds;
        tell(r);
        static_cast<void>(!::write(told[1], &r, sizeof r));
        // Others may still need what this one serves.
        static_cast<void>(!::read(go[0], &bell, 1));
      });
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s, worker %d: %s\n", t.name.c_str(), k, e.what());
    }
    ::_exit(0);
  }
  ::close(told[1]), ::close(go[0]);
  const auto hear = [&](result& all) {
    int heard = 0;
    for (result r; heard < workers && ::read(told[0], &r, sizeof r) == sizeof r; ++heard) {
      all.steps += r.steps, all.total += r.total, all.seconds = std::max(all.seconds, r.seconds);
      all.reading += r.reading, all.computing += r.computing, all.network += r.network, all.waiting += r.waiting;
    }
    return heard == workers;
  };
  const auto processor = [&](const std::vector<pid_t>& all) {
    double sum = 0;
    for (const pid_t p : all) sum += processor_time(p);
    return sum;
  };
  const std::string bells(static_cast<std::size_t>(workers), 'x');
  result all;
  bool is_well = hear(all);
  if (is_well) {
    all = {};
    const double workers_before = processor(work), servers_before = processor(ps);
    static_cast<void>(!::write(go[1], bells.data(), bells.size()));
    is_well = hear(all);
    all.worker_processor = processor(work) - workers_before, all.server_processor = processor(ps) - servers_before;
    static_cast<void>(!::write(go[1], bells.data(), bells.size()));
  }
  ::close(go[1]);
  for (const pid_t w : work) ::waitpid(w, nullptr, 0);
  for (const pid_t p : ps) ::kill(p, SIGKILL), ::waitpid(p, nullptr, 0);
  ::close(told[0]);
  for (std::size_t k = 0; k < s.lines.size(); ++k) {
    ::munmap(s.lines[k].memory, t.line_bytes(static_cast<int>(k) / workers, servers));
    ::close(s.lines[k].bell[0]), ::close(s.lines[k].bell[1]);
  }
  return is_well ? all : result{};
}

}  // namespace bench
