// Devices: what a graph says of where its nodes are to run, and what a session makes of it. The graph of the third section, with three
// servers; variables go to one after the other, all else to the worker:
//
//    /job:ps/task:0        /job:ps/task:1     /job:ps/task:2     /job:worker
//      w_0, b_1              b_0                w_1                x, products, sums
//      with their Assign and read beside them

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <sstream>

using namespace leat;
using namespace leat::examples;

namespace {

std::string place_of(const output& o) { return o.operation().device(); }

void scopes() {
  item("15.1", "device scopes");
  graph g;
  auto here = g.as_default();
  output far, near;
  {
    auto there = device("/job:ps/task:0");
    far = constant(1.0f, "far");
  }
  {
    auto there = device("/job:worker/task:0");
    auto processor = device("/cpu:0");
    near = constant(2.0f, "near");
  }
  expect_text("on a server", place_of(far), "/job:ps/task:0");
  expect_text("one scope within another", place_of(near), "/job:worker/task:0/device:CPU:0");

  graph h;
  auto in = h.as_default();
  auto sum = add(constant(1.0f), 2.0f);
  graph_session s(h);
  {
    auto there = device("/job:worker/task:1");
    expect("a scope around running", s.run(sum), 3);
  }
  expect_text("changes no place", place_of(sum), "");

  item("15.6", "a job that is not there");
  graph_session plain(g);
  for (const char* word :
       {"node far ", "/job:ps/task:0", "available devices are [ /job:localhost/replica:0/task:0/device:CPU:0 ]", "needs a `target`"})
    expect_refused<invalid_argument>("a run of another node", word, [&] { plain.run(near); });
}

void functions() {
  item("15.2", "a function of the node");
  graph g;
  auto here = g.as_default();
  auto by_type = device([](const graph_operation& op) { return op.type() == "MatMul" ? "/device:GPU:0" : "/device:CPU:0"; });
  auto m = constant({{1.0f, 2.0f}, {3.0f, 4.0f}});
  auto product = matmul(m, m);
  expect_text("a product", place_of(product), "/device:GPU:0");
  expect_text("a constant", place_of(m), "/device:CPU:0");
  expect_text("a sum", place_of(add(product, m)), "/device:CPU:0");
}

void replicas() {
  item("15.3", "replica_device_setter");
  graph g;
  auto here = g.as_default();
  {
    auto replica = device(replica_device_setter({.ps_tasks = 3}));
    auto x = placeholder(dtype::float32, {-1, 2}, "x");
    auto w_0 = variable(zeros({2, 4}), "w_0"), b_0 = variable(zeros({4}), "b_0");
    auto product_0 = matmul(x, w_0);
    auto layer_0 = add(product_0, b_0);
    auto w_1 = variable(zeros({4, 3}), "w_1"), b_1 = variable(zeros({3}), "b_1");
    auto product_1 = matmul(layer_0, w_1);
    auto layer_1 = add(product_1, b_1);
    for (const auto& [v, task] : {std::pair{w_0, 0}, {b_0, 1}, {w_1, 2}, {b_1, 0}}) {
      const std::string wanted = "/job:ps/task:" + std::to_string(task);
      expect_text(v.name(), place_of(v), wanted);
      expect_text("its Assign", initializer_of(v).device(), wanted);
      expect_text("its read", place_of(value_of(v)), wanted);
    }
    for (const output& o : {x, product_0, layer_0, product_1, layer_1}) expect_text(o.name(), place_of(o), "/job:worker");
  }
  graph h;
  auto there = h.as_default();
  {
    const cluster_spec c{{"ps", {"a:1", "b:1"}}, {"worker", {"c:1", "d:1", "e:1"}}};
    auto replica = device(replica_device_setter({.worker_device = "/job:worker/task:1", .cluster = c}));
    auto v1 = variable(1.0f, "v1"), v2 = variable(2.0f, "v2"), v3 = variable(3.0f, "v3");
    auto sum = add(v1, v2);
    for (const auto& [v, task] : {std::pair{v1, 0}, {v2, 1}, {v3, 0}})
      expect_text(v.name(), place_of(v), "/job:ps/task:" + std::to_string(task));
    expect_text("the rest", place_of(sum), "/job:worker/task:1");
  }
  auto none = device(replica_device_setter({.ps_tasks = 0}));
  expect_text("without servers", place_of(variable(1.0f, "v4")), "");
}

void loads() {
  item("15.4", "by load: kernels and biases of 784-256-10 on 2 servers");
  for (const bool by_load : {false, true}) {
    graph g;
    auto here = g.as_default();
    replica_device_options options{.ps_tasks = 2};
    if (by_load) options.strategy = greedy_load_balancing(2);
    auto replica = device(replica_device_setter(options));
    std::string places;
    for (const shape_value& size : {shape_value{784, 256}, {256}, {256, 10}, {10}}) {
      auto v = get_variable("v" + std::to_string(places.size()), size);
      places += (places.empty() ? "" : " ") + place_of(v).substr(std::string("/job:ps/task:").size());
    }
    expect_text(by_load ? "greedy" : "in turn", places, by_load ? "0 1 1 1" : "0 1 0 1");
  }
}

void told() {
  item("15.5", "where is what");
  graph g;
  auto here = g.as_default();
  auto a = constant(2.0f, "a"), b = constant(3.0f, "b");
  auto mul = multiply(a, b, "mul");
  std::ostringstream log;
  graph_session s(g, {.log_device_placement = true, .log = &log});
  s.run(mul);
  expect_text("log", log.str(),
              "a: (Const): /job:localhost/replica:0/task:0/device:CPU:0\nb: (Const): /job:localhost/replica:0/task:0/device:CPU:0\n"
              "mul: (Mul): /job:localhost/replica:0/task:0/device:CPU:0\n");
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Devices and placement.",
                      {{"scopes", "device scopes; a job that is not there", scopes},
                       {"functions", "a function of the node", functions},
                       {"replicas", "replica_device_setter", replicas},
                       {"loads", "by load", loads},
                       {"told", "where is what", told}});
}
