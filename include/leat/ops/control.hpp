#pragma once
// Control flow of named graphs: branches, choices, loops, checks, printing and host functions.

#include <leat/ops/case.hpp>
#include <leat/ops/check.hpp>
#include <leat/ops/host_function.hpp>
#include <leat/ops/initial_value.hpp>
#include <leat/ops/loop.hpp>
#include <leat/ops/print.hpp>
