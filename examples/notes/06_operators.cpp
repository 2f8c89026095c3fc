// Operators that notes explain: sums over axes, stacks, embeddings, branches, printing in a graph, windows. The graph of the branch,
// which computes z whichever way it goes, and the square in one of them only:
//
//    x, y ---> x < y ----------+
//    2 * 3 = z ---> x + z --> cond ---> result
//               y * y ------> (second branch)

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/session/typed/evaluate.hpp>

#include "support/notes.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

void sums() {
  item("6.1", "sums of 1..24 as [2, 3, 4] over axes");
  graph g;
  auto here = g.as_default();
  auto x = reshape(range(1, 25), {2, 3, 4});
  const auto s0 = reduce_sum(x, {0}), s1 = reduce_sum(x, {1}), s2 = reduce_sum(x, {2}), all = reduce_sum(x);
  const auto kept = reduce_sum(x, {1, 2}, keep_dims::no), kept_1 = reduce_sum(x, {0}, keep_dims::yes);
  graph_session s(g);
  expect("axis 0", s.run(s0), {{14, 16, 18, 20}, {22, 24, 26, 28}, {30, 32, 34, 36}});
  expect("axis 1", s.run(s1), {{15, 18, 21, 24}, {51, 54, 57, 60}});
  expect("axis 2", s.run(s2), {{10, 26, 42}, {58, 74, 90}});
  expect("all", s.run(all), 300);
  expect("axes 1 and 2", s.run(kept), {78, 222});
  expect_text("shape with axis 0 kept", brackets(s.run(kept_1).extent()), "[1,3,4]");

  std::vector<int> numbers(24);
  std::iota(numbers.begin(), numbers.end(), 1);
  auto t = leat::constant<int, 2, 3, 4>(numbers);
  auto [t0, t1, t2, t_all, t_kept] =
      evaluate(fetch(reduce_sum<0>(t), reduce_sum<1>(t), reduce_sum<2>(t), reduce_sum(t), reduce_sum_keep<0>(t)));
  expect_equal("typed, axis 0", t0, s.run(s0));
  expect_equal("typed, axis 1", t1, s.run(s1));
  expect_equal("typed, axis 2", t2, s.run(s2));
  expect_equal("typed, all", t_all, s.run(all));
  expect_equal("typed, axis 0 kept", t_kept, s.run(kept_1));
}

void stacks() {
  item("6.2", "a stack is a concatenation of expanded tensors");
  graph g;
  auto here = g.as_default();
  auto a = constant({1, 2, 3}), b = constant({4, 5, 6});
  graph_session s(g);
  for (const int axis : {0, 1}) {
    const auto stacked = s.run(stack({a, b}, axis));
    if (axis == 0) expect("axis 0", stacked, {{1, 2, 3}, {4, 5, 6}});
    else expect("axis 1", stacked, {{1, 4}, {2, 5}, {3, 6}});
    expect_equal("the concatenation", s.run(concat({expand_dims(a, axis), expand_dims(b, axis)}, axis)), stacked);
  }
  auto ta = leat::constant<"a", int, 3>({1, 2, 3});
  auto tb = leat::constant<"b", int, 3>({4, 5, 6});
  auto [t0, t1, joined] = evaluate(fetch(leat::stack(ta, tb), leat::stack<1>(ta, tb), concat<1>(expand_dims<1>(ta), expand_dims<1>(tb))));
  expect_equal("typed, axis 0", t0, s.run(stack({a, b})));
  expect_equal("typed, axis 1", t1, s.run(stack({a, b}, 1)));
  expect_equal("typed, the concatenation", joined, t1);
}

void embeddings() {
  item("6.3", "rows 0, 3, 2, 1 of a table that can be trained");
  graph g;
  auto here = g.as_default();
  auto table = variable(reshape(cast(range(0, 20), dtype::float32), {5, 4}), "table");
  auto ids = constant({0, 3, 2, 1});
  auto rows = embedding_lookup(table, ids);
  auto by_product = matmul(one_hot(ids, 5), table);
  auto train = gradient_descent(0.5f).minimize(reduce_sum(rows));
  graph_session s(g);
  s.run(global_variables_initializer());
  const tensor_literal wanted(shape_value{4, 4}, std::vector<float>{0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7});
  expect("rows", s.run(rows), wanted);
  expect("one-hot matrix times the table", s.run(by_product), wanted);
  const tensor_value whole = s.run(table).copy();
  for (const auto strategy : {partition_strategy::mod, partition_strategy::div}) {
    const bool mod = strategy == partition_strategy::mod;  // row r is in shard r % 2, or the first three rows are in shard 0
    auto first = gather(table, mod ? std::vector{0, 2, 4} : std::vector{0, 1, 2});
    auto second = gather(table, mod ? std::vector{1, 3} : std::vector{3, 4});
    expect(mod ? "2 shards, mod" : "2 shards, div", s.run(embedding_lookup({first, second}, ids, strategy)), wanted);
  }

  auto typed_table = leat::variable<"table", float, 5, 4>(zeros);
  auto typed_rows = gather(typed_table, leat::constant<int, 4>({0, 3, 2, 1}));
  auto typed_train = gradient_descent(0.5f).minimize(reduce_sum(typed_rows));
  session t{typed_rows, typed_train};
  t.assign(typed_table, whole.as<xt::xtensor<float, 2>>());
  expect_equal("typed rows", std::get<0>(t.run(fetch(typed_rows))), s.run(rows));
  s.run(train);
  t.run(fetch(typed_train));
  const auto changed = s.run(table);
  bool only_rows = true;
  for (std::size_t i = 0; i < 20; ++i) only_rows = only_rows && (changed.values<float>()[i] != whole.values<float>()[i]) == (i / 4 < 4);
  expect_true("after a step, the rows that were looked up changed, and no other", only_rows);
  expect_equal("typed", t.value(typed_table), changed);
}

