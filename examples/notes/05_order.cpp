// Order: what must happen first, said by control dependencies. The graph of the first section:
//
//    a1 = 1   b1 = 2        a2 = 1   b2 = 2
//        \     /               \      /   \   assign(a2, 10)
//         sum = 3               later = 12 . . . . . waits

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

void two_sums() {
  item("5.1", "a sum that waits for an assignment, and one that does not");
  graph g;
  auto here = g.as_default();
  auto a1 = variable(1.0f, "a1"), b1 = variable(2.0f, "b1"), a2 = variable(1.0f, "a2"), b2 = variable(2.0f, "b2");
  assign(a1, 10.0f);
  auto sum = add(a1, b1);
  auto update = assign(a2, 10.0f);
  output later;
  {
    auto wait = control_dependencies({update});
    later = add(a2, b2);
  }
  auto init = global_variables_initializer();
  for (const int threads : {1, 2}) {
    graph_session s(g, {.inter_op_parallelism_threads = threads});
    int right = 0;
    for (int time = 0; time < 100; ++time) {
      s.run(init);
      const auto [without, with] = s.run<float, float>({sum, later});
      if (without == 3 && with == 12) ++right;
    }
    expect("threads", threads, threads);
    expect("times of 100 that the sums are 3 and 12", right, 100);
    expect("a2 afterwards", s.run(a2), 10);
    expect("a1", s.run(a1), 1);
  }

  auto ta1 = leat::variable<"a1", float>(1.0f);
  auto ta2 = leat::variable<"a2", float>(1.0f);
  auto tb1 = leat::variable<"b1", float>(2.0f);
  auto tb2 = leat::variable<"b2", float>(2.0f);
  auto typed_sum = ta1 + tb1;
  auto typed_update = assign(ta2, 10_c);
  auto typed_later = after(ta2, typed_update) + tb2;     // reads a2 after the assignment
  auto typed_identity = after(ta2 + tb2, typed_update);  // waits with what was computed before
  session t{typed_sum, typed_later, typed_identity};
  t.initialize();
  auto [without, with, waiting] = t.run(fetch(typed_sum, typed_later, typed_identity));
  expect("typed, without", without, 3);
  expect("typed, with", with, 12);
  expect("typed, the sum itself waiting, as an identity of it", waiting, 3);
  expect("typed a2 afterwards", t.value(ta2), 10);
  expect("typed a1", t.value(ta1), 1);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Order: what must happen first.", {{"sums", "two sums and an assignment", two_sums}});
}
