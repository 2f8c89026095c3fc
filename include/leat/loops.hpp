#pragma once
// Loops of typed expressions, whose steps are compiled once: `scan`, `fold`, `while_loop`, `cond`; recurrent layers and the steps of
// differential equations, which are made of them.

#include <leat/leat.hpp>

#include <leat/cpu/loops.hpp>
#include <leat/passes/scan.hpp>
#include <leat/passes/while_loop.hpp>
#include <leat/train/ode.hpp>
#include <leat/train/recurrent.hpp>
