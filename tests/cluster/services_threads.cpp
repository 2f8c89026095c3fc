// Masters and workers without a transport between them.

#include <leat/cluster/master_client.hpp>
#include <leat/cluster/step_table.hpp>
#include <leat/graphs.hpp>

#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;

TEST_CASE("one graph on three tasks, by clients here and elsewhere") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  graph g;
  const auto scope = g.as_default();
  output x, y, z1, z2;
  {
    const device d("/job:ps/task:0");
    x = variable(ones_of({2, 2}), "x");
    y = variable(ones_of({2, 2}), "y");
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
  for (int task = 0; task < 3; ++task)
    for (int k = 0; k < 2; ++k) {
      CAPTURE(task);
      session_options options;
      options.target = local_cluster::target(task);
      options.operation_timeout_in_ms = 10'000;
      graph_session s(g, options);
      s.run(init);
      CHECK(s.run<std::vector<float>>(z2) == std::vector<float>{7, 7, 7, 7});
      CHECK(s.value(x).as<std::vector<float>>() == std::vector<float>{1, 1, 1, 1});
      CHECK(s.is_initialized(y));
    }
  // Without a target.
  graph_session alone(g);
  CHECK(says(message_of<invalid_argument>([&] { alone.run(init); }), "/job:ps/task:0", "target"));
}

TEST_CASE("variables outlive their session, and are shared by clients") {
  local_cluster c({{"worker", 1}});
  graph g;
  const auto scope = g.as_default();
  const output a = constant(std::vector<float>{1.5f, 6});
  output b;
  graph_operation update;
  output value;
  {
    const device d("/job:worker/task:0/cpu:0");
    b = variable(std::vector<float>{1.5f, 3.2f}, "b");
    value = add(multiply(a, b), divide(a, b));
    update = assign(b, value).operation();
  }
  session_options options;
  options.target = local_cluster::target(0);
  {
    graph_session first(g, options);
    first.run(global_variables_initializer());
    first.run(update);
  }
  graph_session second(g, options);
  CHECK(second.is_initialized(b));
  const auto found = second.value(b).as<std::vector<float>>();
  CHECK(found[0] == doctest::Approx(3.25f));
  second.assign(b, tensor_value(std::vector<float>{1, 2}));
  CHECK(second.run<std::vector<float>>(b) == std::vector<float>{1, 2});
  CHECK_THROWS_AS(second.assign(b, tensor_value(std::vector<float>{1})), invalid_argument);
  second.reset();
  CHECK_FALSE(second.is_initialized(b));
  CHECK(says(message_of<failed_precondition>([&] { second.run(value); }), "Attempting to use uninitialized value b"));
  CHECK_THROWS_AS(second.value(b), failed_precondition);
}

TEST_CASE("a graph grows between runs; training by two clients at one time loses no step") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  const auto train = [&](int task, int steps) {
    graph g;
    const auto scope = g.as_default();
    session_options options;
    options.target = local_cluster::target(task);
    options.operation_timeout_in_ms = 20'000;
    output count, w, loss;
    graph_operation step;
    {
      const device d(replica_device_setter({.ps_tasks = 1, .worker_device = "/job:worker/task:" + std::to_string(task - 1)}));
      count = get_or_create_global_step();
      w = variable(5.0f, "w");
      loss = square(subtract(w, 3.0f));
      step = gradient_descent(0.01f).minimize(loss, {.global_step = count});
    }
    graph_session s(g, options);
    for (int k = 0; k < steps; ++k) s.run(step);
    output more;
    {
      const device d("/job:worker/task:1");
      more = multiply(w, 2.0f);
    }
    const auto [twice, once] = s.run<float, float>({more, w});
    CHECK(twice == 2 * once);
  };
  {
    graph g;
    const auto scope = g.as_default();
    const device d("/job:ps/task:0");
    get_or_create_global_step();
    variable(5.0f, "w");
    session_options options;
    options.target = local_cluster::target(0);
    graph_session(g, options).run(global_variables_initializer());
  }
  std::thread one([&] { train(1, 200); }), two([&] { train(2, 200); });
  one.join();
  two.join();
  graph g;
  const auto scope = g.as_default();
  const device d("/job:ps/task:0");
  const output count = get_or_create_global_step();
  session_options options;
  options.target = local_cluster::target(0);
  graph_session s(g, options);
  CHECK(s.run<std::int64_t>(count) == 400);
}

