// Where the random numbers of sessions with a target are: told, set, and kept with checkpoints, so that training that is resumed draws what
// it would have drawn undisturbed.

#include <leat/cluster.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/graphs.hpp>
#include <leat/supervise.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/watched_graph_session.hpp>

#include "cluster/support/free_address.hpp"
#include "cluster/support/local_network.hpp"
#include "support/messages.hpp"
#include "support/processes.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

// w, at the parameter server, goes at random: by numbers that are drawn there and at the worker.
struct random_walk {
  graph g;
  output w, steps, there, here, free;
  graph_operation train, init;
  explicit random_walk(bool is_on_cluster = true) {
    const auto scope = g.as_default();
    const auto at = [&](const char* task) { return is_on_cluster ? std::string(task) : std::string(); };
    {
      const device d(at("/job:ps/task:0"));
      steps = get_or_create_global_step();
      w = variable(0.0f, "w");
      there = random_normal_of({3}, 0, 1, dtype::float32, 5, "there");
    }
    {
      const device d(at("/job:worker/task:0"));
      here = random_uniform_of({5}, dtype::float32, 7, "here");
      free = random_uniform_of({2}, dtype::float32, 0, "free");
    }
    const auto next = assign_add(w, reduce_sum(there, {0}) + reduce_sum(here, {0}));
    train = group({next.operation(), assign_add(steps, std::int64_t{1}).operation()});
    init = global_variables_initializer();
  }
  std::vector<std::vector<float>> drawn(graph_session& s) const {
    std::vector<std::vector<float>> all;
    for (const tensor_value& v : s.run({there, here, free})) all.push_back(v.as<std::vector<float>>());
    return all;
  }
};

std::string node_of(const random_positions& all, const std::string& scope) {
  for (const auto& [name, at] : all)
    if (name.starts_with(scope)) return name;
  return {};
}

}  // namespace

TEST_CASE("where random numbers are is told and set at all tasks, by clients here and elsewhere") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  for (int client = 0; client < 2; ++client) {
    CAPTURE(client);
    random_walk m, alone(false);
    graph_session s(m.g, {.target = local_cluster::target(1)}), local(alone.g);
    CHECK(s.random_state().empty());
    s.run(m.init);
    local.run(alone.init);
    m.drawn(s), m.drawn(s);
    alone.drawn(local), alone.drawn(local);
    const random_positions now = s.random_state(), expected = local.random_state();
    REQUIRE(now.size() == 3);
    for (const auto& [name, at] : expected) {
      CAPTURE(name);
      REQUIRE(now.contains(name));
      CHECK(now.at(name).next == at.next);
      if (!name.starts_with("free")) CHECK(now.at(name).seed == at.seed);
    }
    const auto following = m.drawn(s);
    CHECK(m.drawn(s) != following);

    // In the same session, in a new one before anything has been registered, and in one that is no cluster's.
    s.set_random_state(now);
    CHECK(m.drawn(s) == following);
    random_walk again, here(false);
    graph_session fresh(again.g, {.target = local_cluster::target(1)}), in_process(here.g);
    random_positions with_others = now;
    with_others["no such node"] = {.seed = 1, .next = 4};
    with_others["w"] = {.seed = 1, .next = 4};
    fresh.set_random_state(with_others);
    CHECK(fresh.random_state() == now);
    CHECK(again.drawn(fresh) == following);
    in_process.set_random_state(now);
    CHECK(here.drawn(in_process) == following);

    // Some nodes only: the others go on.
    const std::string one = node_of(now, "here");
    fresh.set_random_state({{one, now.at(one)}});
    const auto later = again.drawn(fresh);
    CHECK(later[1] == following[1]);
    CHECK(later[0] != following[0]);
    fresh.set_random_state({});
  }
}

