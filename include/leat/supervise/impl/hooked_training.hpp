#pragma once
// Implementation of hooked_training.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/hooked_training.hpp>
#include <leat/supervise/watched_graph_session.hpp>
#include <leat/train/named/global_step.hpp>

#include <iostream>
#include <optional>
#include <utility>

namespace leat::detail {

LEAT_FUNCTION hooked_training::hooked_training(hook_list hooks, int max_recoveries, seconds stop_grace_period, std::ostream* log)
    : hooks_(std::move(hooks)), max_recoveries_(max_recoveries), stop_grace_period_(stop_grace_period), log_(log) {
  for (const hook& h : hooks_)
    if (h == nullptr) throw invalid_argument("a hook that is null");
}

LEAT_FUNCTION std::ostream& hooked_training::log() const { return log_ != nullptr ? *log_ : std::cerr; }

// ---- the beginning ----

LEAT_FUNCTION void hooked_training::begin(graph* owner) {
  std::optional<default_graph_scope> here;
  if (owner != nullptr) here.emplace(*owner);
  // A hook may make the global step.
  for (const hook& h : hooks_)
    h->begin({.owner = owner, .has_global_step = owner == nullptr || static_cast<bool>(get_global_step(*owner))});
}

LEAT_FUNCTION void hooked_training::watch_signals() { signals_ = std::make_unique<stop_signals>(); }

LEAT_FUNCTION void hooked_training::begin_anew() {
  closed_ = false;
  input_ended_ = false;
  exceptions_ = std::uncaught_exceptions();
}

// ---- sessions ----

LEAT_FUNCTION void hooked_training::tell(graph_session& s, watched_session& its, const std::string& what) const {
  if (s.options().target.empty() && recoveries_ == 0) return;
  log() << what << (its.has_global_step() ? ", at step " + std::to_string(its.global_step()) : std::string()) << "\n";
}

LEAT_FUNCTION std::unique_ptr<graph_session> hooked_training::make_session(const trained_graph& of, session_preparation how) {
  how.log = log_;
  how.restore = [&](graph_session& s) {
    if (of.saves == nullptr) return false;
    watched_graph_session its(s, of.its_scaffold, of.step);
    if (!restore_latest_run(*of.saves, its, of.folder, of.parts)) return false;
    tell(s, its, "restored from " + latest_checkpoint(of.folder).str());
    return true;
  };
  how.keep = [&](graph_session& s) {
    watched_graph_session its(s, of.its_scaffold, of.step);
    if (recoveries_ == 0 && !goes_on_from_servers(its, of.folder)) return false;
    tell(s, its, "the servers have kept the variables");
    return true;
  };
  auto made = of.is_chief ? prepare_session(of.owner, of.session, how) : wait_for_session(of.owner, of.session, how, of.max_wait);
  if (!of.is_chief && recoveries_ > 0) {
    watched_graph_session its(*made, of.its_scaffold, of.step);
    tell(*made, its, "the model is ready again");
  }
  return made;
}

LEAT_FUNCTION coordinator& hooked_training::make_threads(std::function<void(const std::exception_ptr&)> stopped) {
  threads_ = std::make_unique<coordinator>();
  thread_failed_ = std::make_shared<cancellation>();
  threads_->on_stop([&c = *threads_, failed = thread_failed_, stopped = std::move(stopped)] {
    std::exception_ptr reason;
    try {
      c.rethrow_requested();
    } catch (...) {
      reason = std::current_exception();
      failed->cancel();
    }
    if (stopped) stopped(reason);
  });
  return *threads_;
}

LEAT_FUNCTION void hooked_training::after_create_session(watched_session& s) {
  for (const hook& h : hooks_) h->after_create_session(s, *threads_);
}

LEAT_FUNCTION void hooked_training::make_in_turn(const std::function<void()>& make, const std::function<void()>& drop) {
  for (growing_pause pause;;) {
    pause.wait();
    try {
      return make();
    } catch (const error& e) {
      if (!is_loss(std::current_exception()) || !may_recover() || stopped_by_signal() != 0) throw;
      log() << "A session could not be made, and is tried again: " << e.what() << "\n";
      drop();
    }
  }
}

LEAT_FUNCTION void hooked_training::request_threads_to_end() {
  if (threads_ == nullptr) return;
  is_ending_ = true;
  threads_->request_stop();
}

LEAT_FUNCTION std::exception_ptr hooked_training::stop_threads() {
  if (threads_ == nullptr) return nullptr;
  try {
    request_threads_to_end();
    threads_->join({.grace_period = stop_grace_period_, .ignore_live_threads = true});
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

LEAT_FUNCTION void hooked_training::drop_threads() {
  threads_.reset();
  is_ending_ = false;
}

LEAT_FUNCTION std::exception_ptr hooked_training::end_session(graph_session* s) {
  const bool is_lost = lost_by_thread();
  std::exception_ptr failed = stop_threads();
  try {
    if (s != nullptr) s->close();
  } catch (...) {  // the target can no longer be reached
    if (failed == nullptr) failed = std::current_exception();
  }
  drop_threads();
  return is_lost ? nullptr : failed;
}

// ---- runs ----

LEAT_FUNCTION void hooked_training::check_run() const {
  // A stop that a signal or a thread requests between the program's call of `should_stop` and its run does not make that run an error.
  if (!stop_by_hook_ && !seen_) return;
  threads_->rethrow_requested();
  throw failed_precondition("Run called even after should_stop requested.");
}

LEAT_FUNCTION void hooked_training::begin_run() {
  input_ended_ = false;
  threads_->rethrow_requested();
}

LEAT_FUNCTION hooked_results hooked_training::run(graph_session& s, watched_session& watched, std::span<const fetch_item> fetches,
                                                  const feed_list& feeds, const run_options& how) {
  try {
    begin_run();
    return run_with_hooks(s, watched, hooks_, fetches, feeds, how, thread_failed_.get(), calling_hooks_);
  } catch (...) {
    rethrow_cause(watched);
  }
}

LEAT_FUNCTION void hooked_training::rethrow_cause(watched_session& s) {
  try {
    throw;
  } catch (const out_of_range&) {
    if (threads_ != nullptr) threads_->rethrow_requested();  // the queue is closed because the thread that filled it failed
    input_ended_ = true;
    throw;
  } catch (const cancelled&) {
    if (threads_ != nullptr) threads_->rethrow_requested();
    throw;
  } catch (const deadline_exceeded& e) {
    const std::string waited_for = explain_wait(s);
    if (waited_for.empty()) throw;
    throw deadline_exceeded(e.what() + std::string("; ") + waited_for);
  }
}

// A hook's explanation may need the session, which may itself be unresponsive, so errors of hooks are ignored.
LEAT_FUNCTION std::string hooked_training::explain_wait(watched_session& s) const {
  std::string text;
  for (const hook& h : hooks_) try {
      const std::string its = h->explain_wait(s);
      if (!its.empty()) text += (text.empty() ? "" : "; ") + its;
    } catch (const error&) {
    }
  return text;
}

// ---- what ends training ----

LEAT_FUNCTION int hooked_training::stopped_by_signal() const { return signals_ != nullptr ? stop_signals::received() : signal_; }

LEAT_FUNCTION bool hooked_training::should_stop() const {
  const bool stop = closed_ || is_stopped() || (threads_ != nullptr && !is_ending_ && threads_->should_stop() && !lost_by_thread());
  if (stop) seen_ = true;
  return stop;
}

// ---- new sessions ----

LEAT_FUNCTION bool hooked_training::lost_by_thread(const coordinator& c) const {
  if (max_recoveries_ <= 0 || !c.should_stop()) return false;
  try {
    c.rethrow_requested();
  } catch (...) {
    return is_loss_of_task(std::current_exception());
  }
  return false;
}

// ---- the end ----

LEAT_FUNCTION std::exception_ptr hooked_training::end_hooks(watched_session& s, bool is_stopped) {
  std::exception_ptr failed;
  const auto attempt = [&](auto call) {
    try {
      for (const hook& h : hooks_) call(*h);
    } catch (...) {
      if (failed == nullptr) failed = std::current_exception();
    }
  };
  attempt([&](session_run_hook& h) { h.before_end(s, is_stopped); });
  attempt([&](session_run_hook& h) { h.end(s); });
  return failed;
}

LEAT_FUNCTION void hooked_training::end_signals() {
  if (signals_ == nullptr) return;
  signal_ = stop_signals::received();
  signals_.reset();
}

LEAT_FUNCTION void hooked_training::close(watched_session* s, const std::function<std::exception_ptr()>& drop) {
  if (!mark_closed()) return;
  std::exception_ptr failed = s != nullptr ? end_hooks(*s, is_stopped()) : nullptr;
  if (const std::exception_ptr later = drop(); failed == nullptr) failed = later;
  if (failed != nullptr) std::rethrow_exception(failed);
}

LEAT_FUNCTION void hooked_training::abandon(const std::function<std::exception_ptr()>& drop) noexcept {
  if (mark_closed()) drop();
}

LEAT_FUNCTION void hooked_training::log_errors_of(const char* what, const std::function<void()>& close) const {
  try {
    close();
  } catch (const std::exception& e) {
    log() << what << ": " << e.what() << "\n";
  }
}

}  // namespace leat::detail
