// Operators on each of Thrust's systems for the host.

#include "operators.hpp"
#include "systems.hpp"

using namespace leat_test;

TEST_CASE_TEMPLATE("elements, broadcasting and casts", Device, LEAT_TEST_SYSTEMS) { check_elements<Device>(); }

TEST_CASE_TEMPLATE("reductions", Device, LEAT_TEST_SYSTEMS) { check_reductions<Device>(); }

TEST_CASE_TEMPLATE("softmax and cross entropies", Device, LEAT_TEST_SYSTEMS) { check_softmax<Device>(); }

TEST_CASE_TEMPLATE("parts, positions and rows of arrays", Device, LEAT_TEST_SYSTEMS) { check_arrays<Device>(); }

TEST_CASE_TEMPLATE("other orders, index tuples and contractions", Device, LEAT_TEST_SYSTEMS) { check_lookups<Device>(); }

TEST_CASE_TEMPLATE("products", Device, LEAT_TEST_SYSTEMS) { check_products<Device>(); }

TEST_CASE_TEMPLATE("systems and decompositions of matrices", Device, LEAT_TEST_SYSTEMS) {
  check_matrices<Device, 3>();
  check_matrices<Device, 9>();
}

TEST_CASE_TEMPLATE("convolutions and pools", Device, LEAT_TEST_SYSTEMS) { check_images<Device>(); }

TEST_CASE_TEMPLATE("products of stacks", Device, LEAT_TEST_SYSTEMS) { check_stacks<Device>(); }

TEST_CASE_TEMPLATE("random numbers", Device, LEAT_TEST_SYSTEMS) { check_random<Device>(); }

TEST_CASE_TEMPLATE("largest elements, stitched rows and diagonals", Device, LEAT_TEST_SYSTEMS) { check_rows<Device>(); }

TEST_CASE_TEMPLATE("operators of a program", Device, LEAT_TEST_SYSTEMS) { check_own_operators<Device>(); }

TEST_CASE_TEMPLATE("resized images, blocks and mirror images", Device, LEAT_TEST_SYSTEMS) { check_other_images<Device>(); }

TEST_CASE_TEMPLATE("volumes", Device, LEAT_TEST_SYSTEMS) { check_volumes<Device>(); }
