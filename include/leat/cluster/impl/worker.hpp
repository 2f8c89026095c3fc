#pragma once
// Implementation of worker.hpp.

#include <leat/checkpoint/checkpoint_reader.hpp>
#include <leat/checkpoint/shard_file.hpp>
#include <leat/cluster/tensor_message.hpp>
#include <leat/cluster/worker.hpp>
#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/inspect/trace.hpp>
#include <leat/io/binary.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/named/exchange/import.hpp>
#include <leat/named/graph/lookup.hpp>

#include <nlohmann/json.hpp>

#include <optional>
#include <random>

namespace leat::cluster {

/// A part, prepared once for each of the steps that run concurrently.
struct worker::held_part {
  part_order order;
  graph g;
  std::unique_ptr<graph_session> s;
  std::vector<fetch_item> asked;  // fetches, then targets
  std::vector<output> fed;
  // For a light part that passes tensors: the half that reads and sends, and the half that uses what it receives. Neither has nodes that
  // block.
  struct halves {
    std::vector<fetch_item> sent;
    std::vector<std::int64_t> sends;  // edges
    std::vector<fetch_item> asked;    // fetches, then targets
    std::vector<output> fed;          // the part's feeds, then the tensors that it receives
    std::vector<std::int64_t> receives;
  };
  std::optional<halves> in_halves;
  bool is_light = false;
  std::mutex guard;
  using prepared_calls = std::vector<std::unique_ptr<graph_callable>>;
  prepared_calls idle, idle_sends, idle_rests;

  static bool is_exchange(const node& n) { return n.op->what.control == flow::send || n.op->what.control == flow::receive; }
  static bool reads_only(const node& n) {
    switch (n.op->kind) {
      case op_kind::constant:
      case op_kind::placeholder:
      case op_kind::variable:
      case op_kind::identity:
      case op_kind::group: return true;
      default: return false;
    }
  }

  // Whether the part is little work on small arrays and waits only for tensors, as parts that parameter servers run for a worker's step.
  bool finds_light() const {
    constexpr std::int64_t most = 1 << 14;  // elements; about 10 microseconds
    std::int64_t elements = 0;
    for (int i = 0; i < g.size(); ++i) {
      const node& n = g.at(i);
      if (n.result.type == text_dtype) return false;
      if (is_exchange(n)) continue;
      const bool updates = !n.op->what.written.empty() && n.op->what.work == work_kind::elements;
      if (!reads_only(n) && n.op->kind != op_kind::element && !updates) return false;
      if (n.op->kind == op_kind::group) continue;
      if (!n.result.extent.is_static() || n.result.extent.elements() > most) return false;
      elements += n.result.extent.elements();
      if (elements > most) return false;
    }
    return true;
  }

  // Whether the part can be split into halves, or passes no tensors. What it sends must not depend on what it receives or writes, because
  // the other half waits for everything that it receives.
  bool finds_halves() {
    constexpr int most_nodes = 256;  // the thread that delivers the second step plans them
    halves made;
    const named_part& nodes = g.named();
    std::vector<int> open;
    bool passes = false;
    const auto attribute = [&](int i, const char* name) { return nodes.record(i).attributes.find(name); };
    for (int i = 0; i < g.size(); ++i) {
      const node& n = g.at(i);
      for (int k = 0; k < n.control_count; ++k)
        if (is_exchange(g.at(g.control(n, k)))) return false;
      if (!is_exchange(n)) continue;
      passes = true;
      const auto* const edge = attribute(i, "_edge");
      const auto* const number = edge != nullptr ? edge->get_if<std::int64_t>() : nullptr;
      const auto* const dead = attribute(i, "_may_be_dead");
      const bool* const may_be_dead = dead != nullptr ? dead->get_if<bool>() : nullptr;
      if (number == nullptr || may_be_dead == nullptr || *may_be_dead) return false;
      if (n.op->what.control == flow::receive) {
        made.fed.emplace_back(g, i);
        made.receives.push_back(*number);
      } else {
        const output in = nodes.input(g, i, 0);
        made.sent.emplace_back(in);
        made.sends.push_back(*number);
        open.push_back(in.index());
        for (int k = 0; k < n.control_count; ++k) open.push_back(g.control(n, k));
      }
    }
    if (!passes) return true;
    if (g.size() > most_nodes) return false;
    std::vector<char> seen(static_cast<std::size_t>(g.size()), 0);
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      if (std::exchange(seen[static_cast<std::size_t>(i)], 1) != 0) continue;
      const node& n = g.at(i);
      if (!reads_only(n)) return false;
      for (int k = 0; k < nodes.input_count(g, i); ++k) open.push_back(nodes.input(g, i, k).index());
      for (int k = 0; k < n.control_count; ++k) open.push_back(g.control(n, k));
    }
    for (const std::string& f : order.fetches) {
      const output o = get_tensor_by_name(g, f);
      if (is_exchange(g.at(o.index()))) return false;
      made.asked.emplace_back(o);
    }
    for (const std::string& t : order.targets)
      if (const graph_operation o = get_operation_by_name(g, t); !is_exchange(g.at(o.index()))) made.asked.emplace_back(o);
    made.fed.insert(made.fed.begin(), fed.begin(), fed.end());
    in_halves = std::move(made);
    return true;
  }

