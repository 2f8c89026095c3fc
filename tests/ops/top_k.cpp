// The largest elements of rows, and rows from several arrays: values, order of equal elements, gradients, errors.

#include <leat/ops/top_k.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <limits>
#include <tuple>
#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("the largest elements of each row, in order, and their positions") {
  const auto x = placeholder<"x", float, "rows", 5>();
  const auto [values, places] = top_k<3>(x);
  const auto [one, its_place] = top_k<1>(x);
  const auto [none, no_place] = top_k<0>(x);
  const auto whole = cast<std::int32_t>(x);
  const auto [integers, their_places] = top_k<5>(whole);
  static_assert(decltype(values)::type == dtype::float32 && decltype(places)::type == dtype::int32);
  static_assert(decltype(values)::extent[1] == 3 && decltype(values)::rank == 2);
  session s{values, places, one, its_place, none, no_place, integers, their_places};
  const xt::xtensor<float, 2> given{{1, 5, 2, 5, -3}, {0, 0, 0, 0, 0}};
  const auto [v, p, o, i, n, m, w, t] = s.run(fetch(values, places, one, its_place, none, no_place, integers, their_places), x = given);
  CHECK(v == xt::xtensor<float, 2>{{5, 5, 2}, {0, 0, 0}});
  CHECK(p == xt::xtensor<std::int32_t, 2>{{1, 3, 2}, {0, 1, 2}});
  CHECK(o == xt::xtensor<float, 2>{{5}, {0}});
  CHECK(i == xt::xtensor<std::int32_t, 2>{{1}, {0}});
  CHECK(n.size() == 0);
  CHECK(m.size() == 0);
  CHECK(w == xt::xtensor<std::int32_t, 2>{{5, 5, 2, 1, -3}, {0, 0, 0, 0, 0}});
  CHECK(t == xt::xtensor<std::int32_t, 2>{{1, 3, 2, 0, 4}, {0, 1, 2, 3, 4}});
  const float nan = std::numeric_limits<float>::quiet_NaN(), most = std::numeric_limits<float>::infinity();
  const auto [q] = s.run(fetch(places), x = xt::xtensor<float, 2>{{1, nan, most, -most, nan}});
  CHECK(q == xt::xtensor<std::int32_t, 2>{{1, 4, 2}});
  const auto [e] = s.run(fetch(values), x = xt::xtensor<float, 2>(std::array<std::size_t, 2>{0, 5}));
  CHECK(e.size() == 0);
}

TEST_CASE("items of other devices find what sorting finds") {
  const std::vector<std::int64_t> numbers{1, 6, 2, 40, 9, 2, 40, 6};
  const auto given = filled<std::int32_t, 2>({40, 9}, -4, 5, 3);
  std::vector<std::int32_t> by_sorting(240, -1), by_items(240, -2);
  void* p[]{const_cast<std::int32_t*>(given.data()), by_sorting.data()};
  const kernels::step_numbers n(numbers.data());
  kernels::top_places_kernel<std::int32_t, std::int32_t>(p, n).run_all();
  p[1] = by_items.data();
  const kernels::top_places_kernel<std::int32_t, std::int32_t> items(p, n);
  for (std::int64_t k = 0; k < items.items(); ++k) items(k);
  CHECK(by_sorting == by_items);
}

TEST_CASE("the largest elements pass gradients to where they stand") {
  const auto x = placeholder<"x", double, "n", 2, 4>();
  const auto v = placeholder<"v", double, 5>();
  const auto [values, places] = top_k<2>(x);
  const auto [of_vector, unused] = top_k<3>(v);
  const auto [dx, dv] = gradients(reduce_sum(values * values) + reduce_sum(of_vector * of_vector * of_vector), x, v);
  session s{values, dx, dv};
  const auto given = filled<double, 3>({3, 2, 4}, -1, 1, 2);
  const auto line = xt::xtensor<double, 1>{3, 1, 5, 4, -2};
  const auto [vs, d, e] = s.run(fetch(values, dx, dv), x = given, v = line);
  CHECK(e == xt::xtensor<double, 1>{27, 0, 75, 48, 0});
  for (std::size_t i = 0; i < 3; ++i)
    for (std::size_t j = 0; j < 2; ++j)
      for (std::size_t k = 0; k < 4; ++k) {
        const double here = given(i, j, k);
        CHECK(d(i, j, k) == (here >= vs(i, j, 1) ? 2 * here : 0));
      }
}

