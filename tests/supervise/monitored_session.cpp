#include <leat/named/functions/host_function.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/run_hooks.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/stop_at_step.hpp>

#include "recorded_hooks.hpp"
#include "support/scratch_folder.hpp"

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <semaphore>
#include <sstream>
#include <thread>

using namespace leat_test;

namespace {

output calling(const std::function<void()>& f) {
  return host_function(
             [f](std::span<const tensor_literal>) -> std::vector<tensor_literal> {
               f();
               return {tensor_literal(1.0f)};
             },
             {}, {dtype::float32})
      .result();
}

}  // namespace

TEST_CASE("a run that is aborted is tried again in a session made anew") {
  graph g;
  const auto scope = g.as_default();
  json log = json::array();
  const auto m = make_model();
  int calls = 0;
  const auto shaky = calling([&] {
    if (++calls == 2) throw aborted("the connection was lost");
    if (calls == 3) throw unavailable("still not there");
  });
  std::ostringstream told;
  monitored_session s({.hooks = {noting(log, "A")}, .log = &told});
  s.run(std::vector<fetch_item>{shaky, m.train});
  CHECK(s.session().value(m.step).as<std::int64_t>() == 1);
  s.run(std::vector<fetch_item>{shaky, m.train});
  CHECK(s.recoveries() == 2);
  CHECK(s.session().value(m.step).as<std::int64_t>() == 1);  // nothing was saved: it began anew
  CHECK(told.str().find("Error: the connection was lost") != std::string::npos);
  s.close();
  std::string calls_of_hook;
  for (const auto& line : log) calls_of_hook += line.get<std::string>().substr(2, 8) + " ";
  CHECK(calls_of_hook == "begin (g after_cr before_r after_ru before_r after_cr before_r after_cr before_r after_ru end ");

  monitored_options once;
  once.log = &told;
  singular_monitored_session single(once);
  calls = 0;
  single.run(shaky);
  CHECK_THROWS_AS(single.run(shaky), aborted);
}

TEST_CASE("recovery does not go on for ever") {
  graph g;
  const auto scope = g.as_default();
  const auto down = calling([] { throw unavailable("gone"); });
  std::ostringstream told;
  monitored_session s({.max_recoveries = 3, .log = &told});
  CHECK_THROWS_WITH_AS(s.run(down), doctest::Contains("gone"), unavailable);
  CHECK(s.recoveries() == 3);
}

TEST_CASE("a signal ends training in order, and is the program's own afterwards") {
  graph g;
  const auto scope = g.as_default();
  json log = json::array();
  const auto m = make_model();
  for (const int number : {SIGTERM, SIGINT}) {
    stop_signals::clear();
    std::signal(number, SIG_DFL);  // the test program's own handler would stay
    monitored_session s({.hooks = {noting(log, "A")}});
    int runs = 0;
    s.loop([&] {
      s.run(m.train);
      if (++runs == 3) std::raise(number);
    });
    CHECK(runs == 3);
    CHECK(s.stopped_by_signal() == number);
    CHECK(log.back() == "A.end");
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    const bool is_default = now.sa_handler == SIG_DFL;
    CHECK(is_default);
    // the program is to end: what begins now does not run
    monitored_session next;
    CHECK(next.should_stop());
  }
  stop_signals::clear();
  // a program's own handler stays
  std::signal(SIGTERM, [](int) {});
  {
    monitored_session s;
    std::raise(SIGTERM);
    CHECK_FALSE(s.should_stop());
  }
  std::signal(SIGTERM, SIG_DFL);
}

TEST_CASE("queue runners run in a monitored session; what they throw ends it") {
  graph g;
  const auto scope = g.as_default();
  get_or_create_global_step();
  int n = 0;
  const auto source = calling([&] {
    if (++n > 4) throw data_loss("record 5 is corrupt");
  });
  const auto q = fifo_queue(2, {dtype::float32}, {{}});
  add_queue_runner(queue_runner(q, {q.enqueue({source})}));
  const auto item = q.dequeue()[0];
  monitored_session s;
  int taken = 0;
  CHECK_THROWS_WITH_AS(s.loop([&] {
    s.run(item);
    ++taken;
  }),
                       doctest::Contains("record 5 is corrupt"), data_loss);
  CHECK(taken <= 4);
  CHECK(s.is_closed());
}

