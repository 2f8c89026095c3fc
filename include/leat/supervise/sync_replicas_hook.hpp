#pragma once
// What synchronous training needs beside the training step: the replica's local initializer, the first tokens, and on the chief the thread
// that applies the updates. Source: TensorFlow 1.x `SyncReplicasOptimizer.make_session_run_hook`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/train/sync_replicas.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <memory>

namespace leat {

/// Makes its operations at once, so it must be made before the graph is finalized. `num_tokens`: the first tokens; 0 for
/// none, but those that replicas may wait for where the session goes on from a later step.
/// Errors: those of `init_tokens_op`.
std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens = -1);

/// The chief's thread: a queue runner of the updates. Errors: failed_precondition before apply_gradients.
queue_runner chief_queue_runner(const sync_replicas& sync);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/sync_replicas_hook_bodies.hpp>
#endif
