#pragma once
// The loop that waits for descriptors and timers. It has a thread of its own; a thread that waits for an answer takes part in the loop, so
// that an answer need not be passed from one thread to another, which saves two thread wake-ups per round trip. Linux wakes the thread that
// began to wait last on an epoll descriptor, which is the one that waits for the answer; if another thread is woken, everything still
// works, but slower.
//
// Whichever thread gets an event, the client's `run` is called by one thread at a time.

#include <leat/core/descriptor.hpp>
#include <leat/core/function_bodies.hpp>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>
#include <vector>

namespace leat::transport {

using steady_time = std::chrono::steady_clock::time_point;
inline constexpr steady_time no_deadline = steady_time::max();
/// Set in a token if the other end of its descriptor has been closed.
inline constexpr std::uint64_t has_ended_flag = std::uint64_t{1} << 63;

/// Counts forks: an object that was made before a fork has another count than the child, where it must not be used.
std::uint64_t fork_generation();
/// Errors: failed_precondition in the child of a fork that took place after `generation` was read.
void check_generation(std::uint64_t generation);

class reactor_client {
 public:
  virtual ~reactor_client() = default;
  /// Handles descriptors, given by the tokens with which they were added and `has_ended_flag`, and timers that are due. Returns whether
  /// work is left.
  virtual bool run(const std::vector<std::uint64_t>& tokens) = 0;
  /// When `run` is to be called next if no descriptor has an event.
  virtual steady_time next_timer() = 0;
};

class reactor {
 public:
  /// Errors: resource_exhausted if the system has no descriptors or threads left.
  explicit reactor(reactor_client& client);
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  ~reactor();

  /// Starts the thread; before this call no event is handled.
  void start();
  /// Ends the thread after it has finished its current work. Idempotent; must not be called within `run`.
  void stop();
  /// Ends in the child of a fork, where nothing may be waited for.
  void forget();

  /// Watches a descriptor for input. Each event is reported once, so the client must read until nothing is left.
  void add(int fd, std::uint64_t token, bool output = false);
  void remove(int fd);
  /// Requests a call of `run` soon. Thread-safe.
  void kick();

  /// Waits, handling events, until `done` or the deadline; returns `done`. It is set by a thread that then calls `wake`.
  /// Errors: those of the client's `run`; other threads are not affected.
  bool wait(const std::atomic<bool>& done, steady_time deadline);
  /// Called after a `done` was set: wakes the thread that waits for it.
  void wake();
  /// Whether the calling thread is within `run`.
  bool is_inside() const { return inside == this; }

 private:
  void loop();
  void kick_others();
  void handle(const std::uint64_t* tokens, int count, const std::atomic<bool>* done);
  int wait_for_events(std::uint64_t* tokens, int limit, steady_time until);

  static inline thread_local const reactor* inside = nullptr;   // the reactor whose client this thread runs
  static inline thread_local const reactor* driving = nullptr;  // the reactor in whose loop this thread takes part

  reactor_client& client_;
  descriptor epoll_;
  descriptor kick_;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
  std::atomic<bool> kicked_{false};
  std::atomic<bool> again_{false};
  std::atomic<int> pending_{0};
  std::mutex ready_mutex_;
  std::vector<std::uint64_t> ready_;
  std::vector<std::uint64_t> handled_;  // by the thread within `run`
  // State of the thread that takes part in the loop while it waits for an answer.
  std::atomic<bool> has_driver_{false};
  std::atomic<bool> driver_wake_{false};
  std::atomic<steady_time::rep> sleeping_until_{0};
  std::mutex done_mutex_;
  std::condition_variable done_;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/impl/reactor.hpp>
#endif
