#pragma once
// All operators that the library defines only for graphs at run time; ops/known.hpp has those shared with typed expressions.

#include <leat/named/definitions/defined_array.hpp>
#include <leat/named/definitions/defined_control.hpp>
#include <leat/named/definitions/defined_exchange.hpp>
#include <leat/named/definitions/defined_nn.hpp>
#include <leat/named/definitions/defined_queue.hpp>
#include <leat/named/definitions/defined_state.hpp>
