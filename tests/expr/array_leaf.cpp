// Constant arrays, and variables that start from one: whose elements count, and that the expression owns them.
#include <leat/expr/array_leaf.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <leat/leat.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xview.hpp>

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <thread>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

namespace {

std::vector<double> counted(std::size_t n, double first) {
  std::vector<double> values(n);
  for (std::size_t i = 0; i < n; ++i) values[i] = first + static_cast<double>(i);
  return values;
}
// One place in the program that writes an array; what it is made of is gone when it returns.
template <class X>
auto weighted(const X& x, double first) {
  return matmul(x, constant<float, 3, 2>(counted(6, first)));
}
template <class E>
auto value_of(const E& e) {
  session s{e};
  return std::get<0>(s.run(fetch(e)));
}

const xt::xtensor<float, 2> rows{{1, 0, 0}, {0, 1, 0}};

}  // namespace

TEST_CASE("dtype and shape come from the array's type, or are said") {
  const std::array<std::array<std::int32_t, 2>, 3> nested{{{1, 2}, {3, 4}, {5, 6}}};
  const xt::xtensor_fixed<float, xt::xshape<2, 3>> fixed{{1, 2, 3}, {4, 5, 6}};
  const double plain[2][2]{{1, 2}, {3, 4}};
  const std::array<bool, 3> truths{true, false, true};
  const auto a = constant(nested);
  const auto b = constant(fixed);
  const auto c = constant(plain);
  const auto d = constant(truths);
  static_assert(std::is_same_v<decltype(a)::extents, dims<3, 2>> && decltype(a)::type == dtype::int32);
  static_assert(std::is_same_v<decltype(b)::extents, dims<2, 3>> && decltype(b)::type == dtype::float32);
  static_assert(std::is_same_v<decltype(c)::extents, dims<2, 2>> && decltype(c)::type == dtype::float64);
  static_assert(std::is_same_v<decltype(d)::extents, dims<3>> && decltype(d)::type == dtype::boolean);
  CHECK(value_of(a) == xt::xtensor<std::int32_t, 2>{{1, 2}, {3, 4}, {5, 6}});
  CHECK(value_of(b) == xt::xtensor<float, 2>{{1, 2, 3}, {4, 5, 6}});
  CHECK(value_of(c) == xt::xtensor<double, 2>{{1, 2}, {3, 4}});
  CHECK(value_of(d) == xt::xtensor<bool, 1>{true, false, true});

  const xt::xtensor<float, 2> six{{1, 2}, {3, 4}, {5, 6}};
  const xt::xtensor<float, 2, xt::layout_type::column_major> by_columns = six;
  CHECK(value_of(constant<float, 3, 2>(six)) == six);
  CHECK(value_of(constant<float, 3, 2>(by_columns)) == six);
#if LEAT_TEST_XARRAY
  const xt::xarray<float> any_rank = six;
  CHECK(value_of(constant<float, 3, 2>(any_rank)) == six);
#endif
  CHECK(value_of(constant<float, 3, 2>(six + 0.0f)) == six);
  CHECK(value_of(constant<float, 3, 1>(xt::view(six, xt::all(), xt::range(1, 2)))) == xt::xtensor<float, 2>{{2}, {4}, {6}});
  CHECK(value_of(constant<float, 3, 2>(nested)) == six);
  CHECK(value_of(constant<float, 3, 2>(counted(6, 1))) == six);
  CHECK(value_of(constant<float, 3, 2>(std::array{1, 2, 3, 4, 5, 6})) == six);
  CHECK(value_of(constant<float, 3, 2>({1, 2, 3, 4, 5, 6})) == six);
  CHECK(value_of(constant<"six", float, 3, 2>({1, 2, 3, 4, 5, 6})) == six);
  CHECK(value_of(constant<float, 3, 2>(std::span<const float>(six.data(), 6))) == six);
  CHECK(value_of(constant<bool, 2>(std::vector<bool>{false, true})) == xt::xtensor<bool, 1>{false, true});
  CHECK(value_of(constant<float, 0, 2>(std::vector<float>{})).shape() == std::array<std::size_t, 2>{0, 2});
}

