#include <leat/session/typed/bind.hpp>

#include "support/check.hpp"
#include "support/messages.hpp"

#include <xtensor/xadapt.hpp>
#include <xtensor/xarray.hpp>
#include <xtensor/xbuilder.hpp>
#include <xtensor/xfixed.hpp>
#include <xtensor/xview.hpp>

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("feeds of every kind that xtensor has") {
  const auto x = placeholder<"x", float, "rows", 6>();
  const auto doubled = x * 2_c;
  session s{doubled};
  const auto whole = filled<float, 2>({8, 12});
  const auto expect = [&](const auto& fed, auto at) {
    const auto [got] = s.run(fetch(doubled), x = fed);
    REQUIRE(got.shape()[0] == fed.shape()[0]);
    check_each("doubled", got, 0, [&](std::size_t i) { return 2 * at(i / 6, i % 6); });
  };
  const xt::xtensor<float, 2> tensor = xt::view(whole, xt::all(), xt::range(0, 6));
  const auto of_tensor = [&](std::size_t i, std::size_t j) { return tensor(i, j); };
  expect(tensor, of_tensor);
#if LEAT_TEST_XARRAY
  expect(xt::xarray<float>(tensor), of_tensor);
  expect(xt::xarray<float, xt::layout_type::column_major>(tensor), of_tensor);
#endif
  expect(xt::xtensor<float, 2, xt::layout_type::column_major>(tensor), of_tensor);
#if LEAT_TEST_XARRAY
  expect(xt::xarray<float, xt::layout_type::dynamic>(xt::xarray<float, xt::layout_type::column_major>(tensor)), of_tensor);
#endif
  expect(xt::xtensor_fixed<float, xt::xshape<8, 6>>(tensor), of_tensor);
  // views: rows together, columns apart, steps, rows of a column-major array, a view of a view
  const auto rows = xt::view(tensor, xt::range(2, 5), xt::all());
  expect(rows, [&](std::size_t i, std::size_t j) { return tensor(i + 2, j); });
  const auto columns = xt::view(whole, xt::all(), xt::range(3, 9));
  expect(columns, [&](std::size_t i, std::size_t j) { return whole(i, j + 3); });
  const auto stepped = xt::view(whole, xt::range(0, 8, 3), xt::range(0, 12, 2));
  expect(stepped, [&](std::size_t i, std::size_t j) { return whole(3 * i, 2 * j); });
  const xt::xtensor<float, 2, xt::layout_type::column_major> across = tensor;
  const auto part = xt::view(across, xt::range(1, 3), xt::all());
  expect(part, [&](std::size_t i, std::size_t j) { return tensor(i + 1, j); });
  const auto nested = xt::view(columns, xt::range(1, 4), xt::all());
  expect(nested, [&](std::size_t i, std::size_t j) { return whole(i + 1, j + 3); });
  // foreign memory
  std::vector<float> memory(tensor.data(), tensor.data() + tensor.size());
  const auto adapted = xt::adapt(memory, std::array<std::size_t, 2>{8, 6});
  expect(adapted, of_tensor);
  const auto pointed = xt::adapt(memory.data(), 18, xt::no_ownership(), std::array<std::size_t, 2>{3, 6});
  expect(pointed, of_tensor);
  const auto empty = xt::xtensor<float, 2>::from_shape({0, 6});
  expect(empty, of_tensor);
}

TEST_CASE("feeds from flat ranges, whose length fits the shape") {
  const auto x = placeholder<"x", double, "n", 3>();
  const auto y = placeholder<"y", double, 4>();
  const auto sums = reduce_sum<1>(x);
  const auto total = reduce_sum(y);
  session s{sums, total};
  const std::vector<double> six{1, 2, 3, 4, 5, 6};
  const std::array<double, 4> four{1, 2, 3, 4};
  const auto [a, b] = s.run(fetch(sums, total), x = six, y = four);
  CHECK(a == xt::xtensor<double, 1>{6, 15});
  CHECK(b == 10);
  const auto [c] = s.run(fetch(sums), x = std::span(six).subspan(3));
  CHECK(c == xt::xtensor<double, 1>{15});
  std::vector<double> changing{1, 1, 1};
  const std::span<double> seen(changing);
  const auto [d] = s.run(fetch(sums), x = seen);
  CHECK(d == xt::xtensor<double, 1>{3});
  const std::vector<double> five(5, 1.0);
  CHECK_THROWS_AS(s.run(fetch(sums), x = five), invalid_argument);
  CHECK_THROWS_AS(s.run(fetch(total), y = five), invalid_argument);
  // a dimension that the fetches do not need
  const auto [e] = s.run(fetch(total), y = four, x = six);
  CHECK(e == 10);
  CHECK_THROWS_AS(s.run(fetch(total), y = four, x = five), invalid_argument);
}

