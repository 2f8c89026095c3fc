// Decompositions of matrices and systems of linear equations in graphs: values, gradients against differences, nodes of gradients as
// TensorFlow makes them, what is refused, and agreement with typed expressions.

#include <leat/graphs.hpp>
#include <leat/session/graph_session.hpp>

#include "support/messages.hpp"
#include "support/node_results.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>

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
  const std::string not_positive = "Cholesky decomposition was not successful. The input might not be valid.";
  for (const auto& a : {matrix({2, 2}, {1, 2, 2, 1}), matrix({1, 1}, {0}), matrix({3, 1, 1}, {1, 2, -1})})
    CHECK(leat_test::says(kind_of_error("Cholesky", {a}), not_positive));
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
  check_gradient({{4, 3, 3}}, [](const auto& in) {
    return call_operator(in[0].owner(), "LogMatrixDeterminant", {in[0]}, {}).result(1);
  });
}