  std::unique_ptr<graph_callable> take() { return take(idle, asked, fed); }
  std::unique_ptr<graph_callable> take(prepared_calls& from, const std::vector<fetch_item>& its_asked, const std::vector<output>& its_fed) {
    {
      const std::lock_guard lock(guard);
      if (!from.empty()) {
        auto taken = std::move(from.back());
        from.pop_back();
        return taken;
      }
    }
    return std::make_unique<graph_callable>(s->prepare(its_asked, its_fed));
  }
  void give_back(std::unique_ptr<graph_callable> callable) { give_back(idle, std::move(callable)); }
  void give_back(prepared_calls& to, std::unique_ptr<graph_callable> callable) {
    const std::lock_guard lock(guard);
    to.push_back(std::move(callable));
  }
};

LEAT_FUNCTION void put_part(transport::message& m, const part_order& p) {
  nlohmann::json sends = nlohmann::json::array();
  for (const auto& [edge, task] : p.sends) sends.push_back({edge, task});
  const nlohmann::json order{{"session", p.session}, {"incarnation", p.incarnation}, {"feeds", p.feeds},
                             {"fetches", p.fetches}, {"targets", p.targets},         {"sends", std::move(sends)}};
  m.parts.push_back(transport::frame::of(order.dump()));
  m.parts.push_back(transport::frame::of(io::write_binary(p.def)));
}

LEAT_FUNCTION part_order part_of(const transport::message& m) {
  if (m.parts.size() != 2) throw data_loss("a part of a graph in " + std::to_string(m.parts.size()) + " pieces");
  const nlohmann::json order = nlohmann::json::parse(m.parts[0].text(), nullptr, false);
  part_order p;
  try {
    order.at("session").get_to(p.session);
    order.at("incarnation").get_to(p.incarnation);
    order.at("feeds").get_to(p.feeds);
    order.at("fetches").get_to(p.fetches);
    order.at("targets").get_to(p.targets);
    for (const auto& pair : order.at("sends")) p.sends.emplace(pair.at(0).get<std::int64_t>(), pair.at(1).get<int>());
  } catch (const nlohmann::json::exception& e) {
    throw data_loss(std::string("a part of a graph: ") + e.what());
  }
  p.def = io::read_binary<graph_def>(m.parts[1].text());
  return p;
}

LEAT_FUNCTION worker::worker(task_network& network, std::string device, int tasks)
    : network_(network), device_(std::move(device)), tasks_(tasks), incarnation_([] {
        std::random_device random;  // the lower half counts parts
        return (std::uint64_t{random()} << 32) | std::uint64_t{1};
      }()) {}

LEAT_FUNCTION void worker::require_incarnation(std::uint64_t wanted) const {
  if (wanted != 0 && wanted != incarnation_) throw aborted(device_ + " has been started anew: what it knew of the session is lost");
}

