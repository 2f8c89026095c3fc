// Decompositions of matrices and systems of linear equations in graphs: values, gradients against differences, nodes of gradients as
// TensorFlow makes them, what is refused, and agreement with typed expressions.

#include <leat/graphs.hpp>
#include <leat/leat.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

namespace matrix_operator_tests {

using namespace leat;
using namespace node_results;

namespace {

const auto kind_of_error = [](std::string_view type, const std::vector<tensor_value>& arrays, const attribute_map& settings = {}) {
  return leat_test::message_of<invalid_argument>([&] { run_node(type, arrays, {}, settings); });
};
tensor_value matrix(const extents& of, const number_list& list) { return tensor_of(dtype::float64, of, list); }

/// A function of the first placeholder made symmetric and positive definite, for `check_gradient`, whose values are anywhere.
output positive(const output& x) {
  const auto square = matmul(x, x, {.transpose_a = false, .transpose_b = true});
  const auto n = static_cast<std::size_t>(x.extent()[x.extent().rank - 1]);
  std::vector<double> diagonal(n, 1.5);
  return square + call_operator(x.owner(), "MatrixDiag", {tensor_literal(diagonal)}, {}).result();
}
output one(std::string_view type, const std::vector<output>& in, const attribute_map& settings = {}) {
  std::vector<number_argument> inputs(in.begin(), in.end());
  return call_operator(in[0].owner(), type, inputs, settings).result();
}

}  // namespace

TEST_CASE("decompositions, systems, inverses and determinants: values by hand") {
  for (const dtype d : {dtype::float32, dtype::float64}) {
    const auto a = tensor_of(d, {2, 2}, {4, 99, 2, 3}), b = tensor_of(d, {2, 1}, {5, 6});
    check_near(list_of(run_node("Cholesky", {a}, {}, {})[0]), {2, 0, 1, std::sqrt(2.0)});
    const auto c = tensor_of(d, {2, 2}, {1, 2, 3, 4});
    check_near(list_of(run_node("MatrixSolve", {c, b}, {}, {})[0]), {-4, 4.5});
    check_near(list_of(run_node("MatrixSolve", {c, b}, {}, {{"adjoint", true}})[0]), {-1, 2});
    check_near(list_of(run_node("MatrixInverse", {c}, {}, {})[0]), {-2, 1, 1.5, -0.5});
    check_near(list_of(run_node("MatrixInverse", {c}, {}, {{"adjoint", true}})[0]), {-2, 1.5, 1, -0.5});
    check_near(list_of(run_node("MatrixTriangularSolve", {c, b}, {}, {{"lower", true}})[0]), {5, -2.25});
    check_near(list_of(run_node("MatrixTriangularSolve", {c, b}, {}, {{"lower", false}, {"adjoint", true}})[0]), {5, -1});
    check_near(list_of(run_node("MatrixDeterminant", {c}, {}, {})[0]), {-2});
    const auto both = run_node("LogMatrixDeterminant", {c}, {}, {});
    check_near(list_of(both[0]), {-1});
    check_near(list_of(both[1]), {std::log(2.0)});
    check_near(list_of(run_node("CholeskyGrad", {tensor_of(d, {2, 2}, {1, 0, 2, 3}), tensor_of(d, {2, 2}, {1, 5, 2, 3})}, {}, {})[0]),
               {0.5, 0, 0, 0.5});
  }
}

TEST_CASE("systems of matrices without an inverse, and of numbers that are none") {
  constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();
  const auto right = matrix({2, 1}, {1, 1});
  for (const auto& a : {matrix({2, 2}, {1, 2, 2, 4}), matrix({2, 2}, {0, 0, 0, 0}), matrix({2, 2}, {nan, 0, 0, 1})}) {
    CHECK(leat_test::says(kind_of_error("MatrixSolve", {a, right}), "Input matrix is not invertible."));
    CHECK(leat_test::says(kind_of_error("MatrixInverse", {a}), "Input is not invertible."));
  }
  CHECK(list_of(run_node("MatrixTriangularSolve", {matrix({2, 2}, {1, 0, 3, 0}), right}, {}, {})[0]) == number_list{1, -inf});
  for (const auto& a : {matrix({2, 2}, {1, 2, 2, 1}), matrix({1, 1}, {0}), matrix({3, 1, 1}, {1, 2, -1})})
    CHECK(std::isnan(list_of(run_node("Cholesky", {a}, {}, {})[0]).back()));
  CHECK(std::isnan(list_of(run_node("Cholesky", {matrix({2, 2}, {1, 0, 0, nan})}, {}, {})[0])[3]));
  CHECK(list_of(run_node("MatrixDeterminant", {matrix({2, 2}, {1, 2, 2, 4})}, {}, {})[0]) == number_list{0});
  const auto singular = run_node("LogMatrixDeterminant", {matrix({2, 2}, {1, 2, 2, 4})}, {}, {});
  CHECK(list_of(singular[0]) == number_list{0});
  CHECK(list_of(singular[1]) == number_list{-inf});
}

TEST_CASE("stacks without matrices, and matrices without elements") {
  const auto none = matrix({3, 0, 0}, {});
  CHECK(list_of(run_node("MatrixDeterminant", {none}, {}, {})[0]) == number_list{1, 1, 1});
  CHECK(list_of(run_node("LogMatrixDeterminant", {none}, {}, {})[0]) == number_list{1, 1, 1});
  CHECK(run_node("Cholesky", {none}, {}, {})[0].extent() == none.extent());
  CHECK(run_node("MatrixInverse", {matrix({0, 2, 2}, {})}, {}, {})[0].extent() == matrix({0, 2, 2}, {}).extent());
  CHECK(run_node("MatrixSolve", {matrix({2, 2}, {0, 0, 0, 0}), matrix({2, 0}, {})}, {}, {})[0].extent() == matrix({2, 0}, {}).extent());
  CHECK(run_node("MatrixSolve", {matrix({0, 0}, {}), matrix({0, 3}, {})}, {}, {})[0].extent() == matrix({0, 3}, {}).extent());
}

TEST_CASE("shapes that do not fit are refused") {
  const auto square = matrix({2, 2}, {1, 2, 3, 4}), wide = matrix({2, 3}, {1, 2, 3, 4, 5, 6}), line = matrix({2}, {1, 2});
  for (const char* type : {"Cholesky", "MatrixInverse", "MatrixDeterminant", "LogMatrixDeterminant"}) {
    CHECK(leat_test::says(kind_of_error(type, {wide}), "Input matrix must be square."));
    CHECK(!kind_of_error(type, {line}).empty());
  }
  CHECK(leat_test::says(kind_of_error("MatrixSolve", {wide, square}), "First input (lhs) must be a square matrix."));
  CHECK(leat_test::says(kind_of_error("MatrixSolve", {square, matrix({3, 1}, {1, 2, 3})}), "Input matrix and rhs are incompatible."));
  CHECK(leat_test::says(kind_of_error("MatrixSolve", {square, line}), "All input tensors must have the same rank."));
  CHECK(leat_test::says(kind_of_error("MatrixSolve", {matrix({1, 2, 2}, {1, 2, 3, 4}), matrix({2, 2, 1}, {1, 2, 3, 4})}),
                        "All input tensors must have the same outer dimensions."));
  CHECK(leat_test::says(kind_of_error("MatrixTriangularSolve", {square, line}), "In[1] ndims must be >= 2"));
  CHECK(leat_test::says(kind_of_error("MatrixTriangularSolve", {square, matrix({3, 1}, {1, 2, 3})}), "In[0] mismatch In[1] shape"));
  CHECK(leat_test::says(kind_of_error("MatrixTriangularSolve", {matrix({2, 1, 1}, {1, 2}), matrix({3, 1, 1}, {1, 2, 3})}),
                        "must have compatible batch dimensions"));
  CHECK(!leat_test::message_of<error>([&] { run_node("Cholesky", {tensor_of(dtype::int32, {2, 2}, {1, 0, 0, 1})}, {}, {}); }).empty());
}

TEST_CASE("gradients against differences") {
  for (const bool adjoint : {false, true}) {
    const attribute_map turned{{"adjoint", adjoint}};
    check_gradient({{2, 3, 3}, {2, 3, 2}}, [&](const auto& in) { return one("MatrixSolve", {positive(in[0]), in[1]}, turned); });
    check_gradient({{3, 3}}, [&](const auto& in) { return one("MatrixInverse", {positive(in[0])}, turned); });
    for (const bool lower : {false, true}) {
      const attribute_map both{{"adjoint", adjoint}, {"lower", lower}};
      check_gradient({{3, 3}, {3, 2}}, [&](const auto& in) { return one("MatrixTriangularSolve", {positive(in[0]), in[1]}, both); });
      check_gradient({{3, 3}, {2, 3, 2}}, [&](const auto& in) { return one("MatrixTriangularSolve", {positive(in[0]), in[1]}, both); });
    }
  }
  check_gradient({{3, 3}}, [](const auto& in) { return one("Cholesky", {positive(in[0])}); });
  check_gradient({{2, 2, 3, 3}}, [](const auto& in) { return one("Cholesky", {positive(in[0])}); });
  check_gradient({{3, 3}}, [](const auto& in) { return one("MatrixDeterminant", {in[0]}); });
  check_gradient({{4, 2, 2}}, [](const auto& in) { return one("MatrixDeterminant", {in[0]}); });
  check_gradient({{4, 3, 3}}, [](const auto& in) { return call_operator(in[0].owner(), "LogMatrixDeterminant", {in[0]}, {}).result(1); });
}

namespace {

/// a b of stacks of matrices, either of which may be transposed.
number_list times(const tensor_value& a, const tensor_value& b, bool ta, bool tb) {
  return list_of(run_node("BatchMatMulV2", {a, b}, {}, {{"adj_x", ta}, {"adj_y", tb}})[0]);
}
tensor_value scaled_columns(const tensor_value& a, const tensor_value& by) {
  number_list list = list_of(a);
  const number_list factors = list_of(by);
  const auto n = factors.size();
  for (std::size_t i = 0; i < list.size(); ++i) list[i] *= factors[i % n];
  return matrix({a.extent()[0], a.extent()[1]}, list);
}

}  // namespace

TEST_CASE("decompositions with several results: products of the parts") {
  for (const extents& of : std::vector<extents>{{3, 2}, {2, 3}, {4, 4}, {1, 1}, {9, 3}})
    for (const bool full : {false, true}) {
      const auto a = matrix(of, random_values(of[0] * of[1], 7));
      const auto qr = run_node("Qr", {a}, {}, {{"full_matrices", full}});
      check_near(times(qr[0], qr[1], false, false), list_of(a), 1e-12);
      CHECK(qr[0].extent()[1] == (full ? of[0] : std::min(of[0], of[1])));
      const auto svd = run_node("Svd", {a}, {}, {{"full_matrices", full}});
      CHECK(svd[1].extent()[1] == (full ? of[0] : std::min(of[0], of[1])));
      CHECK(svd[2].extent()[1] == (full ? of[1] : std::min(of[0], of[1])));
      if (!full) check_near(times(scaled_columns(svd[1], svd[0]), svd[2], false, true), list_of(a), 1e-12);
      const auto alone = run_node("Svd", {a}, {}, {{"compute_uv", false}});
      check_near(list_of(alone[0]), list_of(svd[0]), 1e-12);
    }
  const auto even = matrix({3, 3}, {4, 1, 2, 1, 3, 0, 2, 0, 5});
  const auto eigen = run_node("SelfAdjointEigV2", {even}, {}, {});
  check_near(times(scaled_columns(eigen[1], eigen[0]), eigen[1], false, true), list_of(even), 1e-12);
  check_near(list_of(run_node("SelfAdjointEigV2", {even}, {}, {{"compute_v", false}})[0]), list_of(eigen[0]), 1e-12);
  for (const dtype index : {dtype::int32, dtype::int64}) {
    const auto lu = run_node("Lu", {tensor_of(dtype::float32, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 10})}, {}, {{"output_idx_type", index}});
    check_near(list_of(lu[0]), {7, 8, 10, 0.142857, 0.857143, 1.571429, 0.571429, 0.5, -0.5});
    CHECK(lu[1].type() == index);
    CHECK(list_of(lu[1]) == number_list{2, 0, 1});
  }
}

