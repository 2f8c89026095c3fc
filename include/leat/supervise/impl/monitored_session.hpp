#pragma once
// Implementation of monitored_session.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/hooked_run.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/session_manager.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/summary_saver.hpp>
#include <leat/supervise/watched_graph_session.hpp>
#include <leat/train/named/global_step.hpp>

#include <atomic>
#include <iostream>
#include <mutex>

namespace leat {

LEAT_FUNCTION hook_list detail::own_hooks(const monitored_options& o) {
  hook_list hooks;
  const std::string folder = o.summary_dir.empty() ? o.checkpoint_dir : o.summary_dir;
  if (!folder.empty() && o.log_step_count_steps > 0)
    hooks.push_back(step_counter(folder, {.every_n_steps = o.log_step_count_steps, .log = o.log}));
  const bool summaries_told = o.save_summaries_steps || o.save_summaries_secs;
  const std::int64_t steps = summaries_told ? o.save_summaries_steps.value_or(0) : 100;
  const seconds often = o.save_summaries_secs.value_or(seconds(0));
  if (!folder.empty() && (steps > 0 || often.count() > 0))
    hooks.push_back(summary_saver({.save_steps = steps > 0 ? std::optional(steps) : std::nullopt,
                                   .save_secs = often.count() > 0 ? std::optional(often) : std::nullopt,
                                   .output_dir = folder}));
  const bool saves_told = o.save_checkpoint_steps || o.save_checkpoint_secs;
  const std::int64_t save_steps = o.save_checkpoint_steps.value_or(0);
  const seconds save_secs = saves_told ? o.save_checkpoint_secs.value_or(seconds(0)) : seconds(600);
  if (!o.checkpoint_dir.empty() && (save_steps > 0 || save_secs.count() > 0))
    hooks.push_back(checkpoint_saver({.checkpoint_dir = o.checkpoint_dir,
                                      .save_steps = save_steps > 0 ? std::optional(save_steps) : std::nullopt,
                                      .save_secs = save_secs.count() > 0 ? std::optional(save_secs) : std::nullopt,
                                      .its_saver = o.its_saver,
                                      .parts = o.parts}));
  return hooks;
}

struct monitored_session::kept {
  explicit kept(monitored_options given) : options(std::move(given)), owner(options.owner != nullptr ? *options.owner : default_graph()) {}

  monitored_options options;
  graph& owner;
  hook_list hooks;
  std::mutex calling_hooks;
  std::unique_ptr<stop_signals> signals;
  std::unique_ptr<graph_session> session;
  std::unique_ptr<detail::watched_graph_session> watched;
  std::unique_ptr<coordinator> threads;   // destroyed before the session that its threads use
  std::atomic<bool> stop{false};          // requested by a hook
  std::atomic<bool> stop_asked{false};    // requested by the program
  mutable std::atomic<bool> seen{false};  // the program has seen that training is over
  // Cancelled when one of the threads fails, because a run may wait for something that thread was to do.
  std::shared_ptr<cancellation> thread_failed;
  std::atomic<bool> recovers{false};
  bool closed = false;
  bool input_ended = false;  // the last run threw out_of_range
  int recoveries = 0;
  int failures = 0;  // consecutive
  int signal = 0;    // the signal that ended training
  int exceptions = std::uncaught_exceptions();

  std::ostream& log() const { return options.log != nullptr ? *options.log : std::cerr; }

  // A thread's run failed because a task went away: this ends the session, but not training.
  bool lost_by_thread() const { return threads != nullptr && lost_by_thread(*threads); }
  bool lost_by_thread(const coordinator& c) const {
    if (options.max_recoveries <= 0 || !c.should_stop()) return false;
    try {
      c.rethrow_requested();
    } catch (...) {
      return detail::is_loss_of_task(std::current_exception());
    }
    return false;
  }

  // Logs the step at which training continues; on a single machine only after a recovery.
  void tell(graph_session& s, const std::string& what, watched_session& its) {
    if (s.options().target.empty() && recoveries == 0) return;
    log() << what << (its.has_global_step() ? ", at step " + std::to_string(its.global_step()) : std::string()) << "\n";
  }

