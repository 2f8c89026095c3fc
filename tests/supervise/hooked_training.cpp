#include <leat/supervise/hooked_training.hpp>

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/supervise.hpp>

#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <csignal>
#include <future>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using leat_test::message_of;

namespace {

using names = std::vector<std::string>;
using action = std::function<void()>;

// A training session of one of the three kinds, as these tests use it.
struct training {
  action run, request_stop, close;
  std::function<bool()> should_stop;
  std::function<int()> signal;
};
struct kind {
  std::string name;
  // Trains with these hooks. Each run calls `step`; `body` is the program, and training ends with its scope.
  void (*with)(const hook_list& hooks, std::ostream& log, const action& step, const std::function<void(const training&)>& body);
};

// A node that calls a function.
output node_calling(const action& f) {
  return host_function(
             [&f](std::span<const tensor_literal>) -> std::vector<tensor_literal> {
               f();
               return {tensor_literal(1.0f)};
             },
             {}, {dtype::float32})
      .result();
}

const kind kinds[]{
    {"monitored session",
     [](const hook_list& hooks, std::ostream& log, const action& step, const std::function<void(const training&)>& body) {
       graph g;
       const auto scope = g.as_default();
       get_or_create_global_step();
       const output called = node_calling(step);
       monitored_session s({.hooks = hooks, .log = &log});
       body({[&] { s.run(called); }, [&] { s.request_stop(); }, [&] { s.close(); }, [&] { return s.should_stop(); },
             [&] { return s.stopped_by_signal(); }});
     }},
    {"supervisor",
     [](const hook_list& hooks, std::ostream& log, const action& step, const std::function<void(const training&)>& body) {
       graph g;
       const auto scope = g.as_default();
       get_or_create_global_step();
       const output called = node_calling(step);
       supervisor sv({.hooks = hooks, .log = &log});
       auto s = sv.managed_session();
       body({[&] { s.run(called); }, [&] { sv.request_stop(); }, [&] { sv.stop(); }, [&] { return sv.should_stop(); },
             [&] { return sv.stopped_by_signal(); }});
     }},
    {"supervised loop",
     [](const hook_list& hooks, std::ostream& log, const action& step, const std::function<void(const training&)>& body) {
       auto x = placeholder<"x", float>();
       session s{x * 2.0f};
       supervised_loop loop(s, {.hooks = hooks, .log = &log});
       body({[&] { loop.run(step); }, [&] { loop.request_stop(); }, [&] { loop.close(); }, [&] { return loop.should_stop(); },
             [&] { return loop.stopped_by_signal(); }});
     }},
};

struct hook_with_calls : session_run_hook {
  names calls;
  int runs = 0, stop_after = 0;
  void begin(const begin_context& c) override { calls.push_back(c.has_global_step ? "begin" : "begin without steps"); }
  void after_create_session(watched_session&, coordinator&) override { calls.push_back("session"); }
  session_run_args before_run(session_run_context&) override {
    calls.push_back("before");
    return {};
  }
  void after_run(session_run_context& run, const session_run_values&) override {
    calls.push_back("after");
    if (++runs == stop_after) run.request_stop();
  }
  void before_end(watched_session&, bool is_stopped) override { calls.push_back(is_stopped ? "stopped" : "ended"); }
  void end(watched_session&) override { calls.push_back("end"); }
};

const action nothing = [] {};
const action no_more = [] { throw out_of_range("no more"); };
const action corrupt = [] { throw data_loss("corrupt"); };
const action terminated = [] { std::raise(SIGTERM); };

}  // namespace

TEST_CASE("a hook that is null is refused") {
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    std::ostringstream log;
    bool is_made = false;
    CHECK(message_of<invalid_argument>([&] { k.with({nullptr}, log, nothing, [&](const training&) { is_made = true; }); }) ==
          "a hook that is null");
    CHECK_FALSE(is_made);
  }
}

