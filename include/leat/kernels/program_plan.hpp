#pragma once
// The plan of a program (kernels/plan.hpp) for given sizes of its named dimensions. It is recomputed only when a named dimension changes
// its size. This is plain code over the program's integers, which all programs and devices share.

#include <leat/core/function_bodies.hpp>
#include <leat/kernels/plan.hpp>

namespace leat {

/// Plans a program for the sizes of its named dimensions.
void make_plan(const std::int64_t* data, const std::int64_t* sizes, const chunk_limits& limits, program_plan& out);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/kernels/impl/program_plan.hpp>
#endif
