#include <leat/session/typed/session.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <xtensor/xarray.hpp>

#include <cstdint>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("the first values of variables") {
  const auto z = variable<"z", float, 3, 4>(zeros);
  const auto o = variable<"o", std::int32_t, 5>(ones);
  const auto n = variable<"n", double>(0.1);
  const auto i = variable<"i", std::uint8_t, 2>(200);
  const auto u = variable<"u", float, 100, 100>(random_uniform(-2, 3, 1));
  const auto m = variable<"m", double, 10000>(random_normal(5, 2, 1));
  const auto t = variable<"t", float, 10000>(truncated_normal(1, 0.5, 1));
  const auto g = variable<"g", float, 30, 70>(glorot_uniform(1));
  session s{z, o, n, i, u, m, t, g};
  CHECK(s.uninitialized().size() == 8);
  s.initialize();
  CHECK(s.uninitialized().empty());
  check_each("zeros", s.value(z), 0, [](std::size_t) { return 0; });
  check_each("ones", s.value(o), 0, [](std::size_t) { return 1; });
  CHECK(s.value(n) == 0.1);
  check_each("bytes", s.value(i), 0, [](std::size_t) { return 200; });
  const auto us = s.value(u);
  const auto ms = s.value(m);
  const auto ts = s.value(t);
  const auto gs = s.value(g);
  const double bound = std::sqrt(6.0 / 100);
  double sum_u = 0, sum_m = 0, squares_m = 0, sum_t = 0;
  for (std::size_t k = 0; k < 10000; ++k) {
    sum_u += static_cast<double>(us.data()[k]);
    sum_m += ms(k);
    squares_m += (ms(k) - 5) * (ms(k) - 5);
    sum_t += static_cast<double>(ts(k));
    REQUIRE((us.data()[k] >= -2 && us.data()[k] < 3));
    REQUIRE(std::abs(ts(k) - 1) <= 1.0f);
  }
  for (std::size_t k = 0; k < gs.size(); ++k) REQUIRE(std::abs(static_cast<double>(gs.data()[k])) <= bound);
  CHECK(sum_u / 10000 == doctest::Approx(0.5).epsilon(0.1));
  CHECK(sum_m / 10000 == doctest::Approx(5).epsilon(0.02));
  CHECK(std::sqrt(squares_m / 10000) == doctest::Approx(2).epsilon(0.03));
  CHECK(sum_t / 10000 == doctest::Approx(1).epsilon(0.02));
  // anew, and in another session, the same numbers; under another name or seed others
  s.initialize();
  check_close("again", s.value(u), us, 0);
  const auto other_name = variable<"other", float, 100, 100>(random_uniform(-2, 3, 1));
  session second{u, other_name};
  second.initialize();
  check_close("second", second.value(u), us, 0);
  CHECK(second.value(other_name)(0, 0) != us(0, 0));
  const auto other_seed = variable<"u", float, 100, 100>(random_uniform(-2, 3, 2));
  session third{other_seed};
  third.initialize();
  CHECK(third.value(other_seed)(0, 0) != us(0, 0));
}

TEST_CASE("some variables first, the others later") {
  const auto v = variable<"v", float>(1.0f);
  const auto w = variable<"w", float, 2>(ones);
  const auto sum = v + w;
  const auto set = assign(w, v + broadcast_to<2>(constant<3.0f>()));
  session s{sum, set};
  CHECK(s.uninitialized() == std::vector<std::string>{"v", "w"});
  CHECK(!s.is_initialized(v));
  const auto early = message_of<failed_precondition>([&] { s.run(fetch(sum)); });
  CHECK_MESSAGE(says(early, "\"v\""), early);
  CHECK_THROWS_AS(s.value(v), failed_precondition);
  s.initialize(v);
  CHECK(s.is_initialized(v));
  CHECK(!s.is_initialized(w));
  CHECK(s.uninitialized() == std::vector<std::string>{"w"});
  CHECK_THROWS_AS(s.run(fetch(sum)), failed_precondition);
  CHECK(!s.is_initialized(w));
  s.run(fetch(set));  // a step that only writes it
  CHECK(s.is_initialized(w));
  CHECK(s.uninitialized().empty());
  CHECK(std::get<0>(s.run(fetch(sum)))(1) == 5);
  s.initialize(w, v);
  CHECK(std::get<0>(s.run(fetch(sum)))(1) == 2);
}

