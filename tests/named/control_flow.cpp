#include <leat/named/control/control_flow.hpp>

#include <leat/named/control/control.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include "support/flow.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

using namespace leat;
using leat_test::flow_run;
using leat_test::scalar_of;

namespace {

std::vector<std::string> waits_of(const output& o) {
  std::vector<std::string> names;
  for (const auto& c : o.operation().control_inputs()) names.push_back(c.name());
  return names;
}
using names = std::vector<std::string>;

}  // namespace

TEST_CASE("what comes from outside is switched once in a branch; what takes nothing waits for its pivot") {
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto x = placeholder(dtype::float32, {2}, "x");
  output first, second, alone;
  cond(
      p,
      [&] {
        first = x + x;
        second = square(x);
        alone = constant(1.0f, "alone");
        return second;
      },
      [&] { return x; });
  CHECK(first.operation().inputs()[0].name() == "cond/add/Switch:1");
  CHECK(first.operation().inputs()[1].name() == "cond/add/Switch:1");
  CHECK(second.operation().inputs()[0].name() == "cond/add/Switch:1");
  CHECK(waits_of(alone) == names{"cond/switch_t"});
  CHECK(waits_of(second).empty());
  CHECK(get_tensor_by_name(g, "cond/Merge:0").extent() == x.extent());
  CHECK_FALSE(is_fetchable(second));
  CHECK_FALSE(is_feedable(second));
  CHECK(is_fetchable(get_tensor_by_name(g, "cond/Merge:0")));
  CHECK_FALSE(is_fetchable(get_tensor_by_name(g, "cond/pred_id:0")));
}

TEST_CASE("a node in a loop waits only for what is in the loop; control dependencies from outside come in as values") {
  graph g;
  const auto scope = g.as_default();
  const auto v = variable(1.0f, "v");
  const auto outside = assign_add(v, 1.0f);
  output inner, free;
  {
    const auto waits = control_dependencies({outside});
    while_loop([](output i) { return less(i, 3); },
               [&](output i) {
                 inner = constant(2, "inner");
                 {
                   const auto none = control_dependencies(nullptr);
                   free = constant(1, "free");
                 }
                 return i + inner;
               },
               {constant(0)});
  }
  for (const auto& name : waits_of(inner)) CHECK(name.starts_with("while/"));
  CHECK_FALSE(waits_of(inner).empty());
  CHECK(free.operation().name() == "while/free");
  CHECK(waits_of(free).empty());
  CHECK(is_fetchable(free));
  CHECK(g.named().record(free.index()).context == nullptr);
}

TEST_CASE("branches without a result, with an operation, with several results") {
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto v = variable(1.0f, "v");
  const graph_operation nothing = cond(p, [&] { assign_add(v, 1.0f); }, [&] { assign_sub(v, 1.0f); }, "nothing");
  CHECK(nothing.name() == "nothing/Merge");
  const graph_operation one = cond(p, [&] { return assign_add(v, 10.0f).operation(); }, [] { return no_op(); }, "one");
  CHECK(get_operation_by_name(g, "one/control_dependency").control_inputs()[0].name() == "one/AssignAdd");
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto several =
      cond(p, [&] { return std::vector<output>{x, x + 1.0f}; }, [&] { return std::vector<output>{x * 2.0f, x}; }, "several");
  const auto [a, b] = cond(p, [&] { return std::tuple(x, 2.0f); }, [&] { return std::tuple(1.0f, x); }, "tuple");
  CHECK(b.name() == "tuple/Merge_1:0");
  for (const bool taken : {true, false}) {
    flow_run run({{"p", scalar_of(taken)}, {"x", scalar_of(5)}}, {{"v", scalar_of(1)}});
    run(nothing);
    CHECK(run.variables["v"].at[0] == (taken ? 2 : 0));
    run(one);
    CHECK(run.variables["v"].at[0] == (taken ? 12 : 0));
    CHECK(run(several[0]).at[0] == (taken ? 5 : 10));
    CHECK(run(several[1]).at[0] == (taken ? 6 : 5));
    CHECK(run(a).at[0] == (taken ? 5 : 1));
    CHECK(run(b).at[0] == (taken ? 2 : 5));
  }
}

