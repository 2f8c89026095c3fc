#pragma once
// One run of a supervised graph session: its hooks add fetches and feeds, and receive the results.

#include <leat/core/function_bodies.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <mutex>
#include <span>
#include <vector>

namespace leat::detail {

struct hooked_results {
  std::vector<tensor_value> values;  // of the program's fetches
  bool stop_requested = false;       // by a hook
};

/// Runs the program's fetches with those of the hooks. `failed` cancels the run, as `how.cancel` does. `calling` is locked during each
/// round of hook calls, because runs may come from several threads.
/// Errors: failed_precondition for a tensor that is fed twice, or for two traces; those of the run and of the hooks.
hooked_results run_with_hooks(graph_session& s, watched_session& watched, const hook_list& hooks, std::span<const fetch_item> fetches,
                              const feed_list& feeds, const run_options& how, const cancellation* failed, std::mutex& calling);

}  // namespace leat::detail

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/hooked_run.hpp>
#endif
