#pragma once
// Implementation of logging_hooks.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/logging_hooks.hpp>

#include <cstdio>
#include <iostream>

namespace leat {

namespace detail {

class logging_tensor_hook final : public session_run_hook {
 public:
  logging_tensor_hook(named_fetches tensors, logging_options how) : tensors_(std::move(tensors)), how_(std::move(how)) {
    if (how_.every_n_iter || how_.every_n_secs)
      timer_.emplace(timer_options{.every_steps = how_.every_n_iter, .every_secs = how_.every_n_secs});
    else if (!how_.at_end) throw invalid_argument("either at_end and/or exactly one of every_n_iter and every_n_secs must be provided.");
    for (const auto& [name, tensor] : tensors_) fetches_.push_back(tensor);
  }
  void begin(const begin_context&) override {
    if (timer_) timer_->reset();
    runs_ = 0;
  }
  session_run_args before_run(session_run_context&) override {
    due_ = timer_ && timer_->should_trigger_for_step(runs_);
    return {.fetches = due_ ? fetches_ : std::vector<fetch_item>{}};
  }
  void after_run(session_run_context&, const session_run_values& v) override {
    if (due_) log(v.results);
    ++runs_;
  }
  void end(watched_session& s) override {
    if (how_.at_end) log(s.evaluate(fetches_, {}));
  }

 private:
  void log(std::span<const tensor_value> results) {
    std::vector<std::pair<std::string, tensor_value>> values;
    for (std::size_t k = 0; k < results.size(); ++k) values.emplace_back(tensors_[k].first, results[k]);
    const auto since = timer_ ? timer_->update_last_triggered_step(runs_) : std::nullopt;
    std::ostream& out = how_.log != nullptr ? *how_.log : std::cerr;
    if (how_.formatter) {
      out << how_.formatter(values) << "\n";
      return;
    }
    std::string line;
    for (const auto& [name, value] : values) line += (line.empty() ? "" : ", ") + name + " = " + summary_text(value, 10);
    if (since) {
      char text[48];
      std::snprintf(text, sizeof text, " (%.3f sec)", since->first.count());
      line += text;
    }
    out << line << "\n";
  }

  named_fetches tensors_;
  logging_options how_;
  std::vector<fetch_item> fetches_;
  std::optional<second_or_step_timer> timer_;
  std::int64_t runs_ = 0;
  bool due_ = false;
};

class step_counter_hook final : public session_run_hook {
 public:
  explicit step_counter_hook(counter_options how)
      : how_(std::move(how)),
        timer_({.every_steps = how_.every_n_secs || how_.every_n_steps ? how_.every_n_steps : 100, .every_secs = how_.every_n_secs}) {}
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "StepCounterHook"); }
  void after_create_session(watched_session&, coordinator&) override { timer_.reset(); }
  void after_run(session_run_context& c, const session_run_values&) override {
    const std::int64_t step = c.session().global_step();
    if (!timer_.should_trigger_for_step(step)) return;
    const auto since = timer_.update_last_triggered_step(step);
    if (!since || !(since->first.count() > 0)) return;
    const step_rate rate{.global_step = step, .steps_per_second = static_cast<double>(since->second) / since->first.count()};
    if (how_.report) return how_.report(rate);
    char text[64];
    std::snprintf(text, sizeof text, "global_step/sec: %g\n", rate.steps_per_second);
    (how_.log != nullptr ? *how_.log : std::cerr) << text;
  }

 private:
  counter_options how_;
  second_or_step_timer timer_;
};

}  // namespace detail

LEAT_FUNCTION hook logging_tensor(named_fetches tensors, logging_options how) {
  return std::make_shared<detail::logging_tensor_hook>(std::move(tensors), std::move(how));
}
LEAT_FUNCTION hook step_counter(counter_options how) { return std::make_shared<detail::step_counter_hook>(std::move(how)); }

}  // namespace leat
