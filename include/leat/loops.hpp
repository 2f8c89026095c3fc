#pragma once
// Loops of typed expressions, whose steps are compiled once: `scan`, `fold`, `while_loop`, `cond`, `switch_case`; recurrent layers and the
// steps of differential equations, which are made of them.

#include <leat/leat.hpp>

#include <leat/cpu/loops.hpp>
#if defined(LEAT_PLANNED_SESSIONS) || defined(LEAT_SEPARATE_COMPILATION)
#include <leat/cpu/interpret/loops.hpp>
#endif
#include <leat/passes/checkpointed.hpp>
#include <leat/passes/scan.hpp>
#include <leat/passes/while_loop.hpp>
#include <leat/train/dormand_prince.hpp>
#include <leat/train/ode.hpp>
#include <leat/train/recurrent.hpp>
