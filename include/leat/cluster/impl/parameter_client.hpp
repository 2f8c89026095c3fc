#pragma once
// Implementation of parameter_client.hpp.

#include <leat/cluster/parameter_client.hpp>
#include <leat/cluster/transport/reactor.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/exchange/to_graph.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/scopes/scopes.hpp>
#include <leat/named/variables/uninitialized.hpp>
#include <leat/named/variables/variables.hpp>
#include <leat/runtime/kernels/equal_rows.hpp>
#include <leat/session/graph_session.hpp>
#include <leat/train/named/deferred_steps.hpp>

#include <algorithm>
#include <limits>
#include <new>
#include <set>

namespace leat::cluster {

LEAT_FUNCTION parameter_client::parameter_client(const worker_options& options, std::vector<parameter> variables,
                                                 std::vector<parameter_rows> rows, std::vector<parameter_step> steps)
    : generation_(transport::fork_generation()), options_(options), variables_(std::move(variables)), rows_(std::move(rows)) {
  if (options_.staleness < 0 || options_.staleness > 1024)
    throw invalid_argument("worker_options: a staleness of " + std::to_string(options_.staleness) + "; 0 to 1024 pushes may be under way");
  if (options_.replicas < 0 || (options_.replicas > 0 && (options_.replica < 0 || options_.replica >= options_.replicas)))
    throw invalid_argument("worker_options: replica " + std::to_string(options_.replica) + " of " + std::to_string(options_.replicas) +
                           " replicas; they are counted from 0");
  if (is_synchronous() && options_.staleness > 0)
    throw invalid_argument("worker_options: a staleness of " + std::to_string(options_.staleness) +
                           " in synchronous training, in which each step waits for its update");
  build(steps);
  session_options made;
  made.target = options_.target;
  made.start_timeout_in_ms = options_.start_timeout_in_ms;
  made.operation_timeout_in_ms = options_.operation_timeout_in_ms;
  if (options_.cluster) {
    // This worker does not depend on the other workers, so it waits for none of them.
    made.device_filters.push_back("/job:" + options_.ps_job);
  }
  session_ = std::make_unique<graph_session>(graph_, made);
  std::vector<fetch_item> copies;
  for (std::size_t k = 0; k < outputs_.size(); ++k)
    if (variables_[k].is_copied) copies.emplace_back(outputs_[k]);
  read_.emplace(session_->prepare(copies));
  if (options_.staleness > 0) sender_ = std::thread([this] { send(); });
}

LEAT_FUNCTION parameter_client::~parameter_client() {
  if (generation_ != transport::fork_generation()) {
    // In the child of a fork the sender thread does not exist, and waiting for it would block forever.
    if (sender_.joinable()) sender_.detach();
    ::new (&changed_) std::condition_variable;
    return;
  }
  {
    const std::lock_guard lock(guard_);
    stopping_ = true;
  }
  changed_.notify_all();
  if (sender_.joinable()) sender_.join();
  if (!has_joined_) return;
  try {
    // The other workers must not wait for a worker that ends; a server that does not answer does not delay the end by more than the
    // timeout.
    session_->prepare({round_.leave}, {}, {.timeout_in_ms = 2'000}).call({});
  } catch (const std::exception&) {
  }
}

LEAT_FUNCTION device_function parameter_client::placed_by(const worker_options& options) {
  if (!options.cluster) return {};
  if (!options.cluster->has_job(options.ps_job))
    throw invalid_argument("worker_options: the cluster has no job \"" + options.ps_job + "\" to hold variables");
  const int first = options.cluster->task_indices(options.ps_job).front();
  // Operations that belong to no variable, such as the group of the updates, run at the first server and not at the worker, so a step sends
  // no message to the worker but the answer. Gradients are fed where they are needed.
  const auto servers = replica_device_setter({.ps_device = "/job:" + options.ps_job,
                                              .worker_device = "/job:" + options.ps_job + "/task:" + std::to_string(first),
                                              .cluster = options.cluster,
                                              .strategy = options.strategy});
  return [servers](const graph_operation& op) -> std::optional<std::string> {
    if (op.owner().at(op.index()).op->kind == op_kind::placeholder) return op.device();
    return servers(op);
  };
}

LEAT_FUNCTION void parameter_client::build(const std::vector<parameter_step>& steps) {
  const auto scope = graph_.as_default();
  const container mine(graph_, options_.container);
  std::optional<device> placed;
  if (const device_function f = placed_by(options_)) placed.emplace(f);
  std::vector<detail::any_expression> all;
  for (const parameter& v : variables_) all.push_back(v.leaf);
  for (const parameter_rows& r : rows_) all.push_back(r.indices);
  for (const parameter_step& s : steps) {
    for (const auto& g : s.gradients) all.push_back(g);
    all.push_back(s.update);
  }
  detail::gradient_change change;
  if (is_synchronous()) {
    round_.rounds = call_operator(graph_, "ReplicaRounds", {},
                                  {{"replicas", std::int64_t{options_.replicas}}, {"shared_name", "worker_session"}}, "replica_rounds")
                        .result();
    change = [this](std::vector<variable_gradient>& pairs) { give_to_rounds(pairs); };
  }
  const std::vector<graph_element> made = detail::write_expressions(all, {}, change);
  std::size_t next = 0;
  for (std::size_t k = 0; k < variables_.size(); ++k) outputs_.push_back(std::get<output>(made[next++]));
  for (const parameter_rows& r : rows_) {
    const colocate_with beside(outputs_[r.variable]);
    indices_.push_back(std::get<output>(made[next++]));
    gathered_.push_back(gather(outputs_[r.variable], indices_.back()));
  }
  for (const output& v : global_variables())
    if (std::none_of(outputs_.begin(), outputs_.end(), [&](const output& known) { return known.index() == v.index(); }))
      slots_.push_back(v);
  std::map<int, std::size_t> written;  // equal steps are built once
  for (const parameter_step& s : steps) {
    kept_step& kept = steps_.emplace_back();
    kept.rows = s.rows;
    for (std::size_t k = 0; k < s.gradients.size(); ++k) kept.gradients.push_back(std::get<output>(made[next++]));
    // Group nodes are replaced by their control inputs, so that no task waits for them.
    const auto step = std::get<graph_operation>(made[next++]);
    kept.targets.push_back(step);
    for (std::size_t k = 0; k < kept.targets.size();) {
      const graph_operation op = kept.targets[k];
      if (graph_.at(op.index()).op->kind != op_kind::group) {
        ++k;
        continue;
      }
      kept.targets.erase(kept.targets.begin() + static_cast<std::ptrdiff_t>(k));
      for (const graph_operation& before : op.control_inputs())
        if (std::find(kept.targets.begin(), kept.targets.end(), before) == kept.targets.end()) kept.targets.push_back(before);
    }
    // A copy is read after this step's updates of its variable.
    std::map<int, std::vector<control_input>> writers;
    std::set<int> seen;
    std::vector<graph_operation> open{step};
    while (!open.empty()) {
      const graph_operation op = open.back();
      open.pop_back();
      if (!seen.insert(op.index()).second) continue;
      const auto inputs = op.inputs();
      if (!inputs.empty() && graph_.at(inputs[0].index()).op->kind == op_kind::variable &&
          !is_operator<identity_op>(*graph_.at(op.index()).op))
        writers[inputs[0].index()].emplace_back(op);
      for (const output& before : inputs) open.push_back(before.operation());
      for (const graph_operation& before : op.control_inputs()) open.push_back(before);
    }
    for (std::size_t k = 0; k < outputs_.size(); ++k) {
      if (!variables_[k].is_copied) continue;
      const colocate_with beside(outputs_[k]);
      const auto known = writers.find(outputs_[k].index());
      const control_dependencies after(known == writers.end() ? std::vector<control_input>{} : known->second);
      kept.fetches.push_back(read_value(outputs_[k], "new_value"));
    }
    if (is_synchronous()) {
      const std::size_t which = written.emplace(step.index(), written.size()).first->second;
      finish_round(kept, round_.gives[which], round_.trained[which]);
    }
  }
  if (is_synchronous()) make_membership();
  if (!slots_.empty()) slots_init_ = variables_initializer(slots_, "init_slots");
  std::vector<output> everything = outputs_;
  everything.insert(everything.end(), slots_.begin(), slots_.end());
  report_ = report_uninitialized_variables(everything);
}

// A text that names what a step trains, so that replicas can check that they run the same step.
inline std::string text_of_variables(const std::vector<variable_gradient>& pairs) {
  std::vector<std::string> names;
  for (const variable_gradient& p : pairs)
    names.push_back("'" + p.variable.operation().name() + (p.gradient.is_sparse() ? "' by rows" : "'"));
  std::sort(names.begin(), names.end());
  constexpr std::size_t most = 3;
  std::string text, all;
  for (std::size_t k = 0; k < names.size(); ++k) {
    if (k < most) text += (k == 0 ? "" : ", ") + names[k];
    all += names[k];
  }
  if (names.size() <= most) return text;
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : all) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return text + " and " + std::to_string(names.size() - most) + " more (" + std::to_string(hash) + ")";
}

// Replaces the gradients of a step's update by the means of what the replicas contribute.
LEAT_FUNCTION void parameter_client::give_to_rounds(std::vector<variable_gradient>& pairs) {
  std::vector<graph_operation>& gives = round_.gives.emplace_back();
  round_.trained.push_back(text_of_variables(pairs));
  const tensor_literal number(static_cast<std::int32_t>(options_.replica));
  for (variable_gradient& p : pairs) {
    const colocate_with beside(p.variable);
    const data_type type = to_data_type(p.variable.type());
    const std::string& name = p.variable.operation().name();
    output& kept = round_.gradients[p.variable.index()];
    if (!static_cast<bool>(kept))
      kept = call_operator(graph_, "ReplicaGradients", {},
                           {{"dtype", type}, {"shape", to_proto(p.variable.extent())}, {"shared_name", name}}, name + "/replica_gradients")
                 .result();
    if (!p.gradient.is_sparse()) {
      gives.push_back(call_operator(graph_, "ReplicaGradientsGive", {kept, number, p.gradient.values}));
      const output mean = call_operator(graph_, "ReplicaGradientsMean", {kept}, {{"dtype", type}}).result();
      set_shape(mean, p.variable.extent());
      p.gradient = mean;
    } else {
      gives.push_back(call_operator(graph_, "ReplicaGradientsGiveRows", {kept, number, p.gradient.values, p.gradient.indices}));
      const graph_operation mean = call_operator(graph_, "ReplicaGradientsMeanRows", {kept},
                                                 {{"dtype", type}, {"Tindices", to_data_type(p.gradient.indices.type())}});
      set_shape(mean.result(0), p.gradient.values.extent());
      set_shape(mean.result(1), p.gradient.indices.extent());
      p.gradient = {mean.result(0), mean.result(1), p.gradient.dense_shape};
    }
  }
}

// The replica that applies the update also ends the round; the other replicas read their copies after that.
LEAT_FUNCTION void parameter_client::finish_round(kept_step& step, const std::vector<graph_operation>& gives, const std::string& trained) {
  const tensor_literal number(static_cast<std::int32_t>(options_.replica));
  {
    const control_dependencies after(std::vector<control_input>(step.targets.begin(), step.targets.end()));
    step.targets.push_back(call_operator(graph_, "ReplicaRoundsEnd", {round_.rounds, number}));
  }
  output arrived;
  {
    const control_dependencies after(std::vector<control_input>(gives.begin(), gives.end()));
    // Shorter than the call's timeout, so that the error that names the missing replicas is the one that is reported.
    const std::int64_t timeout = options_.operation_timeout_in_ms - options_.operation_timeout_in_ms / 10;
    arrived = call_operator(graph_, "ReplicaRoundsArrive", {round_.rounds, number}, {{"timeout_ms", timeout}, {"step", trained}}).result();
  }
  const control_dependencies after{arrived};
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    if (!variables_[k].is_copied) continue;
    const colocate_with beside(outputs_[k]);
    step.given.push_back(read_value(outputs_[k], "value_of_round"));
  }
  step.given.push_back(arrived);
}

LEAT_FUNCTION void parameter_client::make_membership() {
  const tensor_literal number(static_cast<std::int32_t>(options_.replica));
  std::vector<graph_operation> drops;
  for (const auto& [variable, kept] : round_.gradients) {
    const colocate_with beside(kept);
    drops.push_back(call_operator(graph_, "ReplicaGradientsDrop", {kept, number}));
  }
  const control_dependencies after(std::vector<control_input>(drops.begin(), drops.end()));
  round_.join = call_operator(graph_, "ReplicaRoundsJoin", {round_.rounds, number});
  round_.leave = call_operator(graph_, "ReplicaRoundsLeave", {round_.rounds, number});
}

LEAT_FUNCTION const std::vector<tensor_value>& parameter_client::run_round(std::size_t step, std::span<const tensor_value> gradients,
                                                                           const named_values& extra, std::int64_t* time_at_servers) {
  kept_step& kept = steps_[step];
  if (!has_joined_) {
    session_->run({round_.join});
    has_joined_ = true;
    has_left_ = false;
  }
  if (!kept.give) {
    const std::vector<fetch_item> fetches(kept.given.begin(), kept.given.end());
    kept.give.emplace(session_->prepare(fetches, kept.gradients));
  }
  const std::vector<tensor_value>& values = lend(*kept.give, gradients, time_at_servers);
  if (!values.back().as<bool>()) return values;
  release();
  const std::int64_t before = time_at_servers != nullptr ? *time_at_servers : 0;
  const std::vector<tensor_value>& updated = run(step, {}, extra, time_at_servers);
  if (time_at_servers != nullptr) *time_at_servers += before;
  return updated;
}

LEAT_FUNCTION void parameter_client::leave() {
  if (!is_synchronous() || has_left_) return;
  has_joined_ = false;
  session_->run({round_.leave});
  has_left_ = true;
}

LEAT_FUNCTION graph_callable& parameter_client::callable(kept_step& step, const named_values& extra) {
  const auto prepare = [&](const std::vector<output>& more) {
    std::vector<fetch_item> fetches(step.fetches.begin(), step.fetches.end());
    for (const graph_operation& t : step.targets) fetches.emplace_back(t);
    std::vector<output> feeds;
    if (!is_synchronous()) feeds = step.gradients;
    feeds.insert(feeds.end(), more.begin(), more.end());
    return session_->prepare(fetches, feeds);
  };
  if (extra.empty()) {
    if (!step.plain) step.plain.emplace(prepare({}));
    return *step.plain;
  }
  std::vector<std::string> names;
  for (const auto& [name, value] : extra) names.emplace_back(name);
  auto at = step.with_settings.find(names);
  if (at == step.with_settings.end()) {
    std::vector<output> more;
    for (const std::string& name : names) more.push_back(get_tensor_by_name(graph_, name + ":0"));
    at = step.with_settings.emplace(names, prepare(more)).first;
  }
  return at->second;
}

LEAT_FUNCTION const std::vector<tensor_value>& parameter_client::run(std::size_t step, std::span<const tensor_value> gradients,
                                                                     const named_values& extra, std::int64_t* time_at_servers) {
  graph_callable& c = callable(steps_[step], extra);
  if (extra.empty()) return lend(c, gradients, time_at_servers);
  feeds_.assign(gradients.begin(), gradients.end());
  for (const auto& [name, value] : extra) feeds_.push_back(value);
  return lend(c, feeds_, time_at_servers);
}

LEAT_FUNCTION const std::vector<tensor_value>& parameter_client::read() {
  finish();
  return lend(*read_, {});
}

// With staleness the results are copied, because they are kept for a later call.
LEAT_FUNCTION const std::vector<tensor_value>& parameter_client::lend(graph_callable& from, std::span<const tensor_value> feeds,
                                                                      std::int64_t* time_at_servers) {
  const bool lends = options_.staleness == 0;
  if (lends) lender_ = &from;
  return from.call(feeds, {.time_at_tasks = time_at_servers, .lends_results = lends});
}
LEAT_FUNCTION void parameter_client::release() {
  if (lender_ != nullptr) lender_->release();
  lender_ = nullptr;
}

LEAT_FUNCTION const std::vector<tensor_value>& parameter_client::read_rows(std::uint32_t which, std::span<const tensor_value> indices) {
  // Several variables may share one placeholder of indices.
  const auto holds = [](const std::vector<output>& all, const output& one) {
    return std::any_of(all.begin(), all.end(), [&](const output& o) { return o.index() == one.index(); });
  };
  auto at = read_rows_.find(which);
  if (at == read_rows_.end()) {
    std::vector<fetch_item> fetches;
    std::vector<output> feeds;
    for (std::size_t k = 0; k < outputs_.size(); ++k)
      if (variables_[k].is_copied) fetches.emplace_back(outputs_[k]);
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if ((which >> r & 1) == 0) continue;
      fetches.emplace_back(gathered_[r]);
      if (!holds(feeds, indices_[r])) feeds.push_back(indices_[r]);
    }
    at = read_rows_.emplace(which, session_->prepare(fetches, feeds)).first;
  }
  std::vector<tensor_value> fed;
  std::vector<output> seen;
  for (std::size_t r = 0, k = 0; r < rows_.size(); ++r) {
    if ((which >> r & 1) == 0) continue;
    if (!holds(seen, indices_[r])) {
      seen.push_back(indices_[r]);
      fed.push_back(indices[k]);
    }
    ++k;
  }
  return lend(at->second, fed);
}

