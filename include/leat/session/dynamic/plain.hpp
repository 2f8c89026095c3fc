#pragma once
// The fast way to run a plan: as one program. A plan without control flow, queues and calls of the host is entered into a plain
// table for the shapes that it is run with; what can be computed from shapes and constants alone is computed now, by the same
// kernels; the compiler's passes fuse what is left and plan its memory; and the interpreter runs it. What such a table cannot
// say is left to the executor, and so is a run that fails, so that its error names the node.

#include <leat/ops/add_n.hpp>
#include <leat/session/dynamic/constants.hpp>
#include <leat/session/dynamic/node_call.hpp>
#include <leat/session/dynamic/plain_rows.hpp>
#include <leat/session/dynamic/stops.hpp>

namespace leat::dynamic {

class program_cache;

/// A plan as a program for certain shapes, with what it is bound to.
class plain_program : public budgeted_program, public std::enable_shared_from_this<plain_program> {
 public:
  struct feed_binding {
    int buffer;
    int feed;
  };
  struct variable_binding {
    int buffer;
    variable_slot* slot;
    tensor_info info;
    bool written;
    bool read;
  };
  std::vector<tensor_info> feeds;  // what it was made for
  std::vector<std::pair<int, tensor_value>> known_feeds;  // of which also the elements
  std::vector<variable_binding> variables;  // sorted by slot
  std::vector<feed_binding> feed_buffers;
  std::vector<tensor_value> arrays;
  std::vector<tensor_value> known;  // of each fetch: its value, where that depends on shapes alone
  std::vector<int> fetches;         // of each fetch: the buffer, or -1
  std::vector<tensor_info> results;
  std::optional<cpu::interpreter> code;
  std::optional<cpu::bound_program> bound;
  program_stops stops;
  std::int64_t own_bytes = 0;       // of all but the memory for intermediate results
  std::mutex guard;

  bool fits(std::span<const tensor_value> given) const {
    for (std::size_t k = 0; k < feeds.size(); ++k)
      if (feeds[k].type != given[k].type() || !(feeds[k].extent == given[k].extent())) return false;
    for (const auto& [k, value] : known_feeds)
      if (std::memcmp(value.data(), given[static_cast<std::size_t>(k)].data(), value.bytes()) != 0) return false;
    return true;
  }
  /// Runs it, if the variables are as they were: false where they are not. `cache` has it. Errors: those of the interpreter; then
  /// no variable has been written. Of a run that takes longer also cancelled and deadline_exceeded; then no node has written only
  /// some of its variables, or one of them in part.
  bool run(std::span<const tensor_value> given, std::vector<tensor_value>& fetched, step_state& step, program_cache& cache) {
    const std::lock_guard lock(guard);
    if (bound && !bound->is_ready()) [[unlikely]]
      have_memory(step, cache);
    struct unlock {
      std::vector<variable_binding>& all;
      std::size_t locked = 0;
      ~unlock() {
        for (std::size_t k = 0; k < locked; ++k) all[k].slot->guard().unlock();
      }
    } held{variables};
    for (auto& v : variables) {
      v.slot->guard().lock();
      ++held.locked;
      tensor_value& value = v.slot->locked_value();
      if (!value || value.type() != v.info.type || !(value.extent() == v.info.extent)) return false;
    }
    for (auto& v : variables) {
      tensor_value& value = v.slot->locked_value();
      if (v.written && !value.is_alone()) value = value.copy();
      if (v.buffer >= 0) bound->bind(v.buffer, value.data());
    }
    for (const auto& f : feed_buffers) bound->bind(f.buffer, const_cast<std::byte*>(given[static_cast<std::size_t>(f.feed)].data()));
    fetched.resize(fetches.size());
    for (std::size_t k = 0; k < fetches.size(); ++k) {
      if (fetches[k] < 0) continue;
      tensor_value& to = fetched[k];
      if (!to.is_alone() || to.type() != results[k].type || !(to.extent() == results[k].extent)) to = tensor_value(results[k].type, results[k].extent);
      bound->bind(fetches[k], to.data());
    }
    if (bound) {
      if (step.trace == nullptr && !stops.is_long) bound->run();
      else run_observed(step);
    }
    for (std::size_t k = 0; k < fetches.size(); ++k)
      if (fetches[k] < 0) fetched[k] = known[k];
    return true;
  }

