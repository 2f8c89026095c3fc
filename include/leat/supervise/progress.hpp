#pragma once
// A hook that shows the progress of training: on a terminal, one line that is overwritten, with a bar, the rate, the loss and the remaining
// time; elsewhere, as in a file, a plain line every `every_plain` seconds.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <iosfwd>

namespace leat {

/// Options of `progress`.
struct progress_options {
  std::int64_t last_step = 0;         // where training ends; 0: unknown, no bar and no remaining time
  std::optional<fetch_item> loss{};   // a scalar; fetched only when it is shown
  seconds every{0.1};                 // interval on a terminal
  seconds every_plain{10};            // interval elsewhere
  std::ostream* log = nullptr;        // null is standard error
  std::optional<bool> is_terminal{};  // by default true if standard error is a terminal and `log` is null
};

/// A hook that shows progress. Errors: in `begin`, failed_precondition without a global step.
[[nodiscard]] hook progress(progress_options how = {});

/// The values that a line shows.
struct progress_state {
  std::int64_t step = 0;
  std::int64_t last_step = 0;
  double steps_per_second = 0;  // 0: not known yet
  std::optional<double> loss{};
};
/// "step 300/1000  30%  [######--------------]  250 steps/s  loss 0.1234  2.8 s left"; without the bar unless `with_bar`.
std::string progress_line(const progress_state& now, bool with_bar);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/progress.hpp>
#endif
