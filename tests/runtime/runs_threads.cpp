// Several threads in one session: queues that block, runs that overlap, deadlines and cancellation.

#include <leat/session/graph_session.hpp>

#include <doctest/doctest.h>

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/named/definitions/defined.hpp>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>
#include <vector>

using namespace leat;

namespace {

struct queue_graph {
  graph g;
  output queue, x, taken, size;
  graph_operation add, add_many, close, cancel;
  explicit queue_graph(std::int64_t capacity, std::string_view type = "FIFOQueueV2") {
    auto scope = g.as_default();
    x = placeholder(dtype::float32, {}, "x");
    queue = call_operator(g, type, {},
                          {{"component_types", std::vector<data_type>{data_type::float32}},
                           {"shapes", std::vector<tensor_shape_proto>{tensor_shape_proto{}}},
                           {"capacity", capacity}},
                          "q")
                .result();
    add = call_operator(g, "QueueEnqueueV2", {number_argument(queue), number_argument(x)}, {}, "add");
    taken = call_operator(g, "QueueDequeueV2", {number_argument(queue)}, {{"component_types", std::vector<data_type>{data_type::float32}}},
                          "take")
                .result();
    size = call_operator(g, "QueueSizeV2", {number_argument(queue)}, {}, "size").result();
    close = call_operator(g, "QueueCloseV2", {number_argument(queue)}, {}, "close");
    cancel = call_operator(g, "QueueCloseV2", {number_argument(queue)}, {{"cancel_pending_enqueues", true}}, "cancel");
  }
};

using clock_type = std::chrono::steady_clock;
double seconds_since(clock_type::time_point t) { return std::chrono::duration<double>(clock_type::now() - t).count(); }

// Steps that cannot be fused into one: each takes the whole result of the one before.
output long_chain(output x, int steps) {
  for (int k = 0; k < steps; ++k) x = subtract(x, multiply(reduce_max(x, {0}), 1e-3f));
  return x;
}

}  // namespace

TEST_CASE("a queue hands values from thread to thread, in order") {
  queue_graph q(4);
  graph_session s(q.g);
  constexpr int count = 200;
  std::thread producer([&] {
    for (int i = 0; i < count; ++i) s.run(q.add, {{q.x, static_cast<float>(i)}});
    s.run(q.close);
  });
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += s.run<float>(q.taken) != static_cast<float>(i) ? 1 : 0;
  producer.join();
  CHECK(wrong == 0);
  CHECK(s.run<std::int32_t>(q.size) == 0);
  CHECK_THROWS_AS(s.run(q.taken), out_of_range);
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 1.0f}}), cancelled);
}

/// Returns when a run of the graph is in progress.
static void wait_for_run(const graph& g) {
  while (g.named().runs == 0) std::this_thread::yield();
}

TEST_CASE("whoever waits stops at the deadline, or when it is told to") {
  queue_graph q(1);
  graph_session s(q.g);
  CHECK_THROWS_AS(s.run(q.taken, {}, {.timeout_in_ms = 20}), deadline_exceeded);
  s.run(q.add, {{q.x, 1.0f}});
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}, {.timeout_in_ms = 20}), deadline_exceeded);
  CHECK(s.run<std::int32_t>(q.size) == 1);

  cancellation stop;
  std::thread other([&] {
    wait_for_run(q.g);
    stop.cancel();
  });
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}, {.cancel = &stop}), cancelled);
  other.join();
  CHECK_THROWS_AS(s.run(q.size, {}, {.cancel = &stop}), cancelled);

  std::thread closer([&] {
    wait_for_run(q.g);
    s.run(q.cancel);
  });
  CHECK_THROWS_AS(s.run(q.add, {{q.x, 2.0f}}), cancelled);
  closer.join();
  CHECK(s.run<float>(q.taken) == 1);

  CHECK_THROWS_AS(s.run(q.taken), out_of_range);
  s.close();
  CHECK_THROWS_AS(s.run(q.size), failed_precondition);

  queue_graph r(1);
  graph_session closing(r.g);
  std::thread ender([&] {
    wait_for_run(r.g);
    closing.close();
  });
  CHECK_THROWS_AS(closing.run(r.taken), cancelled);
  ender.join();
  CHECK_THROWS_AS(closing.run(r.size), failed_precondition);
}

