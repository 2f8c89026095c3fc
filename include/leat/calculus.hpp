#pragma once
// Derivatives as expressions: gradients, `vjp`, `jvp`, `hvp`, Jacobians and Hessians; steps of least squares, and of Newton's method
// and its kin.

#include <leat/leat.hpp>

#include <leat/cpu/loops.hpp>
#if defined(LEAT_PLANNED_SESSIONS) || defined(LEAT_SEPARATE_COMPILATION)
#include <leat/cpu/interpret/loops.hpp>
#endif
#include <leat/passes/derivatives.hpp>
#include <leat/passes/jacobian.hpp>
#include <leat/train/block_least_squares.hpp>
#include <leat/train/implicit.hpp>
#include <leat/train/least_squares.hpp>
#include <leat/train/second_order.hpp>
