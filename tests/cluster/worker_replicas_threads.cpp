// Compiled workers that train synchronously: each update is made of the mean of all workers' gradients.

#include <leat/cluster.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>

#include "cluster/support/all_at_once.hpp"
#include "cluster/support/cluster_here.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

worker_options replica_of(cluster_here& c, int number, int count, std::string container) {
  worker_options o = c.worker(number);
  o.replicas = count;
  o.replica = number;
  o.container = std::move(container);
  return o;
}

auto ids() { return placeholder<"ids", std::int32_t, "batch">(); }
auto table() { return variable<"table", float, 10, 2>(random_uniform(-1, 1, 3)); }
auto weight() { return variable<"weight", float, 2>(random_uniform(-1, 1, 4)); }
auto counter() { return untrainable_variable<"steps", std::int64_t>(zeros); }
auto loss_of_rows() { return reduce_mean(square(reduce_sum<1>(gather(table(), ids()) * weight()) - 1.0f)); }

// What worker `k` is given in step `i`; rows are shared by some of the workers and looked up twice by some.
std::vector<std::int32_t> batch(int k, int i) { return {k, (i + k) % 10, 5, i % 3 == 0 ? 5 : 6, i % 10}; }

}  // namespace

TEST_CASE("an update is that of one process with the batches of all workers") {
  cluster_here c(2, 2);
  auto first = placeholder<"first", std::int32_t, 2>();
  auto second = placeholder<"second", std::int32_t, 2>();
  auto rows = variable<"rows", float, 6, 2>(ones);
  auto w = variable<"w", float, 2>(ones);
  const auto of = [&](const auto& its_ids) { return reduce_sum(gather(rows, its_ids) * w); };
  const auto check = [&](const std::string& name, const auto& optimizer) {
    CAPTURE(name);
    auto loss = of(first);
    auto train = optimizer.minimize(loss, counter());
    auto both = (of(first) + of(second)) * 0.5f;
    auto train_both = optimizer.minimize(both, counter());
    session here{train_both, both};
    here.initialize();
    const std::vector<std::int32_t> given[]{{0, 1}, {1, 1}};
    std::vector<std::function<void()>> work;
    for (int k = 0; k < 2; ++k)
      work.push_back([&, k] {
        worker_session s(replica_of(c, k, 2, name), loss, train);
        if (k == 0) s.initialize();
        s.wait_until_initialized(std::chrono::seconds(10));
        for (int i = 0; i < 3; ++i) s.run(fetch(train), first = given[k]);
      });
    all_at_once(work);
    for (int i = 0; i < 3; ++i) here.run(fetch(train_both), first = given[0], second = given[1]);
    worker_options o = c.worker(0);
    o.container = name;
    worker_session s(o, loss, train);
    CHECK(s.value(rows) == here.value(rows));
    CHECK(s.value(w) == here.value(w));
    CHECK(s.value(counter()) == 3);
  };
  // Small whole numbers and powers of two: sums are exact.
  check("gradient_descent", gradient_descent(0.25f));
  check("momentum", momentum(0.25f, 0.5f));
}

TEST_CASE("results can be repeated to the bit, whoever comes first") {
  constexpr int workers = 3;
  cluster_here c(2, workers);
  const auto twice = [&](const std::string& name, const auto& optimizer) {
    CAPTURE(name);
    auto loss = loss_of_rows();
    auto train = optimizer.minimize(loss, counter());
    std::vector<xt::xtensor<float, 2>> tables;
    for (const std::string& run : {name + "/1", name + "/2"}) {
      std::vector<std::function<void()>> work;
      for (int k = 0; k < workers; ++k)
        work.push_back([&, k] {
          worker_session s(replica_of(c, k, workers, run), loss, train);
          if (k == 0) s.initialize();
          s.wait_until_initialized(std::chrono::seconds(10));
          for (int i = 0; i < 20; ++i) s.run(fetch(loss, train), ids() = batch(k, i));
        });
      all_at_once(work);
      worker_options o = c.worker(0);
      o.container = run;
      worker_session s(o, loss, train);
      tables.push_back(s.value(table()));
      CHECK(s.value(counter()) == 20);
    }
    CHECK(tables[0] == tables[1]);
  };
  twice("momentum", momentum(0.1f, 0.9f));
  twice("adam", adam(0.01f));
}

