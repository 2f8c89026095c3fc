#pragma once
// SIGINT and SIGTERM as a request to stop: the step under way is finished, hooks save, and the program goes on behind its loop. A second
// signal acts as the system has it. Signals that the program handles itself, or ignores, are left alone.

#include <leat/core/function_bodies.hpp>

#include <memory>

namespace leat {

/// While one lives, the first signal does not end the program. Objects within each other count as one.
class stop_signals {
 public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();
  /// The signal that came while one lived, SIGINT or SIGTERM; 0 if none did. It stays, since the program is to end.
  static int received();
  /// Forgets the signal: for programs that go on nevertheless.
  static void clear();

 private:
  struct handlers;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/signals_bodies.hpp>
#endif