TEST_CASE("a graph that grows with every run leaves its tasks with what was used last") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  for (int k = 0; k < 2; ++k) {  // here and elsewhere
    CAPTURE(k);
    graph g;
    const auto scope = g.as_default();
    session_options options;
    options.target = local_cluster::target(1);
    options.operation_timeout_in_ms = 20'000;
    output w;
    {
      const device d("/job:ps/task:0");
      w = variable(5.0f, "w");
    }
    const output first = add(w, 1.0f);
    graph_session s(g, options);
    s.run(global_variables_initializer());
    auto prepared = s.prepare({first}, {});
    CHECK(prepared()[0].as<float>() == 6);
    const device d("/job:worker/task:1");
    for (int n = 0; n < 250; ++n) CHECK(s.run<float>(multiply(w, static_cast<float>(n))) == 5 * static_cast<float>(n));
    CHECK(c.network->services[0]->its_worker().parts_kept() >= 50);
    for (const auto& service : c.network->services) CHECK(service->its_worker().parts_kept() <= 110);
    s.assign(w, tensor_value(7.0f));
    CHECK(prepared()[0].as<float>() == 8);  // prepared again
    CHECK(s.run<float>(first) == 8);
    // From several threads, more at once than are kept.
    std::vector<output> many;
    for (int n = 0; n < 120; ++n) many.push_back(multiply(w, static_cast<float>(n)));
    std::vector<std::thread> threads;
    std::atomic<int> wrong{0};
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&, t] {
        for (int round = 0; round < 2; ++round)
          for (int n = t; n < 120; n += 2)
            if (s.run<float>(many[static_cast<std::size_t>(n)]) != 7 * static_cast<float>(n)) ++wrong;
      });
    for (auto& t : threads) t.join();
    CHECK(wrong == 0);
  }
  // What was dropped with the session: nothing is left.
  for (const auto& service : c.network->services) CHECK(service->its_worker().parts_kept() == 0);
}

TEST_CASE("what could not be prepared whole leaves nothing at the tasks") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  graph g;
  const auto scope = g.as_default();
  session_options options;
  options.target = local_cluster::target(1);
  options.operation_timeout_in_ms = 5'000;
  output x, y;
  {
    const device d("/job:ps/task:0");
    x = add(placeholder(dtype::float32, {}, "x"), 1.0f);
  }
  {
    const device d("/job:worker/task:1");
    y = multiply(x, 2.0f);
  }
  graph_session s(g, options);
  c.network->is_cut[2] = true;
  CHECK_THROWS_AS(s.run(y, {{"x", 1.0f}}), unavailable);
  CHECK(c.network->services[0]->its_worker().parts_kept() == 0);
  CHECK(c.network->services[1]->its_worker().parts_kept() == 0);
  c.network->is_cut[2] = false;
  CHECK(s.run<float>(y, {{"x", 1.0f}}) == 4);
}

TEST_CASE("random numbers go on where another set of fetches left them, as in a session here") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  const auto drawn = [](const std::string& target) {
    graph g;
    const auto scope = g.as_default();
    output r, other;
    {
      const device d(target.empty() ? "" : "/job:worker/task:1");
      r = random_uniform_of({3}, dtype::float32, 7, "r");
      other = multiply(r, 2.0f);
    }
    session_options options;
    options.target = target;
    graph_session s(g, options);
    std::vector<std::vector<float>> all;
    const auto take = [&](std::initializer_list<fetch_item> fetches) { all.push_back(s.run(fetches)[0].as<std::vector<float>>()); };
    take({r});
    take({r, other});
    take({r});
    take({other, r});
    const output later = add(r, 1.0f);
    take({later, r});
    return all;
  };
  const auto here = drawn("");
  CHECK(here[0] != here[1]);
  CHECK(drawn(local_cluster::target(1)) == here);
  CHECK(drawn(local_cluster::target(2)) == here);
  CHECK(drawn(local_cluster::target(0)) == here);
}

