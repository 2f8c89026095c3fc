// The tests of functions, reductions, products and networks once more, their programs run by the interpreter.

#include <leat/cpu/interpret.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include "../ops/functions.cpp"
#include "../ops/linalg.cpp"
#include "../ops/nn.cpp"
#include "../ops/reduction.cpp"
#include "../ops/state.cpp"
