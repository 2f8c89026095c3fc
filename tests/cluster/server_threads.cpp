// Servers in one process, over the real transport; several processes are in large_steps_alone.cpp and in chaos/.

#include <leat/cluster.hpp>

#include "cluster/support/free_address.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <thread>
#include <utility>

using namespace leat;
using namespace leat_test;

TEST_CASE("a server alone") {
  server here = server::local();
  CHECK(here.target().starts_with("tcp://"));
  CHECK(here.device() == "/job:local/task:0");
  graph g;
  const auto scope = g.as_default();
  const output a = constant(1), b = constant(2), c = constant(3);
  const output out = add(add(a, b), multiply(b, c));
  session_options options;
  options.target = here.target();
  graph_session s(g, options);
  CHECK(s.run<int>(out) == 9);
  here.stop();
  CHECK_THROWS_AS(s.run<int>(out), error);
}

TEST_CASE("port 0 is one that the system chooses, and the server's target says it") {
  const auto sum_at = [](const std::string& target, const char* where) {
    graph g;
    const auto scope = g.as_default();
    output sum;
    {
      const device d(where);
      sum = add(variable(1.0f, "v"), 2.0f);
    }
    const auto init = global_variables_initializer();
    graph_session s(g, {.target = target, .operation_timeout_in_ms = 10'000});
    s.run(init);
    return s.run<float>(sum);
  };
  const server alone(cluster_spec{{"any", {"localhost:0"}}}), other(cluster_spec{{"any", {{4, "localhost:0"}}}});
  CHECK(alone.target() != other.target());
  CHECK_FALSE(alone.target().ends_with(":0"));
  CHECK("tcp://" + alone.cluster().task_address("any", 0) == alone.target());
  CHECK("tcp://" + other.cluster().task_address("any", 4) == other.target());
  CHECK(cluster_at(other.target()) == other.cluster());
  CHECK(sum_at(alone.target(), "/job:any/task:0") == 3);
  CHECK(sum_at(other.target(), "/job:any/task:4") == 3);

  // A worker without a port of its own connects to the servers; both have the specification that they were started with.
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {"localhost:0"}}};
  const server ps(c, {.job_name = "ps"}), worker(c, {.job_name = "worker"});
  CHECK(worker.cluster() == c);
  CHECK(sum_at(worker.target(), "/job:ps") == 3);
}

TEST_CASE("three servers, by memory and by the network") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address(), free_address()}}};
    std::vector<std::unique_ptr<server>> servers;
    for (const auto& [job, index] : {std::pair("ps", 0), std::pair("worker", 0), std::pair("worker", 1)}) {
      server_options options;
      options.job_name = job;
      options.task_index = index;
      options.use_shared_memory = memory;
      servers.push_back(std::make_unique<server>(c, options));
    }
    graph g;
    const auto scope = g.as_default();
    output w, loss, steps;
    graph_operation train;
    {
      const device d(replica_device_setter({.worker_device = "/job:worker/task:1", .cluster = c}));
      steps = get_or_create_global_step();
      w = variable(zeros_of({300, 100}), "w");
      loss = reduce_mean(square(subtract(w, 3.0f)));
      train = gradient_descent(0.1f).minimize(loss, {.global_step = steps});
    }
    const auto init = global_variables_initializer();
    for (const auto& at : servers) {
      session_options options;
      options.target = at->target();
      options.operation_timeout_in_ms = 10'000;
      graph_session s(g, options);
      s.run(init);
      for (int k = 0; k < 50; ++k) s.run(train);
      CHECK(s.run<std::int64_t>(steps) == 50);
      const auto values = s.value(w).as<std::vector<float>>();
      CHECK(values.size() == 30000);
      CHECK(values[29999] == values[0]);
    }
  }
}