TEST_CASE("a worker without more data gives its share back") {
  cluster_here c(1, 3);
  auto loss = loss_of_rows();
  auto train = gradient_descent(0.1f).minimize(loss, counter());
  const auto begin = std::chrono::steady_clock::now();
  std::vector<std::function<void()>> work;
  for (int k = 0; k < 3; ++k)
    work.push_back([&, k] {
      worker_session s(replica_of(c, k, 3, "ends"), loss, train);
      if (k == 0) s.initialize();
      s.wait_until_initialized(std::chrono::seconds(10));
      for (int i = 0; i < 4 * (k + 1); ++i) s.run(fetch(train), ids() = batch(k, i));
      if (k == 1) {  // it says so; the others end with their session
        s.leave();
        s.leave();
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
      }
    });
  all_at_once(work);
  CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(8));
  worker_options o = replica_of(c, 0, 3, "ends");
  o.operation_timeout_in_ms = 500;
  worker_session s(o, loss, train);
  CHECK(s.value(counter()) == 12);
  // When all have ended the next training waits for all, but for those that have no data at all.
  CHECK(says(message_of<deadline_exceeded>([&] { s.run(fetch(train), ids() = batch(0, 0)); }), "worker 1", "worker 2"));
  CHECK(s.value(counter()) == 12);
  for (int k = 1; k < 3; ++k) {
    worker_session none(replica_of(c, k, 3, "ends"), loss, train);
    none.leave();
  }
  s.run(fetch(train), ids() = batch(0, 0));
  CHECK(s.value(counter()) == 13);
}

TEST_CASE("who is missing is named, and a step can be tried again") {
  cluster_here c(2, 3);
  auto loss = loss_of_rows();
  auto train = momentum(0.1f, 0.5f).minimize(loss, counter());
  worker_options o = replica_of(c, 0, 2, "missing");
  o.operation_timeout_in_ms = 2000;
  worker_session s(o, loss, train);
  s.initialize();
  const auto before = s.value(table());
  const std::string never = message_of<deadline_exceeded>([&] { s.run(fetch(train), ids() = batch(0, 0)); });
  CHECK(says(never, "worker 1 (not begun)", "1800 ms"));
  CHECK(s.value(table()) == before);
  CHECK(s.value(counter()) == 0);
  {
    worker_session other(replica_of(c, 1, 2, "missing"), loss, train);
    std::thread second([&] { other.run(fetch(train), ids() = batch(1, 0)); });
    s.run(fetch(train), ids() = batch(0, 0));
    second.join();
    CHECK(s.value(counter()) == 1);
    const std::string late = message_of<deadline_exceeded>([&] { s.run(fetch(train), ids() = batch(0, 1)); });
    CHECK(says(late, "worker 1 (its last gradients came"));
  }
  // The other has ended.
  s.run(fetch(train), ids() = batch(0, 1));
  CHECK(s.value(counter()) == 2);

  {  // one that goes away in the middle, and comes back
    worker_session third(replica_of(c, 1, 2, "missing"), loss, train);
    std::thread waits([&] { CHECK_THROWS_AS(third.run(fetch(train), ids() = batch(1, 1)), error); });
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    c.servers.erase(c.servers.begin() + 3);  // its own server
    waits.join();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::string gone = message_of<deadline_exceeded>([&] { s.run(fetch(train), ids() = batch(0, 2)); });
    CHECK(says(gone, "worker 1"));
    CHECK(s.value(counter()) == 2);
  }
  worker_options through = replica_of(c, 0, 2, "missing");
  through.replica = 1;
  worker_session back(through, loss, train);
  std::thread second([&] { back.run(fetch(train), ids() = batch(1, 2)); });
  s.run(fetch(train), ids() = batch(0, 2));
  second.join();
  CHECK(s.value(counter()) == 3);
}