 private:
  [[gnu::cold]] void have_memory(step_state& step, program_cache& cache);

  void run_observed(step_state& step) {
    if (stops.is_long) step.start_clock();
    const step_interruption interruption(step);
    if (step.trace == nullptr) {
      stop_observer<cpu::no_observer> stoppable(stops, interruption);
      return bound->run(stoppable);
    }
    step_observer traced(*step.trace, step.traced_run, code->data());
    stop_observer<step_observer> stoppable(stops, interruption, traced);
    bound->run(stoppable);
    step.trace->add_memory({code->data(), bound->sizes(), &bound->plan()}, weak_from_this().lock());
  }
};

class plain_builder {
 public:
  plain_builder(graph& g, const run_plan& plan, step_state& step) : g_(g), plan_(plan), step_(step) {}

  /// The program, or null where the plan has none for these shapes. It is one for the elements of `known_feeds`, too.
  std::unique_ptr<plain_program> make(std::span<const tensor_value> feeds, std::span<const int> known_feeds = {}) {
    if (plan_.has_control_flow || plan_.has_effects) return nullptr;
    made_ = std::make_unique<plain_program>();
    for (const auto& f : feeds) {
      made_->feeds.push_back({f.type(), f.extent()});
      if (size_of(f.type()) == 0) return nullptr;
    }
    try {
      values_.resize(static_cast<std::size_t>(plan_.results));
      for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
        if (plan_.feeds[k] >= 0) {
          plain_value& v = result(plan_.feeds[k], 0);
          v.info = made_->feeds[k];
          if (std::find(known_feeds.begin(), known_feeds.end(), static_cast<int>(k)) != known_feeds.end()) {
            v.known = feeds[k].kept();
            made_->known_feeds.emplace_back(static_cast<int>(k), v.known);
            continue;
          }
          v.row = leaf(v.info, info_of<placeholder_op>, leaf_kind::feed, static_cast<int>(k));
        }
      for (int i : plan_.order)
        if (plan_.nodes[static_cast<std::size_t>(i)].kind != flow::feed && !enter(i)) return nullptr;
      return finish();
    } catch (const std::exception&) {
      return nullptr;  // the executor says what is wrong, or has less memory to ask for
    }
  }
  /// Whether there is none because a variable has no value yet.
  bool lacks_values() const { return lacks_values_; }

 private:
  enum class leaf_kind { feed, variable, array };
  struct leaf_source {
    leaf_kind kind;
    int index;
  };
  static constexpr std::int64_t most_known = 4096;  // elements that are computed beforehand

  plain_value& result(int node, int port) {
    return values_[static_cast<std::size_t>(plan_.nodes[static_cast<std::size_t>(node)].first_result + port)];
  }
  plain_value& input(const plan_node& n, int k) {
    const auto& s = n.inputs[static_cast<std::size_t>(k)];
    return result(s.node, s.port);
  }
  int leaf(const tensor_info& info, const op_info& op, leaf_kind kind, int index) {
    sources_.push_back({kind, index});
    const auto id = sources_.size();
    const std::int64_t numbers[]{0, 1, 0};
    return table_.add_leaf(op, info, table_.keep("leaf ", std::to_string(id)), id,
                           kind == leaf_kind::variable ? std::span<const std::int64_t>(numbers) : std::span<const std::int64_t>{});
  }

