// Synchronous training of graphs on a cluster: replicas that end, each in its own time, that come back, and that are missing.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/supervise.hpp>

#include "cluster/support/all_at_once.hpp"
#include "cluster/support/cluster_here.hpp"
#include "support/messages.hpp"
#include "support/processes.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

struct kind {
  int replicas = 2, gradients = 2;
  bool have_numbers = true;
  int first_tokens = 0;
  std::int64_t timeout_in_ms = 30'000;
};

// A replica whose gradient of `w` is what it is fed, and of `v`, at another task, twice that.
struct replica {
  graph g;
  default_graph_scope scope = g.as_default();
  std::ostringstream log;
  output w, v, steps, x, awaited;
  graph_operation train;
  std::optional<sync_replicas> sync;
  bool is_chief;
  monitored_options o;
  std::optional<monitored_session> s;

  replica(cluster_here& c, int task, const kind& how, hook_list more = {})
      : replica(c.c, *c.servers[static_cast<std::size_t>(c.c.num_tasks("ps") + task)], how, std::move(more)) {}
  replica(const cluster_spec& c, const server& here, const kind& how, hook_list more = {}) : is_chief(here.task_index() == 0) {
    const int task = here.task_index();
    {
      const device placed(replica_device_setter({.worker_device = here.device(), .cluster = c}));
      steps = get_or_create_global_step();
      w = variable(0.0f, "w");
      v = variable(0.0f, "v");
      x = placeholder(dtype::float32, {}, "x");
      sync.emplace(gradient_descent(1.0f), sync_replicas_options{.replicas_to_aggregate = how.gradients,
                                                                 .total_num_replicas = how.replicas,
                                                                 .replica = how.have_numbers ? task : -1});
      train = sync->apply_gradients({{x, w}, {x * 2.0f, v}}, {.global_step = steps});
      awaited = sync->awaited_replicas();
    }
    o.owner = &g;
    o.is_chief = is_chief;
    o.stop_on_signals = false;
    o.max_wait = seconds(20);
    o.log = &log;
    o.session.target = here.target();
    o.session.device_filters = {"/job:ps", here.device()};
    o.session.operation_timeout_in_ms = how.timeout_in_ms;
    o.hooks = std::move(more);
    o.hooks.push_back(sync_replicas_hook(*sync, is_chief, how.first_tokens, &log));
  }
  void begin() { s.emplace(o); }
  void give(float gradient) { s->run(train, {{x, gradient}}); }
  std::int64_t step() { return s->session().run<std::int64_t>(steps); }
};

// The same replica with a supervisor.
struct supervised_replica : replica {
  std::optional<supervisor> sv;
  supervised_replica(cluster_here& c, int task, const kind& how) : replica(c, task, how) { make(); }
  supervised_replica(const cluster_spec& c, const server& here, const kind& how, std::string logdir) : replica(c, here, how) {
    make(std::move(logdir));
  }
  void make(std::string logdir = {}) {
    supervisor_options its;
    its.owner = &g;
    its.is_chief = is_chief;
    its.logdir = std::move(logdir);
    its.global_step = steps;
    its.summary = {};
    its.save_summaries_secs = 0;
    its.save_model_secs = 0;
    its.hooks = o.hooks;
    its.stop_on_signals = false;
    its.max_wait_secs = 20;
    its.stop_grace_secs = 20;
    its.log = &log;
    its.session = o.session;
    sv.emplace(its);
  }
};

