// Compiled workers: typed steps whose variables live at parameter servers in this process, over the real transport.

#include <leat/checkpoint.hpp>
#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include "cluster/support/cluster_here.hpp"
#include "support/messages.hpp"
#include "support/scratch_folder.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <tuple>

using namespace leat;
using namespace leat_test;

namespace {

// Small whole numbers and powers of two: every order and contraction of the arithmetic gives the same bits, for some steps.
const std::vector<float> xs{1, 0, -1, 0, 1, 1}, ys{1, -1};

auto make_inputs() { return placeholder<"x", float, "batch", 3>(); }
auto make_labels() { return placeholder<"y", float, "batch">(); }

// The same program here and at servers: equal losses and variables after each step.
template <class Optimizer>
void same_as_local(const worker_options& options, const Optimizer& optimizer, int count, float tolerance) {
  auto x = make_inputs();
  auto y = make_labels();
  auto w = variable<"w", float, 3, 1>(random_uniform(-1, 1, 5));
  auto b = variable<"b", float>(0.5f);
  auto steps = global_step();
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  auto train = optimizer.minimize(loss, steps);
  worker_session s(options, loss, train);
  session here{loss, train};
  here.initialize();
  // Whole numbers to begin with.
  here.assign(w, std::vector<float>{1, -2, 3});
  s.initialize();
  CHECK(s.value(b) == 0.5f);
  s.assign(w, std::vector<float>{1, -2, 3});
  for (int k = 0; k < count; ++k) {
    auto [there_loss] = s.run(fetch(loss, train), x = xs, y = ys);
    auto [here_loss] = here.run(fetch(loss, train), x = xs, y = ys);
    const auto there_w = s.value(w), here_w = here.value(w);
    if (tolerance == 0) {
      CHECK(there_loss == here_loss);
      CHECK(there_w == here_w);
      CHECK(s.value(b) == here.value(b));
    } else {
      CHECK(there_loss == doctest::Approx(here_loss).epsilon(static_cast<double>(tolerance)));
      for (std::size_t i = 0; i < 3; ++i) CHECK(there_w(i, 0) == doctest::Approx(here_w(i, 0)).epsilon(static_cast<double>(tolerance)));
      CHECK(s.value(b) == doctest::Approx(here.value(b)).epsilon(static_cast<double>(tolerance)));
    }
  }
  CHECK(s.value(steps) == count);
  auto [there_loss] = s.run(fetch(loss), x = xs, y = ys);
  auto [here_loss] = here.run(fetch(loss), x = xs, y = ys);
  CHECK(there_loss == doctest::Approx(here_loss).epsilon(1e-6));
}

}  // namespace

TEST_CASE("one worker computes what a session in the process computes") {
  SUBCASE("a server alone") {
    server here = server::local();
    worker_options o;
    o.target = here.target();
    same_as_local(o, gradient_descent(0.125f), 5, 0);
    o.container = "momentum";
    same_as_local(o, momentum(0.125f, 0.5f), 5, 0);
    o.container = "adam";
    same_as_local(o, adam(0.125f), 20, 1e-5f);
    o.container = "rms_prop";
    same_as_local(o, rms_prop(0.125f), 20, 1e-5f);
    o.container = "adam_w";
    same_as_local(o, adam_w(0.125f, 0.25f), 20, 1e-5f);
  }
  SUBCASE("over the network, and by memory") {
    for (const bool memory : {true, false}) {
      CAPTURE(memory);
      cluster_here c(2, 1, memory);
      worker_options o = c.worker(0);
      same_as_local(o, gradient_descent(0.125f), 5, 0);
      o.container = "momentum";
      same_as_local(o, nesterov_momentum(0.125f, 0.5f), 5, 0);
      o.container = "adam";
      same_as_local(o, adam(0.125f), 10, 1e-5f);
    }
  }
}

