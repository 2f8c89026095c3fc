// Between-graph replication: each worker is a client of its own, with a graph of its own, whose variables are the same ones at the server.
//
//    worker 0 (chief): graph, session ---- W, b, global_step ----+
//                                                                 +---- ps 0
//    worker 1:         graph, session ---- W, b, global_step ----+
//
// A process is one role: --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... [--logdir=...] [--steps=N]; async.sh
// starts three, and kill.sh ends some of them.

#include <leat/cluster.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

#include <chrono>
#include <cmath>
#include <thread>

using namespace leat;
using namespace leat::examples;

namespace {

constexpr int passes = 20;
constexpr int samples = 100;

struct outcome {
  std::int64_t steps = 0, least_step = 0;
  float w = 0, b = 0;
  double cost = 0;
};

// One worker: 20 passes over the 100 samples, one at a time. It ends when all workers have. With `until`, it goes on until the counter is there.
outcome work(const server& here, const cluster_spec& c, const std::string& logdir, std::int64_t until = 0) {
  graph g;
  const auto scope = g.as_default();
  output x, y, w, b, cost, steps;
  graph_operation train;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = c}));
    x = placeholder(dtype::float32, {}, "x");
    y = placeholder(dtype::float32, {}, "y");
    w = variable(0.0f, "W");
    b = variable(0.0f, "b");
    cost = square(subtract(add(multiply(x, w), b), y));
    steps = get_or_create_global_step();
    train = gradient_descent(0.01f).minimize(cost, {.global_step = steps});
  }
  const bool is_chief = here.task_index() == 0;
  supervisor sv({.is_chief = is_chief,
                 .init = global_variables_initializer(),
                 .logdir = is_chief ? logdir : std::string{},
                 .summary = {},
                 .global_step = steps,
                 .save_model_secs = 1,
                 .stop_on_signals = false,
                 .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}});
  auto s = sv.managed_session();
  outcome result;
  const auto data = [](int i) { return std::pair(-1 + 2 * i / 99.0, 2 * (-1 + 2 * i / 99.0) + 0.3 * std::sin(7.0 * i)); };
  for (int pass = 0; (until > 0 ? result.least_step < until : pass < passes) && !sv.should_stop(); ++pass)
    for (int i = 0; i < samples; ++i) {
      const auto [at, value] = data(i);
      s.run(train, {{x, static_cast<float>(at)}, {y, static_cast<float>(value)}});
      const auto step = s.run<std::int64_t>(steps);
      if (until > 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      if (step <= result.least_step && sv.recoveries() == 0) throw surprise("the counter fell from " + std::to_string(result.least_step));
      result.least_step = step;
    }
  const std::int64_t all = until > 0 ? until : std::int64_t{passes} * samples * c.num_tasks("worker");
  while ((result.steps = s.run<std::int64_t>(steps)) < all) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  std::tie(result.w, result.b) = s.run<float, float>({w, b});
  for (int i = 0; i < samples; ++i) {
    const auto [at, value] = data(i);
    result.cost += std::pow(static_cast<double>(result.w) * at + static_cast<double>(result.b) - value, 2) / samples;
  }
  sv.stop();
  return result;
}

void print(const char* who, const outcome& o) {
  std::printf("%s: steps %lld, W %.6f, b %.6f, cost %.6f\n", who, static_cast<long long>(o.steps), static_cast<double>(o.w),
              static_cast<double>(o.b), o.cost);
  std::fflush(stdout);
}

int role(int count, char** arguments) {
  const cluster_flags flags(count, arguments);
  server here(flags.role());
  introduce(here);
  if (flags.job_name == "ps") {
    here.join();
    return 0;
  }
  print(here.device().c_str(), work(here, flags.cluster(), flags.logdir, std::stoll(argument(flags, "steps", "0"))));
  return 0;
}

void check(const outcome& o) {
  expect("steps of all workers", o.steps, std::int64_t{passes} * samples * 2);
  expect("W", o.w, 1.996, 0.05);
  expect("b", o.b, 0.0065, 0.05);
  expect_true("cost " + std::to_string(o.cost), o.cost < 0.047);
}

void in_this_process() {
  item("20.1", "a parameter server and two workers, asynchronous");
  outcome results[2];
  run_in_this_process(1, 2, [&](const server& here, const cluster_spec& c) { results[here.task_index()] = work(here, c, {}); });
  for (const outcome& o : results) check(o);
  expect("both read one W", results[0].w, static_cast<double>(results[1].w));
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
  return run_sections(count, arguments, "between-graph replication", {{"async", "two workers at one server", in_this_process}});
}