  void make_session() {
    const scaffold_options& parts = options.scaffold->parts();
    const session_preparation how{.init_op = parts.init_op,
                                  .init_feeds = parts.init_feeds,
                                  .init_fn = parts.init_fn,
                                  .ready_op = parts.ready_op,
                                  .ready_for_local_init_op = parts.ready_for_local_init_op,
                                  .local_init_op = parts.local_init_op,
                                  .restore =
                                      [this](graph_session& s) {
                                        const auto& from =
                                            options.its_saver != nullptr ? options.its_saver : options.scaffold->parts().its_saver;
                                        if (from == nullptr) return false;
                                        detail::watched_graph_session its(s, options.scaffold.get());
                                        if (!restore_latest_run(*from, its, options.checkpoint_dir, options.parts)) return false;
                                        tell(s, "restored from " + latest_checkpoint(options.checkpoint_dir).str(), its);
                                        return true;
                                      },
                                  .keep =
                                      [this](graph_session& s) {
                                        detail::watched_graph_session its(s, options.scaffold.get());
                                        if (recoveries == 0 && !detail::goes_on_from_servers(its, options.checkpoint_dir)) return false;
                                        tell(s, "the servers have kept the variables", its);
                                        return true;
                                      },
                                  .log = options.log};
    session =
        options.is_chief ? prepare_session(owner, options.session, how) : wait_for_session(owner, options.session, how, options.max_wait);
    watched = std::make_unique<detail::watched_graph_session>(*session, options.scaffold.get());
    if (!options.is_chief && recoveries > 0) tell(*session, "the model is ready again", *watched);
    threads = std::make_unique<coordinator>();
    thread_failed = std::make_shared<cancellation>();
    coordinator& c = *threads;
    c.on_stop([&c, failed = thread_failed] {
      try {
        c.rethrow_requested();
      } catch (...) {
        failed->cancel();
      }
    });
    // Queues belong to the tasks that hold them, and outlive the session.
    start_queue_runners(*session, c, collection::queue_runners, [this, &c] { return recovers || lost_by_thread(c); });
    for (const hook& h : hooks) h->after_create_session(*watched, c);
  }
  // The coordinator's destructor waits for threads that still run after the grace period, because they use the session.
  void drop_session(bool quietly) {
    std::exception_ptr failed;
    if (lost_by_thread()) quietly = true;  // training was over, or continues in another session
    if (threads != nullptr) {
      try {
        threads->request_stop();
        threads->join({.grace_period = options.stop_grace_period, .ignore_live_threads = true});
      } catch (...) {
        failed = std::current_exception();
      }
    }
    try {
      if (session != nullptr) session->close();
    } catch (...) {  // the target can no longer be reached
      if (failed == nullptr) failed = std::current_exception();
    }
    threads.reset();
    watched.reset();
    session.reset();
    if (closed && signals != nullptr) {
      signal = stop_signals::received();
      signals.reset();
    }
    if (failed != nullptr && !quietly) std::rethrow_exception(failed);
  }
  // Called in the exception handler, so that `throw;` rethrows it.
  void recover(const error& reason) {
    if (++failures > options.max_recoveries) throw;
    log() << "An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session will be "
             "closed and a new session will be created. Error: "
          << reason.what() << "\n";
    recovers = true;
    drop_session(true);
    ++recoveries;
    make_session_in_turn();
    recovers = false;
  }
  // If a task goes away while a session is being made, another session is made.
  void make_session_in_turn() {
    for (detail::growing_pause pause;;) {
      pause.wait();
      try {
        return make_session();
      } catch (const error& e) {
        if (!detail::is_loss_of_task(std::current_exception()) || ++failures > options.max_recoveries || stopped_by_signal()) throw;
        log() << "A session could not be made, and is tried again: " << e.what() << "\n";
        drop_session(true);
      }
    }
  }
  bool stopped_by_signal() const { return signals != nullptr && stop_signals::received() != 0; }

  std::vector<tensor_value> run_once(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how) {
    detail::hooked_results made =
        detail::run_with_hooks(*session, *watched, hooks, fetches, feeds, how, thread_failed.get(), calling_hooks);
    if (made.stop_requested) stop = true;
    return std::move(made.values);
  }
  void check_open() const {
    if (closed) throw failed_precondition("the monitored session is closed");
    if (session == nullptr) throw failed_precondition("the session was lost, and could not be made anew");
  }
};

LEAT_FUNCTION monitored_session::monitored_session(monitored_options options) : kept_(std::make_unique<kept>(std::move(options))) {
  kept& k = *kept_;
  if (k.options.is_chief) {
    k.hooks = k.options.chief_only_hooks;
    for (hook& h : detail::own_hooks(k.options)) k.hooks.push_back(std::move(h));
  }
  k.hooks.insert(k.hooks.end(), k.options.hooks.begin(), k.options.hooks.end());
  for (const hook& h : k.hooks)
    if (h == nullptr) throw invalid_argument("a hook that is null");
  if (k.options.scaffold == nullptr) k.options.scaffold = std::make_shared<leat::scaffold>();
  {
    const default_graph_scope here(k.owner);
    for (const hook& h : k.hooks) h->begin({.owner = &k.owner, .has_global_step = static_cast<bool>(get_global_step(k.owner))});
  }
  k.options.scaffold->complete(k.owner);
  if (k.options.stop_on_signals) k.signals = std::make_unique<stop_signals>();
  try {
    k.make_session_in_turn();
  } catch (...) {
    k.drop_session(true);
    throw;
  }
}

LEAT_FUNCTION monitored_session::~monitored_session() {
  if (kept_->closed) return;
  if (std::uncaught_exceptions() > kept_->exceptions && !kept_->input_ended) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception& e) {
    kept_->log() << "a monitored session was closed: " << e.what() << "\n";
  }
}