TEST_CASE("gradients that are given, and settings that are parameters, placeholders and schedules") {
  cluster_here c(1, 1);
  auto x = make_inputs();
  auto y = make_labels();
  auto w = variable<"w", float, 3, 1>(zeros);
  auto steps = global_step();
  auto rate = parameter<"rate">(0.125f);
  auto scale = placeholder<"scale", float>();
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) - y));
  auto o = momentum(rate * scale, 0.5f);
  auto pairs = o.compute_gradients(loss);
  auto halved = std::apply([](const auto&... p) { return std::make_tuple(with_variable(p.gradient * 0.5f, p.variable)...); }, pairs);
  auto train = o.apply_gradients(halved, steps);
  auto decayed = gradient_descent(exponential_decay(1.0f, steps, 1, 0.5f)).minimize(loss, steps);
  worker_session s(c.worker(0), loss, train, decayed);
  session here{loss, train, decayed};
  s.initialize();
  here.initialize();
  const auto both = [&](const auto& step, const auto&... feeds) {
    auto [a] = s.run(fetch(loss, step), x = xs, y = ys, feeds...);
    auto [b] = here.run(fetch(loss, step), x = xs, y = ys, feeds...);
    CHECK(a == b);
    CHECK(s.value(w) == here.value(w));
  };
  both(train, scale = 1.0f);
  both(train, scale = 0.5f, rate = 0.25f);
  both(train, scale = 1.0f);
  s.assign(rate, 0.5f);
  here.assign(rate, 0.5f);
  both(train, scale = 1.0f);
  both(decayed);
  both(decayed);
  CHECK(s.value(steps) == 6);
  auto step = s.prepare(fetch(loss, train), x = xs, y = ys, scale = 1.0f);
  auto step_here = here.prepare(fetch(loss, train), x = xs, y = ys, scale = 1.0f);
  CHECK(step() == step_here());
  CHECK(s.value(w) == here.value(w));
}

TEST_CASE("gradients of gathered rows travel as rows") {
  cluster_here c(2, 1);
  auto ids = placeholder<"ids", std::int32_t, "batch">();
  auto y = placeholder<"y", float, "batch", 2>();
  auto table = variable<"table", float, 100, 2>(ones);
  auto w = variable<"w", float, 2, 2>(zeros);
  auto loss = reduce_sum(square(matmul(gather(table, ids), w) - y));
  auto train = gradient_descent(0.125f).minimize(loss);
  static_assert(std::tuple_size_v<decltype(detail::worker_half<true>(train))> == 3);
  worker_session s(c.worker(0), loss, train);
  session here{loss, train};
  s.initialize();
  here.initialize();
  for (const auto& batch : {std::vector<std::int32_t>{3, 7, 3}, std::vector<std::int32_t>{99}, std::vector<std::int32_t>{}}) {
    const std::vector<float> labels(2 * batch.size(), 1);
    auto [a] = s.run(fetch(loss, train), ids = batch, y = labels);
    auto [b] = here.run(fetch(loss, train), ids = batch, y = labels);
    CHECK(a == b);
    CHECK(s.value(table) == here.value(table));
    CHECK(s.value(w) == here.value(w));
  }
  CHECK_THROWS_AS(s.run(fetch(loss, train), ids = std::vector<std::int32_t>{100}, y = std::vector<float>{1, 1}), invalid_argument);
  // Rows that another worker has changed are read anew.
  worker_session other(c.worker(0), loss);
  other.assign(table, std::vector<float>(200, 2.0f));
  auto [changed] = s.run(fetch(loss), ids = std::vector<std::int32_t>{50, 3}, y = std::vector<float>{1, 1, 1, 1});
  auto [expected] = other.run(fetch(loss), ids = std::vector<std::int32_t>{50, 3}, y = std::vector<float>{1, 1, 1, 1});
  CHECK(changed == expected);
  auto [still] = s.run(fetch(loss), ids = std::vector<std::int32_t>{3}, y = std::vector<float>{1, 1});
  CHECK(still >= 0);
}

