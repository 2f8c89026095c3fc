#pragma once
// Implementation of monitored_session.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/hooked_training.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/summary_saver.hpp>
#include <leat/supervise/watched_graph_session.hpp>

#include <utility>

namespace leat {

LEAT_FUNCTION hook_list detail::hooks_of(const monitored_options& o) {
  if (!o.is_chief) return o.hooks;
  hook_list hooks = o.chief_only_hooks;
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
  hooks.insert(hooks.end(), o.hooks.begin(), o.hooks.end());
  return hooks;
}

struct monitored_session::kept {
  explicit kept(monitored_options given)
      : options(std::move(given)),
        owner(options.owner != nullptr ? *options.owner : default_graph()),
        training(detail::hooks_of(options), options.max_recoveries, options.stop_grace_period, options.log) {}

  monitored_options options;
  graph& owner;
  std::unique_ptr<graph_session> session;
  std::unique_ptr<detail::watched_graph_session> watched;
  detail::hooked_training training;

  void make_session() {
    const scaffold_options& parts = options.scaffold->parts();
    session = training.make_session({.owner = owner,
                                     .session = options.session,
                                     .is_chief = options.is_chief,
                                     .max_wait = options.max_wait,
                                     .saves = options.its_saver != nullptr ? options.its_saver.get() : parts.its_saver.get(),
                                     .folder = options.checkpoint_dir,
                                     .parts = options.parts,
                                     .its_scaffold = options.scaffold.get()},
                                    {.init_op = parts.init_op,
                                     .init_feeds = parts.init_feeds,
                                     .init_fn = parts.init_fn,
                                     .ready_op = parts.ready_op,
                                     .ready_for_local_init_op = parts.ready_for_local_init_op,
                                     .local_init_op = parts.local_init_op});
    watched = std::make_unique<detail::watched_graph_session>(*session, options.scaffold.get());
    coordinator& c = training.make_threads();
    // Queues belong to the tasks that hold them, and outlive the session.
    start_queue_runners(*session, c, collection::queue_runners,
                        [this, &c] { return training.is_recovering() || training.lost_by_thread(c); });
    training.after_create_session(*watched);
  }
  // If a task goes away while a session is being made, another session is made.
  void make_session_in_turn() {
    training.make_in_turn([this] { make_session(); }, [this] { drop_session(); });
  }
  std::exception_ptr drop_session() {
    const std::exception_ptr failed = training.end_session(session.get());
    watched.reset();
    session.reset();
    if (training.is_closed()) training.end_signals();
    return failed;
  }
  // Called in the exception handler, so that `throw;` rethrows it.
  void recover(const error& reason) {
    if (!training.may_recover()) throw;
    training.log() << "An error was raised. This may be due to a preemption in a connected worker or parameter server. The current session "
                      "will be closed and a new session will be created. Error: "
                   << reason.what() << "\n";
    const detail::hooked_training::recovery here(training);
    drop_session();
    training.count_recovery();
    make_session_in_turn();
  }
  std::vector<tensor_value> run_once(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how) {
    detail::hooked_results made = training.run(*session, *watched, fetches, feeds, how);
    if (made.stop_requested) training.request_stop_by_hook();
    return std::move(made.values);
  }
  void check_open() const {
    if (training.is_closed()) throw failed_precondition("the monitored session is closed");
    if (session == nullptr) throw failed_precondition("the session was lost, and could not be made anew");
  }
};

LEAT_FUNCTION monitored_session::monitored_session(monitored_options options) : kept_(std::make_unique<kept>(std::move(options))) {
  kept& k = *kept_;
  if (k.options.scaffold == nullptr) k.options.scaffold = std::make_shared<leat::scaffold>();
  k.training.begin(&k.owner);
  k.options.scaffold->complete(k.owner);
  if (k.options.stop_on_signals) k.training.watch_signals();
  try {
    k.make_session_in_turn();
  } catch (...) {
    k.drop_session();
    throw;
  }
}

LEAT_FUNCTION monitored_session::~monitored_session() {
  if (kept_->training.ends_by_exception()) abandon();
  else kept_->training.log_errors_of("a monitored session was closed", [this] { close(); });
}

LEAT_FUNCTION std::vector<tensor_value> monitored_session::run_list(std::span<const fetch_item> fetches, const feed_list& feeds,
                                                                    const run_options& how) {
  kept& k = *kept_;
  k.check_open();
  k.training.check_run();
  return k.training.repeated([&] { return k.run_once(fetches, feeds, how); }, [&k](const error& e) { k.recover(e); });
}

LEAT_FUNCTION bool monitored_session::should_stop() const { return kept_->training.should_stop(); }
LEAT_FUNCTION void monitored_session::request_stop() { kept_->training.request_stop(); }
LEAT_FUNCTION int monitored_session::stopped_by_signal() const { return kept_->training.stopped_by_signal(); }

LEAT_FUNCTION void monitored_session::close() {
  kept_->training.close(kept_->watched.get(), [this] { return kept_->drop_session(); });
}
LEAT_FUNCTION void monitored_session::abandon() noexcept {
  kept_->training.abandon([this] { return kept_->drop_session(); });
}
LEAT_FUNCTION bool monitored_session::is_closed() const { return kept_->training.is_closed(); }

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
  return *kept_->training.threads();
}
LEAT_FUNCTION const leat::scaffold& monitored_session::its_scaffold() const { return *kept_->options.scaffold; }
LEAT_FUNCTION int monitored_session::recoveries() const { return kept_->training.recoveries(); }

}  // namespace leat
