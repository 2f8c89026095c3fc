#pragma once
// Implementation of sync_replicas.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/gradients/functions.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/train/named/sync_replicas.hpp>

#include <algorithm>
#include <random>

namespace leat::detail {

// `count` tokens with the same value.
inline output tokens(int count, const output& number) {
  shape extent;
  extent.push(count);
  return raw_named(number.owner(), "Fill", "Fill", {{"dims", tensor_literal({static_cast<std::int32_t>(count)})}, {"value", number}},
                   {{"T", number.type()}, {"index_type", dtype::int32}}, {{number.type(), extent}}, std::source_location())
      .result();
}

// Puts `count` tokens into each queue. The replica's own queue comes last, because a chief that has its last token may end at once, and the
// others need theirs.
inline graph_operation give_tokens(const std::vector<graph_queue>& queues, std::size_t own, int count, const output& number) {
  if (queues.size() == 1) return queues[0].enqueue_many({tokens(count, number)});
  std::vector<graph_operation> others;
  for (std::size_t k = 0; k < queues.size(); ++k)
    if (k != own) others.push_back(queues[k].enqueue_many({tokens(count, number)}));
  const control_dependencies after(others);
  return queues[own].enqueue_many({tokens(count, number)});
}

}  // namespace leat::detail

namespace leat {

struct sync_replicas::made {
  graph_operation sync, update, local_init, chief_init;
  std::vector<graph_queue> tokens;
  std::size_t own = 0;  // index of the replica's own queue
  output ready, global_step, token;
  std::vector<conditional_accumulator> accumulators;
  std::vector<std::string> devices;  // devices of the accumulators
  std::vector<graph_operation> given;
  std::string replica_device;
  std::optional<sync_membership> membership;
};

LEAT_FUNCTION sync_replicas::sync_replicas(named_optimizer optimizer, sync_replicas_options options)
    : optimizer_(std::move(optimizer)), options_(std::move(options)) {
  if (options_.replicas_to_aggregate < 1)
    throw invalid_argument("sync_replicas: replicas_to_aggregate is " + std::to_string(options_.replicas_to_aggregate) + "; at least 1");
  if (options_.total_num_replicas < 0)
    throw invalid_argument("sync_replicas: total_num_replicas is " + std::to_string(options_.total_num_replicas) + "; at least 1, or 0");
  if (options_.total_num_replicas == 0) options_.total_num_replicas = options_.replicas_to_aggregate;
  if (options_.replica >= options_.total_num_replicas || options_.replica < -1)
    throw invalid_argument("sync_replicas: replica is " + std::to_string(options_.replica) + " of " +
                           std::to_string(options_.total_num_replicas));
  if (options_.replica >= 0 && options_.total_num_replicas != options_.replicas_to_aggregate)
    throw invalid_argument("sync_replicas: replica is given, and " + std::to_string(options_.replicas_to_aggregate) +
                           " gradients are asked for of " + std::to_string(options_.total_num_replicas) +
                           " replicas; with spares the replicas share one token queue");
}

LEAT_FUNCTION graph_operation sync_replicas::minimize(const output& loss, const minimize_options& options,
                                                      const std::source_location& where) {
  return apply_gradients(optimizer_.compute_gradients(loss, options, where), {.global_step = options.global_step, .name = options.name},
                         where);
}

LEAT_FUNCTION graph_operation sync_replicas::apply_gradients(const std::vector<variable_gradient>& pairs, const apply_options& options,
                                                             const std::source_location& where) {
  if (pairs.empty()) throw invalid_argument("Must supply at least one variable");
  if (!static_cast<bool>(options.global_step)) throw invalid_argument("Global step is required to check staleness");
  const output steps = options.global_step;
  graph& g = steps.owner();
  const source_scope line(g, where);
  auto result = std::make_shared<made>();
  result->global_step = steps;
  const std::string place = steps.operation().device();

  // The variable of the replica's own step stays on the replica's device, even if device functions place variables elsewhere.
  output local_step;
  {
    const graph_operation anchor = no_op();
    const colocate_with here(anchor);
    result->replica_device = anchor.device();
    const tensor_literal zero = steps.type() == dtype::int64 ? tensor_literal(std::int64_t{0}) : tensor_literal(std::int32_t{0});
    local_step = variable(zero, "sync_rep_local_step", {.trainable = false, .collections = {std::string(collection::local_variables)}});
  }
  result->local_init = assign(local_step, value_of(steps)).operation();
  result->ready = report_uninitialized_variables(get_tensors(g, collection::global_variables));

  std::vector<graph_operation> given;
  std::vector<variable_gradient> means;
  {
    const name_scope scope(options_.name);
    for (const variable_gradient& p : pairs) {
      if (!p.gradient) {
        means.push_back(p);
        continue;
      }
      const device beside(p.variable.operation().device());
      const output gradient = p.gradient.is_sparse() ? detail::densified(p.gradient) : p.gradient.values;
      const conditional_accumulator sum(gradient.type(), p.variable.extent(), {.shared_name = p.variable.name() + "/grad_accum"});
      given.push_back(options_.replica < 0 ? sum.apply_grad(gradient, value_of(local_step))
                                           : sum.apply_grad_of(options_.replica, gradient, value_of(local_step)));
      means.push_back({sum.take_grad(static_cast<std::int32_t>(options_.replicas_to_aggregate)), p.variable});
      result->accumulators.push_back(sum);
      result->devices.push_back(p.variable.operation().device());
    }
    result->given = given;
    graph_operation update;
    {
      const device at_steps(place);
      const name_scope top("");
      update = optimizer_.apply_gradients(means, steps);
      result->update = update;
      for (int k = 0; k < (options_.replica < 0 ? 1 : options_.total_num_replicas); ++k) {
        const std::string its = options_.replica < 0 ? "sync_token_q" : "sync_token_q_" + std::to_string(k);
        result->tokens.push_back(fifo_queue(-1, {steps.type()}, {shape{}}, {.shared_name = its, .name = its}));
      }
      if (options_.replica >= 0) result->own = static_cast<std::size_t>(options_.replica);
    }
    graph_operation train;
    {
      const device at_steps(place);
      const name_scope top("");
      output token;
      {
        const control_dependencies after(given);
        token = result->tokens[result->own].dequeue()[0];
        result->token = token;
      }
      train = assign(local_step, token).operation();
      const control_dependencies after{update};
      const int count = options_.replica < 0 ? std::max(options_.total_num_replicas, options_.replicas_to_aggregate) : 1;
      result->sync = detail::give_tokens(result->tokens, result->own, count, value_of(steps));
    }
    std::vector<graph_operation> first{result->local_init};
    for (std::size_t k = 0, at = 0; k < pairs.size(); ++k) {
      if (!pairs[k].gradient) continue;
      const device beside(pairs[k].variable.operation().device());
      first.push_back(result->accumulators[at++].set_global_step(value_of(steps), "SetGlobalStep"));
    }
    result->chief_init = group(first);
    made_ = std::move(result);
    return train;
  }
}

LEAT_FUNCTION const sync_replicas::made& sync_replicas::its() const {
  if (made_ == nullptr) throw failed_precondition("sync_replicas: should be called after apply_gradients()");
  return *made_;
}
LEAT_FUNCTION const graph_operation& sync_replicas::sync_op() const { return its().sync; }
LEAT_FUNCTION const graph_queue& sync_replicas::token_queue() const { return its().tokens[its().own]; }
LEAT_FUNCTION const std::vector<graph_queue>& sync_replicas::token_queues() const { return its().tokens; }
LEAT_FUNCTION const graph_operation& sync_replicas::local_step_init_op() const { return its().local_init; }
LEAT_FUNCTION const graph_operation& sync_replicas::chief_init_op() const { return its().chief_init; }
LEAT_FUNCTION const output& sync_replicas::ready_for_local_init_op() const { return its().ready; }
LEAT_FUNCTION const std::vector<conditional_accumulator>& sync_replicas::accumulators() const { return its().accumulators; }

LEAT_FUNCTION const sync_membership& sync_replicas::membership(const std::source_location& where) {
  static_cast<void>(its());
  made& m = *made_;
  if (m.membership) return *m.membership;
  graph& g = m.global_step.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const device at_steps(m.global_step.operation().device());
  const name_scope top("");
  const name_scope members("sync_rep_members");
  sync_membership its;
  if (options_.replica >= 0) its.who = "replica " + std::to_string(options_.replica);
  if (!m.replica_device.empty()) its.who += its.who.empty() ? m.replica_device : " (" + m.replica_device + ")";
  if (its.who.empty()) its.who = "replica " + std::to_string(std::random_device{}());
  const attribute_map who{{"who", its.who}};
  const output roster = call_operator(g, "ReplicaRoster", {},
                                      {{"replicas", std::int64_t{options_.total_num_replicas}},
                                       {"gradients", std::int64_t{options_.replicas_to_aggregate}},
                                       {"shared_name", "sync_rep_roster"}},
                                      "roster")
                            .result();
  // The accumulators get the new state before it is returned to the replica.
  const auto told = [&](const output& state) {
    std::vector<graph_operation> all;
    for (std::size_t k = 0; k < m.accumulators.size(); ++k) {
      const device beside(m.devices[k]);
      all.push_back(m.accumulators[k].await(state));
    }
    const control_dependencies after(all);
    return identity(state);
  };
  its.join = told(call_operator(g, "ReplicaRosterJoin", {roster, cast(value_of(m.global_step), dtype::int64)}, who, "join").result());
  its.leave = told(call_operator(g, "ReplicaRosterLeave", {roster}, who, "leave").result());
  its.state = call_operator(g, "ReplicaRosterState", {roster}, {}, "state").result();
  {
    const control_dependencies after(m.given);
    its.gave = call_operator(g, "ReplicaRosterGave", {roster}, who, "gave");
  }
  {
    const control_dependencies after{its.gave};
    its.took = call_operator(g, "ReplicaRosterTook", {roster, cast(m.token, dtype::int64)}, who, "took");
  }
  its.token_taken = m.token.operation();
  its.since = placeholder(dtype::int64, shape{}, "since");
  its.news = call_operator(g, "ReplicaRosterNews", {roster, its.since}, {}, "news").result();
  const graph_operation missing = call_operator(g, "ReplicaRosterMissing", {roster}, {}, "missing");
  its.missing = missing.result(0);
  its.all_wait = missing.result(1);
  its.left = call_operator(g, "ReplicaRosterLeft", {roster}, {}, "left").result();
  its.known_left = placeholder(static_cast<dtype>(data_type::string), shape{}, "known_left");
  its.restored = told(call_operator(g, "ReplicaRosterRestore", {roster, its.since, its.known_left}, {}, "restored").result());
  for (std::size_t k = 0; k < m.accumulators.size(); ++k) {
    const device beside(m.devices[k]);
    its.counts.push_back(m.accumulators[k].num_accumulated());
  }
  for (const graph_queue& q : m.tokens) its.tokens.push_back(q.size());
  const graph_queue& own = m.tokens[m.own];
  graph_operation update = m.sync;
  if (options_.replica >= 0) {
    its.drop_tokens = own.dequeue_many(own.size())[0].operation();
  } else {
    // Gives out as many tokens as replicas are awaited when the update is made: with fewer, a replica that has come back would not get one.
    const control_dependencies after{m.update};
    const output count = call_operator(g, "ReplicaRosterTokens", {roster}, {}, "tokens").result();
    const output given = call_operator(g, "Fill", {count, value_of(m.global_step)},
                                       {{"T", to_data_type(m.global_step.type())}, {"index_type", to_data_type(dtype::int32)}})
                             .result();
    update = own.enqueue_many({given});
  }
  {
    const control_dependencies after{update};
    its.updated = call_operator(g, "ReplicaRosterUpdated", {roster, cast(value_of(m.global_step), dtype::int64)}, {}, "updated").result();
  }
  return m.membership.emplace(std::move(its));
}

LEAT_FUNCTION output sync_replicas::awaited_replicas(const std::source_location& where) {
  const sync_membership& m = membership(where);
  const default_graph_scope here(m.state.owner());
  const device at_steps(its().global_step.operation().device());
  return gather(m.state, 1);
}

LEAT_FUNCTION graph_operation sync_replicas::init_tokens_op(int num_tokens, const std::source_location& where) {
  const made& m = its();
  graph& g = m.global_step.owner();
  const source_scope line(g, where);
  const int needed = options_.replicas_to_aggregate - options_.total_num_replicas;
  if (num_tokens == -1) num_tokens = options_.replicas_to_aggregate;
  else if (num_tokens < needed)
    throw invalid_argument("Too few tokens to finish the first step: " + std::to_string(num_tokens) + " (given) vs " +
                           std::to_string(needed) + " (needed)");
  if (num_tokens <= 0) return no_op("no_init_tokens");
  const device at_steps(m.global_step.operation().device());
  const name_scope top("");
  return detail::give_tokens(m.tokens, m.own, num_tokens, value_of(m.global_step));
}

}  // namespace leat
