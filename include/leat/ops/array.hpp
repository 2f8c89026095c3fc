#pragma once
// The same elements in another arrangement, and parts of arrays put together.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/array_shape.hpp>
