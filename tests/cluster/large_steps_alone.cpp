// Steps that need more of another task than may be on its way at one time: in one process, through shared memory, and by TCP.

#include <leat/cluster.hpp>
#include <leat/graphs.hpp>

#include "cluster/support/free_address.hpp"
#include "support/processes.hpp"

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

enum class route { one_process, shared_memory, tcp };

std::string text_of(route r) { return r == route::one_process ? "one process" : r == route::shared_memory ? "shared memory" : "TCP"; }

// A parameter server, which is in this process or runs this program, and a worker.
struct two_tasks {
  explicit two_tasks(route r) {
    const bool memory = r != route::tcp;
    if (r == route::one_process) {
      ps_here = std::make_unique<server>(c, server_options{.job_name = "ps"});
    } else {
      ::setenv("LEAT_TEST_CLUSTER", json_text(c).c_str(), 1);
      ::setenv("LEAT_TEST_MEMORY", memory ? "1" : "0", 1);
      ps = std::make_unique<process>(std::vector<std::string>{"/proc/self/exe", "--no-skip", "--test-case=a process that serves"});
      for (int k = 0; ps->line() != "ready"; ++k)  // doctest says something first
        if (k == 20) throw std::runtime_error("the server does not start");
    }
    worker = std::make_unique<server>(c, server_options{.job_name = "worker", .use_shared_memory = memory});
  }
  session_options at_worker() const {
    session_options o;
    o.target = worker->target();
    o.start_timeout_in_ms = 20'000;
    o.operation_timeout_in_ms = 60'000;
    return o;
  }

  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  std::unique_ptr<process> ps;
  std::unique_ptr<server> ps_here, worker;
};

// Variables at the parameter server, all of which a step of the worker holds at one time.
struct table_of_weights {
  graph g;
  std::vector<output> weights;
  output sum;
  graph_operation init;

  table_of_weights(int count, std::int64_t floats) {
    const auto scope = g.as_default();
    const container own("tables of " + std::to_string(count));
    {
      const device d("/job:ps/task:0");
      for (int k = 0; k < count; ++k) weights.push_back(variable(zeros({floats}, dtype::float32), "w" + std::to_string(k)));
    }
    {
      const device d("/job:worker/task:0");
      std::vector<output> there;
      for (const output& w : weights) there.push_back(identity(w));
      const control_dependencies all(std::vector<control_input>(there.begin(), there.end()));
      std::vector<output> sums;
      for (const output& w : there) sums.push_back(add(reduce_sum(w), 1.0f));
      sum = add_n(sums);
    }
    init = global_variables_initializer();
  }
};

constexpr std::int64_t megabyte = 250'000;  // of floats

}  // namespace

TEST_CASE("a process that serves" * doctest::skip()) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  const cluster_spec c = cluster_spec_from_json(std::getenv("LEAT_TEST_CLUSTER"));
  server here(c, {.job_name = "ps", .use_shared_memory = std::string(std::getenv("LEAT_TEST_MEMORY")) == "1"});
  std::puts("ready");
  std::fflush(stdout);
  here.join();
}

