#include <leat/named/control/check.hpp>

#include <leat/named/control/control.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include "support/flow.hpp"

#include <doctest/doctest.h>

#include <string>

using namespace leat;
using leat_test::array;
using leat_test::flow_run;
using leat_test::scalar_of;

namespace {

std::vector<std::string> operations(graph& g) {
  std::vector<std::string> list;
  for (const auto& op : get_operations(g)) list.push_back(op.name() + " " + std::string(op.type()));
  return list;
}
bool holds(const graph_operation& check, const std::map<std::string, array>& given) {
  flow_run run(given);
  try {
    run(check);
  } catch (const std::runtime_error& e) {
    CHECK(std::string(e.what()).starts_with("assertion failed"));
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a check of texts is one node, others are taken in a branch") {
  graph g;
  const auto scope = g.as_default();
  const auto c = placeholder(dtype::boolean, {}, "c");
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto plain = check(c, {"no"});
  CHECK(plain.name() == "Assert/Assert");
  CHECK(plain.inputs()[1].name() == "Assert/Assert/data_0:0");
  const auto guarded = check(c, {"x is ", x}, {.summarize = 7, .name = "guarded"});
  CHECK(guarded.name() == "guarded/AssertGuard/Merge");
  const auto node = get_operation_by_name(g, "guarded/AssertGuard/Assert");
  CHECK(node.type() == "Assert");
  CHECK(*node.attribute("summarize").get_if<std::int64_t>() == 7);
  CHECK(node.inputs()[0].name() == "guarded/AssertGuard/Assert/Switch:0");
  CHECK(node.inputs()[2].name() == "guarded/AssertGuard/Assert/Switch_1:0");
  for (const auto& one : {plain, guarded}) {
    CHECK(holds(one, {{"c", scalar_of(1)}, {"x", scalar_of(2)}}));
    CHECK_FALSE(holds(one, {{"c", scalar_of(0)}, {"x", scalar_of(2)}}));
  }
  CHECK_THROWS_AS(check(x, {"no"}), invalid_argument);
  CHECK_THROWS_AS(check(placeholder(dtype::boolean, {2}), {"no"}), invalid_argument);
  CHECK_THROWS_AS(check(output{}, {"no"}), invalid_argument);
}

TEST_CASE("comparisons of all elements") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto y = placeholder(dtype::float32, {}, "y");
  const auto at = [](double a, double b, double v) { return std::map<std::string, array>{{"x", array{{2}, {a, b}}}, {"y", scalar_of(v)}}; };
  const auto same = check_equal(x, y);
  CHECK(same.name() == "assert_equal/Assert/AssertGuard/Merge");
  CHECK(holds(same, at(2, 2, 2)));
  CHECK_FALSE(holds(same, at(2, 3, 2)));
  CHECK(holds(check_less(x, y), at(1, 2, 3)));
  CHECK_FALSE(holds(check_less(x, y), at(1, 3, 3)));
  CHECK(holds(check_less_equal(x, y), at(1, 3, 3)));
  CHECK_FALSE(holds(check_greater(x, y), at(4, 3, 3)));
  CHECK(holds(check_greater_equal(x, 3.0f), at(4, 3, 0)));
  CHECK(holds(check_positive(x), at(4, 3, 0)));
  CHECK_FALSE(holds(check_positive(x, {.name = "named"}), at(4, 0, 0)));
  CHECK(holds(check_non_negative(x), at(4, 0, 0)));
  CHECK(holds(check_negative(x), at(-4, -1, 0)));
  CHECK_FALSE(holds(check_non_positive(x), at(-4, 1, 0)));
  CHECK(get_operation_by_name(g, "named/assert_less/Assert/AssertGuard/Assert").type() == "Assert");
}

TEST_CASE("the rank is checked at once where it is known") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2, 2}, "x");
  CHECK(check_rank(x, 2).name() == "assert_rank/static_checks_determined_all_ok");
  CHECK_THROWS_WITH_AS(check_rank(x, 3), "assert_rank_1.  Tensor x:0 must have rank 3.  Received rank 2, shape (2, 2)", invalid_argument);
  const auto open = placeholder(dtype::float32, unknown_shape, "open");
  const auto later = check_rank(open, 1);
  CHECK(holds(later, {{"open", array{{2}, {1, 2}}}}));
  CHECK_FALSE(holds(later, {{"open", scalar_of(1)}}));
}

