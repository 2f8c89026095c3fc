#include <leat/graphs.hpp>
#include <leat/io/binary.hpp>
#include <leat/train/named/moving_average.hpp>

#include "support/recorded_program.hpp"
#include "support/same_nodes.hpp"

#include <filesystem>

using namespace leat;

TEST_CASE("the nodes of a moving average in a training step, and of a falling rate") {
  const auto folder = leat_test::reference_folder() + "/graphs/";
  if (!std::filesystem::exists(folder)) {
    MESSAGE("skipped: " << folder << " is missing");
    return;
  }
  const auto check = [](const leat_test::comparison& c, bool whole) {
    for (const auto& d : c.differences) MESSAGE(d);
    CHECK(c.recorded > 0);
    CHECK(c.same == c.recorded);
    if (whole) CHECK(c.made == c.recorded);
  };
  {
    const leat_test::recorded_program r("moving_average");
    graph g;
    const auto scope = g.as_default();
    const auto v = variable(r.literal("v/initial_value", 0.0f), "v");
    const auto steps = get_or_create_global_step();
    const auto grown = assign_add(v, r.literal("AssignAdd/value", 1.0f));
    const auto bumped = group(grown, assign_add(steps, 1));
    exponential_moving_average ema(r.number("ExponentialMovingAverage/decay", 0.9f));
    {
      const auto wait = control_dependencies({bumped});
      ema.apply({v});
    }
    global_variables_initializer();
    check(leat_test::compare(io::read_binary_file(folder + "moving_average.pb"), export_graph(g), [](const node_def&) { return true; }),
          true);
  }
  {
    const leat_test::recorded_program r("vector_regression");
    graph g;
    const auto scope = g.as_default();
    const auto steps = get_or_create_global_step();
    exponential_decay(r.number("ExponentialDecay/initial_learning_rate", 0.1f), steps, r.literal("ExponentialDecay/Cast/x", 5),
                      r.literal("ExponentialDecay/Cast_1/x", 0.5f));
    const auto decays = [](const node_def& n) { return n.name.starts_with("ExponentialDecay"); };
    graph_def recorded = io::read_binary_file(folder + "vector_regression.pb");
    std::erase_if(recorded.nodes, [&](const node_def& n) { return !decays(n); });
    check(leat_test::compare(recorded, export_graph(g), decays), true);
  }
}

TEST_CASE("names to restore averages from, and what is refused") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable({1.0f, 2.0f}, "w");
  const auto b = variable(0.0f, "b");
  const auto count = variable(std::int32_t{0}, "count", {.trainable = false});
  const auto other = variable(1.0f, "other", {.trainable = false});
  exponential_moving_average ema(0.9f);
  CHECK_FALSE(static_cast<bool>(ema.average(w)));
  CHECK(ema.average_name(w) == "w/ExponentialMovingAverage");
  const auto before = g.size();
  CHECK_THROWS_WITH_AS(ema.apply({w, count}), doctest::Contains("count:0"), invalid_argument);
  CHECK_THROWS_AS(ema.apply({output{}}), invalid_argument);
  CHECK_THROWS_AS(ema.apply(std::vector<output>{}), invalid_argument);
  CHECK_THROWS_AS(ema.apply({placeholder(dtype::float32)}), invalid_argument);
  static_cast<void>(before);
  ema.apply();
  const auto size = global_variables().size();
  ema.apply({w});  // the same average
  CHECK(global_variables().size() == size);
  const auto names = ema.variables_to_restore();
  CHECK(names.at("w/ExponentialMovingAverage").name() == w.name());
  CHECK(names.at("b/ExponentialMovingAverage").name() == b.name());
  CHECK(names.at("other").name() == other.name());
  CHECK(names.contains("w/ExponentialMovingAverage"));
  CHECK_FALSE(names.contains("w"));
  graph h;
  const auto inner = h.as_default();
  const auto elsewhere = variable(1.0f, "v");
  CHECK_THROWS_AS(ema.apply({w, elsewhere}), invalid_argument);
}

TEST_CASE("nodes wait for what a collection holds") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto one = assign_add(v, 1.0f, "one");
  const auto two = assign_add(v, 2.0f, "two");
  add_to_collection(collection::update_ops, one);
  add_to_collection(collection::update_ops, two.operation());
  graph_operation op;
  {
    const auto wait = control_dependencies(get_collection(collection::update_ops));
    op = no_op("after");
  }
  CHECK(op.control_inputs().size() == 2);
  const std::vector<output> tensors{one, two};
  {
    const auto wait = control_dependencies(tensors);
    CHECK(no_op("again").control_inputs().size() == 2);
  }
  CHECK(group(get_collection(collection::update_ops), "all").control_inputs().size() == 2);
  CHECK(group(tensors).control_inputs().size() == 2);
  {
    const auto nothing = control_dependencies(get_collection("none"));
    CHECK(no_op().control_inputs().empty());
  }
  add_to_collection("numbers", 5.0);
  CHECK_THROWS_AS(static_cast<void>(control_dependencies(get_collection("numbers"))), invalid_argument);
}
