#pragma once
// Supervised training. See <leat/separate.hpp>.

#ifndef LEAT_SEPARATE_SOURCE
#include <leat/separate/part.hpp>
#endif

#include <leat/core/standard.hpp>
#include <leat/supervise/impl/checkpoint_saver.hpp>
#include <leat/supervise/impl/coordinator.hpp>
#include <leat/supervise/impl/hooked_run.hpp>
#include <leat/supervise/impl/hooked_training.hpp>
#include <leat/supervise/impl/logging_hooks.hpp>
#include <leat/supervise/impl/monitored_session.hpp>
#include <leat/supervise/impl/nan_tensor.hpp>
#include <leat/supervise/impl/progress.hpp>
#include <leat/supervise/impl/queue_runner.hpp>
#include <leat/supervise/impl/run_hooks.hpp>
#include <leat/supervise/impl/run_snapshot.hpp>
#include <leat/supervise/impl/scaffold.hpp>
#include <leat/supervise/impl/session_manager.hpp>
#include <leat/supervise/impl/signals.hpp>
#include <leat/supervise/impl/stop_at_step.hpp>
#include <leat/supervise/impl/summary_saver.hpp>
#include <leat/supervise/impl/supervised_loop.hpp>
#include <leat/supervise/impl/supervisor.hpp>
#include <leat/supervise/impl/sync_replicas_hook.hpp>
#include <leat/supervise/impl/watched_graph_session.hpp>

#ifdef LEAT_SEPARATE_COMPILATION
namespace leat::detail {
bool link_leat_separate_training() { return true; }
}  // namespace leat::detail
#endif