TEST_CASE("numbers as feeds, converted") {
  const auto x = placeholder<"x", float>();
  const auto n = placeholder<"n", std::int64_t>();
  const auto b = placeholder<"b", bool>();
  const auto y = select(b, x * 2_c, cast<float>(n));
  session s{y};
  CHECK(std::get<0>(s.run(fetch(y), x = 1.25, n = 3, b = true)) == 2.5f);
  CHECK(std::get<0>(s.run(fetch(y), x = 1.25f, n = std::int64_t{3}, b = false)) == 3.0f);
  CHECK(std::get<0>(s.run(fetch(y), x = 7, n = 3, b = true)) == 14.0f);
  const xt::xtensor<float, 0> zero_dimensional(1.5f);
  CHECK(std::get<0>(s.run(fetch(y), x = zero_dimensional, n = 3, b = true)) == 3.0f);
}

TEST_CASE("feeds of bool and bytes") {
  const auto b = placeholder<"b", bool, "n">();
  const auto u = placeholder<"u", std::uint8_t, "n">();
  const auto y = reduce_sum(select(b, cast<std::int32_t>(u), 0_c));
  session s{y};
  const auto [v] = s.run(fetch(y), b = xt::xtensor<bool, 1>{true, false, true}, u = std::vector<std::uint8_t>{200, 3, 100});
  CHECK(v == 300);
  const bool flags[]{false, true};
  const std::uint8_t bytes[]{9, 8};
  CHECK(std::get<0>(s.run(fetch(y), b = std::span(flags), u = std::span(bytes))) == 8);
}

TEST_CASE("a named dimension changes between runs") {
  const auto x = placeholder<"x", double, "rows", "columns">();
  const auto y = reduce_sum<0>(x) + 1_c;
  const auto p = matmul<true, false>(x, x);
  session s{y, p};
  for (const std::size_t rows : {5, 1, 0, 64, 5, 200, 2})
    for (const std::size_t columns : {3, 40, 1}) {
      const auto xs = filled<double, 2>({rows, columns});
      const auto [ys, ps] = s.run(fetch(y, p), x = xs);
      check_each("y", ys, 1e-13, [&](std::size_t j) {
        double sum = 1;
        for (std::size_t i = 0; i < rows; ++i) sum += xs(i, j);
        return sum;
      });
      check_each("p", ps, 1e-12, [&](std::size_t at) {
        double sum = 0;
        for (std::size_t i = 0; i < rows; ++i) sum += xs(i, at / columns) * xs(i, at % columns);
        return sum;
      });
    }
}

TEST_CASE("feeds that do not fit say which, and leave the session as it was") {
  const auto x = placeholder<"x", float, "batch", 4>();
  const auto y = placeholder<"y", float, "batch">();
  const auto v = variable<"v", float>(1.0f);
  const auto step = assign_add(v, reduce_sum(squeeze<1>(reduce_sum_keep<1>(x)) * y));
  session s{step};
  s.initialize();
  const xt::xtensor<float, 2> xs({3, 4}, 1.0f);
  const xt::xtensor<float, 1> ys({3}, 1.0f);
  const xt::xtensor<float, 1> longer({5}, 1.0f);
  const xt::xtensor<float, 2> wider({3, 5}, 1.0f);
#if LEAT_TEST_XARRAY
  const xt::xarray<float> deeper(std::vector<std::size_t>{3, 4, 1}, 1.0f);
#endif
  const auto two_sizes = message_of<invalid_argument>([&] { s.run(fetch(step), x = xs, y = longer); });
  CHECK_MESSAGE(says(two_sizes, "named dimension \"batch\" has size 3 in one feed and 5 in that of \"y\""), two_sizes);
  const auto size = message_of<invalid_argument>([&] { s.run(fetch(step), x = wider, y = ys); });
  CHECK_MESSAGE(says(size, "\"x\""), size);
  CHECK_MESSAGE(says(size, "float32 [batch, 4]"), size);
  CHECK_MESSAGE(says(size, "[3, 5]"), size);
#if LEAT_TEST_XARRAY
  const auto rank = message_of<invalid_argument>([&] { s.run(fetch(step), x = deeper, y = ys); });
  CHECK_MESSAGE(says(rank, "[3, 4, 1]"), rank);
#endif
  CHECK(s.value(v) == 1);
  s.run(fetch(step), x = xs, y = ys);
  CHECK(s.value(v) == 13);
}