  // The row of a value as an operand: of what is known, a number or an array; of a variable, its value at this point.
  int row_of(plain_value& v, int user, bool late) {
    if (v.slot != nullptr) return read(v, user, late);
    if (v.row >= 0) return v.row;
    const tensor_value& t = v.known;
    if (const auto one = uniform(t)) return v.row = constant(table_, t.type(), t.extent(), *one).index();
    made_->arrays.push_back(t);
    return v.row = leaf({t.type(), t.extent()}, info_of<placeholder_op>, leaf_kind::array, static_cast<int>(made_->arrays.size()) - 1);
  }
  static std::optional<double> uniform(const tensor_value& t) {
    if (t.elements() == 0) return 0.0;
    return with_dtype(t.type(), [&]<class T>(T) -> std::optional<double> {
      const auto all = t.values<T>();
      for (const T x : all)
        if (std::memcmp(&x, &all[0], sizeof(T)) != 0) return std::nullopt;
      const double d = static_cast<double>(all[0]);
      if constexpr (std::is_same_v<T, std::int64_t>)
        if (d >= 9007199254740992.0 || d <= -9007199254740992.0) return std::nullopt;
      if (d != d) return std::nullopt;
      return d;
    });
  }
  // A read that follows writes is a row of its own that waits for them.
  int read(plain_value& v, int user, bool late) {
    const int base = variable_row(*v.slot, v.info);
    if (!late && v.row >= 0) return v.row;
    if (!late) return base;
    std::vector<int> waits;
    for (const auto& [node, slot] : writers_)
      if (slot == v.slot && depends(user, node)) waits.push_back(write_rows_.at(node));
    if (waits.empty()) return v.row >= 0 ? v.row : base;
    if (waits.size() == 1 && waits[0] == v.row) return v.row;
    const int inputs[]{base};
    return table_.add(info_of<identity_op>, inputs, {}, waits);
  }
  int variable_row(variable_slot& slot, const tensor_info& info) {
    const auto [at, fresh] = variable_rows_.try_emplace(&slot, -1);
    if (fresh) {
      slots_.push_back(&slot);
      at->second = leaf(info, info_of<variable_op>, leaf_kind::variable, static_cast<int>(slots_.size()) - 1);
    }
    return at->second;
  }
  // Whether a node depends on another.
  bool depends(int node, int on) {
    auto& users = users_[on];
    if (users.empty()) {
      users.assign(plan_.nodes.size(), false);
      std::vector<int> open{on};
      while (!open.empty()) {
        const plan_node& n = plan_.nodes[static_cast<std::size_t>(open.back())];
        open.pop_back();
        for (const plan_edge& e : n.out)
          if (!users[static_cast<std::size_t>(e.node)]) {
            users[static_cast<std::size_t>(e.node)] = true;
            open.push_back(e.node);
          }
      }
    }
    return users[static_cast<std::size_t>(node)];
  }

  bool enter(int index) {
    const plan_node& n = plan_.nodes[static_cast<std::size_t>(index)];
    const op_info& op = *g_.at(n.node->index).op;
    const std::string_view type = op.type;
    if (type == "NoOp") return true;
    if (op.kind == op_kind::constant) {
      plain_value& v = result(index, 0);
      v.known = constant_of(*n.node);
      v.info = {v.known.type(), v.known.extent()};
      return size_of(v.info.type) > 0;
    }
    if (op.kind == op_kind::variable) return enter_variable(n, result(index, 0));
    if (n.writes) return enter_write(n, index, type);
    if (passes_on(type)) {
      result(index, 0) = input(n, 0);
      if (result(index, 0).slot != nullptr && !n.late.empty() && n.late[0]) result(index, 0).row = read(input(n, 0), index, true);
      return true;
    }
    if (!is_pure(op)) return false;
    if (fold(n, index)) return true;
    std::vector<plain_value> in;
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      plain_value v = input(n, static_cast<int>(k));
      if (v.slot != nullptr) {
        v.row = read(v, index, n.late[k]);
        v.slot = nullptr;
      } else if (!v.known) {
        if (v.row < 0) return false;
      }
      in.push_back(std::move(v));
    }
    plain_rows rows(table_, *n.node, op, in, [&](plain_value& v) { return row_of(v, index, false); });
    std::vector<output> made = rows.make();
    if (made.empty()) return false;
    for (std::size_t k = 0; k < made.size() && static_cast<int>(k) < n.results; ++k) {
      plain_value& v = result(index, static_cast<int>(k));
      v.row = made[k].index();
      v.info = {made[k].type(), made[k].extent()};
      if (!v.info.extent.is_static()) return false;
    }
    return true;
  }

  bool enter_variable(const plan_node& n, plain_value& v) {
    token t;
    kernel_context c(*n.node, step_, {}, {&t, 1});
    (*n.run)(c);
    if (t.variable == nullptr) return false;
    lacks_values_ = !t.variable->is_initialized();
    if (lacks_values_) return false;
    const tensor_value now = t.variable->read();
    v.slot = t.variable;
    v.info = {now.type(), now.extent()};
    return size_of(v.info.type) > 0;
  }