TEST_CASE("values from the host and to it") {
  const auto w = variable<"w", float, 2, 3>(zeros);
  const auto b = variable<"b", double>(0.0);
  const auto n = variable<"n", std::int64_t, 3>(zeros);
  const auto y = reduce_sum(w);
  session s{y, b, n};
  const auto ws = filled<float, 2>({2, 3});
  s.assign(w, ws);
  s.assign(b, 2.5);
  s.assign(n, std::vector<std::int64_t>{1, 2, 3});
  CHECK(s.uninitialized().empty());
  check_close("w", s.value(w), ws, 0);
  CHECK(s.value(b) == 2.5);
  CHECK(s.value(n) == xt::xtensor<std::int64_t, 1>{1, 2, 3});
  s.assign(w, xt::xtensor<float, 2, xt::layout_type::column_major>(ws * 2.0f));
  check_each("w", s.value(w), 0, [&](std::size_t i) { return 2 * ws.data()[i]; });
  const auto wrong = message_of<invalid_argument>([&] { s.assign(w, xt::xtensor<float, 2>({3, 2}, 1.0f)); });
  CHECK_MESSAGE(says(wrong, "\"w\""), wrong);
  CHECK_MESSAGE(says(wrong, "float32 [2, 3]"), wrong);
  CHECK_MESSAGE(says(wrong, "[3, 2]"), wrong);
  CHECK_THROWS_AS(s.assign(w, std::vector<float>(5)), invalid_argument);
#if LEAT_TEST_XARRAY
  CHECK_THROWS_AS(s.assign(n, xt::xarray<std::int64_t>(std::vector<std::size_t>{3, 1}, 1)), invalid_argument);
#endif
  check_each("w", s.value(w), 0, [&](std::size_t i) { return 2 * ws.data()[i]; });
  s.initialize();
  check_each("w", s.value(w), 0, [](std::size_t) { return 0; });
}

TEST_CASE("a label or an index out of range is refused before anything is written") {
  const auto table = variable<"table", float, 5, 3>(ones);
  const auto count = variable<"count", std::int32_t>(0);
  const auto ids = placeholder<"ids", std::int32_t, "n">();
  const auto labels = placeholder<"labels", std::int64_t, "n">();
  const auto rows = gather(table, ids);
  const auto loss = reduce_mean(sparse_softmax_cross_entropy_with_logits(labels, rows));
  const auto [dtable] = gradients(loss, table);
  const auto step = group(assign_sub(table, dtable), assign_add(count, 1_c));
  session s{loss, step, rows};
  s.initialize();
  using numbers = xt::xtensor<std::int32_t, 1>;
  using classes = xt::xtensor<std::int64_t, 1>;
  const auto index = message_of<invalid_argument>([&] { s.run(fetch(step), ids = numbers{0, 5}, labels = classes{0, 1}); });
  CHECK_MESSAGE(says(index, "5"), index);
  CHECK_THROWS_AS(s.run(fetch(rows), ids = numbers{-1}), invalid_argument);
  const auto label = message_of<invalid_argument>([&] { s.run(fetch(step), ids = numbers{0, 4}, labels = classes{0, 3}); });
  CHECK_MESSAGE(says(label, "3"), label);
  CHECK_THROWS_AS(s.run(fetch(loss, step), ids = numbers{0, 4}, labels = classes{-1, 0}), invalid_argument);
  CHECK(s.value(count) == 0);
  check_each("table", s.value(table), 0, [](std::size_t) { return 1; });
  const auto [l] = s.run(fetch(loss, step), ids = numbers{0, 4}, labels = classes{2, 0});
  CHECK(l == doctest::Approx(std::log(3.0)));
  CHECK(s.value(count) == 1);
  CHECK(s.value(table)(0, 2) > 1);
}

TEST_CASE("a variable fetched together with its update gives the old value") {
  const auto v = variable<"v", double, 20>(1.0);
  const auto x = placeholder<"x", double, 20>();
  const auto up = assign_add(v, x);
  session s{v, up};
  s.initialize();
  const auto xs = filled<double, 1>({20});
  const auto [before, after_] = s.run(fetch(v, up), x = xs);
  check_each("before", before, 0, [](std::size_t) { return 1; });
  check_each("after", after_, 0, [&](std::size_t i) { return 1 + xs(i); });
  const auto [later, before_that] = s.run(fetch(up, v), x = xs);
  check_each("before", before_that, 0, [&](std::size_t i) { return 1 + xs(i); });
  check_each("after", later, 0, [&](std::size_t i) { return 1 + xs(i) + xs(i); });
}

