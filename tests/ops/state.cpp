#include <leat/ops/state.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <cstdint>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE_TEMPLATE("assignments write, and give the new value", T, float, double, std::int32_t, std::int64_t, std::uint8_t) {
  const auto v = variable<"v", T, 33>(T(3));
  const auto x = placeholder<"x", T, 33>();
  const auto set = assign(v, x);
  const auto add = assign_add(v, x);
  const auto subtract = assign_sub(v, x * 2_c);
  session s{set, add, subtract};
  s.initialize();
  const auto xs = filled<T, 1>({33}, 0, 9);
  const auto [a] = s.run(fetch(add), x = xs);
  check_each("add", a, 0, [&](std::size_t i) { return static_cast<T>(3 + xs(i)); });
  check_close("value", s.value(v), a, 0);
  const auto [b] = s.run(fetch(subtract), x = xs);
  check_each("subtract", b, tolerance_of<T>, [&](std::size_t i) { return static_cast<T>(T(3 + xs(i)) - 2 * xs(i)); });
  check_close("value", s.value(v), b, 0);
  const auto [c] = s.run(fetch(set), x = xs);
  check_close("set", c, xs, 0);
  check_close("value", s.value(v), xs, 0);
}

TEST_CASE("bool variables, and numbers assigned") {
  const auto flag = variable<"flag", bool>(false);
  const auto flags = variable<"flags", bool, 5>(zeros);
  const auto x = placeholder<"x", bool, 5>();
  const auto count = variable<"count", std::int64_t>(0);
  const auto turn = assign(flag, logical_not(flag));
  const auto mark = assign(flags, logical_or(flags, x));
  const auto up = assign_add(count, 1_c);
  const auto all = group(turn, mark, up);
  session s{all};
  s.initialize();
  s.run(fetch(all), x = xt::xtensor<bool, 1>{true, false, false, true, false});
  s.run(fetch(mark, up), x = xt::xtensor<bool, 1>{false, false, true, false, false});
  CHECK(s.value(flag));
  CHECK(s.value(flags) == xt::xtensor<bool, 1>{true, false, true, true, false});
  CHECK(s.value(count) == 2);
}

TEST_CASE("a variable read in the step that writes it is its value at the start") {
  const auto v = variable<"v", double, 4>(1.0);
  const auto w = variable<"w", double, 4>(10.0);
  const auto swap = group(assign(v, w + 0_c), assign(w, v + 0_c));
  const auto read = v * 2_c;
  session s{swap, read, v, w};
  s.initialize();
  const auto [before, vs, ws] = s.run(fetch(read, swap, v, w));
  check_each("before", before, 0, [](std::size_t) { return 2; });
  check_each("v", vs, 0, [](std::size_t) { return 1; });
  check_each("w", ws, 0, [](std::size_t) { return 10; });
  check_each("v", s.value(v), 0, [](std::size_t) { return 10; });
  check_each("w", s.value(w), 0, [](std::size_t) { return 1; });
}

TEST_CASE("variables swap without any arithmetic between") {
  const auto v = variable<"v", float, 100>(1.0f);
  const auto w = variable<"w", float, 100>(2.0f);
  const auto swap = group(assign(v, w), assign(w, v));
  session s{swap};
  s.initialize();
  s.run(fetch(swap));
  CHECK(s.value(v)(99) == 2);
  CHECK(s.value(w)(99) == 1);
}

TEST_CASE("variables exchange their transposes, and turn in place") {
  const auto v = variable<"v", double, 3, 5>(zeros);
  const auto w = variable<"w", double, 5, 3>(zeros);
  const auto q = variable<"q", double, 4, 4>(zeros);
  const auto turn = group(assign(v, transpose(w)), assign(w, transpose(v)), assign(q, transpose(q)));
  session s{turn};
  const auto vs = filled<double, 2>({3, 5});
  const auto ws = filled<double, 2>({5, 3}, -1, 1, 2);
  const auto qs = filled<double, 2>({4, 4}, -1, 1, 3);
  s.assign(v, vs);
  s.assign(w, ws);
  s.assign(q, qs);
  s.run(fetch(turn));
  check_each("v", s.value(v), 0, [&](std::size_t i) { return ws(i % 5, i / 5); });
  check_each("w", s.value(w), 0, [&](std::size_t i) { return vs(i % 3, i / 3); });
  check_each("q", s.value(q), 0, [&](std::size_t i) { return qs(i % 4, i / 4); });
}