LEAT_FUNCTION std::vector<tensor_value> monitored_session::run_list(std::span<const fetch_item> fetches, const feed_list& feeds,
                                                                    const run_options& how) {
  kept& k = *kept_;
  k.check_open();
  // A stop that a signal or a thread requests between the program's call of `should_stop` and its run does not make that run an error.
  if (k.stop || k.seen) {
    k.threads->rethrow_requested();
    throw failed_precondition("Run called even after should_stop requested.");
  }
  k.input_ended = false;
  for (;;) {
    try {
      try {
        if (k.lost_by_thread()) k.threads->rethrow_requested();
        auto results = k.run_once(fetches, feeds, how);
        k.failures = 0;
        return results;
      } catch (const out_of_range&) {
        k.threads->rethrow_requested();  // the queue is closed because the thread that filled it failed
        k.input_ended = true;
        throw;
      } catch (const cancelled&) {
        k.threads->rethrow_requested();
        throw;
      } catch (const deadline_exceeded& e) {
        const std::string waited_for = detail::explain_wait(k.hooks, *k.watched);
        if (waited_for.empty()) throw;
        throw deadline_exceeded(e.what() + std::string("; ") + waited_for);
      }
    } catch (const aborted& e) {
      k.recover(e);
    } catch (const unavailable& e) {
      k.recover(e);
    }
  }
}

LEAT_FUNCTION bool monitored_session::should_stop() const {
  const kept& k = *kept_;
  const bool stop = k.closed || k.stop || k.stop_asked || stopped_by_signal() != 0 ||
                    (k.threads != nullptr && k.threads->should_stop() && !k.lost_by_thread());
  if (stop) k.seen = true;
  return stop;
}
LEAT_FUNCTION void monitored_session::request_stop() { kept_->stop_asked = true; }
LEAT_FUNCTION int monitored_session::stopped_by_signal() const {
  return kept_->signals != nullptr ? stop_signals::received() : kept_->signal;
}

LEAT_FUNCTION void monitored_session::close() {
  kept& k = *kept_;
  if (k.closed) return;
  k.closed = true;
  std::exception_ptr failed;
  try {
    const bool is_stopped = k.stop || k.stop_asked || k.stopped_by_signal();
    if (k.watched != nullptr)
      for (const hook& h : k.hooks) h->before_end(*k.watched, is_stopped);
  } catch (...) {
    failed = std::current_exception();
  }
  try {
    if (k.watched != nullptr)
      for (const hook& h : k.hooks) h->end(*k.watched);
  } catch (...) {
    if (failed == nullptr) failed = std::current_exception();
  }
  k.drop_session(failed != nullptr);
  if (failed != nullptr) std::rethrow_exception(failed);
}

LEAT_FUNCTION void monitored_session::abandon() noexcept {
  kept& k = *kept_;
  if (k.closed) return;
  k.closed = true;
  try {
    k.drop_session(true);
  } catch (...) {
  }
}
LEAT_FUNCTION bool monitored_session::is_closed() const { return kept_->closed; }

LEAT_FUNCTION graph_session& monitored_session::session() {
  kept_->check_open();
  return *kept_->session;
}
LEAT_FUNCTION std::int64_t monitored_session::global_step() {
  kept_->check_open();
  return kept_->watched->global_step();
}
LEAT_FUNCTION coordinator& monitored_session::coordinated() {
  kept_->check_open();
  return *kept_->threads;
}
LEAT_FUNCTION const leat::scaffold& monitored_session::its_scaffold() const { return *kept_->options.scaffold; }
LEAT_FUNCTION int monitored_session::recoveries() const { return kept_->recoveries; }

}  // namespace leat
