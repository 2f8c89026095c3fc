#pragma once
// Typed sessions that are planned when they are constructed, beside leat.hpp.

#include <leat/leat.hpp>

#include <leat/session/planned_session.hpp>
#ifndef LEAT_SEPARATE_COMPILATION
#include <leat/train/planned_steps.hpp>
#endif
