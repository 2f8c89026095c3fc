#pragma once
// Translates a plan to the plain table that the compiler's passes take, for the current shapes: variables, feeds and constant arrays become
// its inputs, and results that depend on shapes and constants alone are computed here, by the executor's kernels. Not every plan can be
// expressed by such a table.

#include <leat/ops/add_n.hpp>
#include <leat/runtime/kernels/constants.hpp>
#include <leat/runtime/programs/plain_rows.hpp>
#include <leat/runtime/run/node_call.hpp>

#include <algorithm>
#include <map>
#include <queue>
#include <unordered_map>
#include <utility>

namespace leat::runtime {

/// The table and the sources of its inputs.
struct plain_table {
  enum class leaf_kind { feed, variable, array };
  struct leaf_source {
    leaf_kind kind;
    int index;
    bool operator==(const leaf_source&) const = default;
  };
  struct variable {
    variable_slot* slot;
    tensor_info info;
    bool written;
  };
  graph rows;
  std::vector<int> targets;         // rows of fetches that are not known, then of all writes
  std::vector<int> targets_of;      // indexed by fetch: its index among the targets, or -1
  std::vector<tensor_value> known;  // indexed by fetch: its value, if it depends on shapes alone
  std::vector<tensor_info> results;
  std::vector<tensor_info> feeds;                         // the feeds that it was made for
  std::vector<std::pair<int, tensor_value>> known_feeds;  // feeds whose elements are fixed
  std::vector<leaf_source> sources;                       // indexed by the id of the table's input, minus 1
  std::vector<variable> variables;
  std::vector<tensor_value> arrays;
  std::vector<std::vector<variable_slot*>> together;  // groups of variables, each written by one node
};

class plain_builder {
 public:
  plain_builder(graph& g, const run_plan& plan, step_state& step) : g_(g), plan_(plan), step_(step) {}

  /// The table, or nothing if the plan cannot be expressed for these shapes; `reason` is then the cause. The table is valid only for the
  /// elements of `known_feeds`.
  /// Errors: none. The executor reports the errors of nodes.
  std::optional<plain_table> make(std::span<const tensor_value> feeds, std::span<const int> known_feeds = {}) {
    if (const std::string_view why = plan_.why_no_program(); !why.empty()) return without(why);
    for (const auto& f : feeds) {
      made_.feeds.push_back({f.type(), f.extent()});
      if (size_of(f.type()) == 0) return without("a feed of " + dtype_name(f.type()));
    }
    try {
      values_.resize(static_cast<std::size_t>(plan_.results));
      for (std::size_t k = 0; k < plan_.feeds.size(); ++k)
        if (plan_.feeds[k] >= 0) {
          plain_value& v = result(plan_.feeds[k], 0);
          v.info = made_.feeds[k];
          if (std::find(known_feeds.begin(), known_feeds.end(), static_cast<int>(k)) != known_feeds.end()) {
            v.known = feeds[k].kept();
            made_.known_feeds.emplace_back(static_cast<int>(k), v.known);
            continue;
          }
          v.row = leaf(v.info, info_of<placeholder_op>, plain_table::leaf_kind::feed, static_cast<int>(k));
        }
      for (int i : plan_.order)
        if (plan_.nodes[static_cast<std::size_t>(i)].kind != flow::feed && !enter(i)) return without(i);
      if (!finish()) return without("what is fetched is no tensor of numbers");
      return std::move(made_);
    } catch (const error& e) {
      return without(e.what());
    } catch (const std::bad_alloc&) {
      return without("not enough memory");
    }
  }
  /// Why `make` returned nothing.
  const std::string& reason() const { return reason_; }
  /// Whether there is no table because a variable has no value yet.
  bool lacks_values() const { return lacks_values_; }

 private:
  struct slot_writer {
    int node;
    bool follows_all;  // depends on all earlier writers of the variable
  };
  static constexpr std::int64_t most_known = 4096;  // limit for elements that are computed here

