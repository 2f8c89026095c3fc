#pragma once
// Implementation of supervised_loop.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/hooked_training.hpp>
#include <leat/supervise/supervised_loop.hpp>

#include <algorithm>
#include <utility>

namespace leat {

LEAT_FUNCTION std::vector<tensor_value> detail::watched_steps::evaluate(std::span<const fetch_item> fetches, const feed_list& feeds) {
  if (!feeds.items().empty()) throw failed_precondition("the steps of typed expressions are fed by the program, not by hooks");
  std::vector<tensor_value> results;
  for (const fetch_item& f : fetches) {
    if (f.name() == nullptr) throw invalid_argument("a hook of typed expressions names the value that it asks for");
    const auto found = std::find_if(values.begin(), values.end(), [&](const auto& v) { return v.first == *f.name(); });
    if (found == values.end()) {
      std::string names;
      for (const auto& [name, value] : values) names += (names.empty() ? "'" : ", '") + name + "'";
      throw not_found("the step gives no value '" + *f.name() + "'; it gives " + (names.empty() ? "none with a name" : names));
    }
    results.push_back(found->second);
  }
  return results;
}

LEAT_FUNCTION const summary::value_list* detail::watched_steps::step_summary() const {
  if (!append_summaries) return nullptr;
  summaries_.clear();
  append_summaries(summaries_);
  return &summaries_;
}

LEAT_FUNCTION void detail::watched_steps::restore(const saver& from, const checkpoint_path& path) {
  const auto opened = path.open();
  if (!opened->manifest().step)
    throw invalid_argument(opened->path() + ": a checkpoint without a step, which a supervised loop goes on from");
  restore_variables(from, path);
  step = *opened->manifest().step;
}

struct detail::step_loop::kept {
  // A typed session has no tasks that could go away, so it is never made anew.
  kept(std::unique_ptr<watched_steps> its, monitored_options given)
      : watched(std::move(its)),
        options(with_saver(std::move(given))),
        training(hooks_of(options), 0, options.stop_grace_period, options.log) {}

  std::unique_ptr<watched_steps> watched;
  monitored_options options;
  hooked_training training;
  std::unique_ptr<session_run_context> context;  // of the current step
  std::vector<std::vector<fetch_item>> asked;

  static monitored_options with_saver(monitored_options o) {
    if (o.its_saver == nullptr) o.its_saver = std::make_shared<saver>();
    return o;
  }
  // Borrowed arrays belong to the step's results, which are returned to the program, or are lost with an exception.
  void drop_borrowed() {
    watched->append_summaries = nullptr;
    std::erase_if(watched->values, [](const auto& v) { return v.second.is_borrowed(); });
  }
  std::exception_ptr finish() {
    const std::exception_ptr failed = training.end_session(nullptr);
    training.end_signals();
    return failed;
  }
};

LEAT_FUNCTION detail::step_loop::step_loop(std::unique_ptr<watched_steps> watched, monitored_options options,
                                           const std::function<void()>& initialize)
    : kept_(std::make_unique<kept>(std::move(watched), std::move(options))) {
  kept& k = *kept_;
  k.training.begin(nullptr);
  if (k.options.stop_on_signals) k.training.watch_signals();
  if (!restore_latest_run(*k.options.its_saver, *k.watched, k.options.checkpoint_dir, k.options.parts)) initialize();
  k.training.make_threads();
  k.training.after_create_session(*k.watched);
}

LEAT_FUNCTION detail::step_loop::~step_loop() {
  if (kept_->training.ends_by_exception()) abandon();
  else kept_->training.log_errors_of("a supervised loop was closed", [this] { close(); });
}

LEAT_FUNCTION void detail::step_loop::before() {
  kept& k = *kept_;
  if (k.training.is_closed()) throw failed_precondition("the supervised loop is closed");
  k.training.check_run();
  k.training.begin_run();
  static const feed_list no_feeds;
  k.context = std::make_unique<session_run_context>(*k.watched, std::span<const fetch_item>{}, no_feeds);
  k.asked.clear();
  for (const hook& h : k.training.hooks()) {
    session_run_args args = h->before_run(*k.context);
    if (!args.feeds.items().empty()) throw failed_precondition("the steps of typed expressions are fed by the program, not by hooks");
    k.asked.push_back(std::move(args.fetches));
  }
}

LEAT_FUNCTION void detail::step_loop::after(seconds took) {
  kept& k = *kept_;
  static const feed_list no_feeds;
  ++k.watched->step;
  for (std::size_t i = 0; i < k.training.hooks().size(); ++i) {
    const auto results = k.watched->evaluate(k.asked[i], no_feeds);
    k.training.hooks()[i]->after_run(*k.context, {results, &no_feeds, took});
  }
  if (k.context->stop_requested()) k.training.request_stop_by_hook();
  k.drop_borrowed();
}

LEAT_FUNCTION void detail::step_loop::failed() {
  kept_->drop_borrowed();
  kept_->training.rethrow_cause(*kept_->watched);
}
LEAT_FUNCTION bool detail::step_loop::should_stop() const { return kept_->training.should_stop(); }
LEAT_FUNCTION void detail::step_loop::request_stop() { kept_->training.request_stop(); }
LEAT_FUNCTION int detail::step_loop::stopped_by_signal() const { return kept_->training.stopped_by_signal(); }
LEAT_FUNCTION detail::watched_steps& detail::step_loop::watched() { return *kept_->watched; }

LEAT_FUNCTION void detail::step_loop::close() {
  kept_->training.close(kept_->watched.get(), [this] { return kept_->finish(); });
}
LEAT_FUNCTION void detail::step_loop::abandon() noexcept {
  kept_->training.abandon([this] { return kept_->finish(); });
}

}  // namespace leat