TEST_CASE("errors come from where they happen, and end the step everywhere") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  graph g;
  const auto scope = g.as_default();
  output v, z, bad, far;
  {
    const device d("/job:ps/task:0");
    v = variable(1.0f, "v");
    bad = add(v, 1.0f, "needs_v");
  }
  const output x = placeholder(dtype::float32, {}, "x");
  {
    const device d("/job:worker/task:1");
    z = multiply(bad, x);
    far = multiply(x, 2.0f);
  }
  for (int k = 0; k < 4; ++k) {
    session_options options;
    options.target = local_cluster::target(k % 3);
    options.operation_timeout_in_ms = 10'000;
    graph_session s(g, options);
    const std::string said = message_of<failed_precondition>([&] { s.run(z, {{x, 1.0f}}); });
    CHECK(says(said, "Attempting to use uninitialized value v"));
    CHECK(says(message_of<invalid_argument>([&] { s.run(far); }), "You must feed a value for placeholder", "'x'"));
    CHECK(s.run<float>(far, {{x, 4.0f}}) == 8);
    CHECK_THROWS_AS(s.run(far, {{x, std::vector<float>{1, 2}}}), invalid_argument);
    s.close();
    CHECK_THROWS_AS(s.run(far, {{x, 4.0f}}), failed_precondition);
  }
  // A device that there is not.
  graph other;
  {
    const auto its = other.as_default();
    const device d("/job:ps/task:7");
    static_cast<void>(constant(1.0f, "there"));
  }
  session_options options;
  options.target = local_cluster::target(1);
  graph_session s(other, options);
  CHECK(says(message_of<invalid_argument>([&] { s.run(get_tensor_by_name(other, "there:0")); }), "there", "/job:ps/task:7",
             "/job:worker/replica:0/task:1"));
}

// What a server does in a step of training: it sends variables, then waits for gradients.
TEST_CASE("a small part that waits for tensors needs no thread: who brings calls and tensors runs it") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  graph g;
  const auto scope = g.as_default();
  output w, x;
  graph_operation train;
  {
    const device d("/job:ps/task:0");
    w = variable({1.0f, 2.0f}, "w");
  }
  {
    const device d("/job:worker/task:0");
    x = placeholder(dtype::float32, {-1}, "x");
    train = gradient_descent(0.5f).minimize(reduce_sum(multiply(w, x)));
  }
  session_options options;
  options.target = local_cluster::target(1);
  options.operation_timeout_in_ms = 10'000;
  graph_session s(g, options);
  s.run(global_variables_initializer());
  const auto step = [&](const std::vector<float>& value) { s.run(train, {{x, value}}); };
  for (int i = 0; i < 3; ++i) step({1, 2});
  CHECK(s.value(w).as<std::vector<float>>() == std::vector<float>{-0.5f, -1});

  std::mutex guard;
  std::set<std::thread::id> senders;
  int tensors = 0;
  c.network->on_message = [&](cluster::method what, const transport::message&) {
    if (what != cluster::method::tensor && what != cluster::method::tensors) return;
    const std::lock_guard lock(guard);
    senders.insert(std::this_thread::get_id());
    ++tensors;
  };
  for (int i = 0; i < 100; ++i) step({1, 2});
  c.network->on_message = nullptr;
  CHECK(tensors >= 200);
  CHECK(senders == std::set<std::thread::id>{std::this_thread::get_id()});
  CHECK(s.value(w).as<std::vector<float>>() == std::vector<float>{-50.5f, -101});

  // A failure elsewhere ends the part that waits, and nothing is changed.
  for (int i = 0; i < 3; ++i) {
    CHECK_THROWS_AS(step({1, 2, 3}), invalid_argument);
    CHECK(s.value(w).as<std::vector<float>>() == std::vector<float>{-50.5f, -101});
  }
  step({1, 2});
  CHECK(s.value(w).as<std::vector<float>>() == std::vector<float>{-51, -102});
}

