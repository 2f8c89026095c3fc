#pragma once
// Supervised training. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/supervise/checkpoint_saver_bodies.hpp>
#include <leat/supervise/coordinator_bodies.hpp>
#include <leat/supervise/hooked_run_bodies.hpp>
#include <leat/supervise/logging_hooks_bodies.hpp>
#include <leat/supervise/monitored_session_bodies.hpp>
#include <leat/supervise/nan_tensor_bodies.hpp>
#include <leat/supervise/progress_bodies.hpp>
#include <leat/supervise/queue_runner_bodies.hpp>
#include <leat/supervise/run_hooks_bodies.hpp>
#include <leat/supervise/run_snapshot_bodies.hpp>
#include <leat/supervise/scaffold_bodies.hpp>
#include <leat/supervise/session_manager_bodies.hpp>
#include <leat/supervise/signals_bodies.hpp>
#include <leat/supervise/stop_at_step_bodies.hpp>
#include <leat/supervise/summary_saver_bodies.hpp>
#include <leat/supervise/supervised_loop_bodies.hpp>
#include <leat/supervise/supervisor_bodies.hpp>
#include <leat/supervise/sync_replicas_hook_bodies.hpp>
#include <leat/supervise/watched_graph_session_bodies.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_training() { return true; }
}  // namespace leat::detail
#endif
