#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/sync_replicas.hpp>

#include "support/messages.hpp"
#include "support/reference_json.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <map>
#include <memory>
#include <thread>

using namespace leat;
using namespace leat_test;
using nlohmann::json;

namespace {

// One replica whose gradients are fed.
struct replica {
  graph g;
  output w, gradient, steps, local_step;
  graph_operation train, first_tokens;
  std::unique_ptr<sync_replicas> sync;
  replica(int aggregate, int total) {
    const auto scope = g.as_default();
    steps = get_or_create_global_step();
    w = variable(10.0f, "w");
    gradient = placeholder(dtype::float32, {}, "gradient");
    sync = std::make_unique<sync_replicas>(gradient_descent(0.1f),
                                           sync_replicas_options{.replicas_to_aggregate = aggregate, .total_num_replicas = total});
    train = sync->apply_gradients({{gradient, w}}, {.global_step = steps});
    first_tokens = sync->init_tokens_op();
    local_step = get_tensor_by_name(g, "sync_rep_local_step:0");
  }
};

}  // namespace

TEST_CASE("replicas' steps are as TensorFlow's: gradients 1, 2, 3, ..., stale ones dropped") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  for (const auto& row : (*reference)["sync_replicas"]) {
    const std::string what = row["what"];
    if (!row["result"].is_array() || !row["result"].front().is_object()) continue;
    CAPTURE(what);
    const int aggregate = what.find("aggregate 2") != std::string::npos ? 2 : 1;
    replica r(aggregate, 1);
    graph_session s(r.g);
    {
      const auto scope = r.g.as_default();
      s.run(global_variables_initializer());
    }
    s.run(r.sync->chief_init_op());
    s.run(r.first_tokens);
    cancellation end;
    std::thread chief([&] {
      try {
        for (;;) s.run(r.sync->sync_op(), {}, {.cancel = &end});
      } catch (const cancelled&) {
      }
    });
    const run_options soon{.timeout_in_ms = 60000};
    try {
      for (const auto& step : row["result"]) {
        s.run(r.train, {{r.gradient, step["gradient"].get<float>()}}, soon);
        // The chief's update may still be under way.
        const auto updates = step["global_step"].get<std::int64_t>();
        for (int k = 0; k < 10000 && s.run<std::int64_t>(r.steps) < updates; ++k) std::this_thread::sleep_for(std::chrono::milliseconds(1));
        CHECK(s.run<float>(r.w) == doctest::Approx(step["w"].get<float>()).epsilon(1e-6));
        CHECK(s.run<std::int64_t>(r.steps) == updates);
        CHECK(integer(s.value(r.local_step)) == step["local_step"].get<std::int64_t>());
      }
    } catch (const error& e) {
      FAIL_CHECK(e.what());
    }
    end.cancel();
    chief.join();
  }
}

TEST_CASE("its nodes are TensorFlow's") {
  const auto reference = reference_json("training.json");
  if (!reference) return;
  for (const auto& row : (*reference)["sync_replicas"]) {
    if (!row["result"].is_object() || !row["result"].contains("nodes")) continue;
    graph g;
    const auto scope = g.as_default();
    const auto steps = get_or_create_global_step();
    const auto w = variable(10.0f, "w");
    sync_replicas sync(gradient_descent(0.1f), {.replicas_to_aggregate = 2, .total_num_replicas = 2});
    const auto before = g.size();
    const auto train = sync.minimize(square(value_of(w)), {.global_step = steps});
    static_cast<void>(sync.token_queue().close());
    static_cast<void>(sync.token_queue().close(true));
    static_cast<void>(sync.init_tokens_op());
    std::map<std::string, json> expected, made;
    for (const auto& n : row["result"]["nodes"]) expected[n["name"]] = n;
    for (int i = before; i < g.size(); ++i) {
      const node_def n = to_node_def(g, i);
      json inputs = json::array(), controls = json::array();
      for (const auto& in : n.inputs) (in.starts_with('^') ? controls : inputs).push_back(in.starts_with('^') ? in.substr(1) : in);
      made[n.name] = {{"name", n.name}, {"op", n.op}, {"inputs", inputs}, {"control", controls}};
    }
    for (const auto& [name, n] : expected) {
      CAPTURE(name);
      REQUIRE(made.contains(name));
      for (const char* part : {"op", "inputs", "control"}) CHECK(made[name][part] == n[part]);
    }
    CHECK(made.size() == expected.size());
    CHECK(json(train.name() + ":0") == row["result"]["train_op"]);
    CHECK(json(sync.chief_init_op().name()) == row["result"]["chief_init_op"]);
  }
}

TEST_CASE("what is refused") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable(10.0f, "w");
  const auto steps = get_or_create_global_step();
  const auto x = placeholder(dtype::float32, {}, "x");
  CHECK(says(message_of<invalid_argument>([] { sync_replicas(gradient_descent(0.1f), {.replicas_to_aggregate = 0}); }), "is 0"));
  sync_replicas s(gradient_descent(0.1f), {.replicas_to_aggregate = 3, .total_num_replicas = 1});
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(s.apply_gradients({{x, w}}, {})); }),
             "Global step is required to check staleness"));
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(s.apply_gradients({}, {.global_step = steps})); }),
             "Must supply at least one variable"));
  CHECK_THROWS_AS(static_cast<void>(s.sync_op()), failed_precondition);
  CHECK_THROWS_AS(static_cast<void>(s.init_tokens_op()), failed_precondition);
  static_cast<void>(s.apply_gradients({{x, w}}, {.global_step = steps}));
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(s.init_tokens_op(1)); }),
             "Too few tokens to finish the first step: 1 (given) vs 2 (needed)"));
}

TEST_CASE("accumulators refuse what does not fit, and end with their run") {
  graph g;
  const auto scope = g.as_default();
  const conditional_accumulator sum(dtype::float32, {2}, {.reduction_type = "SUM"});
  const auto x = placeholder(dtype::float32, shape::unknown(), "x");
  const auto add = sum.apply_grad(x);
  const auto taken = sum.take_grad(2);
  graph_session s(g);
  CHECK(says(message_of<invalid_argument>([&] { s.run(add, {{x, std::vector<float>{1, 2, 3}}}); }), "Shape mismatch"));
  s.run(add, {{x, std::vector<float>{1, 2}}});
  run_options soon;
  soon.timeout_in_ms = 50;
  CHECK_THROWS_AS(s.run(taken, {}, soon), deadline_exceeded);
  s.run(add, {{x, std::vector<float>{10, 20}}});
  CHECK(s.run<std::vector<float>>(taken) == std::vector<float>{11, 22});
  CHECK(s.run<std::int32_t>(sum.num_accumulated()) == 0);
}
