#pragma once
// Threads that stop together. A coordinator starts threads, and any of them may request a stop, with an exception as the reason; `join`
// waits for all threads and throws that exception. Every wait has a deadline.
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

/// Unit of waits and timers.
using seconds = std::chrono::duration<double>;

/// How long `coordinator::join` waits, and whether threads that did not end are an error.
struct join_options {
  seconds grace_period{120};         // for threads to end, once a stop was requested
  seconds timeout{86'400};           // for the threads to end, or a stop to be requested
  bool ignore_live_threads = false;  // threads that still run after the grace period are no error
};

/// Starts threads, and stops them together. Thread-safe.
class coordinator {
 public:
  coordinator();
  coordinator(const coordinator&) = delete;
  coordinator& operator=(const coordinator&) = delete;
  /// Requests a stop and waits for the threads that still run, because they refer to objects that the program is about to destroy.
  ~coordinator();

  /// Runs a function on a thread of the coordinator. If the function throws, the exception becomes a request to stop.
  /// Errors: failed_precondition after a stop was requested.
  void start(std::function<void()> work, std::string name = {});

  /// Requests all threads to stop.
  void request_stop();
  /// Requests a stop because of an exception, which `join` throws. Only the first exception is kept; out_of_range means the end of the
  /// input and is an orderly stop. After `join` the exception is thrown at once, since no later call would throw it.
  void request_stop(std::exception_ptr reason);
  template <std::derived_from<std::exception> E>
  void request_stop(const E& reason) {
    request_stop(std::make_exception_ptr(reason));
  }
  /// Whether a stop was requested.
  bool should_stop() const;
  /// Waits for a request to stop. Returns whether it came before the timeout.
  bool wait_for_stop(seconds timeout) const;
  /// Clears the request and its exception, so that the coordinator can be used again.
  void clear_stop();
  /// Waits until all threads have ended, or until a stop was requested and its grace period is over; then throws the exception of that
  /// request.
  /// Errors: failed_precondition, naming the threads that still run after the grace period, unless `ignore_live_threads`; deadline_exceeded
  /// after the timeout.
  void join(const join_options& how = {});
  /// Whether `join` has returned, or thrown, since the last `clear_stop`.
  bool joined() const;
  /// Throws the exception of the request to stop, if there is one. Source: `raise_requested_exception`.
  void rethrow_requested() const;
  /// The names of the threads that still run.
  std::vector<std::string> live_threads() const;

  /// Calls `f` once when a stop is requested, on the requesting thread, or at once if a stop was requested already. Used to wake up waiting
  /// threads.
  void on_stop(std::function<void()> f);

 private:
  struct shared;
  std::shared_ptr<shared> state_;
};

namespace detail {
/// Turns an exception into a request to stop; for use in catch (...).
void stop_because(coordinator& c, std::exception_ptr reason);
}  // namespace detail

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/coordinator.hpp>
#endif
