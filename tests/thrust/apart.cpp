// The way a GPU goes, its copies and its cut into work items, on any machine.

#include "apart.hpp"
#include "models.hpp"
#include "operators.hpp"

using namespace leat_test;

TEST_CASE("memory apart: models") {
  check_linear_regression<apart_device>();
  check_network<apart_device>(gradient_descent(0.1_c));
  check_network<apart_device>(adam(0.01_c));
  check_state<apart_device>();
  check_constant_arrays<apart_device>();
  check_errors<apart_device>();
  check_recordings<apart_device>();
}

TEST_CASE("memory apart: operators") {
  check_elements<apart_device>();
  check_reductions<apart_device>();
  check_softmax<apart_device>();
  check_arrays<apart_device>();
  check_products<apart_device>();
  check_lookups<apart_device>();
  check_stacks<apart_device>();
  check_matrices<apart_device, 3>();
  check_images<apart_device>();
  check_random<apart_device>();
  check_rows<apart_device>();
  check_own_operators<apart_device>();
  check_volumes<apart_device>();
  check_other_images<apart_device>();
}