TEST_CASE("what sees a variable through views, and does not wait, sees its value before the step's writes") {
  const auto w = variable<"w", double, 2, 3>(1.0);
  const auto u = variable<"u", double, 2>(0.0);
  const auto x = placeholder<"x", double, 2, 3>();
  const auto up = assign(w, x);
  const auto turned = transpose(w);
  const auto row = slice<begins<0, 0>, sizes<1, 2>>(w);
  const auto flat = reshape<6>(w);
  const auto counted = assign_add(u, u * 0_c + 1_c);
  // They are computed behind the write of u, and could be behind that of w.
  const auto late = turned * counted;
  const auto product = matmul(turned, reshape<2, 1>(counted));
  const auto both = row + slice<begins<0, 0>, sizes<1, 2>>(up);
  const auto waiting = after(w, up);
  const auto turned_too_early = after(turned, up);
  const auto by_product = assign_sub(w, matmul(reshape<2, 1>(u), reshape<1, 3>(slice<begins<0, 0>, sizes<1, 3>>(x))));
  session s{turned, row, flat, late, product, both, waiting, turned_too_early, up, by_product};
  const auto xs = filled<double, 2>({2, 3}, 100, 200);
  const auto one = [](std::size_t) { return 1; };
  const auto begin = [&] {
    s.assign(w, std::vector<double>(6, 1.0));
    s.assign(u, std::vector<double>(2, 0.0));
  };
  s.initialize();
  {
    const auto [a, b, c, now] = s.run(fetch(turned, row, flat, up), x = xs);
    check_each("transpose", a, 0, one);
    check_each("slice", b, 0, one);
    check_each("reshape", c, 0, one);
    check_each("written", now, 0, [&](std::size_t i) { return xs.data()[i]; });
  }
  begin();
  {
    const auto [a, b, c, now] = s.run(fetch(late, product, both, up), x = xs);
    check_each("transpose, later", a, 0, one);
    check_each("product, later", b, 0, [](std::size_t) { return 2; });
    check_each("before and after", c, 0, [&](std::size_t i) { return 1 + xs.data()[i]; });
    check_each("written", now, 0, [&](std::size_t i) { return xs.data()[i]; });
  }
  begin();
  {
    const auto [a, b] = s.run(fetch(waiting, turned_too_early), x = xs);
    check_each("what waits", a, 0, [&](std::size_t i) { return xs.data()[i]; });
    check_each("an expression that waits", b, 0, one);
  }
  begin();
  s.assign(u, std::vector<double>(2, 1.0));
  {
    const auto [a, b, c] = s.run(fetch(turned, flat, by_product), x = xs);
    check_each("transpose", a, 0, one);
    check_each("reshape", b, 0, one);
    check_each("a product subtracted", c, 0, [&](std::size_t i) { return 1 - xs.data()[i % 3]; });
  }
}

TEST_CASE("prepared runs see what their arrays hold when they are called") {
  const auto x = placeholder<"x", float, "n">();
  const auto total = variable<"total", float>(0.0f);
  const auto sum = reduce_sum(x);
  const auto add = assign_add(total, sum);
  const auto done = group(add);
  session s{sum, done};
  s.initialize();
  xt::xtensor<float, 1> xs{1, 2, 3};
  std::vector<float> more{1};
  const auto step = s.prepare(fetch(sum, done), x = xs);
  auto [a] = step();
  CHECK(a == 6);
  xs(0) = 10;
  CHECK(std::get<0>(step()) == 15);
  xs = xt::xtensor<float, 1>{4};  // another size
  CHECK(std::get<0>(step()) == 4);
  CHECK(s.value(total) == 25);
  float result = 0;
  const auto other = s.prepare(fetch(into(sum, result)), x = more);
  other();
  CHECK(result == 1);
  more.push_back(5);
  other();
  CHECK(result == 6);
}

TEST_CASE("parameters are numbers with a name, fed for one run or set for all") {
  const auto x = placeholder<"x", float, 3>();
  const auto rate = parameter<"rate">(0.5f);
  const auto count = parameter<"count">(std::int32_t{3});
  const auto y = rate * x + cast<float>(count);
  session s{y};
  const xt::xtensor<float, 1> xs{1, 2, 3};
  const auto at = [&](const auto& result, float r, float c) {
    check_each("y", std::get<0>(result), 1e-7, [&](std::size_t i) { return r * xs(i) + c; });
  };
  at(s.run(fetch(y), x = xs), 0.5f, 3);
  at(s.run(fetch(y), x = xs, rate = 0.25f), 0.25f, 3);
  at(s.run(fetch(y), x = xs, count = 7), 0.5f, 7);
  at(s.run(fetch(y), x = xs), 0.5f, 3);
  s.assign(rate, 2.0f);
  at(s.run(fetch(y), x = xs), 2, 3);
  at(s.run(fetch(y), x = xs, rate = 1.0f), 1, 3);
  at(s.run(fetch(y), x = xs), 2, 3);
  // the other session has its own
  session other{y};
  at(other.run(fetch(y), x = xs), 0.5f, 3);
}

