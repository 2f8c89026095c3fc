#pragma once
// Implementation of supervisor.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/summary/named_summary.hpp>
#include <leat/supervise/hooked_training.hpp>
#include <leat/supervise/run_snapshot.hpp>
#include <leat/supervise/scaffold.hpp>
#include <leat/supervise/supervisor.hpp>
#include <leat/supervise/watched_graph_session.hpp>
#include <leat/train/named/global_step.hpp>

#include <chrono>
#include <filesystem>
#include <mutex>
#include <shared_mutex>
#include <thread>
#include <tuple>

namespace leat {

struct supervisor::kept {
  explicit kept(supervisor_options given)
      : options(std::move(given)),
        owner(options.owner != nullptr ? *options.owner : default_graph()),
        training(options.hooks, options.session.target.empty() ? 0 : options.max_recoveries, seconds(options.stop_grace_secs),
                 options.log) {}

  supervisor_options options;
  graph& owner;
  session_preparation preparation;
  output summary, step;
  std::string save_path;
  std::optional<leat::saver> saves;
  std::shared_ptr<summary::file_writer> writer;
  std::unique_ptr<graph_session> session;
  std::unique_ptr<detail::watched_graph_session> watched;
  std::vector<std::unique_ptr<graph_session>> lost;                        // closed sessions to which the program may still refer
  std::unique_ptr<coordinator> threads = std::make_unique<coordinator>();  // destroyed before the session that its threads use
  detail::hooked_training training;                                        // its threads are those of hooks, and belong to one session
  std::mutex recovering;

  std::mutex saving;  // held while one checkpoint is saved
  // A checkpoint is taken while no run is active. A thread that waits to save holds `turn`, so that consecutive runs let it through.
  std::mutex turn;
  std::shared_timed_mutex running;

