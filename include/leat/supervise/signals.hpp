#pragma once
// Treats SIGINT and SIGTERM as a request to stop: the current step is finished, hooks save, and the program continues after its training
// loop. A second signal has the system's default effect. Signals that the program handles or ignores itself are not changed.

#include <leat/core/function_bodies.hpp>

#include <memory>

namespace leat {

/// While an object of this class exists, the first signal does not end the program. Nested objects act as one.
class stop_signals {
 public:
  stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;
  ~stop_signals();
  /// The signal that arrived while an object existed, SIGINT or SIGTERM; 0 if none did. The value persists, since the program is expected
  /// to end.
  static int received();
  /// Clears the recorded signal, for programs that continue nevertheless.
  static void clear();

 private:
  struct handlers;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/signals.hpp>
#endif