LEAT_FUNCTION worker::~worker() { stop(std::make_exception_ptr(unavailable("the server of " + device_ + " has stopped"))); }

LEAT_FUNCTION std::uint64_t worker::register_part(const part_order& order) {
  require_incarnation(order.incarnation);
  for (const auto& [edge, task] : order.sends)
    if (task < 0 || task >= tasks_ || edge < 0 || edge > std::int64_t{0xffffffff})
      throw invalid_argument("the part sends along edge " + std::to_string(edge) + " to task " + std::to_string(task) + " of " +
                             std::to_string(tasks_));
  auto part = std::make_shared<held_part>();
  part->order = order;
  import_graph(part->g, order.def, {.name = ""});
  part->order.def = {};
  session_options options;
  options.device = device_;
  options.resources = resources_;
  options.memory_limit_in_bytes = memory_limit_;
  options.file_root = file_root_;
  {
    const std::lock_guard lock(guard_);
    const auto its = random_numbers_.find(order.session);
    options.random_numbers = its != random_numbers_.end() ? its->second : std::make_shared<random_table>();
  }
  part->s = std::make_unique<graph_session>(part->g, options);
  for (const std::string& f : order.fetches) part->asked.emplace_back(get_tensor_by_name(part->g, f));
  for (const std::string& t : order.targets) part->asked.emplace_back(get_operation_by_name(part->g, t));
  for (const std::string& f : order.feeds) part->fed.push_back(get_tensor_by_name(part->g, f + ":0"));
  part->is_light = part->finds_light() && part->finds_halves();
  const std::lock_guard lock(guard_);
  const std::uint64_t number = ++last_part_;
  parts_.emplace(number, std::move(part));
  random_numbers_.try_emplace(order.session, options.random_numbers);
  return number;
}

LEAT_FUNCTION bool worker::is_light(std::uint64_t number) {
  std::shared_ptr<held_part> part;
  {
    const std::lock_guard lock(guard_);
    const auto at = parts_.find(number);
    if (at == parts_.end()) return false;
    part = at->second;
  }
  if (!part->is_light) return false;
  const std::lock_guard lock(part->guard);
  return !part->idle.empty();
}

LEAT_FUNCTION void worker::drop_parts(std::uint64_t session) {
  std::vector<std::shared_ptr<held_part>> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(guard_);
  for (auto at = parts_.begin(); at != parts_.end();) {
    if (at->second->order.session != session) {
      ++at;
      continue;
    }
    dropped.push_back(std::move(at->second));
    at = parts_.erase(at);
  }
  random_numbers_.erase(session);
  read_aside_.erase(session);
}

inline void tell_of_part(const run_trace& trace, task_step& step, part_statistics& to) noexcept {
  try {
    to.events = trace.events();
    if (to.events.size() > most_told_events) {
      to.left_out = static_cast<std::int64_t>(to.events.size() - most_told_events);
      to.events.resize(most_told_events);
    }
    for (trace_event& e : to.events) {
      e.begin += trace.started();
      e.end += trace.started();
    }
    step.tell(to);
  } catch (const std::exception&) {
    to.events.clear();  // out of memory: the step is more important than its trace
  }
}

LEAT_FUNCTION void worker::drop_parts(const std::vector<std::uint64_t>& numbers, const std::vector<std::uint64_t>& sessions) {
  std::vector<std::shared_ptr<held_part>> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(guard_);
  for (const std::uint64_t number : numbers)
    if (const auto at = parts_.find(number); at != parts_.end()) {
      dropped.push_back(std::move(at->second));
      parts_.erase(at);
    }
  if (sessions.empty()) return;
  std::set<std::uint64_t> with_parts;
  for (const auto& [number, part] : parts_) with_parts.insert(part->order.session);
  for (const std::uint64_t session : sessions)
    if (!with_parts.contains(session)) random_numbers_.erase(session);
}

