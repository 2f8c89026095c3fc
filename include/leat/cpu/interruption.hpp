#pragma once
// Work that may be told to stop. A thread that works for somebody who may call it off has an interruption in scope; the loops over
// chunks that it begins (parallel.hpp) look at it before each chunk, on whatever thread that runs. Without one, as in short runs,
// nothing is looked at.

#include <cstdint>

namespace leat::cpu {

class interruption {
 public:
  /// Called before the `chunk`-th chunk of a loop, by several threads at once. Errors: what is to end the work.
  virtual void check(std::int64_t chunk) const = 0;

 protected:
  ~interruption() = default;
};

namespace detail {
inline constinit thread_local const interruption* interruption_of_thread = nullptr;
}

/// The calling thread's interruption, or null.
inline const interruption* thread_interruption() noexcept { return detail::interruption_of_thread; }

/// Gives the calling thread an interruption, or none, while in scope, and then its former one back.
class scoped_interruption {
 public:
  explicit scoped_interruption(const interruption* stop) noexcept : before_(thread_interruption()) { set(stop); }
  scoped_interruption(const scoped_interruption&) = delete;
  scoped_interruption& operator=(const scoped_interruption&) = delete;
  ~scoped_interruption() { set(before_); }
  /// Another one for the rest of the scope.
  void set(const interruption* stop) noexcept { detail::interruption_of_thread = stop; }

 private:
  const interruption* before_;
};

}  // namespace leat::cpu
