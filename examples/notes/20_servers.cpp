// Several parameter servers: who holds what, what goes to whom, and how it scales. Variables are given to the servers in turn:
//
//    worker 0: x ---> dense ---> dense_1 ---> dense_2 ---> cost ---> gradients
//    worker 1: the same                                      |           |
//    worker 2: the same             gradients of the kernels |           | of the biases
//                                                            v           v
//    ps 0: dense/kernel, dense_1/kernel, dense_2/kernel, global_step    ps 1: dense/bias, dense_1/bias, dense_2/bias
//
// A process is one role: --item=20.5|20.6 --job_name=ps|worker --task_index=0 --ps_hosts=... --worker_hosts=... [--model=line|dense];
// placement.sh starts five, scaling.sh one to four workers with one or two servers.

#include <leat/cluster.hpp>
#include <leat/supervise.hpp>

#include "support/notes.hpp"
#include "support/roles.hpp"

#include <chrono>
#include <cmath>
#include <map>

using namespace leat;
using namespace leat::examples;

namespace {

constexpr int batch = 32;
constexpr int steps_of_each = 10;  // in 20.5

// A model whose variables are at the parameter servers, and a batch of it.
struct model {
  output steps, cost;
  graph_operation train;
  feed_list feeds;
  model(std::string_view name, const cluster_spec& c, const std::string& worker) {
    const device replica(replica_device_setter({.worker_device = worker, .cluster = c}));
    if (name == "line") {
      const output x = placeholder(dtype::float32, {}, "x"), y = placeholder(dtype::float32, {}, "y");
      const output w = variable(0.0f, "W"), b = variable(0.0f, "b");
      cost = square(subtract(add(multiply(x, w), b), y));
      feeds = {{x, 0.5f}, {y, 1.0f}};
    } else {
      const output x = placeholder(dtype::float32, {batch, 784}, "images"), labels = placeholder(dtype::int32, {batch}, "labels");
      const output hidden = layers::dense(layers::dense(x, 256, {.activation = layers::relu}), 128, {.activation = layers::relu});
      cost = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, layers::dense(hidden, 10)));
      tensor_value images(dtype::float32, shape_value{batch, 784}), digits(dtype::int32, shape_value{batch});
      for (std::size_t i = 0; i < batch * 784; ++i) images.values<float>()[i] = static_cast<float>(std::sin(7.0 * static_cast<double>(i)));
      for (std::size_t i = 0; i < batch; ++i) digits.values<int>()[i] = static_cast<int>(i % 10);
      feeds = {{x, images}, {labels, digits}};
    }
    steps = get_or_create_global_step();
    train = gradient_descent(0.01f).minimize(cost, {.global_step = steps});
  }
};

std::string place_of(const output& v) { return v.operation().device(); }
std::int64_t bytes_of(const output& v) { return v.extent().elements() * 4; }

supervisor_options supervised(const server& here, const output& steps) {
  return {.is_chief = here.task_index() == 0,
          .global_step = steps,
          .max_wait_secs = 60,
          .stop_on_signals = false,
          .session = {.target = here.target(), .device_filters = {"/job:ps", here.device()}}};
}

// "/job:ps/task:0" of "/job:ps/replica:0/task:0/device:CPU:0".
std::string task_of(std::string device) {
  if (const auto at = device.find("/replica:0"); at != device.npos) device.erase(at, 10);
  return device.substr(0, device.find("/device:"));
}

struct step_of_worker {
  int gradients = 0;                             // sent
  std::map<std::string, std::int64_t> sent;      // bytes of gradients, to each server
  std::map<std::string, int> applied;            // updates made at each
  std::map<std::string, std::int64_t> received;  // in the chief: bytes of messages that each task has counted
};

// 20.5: a worker trains, and looks at what its last step sends, and where updates are made.
step_of_worker look_at_a_step(const server& here, const cluster_spec& c) {
  graph g;
  const auto scope = g.as_default();
  const model m("dense", c, here.device());
  std::map<std::string, output> variables;
  for (const output& v : trainable_variables()) variables.emplace(v.operation().name(), v);
  supervisor sv(supervised(here, m.steps));
  auto s = sv.managed_session();
  for (int k = 1; k < steps_of_each; ++k) s.run(m.train, m.feeds);
  run_trace t(trace_detail::nodes);
  s.run(m.train, m.feeds, {.trace = &t});

  step_of_worker its;
  for (const trace_edge_totals& e : t.by_edge()) {
    const std::string from = task_of(e.from), to = task_of(e.to);
    if (e.bytes > 0 && from.starts_with("/job:ps") && to.starts_with("/job:ps")) throw surprise(e.tensor + " goes from server to server");
    if (!e.tensor.starts_with("gradients/")) continue;
    // "gradients/dense_1/MatMul_grad/..." is that of dense_1/kernel.
    const std::string layer = e.tensor.substr(10, e.tensor.find('/', 10) - 10);
    const output& v = variables.at(layer + (e.tensor.find("/MatMul_grad/") != e.tensor.npos ? "/kernel" : "/bias"));
    if (from != here.device() || to != place_of(v) || e.bytes != bytes_of(v))
      throw surprise("the gradient of " + v.name() + ", " + std::to_string(e.bytes) + " bytes, goes from " + from + " to " + to);
    its.sent[to] += e.bytes;
    ++its.gradients;
  }
  const auto tasks = t.tasks();
  for (const trace_event& e : t.events()) {
    if (e.type != "ApplyGradientDescent") continue;
    const std::string at = task_of(tasks[static_cast<std::size_t>(e.task)].device);
    for (const auto& [name, v] : variables)
      if (e.name.find("_" + name + "/") != e.name.npos && at != place_of(v)) throw surprise(name + " is updated at " + at);
    ++its.applied[at];
  }
  // The chief asks the tasks while all are there, and lets them end by a step more.
  const std::int64_t all = std::int64_t{steps_of_each} * c.num_tasks("worker");
  if (sv.is_chief()) {
    wait_until("all workers have trained", [&] { return s.run<std::int64_t>(m.steps) == all; });
    for (const task_status& task : cluster_status(c))
      if (task.counted) its.received[task.device] = static_cast<std::int64_t>(task.counted->bytes_received);
    s.run(m.train, m.feeds);
  }
  wait_until("the chief has asked", [&] { return s.run<std::int64_t>(m.steps) == all + 1; });
  sv.stop();
  return its;
}