TEST_CASE("what is wrong is said") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  CHECK(says(message_of<invalid_argument>([&] { server s(c); }), "Must specify an explicit `job_name`"));
  CHECK(says(message_of<invalid_argument>([&] { server s(c, {.job_name = "zzz"}); }), "Job \"zzz\" was not defined"));
  CHECK(says(message_of<invalid_argument>([&] { server s(c, {.job_name = "ps", .task_index = 5}); }), "Task 5 was not defined"));
  server ps(c, {.job_name = "ps"});
  CHECK(says(message_of<failed_precondition>([&] { server again(c, {.job_name = "ps"}); }), "another process listens there"));

  graph g;
  const auto scope = g.as_default();
  const output one = constant(1.0f);
  session_options options;
  options.target = ps.target();
  options.start_timeout_in_ms = 300;
  const std::string said = message_of<deadline_exceeded>([&] { graph_session s(g, options); });
  CHECK(says(said, "/job:worker/replica:0/task:0", c.task_address("worker", 0)));
  // A client of another process would ask over the network, as by another name for the host.
  options.target = "tcp://127.0.0.1" + c.task_address("ps", 0).substr(c.task_address("ps", 0).find(':'));
  CHECK(says(message_of<deadline_exceeded>([&] { graph_session s(g, options); }), "/job:worker/replica:0/task:0",
             c.task_address("worker", 0)));
  options.device_filters = {"/job:ps"};
  CHECK(graph_session(g, options).run<float>(one) == 1);

  options.target = "tcp://localhost:" + std::to_string(free_port());
  CHECK(says(message_of<deadline_exceeded>([&] { graph_session s(g, options); }), options.target.substr(6), "no process listens there"));
  options.target = "tcp://nonsense";
  CHECK(says(message_of<invalid_argument>([&] { graph_session s(g, options); }), "nonsense", "no port"));
  options.target = "grpc://localhost:1";
  CHECK(says(message_of<not_found>([&] { graph_session s(g, options); }), "grpc://localhost:1", "tcp://..."));
}

TEST_CASE("a task that is stopped ends the steps of others with an error, and can come back") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  auto ps = std::make_unique<server>(c, server_options{.job_name = "ps"});
  server worker(c, {.job_name = "worker"});
  graph g;
  const auto scope = g.as_default();
  output v, twice, not_run_before;
  {
    const device d("/job:ps/task:0");
    v = variable(2.0f, "v");
    not_run_before = multiply(v, 3.0f);
  }
  {
    const device d("/job:worker/task:0");
    twice = multiply(v, 2.0f);
  }
  const auto init = global_variables_initializer();
  session_options options;
  options.target = worker.target();
  options.operation_timeout_in_ms = 5'000;
  {
    graph_session s(g, options);
    s.run(init);
    CHECK(s.run<float>(twice) == 4);
    ps.reset();
    CHECK_THROWS_AS(s.run<float>(twice), error);
    ps = std::make_unique<server>(c, server_options{.job_name = "ps"});
    CHECK_THROWS_AS(s.run<float>(twice), error);  // what it knew is lost
    // Another session's parts and variables at the new start are not taken for this one's.
    graph_session other(g, options);
    other.run(init);
    CHECK(other.run<float>(twice) == 4);
    CHECK_THROWS_AS(s.run<float>(twice), aborted);
    CHECK_THROWS_AS(s.run<float>(not_run_before), aborted);
    CHECK_THROWS_AS(s.value(v), aborted);
    CHECK_THROWS_AS(s.is_initialized(v), aborted);
    CHECK_THROWS_AS(s.assign(v, 1.0f), aborted);
    other.reset();
  }
  graph_session again(g, options);
  CHECK_THROWS_AS(again.run<float>(twice), failed_precondition);
  again.run(init);
  CHECK(again.run<float>(twice) == 4);
}

TEST_CASE("a session outlives its server: it gives errors, and can be dropped") {
  graph g;
  const auto scope = g.as_default();
  const output v = variable(2.0f, "v"), twice = multiply(v, 2.0f);
  const auto init = global_variables_initializer();
  std::unique_ptr<graph_session> s;
  std::string target;
  {
    server here = server::local();
    target = here.target();
    session_options options;
    options.target = target;
    options.operation_timeout_in_ms = 5'000;
    s = std::make_unique<graph_session>(g, options);
    s->run(init);
    CHECK(s->run<float>(twice) == 4);
  }
  const auto begin = std::chrono::steady_clock::now();
  CHECK_THROWS_AS(s->run(twice), error);
  const output more = add(twice, 1.0f);  // a graph that grows, and a run that is new
  CHECK_THROWS_AS(s->run(more), error);
  CHECK_THROWS_AS(s->run(init), error);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  s->close();
  CHECK_THROWS_AS(s->run(twice), failed_precondition);
  s.reset();
  session_options options;
  options.target = target;
  options.start_timeout_in_ms = 300;
  CHECK_THROWS_AS(graph_session(g, options), error);
}