  std::optional<plain_table> without(std::string_view reason) {
    reason_ = reason;
    return std::nullopt;
  }
  std::optional<plain_table> without(int index) {
    const kernel_node& n = *plan_.nodes[static_cast<std::size_t>(index)].node;
    const std::string node = "the node '" + n.name() + "' (" + std::string(n.type) + ")";
    return without(node + (lacks_values_ ? ": the variable has no value yet" : ": not expressed by operators that a program has"));
  }
  plain_value& result(int node, int port) {
    return values_[static_cast<std::size_t>(plan_.nodes[static_cast<std::size_t>(node)].first_result + port)];
  }
  plain_value& input(const plan_node& n, int k) {
    const auto& s = n.inputs[static_cast<std::size_t>(k)];
    return result(s.node, s.port);
  }
  int leaf(const tensor_info& info, const op_info& op, plain_table::leaf_kind kind, int index) {
    made_.sources.push_back({kind, index});
    const auto id = made_.sources.size();
    const std::int64_t numbers[]{0, 1, 0};
    std::span<const std::int64_t> attributes;
    if (kind == plain_table::leaf_kind::variable) attributes = numbers;
    return made_.rows.add_leaf(op, info, made_.rows.keep("leaf ", std::to_string(id)), id, attributes);
  }

  // The row of a value as an operand: for known elements, a constant or an array input; for a variable, its value at this point.
  int row_of(plain_value& v, int user, bool late) {
    if (v.slot != nullptr) return read(v, user, late);
    if (v.row >= 0) return v.row;
    if (v.constant != nullptr) return v.row = constant(made_.rows, v.info.type, v.info.extent, v.number).index();
    const tensor_value& t = v.known;
    if (const auto one = uniform(t)) return v.row = constant(made_.rows, t.type(), t.extent(), *one).index();
    made_.arrays.push_back(t);
    const int index = static_cast<int>(made_.arrays.size()) - 1;
    return v.row = leaf({t.type(), t.extent()}, info_of<placeholder_op>, plain_table::leaf_kind::array, index);
  }
  static std::optional<double> uniform(const tensor_value& t) {
    if (t.elements() == 0) return 0.0;
    return with_dtype(t.type(), [&]<class T>(T) -> std::optional<double> {
      const auto all = t.values<T>();
      for (const T x : all)
        if (std::memcmp(&x, &all[0], sizeof(T)) != 0) return std::nullopt;
      const double d = static_cast<double>(all[0]);
      return is_exact(t.type(), d) ? std::optional(d) : std::nullopt;
    });
  }
  // Whether a row can hold this constant: not NaN, whose bits count, nor an integer that the double may have rounded.
  static bool is_exact(dtype type, double d) {
    return d == d && (type != dtype::int64 || (d < 9007199254740992.0 && d > -9007199254740992.0));
  }
  // A read that follows writes is a row of its own, with control inputs from them.
  int read(plain_value& v, int user, bool late) {
    const int base = variable_row(*v.slot, v.info);
    if (!late && v.row >= 0) return v.row;
    if (!late) return base;
    const std::vector<int> waits = write_rows(writes_before(user, v.slot));
    if (waits.empty()) return v.row >= 0 ? v.row : base;
    if (waits.size() == 1 && waits[0] == v.row) return v.row;
    const int inputs[]{base};
    return made_.rows.add(info_of<identity_op>, inputs, {}, waits);
  }
  int variable_row(variable_slot& slot, const tensor_info& info) {
    const auto [at, fresh] = variable_rows_.try_emplace(&slot, -1);
    if (fresh) {
      made_.variables.push_back({&slot, info, false});
      at->second = leaf(info, info_of<variable_op>, plain_table::leaf_kind::variable, static_cast<int>(made_.variables.size()) - 1);
    }
    return at->second;
  }
  int place_of(int node) const { return places_[static_cast<std::size_t>(node)]; }
  // The writes of a variable that a node depends on: the latest on each path, without those that another of them follows in any case. Nodes
  // are visited from the last to the first, so the search ends at a write that follows all others.
  std::vector<int> writes_before(int user, variable_slot* slot) {
    const auto found = writers_.find(slot);
    if (found == writers_.end()) return {};
    const std::vector<slot_writer>& writers = found->second;
    if (places_.empty()) {
      places_.assign(plan_.nodes.size(), -1);
      for (std::size_t k = 0; k < plan_.order.size(); ++k) places_[static_cast<std::size_t>(plan_.order[k])] = static_cast<int>(k);
      met_.resize(plan_.nodes.size(), 0);
    }
    const int earliest = place_of(writers.front().node);
    std::vector<int> all;
    std::priority_queue<int> open;  // positions in the plan's order
    ++search_;
    const auto meet_operands = [&](const plan_node& n) {
      const auto meet = [&](int node) {
        if (place_of(node) < earliest || std::exchange(met_[static_cast<std::size_t>(node)], search_) == search_) return;
        open.push(place_of(node));
      };
      for (const plan_source& s : n.inputs) meet(s.node);
      for (const int c : n.controls) meet(c);
    };
    for (meet_operands(plan_.nodes[static_cast<std::size_t>(user)]); !open.empty();) {
      const int node = plan_.order[static_cast<std::size_t>(open.top())];
      open.pop();
      const auto w = std::lower_bound(writers.begin(), writers.end(), place_of(node),
                                      [&](const slot_writer& one, int place) { return place_of(one.node) < place; });
      if (w == writers.end() || w->node != node) {
        meet_operands(plan_.nodes[static_cast<std::size_t>(node)]);
        continue;
      }
      all.push_back(node);
      if (w->follows_all) break;
    }
    return all;
  }
  std::vector<int> write_rows(const std::vector<int>& nodes) const {
    std::vector<int> rows;
    for (const int node : nodes) rows.push_back(write_rows_.at(node));
    return rows;
  }
  void enter_writer(int node, variable_slot* slot, const std::vector<int>& after) {
    std::vector<slot_writer>& writers = writers_[slot];
    const auto follows_last = [&] { return std::find(after.begin(), after.end(), writers.back().node) != after.end(); };
    writers.push_back({node, writers.empty() || (writers.back().follows_all && follows_last())});
  }

