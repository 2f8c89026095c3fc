// Gradients of rows that compiled workers send: what servers make of them is what a session in the process makes of them, to the bit.

#include <leat/cluster.hpp>
#include <leat/cluster/cluster_status.hpp>
#include <leat/cluster/worker_session.hpp>
#include <leat/leat.hpp>
#include <leat/planned.hpp>

#include "cluster/support/cluster_here.hpp"
#include "support/messages.hpp"

#include <doctest/doctest.h>

#include <ranges>
#include <string>
#include <tuple>
#include <type_traits>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

// A worker whose step is planned, in a program whose sessions are compiled.
template <class... Es>
using planned_worker = basic_worker_session<planning_device, Es...>;

// Steps of one worker beside those of a session, equal to the bit: a table with two lookups of one shape and one with lookups of two, by
// indices that occur more than once, one that is read whole, and one with rows of a single number.
template <template <class...> class Session, template <class...> class Worker = worker_session, class MakeStep>
void rows_as_local(const worker_options& options, const MakeStep& make_step, int count = 4) {
  auto ids = placeholder<"ids", std::int64_t, "batch", 2>();
  auto again = placeholder<"again", std::int64_t, "batch", 2>();
  auto more = placeholder<"more", std::int64_t, 2>();
  auto a = variable<"a", float, 10, 3>(random_uniform(-1, 1, 3));
  auto b = variable<"b", float, 10, 3>(random_uniform(-1, 1, 4));
  auto whole = variable<"whole", float, 10, 3>(random_uniform(-1, 1, 5));
  auto narrow = variable<"narrow", float, 10>(random_uniform(-1, 1, 6));
  auto sums = reduce_mean(square(gather(a, ids) * gather(b, ids) * gather(whole, ids))) + reduce_sum(square(gather(a, again))) +
              reduce_sum(gather(narrow, more) * reduce_sum<1>(gather(b, more)));
  auto loss = sums + reduce_sum(square(whole));
  auto train = make_step(loss, a, b, whole, narrow);
  Worker<std::remove_cvref_t<decltype(loss)>, std::remove_cvref_t<decltype(train)>> s(options, loss, train);
  Session here{loss, train};
  s.initialize();
  here.initialize();
  for (const std::int64_t k : std::views::iota(0, count)) {
    const xt::xtensor<std::int64_t, 2> batch{{k, k + 1}, {k, 5}, {k + 1, k}};
    const xt::xtensor<std::int64_t, 2> other{{k + 1, k + 1}, {9, k}, {k, 7}};
    const std::vector<std::int64_t> two{k == 2 ? k : 9, k};
    auto [first] = s.run(fetch(loss, train), ids = batch, again = other, more = two);
    auto [second] = here.run(fetch(loss, train), ids = batch, again = other, more = two);
    s.finish();
    if (options.staleness == 0 || k == 0) CHECK(first == second);
    if (options.staleness > 0) continue;
    CHECK(s.value(a) == here.value(a));
    CHECK(s.value(b) == here.value(b));
    CHECK(s.value(whole) == here.value(whole));
    CHECK(s.value(narrow) == here.value(narrow));
  }
}

}  // namespace

// Compiled sessions for some optimizers, and planned ones, which take the compiler less, for the others.
TEST_CASE("rows, to the bit, by every optimizer") {
  cluster_here c(2, 1);
  worker_options o = c.worker(0);
  const auto compiled = [&](std::string_view name, const auto& optimizer) {
    INFO(std::string(name));
    o.container = name;
    rows_as_local<session>(o, [&](const auto& loss, const auto&...) { return optimizer.minimize(loss); });
  };
  const auto planned = [&](std::string_view name, const auto& optimizer) {
    INFO(std::string(name));
    o.container = name;
    rows_as_local<planned_session>(o, [&](const auto& loss, const auto&...) { return optimizer.minimize(loss); });
  };
  SUBCASE("compiled") {
    compiled("gradient_descent", gradient_descent(0.1f));
    compiled("momentum", momentum(0.1f, 0.9f));
    compiled("adam", adam(0.01f));
  }
  SUBCASE("planned") {
    planned("momentum", momentum(0.1f, 0.9f));
    planned("nesterov_momentum", nesterov_momentum(0.1f, 0.9f));
    planned("adagrad", adagrad(0.1f));
    planned("rms_prop", rms_prop(0.01f, 0.9f, 0.5f));
    planned("centered_rms_prop", centered_rms_prop(0.01f, 0.9f, 0.5f));
    planned("adadelta", adadelta(1.0f));
    planned("ftrl", ftrl(0.1f, {.l1 = 0.01f, .l2 = 0.02f}));
    planned("proximal_gradient_descent", proximal_gradient_descent(0.1f, {.l1 = 0.01f}));
    planned("proximal_adagrad", proximal_adagrad(0.1f, {.l1 = 0.01f}));
    planned("adam", adam(0.01f));
    planned("adam_w", adam_w(0.01f, 0.1f));
    planned("lamb", lamb(0.01f, 0.1f));
    auto steps = global_step();
    o.container = "adagrad_da";
    rows_as_local<planned_session>(o, [&](const auto& loss, const auto&...) { return adagrad_da(0.1f, steps).minimize(loss, steps); });
  }
}

