// Synchronous replication: an update is made of gradients of all workers, or of as many as are asked for; nobody begins with the next step
// before it is made.
//
//    worker 0 (chief): gradient --+                             +--> token --> worker 0
//                                 +--> sums at ps 0 --> update --+
//    worker 1:         gradient --+                             +--> token --> worker 1
//
// A process is one role: --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... [--logdir=...] [--updates=200]; sync.sh starts
// three. --data=50: this worker has data for 50 steps, and ends when they are used up; the others go on (uneven.sh). --timeout_in_ms=30000.

#include <leat/cluster.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

#include <chrono>
#include <cmath>
#include <functional>
#include <optional>
#include <thread>

using namespace leat;
using namespace leat::examples;

namespace {

// Which rows of the data a worker holds: first, first + every, ...
struct rows {
  int first = 0, every = 1;
};

struct how_to_train {
  rows mine{};
  std::int64_t updates = 200;
  int aggregate = 2;  // gradients of an update; 0: asynchronous
  int total = 2;
  float rate = 0.1f;
  std::chrono::milliseconds pause{0};  // in each step
  std::chrono::milliseconds at_most{60'000};
  std::string logdir{};
  std::size_t data = 0;  // how many steps; 0: no end
  std::int64_t timeout_in_ms = 30'000;
};

struct outcome {
  std::vector<float> losses;
  std::int64_t steps = 0;
  float w = 0, b = 0;
  double cost = 0;
};

float x_of(int i) { return static_cast<float>(-1 + 2 * i / 99.0); }
float y_of(int i) { return static_cast<float>(2 * (-1 + 2 * i / 99.0) + 0.3 * std::sin(7.0 * i)); }

outcome work(const server& here, const cluster_spec& c, const how_to_train& how) {
  graph g;
  const auto scope = g.as_default();
  const bool is_chief = here.task_index() == 0;
  std::vector<float> xs, ys;
  for (int i = how.mine.first; i < 100; i += how.mine.every) xs.push_back(x_of(i)), ys.push_back(y_of(i));
  output w, b, loss, steps;
  graph_operation train;
  std::optional<sync_replicas> sync;
  {
    const device replica(replica_device_setter({.worker_device = here.device(), .cluster = c}));
    w = variable(0.0f, "W");
    b = variable(0.0f, "b");
    loss = reduce_mean(square(subtract(add(multiply(constant(xs), w), b), constant(ys))));
    steps = get_or_create_global_step();
    const auto descent = gradient_descent(how.rate);
    if (how.aggregate > 0) {
      sync.emplace(descent, sync_replicas_options{.replicas_to_aggregate = how.aggregate,
                                                  .total_num_replicas = how.total,
                                                  .replica = how.aggregate == how.total ? here.task_index() : -1});
      train = sync->minimize(loss, {.global_step = steps});
    } else {
      train = descent.minimize(loss, {.global_step = steps});
    }
  }
  monitored_options o;
  o.is_chief = is_chief;
  if (is_chief) o.checkpoint_dir = how.logdir;
  o.save_checkpoint_secs = seconds(0.5);
  o.save_summaries_steps = 0;
  o.log_step_count_steps = 0;
  o.stop_on_signals = false;
  o.max_wait = seconds(30);
  o.session.target = here.target();
  o.session.device_filters = {"/job:ps", here.device()};
  o.session.operation_timeout_in_ms = how.timeout_in_ms;
  o.hooks.push_back(stop_at_step(how.updates));
  // Without first tokens, and with a queue of its own, each worker gives one gradient to each update.
  if (sync) o.hooks.push_back(sync_replicas_hook(*sync, is_chief, 0));
  monitored_session s(std::move(o));
  outcome result;
  const auto end = std::chrono::steady_clock::now() + how.at_most;
  try {
    while (!s.should_stop() && std::chrono::steady_clock::now() < end && (how.data == 0 || result.losses.size() < how.data)) {
      std::this_thread::sleep_for(how.pause);
      result.losses.push_back(s.run({loss, train})[0].as<float>());
    }
  } catch (const out_of_range&) {  // the chief has ended, and with it the tokens
  }
  result.steps = s.session().run<std::int64_t>(steps);
  std::tie(result.w, result.b) = s.session().run<float, float>({w, b});
  for (int i = 0; i < 100; ++i)
    result.cost += std::pow(static_cast<double>(result.w) * static_cast<double>(x_of(i)) + static_cast<double>(result.b) -
                                static_cast<double>(y_of(i)),
                            2) /
                   100;
  s.close();
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
  how_to_train how{.mine = {flags.task_index, 2}, .logdir = flags.logdir};
  for (const std::string& f : flags.rest)
    if (f.starts_with("--updates=")) how.updates = std::stoll(f.substr(10));
  how.data = static_cast<std::size_t>(std::stoll(argument(flags, "data", "0")));
  how.timeout_in_ms = std::stoll(argument(flags, "timeout_in_ms", "30000"));
  if (how.updates != 200) how.pause = std::chrono::milliseconds(1);  // a run long enough for kill.sh
  const outcome o = work(here, flags.cluster(), how);
  std::printf("%s: steps %lld, W %.6f, b %.6f, cost %.6f\n", here.device().c_str(), static_cast<long long>(o.steps),
              static_cast<double>(o.w), static_cast<double>(o.b), o.cost);
  std::fflush(stdout);
  return 0;
}

// A parameter server and workers within this process, each worker a thread.
std::vector<outcome> run_workers(const std::vector<how_to_train>& workers) {
  const auto free_address = [] {
    server here = server::local();
    return here.target().substr(6);
  };
  std::vector<std::string> addresses;
  for (std::size_t k = 0; k < workers.size(); ++k) addresses.push_back(free_address());
  const cluster_spec c{{"ps", {free_address()}}, {"worker", addresses}};
  const server ps(c, {.job_name = "ps"});
  std::vector<outcome> results(workers.size());
  std::vector<std::exception_ptr> failed(workers.size());
  std::vector<std::thread> threads;
  for (std::size_t k = 0; k < workers.size(); ++k)
    threads.emplace_back([&, k] {
      try {
        const server here(c, {.job_name = "worker", .task_index = static_cast<int>(k)});
        results[k] = work(here, c, workers[k]);
      } catch (...) {
        failed[k] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const auto& f : failed)
    if (f) std::rethrow_exception(f);
  return results;
}

// The same in one session: the mean of two halves' gradients.
outcome alone(std::int64_t updates) {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable(0.0f, "W"), b = variable(0.0f, "b");
  std::vector<std::vector<output>> slopes;
  for (int k = 0; k < 2; ++k) {
    std::vector<float> xs, ys;
    for (int i = k; i < 100; i += 2) xs.push_back(x_of(i)), ys.push_back(y_of(i));
    const auto loss = reduce_mean(square(subtract(add(multiply(constant(xs), w), b), constant(ys))));
    slopes.push_back(gradients({loss}, std::vector<output>{w, b}));
  }
  std::vector<graph_operation> steps;
  for (std::size_t v = 0; v < 2; ++v)
    steps.push_back(assign_sub(v == 0 ? w : b, multiply(multiply(add(slopes[0][v], slopes[1][v]), 0.5f), 0.1f)).operation());
  const auto train = group(steps), init = global_variables_initializer();
  graph_session s(g);
  s.run(init);
  for (std::int64_t k = 0; k < updates; ++k) s.run(train);
  outcome result;
  std::tie(result.w, result.b) = s.run<float, float>({w, b});
  return result;
}

void all_wait_for_all() {
  item("21.1", "all wait for all");
  for (const auto& [updates, w, b] : {std::tuple{10, 1.00916, 0.00585}, {100, 1.99431, 0.00655}, {200, 1.99605, 0.00655}}) {
    const auto results = run_workers({{.mine = {0, 2}, .updates = updates}, {.mine = {1, 2}, .updates = updates}});
    const outcome one = alone(updates);
    for (const outcome& o : results) {
      expect("updates", tensor_value(o.steps), std::int64_t{updates});
      expect("W", tensor_value(o.w), static_cast<float>(w), 6e-6);
      expect("b", tensor_value(o.b), static_cast<float>(b), 6e-6);
      // The library's loops contract a b + c where both are in one: the last bit depends on what is.
      expect("W of one process", tensor_value(o.w), one.w, 2e-7);
      expect("b of one process", tensor_value(o.b), one.b, 2e-7);
      if (updates == 200) expect("cost", tensor_value(o.cost), 0.045054, 2e-6);
    }
  }
  std::vector<std::vector<float>> first;
  bool are_equal = true;
  for (int k = 0; k < 20; ++k) {
    std::vector<std::vector<float>> losses;
    for (const outcome& o : run_workers({{.mine = {0, 2}, .updates = 20}, {.mine = {1, 2}, .updates = 20}})) losses.push_back(o.losses);
    if (k == 0) first = losses;
    are_equal = are_equal && losses == first && losses[0].size() == 20;
  }
  expect_true("20 repetitions have one sequence of losses", are_equal);
}

void the_slowest() {
  item("21.2", "the slowest sets the pace, or does not");
  const auto nap = std::chrono::milliseconds(20);
  const auto start = std::chrono::steady_clock::now();
  const auto together = run_workers({{.mine = {0, 2}, .updates = 25}, {.mine = {1, 2}, .updates = 25, .pause = nap}});
  const double took = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  expect_true("synchronous: at most 50 updates a second", static_cast<double>(together[0].steps) / took <= 50);

  const auto time = std::chrono::milliseconds(1000);
  const std::int64_t endless = 1'000'000'000;
  how_to_train free{.updates = endless, .aggregate = 0, .rate = 0.01f, .at_most = time};
  how_to_train sleepy = free;
  sleepy.pause = nap;
  const auto apart = run_workers({free, sleepy});
  expect_true("asynchronous: worker 0 makes more than twice as many steps", apart[0].losses.size() > 2 * apart[1].losses.size());

  const how_to_train spare{.updates = 200, .aggregate = 2, .total = 3};
  how_to_train late = spare;
  late.pause = nap;
  const auto three = run_workers({spare, spare, late});
  std::size_t given = 0;
  for (const outcome& o : three) given += o.losses.size();
  const auto dropped = static_cast<std::int64_t>(given) - 2 * three[0].steps;
  expect_true("late gradients are dropped", dropped > 0 && three[2].losses.size() < 200);
  expect("W", tensor_value(three[0].w), 1.996f, 0.01);
  expect("b", tensor_value(three[0].b), 0.0065f, 0.01);
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
  return run_sections(count, arguments, "synchronous replication",
                      {{"all", "updates of two workers' gradients", all_wait_for_all}, {"slow", "a worker that sleeps", the_slowest}});
}
