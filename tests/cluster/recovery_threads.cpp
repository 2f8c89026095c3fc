// Monitored sessions in a cluster that loses a parameter server: training goes on, with the queues that the others hold.

#include <leat/cluster.hpp>
#include <leat/supervise.hpp>

#include "cluster/support/free_address.hpp"

#include <doctest/doctest.h>

#include <optional>
#include <sstream>

using namespace leat;
using namespace leat_test;

namespace {

// A queue at the first parameter server, filled by a queue runner, and variables at the second.
struct training_by_queue {
  cluster_spec c{{"ps", {free_address(), free_address()}}, {"worker", {free_address()}}};
  server queues{c, {.job_name = "ps", .task_index = 0}};
  std::optional<server> variables{std::in_place, c, server_options{.job_name = "ps", .task_index = 1}};
  server worker{c, {.job_name = "worker"}};
  graph g;
  default_graph_scope scope = g.as_default();
  output w, step;
  std::ostringstream log;

  // What is enqueued is a variable's value, or a constant.
  explicit training_by_queue(bool enqueues_variable) {
    output source;
    {
      const device there("/job:ps/task:1");
      w = variable(0.0f, "w");
      source = variable(1.0f, "source");
      get_or_create_global_step();
    }
    output taken;
    {
      const device there("/job:ps/task:0");
      const graph_queue q = fifo_queue(1, {dtype::float32}, {{}});
      add_queue_runner(queue_runner(q, {q.enqueue({enqueues_variable ? source : constant(1.0f)})}));
      taken = q.dequeue()[0];
    }
    const device there(enqueues_variable ? worker.device() : "/job:ps/task:1");
    step = enqueues_variable ? taken * 2.0f : assign_add(w, taken);
  }
  monitored_options options() {
    monitored_options o;
    o.session.target = worker.target();
    o.session.start_timeout_in_ms = 20'000;
    o.session.operation_timeout_in_ms = 20'000;
    o.stop_on_signals = false;
    o.log = &log;
    return o;
  }
  void lose_variables() {
    variables.reset();
    variables.emplace(c, server_options{.job_name = "ps", .task_index = 1});
  }
};

}  // namespace

TEST_CASE("a queue stays open where a run's loss of another task makes a new session") {
  training_by_queue t(false);
  monitored_session s(t.options());
  for (int k = 1; k <= 5; ++k) CHECK(s.run(t.step).as<float>() == static_cast<float>(k));
  t.lose_variables();
  for (int k = 1; k <= 10; ++k) CHECK(s.run(t.step).as<float>() == static_cast<float>(k));
  CHECK(s.recoveries() >= 1);
  CHECK(t.log.str().find("An error was raised") != std::string::npos);
}

TEST_CASE("a run does not wait for a queue runner that has lost its task") {
  training_by_queue t(true);
  monitored_session s(t.options());
  for (int k = 0; k < 5; ++k) CHECK(s.run(t.step).as<float>() == 2.0f);
  t.lose_variables();
  for (int k = 0; k < 10; ++k) CHECK(s.run(t.step).as<float>() == 2.0f);
  CHECK(s.recoveries() >= 1);
}

TEST_CASE("a supervisor whose new session could not be prepared makes another one for the next run") {
  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  std::optional<server> variables(std::in_place, c, server_options{.job_name = "ps"});
  server worker(c, {.job_name = "worker"});
  graph g;
  const auto scope = g.as_default();
  output step;
  {
    const device there("/job:ps/task:0");
    step = assign_add(variable(0.0f, "w"), 1.0f);
  }
  int prepared = 0;
  std::ostringstream log;
  supervisor_options o;
  o.init_fn = [&](graph_session&) {
    if (++prepared == 2) throw data_loss("the first values cannot be read");
  };
  o.stop_on_signals = false;
  o.session = {.target = worker.target(), .start_timeout_in_ms = 20'000, .operation_timeout_in_ms = 20'000};
  o.log = &log;
  supervisor sv(o);
  auto s = sv.managed_session();
  for (int k = 1; k <= 3; ++k) CHECK(s.run<float>(step) == static_cast<float>(k));
  variables.reset();
  variables.emplace(c, server_options{.job_name = "ps"});
  CHECK_THROWS_AS(s.run(step), data_loss);
  CHECK_THROWS_AS(sv.session(), failed_precondition);
  for (int k = 1; k <= 3; ++k) CHECK(s.run<float>(step) == static_cast<float>(k));
  CHECK(prepared == 2);  // the servers have the values of init_op
  CHECK(sv.recoveries() == 2);
  CHECK(log.str().find("the session was lost, and could not be made anew") != std::string::npos);
}
