#include <leat/leat.hpp>
#include <leat/train/optimizer_step.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string_view>
#include <vector>

using namespace leat;

namespace {

auto weights() { return variable<"w", float, 3>(0.5f); }

output enter(graph& g) { return {g, flatten<std::remove_cvref_t<decltype(weights())>>(g)}; }

int count_of(const graph& g, op_kind kind, std::string_view name) {
  int found = 0;
  for (int i = 0; i < g.size(); ++i) found += g.at(i).op->kind == kind && g.at(i).name == name ? 1 : 0;
  return found;
}

}  // namespace

TEST_CASE("a slot is one variable of its variable's shape, however often it is asked for") {
  graph g;
  const output w = enter(g);
  const output slot = train::slot(g, w, "w/Adam", 1, initializer_kind::zeros);
  CHECK(slot.type() == dtype::float32);
  CHECK(slot.extent() == w.extent());
  CHECK(train::slot(g, w, "w/Adam", 1, initializer_kind::zeros).index() == slot.index());
  CHECK(train::slot(g, w, "w/Adam_1", 2, initializer_kind::zeros).index() != slot.index());
  CHECK(count_of(g, op_kind::variable, "w/Adam") == 1);
}

TEST_CASE("a plain setting is one number for each dtype; an expression is cast") {
  graph g;
  const train::setting_source plain{77, -1};
  const output number = train::setting(g, plain, dtype::float32);
  CHECK(number.type() == dtype::float32);
  CHECK(train::setting(g, plain, dtype::float32).index() == number.index());
  CHECK(train::setting(g, plain, dtype::float64).index() != number.index());
  const output w = enter(g);
  CHECK(train::setting(g, {78, w.index()}, dtype::float32).index() == w.index());
  CHECK(train::setting(g, {78, w.index()}, dtype::float64).type() == dtype::float64);
}

TEST_CASE("a power starts at a plain setting, and at 1 where the setting is an expression") {
  graph g;
  const auto plain = train::power_of(g, {77, -1}, dtype::float32, "beta1_power");
  CHECK(plain.now.index() == plain.variable.index());
  CHECK(plain.next.index() != plain.variable.index());
  CHECK(train::power_of(g, {77, -1}, dtype::float32, "beta1_power").variable.index() == plain.variable.index());
  const auto one = variable<"beta", float>(0.9f);
  const output beta(g, flatten<std::remove_cvref_t<decltype(one)>>(g));
  const auto computed = train::power_of(g, {78, beta.index()}, dtype::float32, "beta2_power");
  CHECK(computed.now.index() == computed.next.index());
  CHECK(computed.now.index() != computed.variable.index());
}

TEST_CASE("a step groups all updates, and the counter rises after them") {
  const auto w = weights();
  const auto v = variable<"v", float, 2>(1.0f);
  const auto count = untrainable_variable<"count", std::int64_t>(zeros);
  const auto loss = reduce_sum(square(w)) + reduce_sum(square(v));
  graph g;
  const int its_loss = flatten<std::remove_cvref_t<decltype(loss)>>(g);
  const int counter = flatten<std::remove_cvref_t<decltype(count)>>(g);
  const train::setting_source rate{77, -1};
  const int step = detail::minimize_by_rule<train::gradient_descent_rule>(g, {&rate, 1}, its_loss, counter);
  const node& group = g.at(step);
  REQUIRE(group.control_count == 3);  // two variables and the counter
  const int rises = g.control(group, 2);
  CHECK(g.input(g.at(rises), 0) == counter);
  REQUIRE(g.at(rises).control_count == 2);
  for (int k = 0; k < 2; ++k) CHECK(g.control(g.at(rises), k) == g.control(group, k));

  // As a whole, in a session.
  const auto train = gradient_descent(0.25f).minimize(loss, count);
  session s{loss, train};
  s.initialize();
  s.run(fetch(train));
  CHECK(s.value(w)(0) == 0.25f);
  CHECK(s.value(v)(1) == 0.5f);
  CHECK(s.value(count) == 1);
}