TEST_CASE("a session without random numbers asks nobody; a task that cannot be reached is named") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  graph g;
  {
    const auto scope = g.as_default();
    const device d("/job:ps/task:0");
    variable(0.0f, "v");
  }
  graph_session without(g, {.target = local_cluster::target(1)});
  random_walk m;
  graph_session s(m.g, {.target = local_cluster::target(1), .operation_timeout_in_ms = 2'000});
  without.run(get_operation_by_name(g, "v/Assign"));
  m.drawn(s);
  const random_positions now = s.random_state();
  c.network->is_cut[0] = true;
  CHECK(without.random_state().empty());
  without.set_random_state(now);
  CHECK(says(message_of<unavailable>([&] { static_cast<void>(s.random_state()); }), "task 0 cannot be reached"));
  CHECK(says(message_of<unavailable>([&] { s.set_random_state(now); }), "task 0 cannot be reached"));
  c.network->is_cut[0] = false;
  CHECK(s.random_state() == now);
  // An answer that is none.
  c.network->on_answer = [](int task, cluster::method what, transport::message& answer) {
    if (task == 0 && what == cluster::method::part_random_state) answer.parts = {transport::frame::copy_of(std::string("{\"there\": 1}"))};
  };
  CHECK(says(message_of<data_loss>([&] { static_cast<void>(s.random_state()); }), "/job:ps/replica:0/task:0"));
  c.network->on_answer = [](int task, cluster::method what, transport::message& answer) {
    if (task == 0 && what == cluster::method::part_random_state) answer.parts.clear();
  };
  CHECK_THROWS_AS(static_cast<void>(s.random_state()), data_loss);
  c.network->on_answer = nullptr;
}

TEST_CASE("what a session's random numbers take at a task goes with its master") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  auto& service = *c.network->services[0];
  const auto set = [&](std::uint64_t peer, std::uint64_t session) {
    transport::message m;
    cluster::put_words(m, {session, 0});
    m.parts.push_back(transport::frame::copy_of(std::string("{\"n\": [1, 4]}")));
    std::atomic<bool> done{false};
    std::exception_ptr failed;
    service.called(peer, cluster::method::set_part_random_state, std::move(m), cluster::steady_time::max(),
                   [&](transport::message, std::exception_ptr failure) {
                     failed = failure;
                     done = true;
                   });
    while (!done) std::this_thread::yield();
    if (failed) std::rethrow_exception(failed);
  };
  set(7, 1000);
  for (std::uint64_t k = 1; k <= 40; ++k) {
    set(100 + k, k);
    service.lost(100 + k);
  }
  // Masters that have gone may come back: what the last ones have set is kept, and what a living one has.
  const auto kept = [&](std::uint64_t session) { return !service.its_worker().random_state(session, 0).empty(); };
  for (int k = 0; k < 1000 && kept(20); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(5));
  CHECK(!kept(1));
  CHECK(!kept(20));
  CHECK(kept(40));
  CHECK(kept(1000));
  CHECK_THROWS_AS(static_cast<void>(service.its_worker().random_state(1000, 5)), aborted);
}

// A server of the tests below, in a process of its own.
TEST_CASE("serve random numbers" * doctest::skip()) {
  const char* const given = std::getenv("LEAT_RANDOM_SERVER");
  if (given == nullptr) return;
  std::istringstream words(given);
  std::string ps, worker;
  words >> ps >> worker;
  server here(cluster_spec{{"ps", {ps}}, {"worker", {worker}}}, {.job_name = "ps"});
  here.join();
}

