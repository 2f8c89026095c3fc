// One task of a small cluster that trains, for cluster.py, which starts TensorFlow's and this in turns.
//
// `interop_cluster PROGRAM TRANSPORT SECONDS --job_name=... --task_index=... --ps_hosts=... --worker_hosts=...`: PROGRAM is asynchronous,
// synchronous, compiled, compiled_synchronous (linear regression of 100 samples, fed in each step) or the bytes that a step pushes and
// pulls; TRANSPORT is tcp or shared. Worker 0 prints steps a second, all workers' together, and goes on with the others until all are ended.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/supervise.hpp>

#include <chrono>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace leat;

namespace {

constexpr std::size_t samples = 100;
constexpr float rate = 0.01f;

struct data {
  std::vector<float> x, y;
  data() {
    for (std::size_t k = 0; k < samples; ++k) {
      x.push_back(static_cast<float>(-1 + 2 * static_cast<double>(k) / (samples - 1)));
      y.push_back(2 * x.back() + 10);
    }
  }
};

// Steps without end; worker 0 says how many there were in the time, of all workers, after a second that does not count.
void go_on(bool measures, double time, const std::function<void()>& step, const std::function<std::int64_t()>& count) {
  using clock = std::chrono::steady_clock;
  const auto run_for = [&](double s) {
    const auto end = clock::now() + std::chrono::duration<double>(s);
    do {
      for (int k = 0; k < 10; ++k) step();
    } while (clock::now() < end);
  };
  run_for(1);
  if (measures) {
    const std::int64_t first = count();
    const auto begin = clock::now();
    run_for(time);
    const std::int64_t steps = count() - first;
    std::printf("%.1f\n", static_cast<double>(steps) / std::chrono::duration<double>(clock::now() - begin).count());
    std::fflush(stdout);
  }
  for (;;) step();
}

void placed(const server& here, const cluster_spec& c, double time, bool synchronous) {
  graph g;
  const auto scope = g.as_default();
  const bool is_chief = here.task_index() == 0;
  const data its;
  output x, y, steps;
  graph_operation train;
  std::optional<sync_replicas> sync;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = c}));
    x = placeholder(dtype::float32, {static_cast<std::int64_t>(samples)}, "x");
    y = placeholder(dtype::float32, {static_cast<std::int64_t>(samples)}, "y");
    const output w = variable(0.0f, "w"), b = variable(0.0f, "b");
    const output loss = reduce_mean(square(subtract(add(multiply(x, w), b), y)));
    steps = get_or_create_global_step();
    if (synchronous) {
      sync.emplace(gradient_descent(rate), sync_replicas_options{.replicas_to_aggregate = 2, .total_num_replicas = 2});
      train = sync->minimize(loss, {.global_step = steps});
    } else {
      train = gradient_descent(rate).minimize(loss, {.global_step = steps});
    }
  }
  monitored_options o;
  o.is_chief = is_chief;
  o.save_summaries_steps = 0;
  o.log_step_count_steps = 0;
  o.max_wait = seconds(60);
  o.session.target = here.target();
  o.session.device_filters = {"/job:ps", here.device()};
  if (sync) o.hooks.push_back(sync_replicas_hook(*sync, is_chief));
  monitored_session s(std::move(o));
  graph_callable step = s.session().prepare({train}, {x, y});
  const std::vector<tensor_value> feeds{tensor_value(its.x), tensor_value(its.y)};
  go_on(is_chief, time, [&] { step.call(feeds); }, [&] { return s.session().run<std::int64_t>(steps); });
}

void compiled(const server& here, const cluster_spec& c, double time, bool synchronous) {
  auto x = placeholder<"x", float, samples>();
  auto y = placeholder<"y", float, samples>();
  auto w = variable<"w", float>(zeros);
  auto b = variable<"b", float>(zeros);
  auto steps = global_step();
  auto train = gradient_descent(rate).minimize(reduce_mean(square(x * w + b - y)), steps);
  worker_session s({.target = here.target(), .cluster = c, .replicas = synchronous ? 2 : 0, .replica = here.task_index()}, train);
  if (here.task_index() == 0) s.initialize();
  s.wait_until_initialized(std::chrono::seconds(60));
  const data its;
  go_on(here.task_index() == 0, time, [&] { s.run(fetch(train), x = its.x, y = its.y); }, [&] { return s.value(steps); });
}

// The worker gives an array, the server adds it to the variable, the worker gets the sum.
void push_and_pull(const server& here, std::int64_t bytes, double time) {
  graph g;
  const auto scope = g.as_default();
  output v, pulled;
  {
    const device d("/job:ps/task:0");
    v = variable(zeros_of({bytes / 4}), "v");
  }
  output given;
  {
    const device d(here.device());
    given = variable(zeros_of({bytes / 4}), "given");
  }
  const output added = assign_add(v, given);
  {
    const device d(here.device());
    pulled = identity(added);
  }
  const graph_operation step = group(std::vector<control_input>{pulled}, "step");
  graph_session s(g, {.target = here.target(), .device_filters = {"/job:ps", here.device()}});
  s.run(global_variables_initializer());
  std::int64_t steps = 0;
  graph_callable run = s.prepare({step}, {});
  go_on(true, time, [&] { run.call({}), ++steps; }, [&] { return steps; });
}

}  // namespace

int main(int count, char** arguments) {
  if (count < 4) return 2;
  const std::string program = arguments[1];
  const double time = std::atof(arguments[3]);
  try {
    const cluster_flags flags(count - 3, arguments + 3);
    server_options options{.job_name = flags.job_name, .task_index = flags.task_index};
    options.use_shared_memory = std::string(arguments[2]) == "shared";
    server here(flags.cluster(), options);
    if (flags.job_name == "ps") here.join();
    else if (program == "asynchronous" || program == "synchronous") placed(here, flags.cluster(), time, program == "synchronous");
    else if (program.starts_with("compiled")) compiled(here, flags.cluster(), time, program != "compiled");
    else push_and_pull(here, std::atoll(program.c_str()), time);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
