// Sessions: what is fetched, what is fed, and what a list of fetches sees. The graph of the third section; the rate is 0.25:
//
//    w = 0 ---> loss = (w - 3)^2 ---> train: w -= rate * gradient
//      \                                      |  waits
//       +--- read_value(w) ---> loss made anew after the step

#include <leat/graphs.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

void several_fetches() {
  item("2.1", "3 * (2 + 5) and 2 + 5 in one run");
  graph g;
  auto here = g.as_default();
  auto a = constant(3.0f), b = constant(2.0f), c = constant(5.0f);
  auto intermediate = add(b, c, "intermediate");
  auto mul = multiply(a, intermediate);
  graph_session s(g);
  auto [product, sum] = s.run<float, float>({mul, intermediate});
  expect("product", product, 21);
  expect("sum", sum, 7);
  run_trace trace(trace_detail::nodes);
  s.run({mul, intermediate}, {}, {.trace = &trace});
  for (const auto& row : trace.by_node())
    if (row.name == "intermediate") expect("times that the sum was computed", static_cast<int>(row.count), 1);

  auto typed_sum = 2.0_c + parameter<"five">(5.0f);
  auto typed_product = 3.0_c * typed_sum;
  session t{typed_product, typed_sum};
  auto [p, q] = t.run(fetch(typed_product, typed_sum));
  expect_equal("typed product", p, product);
  expect_equal("typed sum", q, sum);
}

void feeds() {
  item("2.2", "two placeholders multiplied");
  graph g;
  auto here = g.as_default();
  auto x = placeholder(dtype::float32), y = placeholder(dtype::float32);
  auto out = multiply(x, y);
  graph_session s(g);
  expect("fed with [7] and [2]", s.run(out, {{x, {7.0f}}, {y, {2.0f}}}), {14.0f});
  expect_refused<invalid_argument>("without feeds", "You must feed a value for placeholder tensor", [&] { s.run(out); });

  auto tx = leat::placeholder<"x", float, "n">();
  auto ty = leat::placeholder<"y", float, "n">();
  auto product = tx * ty;
  session t{product};
  auto [typed] = t.run(fetch(product), tx = std::vector{7.0f}, ty = std::vector{2.0f});
  expect("typed", typed, {14.0f});

  auto c = constant(1.0f, "c");
  auto v = variable(5.0f, "v");
  auto sum = add(c, v, "sum");
  expect("a constant and a variable without a value, fed", s.run(sum, {{c, 10.0f}, {v, 20.0f}}), 30);
  expect_true("the variable has no value for that", !s.is_initialized(v));
  s.run(initializer_of(v));
  expect("the next run, without feeds", s.run(sum), 6);
}

// The loss as fetched in one run with the step, in both orders, and in the run after it.
void order() {
  item("2.3", "what order does a list of fetches have?");
  for (const bool loss_first : {true, false}) {
    graph g;
    auto here = g.as_default();
    auto w = variable(0.0f, "w");
    auto loss = square(w - 3.0f);
    auto train = gradient_descent(0.25f).minimize(loss);
    graph_session s(g);
    s.run(global_variables_initializer());
    const auto got = loss_first ? s.run({loss, train})[0] : s.run({train, loss})[1];
    expect(loss_first ? "loss, train" : "train, loss", got, 9);
    expect("the next run", s.run(loss), 2.25f);
  }
  {
    auto w = leat::variable<"w", float>(0.0f);
    auto loss = square(w - 3_c);
    auto train = gradient_descent(0.25f).minimize(loss);
    session first{loss, train}, second{loss, train};
    first.initialize();
    second.initialize();
    auto [a] = first.run(fetch(loss, train));
    auto [b] = second.run(fetch(train, loss));
    expect("typed, loss, train", a, 9);
    expect("typed, train, loss", b, 9);
    auto [next] = second.run(fetch(loss));
    expect("typed, the next run", next, 2.25f);
  }
  graph g;
  auto here = g.as_default();
  auto w = variable(0.0f, "w");
  auto loss = square(w - 3.0f);
  auto train = gradient_descent(0.25f).minimize(loss);
  output anew, same;
  {
    auto wait = control_dependencies({train});
    anew = square(read_value(w) - 3.0f);
    same = identity(loss, "same");
  }
  graph_session s(g);
  s.run(global_variables_initializer());
  const auto both = s.run({anew, same, train});
  expect("a loss made anew behind the step", both[0], 2.25f);
  expect("identity(loss) there", both[1], 9);
}

void where() {
  item("2.4", "where a session runs: in this process (at a server: with the cluster)");
  graph g;
  auto here = g.as_default();
  auto out = add(constant(2.0f), 5.0f);
  graph_session s(g);
  expect("in this process", s.run(out), 7);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Sessions: feeds and fetches.",
                      {{"fetches", "several fetches", several_fetches},
                       {"feeds", "placeholders and others, fed", feeds},
                       {"order", "what a list of fetches sees", order},
                       {"where", "where a session runs", where}});
}
