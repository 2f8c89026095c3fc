#pragma once
// Derivatives as expressions: gradients, `vjp`, `jvp`, `hvp`, Jacobians and Hessians.

#include <leat/leat.hpp>
#include <leat/passes/derivatives.hpp>
#include <leat/passes/jacobian.hpp>