namespace {

// A parameter server that is a process, which can be killed, and a worker here.
struct killable_cluster {
  cluster_spec c{{"ps", {free_address()}}, {"worker", {free_address()}}};
  std::unique_ptr<process> ps;
  std::optional<server> worker;
  killable_cluster() {
    start();
    worker.emplace(c, server_options{.job_name = "worker"});
  }
  void start() {
    ::setenv("LEAT_RANDOM_SERVER", (c.task_address("ps", 0) + " " + c.task_address("worker", 0)).c_str(), 1);
    ps = std::make_unique<process>(
        std::vector<std::string>{"/proc/self/exe", "--test-case=serve random numbers", "--no-skip", "--no-run=false"});
    ::unsetenv("LEAT_RANDOM_SERVER");
  }
  void kill() {
    ps->send(SIGKILL);
    ps->wait();
    start();
  }
  session_options options() {
    session_options o;
    o.target = worker->target();
    o.start_timeout_in_ms = 20'000;
    o.operation_timeout_in_ms = 20'000;
    return o;
  }
};

constexpr int saved_each = 4, killed_after = 6, last_step = 11;

float walk_monitored(const std::string& folder, int kill_after) {
  killable_cluster c;
  random_walk m;
  std::ostringstream log;
  monitored_options o;
  o.owner = &m.g;
  o.checkpoint_dir = folder;
  o.save_checkpoint_steps = saved_each;
  o.save_summaries_steps = 0;
  o.log_step_count_steps = 0;
  o.hooks = {stop_at_step(last_step)};
  o.session = c.options();
  o.stop_on_signals = false;
  o.log = &log;
  monitored_session s(o);
  float end = 0;
  for (int k = 0; !s.should_stop(); ++k) {
    if (kill_after > 0 && k == kill_after) c.kill();
    s.run(m.train);
    end = s.session().value(m.w).as<float>();
  }
  CHECK(s.recoveries() == (kill_after > 0 ? 1 : 0));
  s.close();
  if (kill_after > 0) CHECK(says(log.str(), "restored from"));
  return end;
}

float walk_supervised(const std::string& folder, int kill_after) {
  killable_cluster c;
  random_walk m;
  std::ostringstream log;
  supervisor_options o;
  o.owner = &m.g;
  o.logdir = folder;
  o.global_step = m.steps;
  o.init = m.init;
  o.save_summaries_secs = 0;
  o.save_model_secs = 0;
  o.session = c.options();
  o.stop_on_signals = false;
  o.log = &log;
  supervisor sv(o);
  auto s = sv.managed_session();
  for (int k = 0; s.run<std::int64_t>(m.steps) < last_step; ++k) {
    if (kill_after > 0 && k == kill_after) c.kill();
    s.run(m.train);
    if (k + 1 == saved_each) sv.save_model();
  }
  CHECK(sv.recoveries() == (kill_after > 0 ? 1 : 0));
  const float end = s.value(m.w).as<float>();
  sv.stop();
  return end;
}

}  // namespace

TEST_CASE("after a server was killed, monitored training draws what it would have drawn") {
  const scratch_folder whole("random_whole"), killed("random_killed");
  CHECK(walk_monitored(killed.path.string(), killed_after) == walk_monitored(whole.path.string(), 0));
}

TEST_CASE("after a server was killed, supervised training draws what it would have drawn") {
  const scratch_folder whole("random_whole_supervised"), killed("random_killed_supervised");
  CHECK(walk_supervised(killed.path.string(), killed_after) == walk_supervised(whole.path.string(), 0));
}

TEST_CASE("a checkpoint that does not hold where random numbers are is restored without") {
  local_cluster c({{"ps", 1}, {"worker", 1}});
  const scratch_folder folder("random_old");
  const std::string prefix = (folder.path / "model.ckpt").string();
  random_walk m;
  graph_session s(m.g, {.target = local_cluster::target(1)});
  s.run(m.init);
  const auto first = m.drawn(s);
  leat::detail::watched_graph_session watched(s, nullptr);
  saver to(m.g);
  // As earlier versions wrote them, and as programs do that save variables alone.
  for (const save_options& how : {save_options{.values = {{"leat/random", "{}"}}}, save_options{}}) {
    s.run(m.train);
    const std::string path = to.save(s, prefix, 1, how);
    random_walk other;
    graph_session fresh(other.g, {.target = local_cluster::target(1)});
    leat::detail::watched_graph_session its(fresh, nullptr);
    restore_run(to, its, path);
    CHECK(fresh.value(other.w).as<float>() == s.value(m.w).as<float>());
    CHECK(other.drawn(fresh)[0] == first[0]);
  }
  const std::string path = to.save(s, prefix, 2, {.values = {{"leat/random", "{\"there\": 1}"}}});
  CHECK(says(message_of<data_loss>([&] { restore_run(to, watched, path); }), "model.ckpt-2"));
}