// Each replica gives its number plus one, as often as it has data.
void trains_unevenly(int ps, const kind& how, const std::vector<int>& data, std::int64_t steps, float w, bool with_supervisors = false) {
  CAPTURE(data);
  cluster_here c(ps, how.replicas);
  std::vector<std::function<void()>> work;
  std::string told;
  std::int64_t reached = 0;
  for (int k = 0; k < how.replicas; ++k)
    work.push_back([&, k] {
      const int batches = data[static_cast<std::size_t>(k)];
      const auto gradient = static_cast<float>(k + 1);
      if (with_supervisors) {
        supervised_replica r(c, k, how);
        auto s = r.sv->managed_session();
        for (int i = 0; i < batches; ++i) s.run(r.train, {{r.x, gradient}});
        r.sv->stop();
        if (k == 0) told = r.log.str();
        return;
      }
      replica r(c, k, how);
      r.begin();
      for (int i = 0; i < batches; ++i) r.give(gradient);
      r.s->close();
      if (k == 0) told = r.log.str();
    });
  const auto begin = std::chrono::steady_clock::now();
  all_at_once(work);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  graph g;
  const auto scope = g.as_default();
  replica look(c, 0, how);
  graph_session s(look.g, {.target = c.servers[0]->target()});
  reached = s.run<std::int64_t>(look.steps);
  CHECK(reached == steps);
  CHECK(s.run<float>(look.w) == -w);
  CHECK(s.run<float>(look.v) == -2 * w);
  CHECK(s.run<std::int64_t>(look.awaited) == how.replicas);  // of the next training
  CAPTURE(told);
  CHECK(says(told, "has ended: " + std::to_string(how.replicas - 1) + " of " + std::to_string(how.replicas)));
}

}  // namespace

TEST_CASE("a replica without more data gives its share back, whoever ends first") {
  const kind three{.replicas = 3, .gradients = 3};
  // Four updates each of 1, 2 and 3, of 2 and 3, of 3.
  trains_unevenly(1, three, {4, 8, 12}, 12, 4 * 2.0f + 4 * 2.5f + 4 * 3.0f);
  trains_unevenly(2, three, {12, 8, 4}, 12, 4 * 2.0f + 4 * 1.5f + 4 * 1.0f);
  trains_unevenly(2, three, {6, 0, 6}, 6, 6 * 2.0f);
  trains_unevenly(1, three, {0, 3, 3}, 3, 3 * 2.5f);
}

TEST_CASE("supervisors join and leave, too") {
  const kind three{.replicas = 3, .gradients = 3};
  trains_unevenly(1, three, {4, 8, 12}, 12, 4 * 2.0f + 4 * 2.5f + 4 * 3.0f, true);
  trains_unevenly(2, three, {12, 8, 4}, 12, 4 * 2.0f + 4 * 1.5f + 4 * 1.0f, true);
  trains_unevenly(2, three, {6, 0, 6}, 6, 6 * 2.0f, true);
}