TEST_CASE("values of TensorFlow 2.21") {
  const auto tall = matrix({3, 2}, {3, 1, 4, 2, 0, 5});
  const auto qr = run_node("Qr", {tall}, {}, {{"full_matrices", true}});
  check_near(list_of(qr[0]),
             {-0.6, 0.06379617782631186, 0.7974522228289, -0.8, -0.047847133369733896, -0.5980891671216749, 0.0, -0.996815278536125,
              0.07974522228288994},
             1e-12);
  check_near(list_of(qr[1]), {-5.0, -2.2, 0.0, -5.015974481593781, 0.0, 0.0}, 1e-12);
  check_near(list_of(run_node("Svd", {tall}, {}, {})[0]), {6.227400274005074, 4.027342278391734}, 1e-12);
  const auto a = matrix({3, 2}, {1, 2, 3, 4, 5, 6}), b = matrix({3, 1}, {1, 2, 4});
  const auto number = [](double v) { return matrix({}, {v}); };
  check_near(list_of(run_node("MatrixSolveLs", {a, b, number(0.1)}, {}, {})[0]), {0.5647840531561485, 0.16309272123225418}, 1e-11);
  check_near(list_of(run_node("MatrixSolveLs", {a, b, number(0.1)}, {}, {{"fast", false}})[0]), {0.6666666666666681, 0.08333333333333216},
             1e-11);
  check_near(list_of(run_node("MatrixSolveLs", {matrix({2, 3}, {1, 2, 3, 3, 4, 9}), matrix({2, 1}, {1, 2}), number(0.1)}, {}, {})[0]),
             {0.013458950201883924, 0.4037685060565299, 0.04037685060565166}, 1e-10);
  check_near(list_of(run_node("MatrixSolveLs", {matrix({3, 2}, {1, 2, 2, 4, 3, 6}), b, number(0)}, {}, {{"fast", false}})[0]),
             {0.24285714285714288, 0.48571428571428577}, 1e-11);
  check_near(list_of(run_node("MatrixExponential", {matrix({2, 2}, {1, 2, 2, 4})}, {}, {})[0]),
             {30.482631820515156, 58.96526364103029, 58.96526364103031, 118.9305272820606}, 1e-12);
}

