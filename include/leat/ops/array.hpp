#pragma once
// Operators that rearrange arrays, take parts of them, and join them.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/array_shape.hpp>