  // What depends on shapes and constants alone.
  bool fold(const plan_node& n, int index) {
    const std::string_view type = n.node->type;
    std::vector<token> in(n.inputs.size()), out(static_cast<std::size_t>(n.results));
    const bool by_shape = looks_at_shape_alone(type);
    for (std::size_t k = 0; k < in.size(); ++k) {
      const plain_value& v = input(n, static_cast<int>(k));
      if (v.known) {
        in[k].value = v.known;
      } else if (by_shape && v.info.extent.is_static()) {
        in[k].value = tensor_value::borrow(v.info.type, v.info.extent, nullptr);  // only its shape is looked at
      } else {
        return false;
      }
    }
    if (type == "Fill" && integers_product(in[0].value) > most_known) return false;
    if ((type == "BroadcastTo" || type == "Tile") && integers_product(in[1].value) > most_known) return false;
    call_kernel(n, step_, in, out);
    for (int k = 0; k < n.results; ++k) {
      plain_value& v = result(index, k);
      v.known = std::move(out[static_cast<std::size_t>(k)].value);
      if (!v.known) return false;
      v.info = {v.known.type(), v.known.extent()};
    }
    return true;
  }
  static std::int64_t integers_product(const tensor_value& v) {
    double n = 1;
    for (auto x : integers(v)) n *= static_cast<double>(x);
    return n > 1e15 ? std::int64_t{1} << 50 : static_cast<std::int64_t>(n);
  }

