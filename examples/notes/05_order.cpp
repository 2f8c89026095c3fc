// Order: what must happen first, said by control dependencies. The graph of the first section:
//
//    a1 = 1   b1 = 2        a2 = 1   b2 = 2
//        \     /               \      /   \   assign(a2, 10)
//         sum = 3               later = 12 . . . . . waits

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <optional>

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

// A moving mean of batches [8, 12] and [10, 14], kept by an update that nothing but the training step may wait for.
void updates() {
  item("5.2", "updates that training must not forget");
  enum way { forgotten, waited_for, too_late };
  for (const way how : {waited_for, too_late, forgotten}) {
    graph g;
    auto here = g.as_default();
    auto x = placeholder(dtype::float32, {2}, "x");
    auto moving = variable(0.0f, "moving_mean", {.trainable = false});
    add_to_collection(collection::update_ops, assign_sub(moving, (moving - reduce_mean(x)) * (1 - 0.9f)).operation());
    auto w = variable(1.0f, "w");
    auto loss = reduce_mean(square((x - reduce_mean(x)) * w));
    auto evaluated = multiply(reduce_mean(x) - moving, w);
    graph_operation train;
    if (how == waited_for) {
      auto wait = control_dependencies(get_collection(collection::update_ops));
      train = gradient_descent(0.01f).minimize(loss);
    } else if (how == too_late) {
      std::optional<named_optimizer> optimizer;
      {
        auto wait = control_dependencies(get_collection(collection::update_ops));
        optimizer = gradient_descent(0.01f);  // makes no node: there is nothing that could wait
      }
      train = optimizer->minimize(loss);
    } else {
      train = gradient_descent(0.01f).minimize(loss);
    }
    graph_session s(g);
    s.run(global_variables_initializer());
    const char* const words[]{"forgotten", "within control dependencies", "the optimizer within, minimize outside"};
    const float wanted[]{how == waited_for ? 1.0f : 0.0f, how == waited_for ? 2.1f : 0.0f};
    const std::vector<float> batches[]{{8, 12}, {10, 14}};
    for (int step = 0; step < 2; ++step) {
      s.run(train, {{x, batches[step]}});
      expect(words[how], s.run(moving), wanted[step], 1e-6);
    }
    s.assign(w, 1.0f);
    expect("an evaluation with it, at [10, 14]", s.run(evaluated, {{x, batches[1]}}), 12 - wanted[1], 1e-6);
  }
  auto x = leat::placeholder<"x", float, 2>();
  auto moving = untrainable_variable<"moving_mean", float>(0.0f);
  auto update = assign_sub(moving, (moving - reduce_mean(x)) * (1 - 0.9f));
  auto w = leat::variable<"w", float>(1.0f);
  auto train = after(gradient_descent(0.01f).minimize(reduce_mean(square((x - reduce_mean(x)) * w))), update);
  session t{train, moving};
  t.initialize();
  t.run(fetch(train), x = std::vector<float>{8, 12});
  expect("typed, after the first batch", t.value(moving), 1.0f, 1e-6);
  t.run(fetch(train), x = std::vector<float>{10, 14});
  expect("after the second", t.value(moving), 2.1f, 1e-6);
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Order: what must happen first.",
                      {{"sums", "two sums and an assignment", two_sums}, {"updates", "updates that training must not forget", updates}});
}