LEAT_FUNCTION random_positions worker::random_state(std::uint64_t session, std::uint64_t incarnation) {
  require_incarnation(incarnation);
  const std::lock_guard lock(guard_);
  const auto its = random_numbers_.find(session);
  return its == random_numbers_.end() ? random_positions{} : its->second->positions();
}

LEAT_FUNCTION void worker::set_random_state(std::uint64_t session, std::uint64_t incarnation, const random_positions& positions) {
  require_incarnation(incarnation);
  const std::lock_guard lock(guard_);
  auto& its = random_numbers_[session];
  if (its == nullptr) its = std::make_shared<random_table>();
  its->set(positions);
}

LEAT_FUNCTION void worker::drop_part(std::uint64_t number) {
  std::shared_ptr<held_part> dropped;  // destroyed after the lock is released
  const std::lock_guard lock(guard_);
  const auto at = parts_.find(number);
  if (at == parts_.end()) return;
  dropped = std::move(at->second);
  parts_.erase(at);
}

LEAT_FUNCTION std::size_t worker::parts_kept() {
  const std::lock_guard lock(guard_);
  return parts_.size();
}

LEAT_FUNCTION std::shared_ptr<worker::held_part> worker::part_for_run(std::uint64_t number, std::size_t feeds) {
  std::shared_ptr<held_part> part;
  {
    const std::lock_guard lock(guard_);
    const auto at = parts_.find(number);
    if (at == parts_.end())
      throw aborted(device_ + " has no part " + std::to_string(number) +
                    ": it has been started anew, or the session has ended; make a new session");
    part = at->second;
  }
  if (feeds != part->fed.size())
    throw invalid_argument(std::to_string(feeds) + " values for a part with " + std::to_string(part->fed.size()) + " feeds");
  parts_run_.fetch_add(1, std::memory_order_relaxed);
  return part;
}

LEAT_FUNCTION void worker::begin_light(std::uint64_t number, const step_order& how, std::vector<tensor_value> feeds, part_handler done) {
  const std::shared_ptr<held_part> part = part_for_run(number, feeds.size());
  const std::shared_ptr<task_step> step = steps_.begin(network_, how.number, part->order.sends, nullptr, false, how.deadline);
  const auto failed = [step] {
    if (const std::exception_ptr why = step->failure()) std::rethrow_exception(why);
  };
  const auto call = [&s = *step](graph_callable& what, std::span<const tensor_value> values) -> const std::vector<tensor_value>& {
    run_options options;
    options.cancel = &s.cancel();
    return what.call(values, options);
  };
  try {
    failed();
    if (how.deadline <= std::chrono::steady_clock::now())
      throw deadline_exceeded("the step's deadline had passed before " + device_ + " began with it");
    if (part->in_halves && !part->in_halves->sends.empty()) {
      auto sends = part->take(part->idle_sends, part->in_halves->sent, part->fed);
      const std::vector<tensor_value>& sent = call(*sends, feeds);
      for (std::size_t k = 0; k < sent.size(); ++k) step->keep_back(part->in_halves->sends[k], sent[k]);
      part->give_back(part->idle_sends, std::move(sends));
    }
  } catch (const std::exception&) {
    step->fail(std::current_exception());
  }
  const std::size_t awaited = part->in_halves ? part->in_halves->receives.size() : 0;
  auto rest = [this, part, step, failed, call, number = how.number, feeds = std::move(feeds), done = std::move(done)]() mutable {
    std::vector<tensor_value> values;
    std::exception_ptr failure;
    try {
      failed();
      const bool halved = part->in_halves.has_value();
      if (halved)
        for (const std::int64_t edge : part->in_halves->receives)
          if (!step->take(edge, feeds.emplace_back()) || !feeds.back())
            throw data_loss("a step without the tensor of edge " + std::to_string(edge));
      if (!halved || !part->in_halves->asked.empty()) {
        auto& idle = halved ? part->idle_rests : part->idle;
        auto what = halved ? part->take(idle, part->in_halves->asked, part->in_halves->fed) : part->take();
        const std::vector<tensor_value>& results = call(*what, feeds);
        values.assign(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(part->order.fetches.size()));
        part->give_back(idle, std::move(what));
      }
    } catch (const std::exception&) {
      const std::exception_ptr why = step->failure();
      failure = why ? why : std::current_exception();
    }
    steps_.end(number);
    done(std::move(values), failure);
  };
  bool has_gone = false;
  try {
    has_gone = step->try_flush();
    if (!has_gone) {
      // The receiving thread must not wait for room.
      threads_.give([step, awaited, rest] {
        try {
          step->flush();
        } catch (const std::exception&) {
          step->fail(std::current_exception());
        }
        step->when_arrived(awaited, rest);
      });
      return;
    }
  } catch (const std::exception&) {
    step->fail(std::current_exception());
  }
  step->when_arrived(awaited, std::move(rest));
}