LEAT_FUNCTION const std::vector<tensor_value>* parameter_client::push(std::size_t step, std::span<tensor_value> gradients,
                                                                      const named_values& extra, std::int64_t* time_at_servers) {
  for (const sent_rows& r : steps_[step].rows)
    runtime::add_equal_rows(gradients[r.position], gradients[r.position + 1], r.rows_of_variable, r.variable, r.one_by_one);
  if (is_synchronous()) return &run_round(step, gradients, extra, time_at_servers);
  if (options_.staleness == 0) return &run(step, gradients, extra, time_at_servers);
  if (time_at_servers != nullptr) *time_at_servers = std::numeric_limits<std::int64_t>::max();  // the whole call
  transport::check_generation(generation_);
  std::unique_lock lock(guard_);
  if (failure_) {
    lock.unlock();
    finish();
  }
  queue_.push_back({step, {gradients.begin(), gradients.end()}, extra});
  changed_.notify_all();
  // Each call of the sender thread has a deadline, so this wait ends.
  changed_.wait(lock, [&] { return failure_ || queue_.size() <= static_cast<std::size_t>(options_.staleness); });
  if (failure_) {
    lock.unlock();
    finish();
  }
  if (latest_.empty()) return nullptr;
  taken_ = std::exchange(latest_, {});
  return &taken_;
}

