#pragma once
// Loops over independent chunks of work, on threads if LEAT_USE_TBB is defined, and in order otherwise.
// Model: the caller divides its work into numbered chunks by the size of the work alone. A chunk's result depends only on its number, never
// on the thread that runs it or on how many threads there are, so results are the same for any number of threads. A thread may have a limit
// for the loops that it starts: then that many tasks take the chunks one by one.
// Chunks run in the caller's floating-point mode; the caller's interruption, if any, is checked before each chunk. With one thread or one
// chunk, nothing is allocated and no thread is woken. A loop without a limit runs on a team of threads (cpu/team.hpp), unless another loop
// is using it, because oneTBB's threads take longer to wake than a small product takes. Other loops run on oneTBB's threads; oneTBB
// allocates its few small task objects from its own pools.

#include <leat/core/sanitizer.hpp>
#include <leat/cpu/configuration.hpp>
#include <leat/cpu/interruption.hpp>

#include <cstdint>

#if defined(LEAT_USE_TBB)
#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/team.hpp>

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <type_traits>

#if defined(LEAT_THREAD_SANITIZER)
#include <sanitizer/tsan_interface.h>
#endif
#endif

namespace leat::cpu {

namespace detail {
// Runs the chunks [begin, end) in order.
template <class F>
void run_in_order(std::int64_t begin, std::int64_t end, const interruption* stop, F&& f) {
  for (std::int64_t chunk = begin; chunk < end; ++chunk) {
    if (stop != nullptr) stop->check(chunk);
    f(chunk);
  }
}
}  // namespace detail

#if defined(LEAT_USE_TBB)

namespace detail {

// The threads of parallel_for. A change of their number replaces the arena; running loops keep the old one.
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
  std::optional<tbb::global_control> limit_;  // allows oneTBB more threads than there are processors
  std::atomic<int> size_;
  std::atomic<std::shared_ptr<tbb::task_arena>> arena_;
};

inline constinit thread_local int limit_of_thread = 0;  // 0 for none

}  // namespace detail

/// Whether parallel_for can use more than one thread.
inline constexpr bool has_threads = true;

/// The calling thread's limit on the threads of its loops, or 0 for none.
inline int thread_limit() noexcept { return detail::limit_of_thread; }

/// The number of threads that parallel_for may use when the calling thread starts it; initially the number of processors.
inline int thread_count() {
  const int all = detail::thread_pool::instance().size();
  const int limit = thread_limit();
  return limit > 0 && limit < all ? limit : all;
}

/// Sets the number of threads, at least 1, that the program's loops may use. Applies to loops started afterwards.
inline void set_thread_count(int threads) { detail::thread_pool::instance().resize(threads); }

/// Limits the threads of loops that the calling thread starts while in scope; 0 is no limit. Of nested scopes, the smallest limit applies.
class scoped_thread_limit {
 public:
  explicit scoped_thread_limit(int threads) noexcept : before_(thread_limit()) {
    if (threads > 0 && (before_ == 0 || threads < before_)) detail::limit_of_thread = threads;
  }
  scoped_thread_limit(const scoped_thread_limit&) = delete;
  scoped_thread_limit& operator=(const scoped_thread_limit&) = delete;
  ~scoped_thread_limit() { detail::limit_of_thread = before_; }
  /// The value of thread_count() outside of this scope.
  int count_outside() const {
    const int all = detail::thread_pool::instance().size();
    return before_ > 0 && before_ < all ? before_ : all;
  }

 private:
  int before_;
};