TEST_CASE("a late worker is what the others' steps wait for") {
  using std::chrono::milliseconds;
  cluster_here c(2, 2);
  auto loss = loss_of_rows();
  auto train = gradient_descent(0.1f).minimize(loss, counter());
  worker_times times[2];
  std::vector<std::function<void()>> work;
  for (int k = 0; k < 2; ++k)
    work.push_back([&, k] {
      worker_session s(replica_of(c, k, 2, "late"), loss, train);
      if (k == 0) s.initialize();
      s.wait_until_initialized(std::chrono::seconds(10));
      s.run(fetch(train), ids() = batch(k, 0));  // both have joined
      s.measure_steps();
      for (int i = 1; i < 4; ++i) {
        if (k == 1) std::this_thread::sleep_for(milliseconds(60));
        s.run(fetch(train), ids() = batch(k, i));
      }
      times[k] = s.times();
    });
  all_at_once(work);
  CHECK(times[0].steps == 3);
  CHECK(times[0].waiting > milliseconds(120));
  CHECK(times[0].waiting > 4 * times[1].waiting);
  CHECK(times[0].total < times[1].total + milliseconds(250));  // that of sleeping is no run's
}

TEST_CASE("options that do not fit are refused") {
  cluster_here c(1, 2);
  auto loss = loss_of_rows();
  auto train = gradient_descent(0.1f).minimize(loss);
  const auto refused = [&](worker_options o) { return message_of<invalid_argument>([&] { worker_session s(o, loss, train); }); };
  worker_options o = replica_of(c, 0, 2, "");
  o.staleness = 1;
  CHECK(says(refused(o), "staleness", "synchronous"));
  o = replica_of(c, 0, 2, "");
  o.replica = 2;
  CHECK(says(refused(o), "replica 2 of 2"));
  o.replica = -1;
  CHECK(says(refused(o), "replica -1 of 2"));
  o = replica_of(c, 0, 1, "");
  worker_session s(o, loss, train);
  s.initialize();
  s.run(fetch(train), ids() = batch(0, 0));  // alone
  o.replicas = 2;
  worker_session other(o, loss, train);
  const std::string differs = message_of<invalid_argument>([&] { other.run(fetch(train), ids() = batch(0, 0)); });
  CHECK(says(differs, "of 1 workers", "2"));

  // One number twice.
  worker_options one = replica_of(c, 0, 2, "twice");
  worker_session a(one, loss, train);
  a.initialize();
  std::string lost;
  std::thread first([&] { lost = message_of<aborted>([&] { a.run(fetch(train), ids() = batch(0, 0)); }); });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  one.operation_timeout_in_ms = 300;
  CHECK_THROWS_AS(worker_session(one, loss, train).run(fetch(train), ids() = batch(0, 0)), deadline_exceeded);
  first.join();
  CHECK(says(lost, "another process", "worker 0 of 2"));
}

TEST_CASE("workers that run different training steps in one update are told so, and no gradient is lost or stale") {
  cluster_here c(1, 2);
  auto x = placeholder<"x", float>();
  auto a = variable<"a", float>(zeros);
  auto b = variable<"b", float>(zeros);
  auto train_a = gradient_descent(1.0f).minimize(a * x);
  auto train_b = gradient_descent(1.0f).minimize(b * x);
  worker_session first(replica_of(c, 0, 2, "two steps"), train_a, train_b), second(replica_of(c, 1, 2, "two steps"), train_a, train_b);
  first.initialize();
  all_at_once({[&] { first.run(fetch(train_a), x = 1.0f); }, [&] { second.run(fetch(train_a), x = 3.0f); }});
  all_at_once({[&] { first.run(fetch(train_b), x = 1.0f); }, [&] { second.run(fetch(train_b), x = 3.0f); }});
  CHECK(first.value(a) == -2.0f);
  CHECK(first.value(b) == -2.0f);
  std::string told_first, told_second;
  all_at_once({[&] { told_first = message_of<invalid_argument>([&] { first.run(fetch(train_a), x = 100.0f); }); },
               [&] { told_second = message_of<invalid_argument>([&] { second.run(fetch(train_b), x = 100.0f); }); }});
  for (const std::string& told : {told_first, told_second}) {
    CHECK(says(told, "different training steps", "worker 0 trains 'a'"));
    CHECK(says(told, "worker 1 trains 'b'"));
  }
  CHECK(first.value(a) == -2.0f);
  CHECK(first.value(b) == -2.0f);
  // They go on, with gradients of this round alone.
  all_at_once({[&] { first.run(fetch(train_b), x = 1.0f); }, [&] { second.run(fetch(train_b), x = 1.0f); }});
  all_at_once({[&] { first.run(fetch(train_a), x = 2.0f); }, [&] { second.run(fetch(train_a), x = 2.0f); }});
  CHECK(first.value(a) == -4.0f);
  CHECK(first.value(b) == -3.0f);
}