LEAT_FUNCTION tensor_value parameter_client::gradient_memory(std::size_t step, std::size_t k, dtype type, const shape& extent) {
  if (options_.staleness > 0) return {};  // the callables belong to the sender thread
  kept_step& kept = steps_[step];
  std::optional<graph_callable>& pushes = is_synchronous() ? kept.give : kept.plain;
  return pushes ? pushes->feed_memory(k, type, extent) : tensor_value{};
}

LEAT_FUNCTION void parameter_client::finish() {
  if (options_.staleness == 0) return;
  transport::check_generation(generation_);
  std::unique_lock lock(guard_);
  changed_.wait(lock, [&] { return queue_.empty(); });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

LEAT_FUNCTION void parameter_client::send() {
  std::unique_lock lock(guard_);
  while (true) {
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return;
    const waiting_push now = queue_.front();
    lock.unlock();
    std::vector<tensor_value> values;
    std::exception_ptr failure;
    try {
      values = run(now.step, now.feeds, now.extra, nullptr);
    } catch (const std::exception&) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      // Pushes after a failed one are dropped, because their gradients were computed from values before the failure.
      if (!failure_) failure_ = failure;
      queue_.clear();
    } else {
      latest_ = std::move(values);
      queue_.pop_front();
    }
    changed_.notify_all();
  }
}

LEAT_FUNCTION bool parameter_client::is_initialized(std::size_t variable) {
  finish();
  return session_->is_initialized(outputs_[variable]);
}
LEAT_FUNCTION tensor_value parameter_client::value(std::size_t variable) {
  finish();
  return session_->value(outputs_[variable]);
}
LEAT_FUNCTION void parameter_client::assign(std::size_t variable, const tensor_value& value) {
  finish();
  session_->assign(outputs_[variable], value);
}
LEAT_FUNCTION void parameter_client::initialize_slots() {
  finish();
  if (!slots_.empty()) session_->run({slots_init_});
}
LEAT_FUNCTION std::vector<std::string> parameter_client::uninitialized() {
  finish();
  return session_->run({report_})[0].as<std::vector<std::string>>();
}

}  // namespace leat::cluster