TEST_CASE("rows are stitched by index") {
  const auto i = placeholder<"i", std::int32_t, 2>();
  const auto j = placeholder<"j", std::int32_t, "k", 2>();
  const auto a = placeholder<"a", double, 2, 3>();
  const auto b = placeholder<"b", double, "k", 2, 3>();
  const auto rows = dynamic_stitch<7>(std::tuple(i, j), std::tuple(a, b));
  const auto one = dynamic_stitch<2>(std::tuple(constant<1>()), std::tuple(a));
  static_assert(decltype(rows)::extent[0] == 7 && decltype(rows)::extent[1] == 3 && decltype(one)::rank == 3);
  const auto [da, db] = gradients(reduce_sum(rows * rows), a, b);
  session s{rows, one, da, db};
  const xt::xtensor<double, 2> as{{1, 2, 3}, {4, 5, 6}};
  const xt::xtensor<double, 3> bs{{{7, 8, 9}, {10, 11, 12}}};
  const auto [r, o, d, e] =
      s.run(fetch(rows, one, da, db), i = std::vector<std::int32_t>{5, 0}, j = xt::xtensor<std::int32_t, 2>{{2, 5}}, a = as, b = bs);
  CHECK(r == xt::xtensor<double, 2>{{4, 5, 6}, {0, 0, 0}, {7, 8, 9}, {0, 0, 0}, {0, 0, 0}, {10, 11, 12}, {0, 0, 0}});
  CHECK(o == xt::xtensor<double, 3>{{{0, 0, 0}, {0, 0, 0}}, {{1, 2, 3}, {4, 5, 6}}});
  CHECK(d == xt::xtensor<double, 2>{{20, 22, 24}, {8, 10, 12}});  // as TensorFlow's: that of the row, also for what was replaced
  CHECK(e == xt::xtensor<double, 3>{{{14, 16, 18}, {20, 22, 24}}});
  const auto wrong = [&](std::int32_t index) {
    s.run(fetch(rows), i = std::vector<std::int32_t>{5, index}, j = xt::xtensor<std::int32_t, 2>{{2, 5}}, a = as, b = bs);
  };
  CHECK_THROWS_WITH_AS(wrong(7), "indices[0][1] = 7 is out of range [0, 7)", invalid_argument);
  CHECK_THROWS_AS(wrong(-1), invalid_argument);
  const auto empty =
      s.run(fetch(rows), i = std::vector<std::int32_t>{1, 0}, j = xt::xtensor<std::int32_t, 2>(std::array<std::size_t, 2>{0, 2}), a = as,
            b = xt::xtensor<double, 3>(std::array<std::size_t, 3>{0, 2, 3}));
  CHECK(std::get<0>(empty)(1, 0) == 1);
}

TEST_CASE("what does not fit is refused in words") {
  const auto problem = [](auto infer, const std::vector<tensor_info>& operands, const std::vector<std::int64_t>& numbers) {
    return infer(operand_list{operands.data(), static_cast<int>(operands.size()), numbers.data(), static_cast<int>(numbers.size())})
        .problem;
  };
  const auto of = [](std::initializer_list<std::int64_t> sizes, dtype t = dtype::float32) {
    shape s;
    for (const std::int64_t n : sizes) s.push(n);
    return tensor_info{t, s};
  };
  const auto top = [&](const tensor_info& x, std::int64_t k) { return problem(&top_places_op::infer, {x}, {k}); };
  CHECK(top(of({2, 5}), 5).empty());
  CHECK(top(of({2, -1}), 5).empty());
  CHECK(top(of({2, 5}), 6) == "input must have at least k columns");
  CHECK(top(of({2, 5}), -1) == "Need k >= 0");
  CHECK(top(of({}), 0) == "input must be >= 1-D");
  CHECK(top(of({2, 5}, dtype::boolean), 1) == "takes numbers, not bool");
  CHECK(top(of({2, -5000}), 1) == "the last dimension has a name, and the compiler does not know whether it has k elements");
  const auto stitch = [&](const tensor_info& data, const tensor_info& at, std::int64_t rows) {
    return problem(&dynamic_stitch_op::infer, {data, at}, {rows, 1});
  };
  CHECK(stitch(of({2, 3}), of({2}, dtype::int32), 4).empty());
  CHECK(stitch(of({2, 3}), of({3}, dtype::int32), 4) == "the shape of an array does not start with that of its indices");
  CHECK(stitch(of({2}), of({2, 3}, dtype::int32), 4) == "the shape of an array does not start with that of its indices");
  CHECK(stitch(of({2, 3}), of({2}, dtype::int64), 4) == "indices are int32");
  CHECK(stitch(of({2, 3}), of({2}, dtype::int32), -1) == "the number of rows is negative");
  CHECK(stitch(of({2, 3}), of({2}, dtype::int32), std::int64_t{1} << 44) == "a result of more than 2^44 elements");
  CHECK(problem(&dynamic_stitch_op::infer, {of({2, 3}), of({2, 4}), of({2}, dtype::int32), of({2}, dtype::int32)}, {4, 2}) ==
        "the arrays differ in shape behind that of their indices");
}
