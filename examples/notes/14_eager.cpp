// At once, without a session: functions of arrays whose graph the library makes, runs and keeps.
//
//    evaluated(f)(arrays) --> [ graph of f for these dtypes and shapes: made once ] --> array
//    gradient_of(f)(arrays) --> [ the same, and gradients ] --> gradients

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/gradient_of.hpp>
#include <leat/session/interactive_session.hpp>
#include <leat/session/typed/evaluate.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;

namespace {

void at_once() {
  item("14.1", "a product and a gradient as plain calls");
  graph g;
  auto here = g.as_default();
  auto v = variable(1.0f, "v");
  auto more = assign_add(v, 1.0f);
  graph_session before(g);
  before.run(initializer_of(v));

  const xt::xtensor<float, 2> m1{{1, 2}}, m2{{1}, {3}};
  const xt::xtensor<float, 2> product = evaluated([](auto a, auto b) { return matmul(a, b); })(m1, m2);
  expect("matmul of [[1 2]] and [[1][3]]", product, {{7.0f}});
  const xt::xtensor<float, 1> slope = gradient_of([](auto x) { return reduce_sum(square(x)); })(xt::xtensor<float, 1>{1, 2, 3});
  expect("gradient of sum(x^2) at [1 2 3]", slope, {2.0f, 4.0f, 6.0f});
  auto x = leat::placeholder<"x", float, "n">();
  const float sum = evaluate(reduce_sum(square(x)), x = std::vector<float>{1, 2, 3});
  expect("sum(x^2), a typed expression", sum, 14);

  before.run(more);
  expect("a session of the same program goes on", before.run(v), 2);
  graph_session after(g);
  after.run(initializer_of(v));
  expect("and another one", after.run(v), 1);
  expect_true("none of it is in the program's graph", get_operations(g).size() == 6);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "At once, without a session.", {{"at_once", "a product and a gradient", at_once}});
}