TEST_CASE("two products update each other's factor from the values at the start") {
  const auto v = variable<"v", double, 3, 3>(zeros);
  const auto w = variable<"w", double, 3, 3>(zeros);
  const auto step = group(assign_add(v, matmul(w, w)), assign_sub(w, 0.5_c * matmul(v, v)));
  session s{step};
  const auto vs = filled<double, 2>({3, 3});
  const auto ws = filled<double, 2>({3, 3}, -1, 1, 2);
  s.assign(v, vs);
  s.assign(w, ws);
  s.run(fetch(step));
  const auto squared = [](const auto& a, std::size_t i) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += a(i / 3, k) * a(k, i % 3);
    return sum;
  };
  check_each("v", s.value(v), 1e-14, [&](std::size_t i) { return vs.data()[i] + squared(ws, i); });
  check_each("w", s.value(w), 1e-14, [&](std::size_t i) { return ws.data()[i] - 0.5 * squared(vs, i); });
}

TEST_CASE("after: an update behind another, a read behind an update") {
  const auto v = variable<"v", double>(1.0);
  const auto first = assign_add(v, 1.0);
  const auto second = after(assign(v, v * 10_c), first);
  const auto third = after(assign_add(v, 5.0), second);
  const auto seen = after(v, first);
  const auto old = v * 1.5_c;
  const auto kept = after(v * 3_c, first);
  const auto all = group(third);
  session s{all, seen, old, kept, v};
  s.initialize();
  // the value that `second` multiplies is that of the start of the step: 1
  const auto [o] = s.run(fetch(old, all));
  CHECK(o == 1.5);
  CHECK(s.value(v) == 15.0);
  const auto [new_value, before, held] = s.run(fetch(seen, v, kept));
  CHECK(new_value == 16.0);
  CHECK(before == 15.0);
  CHECK(held == 45.0);
  CHECK(s.value(v) == 16.0);
}

TEST_CASE("after: of a group every member waits") {
  const auto v = variable<"v", float, 3>(1.0f);
  const auto w = variable<"w", float, 3>(1.0f);
  const auto first = group(assign_add(v, broadcast_to<3>(constant<1.0f>())), assign_add(w, broadcast_to<3>(constant<2.0f>())));
  const auto second =
      after(group(assign(v, v * 0_c + broadcast_to<3>(constant<7.0f>())), assign_sub(w, broadcast_to<3>(constant<0.5f>()))), first);
  session s{second};
  s.initialize();
  s.run(fetch(second));
  check_each("v", s.value(v), 0, [](std::size_t) { return 7; });
  check_each("w", s.value(w), 0, [](std::size_t) { return 2.5; });
}

TEST_CASE("an update folded into the product that feeds it") {
  const auto w = variable<"w", double, 4, 5>(zeros);
  const auto a = placeholder<"a", double, "batch", 4>();
  const auto g = placeholder<"g", double, "batch", 5>();
  const auto step = assign_sub(w, 0.25 * matmul<true, false>(a, g));
  const auto plain = group(assign_add(w, matmul<true, false>(a, g)));
  session s{step, plain};
  for (const auto batch : {std::size_t{0}, std::size_t{1}, std::size_t{9}}) {
    s.initialize();
    const auto as = filled<double, 2>({batch, 4});
    const auto gs = filled<double, 2>({batch, 5}, -1, 1, 3);
    const auto sum = [&](std::size_t i) {
      double total = 0;
      for (std::size_t r = 0; r < batch; ++r) total += as(r, i / 5) * gs(r, i % 5);
      return total;
    };
    const auto [given] = s.run(fetch(step), a = as, g = gs);
    check_each("given", given, 1e-14, [&](std::size_t i) { return -0.25 * sum(i); });
    s.run(fetch(plain), a = as, g = gs);
    check_each("w", s.value(w), 1e-14, [&](std::size_t i) { return 0.75 * sum(i); });
  }
}

TEST_CASE("a product that reads the variable that it updates") {
  const auto w = variable<"w", double, 3, 3>(random_uniform(-1, 1, 4));
  const auto step = group(assign_add(w, 0.5 * matmul(w, w)));
  session s{step};
  s.initialize();
  const auto before = s.value(w);
  s.run(fetch(step));
  check_each("w", s.value(w), 1e-14, [&](std::size_t i) {
    double total = 0;
    for (std::size_t k = 0; k < 3; ++k) total += before(i / 3, k) * before(k, i % 3);
    return before.data()[i] + 0.5 * total;
  });
}
