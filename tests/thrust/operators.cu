// Operators on a GPU.

#include "operators.hpp"

using namespace leat_test;

TEST_CASE("elements, broadcasting and casts") { check_elements<leat::thrust_cuda>(); }

TEST_CASE("reductions") { check_reductions<leat::thrust_cuda>(); }

TEST_CASE("softmax and cross entropies") { check_softmax<leat::thrust_cuda>(); }

TEST_CASE("parts, positions and rows of arrays") { check_arrays<leat::thrust_cuda>(); }

TEST_CASE("other orders, index tuples and contractions") { check_lookups<leat::thrust_cuda>(); }

TEST_CASE("products") { check_products<leat::thrust_cuda>(); }

TEST_CASE("convolutions and pools") { check_images<leat::thrust_cuda>(); }

TEST_CASE("products of stacks") { check_stacks<leat::thrust_cuda>(); }

TEST_CASE("random numbers") { check_random<leat::thrust_cuda>(); }

TEST_CASE("largest elements, stitched rows and diagonals") { check_rows<leat::thrust_cuda>(); }

TEST_CASE("operators of a program") { check_own_operators<leat::thrust_cuda>(); }

TEST_CASE("resized images, blocks and mirror images") { check_other_images<leat::thrust_cuda>(); }

TEST_CASE("volumes") { check_volumes<leat::thrust_cuda>(); }
