#pragma once
// Synchronous training of replicas. Each replica computes gradients and adds them to accumulators, which are on the devices of the
// variables. Once there are enough, a thread of the chief applies their mean, raises the global step, and gives each replica a token with
// the new step; a replica continues when it has a token. Gradients of an earlier step are stale and are dropped, so that replicas beyond
// the number needed can stand in for slow ones.
//
// A replica that has no more data leaves: from then on, updates are made of the other replicas' gradients. A roster on the device of the
// global step keeps track of the replicas: they join and leave it, and report when they have given gradients and when they have taken a
// token. The roster's operators are the library's own. Its nodes are made on first use, as by the hook; without them the graph is
// TensorFlow's.
//
//   sync_replicas sync(gradient_descent(0.1f), {.replicas_to_aggregate = 2, .total_num_replicas = 2});
//   auto train = sync.minimize(loss, {.global_step = steps});
//   monitored session or supervisor: sync.local_step_init_op(), on the chief sync.chief_init_op(), then sync.init_tokens_op(), and a queue
//   runner of sync.sync_op() (supervise/sync_replicas_hook.hpp does all of it)
//
// Source: TensorFlow 1.x `SyncReplicasOptimizer`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/accumulator.hpp>
#include <leat/named/functions/queue.hpp>
#include <leat/train/named/optimizer.hpp>

#include <optional>
#include <string>
#include <vector>

namespace leat {

/// Options of `sync_replicas`.
struct sync_replicas_options {
  /// The number of gradients that make an update.
  int replicas_to_aggregate = 1;
  /// The number of replicas; 0: as many as `replicas_to_aggregate`. With more, the additional ones are spares; with fewer, each replica
  /// takes several tokens for one update.
  int total_num_replicas = 0;
  std::string name = "sync_replicas";
  /// This replica's number, below total_num_replicas. With a number each replica has a token queue of its own, so that each gives exactly
  /// one gradient to each update, and results are reproducible. With -1 all replicas share one queue, as in TensorFlow, and a fast replica
  /// may take another's token and give two gradients.
  int replica = -1;
};

/// The operations by which a replica takes part in training; see `sync_replicas::membership`.
struct sync_membership {
  std::string who;  // the replica's name: its number, or its device, or a random number
  /// Joins the roster, for the first time or again, before the replica's own step is set. Returns the roster's state, int64 [4]: its
  /// version, the number of replicas that are awaited, the number of gradients that make an update, and how many times all replicas have
  /// ended.
  output join;
  /// Leaves the roster: updates need one replica fewer from then on. Returns the state.
  output leave;
  output state;
  /// Operations of a training step, to be fetched with it: `gave` reports that the replica's gradients are given, `took` that it has its
  /// token.
  graph_operation gave, took;
  graph_operation token_taken;  // the part of a training step that waits for a token
  /// Makes an update as `sync_op` does, with tokens for the replicas that are awaited. Returns the state after it.
  output updated;
  /// `news` has a line for each replica that joined again or left since the version that is fed as `since`. `missing` names the replicas
  /// that the next update waits for, `all_wait` is whether all awaited replicas have given gradients and wait for a token.
  output since, news, missing, all_wait;
  /// `left` lists the replicas that have left. `restored` repairs the roster after a restart of its server: it is fed with an earlier value
  /// of `left` as `known_left`, and with the state's version at that time as `since`. It changes nothing if the server was not restarted,
  /// and returns the state.
  output left, known_left, restored;
  /// `counts` are the numbers of gradients in each accumulator, int32; `tokens` are the numbers of tokens in each queue.
  std::vector<output> counts, tokens;
  /// Empties the replica's own token queue; empty if the replica has no queue of its own.
  graph_operation drop_tokens;
};

/// An optimizer for synchronous training of replicas. Source: TensorFlow 1.x `SyncReplicasOptimizer`.
class sync_replicas {
 public:
  /// Errors: invalid_argument for counts below 1; for a replica's number that is not below total_num_replicas, or that is given although
  /// there are spares.
  sync_replicas(named_optimizer optimizer, sync_replicas_options options);

  std::vector<variable_gradient> compute_gradients(const output& loss, const minimize_options& options = {},
                                                   const std::source_location& where = std::source_location::current()) const {
    return optimizer_.compute_gradients(loss, options, where);
  }
  /// A replica's training step: adds the gradients to the accumulators, then waits for a token. Errors: invalid_argument without a global
  /// step or a variable.
  graph_operation apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                  const std::source_location& where = std::source_location::current());
  graph_operation minimize(const output& loss, const minimize_options& options,
                           const std::source_location& where = std::source_location::current());

  /// The optimizer that updates the variables.
  const named_optimizer& optimizer() const { return optimizer_; }
  /// How many gradients make an update.
  int replicas_to_aggregate() const { return options_.replicas_to_aggregate; }
  /// How many workers there are.
  int total_num_replicas() const { return options_.total_num_replicas; }

  // Functions for use after apply_gradients. Errors of all below: failed_precondition before it.

  /// One update: takes the gradients, applies their mean, gives out tokens. The chief runs it in a loop on a thread of its own.
  const graph_operation& sync_op() const;
  const graph_queue& token_queue() const;
  /// The token queues of all replicas; a single queue if the replicas share it.
  const std::vector<graph_queue>& token_queues() const;
  /// Gives out the first tokens: `num_tokens` of them, or with -1 as many as `replicas_to_aggregate`. If each replica has a queue of its
  /// own, this is the number for each queue.
  /// Errors: invalid_argument for too few to finish the first step.
  graph_operation init_tokens_op(int num_tokens = -1, const std::source_location& where = std::source_location::current());
  /// Sets the replica's own step from the global one: the local initializer of replicas that are not the chief.
  const graph_operation& local_step_init_op() const;
  /// The chief's local initializer: also sets the accumulators' steps, so that gradients from before a restart are stale.
  const graph_operation& chief_init_op() const;
  /// The names of global variables that are not initialized; as long as there are any, local initializers must wait.
  const output& ready_for_local_init_op() const;
  /// The operations by which the replica takes part in training; made by the first call. A program that runs training steps without the
  /// hook runs `join` before them, and `leave` when it has no more data.
  const sync_membership& membership(const std::source_location& where = std::source_location::current());
  /// The number of replicas that are awaited, int64: all but those that have left.
  output awaited_replicas(const std::source_location& where = std::source_location::current());
  /// The accumulators, one for each variable with a gradient.
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
#include <leat/train/named/impl/sync_replicas.hpp>
#endif