TEST_CASE("a server that is stopped while steps begin ends each with an error, within its deadline") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  for (const bool is_target : {true, false})
    for (int k = 0; k < 2; ++k) {
      CAPTURE(is_target);
      CAPTURE(k);
      auto ps = std::make_unique<server>(c, server_options{.job_name = "ps", .task_index = 0});
      auto worker = std::make_unique<server>(c, server_options{.job_name = "worker", .task_index = 0});
      graph g;
      const auto scope = g.as_default();
      output v, twice;
      {
        const device d("/job:ps/task:0");
        v = variable(2.0f, "v");
      }
      {
        const device d("/job:worker/task:0");
        twice = multiply(v, 2.0f);
      }
      const auto init = global_variables_initializer();
      session_options options;
      options.target = worker->target();
      options.operation_timeout_in_ms = 1'000;
      graph_session s(g, options);
      s.run(init);
      std::atomic<int> done{0}, failed{0};
      std::thread steps([&] {
        while (failed < 4) {
          const auto begin = std::chrono::steady_clock::now();
          try {
            if (s.run<float>(twice) == 4) ++done;
          } catch (const error&) {
            ++failed;
          }
          if (std::chrono::steady_clock::now() - begin > std::chrono::seconds(6)) failed = 1000;
        }
      });
      while (done < 3 + k && failed == 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
      (is_target ? worker : ps)->stop();
      steps.join();
      CHECK(done >= 3);
      CHECK(failed == 4);
    }
}

TEST_CASE("one session, several threads; closed while they run") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
    const server ps(c, {.job_name = "ps", .use_shared_memory = memory});
    const server worker(c, {.job_name = "worker", .use_shared_memory = memory});
    graph g;
    const auto scope = g.as_default();
    output count, more;
    {
      const device d("/job:ps/task:0");
      count = variable(std::int64_t{0}, "count");
    }
    {
      const device d("/job:worker/task:0");
      more = assign_add(count, constant(std::int64_t{1}));
    }
    const output twice = multiply(count, std::int64_t{2});
    const auto init = global_variables_initializer();
    // By its own process, or as a client elsewhere would.
    for (const std::string& host : {std::string("localhost"), std::string("127.0.0.1")}) {
      const std::string address = c.task_address("worker", 0);
      session_options options;
      options.target = "tcp://" + host + address.substr(address.find(':'));
      options.operation_timeout_in_ms = 10'000;
      graph_session s(g, options);
      s.run(init);
      std::vector<std::jthread> threads;
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&, t] {
          for (int k = 0; k < 40; ++k) s.run(t % 2 == 0 ? more : twice);
        });
      threads.clear();
      CHECK(s.run<std::int64_t>(count) == 80);
      std::atomic<int> failed{0}, done{0};
      for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
          try {
            for (;;) s.run(more), ++done;
          } catch (const error&) {
            ++failed;
          }
        });
      while (done < 20) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      const auto begin = std::chrono::steady_clock::now();
      s.close();
      threads.clear();
      CHECK(failed == 4);
      CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(5));
    }
  }
}