void branches() {
  item("6.4", "x < y ? x + z : y^2, with z = 2 * 3");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {}, "x"), y = constant(5.0f, "y");
  auto z = multiply(constant(2.0f), 3.0f, "z");
  auto result = cond(x < y, [&] { return add(x, z, "sum"); }, [&] { return square(y); });
  graph_session s(g);
  for (const bool first : {true, false}) {
    run_trace trace(trace_detail::nodes);
    expect(first ? "x = 4" : "x = 6", s.run(result, {{x, first ? 4.0f : 6.0f}}, {.trace = &trace}), first ? 10 : 25);
    const auto ran = trace.by_node();
    const auto was_run = [&](std::string_view name) {
      return std::any_of(ran.begin(), ran.end(), [&](const auto& row) { return row.name == name; });
    };
    expect_true("z was computed", was_run("z"));
    expect_true(first ? "the square was not" : "the square was", was_run("cond/Square") != first);
  }
}

void printing() {
  item("6.5", "printing inside a graph");
  graph g;
  auto here = g.as_default();
  auto a = constant(std::vector<float>(1000, 1.0f)), b = constant(std::vector<float>(1000, 2.0f));
  auto joined = concat({a, b}, 0);
  auto shown = print(joined, {joined}, {.message = "joined from: ", .summarize = 10000});
  auto slope = gradients({reduce_sum(square(shown))}, {a})[0];
  std::ostringstream log;
  graph_session s(g, {.log = &log});
  const auto plain = s.run(joined);
  expect_text("without `shown`", log.str(), "");
  const auto printed = s.run(shown);
  const std::string text = log.str();
  expect_true("with it, the message", text.starts_with("joined from: [1 1 1"));
  expect("numbers that it prints", static_cast<int>(std::count(text.begin(), text.end(), ' ')) - 1, 2000);
  expect_equal("the result is that without it", printed, plain);
  s.run(shown);
  expect_true("each time that it is computed", log.str() == text + text);
  expect("the gradient passes", s.run(reduce_max(slope)), 2);

  auto typed_joined = concat<0>(leat::constant<1.0f, 1000>(), leat::constant<2.0f, 1000>());
  std::ostringstream typed_log;
  const print_log to(typed_log);
  auto [typed_printed] = evaluate(fetch(leat::print<"joined from: ", 10000>(typed_joined, typed_joined)));
  expect_equal("typed", typed_printed, plain);
  expect_true("typed, the same text", typed_log.str() == text);
}

void windows() {
  item("6.6", "sizes of windows: SAME and VALID");
  graph g;
  auto here = g.as_default();
  struct row {
    int n, k, s, same, valid;
  };
  for (const auto& [n, k, s, same, valid] : {row{28, 5, 1, 28, 24}, row{28, 5, 2, 14, 12}, row{7, 3, 2, 4, 3}, row{13, 6, 5, 3, 2}}) {
    auto images = placeholder(dtype::float32, {-1, n, n, 1});
    auto filters = placeholder(dtype::float32, {k, k, 1, 1});
    const std::string what = std::to_string(n) + ", " + std::to_string(k) + ", " + std::to_string(s);
    expect("SAME of " + what, conv2d(images, filters, {1, s, s, 1}, padding::same).extent()[1], same);
    expect("VALID of " + what, conv2d(images, filters, {1, s, s, 1}, padding::valid).extent()[1], valid);
  }
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Operators that notes explain.",
                      {{"sums", "sums over axes", sums},
                       {"stack", "stack and concat", stacks},
                       {"embedding", "rows of a table", embeddings},
                       {"branch", "one of two branches", branches},
                       {"print", "printing inside a graph", printing},
                       {"windows", "SAME and VALID", windows}});
}
