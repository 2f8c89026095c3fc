// In-graph replication: one client, one graph, many tasks.
//
//        client                    z1 = x y + x            z2 = z1 x + x
//           |                   +--> worker 0 ----- z1 ------> worker 1
//           +--- run(z2) --->   |       ^                         ^
//                               +--> ps 0: x, y ------- x --------+

#include <leat/cluster.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <array>
#include <cmath>

using namespace leat;
using namespace leat::examples;

namespace {

// Addresses that are free now: a server that chose its port, and has left it.
std::string free_address() {
  server here = server::local();
  return here.target().substr(6);
}

// A cluster of one parameter server and two workers within this process; in_graph.sh has it as processes.
struct three_tasks {
  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address(), free_address()}}};
  server ps{c, {.job_name = "ps"}}, worker0{c, {.job_name = "worker", .task_index = 0}},
      worker1{c, {.job_name = "worker", .task_index = 1}};
};

void chain(const std::vector<std::string>& targets) {
  item("19.1", "a chain over three tasks");
  graph g;
  const auto scope = g.as_default();
  output x, y, z1, z2;
  {
    const device d("/job:ps/task:0");
    x = variable(ones({2, 2}), "x");
    y = variable(ones({2, 2}), "y");
  }
  {
    const device d("/job:worker/task:0");
    z1 = add(matmul(x, y), x);
  }
  {
    const device d("/job:worker/task:1");
    z2 = add(matmul(z1, x), x);
  }
  const auto init = global_variables_initializer();
  for (const std::string& target : targets) {
    graph_session s(g, {.target = target});
    s.run(init);
    expect("by " + target, s.run(z2), {{7, 7}, {7, 7}});
  }
  graph_session alone(g);
  expect_refused<invalid_argument>("without a target", "needs a `target`", [&] { alone.run(z2); });

  graph other;
  {
    const auto its = other.as_default();
    const device d("/job:worker/task:7");
    constant(1.0f, "there");
  }
  graph_session nobody(other, {.target = targets[0]});
  expect_refused<invalid_argument>("a task that is not there", "/job:worker/task:7",
                                   [&] { nobody.run(get_tensor_by_name(other, "there:0")); });
}

void fed(const std::string& target) {
  item("19.2", "a client without a server, and a feed");
  graph g;
  const auto scope = g.as_default();
  output x, y;
  {
    const device d("/job:ps/task:0");
    const auto w = variable(ones({2, 4}), "w"), b = variable(ones({4}), "b");
    const device e("/job:worker/task:0");
    x = placeholder(dtype::float32, {1, 2}, "x");
    y = subtract(add(matmul(x, w), b), 1.0f);
  }
  graph_session s(g, {.target = target});
  s.run(global_variables_initializer());
  expect("x w", s.run(y, {{x, tensor_value(tensor_literal({{1.0f, 1.0f}}))}}), {{2, 2, 2, 2}});
  expect_refused<invalid_argument>("without x", "You must feed a value for placeholder", [&] { s.run(y); });
}

// Each tower computes the mean gradient of its rows of the data.
struct towers {
  output w, b, cost;
  graph_operation train, init;
  explicit towers(bool placed) {
    const auto apart = container("towers");  // the servers have another b
    const auto on = [&](const char* task) { return device(placed ? task : ""); };
    std::vector<output> dw, db, costs;
    {
      const auto d = on("/job:ps/task:0");
      w = variable(0.0f, "W");
      b = variable(0.0f, "b");
    }
    for (int k = 0; k < 2; ++k) {
      std::vector<float> xs, ys;
      for (int i = k; i < 100; i += 2) {
        xs.push_back(static_cast<float>(-1 + 2 * i / 99.0));
        ys.push_back(static_cast<float>(2 * (-1 + 2 * i / 99.0) + 0.3 * std::sin(7.0 * i)));
      }
      const auto d = on(k == 0 ? "/job:worker/task:0" : "/job:worker/task:1");
      const output x = constant(xs), y = constant(ys);
      const auto loss = reduce_mean(square(subtract(add(multiply(x, w), b), y)));
      const auto slopes = gradients({loss}, std::vector<output>{w, b});
      dw.push_back(slopes[0]);
      db.push_back(slopes[1]);
      costs.push_back(loss);
    }
    const auto d = on("/job:ps/task:0");
    cost = multiply(add(costs[0], costs[1]), 0.5f);
    const auto step = [](const std::vector<output>& each) { return multiply(multiply(add(each[0], each[1]), 0.5f), 0.1f); };
    const auto step_w = step(dw), step_b = step(db);
    train = group({assign_sub(w, step_w), assign_sub(b, step_b)});
    init = global_variables_initializer();
  }
};

void training(const std::string& target) {
  item("19.3", "training by towers: the mean of two workers' gradients");
  graph g, h;
  std::unique_ptr<towers> far, near;
  {
    const auto scope = g.as_default();
    far = std::make_unique<towers>(true);
  }
  {
    const auto scope = h.as_default();
    near = std::make_unique<towers>(false);
  }
  graph_session s(g, {.target = target}), alone(h);
  s.run(far->init);
  alone.run(near->init);
  int done = 0;
  for (const auto& [steps, w, b] : {std::tuple{10, 1.00916, 0.00585}, {100, 1.99431, 0.00655}, {200, 1.99605, 0.00655}}) {
    for (; done < steps; ++done) {
      s.run(far->train);
      alone.run(near->train);
    }
    expect("W after " + std::to_string(steps), s.run(far->w), w, 6e-6);
    expect("b after " + std::to_string(steps), s.run(far->b), b, 6e-6);
    expect_equal("W of one process", alone.run(near->w), s.run(far->w));
    expect_equal("b of one process", alone.run(near->b), s.run(far->b));
  }
  expect("cost", s.run(far->cost), 0.045054, 2e-6);
}

void all_of(const std::vector<std::string>& targets) {
  chain(targets);
  fed(targets[0]);
  training(targets[0]);
}

std::vector<std::string> given_targets;

void in_this_process() {
  if (!given_targets.empty()) return all_of(given_targets);
  const three_tasks tasks;
  all_of({tasks.worker0.target(), tasks.worker1.target(), tasks.ps.target()});
}

}  // namespace

// --targets=A,B,C: those of servers that run elsewhere.
int main(int count, char** arguments) {
  if (count == 2 && std::string_view(arguments[1]).starts_with("--targets=")) {
    std::string_view list = std::string_view(arguments[1]).substr(10);
    while (!list.empty()) {
      const auto comma = list.find(',');
      given_targets.emplace_back(list.substr(0, comma));
      list = comma == list.npos ? std::string_view{} : list.substr(comma + 1);
    }
    count = 1;
  }
  return run_sections(count, arguments, "in-graph replication", {{"towers", "one graph on three tasks", in_this_process}});
}
