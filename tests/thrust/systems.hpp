#pragma once
// The systems that this program was built with, for TEST_CASE_TEMPLATE.

#include "compare.hpp"

#define LEAT_TEST_SERIAL leat::thrust_serial
#if defined(LEAT_THRUST_OMP)
#define LEAT_TEST_OMP , leat::thrust_omp
#else
#define LEAT_TEST_OMP
#endif
#if defined(LEAT_THRUST_TBB)
#define LEAT_TEST_TBB , leat::thrust_tbb
#else
#define LEAT_TEST_TBB
#endif
#define LEAT_TEST_SYSTEMS LEAT_TEST_SERIAL LEAT_TEST_OMP LEAT_TEST_TBB
