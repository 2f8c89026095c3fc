// Compiled workers: item 20.1 with typed expressions. Each worker's step is compiled whole; only gradients and new values travel.
//
//    worker 0 (chief): x, y ---> cost ---> dW, db ----+                +---- W, b, global_step
//                                                      +-- gradients --+     at ps 0, which
//    worker 1:         x, y ---> cost ---> dW, db ----+                |     applies them
//        ^                                                            |
//        +------------------------- new values, in the same answer ---+
//
// A process is one role: --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... [--logdir=...]; async.sh starts three.

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

#include <cmath>

using namespace leat;
using namespace leat::examples;

namespace {

constexpr int passes = 20;
constexpr int samples = 100;

struct outcome {
  std::int64_t steps = 0;
  float w = 0, b = 0;
  double cost = 0;
};

// One worker: 20 passes over the 100 samples, one at a time. It ends when all workers have; the chief then saves.
outcome work(const server& here, const cluster_spec& c, const std::string& logdir) {
  auto x = leat::placeholder<"x", float>();
  auto y = leat::placeholder<"y", float>();
  auto w = leat::variable<"W", float>(zeros);
  auto b = leat::variable<"b", float>(zeros);
  auto cost = square(x * w + b - y);
  auto steps = leat::global_step();
  auto train = gradient_descent(0.01f).minimize(cost, steps);

  const bool is_chief = here.task_index() == 0;
  worker_session s({.target = here.target(), .cluster = c}, cost, train);
  if (is_chief) {
    s.initialize();
  } else if (const auto missing = s.uninitialized(); !missing.empty()) {
    std::string names;
    for (const std::string& name : missing) names += (names.empty() ? "" : ", ") + name;
    std::printf("Waiting for the chief to make the model ready. Variables not initialized: %s\n", names.c_str());
    std::fflush(stdout);
  }
  s.wait_until_initialized(std::chrono::minutes(1));

  const auto data = [](int i) { return std::pair(-1 + 2 * i / 99.0, 2 * (-1 + 2 * i / 99.0) + 0.3 * std::sin(7.0 * i)); };
  std::int64_t last = 0;
  for (int pass = 0; pass < passes; ++pass)
    for (int i = 0; i < samples; ++i) {
      const auto [at, value] = data(i);
      s.run(fetch(train), x = static_cast<float>(at), y = static_cast<float>(value));
      const std::int64_t step = s.value(steps);
      if (step <= last) throw surprise("the counter fell from " + std::to_string(last) + " to " + std::to_string(step));
      last = step;
    }
  const std::int64_t all = std::int64_t{passes} * samples * c.num_tasks("worker");
  wait_until("all workers have ended", [&] { return s.value(steps) >= all; });
  outcome result{.steps = s.value(steps), .w = s.value(w), .b = s.value(b)};
  for (int i = 0; i < samples; ++i) {
    const auto [at, value] = data(i);
    result.cost += std::pow(static_cast<double>(result.w) * at + static_cast<double>(result.b) - value, 2) / samples;
  }
  if (is_chief && !logdir.empty()) {
    saver save(s.owner());  // the servers' half, a graph as those of other workers
    save(s.servers(), logdir + "/model.ckpt", result.steps);
  }
  return result;
}

int role(int count, char** arguments) {
  const cluster_flags flags(count, arguments);
  server here(flags.role());
  introduce(here);
  if (flags.job_name == "ps") {
    here.join();
    return 0;
  }
  const outcome o = work(here, flags.cluster(), flags.logdir);
  std::printf("%s: steps %lld, W %.6f, b %.6f, cost %.6f\n", here.device().c_str(), static_cast<long long>(o.steps),
              static_cast<double>(o.w), static_cast<double>(o.b), o.cost);
  return 0;
}

void in_this_process() {
  item("20.7", "a parameter server and two compiled workers, asynchronous");
  outcome results[2];
  run_in_this_process(1, 2, [&](const server& here, const cluster_spec& c) { results[here.task_index()] = work(here, c, {}); });
  for (const outcome& o : results) {
    expect("steps of all workers", o.steps, std::int64_t{passes} * samples * 2);
    expect("W", o.w, 1.996, 0.05);
    expect("b", o.b, 0.0065, 0.05);
    expect_true("cost " + std::to_string(o.cost), o.cost < 0.047);
  }
  expect("both read one W", results[0].w, static_cast<double>(results[1].w));
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
  return run_sections(count, arguments, "compiled workers", {{"compiled", "two compiled workers at one server", in_this_process}});
}