namespace detail {

// The work in the arena: chunks in ranges, or, under a limit, as many tasks as it allows, each of which takes chunks until none remain.
inline void share_in_ranges(std::int64_t chunks, const chunk_function& f) {
  tbb::parallel_for(tbb::blocked_range<std::int64_t>(0, chunks),
                    [&f](const tbb::blocked_range<std::int64_t>& range) { f.call(f.f, range.begin(), range.end(), f.stop); });
}
inline void share_among(int tasks, std::int64_t chunks, const chunk_function& f) {
  std::atomic<std::int64_t> next = 0;
  const auto take = [&](const tbb::blocked_range<int>&) {
    const scoped_thread_limit alone(1);  // nested loops run on this thread, because the limit is used up
    try {
      for (std::int64_t chunk; (chunk = next.fetch_add(1, std::memory_order_relaxed)) < chunks;) f.call(f.f, chunk, chunk + 1, f.stop);
    } catch (...) {
      next.store(chunks, std::memory_order_relaxed);
      throw;
    }
  };
  tbb::parallel_for(tbb::blocked_range<int>(0, tasks), take, tbb::simple_partitioner());
}

inline void share_chunks(std::int64_t chunks, const chunk_function& f) {
  const float_mode mode = float_mode::current();
#if defined(LEAT_THREAD_SANITIZER)
  // The sanitizer cannot see inside oneTBB's library: these accesses order the code before the loop, its body, and the code after it.
  char before = 0;
  char after = 0;
  __tsan_release(&before);
#endif
  auto part = [&](std::int64_t begin, std::int64_t end) {
#if defined(LEAT_THREAD_SANITIZER)
    __tsan_acquire(&before);
#endif
    const scoped_float_mode scope(mode);
    f.call(f.f, begin, end, f.stop);
#if defined(LEAT_THREAD_SANITIZER)
    __tsan_release(&after);
#endif
  };
  const auto call = [](void* to, std::int64_t begin, std::int64_t end, const interruption*) {
    (*static_cast<decltype(part)*>(to))(begin, end);
  };
  const chunk_function parts{call, &part};
  const int limit = thread_limit();
  if (limit == 0 && team::instance().run(thread_pool::instance().size(), chunks, parts)) return;  // orders its accesses itself
  const auto arena = thread_pool::instance().arena();
  arena->execute([&] {
    if (limit > 0 && limit < arena->max_concurrency()) share_among(limit, chunks, parts);
    else share_in_ranges(chunks, parts);
  });
#if defined(LEAT_THREAD_SANITIZER)
  __tsan_acquire(&after);
#endif
}

}  // namespace detail

/// Calls f(0), …, f(chunks - 1), in any order and on several threads, up to the calling thread's limit. An exception of f ends the loop
/// and is rethrown to the caller.
template <class F>
void parallel_for(std::int64_t chunks, F&& f) {
  if (chunks <= 1 || thread_count() == 1) return detail::run_in_order(0, chunks, thread_interruption(), f);
  using function = std::remove_reference_t<F>;
  const auto call = [](void* to, std::int64_t begin, std::int64_t end, const interruption* stop) {
    detail::run_in_order(begin, end, stop, *static_cast<function*>(to));
  };
  detail::share_chunks(chunks, {call, const_cast<void*>(static_cast<const void*>(std::addressof(f))), thread_interruption()});
}

#else

/// Whether parallel_for can use more than one thread.
inline constexpr bool has_threads = false;

/// The number of threads that parallel_for may use: one, without oneTBB.
inline int thread_count() noexcept { return 1; }

/// Has no effect without oneTBB.
inline void set_thread_count(int) noexcept {}

/// 0, for no limit: there is only one thread.
inline int thread_limit() noexcept { return 0; }
class scoped_thread_limit {
 public:
  explicit scoped_thread_limit(int) noexcept {}
  scoped_thread_limit(const scoped_thread_limit&) = delete;
  scoped_thread_limit& operator=(const scoped_thread_limit&) = delete;
  ~scoped_thread_limit() {}  // user-provided, so that a scope is not an unused variable
  int count_outside() const noexcept { return 1; }
};

/// Calls f(0), …, f(chunks - 1) in order on the calling thread.
template <class F>
void parallel_for(std::int64_t chunks, F&& f) {
  detail::run_in_order(0, chunks, thread_interruption(), f);
}

#endif

}  // namespace leat::cpu
