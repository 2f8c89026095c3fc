#pragma once
// The loop that waits for descriptors and timers. It has a thread of its own; a thread that waits for an answer takes part in it, so that
// an answer need not be handed from one thread to the other (two threads fewer to wake in a round trip). Linux wakes the thread
// that began to wait last on an epoll descriptor, which is the one that waits for the answer; elsewhere or otherwise all works, slower.
//
// Whatever thread gets an event, the client's `run` is called by one thread at a time.

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
/// In a token: the other end of its descriptor has been closed.
inline constexpr std::uint64_t has_ended_flag = std::uint64_t{1} << 63;

/// Counts forks: an object made before a fork differs from it in the child, where nothing of it works.
std::uint64_t fork_generation();
/// Errors: failed_precondition in the child of a fork that came after `generation` was read.
void check_generation(std::uint64_t generation);

class reactor_client {
 public:
  virtual ~reactor_client() = default;
  /// Handles descriptors, by the tokens they were added with and `has_ended_flag`, and timers that are due. Returns whether something is left to do.
  virtual bool run(const std::vector<std::uint64_t>& tokens) = 0;
  /// When `run` is to be called again, if no descriptor has an event.
  virtual steady_time next_timer() = 0;
};

class reactor {
 public:
  /// Errors: resource_exhausted if the system has no more descriptors or threads.
  explicit reactor(reactor_client& client);
  reactor(const reactor&) = delete;
  reactor& operator=(const reactor&) = delete;
  ~reactor();

  /// Starts the thread; before, nothing is handled.
  void start();
  /// Ends the thread, which finishes what it handles. Idempotent; not to be called by a thread within `run`.
  void stop();
  /// Ends as a child of a fork must: nothing is waited for.
  void forget();

  /// Watches a descriptor for input; each event is reported once, so that whoever handles it must read until nothing is left.
  void add(int fd, std::uint64_t token, bool output = false);
  void remove(int fd);
  /// Has `run` called soon. From any thread.
  void kick();

  /// Waits, handling events, until `done` or the deadline; whether it is done. `done` is set by a thread that then calls `wake`.
  /// Errors: those of the client's `run`; other threads go on.
  bool wait(const std::atomic<bool>& done, steady_time deadline);
  /// After a `done` was set: wakes who waits for it.
  void wake();
  /// Whether the calling thread is within `run`.
  bool is_inside() const { return inside == this; }

 private:
  void loop();
  void kick_others();
  void handle(const std::uint64_t* tokens, int count, const std::atomic<bool>* done);
  int wait_for_events(std::uint64_t* tokens, int limit, steady_time until);

  static inline thread_local const reactor* inside = nullptr;   // whose client the thread runs
  static inline thread_local const reactor* driving = nullptr;  // in whose loop it takes part

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
  // The thread that takes part while it waits for an answer.
  std::atomic<bool> has_driver_{false};
  std::atomic<bool> driver_wake_{false};
  std::atomic<steady_time::rep> sleeping_until_{0};
  std::mutex done_mutex_;
  std::condition_variable done_;
};

}  // namespace leat::transport

#if LEAT_WITH_BODIES
#include <leat/cluster/transport/reactor_bodies.hpp>
#endif
