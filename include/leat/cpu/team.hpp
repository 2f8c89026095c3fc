#pragma once
// Threads that share one loop at a time and are ready for the next: they poll for it for some microseconds before they sleep, so that the
// loops of a step find them awake. Model: each thread first runs its own share of the chunks, which is the same in each loop of that
// length, so that their data may still be in its caches. Then it takes chunks that other threads have not begun. The caller waits for
// chunks that were begun, never for a thread that has not started. Shares and turns decide only which thread runs a chunk.

#include <leat/cpu/interruption.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>
#include <utility>

namespace leat::cpu::detail {

// A function of chunks [begin, end). It is type-erased, so that the code that runs it is compiled once.
struct chunk_function {
  void (*call)(void* f, std::int64_t begin, std::int64_t end, const interruption* stop);
  void* f;
  const interruption* stop = nullptr;  // the caller's interruption
};

class team {
 public:
  static constexpr int most_threads = 64;
  static constexpr std::int64_t most_chunks = 65535;

  /// The program's only team. It is never destroyed: its threads end with the process. In a child process after a fork, the caller runs all
  /// chunks itself.
  static team& instance() {
    static team& all = *new team;
    return all;
  }

  /// Runs all chunks on `threads` threads, including the caller, and rethrows the first exception. Returns false, without running anything,
  /// while another loop uses the team, including one of this thread.
  bool run(int threads, std::int64_t chunks, const chunk_function& f) {
    if (threads > most_threads || chunks > most_chunks || taken_.exchange(true, std::memory_order_acquire)) return false;
    threads = static_cast<int>(std::min<std::int64_t>(threads, chunks));
    if (started_ < threads - 1 && !start(threads - 1) && started_ == 0) return taken_.store(false, std::memory_order_release), false;
    work_ = f;
    error_ = nullptr;
    left_.store(chunks, std::memory_order_relaxed);
    failed_.store(false, std::memory_order_relaxed);
    shares_.store(threads, std::memory_order_relaxed);
    const std::uint64_t turn = ++turn_;
    for (int k = 0; k < threads; ++k)
      share_[k].next.store(packed(turn, chunks * (k + 1) / threads, chunks * k / threads), std::memory_order_release);
    // A thread that goes to sleep either sees the new turn, or is counted here.
    called_.store(static_cast<int>(turn), std::memory_order_seq_cst);
    if (asleep_.load(std::memory_order_seq_cst) > 0) called_.notify_all();
    work(0, turn, threads);
    for (int looks = 0; left_.load(std::memory_order_acquire) != 0; ++looks) wait_briefly(looks);
    const std::exception_ptr error = std::move(error_);
    error_ = nullptr;
    taken_.store(false, std::memory_order_release);
    if (error != nullptr) std::rethrow_exception(error);
    return true;
  }

 private:
  // A thread's chunks, packed into one word: the turn in the upper half, then the end and the next chunk. A late thread can then detect by
  // one comparison that the loop is over.
  struct alignas(64) share {
    std::atomic<std::uint64_t> next = 0;
  };
  static std::uint64_t packed(std::uint64_t turn, std::int64_t end, std::int64_t next) {
    return turn << 32 | static_cast<std::uint64_t>(end) << 16 | static_cast<std::uint64_t>(next);
  }

  team() = default;

  // If the system cannot start all threads, the loop runs with those that exist.
  bool start(int threads) {
    try {
      for (; started_ < threads; ++started_) std::thread([this, k = started_ + 1] { serve(k); }).detach();
    } catch (const std::exception&) {
      return false;
    }
    return true;
  }

  // Takes the next chunk of a share, or returns -1.
  std::int64_t take(share& from, std::uint64_t turn) {
    std::uint64_t now = from.next.load(std::memory_order_acquire);
    while ((now >> 32) == (turn & 0xffffffffu) && (now & 0xffff) < (now >> 16 & 0xffff))
      if (from.next.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_acquire))
        return static_cast<std::int64_t>(now & 0xffff);
    return -1;
  }

  // The loop's data are read only after one of its chunks was taken, and the loop does not end before that chunk is done.
  void work(int thread, std::uint64_t turn, int shares) {
    for (int k = 0; k < shares; ++k)
      for (std::int64_t chunk; (chunk = take(share_[(thread + k) % shares], turn)) >= 0;) {
        if (!failed_.load(std::memory_order_relaxed)) {
          try {
            work_.call(work_.f, chunk, chunk + 1, work_.stop);
          } catch (...) {
            if (!failed_.exchange(true, std::memory_order_relaxed)) error_ = std::current_exception();
          }
        }
        left_.fetch_sub(1, std::memory_order_acq_rel);
      }
  }

  void serve(int thread) {
    for (int seen = 0;;) {
      int now = called_.load(std::memory_order_acquire);
      for (int looks = 0; now == seen && looks < looks_before_sleep; ++looks) {
        relax();
        now = called_.load(std::memory_order_acquire);
      }
      if (now == seen) {
        asleep_.fetch_add(1, std::memory_order_seq_cst);
        called_.wait(seen, std::memory_order_seq_cst);
        asleep_.fetch_sub(1, std::memory_order_relaxed);
        continue;
      }
      seen = now;
      const int shares = shares_.load(std::memory_order_relaxed);
      if (thread < shares) work(thread, static_cast<std::uint64_t>(static_cast<std::uint32_t>(now)), shares);
    }
  }

  static void relax() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#else
    std::atomic_signal_fence(std::memory_order_seq_cst);
#endif
  }
  // Waits for a chunk that another thread has begun. It yields after a while, because that thread may need this processor.
  static void wait_briefly(int looks) {
    if (looks < looks_before_sleep) relax();
    else std::this_thread::yield();
  }

  // Takes some 20 to 50 microseconds, which is more than the time between the loops of a step.
  static constexpr int looks_before_sleep = 1000;

  std::atomic<bool> taken_ = false;
  int started_ = 0;         // threads in addition to the caller
  std::uint64_t turn_ = 0;  // number of the loop; threads see its low half
  chunk_function work_{};
  std::exception_ptr error_;
  alignas(64) std::atomic<int> called_ = 0;
  std::atomic<int> asleep_ = 0;
  std::atomic<int> shares_ = 0;
  alignas(64) std::atomic<std::int64_t> left_ = 0;
  std::atomic<bool> failed_ = false;
  share share_[most_threads];
};

}  // namespace leat::cpu::detail
