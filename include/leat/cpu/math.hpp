#pragma once
// Arithmetic and functions of elements for both kinds of value: `scalar_math<T>` on single values and `batch_math<T>` on
// batches have the same members, so that an element function is written once over the policy M.

#include <leat/cpu/math/batch_math.hpp>
#include <leat/cpu/math/scalar_math.hpp>