  // How nodes of an operator are translated; determined once per operator.
  enum class role : unsigned char { nothing, constant, variable, passes_on, computes, other };
  struct operator_facts {
    role is = role::other;
    bool by_shape = false;  // depends on its input's shape alone
    row_facts rows;
  };
  const operator_facts& facts_of(const op_info& op) {
    if (last_facts_.first == &op) return *last_facts_.second;
    const auto [at, fresh] = facts_.try_emplace(&op);
    operator_facts& f = at->second;
    last_facts_ = {&op, &f};
    if (!fresh) return f;
    f.is = op.kind == op_kind::group      ? role::nothing
           : op.kind == op_kind::constant ? role::constant
           : op.kind == op_kind::variable ? role::variable
           : op.what.passes_on()          ? role::passes_on
           : op.what.is_pure()            ? role::computes
                                          : role::other;
    f.by_shape = op.what.looks_at_shape_alone();
    f.rows = row_facts(op);
    return f;
  }

  bool enter(int index) {
    const plan_node& n = plan_.nodes[static_cast<std::size_t>(index)];
    const op_info& op = *g_.at(n.node->index).op;
    const operator_facts& facts = facts_of(op);
    if (facts.is == role::nothing) return true;
    if (facts.is == role::constant) return enter_constant(n, result(index, 0));
    if (facts.is == role::variable) return enter_variable(n, result(index, 0));
    if (n.writes) return enter_write(n, index, op);
    if (facts.is == role::passes_on) {
      result(index, 0) = input(n, 0);
      if (result(index, 0).slot != nullptr && n.inputs[0].late) result(index, 0).row = read(input(n, 0), index, true);
      return true;
    }
    if (facts.is != role::computes) return false;
    if (fold(n, index, facts)) return true;
    operands_.clear();
    reads_.clear();
    reads_.reserve(n.inputs.size());
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      plain_value* v = &input(n, static_cast<int>(k));
      if (v->slot != nullptr) {
        v = &reads_.emplace_back(*v);
        v->row = read(*v, index, n.inputs[k].late);
        v->slot = nullptr;
      } else if (!v->is_known() && v->row < 0) {
        return false;
      }
      operands_.push_back(v);
    }
    const auto made = plain_rows(made_.rows, *n.node, op, facts.rows, operands_, operand_row_).make();
    if (made.empty()) return false;
    for (std::size_t k = 0; k < made.size() && static_cast<int>(k) < n.results; ++k) {
      plain_value& v = result(index, static_cast<int>(k));
      v.row = made[k].index();
      v.info = {made[k].type(), made[k].extent()};
      if (!v.info.extent.is_static()) return false;
    }
    return true;
  }