namespace {

template <class Optimizer>
void several_tables(cluster_here& c, const std::string& name, const Optimizer& optimizer) {
  CAPTURE(name);
  auto ids = placeholder<"ids", std::int64_t, "batch">();
  auto more = placeholder<"more", std::int64_t, 2>();
  auto a = variable<"a", float, 10, 2>(ones);
  auto b = variable<"b", float, 10, 2>(ones);
  auto whole = variable<"whole", float, 10, 2>(ones);
  auto sums = reduce_sum(gather(a, ids) * gather(b, ids) * gather(whole, ids)) + reduce_sum(gather(a, more));
  auto loss = sums + reduce_sum(whole);
  auto train = optimizer.minimize(loss);
  for (const int staleness : {0, 2}) {
    worker_options o = c.worker(0, staleness);
    o.container = name + std::to_string(staleness);
    worker_session s(o, loss, train);
    session here{loss, train};
    s.initialize();
    here.initialize();
    for (std::int64_t k = 0; k < 3; ++k) {
      const std::vector<std::int64_t> batch{k, k + 1, k}, two{9, k};
      auto [first] = s.run(fetch(loss, train), ids = batch, more = two);
      auto [second] = here.run(fetch(loss, train), ids = batch, more = two);
      s.finish();
      if (staleness == 0 || k == 0) CHECK(first == second);
      if (staleness > 0) continue;
      CHECK(s.value(a) == here.value(a));
      CHECK(s.value(b) == here.value(b));
      CHECK(s.value(whole) == here.value(whole));
    }
  }
}

}  // namespace

TEST_CASE("several tables, one of them whole") {
  cluster_here c(2, 1);
  several_tables(c, "gradient_descent", gradient_descent(0.125f));
  several_tables(c, "momentum", momentum(0.125f, 0.5f));
  several_tables(c, "adam", adam(0.125f));
}

TEST_CASE("arrays that do not fit into one message") {
  for (const bool memory : {true, false}) {
    CAPTURE(memory);
    cluster_here c(1, 1, memory);
    auto x = placeholder<"x", float, 1, 500>();
    auto w = variable<"w", float, 500, 1000>(zeros);
    auto loss = reduce_sum(matmul(x, w));
    auto train = gradient_descent(0.5f).minimize(loss);
    for (const int staleness : {0, 2}) {
      worker_session s(c.worker(0, staleness), loss, train);
      s.initialize();
      const std::vector<float> one(500, 1);
      for (int k = 0; k < 10; ++k) s.run(fetch(train), x = one);
      s.finish();
      const auto values = s.value(w);
      CHECK(std::all_of(values.begin(), values.end(), [](float v) { return v == -5; }));
    }
  }
}

TEST_CASE("several workers at once, with and without staleness") {
  for (const int staleness : {0, 1, 4}) {
    CAPTURE(staleness);
    cluster_here c(2, 2);
    auto y = make_labels();
    auto w = variable<"w", float>(zeros);
    auto steps = global_step();
    // Each step adds 1 to w, whatever its values are.
    auto sum = reduce_sum(y) * w;
    auto train = gradient_descent(1.0f).minimize(sum, steps);
    constexpr int count = 300;
    std::exception_ptr failed[2];
    std::thread workers[2];
    for (int k = 0; k < 2; ++k)
      workers[k] = std::thread([&, k] {
        try {
          worker_session s(c.worker(k, staleness), sum, train);
          if (k == 0) s.initialize();
          s.wait_until_initialized(std::chrono::seconds(10));
          for (int i = 0; i < count; ++i) s.run(fetch(sum, train), y = std::vector<float>{-0.5f, -0.5f});
          s.finish();
        } catch (...) {
          failed[k] = std::current_exception();
        }
      });
    for (auto& t : workers) t.join();
    for (const auto& f : failed)
      if (f) std::rethrow_exception(f);
    worker_session s(c.worker(0), sum, train);
    CHECK(s.value(w) == 2 * count);
    CHECK(s.value(steps) == 2 * count);
    // A session of the graph sees the same variables.
    graph g;
    const auto scope = g.as_default();
    output there;
    {
      const device d(replica_device_setter({.cluster = c.c}));
      there = get_variable("w", shape{}, {.type = dtype::float32});
    }
    graph_session plain(g, {.target = c.servers[0]->target()});
    CHECK(plain.value(there).as<float>() == 2 * count);
  }
}