TEST_CASE("hooks are called in order, and are told what ended training") {
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    std::ostringstream log;
    {
      const auto note = std::make_shared<hook_with_calls>();
      note->stop_after = 2;
      k.with({note}, log, nothing, [&](const training& t) {
        while (!t.should_stop()) t.run();
        CHECK(note->runs == 2);
        t.close();
        CHECK(t.should_stop());
        t.close();
      });
      CHECK(note->calls == names{"begin", "session", "before", "after", "before", "after", "stopped", "end"});
    }
    {
      const auto note = std::make_shared<hook_with_calls>();
      k.with({note}, log, nothing, [&](const training& t) {
        t.request_stop();
        CHECK(t.should_stop());
      });
      CHECK(note->calls == names{"begin", "session", "stopped", "end"});
    }
    {
      const auto note = std::make_shared<hook_with_calls>();
      k.with({note}, log, nothing, [&](const training& t) { t.run(); });
      CHECK(note->calls == names{"begin", "session", "before", "after", "ended", "end"});
    }
    {
      const auto note = std::make_shared<hook_with_calls>();
      std::signal(SIGTERM, SIG_DFL);  // the test program's own handler would stay
      k.with({note}, log, terminated, [&](const training& t) {
        t.run();
        CHECK(t.should_stop());
        t.close();
        stop_signals::clear();
        CHECK(t.signal() == SIGTERM);
      });
      CHECK(note->calls == names{"begin", "session", "before", "after", "stopped", "end"});
    }
    CHECK(log.str().empty());
  }
}

TEST_CASE("the end of the input ends training in order, another exception does not") {
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    std::ostringstream log;
    const auto note = std::make_shared<hook_with_calls>();
    CHECK_THROWS_AS(k.with({note}, log, no_more, [](const training& t) { t.run(); }), out_of_range);
    CHECK(note->calls == names{"begin", "session", "before", "ended", "end"});
    note->calls.clear();
    CHECK_THROWS_AS(k.with({note}, log, corrupt, [](const training& t) { t.run(); }), data_loss);
    CHECK(note->calls == names{"begin", "session", "before"});
    note->calls.clear();
    // An exception that the program handles is not the end.
    k.with({note}, log, corrupt, [](const training& t) { CHECK_THROWS_AS(t.run(), data_loss); });
    CHECK(note->calls == names{"begin", "session", "before", "ended", "end"});
    note->calls.clear();
    // Training within a handler.
    try {
      throw not_found("another matter");
    } catch (const not_found&) {
      k.with({note}, log, nothing, [](const training&) {});
    }
    CHECK(note->calls == names{"begin", "session", "ended", "end"});
  }
}

TEST_CASE("what hooks throw at the end comes out of the end, the first of it") {
  struct failing final : hook_with_calls {
    bool first = false;
    void before_end(watched_session& s, bool is_stopped) override {
      hook_with_calls::before_end(s, is_stopped);
      if (first) throw unimplemented("before the end");
    }
    void end(watched_session& s) override {
      hook_with_calls::end(s);
      throw data_loss("at the end");
    }
  };
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    const auto fails = std::make_shared<failing>();
    const auto other = std::make_shared<hook_with_calls>();
    std::ostringstream log;
    k.with({fails, other}, log, nothing, [&](const training& t) {
      CHECK_THROWS_AS(t.close(), data_loss);
      CHECK(t.should_stop());
      CHECK_NOTHROW(t.close());
    });
    CHECK(other->calls == names{"begin", "session", "ended"});
    CHECK(log.str().empty());
    fails->first = true;
    fails->calls.clear();
    other->calls.clear();
    k.with({fails, other}, log, nothing, [&](const training& t) { CHECK_THROWS_AS(t.close(), unimplemented); });
    CHECK(fails->calls == names{"begin", "session", "ended", "end"});
    CHECK(other->calls == names{"begin", "session"});
    CHECK(log.str().empty());
    // A destructor logs it.
    k.with({fails}, log, nothing, [](const training&) {});
    CHECK(log.str().find("before the end\n") != std::string::npos);
    CHECK(log.str().starts_with("a " + k.name + " was "));
  }
}

TEST_CASE("a run after the end was requested is an error") {
  for (const kind& k : kinds) {
    if (k.name == "supervisor") continue;  // its program may run until it stops
    CAPTURE(k.name);
    std::ostringstream log;
    const auto note = std::make_shared<hook_with_calls>();
    note->stop_after = 1;
    k.with({note}, log, nothing, [&](const training& t) {
      t.run();
      CHECK(message_of<failed_precondition>(t.run) == "Run called even after should_stop requested.");
    });
    k.with({}, log, nothing, [&](const training& t) {
      CHECK_FALSE(t.should_stop());
      t.request_stop();
      CHECK_NOTHROW(t.run());  // the program has not seen it
      CHECK(t.should_stop());
      CHECK(message_of<failed_precondition>(t.run) == "Run called even after should_stop requested.");
      t.close();
      CHECK(message_of<failed_precondition>(t.run).ends_with("is closed"));
    });
  }
}