TEST_CASE("what does not fit is refused: another shape, a number that the dtype does not hold") {
  const xt::xtensor<float, 2> square({2, 2}, 1.0f);
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(constant<float, 3, 2>(square)); }),
             "constant: the expression is float32 [3, 2], the array has shape [2, 2]"));
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(constant<"table", float, 3, 2>(square)); }),
             "constant \"table\" is float32 [3, 2], the array has shape [2, 2]"));
  CHECK(says(message_of<invalid_argument>([] { static_cast<void>(variable<"w", float, 3, 2>(counted(5, 0))); }),
             "variable \"w\" is float32 [3, 2], the array has shape [5]"));
#if LEAT_TEST_XARRAY
  CHECK(says(message_of<invalid_argument>([] { static_cast<void>(variable<"w", float, 2>(xt::xarray<float>(1.0f))); }),
             "variable \"w\" is float32 [2], the array has shape []"));
#endif
  CHECK(says(message_of<invalid_argument>([] { static_cast<void>(constant<float, 2>({1.0, 1e300})); }),
             "constant: the number 1e+300 does not fit the dtype float32"));
  CHECK(says(message_of<invalid_argument>([] { static_cast<void>(variable<"w", float, 2>({16777216, 16777217})); }),
             "variable \"w\": the number 16777217 does not fit the dtype float32"));
  CHECK(says(message_of<invalid_argument>([] { static_cast<void>(constant<"bytes", std::uint8_t, 2>({255, 256})); }),
             "constant \"bytes\": the number 256 does not fit the dtype uint8"));
  CHECK_THROWS_AS(static_cast<void>(constant<bool, 1>({2})), invalid_argument);
}

TEST_CASE("a constant array is an operand like any other") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto i = placeholder<"i", std::int32_t, "n">();
  const auto table = constant<"table", float, 4, 3>(counted(12, 0));
  const auto wide = constant<float, 128, 3>(counted(384, 0));
  const auto sums = matmul(x, transpose(table)) + reduce_sum<1>(table);
  const auto rows_of = gather(table, i) * x;
  const auto part = slice<begins<1, 1>, sizes<2, 2>>(table);
  const auto soft = softmax(table);
  const auto quotient = constant<std::int32_t, 3>({12, 13, 14}) / constant<std::int32_t, 3>({2, 3, 4});
  const auto both = concat<0>(wide, table);
  session s{sums, rows_of, part, soft, quotient, both};
  const xt::xtensor<std::int32_t, 1> picked{3, 0};
  const auto [sum, row, p, so, q, b] = s.run(fetch(sums, rows_of, part, soft, quotient, both), x = rows, i = picked);
  CHECK(sum == xt::xtensor<float, 2>{{3, 15, 27, 39}, {4, 16, 28, 40}});
  CHECK(row == xt::xtensor<float, 2>{{9, 0, 0}, {0, 1, 0}});
  CHECK(p == xt::xtensor<float, 2>{{4, 5}, {7, 8}});
  CHECK(close(so(2, 2), 0.66524096f, 1e-6));
  CHECK(q == xt::xtensor<std::int32_t, 1>{6, 4, 3});
  CHECK((b.shape(0) == 132 && b(131, 2) == 11 && b(127, 2) == 383));
}

TEST_CASE("integers are not divided by an array that holds a 0") {
  const auto x = placeholder<"x", std::int32_t, 2>();
  const auto y = x / constant<std::int32_t, 2>({1, 0});
  session s{y};
  CHECK_THROWS_AS(static_cast<void>(s.run(fetch(y), x = std::vector{1, 2})), invalid_argument);
}

