#pragma once
// What synchronous training needs beside the training step: the replica's local initializer, the first tokens, and on the chief the thread
// that applies the updates. A replica whose session is closed in order gives its share back; a chief without more data makes the updates of the
// others until they have ended, or until nothing comes of them for the session's operation_timeout_in_ms. An update that can never be made is
// an error, and a run that waits until its deadline says for whom. Source: TensorFlow 1.x `SyncReplicasOptimizer.make_session_run_hook`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/train/sync_replicas.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/session_run_hook.hpp>

#include <iosfwd>
#include <memory>

namespace leat {

/// Makes its operations at once, so it must be made before the graph is finalized. `num_tokens`: the first tokens; 0 for
/// none, but those that replicas may wait for where the session goes on from a later step. `log`: where the chief tells who came and
/// went; null is standard error.
/// Errors: those of `init_tokens_op`. In a session: failed_precondition where an update can never be made; deadline_exceeded of runs names the
/// replicas whose gradients are missing.
std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens = -1, std::ostream* log = nullptr);

/// The chief's thread: a queue runner of the updates. Errors: failed_precondition before apply_gradients.
queue_runner chief_queue_runner(const sync_replicas& sync);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/sync_replicas_hook_bodies.hpp>
#endif
