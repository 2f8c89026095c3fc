#include <leat/passes/fuse.hpp>

#include "support/graphs.hpp"

#include <doctest/doctest.h>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("a chain with broadcasting, casts and the reduction at its end is one cluster that stores nothing between") {
  const auto x = placeholder<"x", float, "n", 64>();
  const auto row = placeholder<"row", float, 64>();
  const auto column = placeholder<"column", float, "n", 1>();
  const auto p = program_of(reduce_sum(cast<double>(exp(x * row + column) - relu(x))));
  CHECK(steps_of(p) == "cluster");
  CHECK(stored(p) == 0);
}

TEST_CASE("softmax, log softmax, moments and cross entropy are one cluster each") {
  const auto x = placeholder<"x", float, "n", 64>();
  const auto labels = placeholder<"labels", float, "n", 64>();
  CHECK(steps_of(program_of(softmax(x))) == "cluster");
  CHECK(steps_of(program_of(log_softmax(x))) == "cluster");
  CHECK(steps_of(program_of(std::get<0>(moments<1>(x)), std::get<1>(moments<1>(x)))) == "cluster");
  CHECK(steps_of(program_of(softmax_cross_entropy_with_logits(labels, x))) == "cluster");
}

TEST_CASE("several outputs of one loop") {
  const auto x = placeholder<"x", float, 1000>();
  const auto y = exp(x);
  const auto p = program_of(y, y * x, reduce_sum(y), reduce_max(x));
  CHECK(steps_of(p) == "cluster");
}

TEST_CASE("a layer is a product and one cluster") {
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto w = variable<"w", float, 64, 32>(zeros);
  const auto b = variable<"b", float, 32>(zeros);
  CHECK(steps_of(program_of(relu(matmul(x, w) + b))) == "product cluster");
}

TEST_CASE("an update is folded into the product that feeds it, unless somebody else needs either") {
  const auto x = placeholder<"x", float, "batch", 64>();
  const auto g = placeholder<"g", float, "batch", 32>();
  const auto w = variable<"w", float, 64, 32>(zeros);
  const auto rate = parameter<"rate">(0.1f);
  const auto gradient = matmul<true, false>(x, g);
  CHECK(steps_of(program_of(group(assign_sub(w, rate * gradient)))) == "update");
  CHECK(steps_of(program_of(group(assign_add(w, gradient)))) == "update");
  CHECK(steps_of(program_of(group(assign_sub(w, rate * gradient)), gradient)) == "product cluster");
  const auto own = matmul<true, false>(x, matmul(x, w));
  CHECK(steps_of(program_of(group(assign_sub(w, rate * own)))) == "product update");
}

TEST_CASE("a step of linear regression is a handful of steps") {
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto b = variable<"b", float>(0.0f);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  const auto [dw, db] = gradients(loss, w, b);
  const auto p = program_of(loss, group(assign_sub(w, 0.1_c * dw), assign_sub(b, 0.1_c * db)));
  CHECK_MESSAGE(p.steps.size() <= 5, steps_of(p));
  CAPTURE(steps_of(p));
  int updates = 0;
  int products = 0;
  for (const auto& s : p.steps) {
    updates += !s.is_cluster && s.code == info_of<passes::matmul_update_op>.code ? 1 : 0;
    products += !s.is_cluster && s.code == info_of<matmul_op>.code ? 1 : 0;
  }
  CHECK(updates == 1);
  CHECK(products == 1);
}

TEST_CASE("an optimizer's step is one pass over gradient, slots and variable") {
  const auto g = placeholder<"g", float, 1000>();
  const auto w = variable<"w", float, 1000>(zeros);
  const auto m = variable<"m", float, 1000>(zeros);
  const auto v = variable<"v", float, 1000>(zeros);
  const auto next_m = m * 0.9_c + g * 0.1_c;
  const auto next_v = v * 0.999_c + square(g) * 0.001_c;
  const auto p = program_of(group(assign(m, next_m), assign(v, next_v), assign_sub(w, next_m * 0.001_c / (sqrt(next_v) + 1e-8_c))));
  CHECK(steps_of(p) == "cluster");
  CHECK(stored(p) == 0);
}

TEST_CASE("a loop joins a later one that reads its elements, unless something needs its results before") {
  const auto g = placeholder<"g", float, 1000>();
  const auto w = variable<"w", float, 1000>(zeros);
  const auto m = variable<"m", float, 1000>(zeros);
  const auto rate = parameter<"rate">(0.1f);
  const auto next = m * 0.9_c + g;     // does not wait for the rate
  const auto step = sqrt(rate * 2_c);  // a step of its own
  const auto joined = program_of(group(assign(m, next), assign_sub(w, next * step)));
  CHECK(steps_of(joined) == "cluster cluster");
  CHECK(joined.steps[0].instructions[instructions::has_lanes] == 0);
  CHECK(stored(joined) == 1);
  // The norm, of which the later loop takes a quotient.
  const auto by_norm = program_of(group(assign(m, next), assign_sub(w, next / sqrt(reduce_sum(square(next))))));
  CHECK(by_norm.steps[0].instructions[instructions::has_lanes] == 1);
  CHECK(by_norm.steps.back().instructions[instructions::has_lanes] == 1);
  // A loop of another level that writes what the earlier one reads.
  const auto written = program_of(group(assign_sub(w, next * step), assign(m, m * rate)), reduce_sum(next));
  CHECK(steps_of(written).find("kernel") == std::string::npos);
}
