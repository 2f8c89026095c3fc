#pragma once
// All operators that the library defines for graphs at run time alone, beside those shared with typed expressions (ops/known.hpp).

#include <leat/ops/defined_array.hpp>
#include <leat/ops/defined_control.hpp>
#include <leat/ops/defined_nn.hpp>
#include <leat/ops/defined_queue.hpp>
#include <leat/ops/defined_state.hpp>