namespace {

// A thread that fails when it is told to.
struct failing_hook_thread final : hook_with_calls {
  std::promise<void> go;
  coordinator* threads = nullptr;
  void after_create_session(watched_session&, coordinator& c) override {
    threads = &c;
    c.start([this] {
      go.get_future().wait();
      throw data_loss("record 5 is corrupt");
    });
  }
  void fail() {
    go.set_value();
    CHECK(threads->wait_for_stop(seconds(20)));
  }
};

}  // namespace

TEST_CASE("what a thread threw comes out of the next run, and of the end") {
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    std::ostringstream log;
    {
      const auto hook = std::make_shared<failing_hook_thread>();
      k.with({hook}, log, nothing, [&](const training& t) {
        t.run();
        hook->fail();
        CHECK(message_of<data_loss>(t.run) == "record 5 is corrupt");
        CHECK(t.should_stop());
        CHECK(message_of<data_loss>(t.run) == "record 5 is corrupt");
        CHECK(message_of<data_loss>(t.close) == "record 5 is corrupt");
      });
    }
    {
      const auto hook = std::make_shared<failing_hook_thread>();
      k.with({hook}, log, nothing, [&](const training& t) {
        hook->fail();
        while (!t.should_stop()) std::this_thread::yield();  // a supervisor hears of it from the thread
      });
      CHECK(log.str() == "a " + k.name + (k.name == "supervisor" ? " was stopped: " : " was closed: ") + "record 5 is corrupt\n");
    }
  }
}

TEST_CASE("a run that fails because a thread has failed throws what the thread threw") {
  const auto ways = {std::function<void()>([] { throw out_of_range("the queue is closed and empty"); }),
                     std::function<void()>([] { throw cancelled("the queue is closed"); })};
  for (const kind& k : kinds)
    for (const auto& way : ways) {
      CAPTURE(k.name);
      std::ostringstream log;
      const auto hook = std::make_shared<failing_hook_thread>();
      const auto step = [&] {
        hook->fail();
        way();
      };
      k.with({hook}, log, step, [&](const training& t) {
        CHECK(message_of<data_loss>(t.run) == "record 5 is corrupt");
        CHECK_THROWS_AS(t.close(), data_loss);
      });
    }
}

TEST_CASE("an expired deadline is explained by hooks") {
  struct knowing final : session_run_hook {
    std::string text;
    explicit knowing(std::string t) : text(std::move(t)) {}
    std::string explain_wait(watched_session&) override {
      if (text == "throw") throw unavailable("it is away");
      return text;
    }
  };
  const hook_list hooks{std::make_shared<knowing>(""), std::make_shared<knowing>("one is missing"), std::make_shared<knowing>("throw"),
                        std::make_shared<knowing>("two has ended")};
  for (const kind& k : kinds) {
    CAPTURE(k.name);
    std::ostringstream log;
    const auto late = [] { throw deadline_exceeded("too late"); };
    k.with(hooks, log, late, [](const training& t) {
      const std::string text = message_of<deadline_exceeded>(t.run);
      CHECK(text.find("too late") != text.npos);
      CHECK(text.ends_with("; one is missing; two has ended"));
    });
    k.with({hooks[0]}, log, late, [](const training& t) {
      const std::string text = message_of<deadline_exceeded>(t.run);
      CHECK(text.find("too late") != text.npos);
      CHECK(text.find("; ") == text.npos);
    });
  }
}