void check(const step_of_worker& its) {
  expect("gradients that a step sends", its.gradients, 6);
  expect("bytes of those of the kernels, to ps 0", its.sent.at("/job:ps/task:0"), std::int64_t{939'008});
  expect("bytes of those of the biases, to ps 1", its.sent.at("/job:ps/task:1"), std::int64_t{1'576});
  expect("updates made at ps 0", its.applied.at("/job:ps/task:0"), 3);
  expect("updates made at ps 1", its.applied.at("/job:ps/task:1"), 3);
  for (const auto& [task, bytes] : its.received)
    if (task.starts_with("/job:ps")) std::printf("  %s has received bytes %lld\n", task.c_str(), static_cast<long long>(bytes));
}

// What a server holds, by the program.
void tell_share(const server& here, const cluster_spec& c) {
  graph g;
  const auto scope = g.as_default();
  const model m("dense", c, "/job:worker/task:0");
  std::int64_t bytes = 0;
  std::string names;
  for (const output& v : trainable_variables())
    if (place_of(v) == here.device()) {
      bytes += bytes_of(v);
      names += " " + v.operation().name();
    }
  std::printf("%s holds%s, bytes %lld\n", here.device().c_str(), names.c_str(), static_cast<long long>(bytes));
  std::fflush(stdout);
}

// 20.6: how many steps a second this worker makes beside the others, and the bytes of a step's tensors between tasks.
struct speed {
  double steps = 0;
  std::int64_t bytes = 0;
};
speed measure(const server& here, const cluster_spec& c, const std::string& name) {
  graph g;
  const auto scope = g.as_default();
  const model m(name, c, here.device());
  supervisor sv(supervised(here, m.steps));
  auto s = sv.managed_session();
  run_trace t;
  s.run(m.train, m.feeds, {.trace = &t});
  speed its;
  for (const trace_transfer& moved : t.transfers()) its.bytes += moved.bytes;
  const std::int64_t workers = c.num_tasks("worker");
  wait_until("all workers have made a step", [&] { return s.run<std::int64_t>(m.steps) >= workers; });
  const int count = name == "line" ? 300 : 20;
  const auto begin = std::chrono::steady_clock::now();
  for (int k = 0; k < count; ++k) s.run(m.train, m.feeds);
  its.steps = count / std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  wait_until("all workers have ended", [&] { return s.run<std::int64_t>(m.steps) == workers * (count + 1); });
  sv.stop();
  return its;
}

int role(int count, char** arguments) {
  const cluster_flags flags(count, arguments);
  const cluster_spec c = flags.cluster();
  server here(flags.role());
  introduce(here);
  const bool shares = argument(flags, "item") == "20.5";
  if (flags.job_name == "ps") {
    if (shares) tell_share(here, c);
    here.join({.until_workers_done = true});
  } else if (shares) {
    check(look_at_a_step(here, c));
  } else {
    const speed its = measure(here, c, argument(flags, "model", "line"));
    std::printf("steps a second %.1f, bytes a step %lld\n", its.steps, static_cast<long long>(its.bytes));
  }
  return 0;
}

void in_this_process_placement() {
  item("20.5", "two parameter servers, three workers");
  graph g;
  {
    const auto scope = g.as_default();
    const model m("dense", cluster_spec{{"ps", {"a:1", "b:1"}}, {"worker", {"c:1"}}}, "/job:worker/task:0");
    std::string places;
    for (const output& v : trainable_variables()) places += v.operation().name() + " " + place_of(v).substr(13) + " ";
    expect_text("variables in turn", places,
                "dense/kernel 0 dense/bias 1 dense_1/kernel 0 dense_1/bias 1 dense_2/kernel 0 dense_2/bias 1 ");
    expect_text("a product", m.cost.operation().device(), "/job:worker/task:0");
  }
  step_of_worker its[3];
  run_in_this_process(2, 3, [&](const server& here, const cluster_spec& c) { its[here.task_index()] = look_at_a_step(here, c); });
  for (const step_of_worker& w : its) check(w);
}

void in_this_process_speed() {
  item("20.6", "how it scales: two workers and two servers, in one process");
  for (const char* name : {"line", "dense"}) {
    speed its[2];
    run_in_this_process(2, 2, [&](const server& here, const cluster_spec& c) { its[here.task_index()] = measure(here, c, name); });
    std::printf("  %-5s steps a second %.1f, bytes a step %lld\n", name, its[0].steps + its[1].steps, static_cast<long long>(its[0].bytes));
    expect_true("bytes of parameters there and back, at least", its[0].bytes >= 2 * (std::string_view(name) == "line" ? 8 : 940'584));
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (has_role(count, arguments)) return run_role([&] { return role(count, arguments); });
  return run_sections(count, arguments, "several parameter servers",
                      {{"placement", "who holds what, and what goes to whom", in_this_process_placement},
                       {"speed", "how it scales", in_this_process_speed}});
}