TEST_CASE("rows of planned workers, to the bit") {
  cluster_here c(2, 1);
  worker_options o = c.worker(0);
  const auto check = [&](std::string_view name, const auto& optimizer) {
    INFO(std::string(name));
    o.container = name;
    rows_as_local<planned_session, planned_worker>(o, [&](const auto& loss, const auto&...) { return optimizer.minimize(loss); });
  };
  check("momentum", momentum(0.1f, 0.9f));  // one list of rows
  check("adam", adam(0.01f));               // sums of rows
  // A table of 4 MB, of which two rows are asked for and sent.
  auto ids = placeholder<"ids", std::int32_t, 2>();
  auto table = variable<"table", float, 10'000, 100>(ones);
  auto loss = reduce_sum(square(gather(table, ids)));
  auto train = gradient_descent(0.125f).minimize(loss);
  planned_worker<std::remove_cvref_t<decltype(loss)>, std::remove_cvref_t<decltype(train)>> s(c.worker(0), loss, train);
  s.initialize();
  const auto moved = [&] {
    std::uint64_t bytes = 0;
    for (const task_status& t : cluster_status(c.c)) bytes += t.counted ? t.counted->bytes_sent : 0;
    return bytes;
  };
  const std::vector<std::int32_t> given{7, 9'999};
  s.run(fetch(train), ids = given);
  const std::uint64_t before = moved();
  for (int k = 0; k < 3; ++k) s.run(fetch(train), ids = given);
  const std::uint64_t sent = moved() - before;
  CHECK(sent > 3 * 2 * 400);  // gradients; as much comes back before each step
  CHECK(sent < 50'000);
  const auto values = s.value(table);
  CHECK(values(7, 0) == 0.75f * 0.75f * 0.75f * 0.75f);
  CHECK(values(9'999, 99) == values(7, 0));
  CHECK(values(8, 0) == 1);
}

TEST_CASE("rows, to the bit, clipped and scaled") {
  cluster_here c(2, 1);
  worker_options o = c.worker(0);
  const auto clipped = [](const auto& optimizer) {
    return [optimizer](const auto& loss, const auto&... variables) {
      const auto shorter = clip_by_global_norm(0.5f, gradients(loss, variables...));
      return std::apply([&](const auto&... g) { return optimizer.apply_gradients(with_variable(g * 0.75f, variables)...); }, shorter);
    };
  };
  o.container = "momentum";
  rows_as_local<session>(o, clipped(momentum(0.1f, 0.9f)));
  o.container = "adam";
  rows_as_local<planned_session>(o, clipped(adam(0.01f)));
  o.container = "planned";
  rows_as_local<planned_session, planned_worker>(o, clipped(adam(0.01f)));
}

TEST_CASE("what is sent of a gradient of rows") {
  auto ids = placeholder<"ids", std::int32_t, "batch", 2>();
  auto more = placeholder<"more", std::int32_t, "batch", 2>();
  auto one = placeholder<"one", std::int32_t>();
  auto table = variable<"table", float, 10, 3>(ones);
  auto once = reduce_sum(square(gather(table, ids)));
  auto twice = once + reduce_sum(gather(table, more));
  auto mixed = once + reduce_sum(gather(table, one));
  const auto sent = [](const auto& step) { return std::tuple_size_v<decltype(detail::worker_half<true>(step))>; };
  CHECK(sent(momentum(0.1f, 0.9f).minimize(once)) == 2);
  CHECK(sent(momentum(0.1f, 0.9f).minimize(twice)) == 2);
  CHECK(sent(momentum(0.1f, 0.9f).minimize(mixed)) == 4);  // of all rows, as in a session
  CHECK(sent(adam(0.1f).minimize(once)) == 2);
  CHECK(sent(adam(0.1f).minimize(twice)) == 4);
  CHECK(sent(adam(0.1f).minimize(once * 2.0f)) == 2);
  const auto [slope] = gradients(once, table);
  CHECK(sent(adam(0.1f).apply_gradients(with_variable(slope * reduce_sum(slope), table))) == 3);
  CHECK(sent(adam(0.1f).minimize(once + reduce_sum(table))) == 1);
}

TEST_CASE("negative ids of a sum by segments count for nothing, others that are too large are refused") {
  cluster_here c(1, 1);
  auto ids = placeholder<"ids", std::int32_t, "batch">();
  auto values = placeholder<"values", float, "batch", 2>();
  auto table = variable<"table", float, 4, 2>(ones);
  auto train = momentum(0.5f, 0.5f).apply_gradients(with_variable(unsorted_segment_sum<4>(values, ids), table));
  auto total = reduce_sum(table);
  worker_session s(c.worker(0), train, total);
  session here{train, total};
  s.initialize();
  here.initialize();
  const xt::xtensor<float, 2> four{{1, 2}, {3, 4}, {5, 6}, {7, 8}};
  for (int k = 0; k < 2; ++k) {
    s.run(fetch(train), ids = std::vector<std::int32_t>{-1, 2, 0, 2}, values = four);
    here.run(fetch(train), ids = std::vector<std::int32_t>{-1, 2, 0, 2}, values = four);
    CHECK(s.value(table) == here.value(table));
  }
  const auto before = s.value(table);
  CHECK_THROWS_AS(s.run(fetch(train), ids = std::vector<std::int32_t>{0, 4, 0, 2}, values = four), invalid_argument);
  CHECK_THROWS_AS(here.run(fetch(train), ids = std::vector<std::int32_t>{0, 4, 0, 2}, values = four), invalid_argument);
  CHECK(s.value(table) == before);
}
