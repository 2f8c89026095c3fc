#pragma once
// Products that a program compiles once: see core/function_bodies.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/matmul.hpp>

#if defined(LEAT_SEPARATE_COMPILATION)
namespace leat::cpu::detail {
LEAT_PRODUCTS(, float);
LEAT_PRODUCTS(, double);
}  // namespace leat::cpu::detail
#undef LEAT_PRODUCTS
#endif
