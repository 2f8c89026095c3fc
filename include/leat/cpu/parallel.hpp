#pragma once
// Loops over independent chunks of work, on oneTBB's threads where LEAT_USE_TBB is defined and in order otherwise.
// Model: the caller divides its work into numbered chunks by the work's size alone; a chunk's result depends on its
// number only, never on the thread that runs it or on how many there are, and so results are the same for any number of
// threads.
// Chunks run in the caller's floating-point mode. With one thread or one chunk nothing is allocated and no thread is
// woken; oneTBB takes its few small task objects from pools of its own.

#include <cstdint>

#if defined(LEAT_USE_TBB)
#include <leat/cpu/float_mode.hpp>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#if defined(__SANITIZE_THREAD__)
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace leat::cpu {

#if defined(LEAT_USE_TBB)

namespace detail {

// The threads that parallel_for uses. A change of their number replaces the arena; loops under way keep theirs.
class thread_pool {
 public:
  static thread_pool& instance() {
    static thread_pool pool;
    return pool;
  }

  int size() const noexcept { return size_.load(std::memory_order_relaxed); }

  void resize(int threads) {
    const std::lock_guard lock(mutex_);
    threads = std::max(threads, 1);
    if (threads == size()) return;
    if (threads > tbb::info::default_concurrency())
      limit_.emplace(tbb::global_control::max_allowed_parallelism, static_cast<std::size_t>(threads));
    arena_.store(std::make_shared<tbb::task_arena>(threads));
    size_.store(threads, std::memory_order_relaxed);
  }

  std::shared_ptr<tbb::task_arena> arena() const { return arena_.load(); }

 private:
  thread_pool()
      : size_(tbb::this_task_arena::max_concurrency()), arena_(std::make_shared<tbb::task_arena>(size_.load())) {}

  std::mutex mutex_;
  std::optional<tbb::global_control> limit_;  // lets oneTBB have more threads than there are processors
  std::atomic<int> size_;
  std::atomic<std::shared_ptr<tbb::task_arena>> arena_;
};

}  // namespace detail

/// Whether parallel_for can use more than one thread.
inline constexpr bool has_threads = true;

/// How many threads parallel_for may use; at first as many as there are processors.
inline int thread_count() { return detail::thread_pool::instance().size(); }

/// Sets that number, at least 1, for the loops that begin afterwards.
inline void set_thread_count(int threads) { detail::thread_pool::instance().resize(threads); }

/// Calls f(0), …, f(chunks - 1), in any order and on several threads. An exception of f ends the loop and reaches the
/// caller.
template <class F>
void parallel_for(std::int64_t chunks, F&& f) {
  if (chunks <= 1 || thread_count() == 1) {
    for (std::int64_t chunk = 0; chunk < chunks; ++chunk) f(chunk);
    return;
  }
  const float_mode mode = float_mode::current();
#if defined(__SANITIZE_THREAD__)
  // the sanitizer does not see into oneTBB's library: what comes before the loop, in it and after it is ordered
  char before = 0;
  char after = 0;
  __tsan_release(&before);
#endif
  const auto arena = detail::thread_pool::instance().arena();
  arena->execute([&] {
    tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks), [&](const tbb::blocked_range<std::int64_t>& range) {
#if defined(__SANITIZE_THREAD__)
      __tsan_acquire(&before);
#endif
      const scoped_float_mode scope(mode);
      for (std::int64_t chunk = range.begin(); chunk < range.end(); ++chunk) f(chunk);
#if defined(__SANITIZE_THREAD__)
      __tsan_release(&after);
#endif
    });
  });
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(&after);
#endif
}

#else

/// Whether parallel_for can use more than one thread.
inline constexpr bool has_threads = false;

/// How many threads parallel_for may use: one, without oneTBB.
inline int thread_count() noexcept { return 1; }

/// Has no effect without oneTBB.
inline void set_thread_count(int) noexcept {}

/// Calls f(0), …, f(chunks - 1).
template <class F>
void parallel_for(std::int64_t chunks, F&& f) {
  for (std::int64_t chunk = 0; chunk < chunks; ++chunk) f(chunk);
}

#endif

}  // namespace leat::cpu