TEST_CASE("several models and sessions in one function, of one name and of one expression") {
  const auto small = [] {
    const auto x = placeholder<"x", float, 2>();
    const auto w = variable<"w", float, 2>(ones);
    return std::tuple(x, w, reduce_sum(x * w));
  };
  const auto [x, w, y] = small();
  const auto other = variable<"w", double, 3>(2.0);
  const auto z = reduce_prod(other);
  session first{y};
  session second{y};
  session third{z};
  first.initialize();
  second.initialize();
  third.initialize();
  first.assign(w, xt::xtensor<float, 1>{5, 5});
  const xt::xtensor<float, 1> xs{1, 1};
  CHECK(std::get<0>(first.run(fetch(y), x = xs)) == 10);
  CHECK(std::get<0>(second.run(fetch(y), x = xs)) == 2);
  CHECK(std::get<0>(third.run(fetch(z))) == 8);
  const auto [x2, w2, y2] = small();  // the same model again
  static_assert(std::is_same_v<decltype(y), decltype(y2)>);
  CHECK(std::get<0>(first.run(fetch(y2), x2 = xs)) == 10);
}

TEST_CASE("linear regression finds the line, step by step") {
  const auto x = placeholder<"x", double, "batch", 2>();
  const auto y = placeholder<"y", double, "batch">();
  const auto w = variable<"w", double, 2, 1>(zeros);
  const auto b = variable<"b", double>(0.0);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) + b - y));
  const auto [dw, db] = gradients(loss, w, b);
  const auto train = group(assign_sub(w, 0.3 * dw), assign_sub(b, 0.3 * db));
  session s{loss, train};
  s.initialize();
  const auto xs = filled<double, 2>({50, 2});
  auto ys = xt::xtensor<double, 1>::from_shape({50});
  for (std::size_t i = 0; i < 50; ++i) ys(i) = 3 * xs(i, 0) - 2 * xs(i, 1) + 0.5;
  double last = 1e300;
  for (int step = 0; step < 400; ++step) {
    const auto [l] = s.run(fetch(loss, train), x = xs, y = ys);
    REQUIRE(l < last + 1e-30);
    last = l;
  }
  CHECK(s.value(w)(0, 0) == doctest::Approx(3).epsilon(1e-6));
  CHECK(s.value(w)(1, 0) == doctest::Approx(-2).epsilon(1e-6));
  CHECK(s.value(b) == doctest::Approx(0.5).epsilon(1e-6));
}

TEST_CASE("denormal numbers are zero in a run of any size, and the mode is restored") {
  const auto before = cpu::float_mode::current();
  volatile float small = 1.5e-38f;
  const auto x = placeholder<"x", float, "n">();
  const auto one = placeholder<"one", float>();
  const auto y = x * 0.5_c;
  const auto least = one * 0.5_c;          // becomes denormal
  const auto large = one * 1e30_c;         // of a denormal
  session s{y, least, large};
  for (const std::size_t n : {std::size_t{1}, std::size_t{5000}}) {
    const xt::xtensor<float, 1> xs({n}, 1.5e-38f);
    const auto [ys] = s.run(fetch(y), x = xs);
    CHECK(ys(n - 1) == 0);
  }
  const auto [a] = s.run(fetch(least), one = static_cast<float>(small));
  CHECK(a == 0);
  const auto [b] = s.run(fetch(large), one = 1e-40f);
  CHECK(b == 0);
  const float given = 1.5e-38f;
  const auto step = s.prepare(fetch(least), one = given);
  {
    const denormals_as_zero here;
    CHECK(std::get<0>(step()) == 0);
  }
  CHECK(std::get<0>(step()) == 0);
  CHECK(before == cpu::float_mode::current());
  CHECK(small * 0.5f > 0);
}

TEST_CASE("the bytes of intermediate results") {
  const auto x = placeholder<"x", float, "n", 100>();
  const auto w = variable<"w", float, 100, 100>(ones);
  const auto y = matmul(matmul(matmul(x, w), w), w);
  session s{y};
  s.initialize();
  s.run(fetch(y), x = filled<float, 2>({10, 100}));
  const auto ten = s.arena_bytes(fetch(y));
  CHECK(ten >= 4000);
  CHECK(ten <= 3 * 4096);
  s.run(fetch(y), x = filled<float, 2>({20, 100}));
  CHECK(s.arena_bytes(fetch(y)) >= 2 * 4000);
}
