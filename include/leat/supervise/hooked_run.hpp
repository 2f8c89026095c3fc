#pragma once
// A run of a supervised session of a graph: its hooks add fetches and feeds, and get the results.

#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace leat::detail {

struct hooked_results {
  std::vector<tensor_value> values;  // of the program's fetches
  bool stop_requested = false;       // by a hook
};

/// `failed` ends the run, beside `how.cancel`. `calling` is held around each round of hooks, where runs come from several threads.
/// Errors: failed_precondition for a tensor that is fed twice, or two traces; those of the run and of hooks.
hooked_results run_with_hooks(graph_session& s, watched_session& watched, const hook_list& hooks, std::span<const fetch_item> fetches,
                              const feed_list& feeds, const run_options& how, const cancellation* failed, std::mutex& calling);

/// What hooks know of a wait that ended at its deadline; empty if nothing.
std::string explain_wait(const hook_list& hooks, watched_session& watched);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/supervise/hooked_run_bodies.hpp>
#endif
