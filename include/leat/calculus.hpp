#pragma once
// Derivatives as expressions: gradients, `vjp`, `jvp`, `hvp`, Jacobians and Hessians; steps of least squares.

#include <leat/leat.hpp>
#include <leat/passes/derivatives.hpp>
#include <leat/passes/jacobian.hpp>
#include <leat/train/least_squares.hpp>
