#pragma once
// All of control flow in named graphs: branches, choices, loops, and what is checked, printed and called on the host when a
// graph runs.

#include <leat/ops/case.hpp>
#include <leat/ops/check.hpp>
#include <leat/ops/host_function.hpp>
#include <leat/ops/initial_value.hpp>
#include <leat/ops/loop.hpp>
#include <leat/ops/print.hpp>