TEST_CASE("what decompositions with several results refuse") {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const auto wide = matrix({2, 3}, {1, 2, 3, 4, 5, 6}), bad = matrix({2, 2}, {nan, 0, 0, 1}), line = matrix({2}, {1, 2});
  for (const char* type : {"SelfAdjointEigV2", "Lu", "MatrixExponential"})
    CHECK(leat_test::says(kind_of_error(type, {wide}), "Input matrix must be square."));
  for (const char* type : {"SelfAdjointEigV2", "Lu", "Qr", "Svd"}) CHECK(!kind_of_error(type, {line}).empty());
  CHECK(leat_test::says(kind_of_error("SelfAdjointEigV2", {bad}), "Self-adjoint eigen decomposition was not successful."));
  CHECK(leat_test::says(kind_of_error("Lu", {bad}), "Input is not invertible."));
  CHECK(leat_test::says(kind_of_error("Lu", {matrix({2, 2}, {1, 2, 2, 4})}), "Input is not invertible."));
  for (const double v : list_of(run_node("Svd", {bad}, {}, {})[0])) CHECK(std::isnan(v));
  const auto a = matrix({3, 2}, {1, 2, 2, 4, 3, 6}), b = matrix({3, 1}, {1, 2, 4}), zero = matrix({}, {0});
  CHECK(leat_test::says(kind_of_error("MatrixSolveLs", {a, b, zero}), "rank deficient or ill-conditioned"));
  CHECK(leat_test::says(kind_of_error("MatrixSolveLs", {a, b, matrix({}, {-1})}), "l2_regularizer must be >= 0."));
  CHECK(leat_test::says(kind_of_error("MatrixSolveLs", {a, matrix({2, 1}, {1, 2}), zero}), "Input matrix and rhs are incompatible."));
  CHECK(leat_test::says(kind_of_error("MatrixSolveLs", {a, b, matrix({1}, {0})}), "l2_regularizer must be scalar"));
}