TEST_CASE("where the time of steps goes") {
  cluster_here c(2, 1);
  auto x = make_inputs();
  auto y = make_labels();
  auto w = variable<"w", float, 3, 1>(random_uniform(-1, 1, 5));
  auto b = variable<"b", float>(0.5f);
  auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  auto train = gradient_descent(0.125f).minimize(loss);
  constexpr std::chrono::nanoseconds none{};
  for (const int staleness : {0, 2}) {
    worker_session s(c.worker(0, staleness), loss, train);
    s.initialize();
    s.run(fetch(train), x = xs, y = ys);
    CHECK(s.times().steps == 0);
    CHECK(s.times().total == none);
    s.measure_steps();
    const auto begin = std::chrono::steady_clock::now();
    for (int k = 0; k < 20; ++k) s.run(fetch(loss, train), x = xs, y = ys);
    s.run(fetch(loss), x = xs, y = ys);
    const std::chrono::nanoseconds taken = std::chrono::steady_clock::now() - begin;
    const worker_times t = s.times();
    CHECK(t.steps == 20);
    CHECK(t.total <= taken);
    CHECK(t.reading + t.computing + t.network + t.waiting <= t.total);
    CHECK(t.reading + t.computing + t.network + t.waiting > t.total / 2);
    CHECK(t.computing > none);
    CHECK(t.reading > none);
    CHECK(t.waiting > none);
    CHECK((t.network > none) == (staleness == 0));
    s.measure_steps(false);
    s.run(fetch(train), x = xs, y = ys);
    CHECK(s.times().steps == 0);
  }
  // A step that fails is none.
  worker_session s(c.worker(0), loss, train);
  s.measure_steps();
  CHECK_THROWS_AS(s.run(fetch(train), x = xs, y = std::vector<float>{1, 2, 3}), invalid_argument);
  CHECK(s.times().steps == 0);
  CHECK(s.times().computing == none);
}

TEST_CASE("what goes wrong is said") {
  auto c = std::make_unique<cluster_here>(1, 1);
  auto w = variable<"w", float>(ones);
  auto steps = global_step();
  auto loss = square(w);
  auto rate = 0.125f;
  const auto make = [&] { return gradient_descent(rate).minimize(loss, steps); };
  auto train = make();
  worker_options o = c->worker(0);
  o.operation_timeout_in_ms = 4'000;
  {
    worker_session s(o, loss, train);
    CHECK_THROWS_AS(s.run(fetch(loss, train)), failed_precondition);
    CHECK(says(message_of<deadline_exceeded>([&] { s.wait_until_initialized(std::chrono::milliseconds(50)); }), "w, global_step", "chief"));
    s.initialize();
    CHECK(s.is_initialized(w));
    CHECK(s.uninitialized().empty());
    rate = 0.5f;
    CHECK(says(message_of<invalid_argument>([&] { s.run(fetch(make())); }), "other numbers as settings"));
    s.run(fetch(train));
    CHECK(s.value(w) == 0.75f);
    c->servers.erase(c->servers.begin());  // the parameter server
    const std::string lost = message_of<error>([&] { s.run(fetch(train)); });
    CAPTURE(lost);
    CHECK(says(lost, "/job:ps/task:0"));
    c->start("ps", 0, true);
    CHECK_THROWS_AS(s.run(fetch(train)), error);
  }
  std::swap(c->servers.front(), c->servers.back());
  {
    worker_session again(c->worker(0), loss, train);
    CHECK(again.uninitialized().size() == 2);
    again.initialize();
    again.run(fetch(train));
    CHECK(again.value(w) == 0.75f);
  }
  o.staleness = -1;
  CHECK(says(message_of<invalid_argument>([&] { worker_session(o, loss, train); }), "staleness"));
  o.staleness = 2;
  {
    worker_session s(o, loss, train);
    s.initialize();
    s.run(fetch(train));
    s.finish();
    c->servers.erase(c->servers.begin());
    CHECK_THROWS_AS((s.run(fetch(train)), s.run(fetch(train)), s.run(fetch(train)), s.finish()), error);
  }
  o.cluster = cluster_spec{{"worker", {"localhost:1"}}};
  CHECK(says(message_of<invalid_argument>([&] { worker_session(o, loss, train); }), "no job \"ps\""));
}

