// The largest elements of rows, stitched rows and diagonals of typed expressions against the same expressions in a graph with names, whose
// nodes are TensorFlow's.

#include "support/agreement.hpp"
#include "support/check.hpp"

#include <doctest/doctest.h>

#include <leat/vmap.hpp>

using namespace leat;
using namespace leat::literals;

namespace {

// The types of a graph's nodes, each with a space before it.
std::string types_of(const graph& g) {
  std::string names;
  for (int i = 0; i < g.size(); ++i) names += " " + std::string(g.at(i).op->type);
  return names + " ";
}

}  // namespace

TEST_CASE("the largest elements, their positions and gradients agree with those of graphs") {
  const auto x = placeholder<"x", float, "batch", 6>();
  const auto w = variable<"w", float, 6>(random_uniform(0.5, 2, 1));
  const auto scaled = x * w;
  const auto [values, places] = top_k<3>(scaled);
  const auto loss = reduce_sum(values * values * values);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, values, places, loss);
  both.copy(w);
  const std::string types = types_of(both.dynamic().owner());
  CHECK(types.find(" TopKV2 ") != std::string::npos);
  CHECK(types.find(" TopKV2 ") == types.rfind(" TopKV2 "));
  for (const std::size_t n : {2u, 5u, 1u}) {
    const auto rows = leat_test::filled<float, 2>({n, 6}, -1, 1, n);
    CHECK(both.look({{"x:0", tensor_value(rows)}}, x = rows) < 1e-6);
    both.train({{"x:0", tensor_value(rows)}}, x = rows);
    CHECK(both.of(w) < 1e-6);
  }
}

TEST_CASE("stitched rows and diagonals agree with those of graphs") {
  const auto x = placeholder<"x", float, 3, 2>();
  const auto y = placeholder<"y", float, 2, 2>();
  const auto w = variable<"w", float, 2>(random_uniform(0.5, 2, 1));
  const auto rows = dynamic_stitch<4>(std::tuple(constant<"at", std::int32_t, 3>({2, 0, 2}), constant<"last", std::int32_t, 2>({3, 1})),
                                      std::tuple(x * w, y * w));
  const auto whole = matrix_diag(w * w) + y;
  const auto set = matrix_set_diag(rows, matrix_diag_part(rows) * w);
  const auto lower = matrix_band_part<-1, 0>(set);
  const auto loss = reduce_sum(rows * rows) + reduce_sum(whole * whole) + reduce_sum(lower * lower * lower) + trace(whole * y);
  const auto train = gradient_descent(0.01f).minimize(loss);
  leat_test::both_sessions both(train, rows, whole, set, lower, loss);
  both.copy(w);
  const std::string types = types_of(both.dynamic().owner());
  for (const char* type : {" DynamicStitch ", " MatrixDiag ", " MatrixDiagPart ", " MatrixSetDiag ", " MatrixBandPart "}) {
    CAPTURE(type);
    CHECK(types.find(type) != std::string::npos);
  }
  const auto xs = leat_test::filled<float, 2>({3, 2}, -1, 1, 1), ys = leat_test::filled<float, 2>({2, 2}, -1, 1, 2);
  for (int k = 0; k < 2; ++k) {
    CHECK(both.look({{"x:0", tensor_value(xs)}, {"y:0", tensor_value(ys)}}, x = xs, y = ys) < 1e-6);
    both.train({{"x:0", tensor_value(xs)}, {"y:0", tensor_value(ys)}}, x = xs, y = ys);
    CHECK(both.of(w) < 1e-6);
  }
}

TEST_CASE("many models each have their own largest elements and diagonals") {
  const auto xs = placeholder<"xs", float, 4, 3, 3>();
  const auto each = vmap([](const auto& x) {
    const auto [values, places] = top_k<2>(x);
    return reduce_sum(values) + trace(matrix_band_part<0, 1>(x)) + reduce_sum(matrix_set_diag(x, reduce_max<1>(x))) +
           reduce_sum(matrix_diag(matrix_diag_part(x)) * x);
  })(xs);
  const auto one = [](const auto& x) {
    const auto [values, places] = top_k<2>(x);
    return reduce_sum<1, 2>(values) + trace(matrix_band_part<0, 1>(x)) + reduce_sum<1, 2>(matrix_set_diag(x, reduce_max<2>(x))) +
           reduce_sum<1, 2>(matrix_diag(matrix_diag_part(x)) * x);
  }(xs);
  session s{each, one};
  const auto given = leat_test::filled<float, 3>({4, 3, 3}, -1, 1, 7);
  const auto [a, b] = s.run(fetch(each, one), xs = given);
  for (std::size_t i = 0; i < 4; ++i) CHECK(a(i) == doctest::Approx(b(i)));
}