TEST_CASE("the elements are those of the expression that is fetched") {
  const auto x = placeholder<"x", float, 2, 3>();
  const auto y = weighted(x, 0);
  session s{y};
  const auto run = [&](const auto& e) { return std::get<0>(s.run(fetch(e), x = rows)); };
  CHECK(run(y) == xt::xtensor<float, 2>{{0, 1}, {2, 3}});
  CHECK(run(weighted(x, 10)) == xt::xtensor<float, 2>{{10, 11}, {12, 13}});
  CHECK(run(y) == xt::xtensor<float, 2>{{0, 1}, {2, 3}});
  for (int k = 0; k < 50; ++k) CHECK(run(weighted(x, k))(0, 0) == static_cast<float>(k));
  // a prepared run keeps those of its own, whatever others run between its calls
  const auto prepared = s.prepare(fetch(weighted(x, 20)), x = rows);
  CHECK(std::get<0>(prepared()) == xt::xtensor<float, 2>{{20, 21}, {22, 23}});
  CHECK(run(y)(0, 0) == 0);
  CHECK(std::get<0>(prepared()) == xt::xtensor<float, 2>{{20, 21}, {22, 23}});
  xt::xtensor<float, 2> into_this;
  s.run(fetch(into(weighted(x, 30), into_this)), x = rows);
  CHECK(into_this(0, 0) == 30);

  // the array of the user's may change, or go: the expression has its own
  auto values = std::make_unique<std::array<float, 2>>(std::array{1.0f, 2.0f});
  const auto held = constant(*values);
  session t{held};
  (*values)[0] = 7;
  values.reset();
  CHECK(std::get<0>(t.run(fetch(held))) == xt::xtensor<float, 1>{1, 2});
}

TEST_CASE("one place that ran with two arrays: apart they are right, together an error") {
  const auto x = placeholder<"x", float, 2, 3>();
  const auto a = weighted(x, 1);
  const auto b = weighted(x, 2);
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(a + b); }), "two arrays for one constant"));
  CHECK_THROWS_AS((session{a, b}), invalid_argument);
  CHECK_THROWS_AS((session{a, a * 2.0f, b * 2.0f}), invalid_argument);
  // other arrays with the same elements are the same
  const auto again = weighted(x, 1);
  const auto sum = a + again;
  session s{sum};
  CHECK(std::get<0>(s.run(fetch(sum), x = rows)) == xt::xtensor<float, 2>{{2, 4}, {6, 8}});
  // in one run, too
  session t{a};
  CHECK_THROWS_AS(static_cast<void>(t.run(fetch(a, b), x = rows)), invalid_argument);
  CHECK(std::get<0>(t.run(fetch(a), x = rows))(0, 0) == 1);
  // names tell constants of one place apart
  const auto named = []<fixed_string Name>(double first) { return constant<Name, float, 2>(counted(2, first)); };
  const auto c = named.template operator()<"c">(1) + named.template operator()<"d">(5);
  CHECK(value_of(c) == xt::xtensor<float, 1>{6, 8});
}

TEST_CASE("numbers and arrays in one expression") {
  const auto x = placeholder<"x", float, 2>();
  const auto rate = parameter<"rate">(0.5f);
  const auto w = variable<"w", float, 2>(random_normal(0, 1, 3));
  const auto v = variable<"v">(std::array{3.0f, 4.0f});
  const auto y = 2.0f * x + constant(std::array{10.0f, 20.0f}) * rate + v + 0.0f * w;
  session s{y, 3.0f * x};
  s.initialize();
  const std::vector<float> fed{1, 1};
  CHECK(std::get<0>(s.run(fetch(y), x = fed)) == xt::xtensor<float, 1>{10, 16});
  CHECK(std::get<0>(s.run(fetch(y), x = fed, rate = 1.0f)) == xt::xtensor<float, 1>{15, 26});
  CHECK(std::get<0>(s.run(fetch(y), x = fed)) == xt::xtensor<float, 1>{10, 16});
  s.assign(rate, 2.0f);
  CHECK(std::get<0>(s.run(fetch(y), x = fed)) == xt::xtensor<float, 1>{25, 46});
}