TEST_CASE("a shuffled queue gives every element once") {
  queue_graph q(100, "RandomShuffleQueueV2");
  graph_session s(q.g);
  for (int i = 0; i < 50; ++i) s.run(q.add, {{q.x, static_cast<float>(i)}});
  s.run(q.close);
  std::vector<int> seen(50, 0);
  bool in_order = true;
  for (int i = 0; i < 50; ++i) {
    const int v = static_cast<int>(s.run<float>(q.taken));
    in_order = in_order && v == i;
    ++seen[static_cast<std::size_t>(v)];
  }
  CHECK(!in_order);
  CHECK(seen == std::vector<int>(50, 1));
}

TEST_CASE("runs that overlap do not lose updates") {
  for (const bool fuse : {true, false}) {
    graph g;
    auto scope = g.as_default();
    const auto v = variable({0.0f, 0.0f, 0.0f}, "v");
    const auto up = assign_add(v, {1.0f, 2.0f, 3.0f});
    const auto sum = reduce_sum(v, {0});
    graph_session s(g, {.fuse = fuse});
    s.run(global_variables_initializer());
    constexpr int threads = 4, runs = 100;
    std::atomic<int> torn{0};
    std::vector<std::thread> all;
    for (int t = 0; t < threads; ++t)
      all.emplace_back([&] {
        for (int i = 0; i < runs; ++i) {
          s.run(up.operation());
          const float now = s.run<float>(sum);
          torn += now != 6 * std::floor(now / 6) ? 1 : 0;
        }
      });
    for (auto& t : all) t.join();
    CHECK(torn == 0);
    CHECK(s.value(v).as<std::vector<float>>() == std::vector<float>{400, 800, 1200});
  }
}

TEST_CASE("runs of one plan that overlap node by node have places of their own for results") {
  graph g;
  auto scope = g.as_default();
  const output x = placeholder(dtype::float32, {}, "x");
  std::vector<output> sums;
  for (int k = 0; k < 50; ++k) sums.push_back(x + static_cast<float>(k));
  sums.push_back(reduce_sum(stack(sums), {0}));
  graph_session s(g, {.fuse = false});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      auto step = s.prepare(sums, std::vector<output>{x});
      for (int i = 0; i < 100; ++i) {
        const float value = static_cast<float>(100 * t + i);
        const auto& results = step(value);
        for (int k = 0; k < 50; ++k) wrong += results[static_cast<std::size_t>(k)].as<float>() != value + static_cast<float>(k) ? 1 : 0;
        wrong += results[50].as<float>() != 50 * value + 49 * 25 ? 1 : 0;
      }
    });
  for (auto& t : threads) t.join();
  CHECK(wrong == 0);
}

TEST_CASE("a run that is one program stops when it is told to, at its deadline, and when its session is closed") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const auto w = variable(1.0f, "w");
  const auto y = long_chain(x, 300);
  const auto sum = reduce_sum(y, {0});
  const auto train = assign(w, sum);
  const std::vector<float> data(1'000'000, 1.0f);  // some tenths of a second
  graph_session s(g);
  s.run(global_variables_initializer());
  const auto step = [&](const run_options& how) { s.run(train, {{x, data}}, how); };
  CHECK_THROWS_AS(step({.timeout_in_ms = 5}), deadline_exceeded);
  auto began = clock_type::now();
  CHECK_THROWS_AS(step({.timeout_in_ms = 5}), deadline_exceeded);
  CHECK(seconds_since(began) < 2);

  // On a busy machine the run may end before the other thread begins: then it is run again.
  bool was_stopped = false;
  for (int attempt = 0; attempt < 20 && !was_stopped; ++attempt) {
    s.run(global_variables_initializer());
    cancellation stop;
    std::thread other([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      stop.cancel();
    });
    began = clock_type::now();
    try {
      step({.cancel = &stop});
    } catch (const cancelled&) {
      was_stopped = true;
    }
    other.join();
  }
  CHECK(was_stopped);
  CHECK(seconds_since(began) < 2);
  CHECK(s.value(w).as<float>() == 1);  // nothing was written
  CHECK(s.run<float>(multiply(w, 2.0f)) == 2);

  // the memory of a program that was stopped is there for the next run
  CHECK(s.run(train, {{x, std::vector<float>(10, 1.0f)}}).extent().rank == 0);
  run_trace trace;
  CHECK_THROWS_AS(step({.timeout_in_ms = 5, .trace = &trace}), deadline_exceeded);

  // A session that is closed while it runs. Where the run ended first, another session is closed during its run.
  was_stopped = false;
  for (int attempt = 0; attempt < 20 && !was_stopped; ++attempt) {
    graph_session closing(g);
    closing.run(global_variables_initializer());
    std::atomic<bool> begins{false};
    std::thread closer([&] {
      while (!begins) std::this_thread::yield();
      std::this_thread::sleep_for(std::chrono::milliseconds(1 + attempt));
      closing.close();
    });
    began = clock_type::now();
    begins = true;
    try {
      closing.run(train, {{x, data}});
    } catch (const cancelled&) {
      was_stopped = true;
    } catch (const failed_precondition&) {  // it was closed before the run began
    }
    closer.join();
  }
  CHECK(was_stopped);
  CHECK(seconds_since(began) < 2);
}

