// Trained models and sessions' state on each of Thrust's systems for the host.

#include "models.hpp"
#include "systems.hpp"

using namespace leat_test;

TEST_CASE_TEMPLATE("linear regression", Device, LEAT_TEST_SYSTEMS) { check_linear_regression<Device>(); }

TEST_CASE_TEMPLATE("a network with gradient descent", Device, LEAT_TEST_SYSTEMS) {
  check_network<Device>(gradient_descent(0.1_c));
}

TEST_CASE_TEMPLATE("a network with Adam", Device, LEAT_TEST_SYSTEMS) { check_network<Device>(adam(0.01_c)); }

TEST_CASE_TEMPLATE("variables and numbers", Device, LEAT_TEST_SYSTEMS) { check_state<Device>(); }
TEST_CASE_TEMPLATE("constant arrays", Device, LEAT_TEST_SYSTEMS) { check_constant_arrays<Device>(); }

TEST_CASE_TEMPLATE("errors", Device, LEAT_TEST_SYSTEMS) { check_errors<Device>(); }
