#pragma once
// Sessions of typed expressions: moved to session/typed/session.hpp, which this header includes for programs that were written before.

#include <leat/session/typed/session.hpp>