  template <class T, class Make>
  void choose(const choice<T>& given, std::string_view collection, T& part, Make make) {
    if (given.held()) part = *given.held();
    else if (given.is_default()) {
      for (const collection_item& item : get_collection(owner, collection))
        if (const auto* found = std::get_if<T>(&item); found != nullptr && !static_cast<bool>(part)) part = *found;
      if (static_cast<bool>(part)) return;
      part = make();
      if (static_cast<bool>(part)) add_to_collection(owner, collection, part);
    }
  }
  void make_operations() {
    const default_graph_scope here(owner);
    const name_scope root(owner, "");
    choose(options.ready_op, "ready_op", preparation.ready_op, [] { return report_uninitialized_variables(); });
    choose(options.ready_for_local_init_op, "ready_for_local_init_op", preparation.ready_for_local_init_op, [] { return output(); });
    choose(options.init, "init_op", preparation.init_op, [] { return global_variables_initializer(); });
    choose(options.local_init, "local_init_op", preparation.local_init_op, [] { return scaffold::default_local_init_op(); });
    if (options.save.held()) saves = *options.save.held();
    else if (options.save.is_default() && !saved_variables(owner).empty()) saves.emplace(owner);
    choose(options.summary, "summary_op", summary, [] { return summary::merge_all(); });
    step = options.global_step.held() ? *options.global_step.held() : options.global_step.is_default() ? get_global_step(owner) : output();
    preparation.init_feeds = options.init_feeds;
    preparation.init_fn = options.init_fn;
  }
  // With replicas, each of them would make its own copy of a variable without a device.
  void check_devices() const {
    for (const graph_operation& op : get_operations(owner))
      if (owner.at(op.index()).op->kind == op_kind::variable && op.device().empty())
        throw invalid_argument("When using replicas, all Variables must have their device set: " + detail::node_text(op));
  }
  void make_session() {
    session = training.make_session({.owner = owner,
                                     .session = options.session,
                                     .is_chief = options.is_chief,
                                     .max_wait = seconds(options.max_wait_secs),
                                     .saves = saves ? &*saves : nullptr,
                                     .folder = options.logdir,
                                     .parts = options.parts,
                                     .step = step},
                                    preparation);
    watched = std::make_unique<detail::watched_graph_session>(*session, nullptr, step);
    if (training.hooks().empty()) return;
    training.make_threads([this](const std::exception_ptr& reason) {
      if (reason != nullptr) {
        if (!training.is_loss(reason)) threads->request_stop(reason);
      } else if (!training.is_ending()) {
        threads->request_stop();  // an orderly end: no other replica is left to train with
      }
    });
    training.after_create_session(*watched);
  }
  // If a task goes away while a session is being made, another session is made.
  void make_session_in_turn() {
    training.make_in_turn([this] { make_session(); },
                          [this] {
                            training.end_session(session.get());
                            watched.reset();
                            session.reset();
                          });
  }
  // Does nothing if an exception has ended training.
  void end_hooks(bool is_stopped) {
    if (watched == nullptr || training.threads() == nullptr || training.ends_by_exception()) return;
    for (const coordinator* c : {threads.get(), training.threads()}) try {
        c->rethrow_requested();
      } catch (...) {
        return;  // `join` throws it
      }
    if (const std::exception_ptr failed = training.end_hooks(*watched, is_stopped); failed != nullptr) std::rethrow_exception(failed);
  }
  std::vector<tensor_value> run_once(std::span<const fetch_item> fetches, const feed_list& feeds, const run_options& how) {
    require_session();
    if (training.hooks().empty()) return session->run(std::vector<fetch_item>(fetches.begin(), fetches.end()), feeds, how);
    detail::hooked_results made = training.run(*session, *watched, fetches, feeds, how);
    if (made.stop_requested) threads->request_stop();
    return std::move(made.values);
  }
  // Tries again in a new session as long as tasks go away.
  template <class Run>
  auto repeated(Run run) -> decltype(run()) {
    int of = 0;  // the number of recoveries before the run
    const auto one = [&] {
      of = training.recoveries();
      { const std::lock_guard after(turn); }
      const std::shared_lock here(running);
      return run();
    };
    return training.repeated(one, [&](const error& e) { recover(of, e); });
  }
  // Called in the handler of a run's exception; rethrows it if there is no recovery.
  void recover(int of, const error& reason) {
    const std::lock_guard one(recovering);
    if (training.recoveries() != of) return;  // another thread's run has recovered already
    if (options.session.target.empty() || training.is_closed() || threads->should_stop() ||
        !get_collection(owner, collection::queue_runners).empty() || !training.may_recover())
      throw;
    training.log() << "A run has failed; a new session is made. " << reason.what() << "\n";
    const detail::hooked_training::recovery here(training);
    training.request_threads_to_end();  // before their session is closed
    if (session != nullptr) try {       // there is none if an earlier recovery has failed
        session->close();
      } catch (const std::exception&) {  // the target can no longer be reached
      }
    const std::unique_lock alone(running);  // runs of other threads have ended, or fail now
    training.end_session(nullptr);
    watched.reset();
    if (session != nullptr) lost.push_back(std::move(session));
    training.count_recovery();
    make_session_in_turn();
  }
  // For the supervisor's own threads: an unavailable task does not end them, since the program's next run makes a new session.
  void unless_away(const std::function<void()>& f) {
    try {
      f();
    } catch (const error& e) {
      if (!training.is_loss(std::current_exception())) throw;
      training.log() << "not done, since a task is away: " << e.what() << "\n";
    }
  }
  std::int64_t steps() {
    require_session();
    return static_cast<bool>(step) ? watched->global_step() : 0;
  }
  void require_session() const {
    if (watched == nullptr) throw unavailable("the session was lost, and could not be made anew");
  }
  // Runs that wait for each other, such as one that fills a queue and one that empties it, must not be blocked by a checkpoint between
  // them. So the checkpoint gives up its turn after a moment, and tries again. Errors: deadline_exceeded if there is no moment without a
  // run in a minute.
  std::unique_lock<std::shared_timed_mutex> between_runs() {
    for (auto start = std::chrono::steady_clock::now(); std::chrono::steady_clock::now() - start < std::chrono::minutes(1);) {
      if (training.is_recovering()) {
        if (threads->should_stop()) throw unavailable("a session is being made anew");
        start = std::chrono::steady_clock::now();
      }
      {
        const std::lock_guard next(turn);
        std::unique_lock alone(running, std::chrono::milliseconds(50));
        if (alone.owns_lock()) return alone;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    throw deadline_exceeded("no checkpoint can be taken: for a minute there was no moment without a run");
  }
  std::string save() {
    // Locked from reading the values to writing the name in the state file; without the lock an older checkpoint could be named as the
    // latest.
    const std::lock_guard one(saving);
    if (!saves || save_path.empty()) throw failed_precondition("the supervisor saves nothing: it has no logdir, or no saver");
    if (session == nullptr && training.recoveries() == 0) throw failed_precondition("the supervisor has no session");
    auto [at, how, variables] = [&] {
      const auto alone = between_runs();
      require_session();
      return std::tuple(steps(), detail::state_beside(*watched, options.parts), detail::run_snapshot_of_session(*session));
    }();
    const std::string path = saves->save(variables, save_path, at, how);
    if (writer != nullptr) writer->add_session_log({.status = summary::session_status::checkpoint, .checkpoint_path = path}, at);
    return path;
  }
};

LEAT_FUNCTION std::vector<tensor_value> supervised_session::run_list(std::span<const fetch_item> fetches, const feed_list& feeds,
                                                                     const run_options& how) {
  return owner_->kept_->repeated([&] { return owner_->kept_->run_once(fetches, feeds, how); });
}
LEAT_FUNCTION tensor_value supervised_session::value(const output& variable) {
  return owner_->kept_->repeated([&] { return get().value(variable); });
}
LEAT_FUNCTION graph_session& supervised_session::get() const { return owner_->session(); }
LEAT_FUNCTION supervised_session::~supervised_session() {
  if (owner_ != nullptr) owner_->kept_->training.log_errors_of("a supervisor was stopped", [this] { owner_->stop(); });
}

LEAT_FUNCTION supervisor::supervisor(supervisor_options options) : kept_(std::make_unique<kept>(std::move(options))) {
  kept& k = *kept_;
  k.training.begin(&k.owner);
  if (!k.options.is_chief) k.check_devices();
  k.make_operations();
  finalize(k.owner);
  const supervisor_options& o = k.options;
  if (!o.is_chief || o.logdir.empty()) {
    if (o.is_chief && o.summary_writer.held()) k.writer = *o.summary_writer.held();
    return;
  }
  write_graph(k.owner, o.logdir);
  k.save_path = (std::filesystem::path(o.logdir) / o.checkpoint_basename).string();
  if (o.summary_writer.held()) k.writer = *o.summary_writer.held();
  else if (o.summary_writer.is_default()) k.writer = std::make_shared<summary::file_writer>(o.logdir, k.owner);
}

LEAT_FUNCTION supervisor::~supervisor() {
  kept_->training.log_errors_of("a supervisor was stopped", [this] { stop(); });
}

LEAT_FUNCTION supervised_session supervisor::prepare_or_wait_for_session(bool start_services) {
  kept& k = *kept_;
  if (k.session != nullptr) throw failed_precondition("the supervisor has a session already");
  if (k.options.stop_on_signals) k.training.watch_signals();
  k.threads->clear_stop();
  k.training.begin_anew();
  k.make_session_in_turn();
  supervised_session made(*this);
  if (start_services && k.options.is_chief) start_standard_services();
  start_queue_runners(*k.session, *k.threads);
  return made;
}

LEAT_FUNCTION void supervisor::start_standard_services() {
  kept& k = *kept_;
  if (!k.options.is_chief)
    throw failed_precondition("Only chief supervisor can start standard services. Because only chief supervisors can write events.");
  if (k.options.logdir.empty()) return;
  if (k.writer != nullptr && static_cast<bool>(k.step)) k.writer->add_session_log(summary::session_status::start, k.steps());
  if (k.options.save_summaries_secs > 0 && k.writer != nullptr) {
    if (static_cast<bool>(k.summary))
      loop(k.options.save_summaries_secs, [&k] {
        k.unless_away([&k] {
          const std::shared_lock here(k.running);
          k.require_session();
          const tensor_value made = k.session->run(k.summary);
          k.writer->add_summary(made, k.steps());
        });
      });
    if (static_cast<bool>(k.step)) {
      using clock = std::chrono::steady_clock;
      loop(k.options.save_summaries_secs, [&k, last = k.steps(), then = clock::now(), tag = k.step.operation().name() + "/sec"]() mutable {
        std::int64_t steps = last;
        k.unless_away([&] {
          const std::shared_lock here(k.running);
          steps = k.steps();
        });
        const auto now = clock::now();
        const double took = seconds(now - then).count();
        k.writer->add_scalar(tag, took > 0 ? static_cast<float>(static_cast<double>(steps - last) / took) : 0.0f, steps);
        last = steps;
        then = now;
      });
    }
  }
  if (k.saves && k.options.save_model_secs > 0) loop(k.options.save_model_secs, [&k] { k.unless_away([&k] { k.save(); }); });
}

LEAT_FUNCTION void supervisor::loop(double interval_secs, std::function<void()> f) {
  if (!(interval_secs > 0)) throw invalid_argument("a loop's interval is " + std::to_string(interval_secs) + "; it is a time above 0");
  coordinator& c = *kept_->threads;
  c.start([&c, interval_secs, f = std::move(f)] {
    using clock = std::chrono::steady_clock;
    auto next = clock::now();
    while (!c.wait_for_stop(next - clock::now())) {
      next += std::chrono::duration_cast<clock::duration>(seconds(std::min(interval_secs, 1e8)));
      f();
    }
  });
}

LEAT_FUNCTION void supervisor::summary_computed(const tensor_value& computed, std::optional<std::int64_t> global_step) {
  kept& k = *kept_;
  if (k.writer == nullptr) throw failed_precondition("Writing a summary requires a summary writer.");
  k.writer->add_summary(computed, global_step ? *global_step : k.watched != nullptr ? k.steps() : 0);
}

LEAT_FUNCTION std::string supervisor::save_model() { return kept_->save(); }

LEAT_FUNCTION bool supervisor::should_stop() const {
  return kept_->training.is_closed() || stopped_by_signal() != 0 || kept_->threads->should_stop();
}
LEAT_FUNCTION int supervisor::stopped_by_signal() const { return kept_->training.stopped_by_signal(); }
LEAT_FUNCTION bool supervisor::wait_for_stop(seconds timeout) const { return kept_->threads->wait_for_stop(timeout); }

LEAT_FUNCTION void supervisor::stop() {
  kept& k = *kept_;
  const bool is_stopped = k.threads->should_stop() || stopped_by_signal() != 0;
  if (!k.training.mark_closed()) return;
  std::exception_ptr failed;
  const auto attempt = [&](auto f) {
    try {
      f();
    } catch (...) {
      if (failed == nullptr) failed = std::current_exception();
    }
  };
  attempt([&] { k.end_hooks(is_stopped); });
  k.training.stop_threads();  // what one of them threw was passed on when it requested the stop
  attempt([&] {
    k.threads->request_stop();
    k.threads->join({.grace_period = seconds(k.options.stop_grace_secs)});
  });
  if (k.session != nullptr && stopped_by_signal() != 0 && k.options.is_chief && k.options.save_model_secs > 0 && !k.save_path.empty() &&
      k.saves)
    attempt([&] { k.save(); });
  if (k.saves) attempt([&] { k.saves->wait(); });
  if (k.writer != nullptr)
    attempt([&] {
      k.writer->add_session_log(summary::session_status::stop);
      k.writer->close();
    });
  if (k.session != nullptr) k.session->close();
  // Threads that still run use the session; closing it ends their runs.
  k.training.drop_threads();
  while (!k.threads->live_threads().empty()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  k.watched.reset();
  k.session.reset();
  k.lost.clear();
  k.training.end_signals();
  if (failed != nullptr) std::rethrow_exception(failed);
}

LEAT_FUNCTION int supervisor::recoveries() const { return kept_->training.recoveries(); }
LEAT_FUNCTION coordinator& supervisor::coord() const { return *kept_->threads; }
LEAT_FUNCTION bool supervisor::is_chief() const { return kept_->options.is_chief; }
LEAT_FUNCTION const std::string& supervisor::save_path() const { return kept_->save_path; }
LEAT_FUNCTION saver& supervisor::saver() {
  if (!kept_->saves) throw failed_precondition("the supervisor has no saver");
  return *kept_->saves;
}
LEAT_FUNCTION const std::shared_ptr<summary::file_writer>& supervisor::summary_writer() const { return kept_->writer; }
LEAT_FUNCTION const session_preparation& supervisor::preparation() const { return kept_->preparation; }
LEAT_FUNCTION output supervisor::summary_op() const { return kept_->summary; }
LEAT_FUNCTION output supervisor::global_step() const { return kept_->step; }
LEAT_FUNCTION graph_session& supervisor::session() const {
  if (kept_->session == nullptr) throw failed_precondition("the supervisor has no session: managed_session() makes one, stop() ends it");
  return *kept_->session;
}

}  // namespace leat