TEST_CASE("a supervisor's replica whose input ends leaves; one that fails does not, and is named") {
  cluster_here c(1, 2);
  const kind how{.timeout_in_ms = 3'000};
  supervised_replica chief(c, 0, how), other(c, 1, how);
  std::string missing;
  all_at_once({[&] {
                 chief.sv->managed([&](supervised_session& s) {
                   for (int k = 0; k < 2; ++k) s.run(chief.train, {{chief.x, 1.0f}});
                   missing = message_of<deadline_exceeded>([&] { s.run(chief.train, {{chief.x, 1.0f}}); });
                   CHECK(s.run<std::int64_t>(chief.awaited) == 2);
                   chief.sv->request_stop();
                 });
               },
               [&] {
                 CHECK_THROWS_AS(other.sv->managed([&](supervised_session& s) {
                   for (int k = 0; k < 2; ++k) s.run(other.train, {{other.x, 1.0f}});
                   throw invalid_argument("the program fails");
                 }),
                                 invalid_argument);
               }});
  CHECK(says(missing, "no gradients of replica 1"));

  cluster_here again(1, 2);
  supervised_replica first(again, 0, how), second(again, 1, how);
  all_at_once({[&] {
                 first.sv->managed([&](supervised_session& s) {
                   for (int k = 0; k < 6; ++k) s.run({first.train}, {{first.x, 1.0f}});
                   CHECK(s.run<std::int64_t>(first.awaited) == 1);
                   CHECK(s.value(first.w).as<float>() == -(2 * 2.0f + 4 * 1.0f));
                 });
               },
               [&] {
                 second.sv->managed([&](supervised_session& s) {
                   for (int k = 0; k < 2; ++k) s.run(second.train, {{second.x, 3.0f}});
                   throw out_of_range("no more data");
                 });
               }});
  CHECK(says(first.log.str(), "replica 1", "has ended: 1 of 2 replicas remain"));
}

TEST_CASE("an update that can never be made ends a supervisor's training, too") {
  cluster_here c(1, 1);
  supervised_replica alone(c, 0, {.replicas = 1, .gradients = 2, .have_numbers = false});
  auto s = alone.sv->managed_session();
  const std::string said = message_of<failed_precondition>([&] { s.run(alone.train, {{alone.x, 1.0f}}); });
  CHECK(says(said, "a synchronous update cannot be made"));
  CHECK(alone.sv->should_stop());
  CHECK(says(message_of<failed_precondition>([&] { alone.sv->stop(); }), "a synchronous update cannot be made"));
}

TEST_CASE("a supervisor's hooks are called as a monitored session's are") {
  struct noting final : session_run_hook {
    std::vector<std::string> calls;
    output fetched;
    void begin(const begin_context& b) override { calls.push_back(b.has_global_step ? "begin" : "begin without steps"); }
    void after_create_session(watched_session&, coordinator&) override { calls.push_back("session"); }
    session_run_args before_run(session_run_context&) override {
      calls.push_back("before");
      return {.fetches = {fetched}};
    }
    void after_run(session_run_context& run, const session_run_values& values) override {
      calls.push_back("after " + std::to_string(values.results[0].as<std::int64_t>()));
      if (values.results[0].as<std::int64_t>() >= 2) run.request_stop();
    }
    void before_end(watched_session&, bool is_stopped) override { calls.push_back(is_stopped ? "stopped" : "ended"); }
    void end(watched_session&) override { calls.push_back("end"); }
  };
  graph g;
  const auto scope = g.as_default();
  const auto noted = std::make_shared<noting>();
  noted->fetched = assign_add(get_or_create_global_step(), std::int64_t{1});
  CHECK_THROWS_AS(supervisor({.hooks = {nullptr}}), invalid_argument);
  supervisor with({.hooks = {noted}, .stop_on_signals = false});
  {
    auto s = with.managed_session();
    while (!with.should_stop()) CHECK(s.run<std::int64_t>(noted->fetched) >= 1);
    CHECK(s.run<std::int64_t, std::int64_t>({noted->fetched, noted->fetched}) == std::tuple(3, 3));
  }
  CHECK(noted->calls ==
        std::vector<std::string>{"begin", "session", "before", "after 1", "before", "after 2", "before", "after 3", "stopped", "end"});
}

// A parameter server of the tests below, in a process of its own: its number, and the addresses of two of them and of three workers.
TEST_CASE("serve replicas" * doctest::skip()) {
  const char* const given = std::getenv("LEAT_REPLICAS_SERVER");
  if (given == nullptr) return;
  std::istringstream words(given);
  int number = 0;
  std::string ps[2], workers[3];
  words >> number >> ps[0] >> ps[1];
  for (std::string& w : workers) words >> w;
  server here(cluster_spec{{"ps", {ps[0], ps[1]}}, {"worker", {workers[0], workers[1], workers[2]}}},
              {.job_name = "ps", .task_index = number});
  here.join();
}

namespace {

// Two parameter servers that are processes, the first of which has the global step, and three workers here.
struct killable_servers {
  cluster_spec c{{"ps", {free_address(), free_address()}}, {"worker", {free_address(), free_address(), free_address()}}};
  std::unique_ptr<process> ps[2];
  std::vector<std::unique_ptr<server>> workers;
  killable_servers() {
    start(0), start(1);
    for (int k = 0; k < 3; ++k) workers.push_back(std::make_unique<server>(c, server_options{.job_name = "worker", .task_index = k}));
  }
  void start(int k) {
    std::string told = std::to_string(k);
    for (const auto& [job, count] : {std::pair("ps", 2), std::pair("worker", 3)})
      for (int n = 0; n < count; ++n) told += " " + c.task_address(job, n);
    ::setenv("LEAT_REPLICAS_SERVER", told.c_str(), 1);
    ps[k] =
        std::make_unique<process>(std::vector<std::string>{"/proc/self/exe", "--test-case=serve replicas", "--no-skip", "--no-run=false"});
    ::unsetenv("LEAT_REPLICAS_SERVER");
  }
  void kill_and_start(int k) {
    ps[k]->send(SIGKILL);
    ps[k]->wait();
    start(k);
  }
};

}  // namespace

TEST_CASE("a server that was killed hears from the chief who had ended") {
  for (const int killed : {0, 1}) {
    CAPTURE(killed);
    killable_servers c;
    const scratch_folder folder("roster");
    const kind how{.replicas = 3, .gradients = 3};
    std::vector<std::unique_ptr<replica>> r;
    for (int k = 0; k < 3; ++k) r.push_back(std::make_unique<replica>(c.c, *c.workers[static_cast<std::size_t>(k)], how));
    r[0]->o.checkpoint_dir = folder.path.string();
    r[0]->o.save_checkpoint_steps = 1;
    r[0]->o.save_summaries_steps = r[0]->o.log_step_count_steps = 0;
    // After a recovery a replica may have a token more, so these count updates, not runs.
    const auto train = [&](int replicas, std::int64_t last) {
      std::vector<std::function<void()>> work;
      for (std::size_t k = 0; k < static_cast<std::size_t>(replicas); ++k)
        work.push_back([&, k] {
          if (!r[k]->s) r[k]->begin();
          while (r[k]->s->run<std::int64_t>(r[k]->steps) < last) r[k]->give(1.0f);
        });
      all_at_once(work);
    };
    train(3, 2);
    r[2]->s->close();
    train(2, 4);
    CHECK(r[0]->s->run<std::int64_t>(r[0]->awaited) == 2);
    c.kill_and_start(killed);
    train(2, 7);
    CHECK(r[0]->s->recoveries() >= 1);
    CHECK(r[0]->s->run<std::int64_t>(r[0]->awaited) == 2);
    CHECK(r[0]->step() == 7);
    CHECK(r[0]->s->run<float>(r[0]->w) == -7.0f);
    CHECK(r[0]->s->run<float>(r[0]->v) == -14.0f);
    CHECK(says(r[0]->log.str(), "had ended before the server was started anew: 2 of 3 replicas remain") == (killed == 0));
    all_at_once({[&] { r[1]->s->close(); }, [&] { r[0]->s->close(); }});
  }
}

TEST_CASE("a server that was killed hears from a supervisor's chief who had ended") {
  killable_servers c;
  const scratch_folder folder("roster_supervised");
  const kind how{.replicas = 3, .gradients = 3};
  std::vector<std::unique_ptr<supervised_replica>> r;
  std::vector<std::optional<supervised_session>> s(3);
  for (int k = 0; k < 3; ++k)
    r.push_back(std::make_unique<supervised_replica>(c.c, *c.workers[static_cast<std::size_t>(k)], how,
                                                     k == 0 ? folder.path.string() : std::string()));
  const auto train = [&](int replicas, std::int64_t last) {
    std::vector<std::function<void()>> work;
    for (std::size_t k = 0; k < static_cast<std::size_t>(replicas); ++k)
      work.push_back([&, k] {
        if (!s[k]) s[k].emplace(r[k]->sv->managed_session());
        while (s[k]->run<std::int64_t>(r[k]->steps) < last) s[k]->run(r[k]->train, {{r[k]->x, 1.0f}});
      });
    all_at_once(work);
  };
  train(3, 2);
  r[2]->sv->stop();
  train(2, 4);
  r[0]->sv->save_model();
  c.kill_and_start(0);
  train(2, 7);
  CHECK(r[0]->sv->recoveries() >= 1);
  CHECK(s[0]->run<std::int64_t>(r[0]->awaited) == 2);
  CHECK(s[0]->run<float>(r[0]->w) == -7.0f);
  CHECK(says(r[0]->log.str(), "had ended before the server was started anew: 2 of 3 replicas remain"));
  all_at_once({[&] { r[1]->sv->stop(); }, [&] { r[0]->sv->stop(); }});
}

TEST_CASE("who had ended is not known where chief and server were both started anew: whoever is awaited is named") {
  killable_servers c;
  const scratch_folder folder("roster_unknown");
  const kind how{.replicas = 3, .gradients = 3, .timeout_in_ms = 4'000};
  {
    std::vector<std::unique_ptr<replica>> r;
    for (int k = 0; k < 3; ++k) r.push_back(std::make_unique<replica>(c.c, *c.workers[static_cast<std::size_t>(k)], how));
    r[0]->o.checkpoint_dir = folder.path.string();
    r[0]->o.save_checkpoint_steps = 1;
    std::vector<std::function<void()>> work;
    for (auto& one : r)
      work.push_back([&one] {
        one->begin();
        one->give(1.0f);
      });
    all_at_once(work);
    r[2]->s->close();
    for (int k : {0, 1}) r[static_cast<std::size_t>(k)]->s->abandon();
  }
  c.kill_and_start(0);
  replica chief(c.c, *c.workers[0], how), other(c.c, *c.workers[1], how);
  chief.o.checkpoint_dir = folder.path.string();
  std::string said;
  all_at_once({[&] {
                 chief.begin();
                 said = message_of<deadline_exceeded>([&] {
                   for (int k = 0; k < 4; ++k) chief.give(1.0f);
                 });
                 chief.s->abandon();
               },
               [&] {
                 other.begin();
                 try {
                   for (int k = 0; k < 4; ++k) other.give(1.0f);
                 } catch (const error&) {
                 }
                 other.s->abandon();
               }});
  CHECK(says(said, "1 replica that has not begun"));
}

TEST_CASE("where chief and server were both started anew, and all come back, no server goes on with fewer gradients") {
  killable_servers c;
  const scratch_folder folder("roster_all");
  const kind how{.replicas = 3, .gradients = 3};
  const auto three = [&] {
    std::vector<std::unique_ptr<replica>> r;
    for (int k = 0; k < 3; ++k) r.push_back(std::make_unique<replica>(c.c, *c.workers[static_cast<std::size_t>(k)], how));
    r[0]->o.checkpoint_dir = folder.path.string();
    r[0]->o.save_checkpoint_steps = 1;
    return r;
  };
  // Each gives its number plus one, so the mean of all is 2.
  const auto train = [](auto& r, int replicas, std::int64_t last) {
    std::vector<std::function<void()>> work;
    for (std::size_t k = 0; k < static_cast<std::size_t>(replicas); ++k)
      work.push_back([&r, k, last] {
        if (!r[k]->s) r[k]->begin();
        while (r[k]->s->template run<std::int64_t>(r[k]->steps) < last) r[k]->give(static_cast<float>(k + 1));
      });
    all_at_once(work);
  };
  {
    auto r = three();
    train(r, 3, 1);
    r[2]->s->close();
    train(r, 2, 3);
    CHECK(r[0]->s->run<float>(r[0]->w) == -(2.0f + 2 * 1.5f));
    for (std::size_t k : {0u, 1u}) r[k]->s->abandon();
  }
  c.kill_and_start(0);
  auto r = three();
  r[0]->begin();
  const auto step = r[0]->step();
  const auto w = r[0]->s->run<float>(r[0]->w), v = r[0]->s->run<float>(r[0]->v);
  train(r, 3, step + 3);
  const auto made = static_cast<float>(r[0]->step() - step);
  CHECK(r[0]->s->run<float>(r[0]->w) == w - 2 * made);
  CHECK(r[0]->s->run<float>(r[0]->v) == v - 4 * made);
  all_at_once({[&] { r[0]->s->close(); }, [&] { r[1]->s->close(); }, [&] { r[2]->s->close(); }});
}

TEST_CASE("spares are given up first") {
  // Replicas share a token queue. Whose gradients an update takes is not told, so all give the same.
  cluster_here c(2, 3);
  const kind how{.replicas = 3, .gradients = 2, .have_numbers = false};
  std::vector<std::int64_t> ends(3);
  std::string told;
  float w = 0;
  std::vector<std::function<void()>> work;
  for (int k = 0; k < 3; ++k)
    work.push_back([&, k] {
      replica r(c, k, how);
      r.begin();
      while (r.step() < 10 * (k + 1)) r.give(1.0f);
      ends[static_cast<std::size_t>(k)] = r.step();
      if (k == 2) w = r.s->session().run<float>(r.w);
      r.s->close();
      if (k == 0) told = r.log.str();
    });
  all_at_once(work);
  CAPTURE(told);
  CHECK(ends[2] >= 30);
  CHECK(ends[2] <= 32);
  CHECK(w == -static_cast<float>(ends[2]));
  CHECK(says(told, "has ended: 2 of 3 replicas remain, and updates are made of 2 gradients"));
  // On a busy machine the last two may end between two looks of the chief, which then has nothing to say of the first of them.
  WARN(says(told, "has ended: 1 of 3 replicas remain, and updates are made of 1 gradient"));
}

TEST_CASE("a replica that comes back counts again") {
  cluster_here c(1, 2);
  replica chief(c, 0, {});
  chief.begin();
  const auto together = [&](float gradient, int times) {
    replica other(c, 1, {});
    other.begin();
    all_at_once({[&] {
                   for (int i = 0; i < times; ++i) other.give(gradient);
                   other.s->close();
                 },
                 [&] {
                   for (int i = 0; i < times; ++i) chief.give(1.0f);
                 }});
  };
  together(3.0f, 3);
  CHECK(chief.step() == 3);
  CHECK(chief.s->session().run<std::int64_t>(chief.awaited) == 1);
  for (int i = 0; i < 4; ++i) chief.give(1.0f);
  CHECK(chief.step() == 7);
  together(5.0f, 3);
  CHECK(chief.step() == 10);
  CHECK(chief.s->session().run<float>(chief.w) == -(3 * 2.0f + 4 * 1.0f + 3 * 3.0f));
  chief.give(1.0f);
  chief.s->close();
  CAPTURE(chief.log.str());
  CHECK(says(chief.log.str(), "has come back: 2 of 2 replicas remain"));
}

TEST_CASE("replicas that share a token queue come and go") {
  cluster_here c(2, 2);
  const kind how{.have_numbers = false};
  replica chief(c, 0, how);
  chief.begin();
  for (int round = 0; round < 3; ++round) {
    std::atomic<bool> done{false};
    all_at_once({[&] {
                   replica other(c, 1, how);
                   other.begin();
                   for (const std::int64_t end = other.step() + 20; other.step() < end;) other.give(1.0f);
                   other.s->close();
                   done = true;
                 },
                 [&] {
                   while (!done) chief.give(1.0f);
                 }});
    CHECK(chief.s->session().run<std::int64_t>(chief.awaited) == 1);
    for (const std::int64_t end = chief.step() + 20; chief.step() < end;) chief.give(1.0f);
  }
  CHECK(chief.s->session().run<float>(chief.w) == -static_cast<float>(chief.step()));
  chief.s->close();
}

TEST_CASE("the end of the input within a step is an orderly end") {
  cluster_here c(1, 2);
  std::vector<std::function<void()>> work;
  for (int k = 0; k < 2; ++k)
    work.push_back([&, k] {
      replica r(c, k, {});
      r.begin();
      int left = 3 * (2 - k);
      r.s->loop([&] {
        if (left-- == 0) throw out_of_range("no more data");
        r.give(1.0f);
      });
      CHECK(r.s->is_closed());
    });
  all_at_once(work);
}

TEST_CASE("who is missing is named when a run has waited until its deadline") {
  for (const bool have_numbers : {true, false}) {
    CAPTURE(have_numbers);
    cluster_here c(1, 2);
    const kind how{.have_numbers = have_numbers, .timeout_in_ms = 1500};
    replica chief(c, 0, how);
    chief.begin();
    CHECK(says(message_of<deadline_exceeded>([&] { chief.give(1.0f); }), "1 replica that has not begun"));
    replica other(c, 1, how);
    other.begin();
    // The chief's gradient of the step that failed is there, or is given once more in its place.
    all_at_once({[&] { other.give(1.0f); }, [&] { chief.give(1.0f); }});
    const std::int64_t before = chief.step();
    const std::string late = message_of<deadline_exceeded>([&] {
      for (int i = 0; i < 3; ++i) chief.give(1.0f);
    });
    CAPTURE(late);
    CHECK(says(late, "no gradients of", "/job:worker/task:1", "its last gradients came"));
    CHECK(chief.step() <= before + 1);
    // It was not in order: its share is not given back.
    other.s->abandon();
    CHECK(chief.s->session().run<std::int64_t>(chief.awaited) == 2);
    // A chief without more data does not wait for it for ever, either.
    const auto begin = std::chrono::steady_clock::now();
    CHECK(says(message_of<deadline_exceeded>([&] { chief.s->close(); }), "neither train nor end", "/job:worker/task:1"));
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
  }
}

TEST_CASE("an update that can never be made is an error at once") {
  cluster_here c(1, 1);
  // Two gradients of one replica, which has no token to give the second.
  replica alone(c, 0, {.replicas = 1, .gradients = 2, .have_numbers = false});
  alone.begin();
  const auto begin = std::chrono::steady_clock::now();
  const std::string never = message_of<failed_precondition>([&] { alone.give(1.0f); });
  CHECK(says(never, "cannot be made", "needs 2 gradients", "each of the 1 replicas"));
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(10));
}

TEST_CASE("a chief that only makes the updates ends when all replicas have ended") {
  cluster_here c(1, 2);
  const kind how{.replicas = 1, .gradients = 1, .have_numbers = false};
  replica chief(c, 0, how);
  chief.begin();
  {
    replica worker(c, 1, how);
    worker.begin();
    for (int i = 0; i < 5; ++i) worker.give(2.0f);
    CHECK(worker.step() == 5);
    worker.s->close();
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!chief.s->should_stop() && std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(chief.s->should_stop());
  CHECK(chief.step() == 5);
  chief.s->close();
}

TEST_CASE("a chief that has begun anew does not give two gradients to one update") {
  cluster_here c(1, 2);
  const kind how{.timeout_in_ms = 3000};
  const auto folder = std::filesystem::temp_directory_path() / ("leat_sync_replicas." + std::to_string(::getpid()));
  replica other(c, 1, how);
  {
    replica first(c, 0, how);
    first.o.checkpoint_dir = folder;
    first.o.save_checkpoint_steps = 1;
    first.begin();
    other.begin();
    all_at_once({[&] { first.give(1.0f); }, [&] { other.give(3.0f); }});
    CHECK(other.step() == 1);
    // Its gradient is there, and the session lost, as that of a process that is killed.
    CHECK_THROWS_AS(first.s->run(first.train, {{first.x, 100.0f}}, {.timeout_in_ms = 300}), deadline_exceeded);
    first.s->abandon();
  }
  replica again(c, 0, how);
  again.o.checkpoint_dir = folder;
  again.begin();
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    other.give(3.0f);
  });
  again.give(1.0f);
  late.join();
  // Tokens that the new chief gave may have let both go on before the update.
  for (int k = 0; k < 1000 && again.step() < 2; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK(again.step() == 2);
  CHECK(again.s->session().run<float>(again.w) == -4.0f);  // the means of 1 and 3, twice
  CHECK(again.s->session().run<float>(again.v) == -8.0f);
  all_at_once({[&] { again.s->close(); }, [&] { other.s->close(); }});
  std::filesystem::remove_all(folder);
}
