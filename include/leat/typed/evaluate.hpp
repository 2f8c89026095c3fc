#pragma once
// evaluate: moved to session/typed/evaluate.hpp, which this header includes for programs that were written before.

#include <leat/session/typed/evaluate.hpp>
