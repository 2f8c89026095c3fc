// Trained models and sessions' state on a GPU.

#include "models.hpp"

using namespace leat_test;

TEST_CASE("linear regression") { check_linear_regression<leat::thrust_cuda>(); }

TEST_CASE("a network with gradient descent") { check_network<leat::thrust_cuda>(gradient_descent(0.1_c)); }

TEST_CASE("a network with Adam") { check_network<leat::thrust_cuda>(adam(0.01_c)); }

TEST_CASE("rows of a table with Adagrad and momentum") {
  check_rows<leat::thrust_cuda>(adagrad(0.1_c));
  check_rows<leat::thrust_cuda>(momentum(0.1_c, 0.9_c));
}

TEST_CASE("variables and numbers") { check_state<leat::thrust_cuda>(); }

TEST_CASE("constant arrays") { check_constant_arrays<leat::thrust_cuda>(); }

TEST_CASE("errors") { check_errors<leat::thrust_cuda>(); }
