#pragma once
// Synchronous training of replicas: each computes gradients and gives them to accumulators beside the variables; once there are enough, the
// chief's thread applies their mean, raises the global step, and gives each replica a token that holds it; a replica goes on when it has
// one. Gradients of an earlier step are stale and dropped, so that more replicas than are needed are spares for slow ones.
//
// A replica that has no more data leaves: updates are made of the others' gradients from then on. For this there is a roster beside the
// global step, in which replicas join and leave, and say when they have given gradients and when they have a token. Its nodes are the
// library's own and are made when they are first asked for, as the hook does; without them the graph is TensorFlow's.
//
//   sync_replicas sync(gradient_descent(0.1f), {.replicas_to_aggregate = 2, .total_num_replicas = 2});
//   auto train = sync.minimize(loss, {.global_step = steps});
//   monitored session or supervisor: sync.local_step_init_op(), on the chief sync.chief_init_op(), then sync.init_tokens_op(), and a queue
//   runner of sync.sync_op() (supervise/sync_replicas_hook.hpp does all of it)
//
// Source: TensorFlow 1.x `SyncReplicasOptimizer`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_accumulator.hpp>
#include <leat/named/functions/named_queue.hpp>
#include <leat/named/train/named_optimizer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leat {

struct sync_replicas_options {
  /// How many gradients make an update.
  int replicas_to_aggregate = 1;
  /// 0: as many as `replicas_to_aggregate`. More are spares; fewer take several tokens for one update.
  int total_num_replicas = 0;
  std::string name = "sync_replicas";
  /// This replica's number, below total_num_replicas: then each has a token queue of its own, so that each gives one gradient to each
  /// update, and results can be repeated. With one queue for all, as TensorFlow has it (-1), a fast replica may take another's token, and
  /// give two.
  int replica = -1;
};

/// The operations by which a replica takes part; see `sync_replicas::membership`.
struct sync_membership {
  std::string who;  // the replica's name: its number, or its device, or a random one
  /// Joins, for the first time or once more, before the replica's own step is set. The state, int64 [4]: its version, how many replicas are
  /// awaited, how many gradients make an update, and how often all have ended.
  output join;
  /// Gives the replica's share back. The state.
  output leave;
  output state;
  /// Of a training step, to be fetched with it: its gradients are given, and it has its token.
  graph_operation gave, took;
  graph_operation token_taken;  // the part of a training step that waits for a token
  /// Makes an update as `sync_op` does, with tokens for the replicas that are awaited. The state after it.
  output updated;
  /// Fed with a version: a line for each replica that came or went since. Whom the next update waits for, and whether all that are awaited
  /// have given gradients and wait for a token.
  output since, news, missing, all_wait;
  /// A text of who has left. The last one, fed as `known_left`, and the state's version with it, fed as `since`, tell a roster by
  /// `restored` if its server was started anew since then. The state.
  output left, known_left, restored;
  /// How many gradients each accumulator has, int32, and how many tokens there are in each queue.
  std::vector<output> counts, tokens;
  /// Takes what is in the replica's own token queue; empty where it has none.
  graph_operation drop_tokens;
};

class sync_replicas {
 public:
  /// Errors: invalid_argument for counts below 1; for a replica's number that is not below total_num_replicas, or where there are spares.
  sync_replicas(named_optimizer optimizer, sync_replicas_options options);

  std::vector<variable_gradient> compute_gradients(const output& loss, const minimize_options& options = {},
                                                   const std::source_location& where = std::source_location::current()) const {
    return optimizer_.compute_gradients(loss, options, where);
  }
  /// A replica's training step: gives the gradients, then waits for a token. Errors: invalid_argument without a global step or a variable.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                  const std::source_location& where = std::source_location::current());
  graph_operation minimize(const output& loss, const minimize_options& options,
                           const std::source_location& where = std::source_location::current());

  const named_optimizer& optimizer() const { return optimizer_; }
  int replicas_to_aggregate() const { return options_.replicas_to_aggregate; }
  int total_num_replicas() const { return options_.total_num_replicas; }

  // After apply_gradients; errors of all below: failed_precondition before.

  /// One update: takes the gradients, applies their mean, gives out tokens. The chief runs it in a loop on a thread of its own.
  const graph_operation& sync_op() const;
  const graph_queue& token_queue() const;
  /// Of all replicas; one, if they share it.
  const std::vector<graph_queue>& token_queues() const;
  /// Gives out the first tokens: `num_tokens` of them, or with -1 as many as `replicas_to_aggregate`; so many to each where each replica
  /// has a queue.
  /// Errors: invalid_argument for too few to finish the first step.
  graph_operation init_tokens_op(int num_tokens = -1, const std::source_location& where = std::source_location::current());
  /// Sets the replica's own step from the global one: the local initializer of replicas that are not chief.
  const graph_operation& local_step_init_op() const;
  /// The chief's: also sets the accumulators' steps, so that gradients from before a restart are stale.
  const graph_operation& chief_init_op() const;
  /// The names of global variables without a value: while there are any, local initializers wait.
  const output& ready_for_local_init_op() const;
  /// How the replica takes part; made by the first call. Who runs a training step without the hook runs `join` before it, and `leave`
  /// when there are no more data.
  const sync_membership& membership(const std::source_location& where = std::source_location::current());
  /// How many replicas are awaited, int64: all but those that have left.
  output awaited_replicas(const std::source_location& where = std::source_location::current());
  /// Of each variable with a gradient.
  const std::vector<conditional_accumulator>& accumulators() const;

 private:
  struct made;
  const made& its() const;
  named_optimizer optimizer_;
  sync_replicas_options options_;
  std::shared_ptr<made> made_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/sync_replicas_bodies.hpp>
#endif
