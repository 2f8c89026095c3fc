// Diagonals and bands of matrices: values, rectangular and empty matrices, gradients, errors.

#include <leat/ops/diagonals.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include <vector>

using namespace leat;
using namespace leat::literals;
using namespace leat_test;

TEST_CASE("diagonals of matrices, and matrices of diagonals") {
  const auto d = placeholder<"d", float, "rows", 3>();
  const auto x = placeholder<"x", float, 2, 3>();
  const auto v = placeholder<"v", float, 2>();
  const auto whole = matrix_diag(d);
  const auto part = matrix_diag_part(x);
  const auto set = matrix_set_diag(x, v);
  const auto tall = matrix_set_diag(transpose<1, 0>(x), v);
  const auto sum = trace(x);
  const auto back = matrix_diag_part(whole);
  const auto marks = matrix_diag(v < 5.0f);
  static_assert(decltype(whole)::rank == 3 && decltype(part)::extent[0] == 2 && decltype(sum)::rank == 0 &&
                decltype(marks)::type == dtype::boolean);
  session s{whole, part, set, tall, sum, back, marks};
  const xt::xtensor<float, 2> ds{{1, 2, 3}, {4, 5, 6}}, xs{{1, 2, 3}, {4, 5, 6}};
  const auto vs = std::vector<float>{9, 8};
  const auto [w, p, e, t, r, b, m] = s.run(fetch(whole, part, set, tall, sum, back, marks), d = ds, x = xs, v = vs);
  CHECK(w == xt::xtensor<float, 3>{{{1, 0, 0}, {0, 2, 0}, {0, 0, 3}}, {{4, 0, 0}, {0, 5, 0}, {0, 0, 6}}});
  CHECK(p == xt::xtensor<float, 1>{1, 5});
  CHECK(e == xt::xtensor<float, 2>{{9, 2, 3}, {4, 8, 6}});
  CHECK(t == xt::xtensor<float, 2>{{9, 4}, {2, 8}, {3, 6}});
  CHECK(r == 6);
  CHECK(b == ds);
  CHECK(!m(0, 0));
  const auto [none] = s.run(fetch(whole), d = xt::xtensor<float, 2>(std::array<std::size_t, 2>{0, 3}));
  CHECK(none.size() == 0);
}

TEST_CASE("bands of matrices") {
  const auto x = placeholder<"x", std::int32_t, 3, 4>();
  const auto below = matrix_band_part<-1, 0>(x);
  const auto above = matrix_band_part<0, -1>(x);
  const auto band = matrix_band_part<1, 2>(x);
  session s{below, above, band};
  const xt::xtensor<std::int32_t, 2> xs{{1, 2, 3, 4}, {5, 6, 7, 8}, {9, 10, 11, 12}};
  const auto [b, a, c] = s.run(fetch(below, above, band), x = xs);
  CHECK(b == xt::xtensor<std::int32_t, 2>{{1, 0, 0, 0}, {5, 6, 0, 0}, {9, 10, 11, 0}});
  CHECK(a == xt::xtensor<std::int32_t, 2>{{1, 2, 3, 4}, {0, 6, 7, 8}, {0, 0, 11, 12}});
  CHECK(c == xt::xtensor<std::int32_t, 2>{{1, 2, 3, 0}, {5, 6, 7, 8}, {0, 10, 11, 12}});
}

TEST_CASE("gradients of diagonals and bands, against differences") {
  const auto x = placeholder<"x", double, "n", 3, 4>();
  const auto q = placeholder<"q", double, "n", 3, 3>();
  const auto d = placeholder<"d", double, "n", 3>();
  const auto y = matrix_set_diag(x, d * d) + matrix_set_diag(matrix_band_part<1, 1>(x * x), matrix_diag_part(x * x * x));
  const auto loss = reduce_sum(y * y) + reduce_sum(square(trace(q * q))) + reduce_sum(square(matrix_diag(d)) * q);
  const auto [dx, dq, dd] = gradients(loss, x, q, d);
  session s{loss, dx, dq, dd};
  auto xs = filled<double, 3>({2, 3, 4}, -1, 1, 1), qs = filled<double, 3>({2, 3, 3}, -1, 1, 2);
  auto ds = filled<double, 2>({2, 3}, -1, 1, 3);
  const auto [gx, gq, gd] = s.run(fetch(dx, dq, dd), x = xs, q = qs, d = ds);
  const auto check = [&](auto& array, const auto& slope) {
    for (std::size_t i = 0; i < array.size(); ++i) {
      const auto moved = [&](double step) {
        const double held = array.data()[i];
        array.data()[i] += step;
        const double value = std::get<0>(s.run(fetch(loss), x = xs, q = qs, d = ds));
        array.data()[i] = held;
        return value;
      };
      CHECK(slope.data()[i] == doctest::Approx((moved(1e-5) - moved(-1e-5)) / 2e-5).epsilon(1e-6));
    }
  };
  check(xs, gx);
  check(qs, gq);
  check(ds, gd);
}

TEST_CASE("square matrices may have a name as both dimensions, others must have sizes") {
  const auto x = placeholder<"x", float, "n", "n">();
  const auto part = matrix_diag_part(x);
  const auto all = matrix_band_part<2, 0>(matrix_set_diag(x, part + 1.0f));
  session s{part, all};
  const xt::xtensor<float, 2> xs{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  const auto [p, a] = s.run(fetch(part, all), x = xs);
  CHECK(p == xt::xtensor<float, 1>{1, 5, 9});
  CHECK(a == xt::xtensor<float, 2>{{2, 0, 0}, {4, 6, 0}, {7, 8, 10}});
  const auto problem = [](auto infer, std::initializer_list<std::initializer_list<std::int64_t>> shapes,
                          std::vector<std::int64_t> numbers = {}) {
    std::vector<tensor_info> operands;
    for (const auto& sizes : shapes) {
      shape extent;
      for (const std::int64_t n : sizes) extent.push(n);
      operands.push_back({dtype::float32, extent});
    }
    return infer(operand_list{operands.data(), static_cast<int>(operands.size()), numbers.data(), static_cast<int>(numbers.size())})
        .problem;
  };
  CHECK(problem(&matrix_diag_part_op::infer, {{-5000, 3}}) == "rows and columns must be sizes that the compiler knows, or one name");
  CHECK(problem(&matrix_diag_part_op::infer, {{3}}) == "takes matrices, of rank 2 or more");
  CHECK(problem(&matrix_diag_op::infer, {{}}) == "a diagonal has at least rank 1");
  CHECK(problem(&matrix_diag_op::infer, {{1, 1, 1, 1, 1, 1, 1, 1}}) == "more than 8 dimensions");
  CHECK(problem(&matrix_set_diag_op::infer, {{2, 3}, {3}}) == "the diagonal has another shape than the main diagonals of the matrices");
  CHECK(problem(&matrix_band_part_op::infer, {{2, 3}}, {3, 0}) == "num_lower must be negative or less or equal to number of rows");
  CHECK(problem(&matrix_band_part_op::infer, {{2, 3}}, {2, 4}) == "num_upper must be negative or less or equal to number of columns");
}
