#pragma once
// Evaluates many models of one structure in one step: `vmap(f)(x, w)`.

#include <leat/leat.hpp>
#include <leat/passes/vmap.hpp>