TEST_CASE("threads that ignore the stop end with their session") {
  // Waits in a run for an element that nobody enqueues.
  struct waiting final : session_run_hook {
    output taken;
    std::promise<void> is_ended;
    void after_create_session(watched_session& s, coordinator& c) override {
      c.start([this, &s] {
        try {
          s.of_graph()->run(taken, {}, {.timeout_in_ms = 1'000'000});
        } catch (const cancelled&) {
          is_ended.set_value();
        }
      });
    }
  };
  const auto in_time = [](waiting& w) { return w.is_ended.get_future().wait_for(std::chrono::seconds(0)) == std::future_status::ready; };
  graph g;
  const auto scope = g.as_default();
  get_or_create_global_step();
  const output taken = fifo_queue(1, {dtype::float32}, {{}}).dequeue()[0];
  {
    const auto hook = std::make_shared<waiting>();
    hook->taken = taken;
    monitored_session s({.hooks = {hook}, .stop_grace_period = seconds(0.01)});
    s.close();
    CHECK(in_time(*hook));
  }
  {
    const auto hook = std::make_shared<waiting>();
    hook->taken = taken;
    supervisor sv({.stop_grace_secs = 0.01, .hooks = {hook}});
    const auto s = sv.managed_session();
    sv.stop();
    CHECK(in_time(*hook));
  }
}

TEST_CASE("sessions are made in turn while tasks are away") {
  std::ostringstream log;
  int made = 0, dropped = 0;
  const auto drop = [&] { ++dropped; };
  const auto failing = [&](int times) {
    return [&made, times] {
      if (++made <= times) throw unavailable("away");
    };
  };
  detail::hooked_training t({}, 2, seconds(1), &log);
  t.make_in_turn(failing(2), drop);
  CHECK(made == 3);
  CHECK(dropped == 2);
  const std::string line = "A session could not be made, and is tried again: away\n";
  CHECK(log.str() == line + line);
  // Failures count until a run succeeds.
  made = 0;
  CHECK_THROWS_AS(t.make_in_turn(failing(1), drop), unavailable);
  CHECK(made == 1);
  CHECK_FALSE(t.may_recover());
  const auto rethrow = [](const error&) { throw; };
  CHECK(t.repeated([] { return 5; }, rethrow) == 5);
  made = 0;
  CHECK_THROWS_AS(t.make_in_turn(failing(5), drop), unavailable);
  CHECK(made == 3);
  CHECK(dropped == 4);
  int runs = 0, recoveries = 0;
  const auto third = [&] {
    if (++runs == 1) throw aborted("restarted");
    if (runs == 2) throw unavailable("away");
    return runs;
  };
  CHECK(t.repeated(third, [&](const error&) { ++recoveries; }) == 3);
  CHECK(recoveries == 2);
  CHECK_THROWS_AS(t.repeated([]() -> int { throw aborted("restarted"); }, rethrow), aborted);
  CHECK_THROWS_AS(t.repeated([]() -> int { throw data_loss("not a task"); }, [](const error&) {}), data_loss);
  CHECK_THROWS_AS(t.make_in_turn([] { throw data_loss("not a task"); }, drop), data_loss);
  CHECK(t.may_recover());

  detail::hooked_training never({}, 0, seconds(1), &log);
  CHECK_THROWS_AS(never.make_in_turn([] { throw aborted("restarted"); }, drop), aborted);
  CHECK_FALSE(never.is_loss(std::make_exception_ptr(aborted("restarted"))));
  CHECK(t.is_loss(std::make_exception_ptr(aborted("restarted"))));
  CHECK_FALSE(t.is_loss(std::make_exception_ptr(data_loss("not a task"))));
  CHECK(dropped == 4);
}

TEST_CASE("a typed step that fails leaves nothing of its results behind") {
  struct failing final : session_run_hook {
    bool has_summary = false, had_summary = false;
    void after_run(session_run_context& c, const session_run_values&) override {
      had_summary = c.session().step_summary() != nullptr;
      throw out_of_range("enough");
    }
    void end(watched_session& s) override {
      has_summary = s.step_summary() != nullptr;
      CHECK_THROWS_AS(s.evaluate(std::vector<fetch_item>{"y"}, {}), not_found);
    }
  };
  auto x = placeholder<"x", float, "n">();
  auto y = x * 2.0f;
  session s{y, reduce_sum(y)};
  const auto hook = std::make_shared<failing>();
  supervised_loop loop(s, {.hooks = {hook}}, {"y"});
  const std::vector<float> xs{1, 2, 3};
  loop.loop([&] { return s.run(fetch(y, summary::scalar<"sum">(reduce_sum(y))), x = xs); });
  CHECK(hook->had_summary);
  CHECK_FALSE(hook->has_summary);
}
