#pragma once
// Implementation of progress.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/progress.hpp>

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>

namespace leat {

namespace detail {

inline std::string formatted(const char* format, double v) {
  char text[64];
  std::snprintf(text, sizeof text, format, v);
  return text;
}

// For example "2.8 s", "4 min 10 s", "3 h 12 min".
inline std::string time_text(double secs) {
  if (!(secs < 1e9)) return "a long time";
  if (secs < 60) return formatted("%.1f s", secs);
  const auto whole = static_cast<long long>(std::llround(secs));
  if (whole < 3600) return std::to_string(whole / 60) + " min " + std::to_string(whole % 60) + " s";
  return std::to_string(whole / 3600) + " h " + std::to_string(whole % 3600 / 60) + " min";
}

}  // namespace detail

LEAT_FUNCTION std::string progress_line(const progress_state& now, bool with_bar) {
  std::string line = "step " + std::to_string(now.step);
  if (now.last_step > 0) {
    const double part = std::clamp(static_cast<double>(now.step) / static_cast<double>(now.last_step), 0.0, 1.0);
    line += "/" + std::to_string(now.last_step) + detail::formatted("  %3.0f%%", std::floor(100 * part));
    if (with_bar) {
      constexpr int width = 20;
      const int done = static_cast<int>(part * width);
      line += "  [" + std::string(static_cast<std::size_t>(done), '#') + std::string(static_cast<std::size_t>(width - done), '-') + "]";
    }
  }
  if (now.steps_per_second > 0) line += detail::formatted("  %.4g steps/s", now.steps_per_second);
  if (now.loss) line += detail::formatted("  loss %.6g", *now.loss);
  if (now.last_step > now.step && now.steps_per_second > 0)
    line += "  " + detail::time_text(static_cast<double>(now.last_step - now.step) / now.steps_per_second) + " left";
  return line;
}

namespace detail {

class progress_hook final : public session_run_hook {
 public:
  using clock = std::chrono::steady_clock;
  explicit progress_hook(progress_options how)
      : how_(std::move(how)), terminal_(how_.is_terminal.value_or(how_.log == nullptr && ::isatty(STDERR_FILENO) != 0)) {}
  void begin(const begin_context& c) override { require_global_step(c.has_global_step, "the progress hook"); }
  void after_create_session(watched_session& s, coordinator&) override {
    first_ = s.global_step();
    start_ = shown_ = clock::now();
  }
  session_run_args before_run(session_run_context&) override {
    due_ = clock::now() - shown_ >= (terminal_ ? how_.every : how_.every_plain);
    return {.fetches = due_ && how_.loss ? std::vector<fetch_item>{*how_.loss} : std::vector<fetch_item>{}};
  }
  void after_run(session_run_context& c, const session_run_values& v) override {
    if (!due_) return;
    if (!v.results.empty()) loss_ = number(v.results[0]);
    show(c.session().global_step());
  }
  void end(watched_session& s) override {
    show(s.global_step());
    if (terminal_) out() << std::endl;
  }

 private:
  static double number(const tensor_value& v) {
    if (v.type() == dtype::float64) return v.as<double>();
    return static_cast<double>(v.as<float>());
  }
  std::ostream& out() const { return how_.log != nullptr ? *how_.log : std::cerr; }
  void show(std::int64_t step) {
    const auto now = clock::now();
    const double took = seconds(now - start_).count();
    const std::string line = progress_line({.step = step,
                                            .last_step = how_.last_step,
                                            .steps_per_second = took > 0 ? static_cast<double>(step - first_) / took : 0,
                                            .loss = loss_},
                                           terminal_);
    if (terminal_) out() << "\r" << line << std::string(line.size() < width_ ? width_ - line.size() : 0, ' ') << std::flush;
    else out() << line << std::endl;
    width_ = line.size();
    shown_ = now;
  }

  progress_options how_;
  bool terminal_;
  bool due_ = false;
  std::int64_t first_ = 0;
  clock::time_point start_, shown_;
  std::optional<double> loss_;
  std::size_t width_ = 0;
};

}  // namespace detail

LEAT_FUNCTION hook progress(progress_options how) { return std::make_shared<detail::progress_hook>(std::move(how)); }

}  // namespace leat