TEST_CASE("a step holds more of another task's tensors than may be on their way") {
  for (const route r : {route::one_process, route::shared_memory, route::tcp}) {
    CAPTURE(text_of(r));
    const two_tasks tasks(r);
    // Large ones, and those of sizes that shared memory passes in place.
    for (const auto& [count, floats] : {std::pair<int, std::int64_t>{10, 30 * megabyte}, {40, 3 * megabyte}, {300, 60'000}}) {
      CAPTURE(count);
      table_of_weights m(count, floats);
      graph_session s(m.g, tasks.at_worker());
      s.run(m.init);
      for (int k = 0; k < 2; ++k) CHECK(s.run<float>(m.sum) == static_cast<float>(count));
      s.reset("tables of " + std::to_string(count));
    }
  }
}

TEST_CASE("a step sends more than a connection queues: it waits for room") {
  for (const route r : {route::one_process, route::shared_memory, route::tcp}) {
    CAPTURE(text_of(r));
    const two_tasks tasks(r);
    table_of_weights m(5, 90 * megabyte);
    graph_session s(m.g, tasks.at_worker());
    s.run(m.init);
    for (int k = 0; k < 2; ++k) CHECK(s.run<float>(m.sum) == 5.0f);
  }
}

TEST_CASE("steps of two threads hold more together than may be on its way; so do results that are kept") {
  for (const route r : {route::one_process, route::shared_memory, route::tcp}) {
    CAPTURE(text_of(r));
    const two_tasks tasks(r);
    table_of_weights m(3, 15 * megabyte);
    graph_session s(m.g, tasks.at_worker());
    s.run(m.init);
    std::vector<std::thread> threads;
    for (int t = 0; t < 2; ++t)
      threads.emplace_back([&] {
        for (int k = 0; k < 5; ++k) CHECK(s.run<float>(m.sum) == 3.0f);
      });
    for (std::thread& t : threads) t.join();

    std::vector<graph_callable> runs;
    for (int k = 0; k < 3; ++k) runs.push_back(s.prepare({m.weights[0], m.weights[1]}));
    for (int round = 0; round < 2; ++round)
      for (graph_callable& run : runs) CHECK(run()[1].extent().elements() == 15 * megabyte);
    s.run(m.sum);
  }
}

TEST_CASE("a client at another process keeps large results, and feeds large values") {
  const two_tasks tasks(route::shared_memory);
  graph g;
  const auto scope = g.as_default();
  const device d("/job:ps/task:0");
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto y = add(x, 1.0f);
  session_options o = tasks.at_worker();
  o.target = "tcp://" + tasks.c.task_address("ps", 0);
  graph_session s(g, o);
  std::vector<graph_callable> runs;
  for (int k = 0; k < 4; ++k) runs.push_back(s.prepare({y}, {x}));
  for (graph_callable& run : runs)
    CHECK(run(std::vector<float>(static_cast<std::size_t>(30 * megabyte), 1.0f))[0].values<float>()[12345] == 2.0f);
}

TEST_CASE("the value of a feed is written where it is sent from, and results stay what they were") {
  constexpr std::int64_t count = 100'000;
  for (const route r : {route::one_process, route::shared_memory, route::tcp}) {
    CAPTURE(text_of(r));
    const two_tasks tasks(r);
    graph g;
    output change, changed;
    graph_operation init;
    {
      const auto scope = g.as_default();
      const device d("/job:ps/task:0");
      const output v = variable(zeros({count}, dtype::float32), "v");
      change = placeholder(dtype::float32, {count}, "change");
      init = global_variables_initializer();
      const output after = assign_add(v, change);
      const control_dependencies order{after};
      changed = read_value(v);
    }
    graph_session s(g, tasks.at_worker());
    s.run(init);
    graph_callable step = s.prepare({changed}, {change});
    const tensor_value like(dtype::float32, {count});
    std::vector<tensor_value> seen;
    for (int k = 0; k < 12; ++k) {
      tensor_value value = step.feed_memory(0, dtype::float32, like.extent());
      CHECK(value.is_placed() == (r == route::shared_memory));
      if (!value) value = tensor_value(dtype::float32, {count});
      REQUIRE(value.is_alone());
      std::fill_n(value.values<float>().begin(), count, static_cast<float>(k));
      const tensor_value kept = value.kept();
      CHECK_FALSE(kept.is_placed());
      seen.push_back(step.call({&value, 1})[0].kept());
      CHECK(std::as_const(value).values<float>()[count - 1] == static_cast<float>(k));
    }
    for (int k = 0, sum = 0; k < 12; ++k) {
      sum += k;
      const auto values = std::as_const(seen[static_cast<std::size_t>(k)]).values<float>();
      CHECK(std::all_of(values.begin(), values.end(), [&](float x) { return x == static_cast<float>(sum); }));
    }
    // Memory that is kept does not keep steps from being run: it is given up to a half of what there is.
    std::vector<tensor_value> held;
    for (tensor_value m; held.size() < 2000 && (m = step.feed_memory(0, dtype::float32, like.extent()));) held.push_back(m);
    CHECK(held.size() < 2000);
    CHECK(held.empty() == (r != route::shared_memory));
    const tensor_value plain(std::vector<float>(count, 1));
    for (int k = 0; k < 3; ++k) CHECK(std::as_const(step.call({&plain, 1})[0]).values<float>()[0] == static_cast<float>(67 + k));
  }
}
