#pragma once
// Detects concurrent entry to a session: the second caller gets failed_precondition, so no caller blocks.

#include <atomic>
#include <leat/core/error.hpp>

namespace leat::detail {

[[noreturn, gnu::cold, gnu::noinline]] inline void entered_twice() {
  throw failed_precondition(
      "the session is entered by two threads at once, or from within a run: give each thread a session of its own, or lock");
}

// An atomic exchange takes longer than a step of a few scalars. Without `Exchange` the guard only loads and stores, and may miss a second
// caller at the same instant.
template <bool Exchange = true>
class session_guard {
 public:
  [[gnu::always_inline]] explicit session_guard(std::atomic<bool>& busy) : busy_(busy) {
    if constexpr (Exchange) {
      if (busy_.exchange(true, std::memory_order_acquire)) entered_twice();
    } else {
      if (busy_.load(std::memory_order_acquire)) entered_twice();
      busy_.store(true, std::memory_order_relaxed);
    }
  }
  session_guard(const session_guard&) = delete;
  session_guard& operator=(const session_guard&) = delete;
  [[gnu::always_inline]] ~session_guard() { busy_.store(false, std::memory_order_release); }

 private:
  std::atomic<bool>& busy_;
};

}  // namespace leat::detail