  bool enter_write(const plan_node& n, int index, std::string_view type) {
    const auto written = written_inputs(*g_.at(n.node->index).op, static_cast<int>(n.inputs.size()));
    std::vector<variable_slot*> slots;
    std::vector<output> in;
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      plain_value v = input(n, static_cast<int>(k));
      const bool is_written = std::find(written.begin(), written.end(), static_cast<int>(k)) != written.end();
      if (is_written) {
        if (v.slot == nullptr) return false;
        slots.push_back(v.slot);
        in.emplace_back(table_, read(v, index, true));
      } else {
        if (v.slot != nullptr) v.row = read(v, index, n.late[k]), v.slot = nullptr;
        in.emplace_back(table_, row_of(v, index, false));
      }
    }
    // what was written before to these variables, and this waits for
    std::vector<int> waits;
    for (const auto& [node, slot] : writers_)
      if (std::find(slots.begin(), slots.end(), slot) != slots.end() && depends(index, node)) waits.push_back(write_rows_.at(node));
    const auto write = [&](const op_info& how, std::size_t k, const output& value) {
      const int operands[]{variable_rows_.at(slots[k]), value.index()};
      const int row = table_.add(how, operands, {}, waits);
      writes_.push_back(row);
      return row;
    };
    for (auto* s : slots) variable_row(*s, input(n, written[0]).info);
    int row = -1;
    if (type == "Assign") {
      if (!(in[1].extent() == input(n, 0).info.extent)) return false;
      row = write(info_of<assign_op>, 0, in[1]);
    } else if (type == "AssignAdd") {
      if (!(in[1].extent() == input(n, 0).info.extent)) return false;
      row = write(info_of<assign_add_op>, 0, in[1]);
    } else if (type == "AssignSub") {
      if (!(in[1].extent() == input(n, 0).info.extent)) return false;
      row = write(info_of<assign_sub_op>, 0, in[1]);
    } else {
      const canonical_rewrite* rewrite = leat::detail::find_rewrite(type);
      if (rewrite == nullptr || !rewrite->updates) return false;
      const auto updates = rewrite->updates(in, graph_operation(g_, n.node->index));
      if (updates.empty()) return false;
      for (const canonical_update& u : updates) {
        const int made = write(u.subtract ? info_of<assign_sub_op> : info_of<assign_op>, static_cast<std::size_t>(u.variable), u.value);
        if (row < 0) row = made;
      }
    }
    if (slots.size() > 1) together_.push_back(slots);
    write_rows_[index] = row;
    for (auto* s : slots) writers_.emplace_back(index, s);
    if (n.results > 0) {
      plain_value& v = result(index, 0);
      v = input(n, 0);
      v.row = row;
    }
    return true;
  }

  std::unique_ptr<plain_program> finish() {
    std::vector<int> targets;
    std::vector<int> at;  // of each fetch: its place among the targets
    made_->known.resize(plan_.fetches.size());
    for (std::size_t k = 0; k < plan_.fetches.size(); ++k) {
      const auto& f = plan_.fetches[k];
      plain_value& v = result(f.node, f.port);
      if (v.known) {
        made_->known[k] = v.known;
        at.push_back(-1);
        made_->results.push_back({});
      } else {
        if (v.slot == nullptr && v.row < 0) return nullptr;
        at.push_back(static_cast<int>(targets.size()));
        targets.push_back(v.slot != nullptr ? (v.row >= 0 ? v.row : variable_row(*v.slot, v.info)) : v.row);
        made_->results.push_back(v.info);
      }
    }
    if (!writes_.empty()) targets.push_back(table_.add(info_of<group_op>, {}, {}, writes_));
    if (targets.empty()) {  // all of it is known
      made_->fetches = at;
      return std::move(made_);
    }
    program p = passes::compile(table_, targets);
    if (p.problem.size > 0) return nullptr;
    made_->code.emplace(p);
    made_->bound.emplace(*made_->code);
    const program_view view = made_->code->view();
    for (int f : at) made_->fetches.push_back(f < 0 ? -1 : view.fetch(f));
    std::vector<int> variable_buffers(slots_.size(), -1);
    for (int b = 0; b < view.buffers(); ++b) {
      const auto info = view.buffer_at(b);
      if (info.where != storage::feed && info.where != storage::variable) continue;
      const leaf_source& from = sources_[static_cast<std::size_t>(info.id) - 1];
      if (from.kind == leaf_kind::feed) made_->feed_buffers.push_back({b, from.index});
      else if (from.kind == leaf_kind::variable) variable_buffers[static_cast<std::size_t>(from.index)] = b;
      else made_->bound->bind(b, made_->arrays[static_cast<std::size_t>(from.index)].data());
    }
    for (int f : made_->fetches)
      if (f >= 0 && view.buffer_at(f).where != storage::fetch) return nullptr;
    for (std::size_t k = 0; k < slots_.size(); ++k) {
      const bool written = std::any_of(writers_.begin(), writers_.end(), [&](const auto& w) { return w.second == slots_[k]; });
      const node& leaf_row = table_.at(variable_rows_.at(slots_[k]));
      made_->variables.push_back({variable_buffers[k], slots_[k], leaf_row.result, written, true});
    }
    std::vector<std::vector<int>> together;  // buffers of variables that one node writes
    for (const auto& slots : together_) {
      auto& list = together.emplace_back();
      for (auto* s : slots) list.push_back(variable_buffers[static_cast<std::size_t>(std::find(slots_.begin(), slots_.end(), s) - slots_.begin())]);
    }
    made_->stops = find_stops(view, made_->code->data(), together);
    made_->own_bytes = made_->code->bytes();
    for (const tensor_value& a : made_->arrays)
      if (!a.is_borrowed()) made_->own_bytes += static_cast<std::int64_t>(a.bytes());
    made_->bytes.store(made_->own_bytes, std::memory_order_relaxed);
    std::sort(made_->variables.begin(), made_->variables.end(), [](const auto& a, const auto& b) { return a.slot < b.slot; });
    return std::move(made_);
  }

  graph& g_;
  const run_plan& plan_;
  step_state& step_;
  graph table_;
  std::unique_ptr<plain_program> made_;
  std::vector<plain_value> values_;
  std::vector<leaf_source> sources_;
  std::vector<variable_slot*> slots_;
  std::map<variable_slot*, int> variable_rows_;
  std::vector<std::pair<int, variable_slot*>> writers_;  // nodes of the plan
  std::map<int, int> write_rows_;
  std::map<int, std::vector<bool>> users_;
  std::vector<int> writes_;
  std::vector<std::vector<variable_slot*>> together_;  // that one node writes
  bool lacks_values_ = false;
};

}  // namespace leat::dynamic
