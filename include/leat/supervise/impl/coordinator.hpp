#pragma once
// Implementation of coordinator.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/coordinator.hpp>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace leat {

struct coordinator::shared {
  struct worker {
    std::string name;
    std::thread thread;
    bool ended = false;
  };
  mutable std::mutex guard;
  mutable std::condition_variable changed;
  bool stop = false;
  bool joined = false;
  std::exception_ptr reason;
  std::vector<std::shared_ptr<worker>> workers;
  std::vector<std::function<void()>> when_stopped;

  static std::chrono::steady_clock::time_point after(seconds wait) {
    // 1e9 seconds is longer than any program runs, and still within the clock's range.
    const double bounded = std::clamp(wait.count(), 0.0, 1e9);
    return std::chrono::steady_clock::now() + std::chrono::duration_cast<std::chrono::steady_clock::duration>(seconds(bounded));
  }
  std::vector<std::string> live() const {
    std::vector<std::string> names;
    for (const auto& w : workers)
      if (!w->ended) names.push_back(w->name);
    return names;
  }
  static bool is_orderly(const std::exception_ptr& reason) {
    if (reason == nullptr) return true;
    try {
      std::rethrow_exception(reason);
    } catch (const out_of_range&) {
      return true;
    } catch (...) {
      return false;
    }
  }
  void request(std::exception_ptr why) {
    if (is_orderly(why)) why = nullptr;
    std::vector<std::function<void()>> calls;
    {
      const std::lock_guard lock(guard);
      if (joined && why != nullptr) std::rethrow_exception(why);
      if (stop) return;
      reason = std::move(why);
      stop = true;
      calls.swap(when_stopped);
      changed.notify_all();
    }
    for (const auto& call : calls) call();
  }
  // The threads that have ended, so that they can be joined without holding the lock.
  std::vector<std::shared_ptr<worker>> take_ended() {
    std::vector<std::shared_ptr<worker>> ended;
    for (const auto& w : workers)
      if (w->ended) ended.push_back(w);
    std::erase_if(workers, [](const auto& w) { return w->ended; });
    return ended;
  }
};

LEAT_FUNCTION coordinator::coordinator() : state_(std::make_shared<shared>()) {}

LEAT_FUNCTION coordinator::~coordinator() {
  try {
    request_stop();
  } catch (...) {  // thrown by a function of `on_stop`: the threads are waited for nevertheless
  }
  for (;;) {
    std::vector<std::shared_ptr<shared::worker>> all;
    {
      const std::lock_guard lock(state_->guard);
      all.swap(state_->workers);
    }
    if (all.empty()) return;
    for (const auto& w : all) {
      if (w->thread.get_id() == std::this_thread::get_id()) w->thread.detach();
      else w->thread.join();
    }
  }
}

LEAT_FUNCTION void coordinator::start(std::function<void()> work, std::string name) {
  const std::lock_guard lock(state_->guard);
  if (state_->stop) throw failed_precondition("a thread is started after the coordinator was asked to stop; clear_stop() begins anew");
  auto made = std::make_shared<shared::worker>();
  made->name = name.empty() ? "thread " + std::to_string(state_->workers.size() + 1) : std::move(name);
  state_->workers.push_back(made);
  try {
    made->thread = std::thread([state = state_, made, work = std::move(work)]() mutable {
      try {
        work();
      } catch (...) {
        try {
          state->request(std::current_exception());
        } catch (...) {  // `join` has been called, so no later call would throw it
        }
      }
      work = nullptr;
      const std::lock_guard ending(state->guard);
      made->ended = true;
      state->changed.notify_all();
    });
  } catch (...) {
    state_->workers.pop_back();
    throw;
  }
}

LEAT_FUNCTION void coordinator::request_stop() { state_->request(nullptr); }
LEAT_FUNCTION void coordinator::request_stop(std::exception_ptr reason) { state_->request(std::move(reason)); }

LEAT_FUNCTION bool coordinator::should_stop() const {
  const std::lock_guard lock(state_->guard);
  return state_->stop;
}

LEAT_FUNCTION bool coordinator::wait_for_stop(seconds timeout) const {
  std::unique_lock lock(state_->guard);
  return state_->changed.wait_until(lock, shared::after(timeout), [&] { return state_->stop; });
}

LEAT_FUNCTION void coordinator::clear_stop() {
  const std::lock_guard lock(state_->guard);
  state_->stop = false;
  state_->joined = false;
  state_->reason = nullptr;
}

LEAT_FUNCTION void coordinator::join(const join_options& how) {
  std::vector<std::shared_ptr<shared::worker>> ended;
  std::vector<std::string> live;
  bool in_time = true;
  {
    std::unique_lock lock(state_->guard);
    in_time = state_->changed.wait_until(lock, shared::after(how.timeout), [&] { return state_->stop || state_->live().empty(); });
    if (in_time) state_->changed.wait_until(lock, shared::after(how.grace_period), [&] { return state_->live().empty(); });
    ended = state_->take_ended();
    live = state_->live();
    if (in_time) state_->joined = true;
  }
  for (const auto& w : ended) w->thread.join();
  std::string names;
  for (const auto& name : live) names += (names.empty() ? "" : " ") + name;
  if (!in_time)
    throw deadline_exceeded("Coordinator: no stop was requested within " + std::to_string(how.timeout.count()) +
                            " s, and these threads still run: " + names);
  rethrow_requested();
  if (!live.empty() && !how.ignore_live_threads) throw failed_precondition("Coordinator stopped with threads still running: " + names);
}

LEAT_FUNCTION bool coordinator::joined() const {
  const std::lock_guard lock(state_->guard);
  return state_->joined;
}

LEAT_FUNCTION void coordinator::rethrow_requested() const {
  std::exception_ptr reason;
  {
    const std::lock_guard lock(state_->guard);
    reason = state_->reason;
  }
  if (reason != nullptr) std::rethrow_exception(reason);
}

LEAT_FUNCTION std::vector<std::string> coordinator::live_threads() const {
  const std::lock_guard lock(state_->guard);
  return state_->live();
}

LEAT_FUNCTION void coordinator::on_stop(std::function<void()> f) {
  {
    const std::lock_guard lock(state_->guard);
    if (!state_->stop) {
      state_->when_stopped.push_back(std::move(f));
      return;
    }
  }
  f();
}

LEAT_FUNCTION void detail::stop_because(coordinator& c, std::exception_ptr reason) {
  try {
    c.request_stop(std::move(reason));
  } catch (...) {  // `join` has been called, so no later call would throw it
  }
}

}  // namespace leat