TEST_CASE("branches that do not fit are refused in TensorFlow's words") {
  graph g;
  const auto scope = g.as_default();
  const auto p = placeholder(dtype::boolean, {}, "p");
  const auto x = placeholder(dtype::float32, {}, "x");
  const auto problem = [](auto f) -> std::string {
    try {
      f();
    } catch (const invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  const auto same = [&] { return x; };
  CHECK(problem([&] {
          cond(x, same, same);
        }).find("Input 'pred' of 'Switch' Op has type float32 that does not match expected type of bool") != std::string::npos);
  CHECK(problem([&] { cond(placeholder(dtype::boolean, {2}), same, same); }) != "none");
  CHECK(problem([&] { cond(p, same, [] { return constant(1); }); }).find("Outputs of true_fn and false_fn must have the same type") !=
        std::string::npos);
  CHECK(problem([&] {
          cond(p, [&] { return std::vector<output>{x}; }, [&] { return std::vector<output>{x, x}; });
        }).find("Incompatible return types of true_fn and false_fn") != std::string::npos);
  CHECK(problem([&] {
          cond(p, [&] { return std::vector<output>{}; }, [&] { return std::vector<output>{}; });
        }).find("true_fn and false_fn must return at least one result.") != std::string::npos);
  CHECK(problem([&] { cond(output{}, same, same); }) != "none");
  CHECK(g.named().context == nullptr);
  CHECK(problem([&] { cond(p, [&]() -> output { throw invalid_argument("stop"); }, same); }) == "stop");
  CHECK(g.named().context == nullptr);
  graph other;
  CHECK(problem([&] {
          cond(
              p,
              [&] {
                const auto in = other.as_default();
                return constant(1.0f);
              },
              same);
        }).find("is not an element of this graph") != std::string::npos);
}

TEST_CASE("loops that do not fit are refused in TensorFlow's words") {
  graph g;
  const auto scope = g.as_default();
  const auto problem = [](auto f) -> std::string {
    try {
      f();
    } catch (const invalid_argument& e) {
      return e.what();
    }
    return "none";
  };
  const auto has = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  const auto always = [](output) { return constant(true); };
  const auto x = placeholder(dtype::float32, {2}, "x");
  CHECK(problem([&] { while_loop(always, [](output i) { return i; }, {}); }) == "No loop variables provided");
  CHECK(has(problem([&] { while_loop([](output i) { return i; }, [](output i) { return i; }, {1.0f}); }),
            "Input 'input' of 'LoopCond' Op has type float32 that does not match expected type of bool"));
  CHECK(problem([&] { while_loop([](output i) { return less(i, 1.0f); }, [](output i) { return i; }, {x}); }) != "none");
  CHECK(has(problem([&] { while_loop(always, [](output i) { return std::array{i, i}; }, {1.0f}); }),
            "Number of inputs and outputs of body must match loop_vars: 1, 2"));
  CHECK(has(problem([&] { while_loop(always, [](output) { return constant(1); }, {1.0f}); }), "after one iteration"));
  const std::string grown = problem([&] { while_loop(always, [](output v) { return concat({v, v}, 0); }, {x}, {.name = "grow"}); });
  CHECK(has(grown, "Input tensor 'x:0' enters the loop with shape (2,), but has shape (4,) after one iteration."));
  CHECK(has(grown, "shape_invariants"));
  CHECK(problem([&] { while_loop(always, [](output v) { return concat({v, v}, 0); }, {x}, {.shape_invariants = {{-1}}}); }) == "none");
  CHECK(has(problem([&] { while_loop(always, [](output v) { return v; }, {x}, {.shape_invariants = {{3}}}); }),
            "The shape invariant specified for x:0 is not compatible"));
  CHECK(problem([&] { while_loop(always, [](output v) { return v; }, {x}, {.parallel_iterations = 0}); }) != "none");
  CHECK(has(problem([&] { while_loop([](output, output) { return constant(true); }, [](output v) { return v; }, {x}); }),
            "a function of 2 variables, and there are 1"));
  CHECK(g.named().context == nullptr);

  output inside;
  while_loop(always,
             [&](output i) {
               inside = i * 2.0f;
               return inside;
             },
             {1.0f}, {.name = "loop"});
  CHECK(has(problem([&] { return inside + 1.0f; }), "Cannot use 'loop/mul' as input to 'add' because 'loop/mul' is in a while loop"));
  CHECK(
      has(problem([&] { while_loop(always, [&](output v) { return v + inside; }, {1.0f}); }), "because they are in different while loops"));
  CHECK(has(problem([&] { while_loop(always, [&](output v) { return variable(v * 2.0f, "w"), v; }, {1.0f}); }),
            "Initializer for variable w is from inside a control-flow construct"));
}

TEST_CASE("loops run") {
  graph g;
  const auto scope = g.as_default();
  const auto n = placeholder(dtype::int32, {}, "n");
  const auto [i, sum] = while_loop([&](output at, output) { return less_equal(at, n); },
                                   [](output at, output total) { return std::array{at + 1, total + at}; }, {1, 0});
  for (const int times : {0, 1, 10}) {
    flow_run run({{"n", scalar_of(times)}});
    CHECK(run(i).at[0] == times + 1);
    CHECK(run(sum).at[0] == times * (times + 1) / 2);
  }
  const auto bounded =
      while_loop([](output) { return constant(true); }, [](output v) { return v * 2.0f; }, {1.0f}, {.maximum_iterations = n});
  CHECK(flow_run({{"n", scalar_of(5)}})(bounded).at[0] == 32);
  const auto all =
      while_loop([&](const std::vector<output>& v) { return less(v[0], n); },
                 [](const std::vector<output>& v) { return std::vector<output>{v[0] + 1, v[1] + v[0]}; }, {0, 0}, {.name = "all"});
  CHECK(flow_run({{"n", scalar_of(4)}})(all[1]).at[0] == 6);
  // a variable that is updated in each iteration
  const auto v = variable(0.0f, "v");
  const auto counted = while_loop([&](output at) { return less(at, n); },
                                  [&](output at) {
                                    const auto waits = control_dependencies({assign_add(v, 2.0f)});
                                    return at + 1;
                                  },
                                  {0});
  flow_run run({{"n", scalar_of(3)}}, {{"v", scalar_of(0)}});
  CHECK(run(counted).at[0] == 3);
  CHECK(run.variables["v"].at[0] == 6);
  CHECK(g.named().while_contexts.size() == 4);
}

TEST_CASE("a choice takes the first branch whose predicate holds") {
  graph g;
  const auto scope = g.as_default();
  const auto k = placeholder(dtype::int32, {}, "k");
  const std::vector<case_branch> branches{{less(k, 1), [] { return constant(10.0f); }}, {less(k, 3), [] { return constant(20.0f); }}};
  const auto chosen = case_of(branches, [] { return constant(30.0f); });
  const auto without = case_of(branches, {.name = "without"});
  const auto exclusive = case_of(branches, [] { return constant(30.0f); }, {.exclusive = true, .name = "exclusive"});
  CHECK(chosen.name() == "case/cond/Merge:0");
  for (const int v : {0, 1, 2, 3, 9}) {
    CHECK(flow_run({{"k", scalar_of(v)}})(chosen).at[0] == (v < 1 ? 10 : v < 3 ? 20 : 30));
    if (v < 3) CHECK(flow_run({{"k", scalar_of(v)}})(without[0]).at[0] == (v < 1 ? 10 : 20));
    else CHECK_THROWS_AS(flow_run({{"k", scalar_of(v)}})(without[0]), std::runtime_error);
    if (v < 1) CHECK_THROWS_AS(flow_run({{"k", scalar_of(v)}})(exclusive), std::runtime_error);
    else CHECK(flow_run({{"k", scalar_of(v)}})(exclusive).at[0] == (v < 3 ? 20 : 30));
  }
  CHECK_THROWS_AS(case_of({}, [] { return constant(1.0f); }), invalid_argument);
  CHECK_THROWS_AS(case_of({{k, [] { return constant(1.0f); }}}, [] { return constant(1.0f); }), invalid_argument);
}

TEST_CASE("loops of files know the shapes of their variables") {
  graph g;
  graph_def def;
  {
    const auto scope = g.as_default();
    const auto x = placeholder(dtype::float32, {2, 3}, "x");
    const auto kept = while_loop([](output i, output) { return less(i, 3); }, [](output i, output y) { return std::array{i + 1, tanh(y)}; },
                                 {0, x}, {.name = "kept"});
    const auto grown =
        while_loop([](output i, output) { return less(i, 3); }, [](output i, output y) { return std::array{i + 1, concat({y, y}, 0)}; },
                   {0, x}, {.shape_invariants = {{}, {-1, 3}}, .name = "grown"});
    CHECK(kept[1].extent() == x.extent());
    CHECK(grown[1].extent() == shape_value({-1, 3}));
    def = export_graph(g);
  }
  graph copy;
  import_graph(copy, def, {.name = ""});
  CHECK(export_graph(copy) == def);
  CHECK(get_tensor_by_name(copy, "kept/Exit_1:0").extent() == shape_value({2, 3}));
  CHECK(get_tensor_by_name(copy, "kept/Exit:0").extent() == shape_value({}));
  CHECK(get_tensor_by_name(copy, "grown/Exit_1:0").extent() == shape_value({-1, 3}));
  CHECK(get_tensor_by_name(copy, "kept/Merge_1:0").type() == dtype::float32);
}
