#pragma once
// The parts of synchronous training in addition to the training step: the replica's local initializer, the initial tokens, and the chief's
// thread that applies the updates. When a replica's session is closed in order, the replica leaves the group. A chief without more data
// continues to apply the updates of the others until they have ended, or until they send nothing for the session's operation_timeout_in_ms.
// An update that can never be made is an error, and a run that reaches its deadline names the replicas for which it waited.
// Source: TensorFlow 1.x `SyncReplicasOptimizer.make_session_run_hook`.

#include <leat/core/function_bodies.hpp>
#include <leat/supervise/queue_runner.hpp>
#include <leat/supervise/session_run_hook.hpp>
#include <leat/train/named/sync_replicas.hpp>

#include <iosfwd>
#include <memory>

namespace leat {

/// Adds its operations at once, so it must be called before the graph is finalized. `num_tokens`: the initial tokens; with 0 there are only
/// those that replicas may wait for if the session continues from a later step. `log`: where the chief logs which replicas joined and left;
/// null is standard error.
/// Errors: those of `init_tokens_op`. In a session: failed_precondition if an update can never be made; deadline_exceeded of runs names the
/// replicas with missing gradients.
std::shared_ptr<session_run_hook> sync_replicas_hook(sync_replicas& sync, bool is_chief, int num_tokens = -1, std::ostream* log = nullptr);

/// The chief's thread: a queue runner that makes the updates. Errors: failed_precondition before apply_gradients.
queue_runner chief_queue_runner(const sync_replicas& sync);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/supervise/impl/sync_replicas_hook.hpp>
#endif