LEAT_FUNCTION std::vector<tensor_value> worker::run_part(std::uint64_t number, const step_order& how, std::span<const tensor_value> feeds) {
  const std::shared_ptr<held_part> part = part_for_run(number, feeds.size());
  const bool is_traced = how.traced != trace_level::none && how.statistics != nullptr;
  const std::shared_ptr<task_step> step = steps_.begin(network_, how.number, part->order.sends, how.cancel, is_traced, how.deadline);
  struct at_end {
    step_table& steps;
    std::uint64_t number;
    ~at_end() { steps.end(number); }
  } const ended{steps_, how.number};
  std::optional<run_trace> trace;
  struct told_at_end {
    std::optional<run_trace>& trace;
    task_step& step;
    part_statistics* to;
    ~told_at_end() {
      if (trace) tell_of_part(*trace, step, *to);
    }
  } const told{trace, *step, how.statistics};
  try {
    if (const std::exception_ptr failed = step->failure()) std::rethrow_exception(failed);
    run_options options;
    options.cancel = &step->cancel();
    options.exchange = step.get();
    if (is_traced) options.trace = &trace.emplace(detail_of(how.traced));
    if (how.deadline != steady_time::max()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(how.deadline - std::chrono::steady_clock::now()).count();
      if (left <= 0) throw deadline_exceeded("the step's deadline had passed before " + device_ + " began with it");
      options.timeout_in_ms = left;
    }
    std::unique_ptr<graph_callable> callable = part->take();
    for (std::size_t k = 0; how.memory && k < part->order.fetches.size(); ++k)
      if (const tensor_value& last = callable->results()[k]; last && last.type() != text_dtype)
        if (tensor_value placed = placed_value(last.type(), last.extent(), how.memory)) callable->place_result(k, std::move(placed));
    const std::vector<tensor_value>& results = callable->call(feeds, options);
    std::vector<tensor_value> values(results.begin(), results.begin() + static_cast<std::ptrdiff_t>(part->order.fetches.size()));
    part->give_back(std::move(callable));
    return values;
  } catch (const cancelled&) {
    if (const std::exception_ptr failed = step->failure()) std::rethrow_exception(failed);
    throw;
  }
}

LEAT_FUNCTION std::shared_ptr<variable_slot> worker::find_variable(const std::string& container, const std::string& name) const {
  const auto found = std::dynamic_pointer_cast<variable_slot>(resources_->find(container, name));
  if (found == nullptr) throw not_found("there is no variable '" + name + "' at " + device_);
  return found;
}

LEAT_FUNCTION tensor_value worker::read_variable(const std::string& container, const std::string& name) const {
  return find_variable(container, name)->read();
}

LEAT_FUNCTION written_shard worker::write_shard(const shard_of_task& order) const {
  require_incarnation(order.incarnation);
  std::vector<std::pair<std::string, tensor_value>> values;
  for (const auto& v : order.variables) {
    if (!has_variable(v.container, v.name))
      throw failed_precondition("Attempting to use uninitialized value " + v.name + ", at " + device_);
    values.emplace_back(v.name_in_file, read_variable(v.container, v.name));
  }
  try {
    return detail::write_shard(order.path, values);
  } catch (const not_found& e) {
    throw not_found(device_ + " does not see the file that the session's client has made: " + e.what() +
                    ". A sharded checkpoint needs a folder that the tasks have under the client's path");
  } catch (const resource_exhausted& e) {
    throw resource_exhausted(device_ + " cannot save its variables: " + e.what());
  } catch (const failed_precondition& e) {
    throw failed_precondition(device_ + " cannot save its variables: " + e.what());
  }
}