TEST_CASE("a session waits for all tasks, says for whom, and has a deadline") {
  local_cluster c({{"ps", 1}, {"worker", 2}});
  c.network->is_cut[2] = true;
  graph g;
  const auto scope = g.as_default();
  const output one = constant(1.0f);
  session_options options;
  options.target = local_cluster::target(0);
  options.start_timeout_in_ms = 300;
  CHECK(says(message_of<deadline_exceeded>([&] { graph_session s(g, options); }), "/job:worker/replica:0/task:1", "cut off"));
  options.device_filters = {"/job:ps", "/job:worker/task:0"};
  graph_session s(g, options);
  CHECK(s.run<float>(one) == 1);
}

TEST_CASE("deadlines, cancellation and a task that goes away while a step waits") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  graph g;
  const auto scope = g.as_default();
  output taken;
  {
    const device d("/job:ps/task:0");
    const auto q =
        g.named().raw(g, "FIFOQueueV2", {}, {{"component_types", std::vector<data_type>{data_type::float32}}}, {{resource_dtype, {}}}, "q");
    taken = g.named()
                .raw(g, "QueueDequeueV2", std::vector<output>{q.result()},
                     {{"component_types", std::vector<data_type>{data_type::float32}}}, {{dtype::float32, shape::unknown()}}, "taken")
                .result();
  }
  output after;
  {
    const device d("/job:worker/task:0");
    after = add(taken, 1.0f);
  }
  for (int task = 0; task < 2; ++task)
    for (int k = 0; k < 2; ++k) {
      session_options options;
      options.target = local_cluster::target(task);
      options.operation_timeout_in_ms = 200;
      graph_session s(g, options);
      CHECK_THROWS_AS(s.run(after), deadline_exceeded);
      cancellation cancel;
      run_options how;
      how.timeout_in_ms = 10'000;
      how.cancel = &cancel;
      std::thread canceller([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        cancel.cancel();
      });
      CHECK_THROWS_AS(s.run(after, {}, how), cancelled);
      canceller.join();
    }
}

TEST_CASE("a tensor that comes while another edge is looked at is not overlooked") {
  const local_cluster tasks({{"worker", 1}});
  const std::map<std::int64_t, int> sends;
  cluster::task_step step(*tasks.network, 1, sends, nullptr);
  tensor_value value;
  CHECK_FALSE(step.take(1, value));
  step.arrive({1}, {tensor_value(2.0f)});
  CHECK_FALSE(step.take(2, value));
  session_state session;
  step_state run(session);
  run.deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  step.wait(run);  // returns at once
  CHECK(std::chrono::steady_clock::now() < run.deadline - std::chrono::seconds(4));
  CHECK(step.take(1, value));
  CHECK(value.as<float>() == 2);
}

TEST_CASE("a step whose tensors came too early to be kept says so") {
  const local_cluster tasks({{"worker", 1}});
  const std::map<std::int64_t, int> sends;
  cluster::step_table steps;
  for (std::uint64_t number = 1; number <= 5000; ++number) steps.arrive(number, {0}, {tensor_value(static_cast<float>(number))});
  const auto first = steps.begin(*tasks.network, 1, sends);
  REQUIRE(first->failure() != nullptr);
  CHECK(says(message_of<resource_exhausted>([&] { std::rethrow_exception(first->failure()); }), "came before it", "dropped"));
  const auto last = steps.begin(*tasks.network, 5000, sends);
  CHECK(last->failure() == nullptr);
  tensor_value value;
  CHECK(last->take(0, value));
  CHECK(value.as<float>() == 5000);
}
