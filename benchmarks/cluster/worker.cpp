// Steps of compiled workers: linear regression with ten weights, whose variables live at a parameter server in another process, through
// shared memory and over TCP, beside a bare program that pushes and pulls as many bytes. `bench_worker [--rounds N] [--only PART-OF-NAME]`

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include "processes.hpp"
#include "rivals.hpp"

#include <map>
#include <string>
#include <vector>

namespace {

using namespace leat;

// Two addresses that nobody uses now: the parameter server's and the worker's.
std::string free_address() {
  const server here = server::local();
  return here.target().substr(6);
}

server_options role(const char* job, bool memory) {
  server_options o;
  o.job_name = job;
  o.use_shared_memory = memory;
  return o;
}

bench::contender ours(bool memory, int staleness) {
  bench::contender c;
  c.name = std::string("leat, compiled worker, ") + (memory ? "shared memory" : "TCP") +
           (staleness > 0 ? ", staleness " + std::to_string(staleness) : "");
  c.rival = "bare ZeroMQ";
  c.serve = [=](std::size_t, auto say) {
    const std::string ps = free_address(), worker = free_address();
    const server here(cluster_spec{{"ps", {ps}}, {"worker", {worker}}}, role("ps", memory));
    say(ps + " " + worker);
    ::pause();
  };
  c.ask = [=](std::size_t, const std::string& addresses, int rounds) {
    const auto space = addresses.find(' ');
    const cluster_spec spec{{"ps", {addresses.substr(0, space)}}, {"worker", {addresses.substr(space + 1)}}};
    const server here(spec, role("worker", memory));
    auto x = placeholder<"x", float, 32, 10>();
    auto y = placeholder<"y", float, 32>();
    auto w = variable<"w", float, 10, 1>(zeros);
    auto b = variable<"b", float>(zeros);
    auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
    auto train = gradient_descent(0.01f).minimize(loss);
    worker_options o;
    o.target = here.target();
    o.cluster = spec;
    o.staleness = staleness;
    worker_session s(o, loss, train);
    s.initialize();
    const std::vector<float> xs(320, 0.5f), ys(32, 1);
    return bench::time_rounds(rounds, [&] { s.run(fetch(loss, train), x = xs, y = ys); });
  };
  return c;
}

}  // namespace

int main(int count, char** arguments) {
  std::string only;
  int repetitions = 5;
  for (int i = 1; i + 1 < count; i += 2) {
    if (std::string(arguments[i]) == "--rounds") repetitions = std::atoi(arguments[i + 1]);
    if (std::string(arguments[i]) == "--only") only = arguments[i + 1];
  }
  const std::vector<bench::contender> contenders = {bench::bare_zeromq(), ours(false, 0), ours(true, 0), ours(true, 1),
                                                    bench::bare_shared(false)};
  std::map<std::string, std::vector<double>> medians;
  // In turns, so that what else runs on the machine meets all alike.
  for (int i = 0; i < repetitions; ++i)
    for (const bench::contender& c : contenders)
      if (c.name.find(only) != std::string::npos)
        if (const auto times = bench::run_once(c, 44, 10000); !times.empty()) medians[c.name].push_back(bench::quantile(times, 0.5));
  std::printf("| a step of linear regression | median µs | steps a second | of bare ZeroMQ's |\n|---|--:|--:|--:|\n");
  for (const bench::contender& c : contenders) {
    if (medians[c.name].empty()) continue;
    const double median = bench::quantile(medians[c.name], 0.5), bare = bench::quantile(medians["bare ZeroMQ"], 0.5);
    std::printf("| %s | %.1f | %.0f | %.2f |\n", c.name.c_str(), median, 1e6 / median, bare / median);
  }
}