namespace {

// A thread that fails in the first session, and gives what the run waits for in the next one.
template <class Error>
class failing_thread final : public session_run_hook {
 public:
  explicit failing_thread(graph_operation gives) : gives_(std::move(gives)) {}
  void after_create_session(watched_session& s, coordinator& c) override {
    const bool is_first = sessions++ == 0;
    c.start([this, is_first, &s] {
      runs_.acquire();
      if (is_first) throw Error("what the thread used is gone");
      s.of_graph()->run(gives_);
    });
  }
  session_run_args before_run(session_run_context&) override {
    runs_.release();
    return {};
  }
  int sessions = 0;

 private:
  graph_operation gives_;
  std::counting_semaphore<> runs_{0};
};

}  // namespace

TEST_CASE("a run does not wait for a thread that has failed") {
  graph g;
  const auto scope = g.as_default();
  get_or_create_global_step();
  const auto q = fifo_queue(2, {dtype::float32}, {{}});
  const auto item = q.dequeue()[0];
  const auto gives = q.enqueue({constant(3.0f)});
  std::ostringstream log;
  monitored_options o;
  o.log = &log;
  SUBCASE("its error is the run's") {
    o.hooks.push_back(std::make_shared<failing_thread<invalid_argument>>(gives));
    monitored_session s(std::move(o));
    CHECK_THROWS_WITH_AS(s.run(item), "what the thread used is gone", invalid_argument);
    s.abandon();
  }
  SUBCASE("the loss of a task makes a new session") {
    const auto hook = std::make_shared<failing_thread<unavailable>>(gives);
    o.hooks.push_back(hook);
    monitored_session s(std::move(o));
    CHECK(s.run(item).as<float>() == 3.0f);
    CHECK(hook->sessions == 2);
    CHECK(s.recoveries() == 1);
  }
}

TEST_CASE("hooks feed, log, trace, and run something at the end") {
  graph g;
  const auto scope = g.as_default();
  const auto step = get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto w = variable(0.0f, "w");
  const auto train = group({assign_add(w, x).operation(), assign_add(step, std::int64_t{1}).operation()});
  const leat_test::scratch_folder folder("hooks");
  float next = 0;
  std::ostringstream log;
  std::vector<step_rate> rates;
  const auto last = final_ops({w, "global_step:0"});
  monitored_session s(
      {.hooks = {feed_fn([&]() -> feed_list { return {{x, ++next}}; }),
                 logging_tensor({{"w", "w:0"}}, {.every_n_iter = 4, .at_end = true, .log = &log}),
                 profiler({.save_steps = 3, .output_dir = (folder.path / "profile").string()}),
                 step_counter({.every_n_steps = 2, .report = [&](const step_rate& r) { rates.push_back(r); }}), last, stop_at_step(9)}});
  CHECK(last->values().empty());
  s.loop([&] { s.run(train); });
  CHECK(last->values().at(0).as<float>() == 45);
  CHECK(last->values().at(1).as<std::int64_t>() == 9);
  CHECK(log.str().starts_with("w = 0\nw = 10 ("));
  CHECK(log.str().find("w = 45") != std::string::npos);
  CHECK(rates.size() == 4);
  CHECK(rates.at(0).global_step == 3);
  CHECK(rates.at(0).steps_per_second > 0);
  // the first run plans; then every 3 steps
  std::set<std::string> files;
  for (const auto& f : std::filesystem::directory_iterator(folder.path / "profile")) files.insert(f.path().filename().string());
  CHECK(files == std::set<std::string>{"timeline-2.json", "timeline-5.json", "timeline-8.json"});
  std::ifstream in(folder.path / "profile" / "timeline-5.json");
  CHECK_FALSE(json::parse(in)["traceEvents"].empty());
}

TEST_CASE("a stop that comes between the question and the run is no error") {
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  monitored_session s;
  CHECK_FALSE(s.should_stop());
  s.request_stop();
  CHECK_NOTHROW(s.run(m.train));
  CHECK(s.should_stop());
  CHECK_THROWS_WITH_AS(s.run(m.train), "Run called even after should_stop requested.", failed_precondition);
}