TEST_CASE("programs that differ about the variables that they share") {
  cluster_here c(1, 2);
  worker_options o = c.worker(0), other = c.worker(1);
  o.operation_timeout_in_ms = other.operation_timeout_in_ms = 5'000;
  auto w = variable<"w", float, 3>(ones);
  auto loss = reduce_sum(square(w));
  auto train = gradient_descent(0.125f).minimize(loss);
  worker_session s(o, loss, train);
  s.initialize();
  s.run(fetch(train));
  const auto now = s.value(w);
  {  // another shape
    auto wider = variable<"w", float, 4>(ones);
    auto its_loss = reduce_sum(square(wider));
    auto its_train = gradient_descent(0.125f).minimize(its_loss);
    const std::string refused = message_of<error>([&] {
      worker_session t(other, its_loss, its_train);
      t.run(fetch(its_loss, its_train));
    });
    CHECK(says(refused, "'w'", "[3]", "[4]"));
  }
  {  // another dtype
    auto finer = variable<"w", double, 3>(ones);
    auto its_loss = reduce_sum(square(finer));
    const std::string refused = message_of<error>([&] {
      worker_session t(other, its_loss);
      t.run(fetch(its_loss));
    });
    CHECK(says(refused, "'w'", "float32", "float64"));
  }
  {  // another optimizer: its slots have no values yet
    auto its_train = adam(0.125f).minimize(loss);
    worker_session t(other, loss, its_train);
    CHECK(says(message_of<deadline_exceeded>([&] { t.wait_until_initialized(std::chrono::milliseconds(30)); }), "w/Adam", "beta1_power"));
    CHECK(says(message_of<failed_precondition>([&] { t.run(fetch(its_train)); }), "uninitialized", "beta1_power"));
  }
  CHECK(s.value(w) == now);
  s.run(fetch(train));
}

TEST_CASE("a worker that goes away in the middle does not disturb the others; a server that comes back is another") {
  cluster_here c(1, 2);
  auto y = make_labels();
  auto w = variable<"w", float>(zeros);
  auto sum = reduce_sum(y) * w;
  auto train = gradient_descent(1.0f).minimize(sum);
  worker_session s(c.worker(0), sum, train);
  s.initialize();
  std::string lost;
  std::atomic<int> steps = 0;
  std::thread away([&] {
    lost = message_of<error>([&] {
      worker_session t(c.worker(1, 2), sum, train);
      for (int k = 0; k < 1'000'000; ++k, ++steps) t.run(fetch(sum, train), y = std::vector<float>{-1});
    });
  });
  while (steps < 20) s.run(fetch(sum, train), y = std::vector<float>{-1});
  c.servers.pop_back();  // that of the other
  away.join();
  CHECK(says(lost, "leaving the cluster"));
  for (int k = 0; k < 20; ++k) s.run(fetch(sum, train), y = std::vector<float>{-1});
  CHECK(s.value(w) > 40);
  c.servers.erase(c.servers.begin());
  c.start("ps", 0, true);
  CHECK(says(message_of<error>([&] { s.run(fetch(sum, train), y = std::vector<float>{-1}); }), "/job:ps/"));
  CHECK(says(message_of<aborted>([&] { s.run(fetch(sum, train), y = std::vector<float>{-1}); }), "/job:ps", "started anew", "new session"));
}

namespace {
template <class... Es>
concept taken = requires(const worker_options& o, const Es&... es) { worker_session(o, es...); };
}  // namespace

TEST_CASE("what a worker's session takes") {
  auto w = variable<"w", float>(ones);
  auto loss = square(w);
  auto train = gradient_descent(0.125f).minimize(loss);
  auto written = assign(w, loss);
  auto average = after(loss, written);
  static_assert(taken<decltype(loss), decltype(train)>);
  static_assert(!taken<decltype(loss), decltype(written)>);
  static_assert(!taken<decltype(average)>);
  // One that only looks.
  const server here = server::local();
  worker_session s({.target = here.target()}, loss, train);
  worker_session watch({.target = here.target()}, loss);
  s.initialize();
  s.run(fetch(train));
  auto [seen] = watch.run(fetch(loss));
  CHECK(seen == 0.75f * 0.75f);
  watch.assign(w, 2.0f);
  CHECK(s.value(w) == 2);
  auto [four] = s.run(fetch(loss));
  CHECK(four == 4);
  // Savers see the variables as those of any graph.
  const scratch_folder folder("worker_session");
  saver all(s.owner());
  const std::string saved = all.save(s.servers(), (folder.path / "model").string());
  s.run(fetch(train));
  CHECK(s.value(w) == 1.5f);
  all.restore(s.servers(), saved);
  auto [again] = s.run(fetch(loss));
  CHECK(again == 4);
}
