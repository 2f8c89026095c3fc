#pragma once
// Planning and running of graph_session: the bodies of its non-template functions. Included by graph_session.hpp or, with
// LEAT_SEPARATE_COMPILATION, only by <leat/separate.hpp>.

#include <leat/core/blocks.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/placement/partition.hpp>
#include <leat/named/placement/place.hpp>
#include <leat/runtime/kernels/constants.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/plan/summary_tail.hpp>
#include <leat/runtime/run/executor.hpp>
#include <leat/session/graph_session_class.hpp>
#include <leat/session/prepared_run.hpp>

#include <algorithm>
#include <atomic>
#include <iostream>
#include <map>
#include <mutex>

namespace leat {

struct graph_session::kept {
  explicit kept(const session_options& options) : state(options.resources) {}
  /// What arrays count toward. A session without a limit that runs within a run of another one counts toward the limit of that one.
  memory_meter* meter() const { return state.meter != nullptr ? state.meter : memory_meter::current(); }
  session_state state;
  std::unique_ptr<remote_session> remote;  // only of a session with a target
  std::mutex guard;
  detail::blocks<kernel_node, 64> kernel_nodes;
  std::vector<kernel_node*> kernel_node_at;  // indexed by node; null until it is first needed
  std::map<std::vector<int>, std::shared_ptr<runtime::prepared_run>> plans;
  std::vector<int> places;  // indexed by node: its device
  std::atomic<std::int64_t> fused_runs{0};
};

LEAT_FUNCTION graph_callable::graph_callable(graph_session& owner, std::shared_ptr<runtime::prepared_run> prepared, run_options options)
    : owner_(&owner), prepared_(std::move(prepared)), options_(options), results_(prepared_->places.size()) {
  for (const output& f : prepared_->feeds) types_.push_back(f.type());
  feeds_.resize(types_.size());
  for (std::size_t k = 0; k < results_.size(); ++k) in_order_ = in_order_ && prepared_->places[k] == static_cast<int>(k);
}
LEAT_FUNCTION const std::vector<tensor_value>& graph_callable::run(std::span<const tensor_value> values, const run_options& how) {
  // Reuses the memory of the last call's results unless the caller still holds them.
  if (in_order_) {
    fetched_.swap(results_);
    results_.resize(fetched_.size());
    owner_->execute(*prepared_, values, fetched_, how, last_);
    fetched_.swap(results_);
    for (tensor_value& v : results_)
      if (v.is_borrowed()) v = v.copy();
    return results_;
  }
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (const int place = prepared_->places[k]; place >= 0 && static_cast<std::size_t>(place) < fetched_.size())
      fetched_[static_cast<std::size_t>(place)] = std::move(results_[k]);
  owner_->execute(*prepared_, values, fetched_, how, last_);
  for (std::size_t k = 0; k < results_.size(); ++k)
    if (const int place = prepared_->places[k]; place >= 0) {
      tensor_value& from = fetched_[static_cast<std::size_t>(place)];
      results_[k] = from.is_borrowed() && !how.lends_results ? from.copy() : std::move(from);
      from = {};  // releases a borrowed value, which may be the memory of a large message
    }
  return results_;
}

LEAT_FUNCTION tensor_value graph_callable::feed_memory(std::size_t k, dtype type, const shape& extent) {
  return prepared_->remote != nullptr ? owner_->kept_->remote->feed_memory(*prepared_->remote, k, type, extent) : tensor_value{};
}

LEAT_FUNCTION graph_session::graph_session(graph& g, session_options options)
    : graph_(g), options_(std::move(options)), kept_(std::make_unique<kept>(options_)) {
  cpu::require_one_configuration();
  const auto check_threads = [](const char* name, int threads) {
    if (threads < 0) throw invalid_argument(std::string(name) + " is " + std::to_string(threads) + "; it is the number of threads, or 0");
  };
  check_threads("inter_op_parallelism_threads", options_.inter_op_parallelism_threads);
  check_threads("intra_op_parallelism_threads", options_.intra_op_parallelism_threads);
  if (options_.memory_limit_in_bytes < 0)
    throw invalid_argument("memory_limit_in_bytes is " + std::to_string(options_.memory_limit_in_bytes) +
                           "; it is the number of bytes, or 0");
  if (options_.memory_limit_in_bytes > 0) kept_->state.meter = memory_meter::make(options_.memory_limit_in_bytes);
  if (options_.program_memory_in_bytes < 0)
    throw invalid_argument("program_memory_in_bytes is " + std::to_string(options_.program_memory_in_bytes) +
                           "; it is a number of bytes, or 0");
  kept_->state.random_numbers = options_.random_numbers;
  kept_->state.log = options_.log;
  kept_->state.file_root = options_.file_root;
  kept_->state.programs->set(options_.program_memory_in_bytes);
  if (options_.start_timeout_in_ms <= 0) throw invalid_argument("start_timeout_in_ms is a number of milliseconds above 0");
  if (!options_.target.empty()) kept_->remote = connect_session(g, options_);
}
LEAT_FUNCTION graph_session::~graph_session() {
  try {
    close();
  } catch (const std::exception&) {
    // The target notices the end of the connection.
  }
}

LEAT_FUNCTION tensor_value graph_session::fitting(const output& variable, const tensor_value& value) {
  const std::string name = "the variable '" + variable.operation().name() + "'";
  tensor_value fits;
  if (value.type() == variable.type()) fits = value;
  else if (value.extent().rank == 0) fits = detail::converted(value, variable.type());
  if (!fits) throw invalid_argument(name + " is " + dtype_name(variable.type()) + ", the value " + dtype_name(value.type()));
  if (!may_equal(variable.extent(), value.extent()))
    throw invalid_argument(name + " has shape " + brackets(variable.extent()) + ", the value " + brackets(value.extent()));
  return fits;
}

LEAT_FUNCTION void graph_session::assign(const output& variable, const tensor_value& value) {
  check_variable(variable);
  const tensor_value fits = fitting(variable, value);
  if (kept_->remote != nullptr) return kept_->remote->assign(variable, fits);
  const memory_scope metered(kept_->meter());
  slot(variable).assign(fits.copy());
}

LEAT_FUNCTION void graph_session::adopt(const output& variable, const tensor_value& value) {
  check_variable(variable);
  const tensor_value fits = value ? fitting(variable, value) : value;
  if (kept_->remote != nullptr) return kept_->remote->assign(variable, fits);
  slot(variable).adopt(fits);
}

LEAT_FUNCTION std::vector<std::string> graph_session::uninitialized_variables() {
  std::vector<std::string> names;
  for (const char* kind : {"variables", "local_variables"})
    for (const output& v : get_tensors(graph_, kind))
      if (!is_initialized(v)) names.push_back(v.operation().name());
  return names;
}

LEAT_FUNCTION void graph_session::reset(std::string_view container) {
  const std::lock_guard lock(kept_->guard);
  if (graph_.named().runs.load() > 0) throw failed_precondition("reset while the session runs");
  if (kept_->remote != nullptr) kept_->remote->reset(container);
  else kept_->state.resources.clear(container);
}

LEAT_FUNCTION random_positions graph_session::random_state() {
  const std::lock_guard lock(kept_->guard);
  if (kept_->remote != nullptr) return kept_->remote->random_state();
  random_positions positions;
  for (std::size_t k = 0; k < kept_->kernel_nodes.size(); ++k) {
    kernel_node& node = kept_->kernel_nodes[k];
    const std::lock_guard drawing(node.guard);
    if (const auto* source = dynamic_cast<const runtime::random_source*>(node.memory.get()))
      positions[node.name()] = {.seed = source->seed, .next = source->next};
  }
  return positions;
}

LEAT_FUNCTION void graph_session::set_random_state(const random_positions& positions) {
  const std::lock_guard lock(kept_->guard);
  if (kept_->remote != nullptr) return kept_->remote->set_random_state(positions);
  for (const auto& [name, at] : positions) {
    const int index = graph_.named().find(name);
    if (index < 0) continue;
    kernel_node& node = *kernel_node_of(index);
    const std::lock_guard drawing(node.guard);
    if (node.memory != nullptr && dynamic_cast<runtime::random_source*>(node.memory.get()) == nullptr) continue;
    auto source = std::make_unique<runtime::random_source>();
    source->seed = at.seed;
    source->next = at.next;
    node.memory = std::move(source);
  }
}

LEAT_FUNCTION void graph_session::register_host_function(std::string_view token_text, session_function f) {
  if (kept_->remote != nullptr)
    throw unimplemented("register_host_function: the session's nodes run at " + options_.target + ", where this function is not");
  kept_->state.host_functions.set(token_text, std::move(f));
}

LEAT_FUNCTION std::vector<tensor_value> graph_session::run_list(std::span<const fetch_item> fetches, const feed_list& feeds,
                                                                const run_options& how) {
  std::vector<output> fed;
  std::vector<tensor_value> values;
  for (const feed_item& f : feeds.items()) {
    fed.push_back(f.tensor.resolve(graph_));
    values.push_back(f.value);
    if (f.adapts && f.value.type() != fed.back().type())
      if (tensor_value fits = detail::converted(f.value, fed.back().type())) values.back() = std::move(fits);
  }
  const auto p = prepared(fetches, fed);
  std::vector<tensor_value> fetched;
  std::weak_ptr<runtime::plain_program> none;
  execute(*p, values, fetched, how, none);
  std::vector<tensor_value> results;
  for (int place : p->places) results.push_back(place < 0 ? tensor_value{} : fetched[static_cast<std::size_t>(place)].kept());
  return results;
}

LEAT_FUNCTION std::shared_ptr<runtime::prepared_run> graph_session::prepared(std::span<const fetch_item> fetches,
                                                                             const std::vector<output>& feeds) {
  const std::lock_guard lock(kept_->guard);
  check_open();
  if (graph_.size() == 0) throw failed_precondition("The Session graph is empty. Add operations to the graph before calling run().");
  graph_.named().settle_names(graph_);
  place_nodes();
  auto made = std::make_shared<runtime::prepared_run>();
  std::vector<int> key;
  std::vector<int> targets;
  for (const fetch_item& f : fetches) {
    const graph_element e = f.resolve(graph_);
    if (const auto* operation = std::get_if<graph_operation>(&e)) {
      targets.push_back(operation->index());
      made->places.push_back(-1);
      key.insert(key.end(), {operation->index(), -1});
    } else {
      const output& tensor = std::get<output>(e);
      made->places.push_back(static_cast<int>(made->fetches.size()));
      made->fetches.push_back(tensor);
      key.insert(key.end(), {tensor.index(), tensor.port()});
    }
  }
  key.push_back(-2);
  for (const output& f : feeds) key.insert(key.end(), {f.index(), f.port()});
  auto& known = kept_->plans[key];
  if (known == nullptr) {
    const auto plan_of = [this](runtime::prepared_run& run, const std::vector<int>& its_targets) {
      run.plan =
          runtime::run_planner(graph_, [this](int index) { return kernel_node_of(index); }).make(run.fetches, its_targets, run.feeds);
    };
    made->feeds = feeds;
    if (kept_->remote != nullptr) made->remote = kept_->remote->prepare(made->fetches, targets, feeds);
    else plan_of(*made, targets);
    if (kept_->remote != nullptr) {
      // The target plans the run.
    } else if (auto two = runtime::cut_summaries(graph_, made->plan, made->fetches, targets, feeds)) {
      made->first = std::make_unique<runtime::prepared_run>();
      made->first->fetches = std::move(two->fetches);
      made->first->feeds = feeds;
      plan_of(*made->first, two->targets);
      made->tail = std::make_unique<runtime::prepared_run>();
      made->tail->fetches = std::move(two->tail_fetches);
      made->tail->feeds = std::move(two->tail_feeds);
      plan_of(*made->tail, two->tail_targets);
      made->sources = std::move(two->sources);
      if (made->first->plan.has_effects) made->first.reset();  // the computation is not a program either
    }
    known = std::move(made);
  }
  return known;
}

LEAT_FUNCTION void graph_session::execute_in_two(runtime::prepared_run& p, std::span<const tensor_value> feeds,
                                                 std::vector<tensor_value>& fetched, const run_options& how,
                                                 std::weak_ptr<runtime::plain_program>& last) {
  std::vector<tensor_value> values(p.first->fetches.size()), texts;
  fetched.resize(p.sources.size());
  const auto value_of = [&](int source) -> tensor_value& { return values[static_cast<std::size_t>(source)]; };
  for (std::size_t k = 0; k < fetched.size(); ++k)
    if (p.sources[k] >= 0) value_of(p.sources[k]) = std::move(fetched[k]);  // so that its memory is reused
  execute(*p.first, feeds, values, how, last);
  std::weak_ptr<runtime::plain_program> none;
  execute(*p.tail, std::span(values).last(p.tail->feeds.size()), texts, how, none);
  for (std::size_t k = 0; k < fetched.size(); ++k)
    fetched[k] = p.sources[k] >= 0 ? std::move(value_of(p.sources[k])) : std::move(texts[static_cast<std::size_t>(-1 - p.sources[k])]);
}

// Runs a short program that this caller ran before, for values of the same shapes. Only the values are checked; no clock is read, no state
// of a run is made, and the graph is not read. Returns false, without effect, if more is needed.
LEAT_FUNCTION bool graph_session::execute_at_once(runtime::prepared_run& p, std::span<const tensor_value> feeds,
                                                  std::vector<tensor_value>& fetched, const run_options& how,
                                                  const std::weak_ptr<runtime::plain_program>& last) {
  if (p.first != nullptr) return false;  // the caller's program is that of the first run
  if (how.trace != nullptr || feeds.size() != p.feeds.size() || kept_->state.closed.load(std::memory_order_relaxed)) return false;
  if (how.cancel != nullptr && how.cancel->is_cancelled()) return false;
  const auto program = last.lock();
  if (program == nullptr || !program->is_short() || !program->fits_alone(feeds)) return false;
  program->used.store(kept_->state.programs->now(), std::memory_order_relaxed);
  const memory_scope metered(kept_->meter());
  const cpu::scoped_thread_limit within(options_.intra_op_parallelism_threads);
  try {
    if (!program->run_at_once(feeds, fetched)) return false;
  } catch (const cancelled&) {
    throw;
  } catch (const deadline_exceeded&) {
    throw;
  } catch (const error&) {
    return false;  // nothing was written; running node by node names the failing node
  } catch (const std::bad_alloc&) {
    return false;  // running node by node needs less memory
  }
  kept_->fused_runs.fetch_add(1, std::memory_order_relaxed);
  return true;
}

LEAT_FUNCTION void graph_session::execute(runtime::prepared_run& p, std::span<const tensor_value> feeds, std::vector<tensor_value>& fetched,
                                          const run_options& how, std::weak_ptr<runtime::plain_program>& last) {
  if (execute_at_once(p, feeds, fetched, how, last)) return;
  if (feeds.size() != p.feeds.size())
    throw invalid_argument(std::to_string(feeds.size()) + " values for " + std::to_string(p.feeds.size()) + " feeds");
  check_open();
  const auto warm = last.lock();  // if it fits, feeds of these shapes were checked when it was compiled
  const bool fits = warm != nullptr && p.first == nullptr && warm->fits_alone(feeds);
  for (std::size_t k = 0; !fits && k < feeds.size(); ++k) check_feed(p.feeds[k], feeds[k]);
  if (p.remote != nullptr) {
    if (how.cancel != nullptr && how.cancel->is_cancelled()) throw cancelled("Step was cancelled by an explicit call to cancel()");
    const runtime::graph_in_use frozen(graph_.named());
    fetched = kept_->remote->run(*p.remote, feeds, how, how.timeout_in_ms > 0 ? how.timeout_in_ms : options_.operation_timeout_in_ms);
    return;
  }
  if (p.first != nullptr && options_.fuse && how.trace == nullptr) return execute_in_two(p, feeds, fetched, how, last);
  const memory_scope metered(kept_->meter());
  step_state step(kept_->state);
  step.cancel = how.cancel;
  step.exchange = how.exchange;
  step.timeout_in_ms = how.timeout_in_ms > 0 ? how.timeout_in_ms : options_.operation_timeout_in_ms;
  step.check_calls();
  const runtime::graph_in_use frozen(graph_.named());
  const cpu::scoped_thread_limit within(options_.intra_op_parallelism_threads);
  std::optional<trace_scope> timed;
  if (how.trace != nullptr) {
    step.traced_run = (step.trace = how.trace)->begin_run();
    timed.emplace(step.trace, step.traced_run, "run", "Session");
  }
  const bool fuses = options_.fuse && (step.trace == nullptr || step.trace->detail() == trace_detail::steps);
  const bool is_program = p.plan.why_no_program().empty();
  if (step.trace != nullptr && fuses && !is_program)
    const trace_scope why(step.trace, step.traced_run, "no program: " + std::string(p.plan.why_no_program()), "Plan");
  if (fuses && is_program)
    if (const auto program = fits ? warm : p.programs.find(graph_, p.plan, step, feeds, last)) {
      if (fits) program->used.store(kept_->state.programs->now(), std::memory_order_relaxed);
      try {
        if (program->run(feeds, fetched, step, p.programs)) {
          kept_->fused_runs.fetch_add(1, std::memory_order_relaxed);
          return;
        }
        p.programs.forget(program);
        last.reset();
      } catch (const cancelled&) {
        throw;
      } catch (const deadline_exceeded&) {
        throw;
      } catch (const error&) {
        // Nothing was written; running node by node names the failing node.
      } catch (const std::bad_alloc&) {
        // Running node by node needs less memory.
      }
    }
  if (cpu::has_threads && options_.inter_op_parallelism_threads != 1) {
    step.threads_for_waiting = true;
    step.threads = options_.inter_op_parallelism_threads > 1 ? options_.inter_op_parallelism_threads : within.count_outside();
  }
  step.start_clock();
  const cpu::flush_denormals mode;
  const bool in_parts = fuses && (!is_program || p.programs.is_hopeless());
  const auto are_fed = [&] {
    return !std::less<>{}(feeds.data(), fetched.data()) && std::less<>{}(feeds.data(), fetched.data() + fetched.size());
  };
  if (!are_fed()) fetched.clear();  // so that nodes can take the memory of values without other holders
  fetched = in_parts ? runtime::run_plan_once(p.plan_in_parts(graph_), step, feeds, p.results_in_parts)
                     : runtime::run_plan_once(p.plan, step, feeds, p.results);
}

LEAT_FUNCTION void graph_session::check_feed(const output& tensor, const tensor_value& value) {
  if (!value) throw invalid_argument("no value for the tensor '" + tensor.name() + "'");
  // The value of a variant is a handle.
  const bool is_handle = value.type() == resource_dtype && to_data_type(tensor.type()) == data_type::variant;
  if (value.type() != tensor.type() && !is_handle && to_data_type(tensor.type()) != data_type::invalid)
    throw invalid_argument("Cannot feed a value of " + dtype_name(value.type()) + " for Tensor '" + tensor.name() + "', which has dtype " +
                           dtype_name(tensor.type()) + place_text(tensor));
  if (!may_equal(tensor.extent(), value.extent()))
    throw invalid_argument("Cannot feed value of shape " + shape_text(value.extent()) + " for Tensor " + tensor.name() +
                           ", which has shape " + shape_text(tensor.extent()) + place_text(tensor));
}

LEAT_FUNCTION std::string graph_session::place_text(const output& tensor) {
  const source_position at = tensor.operation().made_at();
  return at.line == 0 ? std::string{} : std::string(" (made at ") + at.file + ":" + std::to_string(at.line) + ")";
}

LEAT_FUNCTION kernel_node* graph_session::kernel_node_of(int index) {
  if (static_cast<std::size_t>(index) >= kept_->kernel_node_at.size())
    kept_->kernel_node_at.resize(static_cast<std::size_t>(graph_.size()));
  kernel_node*& n = kept_->kernel_node_at[static_cast<std::size_t>(index)];
  if (n == nullptr) {
    n = &kept_->kernel_nodes.emplace_back();
    n->owner = &graph_;
    n->index = index;
    n->type = graph_.at(index).op->type;
    n->record = &graph_.named().record(index);
  }
  return n;
}

LEAT_FUNCTION void graph_session::check_variable(const output& variable) const {
  const graph& g = graph_;
  if (!static_cast<bool>(variable) || &variable.owner() != &graph_ || g.at(variable.index()).op->kind != op_kind::variable)
    throw invalid_argument((static_cast<bool>(variable) ? describe(variable) : std::string("nothing")) +
                           " is not a variable of this session's graph");
}

LEAT_FUNCTION variable_slot& graph_session::slot(const output& variable) {
  check_variable(variable);
  const std::lock_guard lock(kept_->guard);
  kernel_node& n = *kernel_node_of(variable.index());
  step_state step(kept_->state);
  token result;
  kernel_context c(n, step, {}, {&result, 1});
  return runtime::slot_of(c);
}

LEAT_FUNCTION void graph_session::place_nodes() {
  if (kept_->remote != nullptr) return;  // the target places the nodes
  const named_part& nodes = graph_.named();
  const int before = static_cast<int>(kept_->places.size());
  bool any = false;
  for (int i = before; i < graph_.size() && !any; ++i) any = !nodes.record(i).device.empty();
  if (any) kept_->places = place(graph_, {{options_.device}, 0, options_.allow_soft_placement}, kept_->places);
  else kept_->places.resize(static_cast<std::size_t>(graph_.size()), 0);
  if (!options_.log_device_placement) return;
  const std::lock_guard lock(kept_->state.log_guard);
  for (int i = before; i < graph_.size(); ++i)
    (kept_->state.log != nullptr ? *kept_->state.log : std::cerr)
        << nodes.record(i).name.view() << ": (" << graph_.at(i).op->type << "): " << options_.device << "\n";
}

LEAT_FUNCTION std::vector<std::string> graph_session::list_devices() {
  return kept_->remote != nullptr ? kept_->remote->devices() : std::vector<std::string>{options_.device};
}

LEAT_FUNCTION std::vector<std::pair<std::string, graph_def>> graph_session::part_graphs(std::initializer_list<fetch_item> fetches,
                                                                                        std::initializer_list<feed_key> feeds) {
  const std::lock_guard lock(kept_->guard);
  check_open();
  graph_.named().settle_names(graph_);
  place_nodes();
  partition_request request;
  for (const fetch_item& f : fetches) {
    const graph_element e = f.resolve(graph_);
    if (const auto* operation = std::get_if<graph_operation>(&e)) request.targets.push_back(operation->index());
    else request.fetches.push_back(std::get<output>(e));
  }
  for (const feed_key& f : feeds) request.feeds.push_back(f.resolve(graph_));
  std::vector<std::string> devices{options_.device};
  std::vector<int> places = kept_->places;
  if (kept_->remote != nullptr) {
    const auto placed = kept_->remote->placement();
    devices = kept_->remote->devices();
    places.clear();
    for (const auto& [node, device] : placed)
      places.push_back(static_cast<int>(std::find(devices.begin(), devices.end(), device) - devices.begin()));
    if (placed.size() != static_cast<std::size_t>(graph_.size()) ||
        std::count(places.begin(), places.end(), static_cast<int>(devices.size())) > 0)
      throw data_loss(options_.target + " has placed " + std::to_string(placed.size()) + " nodes of " + std::to_string(graph_.size()) +
                      ", or on devices that are not the session's");
  }
  std::vector<std::pair<std::string, graph_def>> parts;
  for (graph_part& p : partition(graph_, request, places, devices).parts)
    parts.emplace_back(devices[static_cast<std::size_t>(p.device)], std::move(p.def));
  return parts;
}

LEAT_FUNCTION graph_callable graph_session::prepare(std::initializer_list<fetch_item> fetches, std::initializer_list<feed_key> feeds,
                                                    const run_options& how) {
  std::vector<output> fed;
  for (const auto& f : feeds) fed.push_back(f.resolve(graph_));
  return {*this, prepared({fetches.begin(), fetches.size()}, fed), how};
}

LEAT_FUNCTION const std::vector<tensor_value>& graph_callable::call(std::span<const tensor_value> values) { return call(values, options_); }
LEAT_FUNCTION const std::vector<tensor_value>& graph_callable::call(std::span<const tensor_value> values, const run_options& how) {
  return run(values, how);
}

LEAT_FUNCTION std::string graph_session::refusal_of(const graph_operation& node) {
  const std::lock_guard lock(kept_->guard);
  try {
    runtime::run_planner(graph_, [this](int index) { return kernel_node_of(index); }).check(node.index());
  } catch (const error& e) {
    return e.what();
  }
  return {};
}
LEAT_FUNCTION bool graph_session::is_initialized(const output& variable) {
  if (kept_->remote == nullptr) return slot(variable).is_initialized();
  check_variable(variable);
  return kept_->remote->is_initialized(variable);
}
LEAT_FUNCTION tensor_value graph_session::value(const output& variable) {
  if (kept_->remote == nullptr) return slot(variable).read();
  check_variable(variable);
  return kept_->remote->value(variable);
}
LEAT_FUNCTION resource_table& graph_session::resources() { return kept_->state.resources; }
LEAT_FUNCTION remote_session* graph_session::at_target() const { return kept_->remote.get(); }
LEAT_FUNCTION std::int64_t graph_session::memory_in_bytes() const { return kept_->state.meter != nullptr ? kept_->state.meter->used() : 0; }
LEAT_FUNCTION std::int64_t graph_session::fused_runs() const { return kept_->fused_runs.load(std::memory_order_relaxed); }
LEAT_FUNCTION std::int64_t graph_session::fused_parts() const { return kept_->state.part_runs.load(std::memory_order_relaxed); }
LEAT_FUNCTION std::int64_t graph_session::program_bytes() const { return kept_->state.programs->held(); }
LEAT_FUNCTION void graph_session::close() {
  if (kept_->state.closed.exchange(true)) return;
  if (kept_->remote != nullptr) kept_->remote->close();
}
LEAT_FUNCTION void graph_session::check_open() const {
  if (kept_->state.closed.load(std::memory_order_relaxed)) throw failed_precondition("Attempted to use a closed Session.");
}

}  // namespace leat