TEST_CASE("matrices of no elements whose results no memory holds") {
  const auto tall = matrix({std::int64_t{1} << 40, 0}, {}), many = matrix({std::int64_t{1} << 43, 0, 0}, {});
  for (const char* type : {"Qr", "Svd"}) {
    const std::string message = leat_test::message_of<error>([&] { run_node(type, {tall}, {}, {{"full_matrices", true}}); });
    CHECK(!message.empty());
  }
  for (const char* type : {"MatrixDeterminant", "LogMatrixDeterminant"})
    CHECK(!leat_test::message_of<error>([&] { run_node(type, {many}, {}, {}); }).empty());
  // Any number of matrices of nothing gives as many of nothing.
  for (const char* type : {"Lu", "Qr", "SelfAdjointEigV2", "Svd", "Cholesky", "MatrixInverse", "MatrixExponential"})
    CHECK(run_node(type, {many}, {}, {})[0].elements() == 0);
}

TEST_CASE("several results of no elements") {
  const auto none = matrix({3, 0, 2}, {}), empty = matrix({3, 2, 0}, {}), square = matrix({3, 0, 0}, {});
  CHECK(run_node("Qr", {none}, {}, {{"full_matrices", true}})[1].extent() == none.extent());
  CHECK(list_of(run_node("Qr", {matrix({1, 2, 0}, {})}, {}, {{"full_matrices", true}})[0]) == number_list{1, 0, 0, 1});
  CHECK(list_of(run_node("Svd", {matrix({1, 0, 2}, {})}, {}, {{"full_matrices", true}})[2]) == number_list{1, 0, 0, 1});
  CHECK(run_node("SelfAdjointEigV2", {square}, {}, {})[1].extent() == square.extent());
  CHECK(run_node("Lu", {square}, {}, {})[0].extent() == square.extent());
  CHECK(list_of(run_node("MatrixSolveLs", {matrix({0, 2}, {}), matrix({0, 1}, {}), matrix({}, {0})}, {}, {})[0]) == number_list{0, 0});
}

