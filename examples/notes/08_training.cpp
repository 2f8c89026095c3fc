// Linear regression on one machine: sample by sample, gradients in two halves, and a loop that ends when the loss is small. The graph:
//
//    x   W = 0                        gradients of the cost
//     \  /                              |            |
//      *    b = 0                  W -= rate *  b -= rate *  ("train")
//       \  /                            |            |
//        z        y ---> (y - z)^2 ---> mean = cost ---+
//
// Data: x_i = -1 + 2 i / 99, y_i = 2 x_i + 0.3 sin(7 i), i = 0..99; its least squares are W = 1.99605, b = 0.00655, cost 0.045054.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/session/graph_session.hpp>

#include "support/notes.hpp"

#include <cmath>
#include <cstdio>
#include <map>

using namespace leat;
using namespace leat::examples;
using namespace leat::literals;

namespace {

struct samples {
  std::vector<float> x, y;
};
// y = 2 x + offset + spread sin(7 i).
samples line(double offset, double spread) {
  samples d;
  for (int i = 0; i < 100; ++i) {
    const double x = -1 + 2.0 * i / 99;
    d.x.push_back(static_cast<float>(x));
    d.y.push_back(static_cast<float>(2 * x + offset + spread * std::sin(7.0 * i)));
  }
  return d;
}

// Cost, W and b after these passes, counted from 1; those after the others are not told.
const std::map<int, std::vector<double>> after_pass{{1, {0.60501, 0.85460, 0.34842}},  {3, {0.08874, 1.69901, 0.12350}},
                                                    {5, {0.04757, 1.92813, 0.03725}},  {7, {0.04514, 1.98755, 0.01447}},
                                                    {19, {0.04511, 2.00827, 0.00652}}, {20, {0.04511, 2.00828, 0.00652}}};
// float32: the last of five digits may differ.
constexpr double last_digit = 1.5e-5;

struct named_line {
  output x = placeholder(dtype::float32), y = placeholder(dtype::float32);
  output w, b, z, cost;
  explicit named_line(const output& start) {
    w = variable(start, "weight");
    b = variable(0.0f, "bias");
    z = add(multiply(x, w), b);
    cost = reduce_mean(square(subtract(y, z)));
  }
};

void one_at_a_time() {
  item("8.1", "one sample at a time, 20 passes");
  const samples d = line(0, 0.3);
  graph g;
  auto here = g.as_default();
  const named_line m(zeros({1}));
  auto train = gradient_descent(0.01f).minimize(m.cost);
  graph_session s(g);
  s.run(global_variables_initializer());
  auto named_step = s.prepare({train}, {m.x, m.y});

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto w = leat::variable<"weight", float, 1>(zeros);
  auto b = leat::variable<"bias", float, 1>(zeros);
  auto z = x * w + b;
  auto cost = reduce_mean(square(y - z));
  auto typed_train = gradient_descent(0.01f).minimize(cost);
  session t{cost, z, typed_train};
  t.initialize();
  std::vector<float> one_x(1), one_y(1);
  auto step = t.prepare(fetch(typed_train), x = one_x, y = one_y);

  for (int pass = 1; pass <= 20; ++pass) {
    for (std::size_t i = 0; i < 100; ++i) {
      one_x[0] = d.x[i];
      one_y[0] = d.y[i];
      named_step(one_x, one_y);
      step();
    }
    const auto told = after_pass.find(pass);
    if (told == after_pass.end()) continue;
    std::printf("  pass %d\n", pass);
    auto [typed_cost] = t.run(fetch(cost), x = d.x, y = d.y);
    expect("cost of all samples", s.run(m.cost, {{m.x, d.x}, {m.y, d.y}}), static_cast<float>(told->second[0]), last_digit);
    expect("W", s.run(m.w), {static_cast<float>(told->second[1])}, last_digit);
    expect("b", s.run<float>(m.b), static_cast<float>(told->second[2]), last_digit);
    expect_equal("typed W, to the bit", t.value(w), s.run(m.w));
    expect("typed b, to the bit", t.value(b), {s.run<float>(m.b)});
    expect("typed cost", typed_cost, static_cast<float>(told->second[0]), last_digit);
  }
  const auto at = s.run(m.z, {{m.x, {0.2f}}});
  auto [typed_at] = t.run(fetch(z), x = std::vector{0.2f});
  expect("z at 0.2", at, {0.40817f}, last_digit);
  expect_equal("typed, to the bit", typed_at, at);

  graph h;
  auto there = h.as_default();
  const named_line r(truncated_normal({1}));
  auto other = gradient_descent(0.01f).minimize(r.cost);
  graph_session u(h);
  u.run(global_variables_initializer());
  for (int pass = 0; pass < 20; ++pass)
    for (std::size_t i = 0; i < 100; ++i) u.run(other, {{r.x, d.x[i]}, {r.y, d.y[i]}});
  expect("W from a truncated normal start", u.run(r.w), {2.00828f}, 1e-4);
  expect("its b", u.run(r.b), 0.00652f, 1e-4);
}

void two_halves() {
  item("8.2", "gradients, clipped, applied; a counter of steps");
  const samples d = line(0, 0.3);
  const auto W_and_b = [](graph_session& s, const named_line& m) {
    return std::vector{s.run<std::vector<float>>(m.w)[0], s.run<float>(m.b)};
  };
  std::vector<float> whole, halves, clipped;
  for (const int way : {0, 1, 2}) {
    graph g;
    auto here = g.as_default();
    const named_line m(zeros({1}));
    auto steps = get_or_create_global_step();
    named_optimizer o = gradient_descent(0.01f);
    graph_operation train;
    if (way == 0) {
      train = o.minimize(m.cost, steps);
    } else {
      auto pairs = o.compute_gradients(m.cost);
      if (way == 2) {
        std::vector<gradient_value> slopes;
        for (const auto& [slope, v] : pairs) slopes.push_back(slope);
        const auto [limited, norm] = clip_by_global_norm(slopes, 0.5f);
        for (std::size_t k = 0; k < pairs.size(); ++k) pairs[k].gradient = limited[k];
      }
      train = o.apply_gradients(pairs, steps);
    }
    graph_session s(g);
    s.run(global_variables_initializer());
    for (int count = 0; count <= 2; ++count) {
      expect("counter", s.run(steps), std::int64_t{count});
      if (count < 2) s.run(train, {{m.x, d.x[0]}, {m.y, d.y[0]}});
      if (count == 0) (way == 0 ? whole : way == 1 ? halves : clipped) = W_and_b(s, m);
    }
  }
  expect_equal("W and b after a step in two halves, as by minimize to the bit", halves, whole);
  expect("distance that a step moves them with the norm limited to 0.5", std::hypot(clipped[0], clipped[1]), 0.5f * 0.01f, 1e-8);

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto w = leat::variable<"weight", float, 1>(zeros);
  auto b = leat::variable<"bias", float>(zeros);
  auto steps = untrainable_variable<"steps", std::int64_t>(0);
  auto cost = reduce_mean(square(y - (x * w + b)));
  auto optimizer = gradient_descent(0.01f);
  auto [dw, db] = gradients(cost, w, b);
  auto [limited_w, limited_b] = clip_by_global_norm(0.5_c, dw, db);
  auto at_once = optimizer.minimize(cost);
  auto typed_halves = optimizer.apply_gradients(with_variable(dw, w), with_variable(db, b));
  auto typed_clipped = optimizer.apply_gradients(with_variable(limited_w, w), with_variable(limited_b, b));
  const auto moved = [&](const auto& train) {
    auto counted = after(assign_add(steps, 1_c), train);
    session t{counted};
    t.initialize();
    const auto [count] = t.run(fetch(counted), x = std::vector{d.x[0]}, y = std::vector{d.y[0]});
    expect("typed counter", count, std::int64_t{1});
    return std::vector{t.value(w)(0), t.value(b)};
  };
  expect_equal("typed, at once, to the bit", moved(at_once), whole);
  expect_equal("typed, in two halves, to the bit", moved(typed_halves), whole);
  expect_equal("typed, clipped", moved(typed_clipped), clipped, 1e-8);
}

void adagrad_until() {
  item("8.3", "Adagrad until the last sample's loss is at most 70");
  const samples e = line(10, 0.33);
  graph g;
  auto here = g.as_default();
  const named_line m(zeros({1}));
  auto steps = get_or_create_global_step();
  auto train = adagrad(0.01f).minimize(m.cost, {.global_step = steps});
  graph_session s(g);
  s.run(global_variables_initializer());
  auto step = s.prepare({train}, {m.x, m.y});
  int passes = 0;
  float last = 0;
  do {
    for (std::size_t i = 0; i < 100; ++i) step(std::vector{e.x[i]}, std::vector{e.y[i]});
    last = s.run<float>(m.cost, {{m.x, e.x[99]}, {m.y, e.y[99]}});
    ++passes;
    if (passes == 1) expect("last sample's loss after the first pass", last, 147.606f, 1e-3);
    if (passes == 2) expect("after the second", last, 145.492f, 1e-3);
  } while (last > 70);
  expect("passes", passes, 374);
  expect("counter", s.run(steps), std::int64_t{37400});
  expect("W", s.run(m.w), {0.3928f}, 1e-4);
  expect("b", s.run(m.b), 3.5606f, 1e-4);
  expect("loss", last, 69.954f, 1e-3);

  auto x = leat::placeholder<"x", float, "n">();
  auto y = leat::placeholder<"y", float, "n">();
  auto w = leat::variable<"weight", float, 1>(zeros);
  auto b = leat::variable<"bias", float>(zeros);
  auto typed_train = adagrad(0.01f).minimize(reduce_mean(square(y - (x * w + b))));
  session t{typed_train};
  t.initialize();
  std::vector<float> one_x(1), one_y(1);
  auto typed_step = t.prepare(fetch(typed_train), x = one_x, y = one_y);
  for (int pass = 0; pass < passes; ++pass)
    for (std::size_t i = 0; i < 100; ++i) {
      one_x[0] = e.x[i];
      one_y[0] = e.y[i];
      typed_step();
    }
  expect_equal("typed W after as many passes, to the bit", t.value(w), s.run(m.w));
  expect_equal("typed b, to the bit", t.value(b), s.run(m.b));
}

}  // namespace

int main(int count, char** arguments) {
  return run_sections(count, arguments, "Linear regression on one machine.",
                      {{"samples", "one sample at a time", one_at_a_time},
                       {"halves", "gradients in two halves", two_halves},
                       {"adagrad", "Adagrad until the loss is small", adagrad_until}});
}