TEST_CASE("who is there is asked of every task") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {{2, free_address()}, {5, free_address()}}}};
  const server ps(c, {.job_name = "ps"});
  auto worker = std::make_unique<server>(c, server_options{.job_name = "worker", .task_index = 2});
  CHECK(cluster_at(ps.target()) == c);
  auto tasks = cluster_status(c, 2'000);
  REQUIRE(tasks.size() == 3);
  CHECK(tasks[0].device == "/job:ps/task:0");
  CHECK(tasks[1].device == "/job:worker/task:2");
  CHECK(tasks[1].address == c.task_address("worker", 2));
  CHECK(tasks[2].device == "/job:worker/task:5");
  CHECK(tasks[0].is_up);
  CHECK(tasks[0].process == ::getpid());
  CHECK(tasks[1].is_up);
  CHECK_FALSE(tasks[2].is_up);
  CHECK(says(tasks[2].problem, tasks[2].device, tasks[2].address, "no process listens there"));
  const auto before = tasks[1].incarnation;

  // Started again; and with another specification.
  worker.reset();
  CHECK_FALSE(cluster_status(c, 300)[1].is_up);
  worker = std::make_unique<server>(c, server_options{.job_name = "worker", .task_index = 2});
  tasks = cluster_status(c, 2'000);
  CHECK(tasks[1].is_up);
  CHECK(tasks[1].incarnation != before);
  const cluster_spec smaller{{"ps", {c.task_address("ps", 0)}}, {"worker", {{2, c.task_address("worker", 2)}}}};
  tasks = cluster_status(smaller, 1'000);
  REQUIRE(tasks.size() == 2);
  for (const auto& t : tasks) CHECK(says(t.problem, "belongs to another cluster"));
  const cluster_spec swapped{{"ps", {c.task_address("worker", 2)}}};
  CHECK(says(cluster_status(swapped, 1'000)[0].problem, "is not /job:ps/task:0"));

  const server alone = server::local();
  CHECK(cluster_at(alone.target()) == alone.cluster());
  CHECK(cluster_status(alone.cluster())[0].is_up);
  {
    graph g;
    const auto scope = g.as_default();
    const output sum = add(constant(1.0f), constant(2.0f));
    graph_session s(g, {.target = alone.target()});
    CHECK(s.run<float>(sum) == 3);
    const auto held = cluster_status(alone.cluster())[0].counted;
    REQUIRE(held);
    CHECK(held->sessions == 1);
    CHECK(held->parts == 1);
    CHECK(held->memory_in_bytes > 1'000'000);
    CHECK(held->memory_in_bytes < 1'000'000'000'000);
  }
  const auto left = cluster_status(alone.cluster())[0].counted;
  REQUIRE(left);
  CHECK(left->sessions == 0);
  CHECK(left->parts == 0);

  CHECK_THROWS_AS(static_cast<void>(cluster_status({})), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(cluster_status(c, 0)), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(cluster_at("localhost:1")), invalid_argument);
  CHECK_THROWS_AS(static_cast<void>(cluster_at("tcp://nonsense")), invalid_argument);
  CHECK(says(message_of<unavailable>([] { static_cast<void>(cluster_at("tcp://" + free_address(), 300)); }), "no process listens there"));
}

TEST_CASE("the clock of the day jumps where it is to") {
  using clock = std::chrono::system_clock;
  std::chrono::seconds most{0};
  for (auto [end, last] = std::pair(std::chrono::steady_clock::now() + std::chrono::milliseconds(500), clock::now());
       std::chrono::steady_clock::now() < end;) {
    const auto now = clock::now();
    most = std::max(most, std::chrono::duration_cast<std::chrono::seconds>(now < last ? last - now : now - last));
    last = now;
  }
  CHECK((most > std::chrono::hours(1)) == (std::getenv("LEAT_JUMPING_CLOCK") != nullptr));
}

TEST_CASE("a variable of unknown rank is assigned at another task") {
  const cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  const server ps(c, {.job_name = "ps"}), worker(c, {.job_name = "worker"});
  graph g;
  const auto scope = g.as_default();
  output v, sized;
  {
    const device there("/job:ps/task:0");
    v = variable(std::vector<float>{1, 2}, "v", {.validate_shape = false});
    sized = variable(std::vector<float>{1, 2}, "sized");
  }
  graph_session s(g, {.target = worker.target(), .operation_timeout_in_ms = 20'000});
  // Before anything has run: the assignment makes the variable.
  s.assign(v, tensor_value(std::vector<float>{1, 2, 3}));
  CHECK(s.value(v).as<std::vector<float>>() == std::vector<float>{1, 2, 3});
  s.assign(v, tensor_value(7.0f));
  CHECK(s.value(v).as<float>() == 7.0f);
  CHECK_THROWS_AS(s.assign(sized, tensor_value(7.0f)), invalid_argument);
  s.assign(sized, tensor_value(std::vector<float>{8, 9}));
  CHECK(s.value(sized).as<std::vector<float>>() == std::vector<float>{8, 9});
}

TEST_CASE("after a reset another model may have variables of the same names, but other dtypes and shapes") {
  const server here = server::local();
  const auto options = [&] { return session_options{.target = here.target(), .operation_timeout_in_ms = 20'000}; };
  graph before;
  output w;
  graph_operation init;
  {
    const auto scope = before.as_default();
    const container own("b");
    w = variable(std::vector<float>{1, 2}, "w");
    init = global_variables_initializer();
  }
  graph_session first(before, options());
  first.run(init);
  const auto train = [&](auto value) {
    graph g;
    const auto scope = g.as_default();
    const container own("b");
    const output v = variable(value, "w");
    const auto start = global_variables_initializer();
    graph_session s(g, options());
    s.run(start);
    s.run(assign_add(v, constant(value)));
    return s.value(v);
  };
  // As long as it has a value, it keeps dtype and shape.
  CHECK_THROWS_AS(train(std::vector<float>{1, 2, 3}), invalid_argument);
  first.reset("b");
  CHECK(train(std::vector<float>{1, 2, 3}).template as<std::vector<float>>() == std::vector<float>{2, 4, 6});
  CHECK_THROWS_AS(first.run(init), invalid_argument);
  first.reset("b");
  CHECK(train(7).template as<int>() == 14);
  first.reset("b");
  first.assign(w, tensor_value(std::vector<float>{5, 6}));
  CHECK(first.value(w).as<std::vector<float>>() == std::vector<float>{5, 6});
  first.reset("b");
  first.run(init);
  CHECK(first.run<std::vector<float>>(w) == std::vector<float>{1, 2});
}
