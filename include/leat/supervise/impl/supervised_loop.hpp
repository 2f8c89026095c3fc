#pragma once
// Implementation of supervised_loop.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/supervised_loop.hpp>

#include <algorithm>
#include <iostream>

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
  std::unique_ptr<watched_steps> watched;
  monitored_options options;
  hook_list hooks;
  coordinator threads;
  std::unique_ptr<stop_signals> signals;
  std::unique_ptr<session_run_context> context;  // of the current step
  std::vector<std::vector<fetch_item>> asked;
  int signal = 0;
  bool stop = false;          // requested by a hook
  mutable bool seen = false;  // the program has seen that training is over
  bool closed = false;
  int exceptions = std::uncaught_exceptions();

  std::ostream& log() const { return options.log != nullptr ? *options.log : std::cerr; }
  void finish() {
    closed = true;
    threads.request_stop();
    if (signals != nullptr) {
      signal = stop_signals::received();
      signals.reset();
    }
  }
};

LEAT_FUNCTION detail::step_loop::step_loop(std::unique_ptr<watched_steps> watched, monitored_options options,
                                           const std::function<void()>& initialize)
    : kept_(std::make_unique<kept>()) {
  kept& k = *kept_;
  k.watched = std::move(watched);
  k.options = std::move(options);
  if (k.options.its_saver == nullptr) k.options.its_saver = std::make_shared<saver>();
  if (k.options.is_chief) {
    k.hooks = k.options.chief_only_hooks;
    for (hook& h : own_hooks(k.options)) k.hooks.push_back(std::move(h));
  }
  k.hooks.insert(k.hooks.end(), k.options.hooks.begin(), k.options.hooks.end());
  for (const hook& h : k.hooks)
    if (h == nullptr) throw invalid_argument("a hook that is null");
  for (const hook& h : k.hooks) h->begin({.owner = nullptr, .has_global_step = true});
  if (k.options.stop_on_signals) k.signals = std::make_unique<stop_signals>();
  if (!restore_latest_run(*k.options.its_saver, *k.watched, k.options.checkpoint_dir, k.options.parts)) initialize();
  for (const hook& h : k.hooks) h->after_create_session(*k.watched, k.threads);
}

LEAT_FUNCTION detail::step_loop::~step_loop() {
  if (kept_->closed) return;
  if (std::uncaught_exceptions() > kept_->exceptions) {
    abandon();
    return;
  }
  try {
    close();
  } catch (const std::exception& e) {
    kept_->log() << "a supervised loop was closed: " << e.what() << "\n";
  }
}

LEAT_FUNCTION void detail::step_loop::before() {
  kept& k = *kept_;
  if (k.closed) throw failed_precondition("the supervised loop is closed");
  if (k.stop || k.seen) {
    k.threads.rethrow_requested();
    throw failed_precondition("Run called even after should_stop requested.");
  }
  static const feed_list no_feeds;
  k.context = std::make_unique<session_run_context>(*k.watched, std::span<const fetch_item>{}, no_feeds);
  k.asked.clear();
  for (const hook& h : k.hooks) {
    session_run_args args = h->before_run(*k.context);
    if (!args.feeds.items().empty()) throw failed_precondition("the steps of typed expressions are fed by the program, not by hooks");
    k.asked.push_back(std::move(args.fetches));
  }
}

LEAT_FUNCTION void detail::step_loop::after(seconds took) {
  kept& k = *kept_;
  static const feed_list no_feeds;
  ++k.watched->step;
  for (std::size_t i = 0; i < k.hooks.size(); ++i) {
    const auto results = k.watched->evaluate(k.asked[i], no_feeds);
    k.hooks[i]->after_run(*k.context, {results, &no_feeds, took});
  }
  if (k.context->stop_requested()) k.stop = true;
  // Borrowed arrays belong to the step's results, which are returned to the program, so they are dropped here.
  k.watched->append_summaries = nullptr;
  std::erase_if(k.watched->values, [](const auto& v) { return v.second.is_borrowed(); });
}

LEAT_FUNCTION bool detail::step_loop::should_stop() const {
  const bool stop = kept_->closed || kept_->stop || stopped_by_signal() != 0 || kept_->threads.should_stop();
  if (stop) kept_->seen = true;
  return stop;
}
LEAT_FUNCTION void detail::step_loop::request_stop() { kept_->threads.request_stop(); }
LEAT_FUNCTION int detail::step_loop::stopped_by_signal() const {
  return kept_->signals != nullptr ? stop_signals::received() : kept_->signal;
}
LEAT_FUNCTION detail::watched_steps& detail::step_loop::watched() { return *kept_->watched; }

LEAT_FUNCTION void detail::step_loop::close() {
  kept& k = *kept_;
  if (k.closed) return;
  k.closed = true;
  std::exception_ptr failed;
  try {
    for (const hook& h : k.hooks) h->end(*k.watched);
  } catch (...) {
    failed = std::current_exception();
  }
  k.finish();
  if (failed != nullptr) std::rethrow_exception(failed);
}
LEAT_FUNCTION void detail::step_loop::abandon() noexcept {
  if (!kept_->closed) kept_->finish();
}

}  // namespace leat