TEST_CASE("gradients of several results against differences") {
  const auto of = [](const output& x) { return x * x; };  // without the signs of vectors
  const auto sum = [](const std::vector<output>& all) {
    output total = reduce_sum(all[0]);
    for (std::size_t k = 1; k < all.size(); ++k) total = total + reduce_sum(all[k]);
    return total * 0.1;
  };
  const auto node = [](std::string_view type, const output& x, const attribute_map& settings = {}) {
    return call_operator(x.owner(), type, {x}, settings);
  };
  check_gradient({{3, 3}}, [&](const auto& in) {
    const auto both = node("SelfAdjointEigV2", positive(in[0]));
    return sum({both.result(0), of(of(both.result(1)))});
  });
  check_gradient({{2, 3, 3}}, [&](const auto& in) { return node("SelfAdjointEigV2", positive(in[0]), {{"compute_v", false}}).result(0); });
  for (const extents& s : std::vector<extents>{{3, 3}, {4, 3}, {2, 3}, {2, 3, 2}}) {
    check_gradient({s}, [&](const auto& in) {
      const auto both = node("Qr", in[0]);
      return sum({both.result(0), both.result(1)});
    });
    check_gradient({s}, [&](const auto& in) {
      const auto all = node("Svd", in[0]);
      return sum({all.result(0), of(of(all.result(1))), of(of(all.result(2)))});
    });
    check_gradient({s}, [&](const auto& in) { return node("Svd", in[0], {{"compute_uv", false}}).result(0); });
    check_gradient({s}, [&](const auto& in) {
      const auto all = node("Svd", in[0], {{"full_matrices", true}});
      return sum({all.result(0), of(of(all.result(1))), of(of(all.result(2)))});
    });
  }
  for (const auto& [a, b] : std::vector<std::pair<extents, extents>>{{{3, 2}, {3, 2}}, {{2, 3}, {2, 1}}, {{2, 3, 2}, {2, 3, 1}}})
    check_gradient(
        {a, b}, [&](const auto& in) { return call_operator(in[0].owner(), "MatrixSolveLs", {in[0], in[1], constant(0.3)}, {}).result(); });
  check_gradient({{3, 3}}, [&](const auto& in) { return one("MatrixExponential", {in[0]}) * 0.1; });
  const auto refused = [&](std::string_view type, const extents& s, const attribute_map& settings) {
    return leat_test::message_of<unimplemented>(
        [&] { check_gradient({s}, [&](const auto& in) { return node(type, in[0], settings).result(0); }); });
  };
  CHECK(leat_test::says(refused("Qr", {3, 2}, {{"full_matrices", true}}), "QrGrad not implemented when nrows > ncols"));
  CHECK(leat_test::says(refused("Svd", {4, 2}, {{"full_matrices", true}}), "svd gradient is not implemented for abs(m - n) > 1"));
}