TEST_CASE("print hands its tensor on, and lets a gradient pass") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto y = print(x, {x, "text"}, {.message = "x: ", .first_n = 2, .summarize = 9});
  CHECK(operations(g) == std::vector<std::string>{"x Placeholder", "Print/data_1 Const", "Print Print"});
  CHECK(y.extent() == x.extent());
  CHECK(*y.operation().attribute("message").get_if<std::string>() == "x: ");
  CHECK(*y.operation().attribute("first_n").get_if<std::int64_t>() == 2);
  const auto dx = gradients({y * y}, {x})[0];
  CHECK(flow_run({{"x", array{{2}, {3, 4}}}})(dx).at == std::vector<double>{6, 8});
  CHECK_THROWS_AS(print(output{}, {}), invalid_argument);
}

TEST_CASE("a host function is known to its graph by its token alone") {
  graph g;
  const auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {2}, "x");
  const auto twice = host_function(
      [](std::span<const tensor_literal> in) {
        std::vector<float> values;
        for (std::int64_t i = 0; i < in[0].extent().elements(); ++i) values.push_back(2 * static_cast<float>(in[0].number(i)));
        return std::vector{tensor_literal(in[0].extent(), values)};
      },
      {x, 1.0f}, {dtype::float32});
  CHECK(twice.name() == "PyFunc");
  CHECK(twice.result().type() == dtype::float32);
  CHECK_FALSE(twice.result().extent().has_rank());
  const std::vector<tensor_literal> given{tensor_literal({3.0f, 4.0f}), tensor_literal(1.0f)};
  CHECK(host_function_of(twice)(given)[0].number(1) == 8);
  CHECK_THROWS_AS(host_function_of(x.operation()), invalid_argument);
  CHECK_THROWS_AS(host_function({}, {x}, {dtype::float32}), invalid_argument);
  graph copy;
  import_graph(copy, export_graph(g), {.name = ""});
  CHECK_THROWS_AS(host_function_of(get_operation_by_name(copy, "PyFunc")), failed_precondition);
  const auto silent = host_function([](std::span<const tensor_literal>) { return std::vector<tensor_literal>{}; }, {}, {},
                                    {.stateful = false, .name = "log"});
  CHECK(silent.type() == "PyFuncStateless");
  CHECK(silent.outputs().empty());
}

TEST_CASE("a first value that reads another variable takes that one's own where it has none") {
  graph g;
  const auto scope = g.as_default();
  const auto w = variable({1.0f, 2.0f}, "w");
  const auto u = variable(w * 3.0f + 1.0f, "u");
  const auto again = variable(u * w, "again");
  {
    flow_run run;
    run(initializer_of(again));  // neither of the others has a value
    CHECK(run.variables["again"].at == std::vector<double>{4, 14});
    CHECK_FALSE(run.variables.contains("w"));
  }
  flow_run run({}, {{"w", array{{2}, {5, 6}}}});
  run(initializer_of(u));
  CHECK(run.variables["u"].at == std::vector<double>{16, 19});
  CHECK(flow_run({}, {{"w", array{{2}, {5, 6}}}})(initialized_value(w)).at == std::vector<double>{5, 6});
  // a loop is left as it is
  const auto looped = while_loop([](output i) { return less(i, 3.0f); }, [](output i) { return i + 1.0f; }, {constant(0.0f)});
  variable(looped, "of_loop");
  CHECK(initializer_of(get_tensor_by_name(g, "of_loop:0")).inputs()[1].name() == looped.name());
  CHECK_THROWS_AS(initialized_value(looped), invalid_argument);
}