TEST_CASE("variables start from arrays") {
  const auto w = variable<"w">(xt::xtensor_fixed<float, xt::xshape<3, 2>>{{1, 2}, {3, 4}, {5, 6}});
  const auto b = variable<"b", double, 2>(counted(2, 7));
  const auto steps = untrainable_variable<"steps", std::int64_t, 2>({5, 6});
  const auto u = untrainable_variable<"u">(std::array<std::uint8_t, 2>{1, 2});
  static_assert(std::is_same_v<decltype(w)::extents, dims<3, 2>> && decltype(w)::type == dtype::float32);
  const auto x = placeholder<"x", float, 2, 3>();
  const auto loss = reduce_mean(square(matmul(x, w)));
  const auto train = adam(0.1f).minimize(loss);
  session s{loss, train, b, steps, u};
  s.initialize();
  const xt::xtensor<float, 2> start{{1, 2}, {3, 4}, {5, 6}};
  CHECK(s.value(w) == start);
  CHECK(s.value(b) == xt::xtensor<double, 1>{7, 8});
  CHECK(s.value(steps) == xt::xtensor<std::int64_t, 1>{5, 6});
  CHECK(s.value(u) == xt::xtensor<std::uint8_t, 1>{1, 2});
  s.run(fetch(train), x = rows);
  CHECK(s.value(w) != start);
  s.initialize(w);
  CHECK(s.value(w) == start);

  // one name that starts from two arrays is two values for one variable
  const auto from = [](double value) { return variable<"v", float, 2>(counted(2, value)); };
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(from(1) + from(2)); }), "two arrays for one constant"));
  CHECK(says(message_of<invalid_argument>([&] { session{from(1), from(2) * 1_c}; }),
             "variable \"v\" starts from an array of other elements in one expression than in another"));
  session t{from(1)};
  t.initialize();
  CHECK(says(message_of<invalid_argument>([&] { static_cast<void>(t.run(fetch(from(2)))); }), "variable \"v\" starts from another array"));
  t.initialize(from(2));
  CHECK(t.value(from(1)) == xt::xtensor<float, 1>{2, 3});
}

TEST_CASE("gradients pass constants by, and what stands beside them has its own") {
  const auto x = placeholder<"x", float, 3>();
  const auto c = constant(std::array{2.0f, 3.0f, 4.0f});
  const auto w = variable<"w">(std::array{1.0f, 1.0f, 1.0f});
  const auto loss = reduce_sum(c * w * x);
  const auto [dw, dc] = gradients(loss, w, c);  // of a constant too, as in TensorFlow
  const auto train = gradient_descent(1.0f).minimize(loss);
  session s{dw, dc, train};
  s.initialize();
  const std::vector<float> xs{1, 10, 100};
  const auto [by_w, by_c] = s.run(fetch(dw, dc), x = xs);
  CHECK(by_w == xt::xtensor<float, 1>{2, 30, 400});
  CHECK(by_c == xt::xtensor<float, 1>{1, 10, 100});
  s.run(fetch(train), x = xs);
  CHECK(s.value(w) == xt::xtensor<float, 1>{-1, -29, -399});
  CHECK(std::get<0>(s.run(fetch(dw), x = xs)) == xt::xtensor<float, 1>{2, 30, 400});
}

TEST_CASE("variables found in a loss bring what they start from along") {
  const auto x = placeholder<"x", float, 2>();
  const auto w = variable<"w">(std::array{3.0f, 4.0f});
  const auto b = variable<"b", float>(0.5f);
  const auto loss = reduce_sum(w * x * constant(std::array{10.0f, 20.0f})) + b;
  const auto optimizer = gradient_descent(1.0f);
  const auto pairs = optimizer.compute_gradients(loss);
  const auto train = optimizer.apply_gradients(pairs);
  session s{loss, train};
  s.initialize();
  s.run(fetch(train), x = std::vector<float>{1, 2});
  CHECK(s.value(w) == xt::xtensor<float, 1>{-7, -36});
  CHECK(s.value(b) == -0.5f);
}

TEST_CASE("a scope and a name, and threads that share an expression") {
  const auto layer = []<fixed_string Scope>(const auto& x, double first) {
    const auto kernel = variable<Scope / "kernel", float, 3, 3>(counted(9, first));
    return matmul(x, kernel) * constant<Scope / "mask", float, 3>({1, 0, 1});
  };
  const auto x = placeholder<"x", float, 2, 3>();
  const auto y = layer.template operator()<"second">(layer.template operator()<"first">(x, 0), 1);
  std::vector<std::thread> threads;
  std::array<float, 3> found{};
  for (float& f : found)
    threads.emplace_back([&f, y, x] {
      session s{y};
      s.initialize();
      for (int k = 0; k < 100; ++k) f = std::get<0>(s.run(fetch(y), x = rows))(1, 2);  // copies of what all of them hold
    });
  for (auto& t : threads) t.join();
  for (const float f : found) CHECK(f == 3 * 3 + 5 * 9);
}
