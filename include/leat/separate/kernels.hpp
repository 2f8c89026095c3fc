#pragma once
// The kernels of graphs at run time and the functions of the interpreter. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/cpu/chunks_bodies.hpp>
#include <leat/cpu/interpret/library.hpp>
#include <leat/cpu/matmul_bodies.hpp>
#include <leat/kernels/program_plan_bodies.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernels.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_kernels() { return true; }
}  // namespace leat::detail
#endif
