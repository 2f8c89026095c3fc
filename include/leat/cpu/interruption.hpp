#pragma once
// Stops a loop before its end, for timeouts and cancellation. A thread whose work can be stopped has an `interruption` in scope. Each loop
// over chunks that this thread starts (parallel.hpp) checks it before every chunk, on whichever thread runs the chunk. Without an
// interruption, as in short runs, there is no check.

#include <cstdint>

namespace leat::cpu {

class interruption {
 public:
  /// Called before chunk `chunk` of a loop, by several threads at once. It throws an error to stop the work.
  virtual void check(std::int64_t chunk) const = 0;

 protected:
  ~interruption() = default;
};

namespace detail {
inline constinit thread_local const interruption* interruption_of_thread = nullptr;
}

/// The calling thread's interruption, or null.
inline const interruption* thread_interruption() noexcept { return detail::interruption_of_thread; }

/// Sets the calling thread's interruption (null for none) while in scope, and restores the previous one afterwards.
class scoped_interruption {
 public:
  explicit scoped_interruption(const interruption* stop) noexcept : before_(thread_interruption()) { set(stop); }
  scoped_interruption(const scoped_interruption&) = delete;
  scoped_interruption& operator=(const scoped_interruption&) = delete;
  ~scoped_interruption() { set(before_); }
  /// Replaces the interruption for the rest of the scope.
  void set(const interruption* stop) noexcept { detail::interruption_of_thread = stop; }

 private:
  const interruption* before_;
};

}  // namespace leat::cpu
