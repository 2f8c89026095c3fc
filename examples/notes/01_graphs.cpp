// Graphs: constants and sums, several graphs, a session that is implied, which graph a node is in, look-ups, what a graph holds, and
// shapes. The graph of the first section; nobody fetches `unused`:
//
//    1    2    3    4
//     \  / \  / \  /
//     sum product unused
//       \   /
//        out = 9

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/session/interactive_session.hpp>
#include <leat/session/typed/evaluate.hpp>

#include "support/notes.hpp"

#include <algorithm>
#include <cstdio>

using namespace leat;
using namespace leat::examples;

namespace {

void constants() {
  item("1.1", "sums and a product of 1, 2, 3, 4");
  graph g;
  auto here = g.as_default();
  auto a = constant(1), b = constant(2), c = constant(3), d = constant(4);
  auto sum = add(a, b);
  auto product = multiply(b, c);
  auto out = add(sum, product);
  auto unused = add(c, d, "unused");

  graph_session s(g);
  run_trace trace(trace_detail::nodes);
  expect("in a graph_session", s.run(out, {}, {.trace = &trace}), 9);
  const int typed = evaluate(constant<1>() + constant<2>() + constant<2>() * constant<3>());
  expect("typed, folded by the compiler", typed, 9);

  const auto nodes = get_operations(g);
  expect_true("the unused sum is in the graph", std::count(nodes.begin(), nodes.end(), unused.operation()) == 1);
  const auto ran = trace.by_node();
  const auto was_run = [&](const output& o) {
    return std::any_of(ran.begin(), ran.end(), [&](const auto& row) { return row.name == o.operation().name(); });
  };
  expect_true("the other three ran", was_run(sum) && was_run(product) && was_run(out));
  expect_true("it did not", !was_run(unused));
}

void two_graphs() {
  item("1.2", "two graphs, two sessions");
  graph g1, g2;
  output c, p;
  {
    auto here = g1.as_default();
    auto a = constant({1.5f, 6.0f}), b = constant({1.5f, 3.2f});
    c = a * b;
  }
  {
    auto here = g2.as_default();
    auto m1 = constant({{1, 0, 2}, {-1, 3, 1}}), m2 = constant({{3, 1}, {2, 1}, {1, 0}});
    p = matmul(m1, m2);
  }
  graph_session s1(g1), s2(g2);
  expect("[1.5 6] * [1.5 3.2]", s1.run(c), {2.25f, 19.2f}, 1e-6);
  expect("a 2x3 matrix times a 3x2 matrix", s2.run(p), {{5, 1}, {4, 2}});
  expect_refused<invalid_argument>("the product of the second graph in the session of the first", "is not an element of this graph",
                                   [&] { s1.run(p); });
}

void interactive() {
  item("1.3", "a session that is the thread's default");
  graph g;
  interactive_session s(g);
  auto x = variable({1, 2}, "x");
  auto a = constant({3, 3});
  auto difference = x - a;
  run(initializer_of(x));
  expect("x - a", eval(difference), {-2, -1});
  s.close();
  expect_refused<failed_precondition>("a run of the closed session", "closed", [&] { eval(difference); });
}

void membership() {
  item("1.4", "which graph is a node in");
  reset_default_graph();
  auto c = constant(4.0f);
  graph g;
  output c1;
  {
    auto here = g.as_default();
    c1 = constant(30.0f);
    expect_true("inside the scope, the default graph is g", &default_graph() == &g);
    expect_refused<failed_precondition>("a reset in the scope", "", [] { reset_default_graph(); });
  }
  expect_true("c1, made inside, is in g", &c1.owner() == &g);
  expect_true("c, made before, is not", &c.owner() != &g);
  expect_true("after the scope, the default graph is c's", &c.owner() == &default_graph());
  reset_default_graph();
  expect_true("after a reset, it is another one", &c.owner() != &default_graph());
  graph_session s(c.owner());
  expect("c still runs in a session of its graph", s.run(c), 4);
}

void lookup() {
  item("1.5", "nodes by their names");
  graph g;
  auto here = g.as_default();
  {
    graph one;
    auto inside = one.as_default();
    auto c1 = constant(4.0f);
    expect_true("there is one operation", get_operations(one).size() == 1);
    expect_text("its name and type", c1.operation().name() + " (" + std::string(c1.operation().type()) + ")", "Const (Const)");
    expect_true("as_graph_element gives the tensor back", same_tensor(as_graph_element(one, c1), c1));
  }
  auto a = constant({{1.0f, 2.0f}}), b = constant({{1.0f}, {3.0f}});
  auto product = matmul(a, b, "exampleop");
  expect_text("a tensor", describe(product), "Tensor(\"exampleop:0\", shape=(1, 1), dtype=float32)");
  auto found = get_tensor_by_name(g, "exampleop:0");
  expect_true("found by its name, it is the same", same_tensor(found, product));
  graph_session s(g);
  expect("its value", s.run(found), {{7.0f}});
  const std::string text = describe(get_operation_by_name(g, "exampleop"));
  std::printf("%s", text.c_str());
  expect_true("it says name, op and inputs",
              text.starts_with("name: \"exampleop\"\nop: \"MatMul\"\ninput: \"Const\"\ninput: \"Const_1\"\n"));
  for (const std::string attribute : {"\"T\"\n  value {\n    type: DT_FLOAT\n", "\"transpose_a\"\n  value {\n    b: false\n",
                                      "\"transpose_b\"\n  value {\n    b: false\n"})
    expect_true("an attribute", text.find("attr {\n  key: " + attribute) != text.npos);
}

void everything() {
  item("1.6", "everything in a graph");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32, {-1, 3}, "x");
  auto w = variable(zeros({3, 2}), "w"), b = variable(zeros({2}), "b");
  auto y = matmul(x, w) + b;
  expect_true("as many nodes in the file as operations", export_graph(g).nodes.size() == get_operations(g).size());
  expect("variables", static_cast<int>(global_variables().size()), 2);
  const auto tensors = get_tensors(g);
  expect_true("every tensor's name ends in \":0\"",
              std::all_of(tensors.begin(), tensors.end(), [](const output& t) { return t.name().ends_with(":0"); }));
  expect_true("y is among them", std::any_of(tensors.begin(), tensors.end(), [&](const output& t) { return same_tensor(t, y); }));
}

void shapes() {
  item("1.7", "rank, shape, dimensions");
  graph g;
  auto here = g.as_default();
  const std::vector<output> tensors{constant(7.0f), constant({1.0f, 2.0f, 3.0f}), constant({{1.0f, 2.0f}, {3.0f, 4.0f}}), zeros({2, 3, 4}),
                                    placeholder(dtype::float32, {-1, 28, 28, 1})};
  const std::vector<std::string> wanted{"()", "(3,)", "(2, 2)", "(2, 3, 4)", "(?, 28, 28, 1)"};
  for (std::size_t rank = 0; rank < tensors.size(); ++rank) {
    expect("rank", tensors[rank].extent().rank, static_cast<int>(rank));
    expect_text("shape", shape_text(tensors[rank].extent()), wanted[rank]);
  }
  auto images = leat::placeholder<"images", float, "batch", 28, 28, 1>();
  expect("rank of the typed images", images.rank, 4);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Graphs: made, found, and what is in them.",
                      {{"constants", "four constants", constants},
                       {"two_graphs", "two graphs, two sessions", two_graphs},
                       {"interactive", "a default session", interactive},
                       {"membership", "which graph is a node in", membership},
                       {"lookup", "nodes by their names", lookup},
                       {"everything", "all that a graph holds", everything},
                       {"shapes", "rank, shape, dimensions", shapes}});
}
