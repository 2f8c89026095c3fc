#pragma once
// Supervised training: sessions that initialize or restore variables, call hooks, save, and stop in order; coordinators and queue runners.

#include <leat/core/standard.hpp>
#include <leat/supervise/checkpoint_saver.hpp>
#include <leat/supervise/logging_hooks.hpp>
#include <leat/supervise/monitored_session.hpp>
#include <leat/supervise/nan_tensor.hpp>
#include <leat/supervise/progress.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/run_hooks.hpp>
#include <leat/supervise/session_manager.hpp>
#include <leat/supervise/signals.hpp>
#include <leat/supervise/stop_at_step.hpp>
#include <leat/supervise/supervisor.hpp>
#include <leat/supervise/sync_replicas_hook.hpp>
#include <leat/supervise/summary_saver.hpp>
#include <leat/supervise/supervised_loop.hpp>
