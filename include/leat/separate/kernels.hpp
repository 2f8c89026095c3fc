#pragma once
// The kernels of graphs at run time and the functions of the interpreter. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/cpu/impl/chunks.hpp>
#include <leat/cpu/impl/interpret.hpp>
#include <leat/cpu/impl/matmul.hpp>
#include <leat/cpu/interpret/library.hpp>
#include <leat/kernels/impl/program_plan.hpp>
#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernels.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_kernels() { return true; }
}  // namespace leat::detail
#endif
