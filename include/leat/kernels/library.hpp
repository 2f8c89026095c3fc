#pragma once
// The kernels of the library's operators, all of them: what a device that runs programs includes.

#include <leat/kernels/converged.hpp>
#include <leat/kernels/item_kernels.hpp>
#include <leat/kernels/print.hpp>
