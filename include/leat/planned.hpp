#pragma once
// Typed sessions that are planned when they are constructed. Include this header next to leat.hpp.

#include <leat/leat.hpp>

#include <leat/session/typed/planned_session.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/cpu/interpret/loops.hpp>
#include <leat/session/typed/planned/planned_steps.hpp>
#endif
