#pragma once
// Threads that stop together. A coordinator starts threads and knows whether they are to stop: any of them may ask for it, with the
// exception that was its reason, and `join` waits for all and throws that exception. Every wait has a deadline.
// Source: TensorFlow 1.x `train.Coordinator`.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/runtime/state/run_arguments.hpp>

#include <chrono>
#include <concepts>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace leat {

/// Seconds of waits and timers.
using seconds = std::chrono::duration<double>;

/// How long `coordinator::join` waits, and what it says of threads that did not end.
struct join_options {
  seconds grace_period{120};         // for threads to end, once a stop was requested
  seconds timeout{86'400};           // for the threads to end, or a stop to be requested
  bool ignore_live_threads = false;  // threads that still run after the grace period are no error
};

class coordinator {
 public:
  coordinator();
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  /// Requests a stop and waits for the threads that still run: they refer to what the program is about to destroy.
  ~coordinator();

  /// Runs a function on a thread of the coordinator. An exception that it throws is a request to stop.
  /// Errors: failed_precondition after a stop was requested.
  void start(std::function<void()> work, std::string name = {});

  /// Asks all threads to stop.
  void request_stop();
  /// The same because of an exception, which `join` throws. Only the first one is kept; out_of_range, the end of the input, is an orderly
  /// stop. After `join` it is thrown at once, since nobody else would.
  void request_stop(std::exception_ptr reason);
  template <std::derived_from<std::exception> E>
  void request_stop(const E& reason) {
    request_stop(std::make_exception_ptr(reason));
  }
  /// Whether a stop was requested.
  bool should_stop() const;
  /// Waits for a request to stop. Returns whether it came within the time.
  bool wait_for_stop(seconds timeout) const;
  /// Takes back the request and its exception, so that the coordinator can be used again.
  void clear_stop();
  /// Waits until all threads have ended, or a stop was requested and its grace period is over; then throws the exception of that request.
  /// Errors: failed_precondition, naming the threads that still run after the grace period; deadline_exceeded after the timeout.
  void join(const join_options& how = {});
  /// Whether `join` has returned, or thrown, since the last `clear_stop`.
  bool joined() const;
  /// Throws the exception of the request to stop, if there is one. Source: `raise_requested_exception`.
  void rethrow_requested() const;
  /// The names of the threads that run.
  std::vector<std::string> live_threads() const;

  /// Calls `f` once when a stop is requested, on the thread that asks for it, or at once if one was. For waking up who waits.
  void on_stop(std::function<void()> f);

 private:
  struct shared;
  std::shared_ptr<shared> state_;
};

namespace detail {
/// Passes an exception on as a request to stop; for catch (...).
void stop_because(coordinator& c, std::exception_ptr reason);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/coordinator_bodies.hpp>
#endif
