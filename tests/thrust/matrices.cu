// Systems of equations and decompositions of matrices on a GPU. By themselves, because nvcc writes each algorithm into each kernel that uses
// it: this file is compiled fast rather than well.

#include "operators.hpp"

using namespace leat_test;

TEST_CASE("systems and decompositions of matrices") { check_matrices<leat::thrust_cuda, 3>(); }
