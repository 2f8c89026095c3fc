#pragma once
// Planned sessions: moved to session/typed/planned_session.hpp, which this header includes for programs that were written before.

#include <leat/session/typed/planned_session.hpp>