LEAT_FUNCTION bool worker::has_variable(const std::string& container, const std::string& name) const {
  const auto found = std::dynamic_pointer_cast<variable_slot>(resources_->find(container, name));
  return found != nullptr && found->is_initialized();
}

LEAT_FUNCTION void worker::write_variable(const std::string& container, const std::string& name, const shape& extent,
                                          const tensor_value& value) {
  if (!value) {  // an empty value removes the variable's value
    const auto found = std::dynamic_pointer_cast<variable_slot>(resources_->find(container, name));
    if (found != nullptr) found->clear();
    return;
  }
  slot_for(container, name, extent, value)->assign(value.copy());
}

LEAT_FUNCTION std::shared_ptr<variable_slot> worker::slot_for(const std::string& container, const std::string& name, const shape& extent,
                                                              const tensor_value& value) {
  const auto make = [&] { return std::make_shared<variable_slot>(name, value.type(), extent); };
  auto slot = resources_->find_or_make<variable_slot>(container, name, make);
  const auto fits = [&] { return slot->type() == value.type() && may_equal(slot->extent(), value.extent()); };
  if (!fits() && !slot->is_initialized())
    if (auto made = resources_->replace_cleared<variable_slot>(container, name, make)) slot = std::move(made);
  if (!fits())
    throw invalid_argument("the variable '" + name + "' at " + device_ + " is " + dtype_name(slot->type()) + " " +
                           brackets(slot->extent()) + ", the value " + dtype_name(value.type()) + " " + brackets(value.extent()));
  return slot;
}

LEAT_FUNCTION void worker::read_shard(const reading_of_task& order, steady_time deadline) {
  require_incarnation(order.incarnation);
  const auto drop_old = [&] {
    const auto now = std::chrono::steady_clock::now();
    std::erase_if(read_aside_, [&](const auto& one) { return one.first == order.session || one.second.until < now; });
  };
  {
    const std::lock_guard lock(guard_);
    drop_old();
  }
  read_aside made;
  made.until = std::min(deadline, std::chrono::steady_clock::now() + std::chrono::hours(1));
  try {
    const checkpoint_reader from(order.prefix);
    if (io::crc32c(write_manifest(from.manifest())) != order.manifest_crc)
      throw not_found(order.prefix + ": is another checkpoint than the session's client sees");
    for (const auto& v : order.variables) {
      tensor_value value = v.is_slice ? from.block(v.name_in_file, {v.offset, v.extent}) : from.value(v.name_in_file);
      auto slot = slot_for(v.container, v.name, v.graph_extent, value);
      made.values.emplace_back(std::move(slot), std::move(value));
    }
  } catch (const not_found& e) {
    throw not_found(device_ + " does not see the checkpoint: " + e.what());
  } catch (const data_loss& e) {
    throw data_loss(device_ + " cannot restore its variables: " + e.what());
  } catch (const resource_exhausted& e) {
    throw resource_exhausted(device_ + " cannot restore its variables: " + e.what());
  }
  const std::lock_guard lock(guard_);
  drop_old();
  read_aside_.emplace(order.session, std::move(made));
}

LEAT_FUNCTION void worker::adopt_shard(std::uint64_t session) {
  read_aside kept;
  {
    const std::lock_guard lock(guard_);
    const auto at = read_aside_.find(session);
    if (at == read_aside_.end()) throw failed_precondition(device_ + " has read no checkpoint for this session");
    kept = std::move(at->second);
    read_aside_.erase(at);
  }
  for (auto& [slot, value] : kept.values) slot->adopt(std::move(value));
}

LEAT_FUNCTION void worker::stop(const std::exception_ptr& why) {
  steps_.close(why);
  threads_.stop();
}

}  // namespace leat::cluster