TEST_CASE("one name for two dimensions of one feed") {
  const auto x = placeholder<"x", float, "n", "n">();
  const auto y = x + transpose(x);
  session s{y};
  const auto xs = filled<float, 2>({5, 5});
  const auto [ys] = s.run(fetch(y), x = xs);
  check_each("y", ys, 0, [&](std::size_t i) { return xs(i / 5, i % 5) + xs(i % 5, i / 5); });
  CHECK_THROWS_AS(s.run(fetch(y), x = filled<float, 2>({5, 6})), invalid_argument);
}

TEST_CASE("fetches into arrays of the user's") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto y = x * 2_c;
  const auto total = reduce_sum(x);
  session s{y, total};
  const auto xs = filled<float, 2>({4, 3});
  const auto check = [&](const auto& got) {
    REQUIRE(got.size() == 12);
    const float* values = got.data();
    for (std::size_t i = 0; i < 12; ++i) CHECK(values[i] == 2 * xs.data()[i]);
  };
  xt::xtensor<float, 2> tensor;
  float number = 0;
  const auto nothing = s.run(fetch(into(y, tensor), into(total, number)), x = xs);
  static_assert(std::tuple_size_v<decltype(nothing)> == 0);
  check(tensor);
  CHECK(tensor.shape()[0] == 4);
  CHECK(number == doctest::Approx(std::get<0>(s.run(fetch(total), x = xs))));
  const float* before = tensor.data();
  s.run(fetch(into(y, tensor)), x = xs);
  CHECK(tensor.data() == before);
#if LEAT_TEST_XARRAY
  xt::xarray<float> array;
  s.run(fetch(into(y, array)), x = xs);
  check(array);
#endif
  std::vector<float> vector;
  s.run(fetch(into(y, vector)), x = xs);
  check(vector);
  std::array<float, 12> fixed{};
  s.run(fetch(into(y, fixed)), x = xs);
  check(fixed);
  float memory[12]{};
  std::span<float> span(memory);
  s.run(fetch(into(y, span)), x = xs);
  check(span);
  float* pointer = memory;
  auto adapted = xt::adapt(pointer, 12, xt::no_ownership(), std::array<std::size_t, 2>{4, 3});
  s.run(fetch(into(y, adapted)), x = xs);
  check(adapted);
  xt::xtensor<float, 2> large({10, 3}, -1.0f);
  auto view = xt::view(large, xt::range(5, 9), xt::all());
  s.run(fetch(into(y, view)), x = xs);
  for (std::size_t i = 0; i < 4; ++i)
    for (std::size_t j = 0; j < 3; ++j) CHECK(large(i + 5, j) == 2 * xs(i, j));
  CHECK(large(4, 2) == -1);
  CHECK(large(9, 0) == -1);
  // one kind beside another, and twice the same
  xt::xtensor<float, 2> first, second;
  const auto [third] = s.run(fetch(into(y, first), y, into(y, second)), x = xs);
  check(first);
  check(second);
  check(third);
}

TEST_CASE("arrays that cannot hold a fetch") {
  const auto x = placeholder<"x", float, "n", 3>();
  const auto y = x * 2_c;
  session s{y};
  const auto xs = filled<float, 2>({4, 3});
  std::array<float, 11> small{};
  CHECK_THROWS_AS(s.run(fetch(into(y, small)), x = xs), invalid_argument);
  xt::xtensor<float, 2> large({10, 6}, -1.0f);
  auto apart = xt::view(large, xt::range(0, 4), xt::range(0, 3));
  CHECK_THROWS_AS(s.run(fetch(into(y, apart)), x = xs), invalid_argument);
  auto other = xt::view(large, xt::range(0, 3), xt::all());
  CHECK_THROWS_AS(s.run(fetch(into(y, other)), x = xs), invalid_argument);
  CHECK(std::get<0>(s.run(fetch(y), x = xs)).size() == 12);
}

TEST_CASE("leaves, views and numbers can be fetched, and one expression twice") {
  const auto x = placeholder<"x", double, 3, 2>();
  const auto w = variable<"w", double, 2>(ones);
  const auto t = transpose(x);
  const auto c = constant<2.5>();
  const auto rate = parameter<"rate">(0.25);
  session s{x, w, t, c, rate};
  s.initialize();
  const auto xs = filled<double, 2>({3, 2});
  const auto [x1, w1, t1, c1, r1, x2] = s.run(fetch(x, w, t, c, rate, x), x = xs);
  check_close("x", x1, xs, 0);
  check_close("x again", x2, xs, 0);
  check_each("w", w1, 0, [](std::size_t) { return 1; });
  check_each("t", t1, 0, [&](std::size_t i) { return xs(i % 3, i / 3); });
  CHECK(c1 == 2.5);
  CHECK(r1 == 0.25);
}