TEST_CASE("a part of a run, and a large node, stop at the deadline") {
  for (const bool fuse : {true, false}) {
    CAPTURE(fuse);
    graph g;
    auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {-1}, "x");
    const auto noise =
        call_operator(g, "RandomUniform", {number_argument(constant({std::int32_t{1}}))}, {{"dtype", data_type::float32}}).result();
    const auto y = long_chain(add(x, noise), 300);
    graph_session s(g, {.fuse = fuse});
    const std::vector<float> data(1'000'000, 1.0f);
    const auto began = clock_type::now();
    CHECK_THROWS_AS(s.run(y, {{x, data}}, {.timeout_in_ms = 5}), deadline_exceeded);
    CHECK(seconds_since(began) < 10);
  }
}

TEST_CASE("a program that is stopped has written all variables of a node, or none") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1}, "x");
  const std::vector<float> first(100'000, 1.0f);
  const auto w = variable(first, "w");
  const auto a = variable(first, "a");
  std::vector<control_input> waits;
  // a momentum step again and again, each behind the other
  const auto rate = constant(1.0f);
  output step;
  for (int k = 0; k < 60; ++k) {
    const auto after = control_dependencies(waits);
    step = call_operator(g, "ApplyMomentum",
                         {number_argument(w), number_argument(a), number_argument(rate), number_argument(x), number_argument(rate)})
               .result();
    waits = {step};
  }
  graph_session s(g);
  const std::vector<float> data(100'000, 1.0f);
  for (int trial = 0; trial < 5; ++trial) {
    s.run(global_variables_initializer());
    try {
      s.run(step.operation(), {{x, data}}, {.timeout_in_ms = 1 + trial});
    } catch (const deadline_exceeded&) {
    }
    // accum = 1 + k, w = 1 - (2 + 3 + ... + (1 + k)) after k steps
    const auto as = s.value(a).as<std::vector<float>>();
    const auto ws = s.value(w).as<std::vector<float>>();
    bool same = true;
    for (std::size_t i = 0; i < as.size(); ++i) same = same && as[i] == as[0] && ws[i] == ws[0];
    CHECK(same);
    const double k = as[0] - 1;
    CHECK(ws[0] == doctest::Approx(1 - (k * (k + 3) / 2)));
  }
}

TEST_CASE("who takes several from a queue does so before the next one begins") {
  queue_graph q(100);
  auto scope = q.g.as_default();
  const auto many = [&](std::string_view name) {
    return call_operator(q.g, "QueueDequeueManyV2", {number_argument(q.queue), number_argument(constant(std::int32_t{4}))},
                         {{"component_types", std::vector<data_type>{data_type::float32}}}, name)
        .result();
  };
  const auto first = many("first");
  const auto second = many("second");
  for (const bool fuse : {true, false}) {
    graph_session s(q.g, {.fuse = fuse});
    for (int round = 0; round < 20; ++round) {
      std::vector<float> a, b;
      std::thread one([&] { a = s.run(first, {}, {.timeout_in_ms = 20'000}).as<std::vector<float>>(); });
      std::thread two([&] { b = s.run(second, {}, {.timeout_in_ms = 20'000}).as<std::vector<float>>(); });
      for (int k = 0; k < 4; ++k) s.run(q.add, {{q.x, static_cast<float>(k)}});
      // four are there: one of them has them all, whoever it is
      while (s.run<std::int32_t>(q.size) > 0) std::this_thread::yield();
      for (int k = 4; k < 8; ++k) s.run(q.add, {{q.x, static_cast<float>(k)}});
      one.join();
      two.join();
      REQUIRE(a.size() == 4);
      REQUIRE(b.size() == 4);
      if (a[0] > b[0]) std::swap(a, b);
      CHECK(a == std::vector<float>{0, 1, 2, 3});
      CHECK(b == std::vector<float>{4, 5, 6, 7});
    }
  }
}

TEST_CASE("who waited for room when a queue was closed still adds") {
  // On a busy machine the queue may be closed before the other thread waits: then another queue is tried.
  bool has_waited = false;
  for (int attempt = 0; attempt < 20 && !has_waited; ++attempt) {
    queue_graph q(1);
    graph_session s(q.g);
    s.run(q.add, {{q.x, 1.0f}});
    bool was_added = true;
    std::thread late([&] {
      try {
        s.run(q.add, {{q.x, 2.0f}});
      } catch (const cancelled&) {
        was_added = false;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(5 + 10 * attempt));
    s.run(q.close);
    CHECK_THROWS_AS(s.run(q.add, {{q.x, 3.0f}}), cancelled);
    CHECK(s.run<float>(q.taken) == 1);
    try {
      const float second = s.run<float>(q.taken);
      CHECK(second == 2);
      has_waited = true;
    } catch (const out_of_range&) {
    }
    CHECK_THROWS_AS(s.run(q.taken), out_of_range);
    late.join();
    CHECK(was_added == has_waited);
  }
  CHECK(has_waited);
}

TEST_CASE("a host function may be told to a session while it is called") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto y =
      call_operator(g, "PyFunc", {number_argument(x)}, {{"token", std::string("t")}, {"Tout", std::vector<data_type>{data_type::float32}}})
          .result();
  graph_session s(g);
  const auto times = [](float by) {
    return [by](std::span<const tensor_value> in) { return std::vector<tensor_value>{tensor_value(in[0].as<float>() * by)}; };
  };
  s.register_host_function("t", times(1));
  std::atomic<bool> done{false};
  std::thread writer([&] {
    for (int k = 0; !done; ++k) {
      s.register_host_function("t", times(static_cast<float>(1 + k % 2)));
      s.register_host_function("other" + std::to_string(k % 100), times(0));
    }
  });
  int wrong = 0;
  for (int k = 0; k < 500; ++k) {
    const float v = s.run<float>(y, {{x, 3.0f}});
    wrong += v == 3 || v == 6 ? 0 : 1;
  }
  done = true;
  writer.join();
  CHECK(wrong == 0);
}

TEST_CASE("sessions of one graph may have their first runs at once") {
  for (int round = 0; round < 20; ++round) {
    graph g;
    output x, last;
    {
      auto scope = g.as_default();
      x = placeholder(dtype::float32, {-1}, "x");
      last = x;
      for (int k = 0; k < 30; ++k) last = add(multiply(last, constant(1.0f)), constant(static_cast<float>(k % 3)));
      for (int k = 0; k < 30; ++k) static_cast<void>(constant(static_cast<float>(k)));  // that nobody named
    }
    std::atomic<int> there{0}, wrong{0};
    std::vector<std::thread> all;
    for (int t = 0; t < 3; ++t)
      all.emplace_back([&, t] {
        graph_session s(g, {.fuse = t != 1});
        const std::vector<float> data{1, 2, 3};
        ++there;
        while (there < 3) std::this_thread::yield();
        const auto found = t == 2 ? s.run("x:0", {{x, data}}) : s.run(last, {{x, data}});
        wrong += found.as<std::vector<float>>()[1] == (t == 2 ? 2.0f : 32.0f) ? 0 : 1;
        wrong += s.run(last, {{"x", data}}).as<std::vector<float>>()[2] == 33 ? 0 : 1;
      });
    for (auto& t : all) t.join();
    CHECK(wrong == 0);
  }
}