TEST_CASE("a session that cannot be made anew is lost, and says so") {
  graph g;
  const auto scope = g.as_default();
  int sessions = 0;
  const auto own = std::make_shared<scaffold>(scaffold_options{.init_fn = [&](graph_session&) {
    if (++sessions > 1) throw data_loss("no more sessions");
  }});
  const auto down = calling([] { throw unavailable("gone"); });
  std::ostringstream told;
  monitored_session s({.scaffold = own, .log = &told});
  CHECK_THROWS_AS(s.run(down), data_loss);
  CHECK_THROWS_AS(s.run(down), failed_precondition);
  CHECK_THROWS_AS(s.session(), failed_precondition);
  CHECK_NOTHROW(s.close());
}

TEST_CASE("feeds of two hooks for one tensor, and hooks that throw") {
  graph g;
  const auto scope = g.as_default();
  json log = json::array();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto one = feed_fn([&]() -> feed_list { return {{x, 1.0f}}; });
  const auto two = feed_fn([&]() -> feed_list { return {{"x:0", 2.0f}}; });
  {
    monitored_session s({.hooks = {one}});
    CHECK(s.run<float>(x) == 1);
    CHECK_THROWS_WITH_AS(s.run(x, {{x, 3.0f}}), doctest::Contains("x:0"), failed_precondition);
  }
  {
    monitored_session s({.hooks = {one, two, noting(log, "A")}});
    CHECK_THROWS_AS(s.run(x), failed_precondition);
    CHECK(log.back() == "A.after_create_session (graph finalized: True)");
  }
  CHECK_THROWS_AS(monitored_session({.hooks = {nullptr}}), invalid_argument);
  struct failing final : session_run_hook {
    void end(watched_session&) override { throw data_loss("at the end"); }
  };
  {
    monitored_session s({.hooks = {std::make_shared<failing>()}});
    CHECK_THROWS_AS(s.close(), data_loss);
    CHECK(s.is_closed());
    CHECK_NOTHROW(s.close());
    CHECK_THROWS_AS(s.session(), failed_precondition);
    CHECK_THROWS_AS(s.global_step(), failed_precondition);
  }
  std::ostringstream told;
  {
    monitored_session s({.hooks = {std::make_shared<failing>()}, .log = &told});
  }
  CHECK(told.str() == "a monitored session was closed: at the end\n");
}

TEST_CASE("a scaffold's own operations are used") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable(1.0f, "w"), b = variable(2.0f, "b");
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto set = assign(w, x);
  const auto own = std::make_shared<scaffold>(
      scaffold_options{.init_op = set.operation(), .init_feeds = {{x, 7.0f}}, .init_fn = [&](graph_session& s) { s.assign(b, 8.0f); }});
  {
    monitored_session s({.scaffold = own});
    CHECK(s.run<float>(w) == 7);
    CHECK(s.run<float>(b) == 8);
    CHECK(own->is_complete());
  }
  const auto partly = std::make_shared<scaffold>(scaffold_options{.init_op = initializer_of(w),
                                                                  .ready_op = own->parts().ready_op,
                                                                  .ready_for_local_init_op = own->parts().ready_for_local_init_op,
                                                                  .local_init_op = own->parts().local_init_op});
  CHECK_THROWS_WITH_AS(monitored_session({.scaffold = partly}), doctest::Contains("Variables not initialized: b"), failed_precondition);
  // a graph that takes no more nodes has to bring everything
  graph closed;
  const auto there = closed.as_default();
  constant(1.0f);
  finalize(closed);
  CHECK_THROWS_WITH_AS(monitored_session(monitored_options{}), doctest::Contains("Graph is finalized"), failed_precondition);
}

TEST_CASE("a worker waits for the global step, and not for ever") {
  graph g;
  const auto scope = g.as_default();
  const auto m = make_model();
  std::ostringstream told;
  monitored_session s({.hooks = {global_step_waiter(2, {.timeout = seconds(0.05), .poll = seconds(0.01), .log = &told})}});
  CHECK_THROWS_AS(s.run(m.train), deadline_exceeded);
  CHECK(told.str() == "Waiting for global step 2 before starting training. Current step is 0.\n");
  s.session().run(m.train);
  s.session().run(m.train);
  CHECK_NOTHROW(s.run(m.train));
}
