#pragma once
// Loops of typed expressions: `scan`, `fold`. Their steps are compiled once.

#include <leat/leat.hpp>

#include <leat/cpu/loops.hpp>
#include <leat/passes/scan.hpp>