TEST_CASE("typed expressions of matrices become graphs that give the same") {
  using namespace leat::literals;
  const auto a = leat::placeholder<"a", double, 2, 3, 3>();
  const auto b = leat::placeholder<"b", double, 2, 3, 2>();
  const auto [sign, logarithm] = log_determinant(a);
  const auto [q, r] = qr(b);
  const auto [values, vectors] = symmetric_eigen(a);
  const auto [s, u, v] = svd(b);
  const auto one = reduce_sum(cholesky(a)) + reduce_sum(solve(a, b)) + reduce_sum(inverse(a)) + reduce_sum(determinant(a)) +
                   reduce_sum(logarithm * sign) + reduce_sum(triangular_solve<false>(a, b));
  const auto two = reduce_sum(q) + reduce_sum(r) + reduce_sum(values) + reduce_sum(square(vectors)) + reduce_sum(s) +
                   reduce_sum(square(u)) + reduce_sum(square(v)) + reduce_sum(symmetric_eigenvalues(a)) + reduce_sum(singular_values(b)) +
                   trace(reduce_sum<0>(a)) + reduce_sum(expm(a * 0.1_c));
  const auto [da] = leat::gradients(one, a);
  const auto slope = reduce_sum(square(da));
  number_list first = random_values(18, 5), second = random_values(12, 6);
  for (std::size_t m = 0; m < 2; ++m)
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < i; ++j) first[9 * m + 3 * i + j] = first[9 * m + 3 * j + i];
      first[9 * m + 4 * i] = 6 + static_cast<double>(i);
    }
  xt::xtensor<double, 3> as = xt::xtensor<double, 3>::from_shape({2, 3, 3}), bs = xt::xtensor<double, 3>::from_shape({2, 3, 2});
  std::copy(first.begin(), first.end(), as.data());
  std::copy(second.begin(), second.end(), bs.data());
  session typed{one, two, slope};
  const auto [one_wanted, two_wanted, slope_wanted] = typed.run(fetch(one, two, slope), a = as, b = bs);
  graph g;
  const auto scope = g.as_default();
  const auto made = to_graph(one, two, slope);
  graph_session dynamic(g);
  const auto got = dynamic.run({std::get<output>(made[0]), std::get<output>(made[1]), std::get<output>(made[2])},
                               {{"a:0", matrix({2, 3, 3}, first)}, {"b:0", matrix({2, 3, 2}, second)}});
  CHECK(list_of(got[0])[0] == doctest::Approx(one_wanted));
  CHECK(list_of(got[1])[0] == doctest::Approx(two_wanted));
  CHECK(list_of(got[2])[0] == doctest::Approx(slope_wanted));
}

}  // namespace matrix_operator_tests
