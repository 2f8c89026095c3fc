// The tests of operators once more, their programs run by the interpreter.

#include <leat/cpu/interpret.hpp>

#include "support/check.hpp"
#include "support/interpreted_session.hpp"

#include "../ops/arithmetic.cpp"
#include "../ops/array.cpp"
#include "../ops/comparison.cpp"
