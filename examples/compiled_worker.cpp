// Compiled workers: each worker's step is compiled whole, as that of a session in the process; its variables live at parameter servers.
//
//    worker 0 (chief): x, y ---> loss ---> dw, db ----+                +----> w        at ps 0
//                                                      +-- gradients --+----> b, step  at ps 1
//    worker 1:         x, y ---> loss ---> dw, db ----+                |
//        ^                                                            |
//        +------------------------- new values, in the same answer ---+
//
// Without arguments the program is all four tasks, in one process. With --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=...
// it is one of them; compiled_worker.sh starts the four as processes.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include <CLI/CLI.hpp>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

using namespace leat;

namespace {

constexpr std::size_t batch = 32;

struct training {
  int steps = 500;  // of each worker; where they are synchronous, each has data for 100 more than the one before it
  int staleness = 0;
  bool synchronous = false;
  std::int64_t timeout_in_ms = 600'000;
  int workers = 2;
  int steps_of(int worker) const { return steps + (synchronous ? 100 * worker : 0); }
  // How often the variables are updated.
  int updates() const { return synchronous ? steps_of(workers - 1) : workers * steps; }
};

struct outcome {
  std::int64_t steps = 0;
  float first = 0, second = 0, b = 0;
};

// One worker: mini-batches of y = 2 x0 - 3 x1 + 0.5, with noise, each worker its own.
outcome work(const server& here, const cluster_spec& c, const training& how) {
  // [listing compiled_worker]
  auto x = placeholder<"x", float, "batch", 2>();
  auto y = placeholder<"y", float, "batch">();
  auto w = variable<"w", float, 2, 1>(zeros);
  auto b = variable<"b", float>(zeros);
  auto step = global_step();
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  auto train = momentum(0.02f, 0.5f).minimize(loss, step);

  worker_session s({.target = here.target(),
                    .cluster = c,
                    .staleness = how.staleness,
                    .replicas = how.synchronous ? how.workers : 0,
                    .replica = here.task_index(),
                    .operation_timeout_in_ms = how.timeout_in_ms},
                   loss, train);
  if (here.task_index() == 0) s.initialize();
  s.wait_until_initialized(std::chrono::seconds(30));
  // [end]

  std::mt19937 random(static_cast<unsigned>(here.task_index()));
  std::normal_distribution<float> normal;
  std::vector<float> xs(2 * batch), ys(batch);
  int failures = 0;
  for (int k = 0; k < how.steps_of(here.task_index()); ++k) {
    for (std::size_t i = 0; i < batch; ++i) {
      xs[2 * i] = normal(random);
      xs[2 * i + 1] = normal(random);
      ys[i] = 2 * xs[2 * i] - 3 * xs[2 * i + 1] + 0.5f + 0.01f * normal(random);
    }
    try {
      s.run(fetch(train), x = xs, y = ys);
    } catch (const deadline_exceeded& e) {  // a synchronous worker is missing: the step is tried again
      if (!how.synchronous || ++failures == 20) throw;
      std::printf("%s: %s\n", here.device().c_str(), e.what());
      std::fflush(stdout);
      --k;
    }
    if (k == 100) {
      std::printf("%s trains\n", here.device().c_str());
      std::fflush(stdout);
    }
  }
  s.finish();
  s.leave();  // synchronous updates do not wait for this worker any more
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (s.value(step) < how.updates()) {
    if (std::chrono::steady_clock::now() > end) throw std::runtime_error("the other workers have not finished");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  const auto weights = s.value(w);
  return {s.value(step), weights(0, 0), weights(1, 0), s.value(b)};
}

void print(const std::string& who, const outcome& o) {
  std::printf("%s: steps %lld, w %.4f %.4f, b %.4f\n", who.c_str(), static_cast<long long>(o.steps), static_cast<double>(o.first),
              static_cast<double>(o.second), static_cast<double>(o.b));
  std::fflush(stdout);
  if (!(std::fabs(o.first - 2) < 0.02f && std::fabs(o.second + 3) < 0.02f && std::fabs(o.b - 0.5f) < 0.02f))
    throw std::runtime_error("these are not the weights that made the data");
}

int one_task(int count, char** arguments, training how) {
  const cluster_flags flags(count, arguments);
  server here(flags.role());
  std::printf("started server with target %s\n", here.target().c_str());
  std::fflush(stdout);
  if (flags.job_name == "ps") {
    here.join();
  } else {
    how.workers = static_cast<int>(flags.cluster().num_tasks("worker"));
    print(here.device(), work(here, flags.cluster(), how));
  }
  return 0;
}

void all_tasks(const training& how) {
  const auto free_address = [] {
    const server somewhere = server::local();
    return somewhere.target().substr(6);
  };
  const cluster_spec c{{"ps", {free_address(), free_address()}}, {"worker", {free_address(), free_address()}}};
  const server first(c, {.job_name = "ps", .task_index = 0}), second(c, {.job_name = "ps", .task_index = 1});
  std::exception_ptr failed[2];
  std::thread workers[2];
  for (int k = 0; k < 2; ++k)
    workers[k] = std::thread([&, k] {
      try {
        const server here(c, {.job_name = "worker", .task_index = k});
        print(here.device(), work(here, c, how));
      } catch (...) {
        failed[k] = std::current_exception();
      }
    });
  for (std::thread& t : workers) t.join();
  for (const auto& f : failed)
    if (f) std::rethrow_exception(f);
}

}  // namespace

int main(int count, char** arguments) {
  CLI::App app("Compiled workers whose variables live at parameter servers");
  training how;
  app.add_option("--staleness", how.staleness, "how many of its own pushes a step's values may lack")->capture_default_str();
  app.add_flag("--synchronous", how.synchronous, "each update is made of the gradients of all workers");
  app.add_option("--steps", how.steps, "of each worker")->capture_default_str();
  app.add_option("--timeout_ms", how.timeout_in_ms, "of a step")->capture_default_str();
  std::string job_name, task_index, ps_hosts, worker_hosts;
  app.add_option("--job_name", job_name, "ps or worker: be one task of a cluster; without it, all tasks");
  app.add_option("--task_index", task_index, "the task's number");
  app.add_option("--ps_hosts", ps_hosts, "host:port of the parameter servers, separated by commas");
  app.add_option("--worker_hosts", worker_hosts, "host:port of the workers");
  CLI11_PARSE(app, count, arguments);
  try {
    if (!job_name.empty()) return one_task(count, arguments, how);
    all_tasks(how);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
