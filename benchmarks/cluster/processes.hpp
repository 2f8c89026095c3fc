#pragma once
// Measurements in two processes of their own: each contender is a server and a client, forked from a process without threads.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <vector>

namespace bench {

/// Values of a server, which applies what is pushed: values -= 0.5 gradient.
inline void apply(float* values, const float* gradient, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] -= 0.5f * gradient[i];
}

/// Microseconds of a round, each of `rounds`, after a tenth of them as warming.
template <class F>
std::vector<double> time_rounds(int rounds, F round) {
  for (int i = 0; i < std::max(2, rounds / 10); ++i) round();
  std::vector<double> all;
  all.reserve(static_cast<std::size_t>(rounds));
  for (int i = 0; i < rounds; ++i) {
    const auto before = std::chrono::steady_clock::now();
    round();
    all.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - before).count());
  }
  return all;
}

struct contender {
  std::string name;
  std::string rival;  ///< whose figure it is compared with; empty for a rival itself
  /// Tells its address to `say`, then serves until it is killed.
  std::function<void(std::size_t bytes, std::function<void(const std::string&)> say)> serve;
  /// Microseconds of each round.
  std::function<std::vector<double>(std::size_t bytes, const std::string& address, int rounds)> ask;
};

/// One run: server and client as processes; the client's times. Empty if it failed.
inline std::vector<double> run_once(const contender& c, std::size_t bytes, int rounds) {
  int address[2], result[2];
  if (::pipe(address) != 0 || ::pipe(result) != 0) return {};
  const pid_t server = ::fork();
  if (server == 0) {
    ::close(result[1]);  // whose end is the client's
    c.serve(bytes, [&](const std::string& text) { static_cast<void>(!::write(address[1], (text + "\n").data(), text.size() + 1)); });
    ::_exit(0);
  }
  const pid_t client = ::fork();
  if (client == 0) {
    ::alarm(120);
    char text[200]{};
    static_cast<void>(!::read(address[0], text, sizeof text - 1));
    std::string where(text);
    where.resize(std::min(where.find('\n'), where.size()));
    try {
      const std::vector<double> times = c.ask(bytes, where, rounds);
      static_cast<void>(!::write(result[1], times.data(), times.size() * sizeof(double)));
    } catch (const std::exception& e) {
      std::fprintf(stderr, "%s: %s\n", c.name.c_str(), e.what());
    }
    ::_exit(0);
  }
  ::close(result[1]);
  std::vector<double> times;
  double one = 0;
  while (::read(result[0], &one, sizeof one) == sizeof one) times.push_back(one);
  ::waitpid(client, nullptr, 0);
  ::kill(server, SIGKILL);
  ::waitpid(server, nullptr, 0);
  ::close(result[0]), ::close(address[0]), ::close(address[1]);
  return times;
}

inline double quantile(std::vector<double> all, double q) {
  if (all.empty()) return 0;
  std::sort(all.begin(), all.end());
  return all[static_cast<std::size_t>(q * static_cast<double>(all.size() - 1))];
}

}  // namespace bench