  // The array of a scalar constant is made only on demand, because most are only operands.
  static bool enter_constant(const plan_node& n, plain_value& v) {
    const tensor_proto& contents = contents_of_constant(*n.node);
    if (const auto bits = leat::detail::scalar_bits(contents)) {
      v.info.type = to_dtype(contents.dtype);
      v.number = is_floating(v.info.type)      ? std::bit_cast<double>(*bits)
                 : v.info.type == dtype::uint8 ? static_cast<std::uint8_t>(*bits)
                                               : static_cast<double>(*bits);
      if (is_exact(v.info.type, v.number)) {
        v.constant = n.node;
        return true;
      }
    }
    v.known = constant_of(*n.node);
    v.info = {v.known.type(), v.known.extent()};
    return size_of(v.info.type) > 0;
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

  // Computes results that depend on shapes and constants alone.
  bool fold(const plan_node& n, int index, const operator_facts& facts) {
    for (const plan_source& s : n.inputs) {
      const plain_value& v = result(s.node, s.port);
      if (!v.is_known() && !(facts.by_shape && v.info.extent.is_static())) return false;
    }
    std::vector<token> in(n.inputs.size()), out(static_cast<std::size_t>(n.results));
    for (std::size_t k = 0; k < in.size(); ++k) {
      plain_value& v = input(n, static_cast<int>(k));
      if (v.is_known()) in[k].value = v.elements();
      else in[k].value = tensor_value::borrow(v.info.type, v.info.extent, nullptr);  // the kernel reads only its shape
    }
    if (n.work == work_kind::filled && product_exceeds(in[0].value, most_known)) return false;
    if ((n.work == work_kind::broadcast || n.work == work_kind::tiled) && product_exceeds(in[1].value, most_known)) return false;
    call_kernel(n, step_, in, out);
    for (int k = 0; k < n.results; ++k) {
      plain_value& v = result(index, k);
      v.known = std::move(out[static_cast<std::size_t>(k)].value);
      if (!v.known) return false;
      v.info = {v.known.type(), v.known.extent()};
    }
    return true;
  }
  static bool product_exceeds(const tensor_value& v, std::int64_t most) {
    double n = 1;
    for (auto x : integers(v)) n *= static_cast<double>(x);
    return n > static_cast<double>(most);
  }

  bool enter_write(const plan_node& n, int index, const op_info& op) {
    const input_set written = op.what.written.among(static_cast<int>(n.inputs.size()));
    std::vector<variable_slot*> slots;
    std::vector<output> in;
    for (std::size_t k = 0; k < n.inputs.size(); ++k) {
      plain_value v = input(n, static_cast<int>(k));
      if (written.contains(k)) {
        if (v.slot == nullptr) return false;
        slots.push_back(v.slot);
        in.emplace_back(made_.rows, read(v, index, true));
      } else {
        if (v.slot != nullptr) v.row = read(v, index, n.inputs[k].late), v.slot = nullptr;
        in.emplace_back(made_.rows, row_of(v, index, false));
      }
    }
    // Earlier writes to these variables, which must precede this one.
    std::vector<int> waits;
    std::vector<std::vector<int>> after;
    for (variable_slot* const slot : slots) {
      const std::vector<int> rows = write_rows(after.emplace_back(writes_before(index, slot)));
      waits.insert(waits.end(), rows.begin(), rows.end());
    }
    const auto write = [&](const op_info& how, std::size_t k, const output& value) {
      const int operands[]{variable_rows_.at(slots[k]), value.index()};
      const int row = made_.rows.add(how, operands, {}, waits);
      writes_.push_back(row);
      return row;
    };
    for (auto* s : slots) variable_row(*s, input(n, *written.begin()).info);
    int row = -1;
    if (op.kind == op_kind::assign) {
      if (!(in[1].extent() == input(n, 0).info.extent)) return false;
      row = write(op, 0, in[1]);
    } else {
      const canonical_rewrite* rewrite = leat::detail::find_rewrite(op.type);
      if (rewrite == nullptr || !rewrite->updates) return false;
      const auto updates = rewrite->updates(in, graph_operation(g_, n.node->index));
      if (updates.empty()) return false;
      for (const canonical_update& u : updates) {
        const int made = write(u.subtract ? info_of<assign_sub_op> : info_of<assign_op>, static_cast<std::size_t>(u.variable), u.value);
        if (row < 0) row = made;
      }
    }
    if (slots.size() > 1) made_.together.push_back(slots);
    write_rows_[index] = row;
    for (std::size_t k = 0; k < slots.size(); ++k) enter_writer(index, slots[k], after[k]);
    if (n.results > 0) {
      plain_value& v = result(index, 0);
      v = input(n, 0);
      v.row = row;
    }
    return true;
  }

  bool finish() {
    for (const auto& f : plan_.fetches) {
      plain_value& v = result(f.node, f.port);
      made_.known.push_back(v.elements());
      made_.results.push_back(v.known ? tensor_info{} : v.info);
      if (v.known) {
        made_.targets_of.push_back(-1);
        continue;
      }
      if (v.slot == nullptr && v.row < 0) return false;
      made_.targets_of.push_back(static_cast<int>(made_.targets.size()));
      made_.targets.push_back(v.slot != nullptr ? (v.row >= 0 ? v.row : variable_row(*v.slot, v.info)) : v.row);
    }
    if (!writes_.empty()) made_.targets.push_back(made_.rows.add(info_of<group_op>, {}, {}, writes_));
    for (plain_table::variable& v : made_.variables) v.written = writers_.contains(v.slot);
    return true;
  }

  graph& g_;
  const run_plan& plan_;
  step_state& step_;
  plain_table made_;
  std::vector<plain_value> values_;
  std::unordered_map<const op_info*, operator_facts> facts_;
  std::pair<const op_info*, const operator_facts*> last_facts_{};
  std::vector<plain_value*> operands_;  // of the current node
  std::vector<plain_value> reads_;      // values of variables among them
  const std::function<int(plain_value&)> operand_row_ = [this](plain_value& v) { return row_of(v, -1, false); };
  std::map<variable_slot*, int> variable_rows_;
  std::map<variable_slot*, std::vector<slot_writer>> writers_;  // in the plan's order
  std::map<int, int> write_rows_;
  std::vector<int> places_;  // indexed by node: position in the plan's order
  std::vector<int> met_;     // indexed by node: the last search that visited it
  int search_ = 0;
  std::vector<int> writes_;
  bool lacks_values_ = false;
  std::string reason_;
};

}  // namespace leat::runtime
