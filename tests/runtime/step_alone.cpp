// A program of its own: it counts allocations. A prepared run whose shapes did not change takes no memory.

#include <leat/session/graph_session.hpp>

#include "support/allocations.hpp"

#include <doctest/doctest.h>

#include <leat/graphs.hpp>

using namespace leat;

TEST_CASE("a warm prepared step allocates nothing") {
  graph g;
  auto scope = g.as_default();
  const auto x = placeholder(dtype::float32, {-1, 3}, "x");
  const auto y = placeholder(dtype::float32, {-1}, "y");
  const auto w = variable(tensor_literal(dtype::float32, shape{2, {3, 1}}), "w");
  const auto loss = reduce_mean(square(squeeze(matmul(x, w), {1}) - y), {0});
  const auto slope = gradients({loss}, {w})[0];
  const auto train = assign_sub(w, slope * 0.1f);
  graph_session s(g);
  s.run(global_variables_initializer());
  auto step = s.prepare({loss, train.operation()}, {x, y});
  const std::vector<float> xs(12, 0.5f), ys(4, 2.0f);
  const tensor_value xv(shape{2, {4, 3}}, xs), yv(ys);
  float first = 0, last = 0;
  // feeds lie where they are: an array of the caller's, and one without a copy
  for (int i = 0; i < 3; ++i) first = step(xv, yv)[0].as<float>();
  const tensor_value borrowed = tensor_value::borrow(dtype::float32, shape{1, {4}}, const_cast<float*>(ys.data()));
  step(xv, borrowed);
  const long before = allocations.load();
  for (int i = 0; i < 10; ++i) last = step(xv, borrowed)[0].as<float>();
  CHECK(allocations.load() == before);
  CHECK(last < first);
  CHECK(s.fused_runs() >= 14);
}
