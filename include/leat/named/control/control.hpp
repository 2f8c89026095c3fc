#pragma once
// Control flow of named graphs: branches, choices, loops, checks, printing and host functions.

#include <leat/named/control/case.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/host_function.hpp>
#include <leat/named/functions/print.hpp>
