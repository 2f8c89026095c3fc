#pragma once
// Writes the instructions of a cluster. A cluster without rows has one stage, a loop over all elements. In other clusters, each row is
// traversed once per stage. The result of a row's reduction is available in the next stage. A lane that a later stage needs again is
// recomputed there if that is cheap, and otherwise kept in a row buffer (spilled).

#include <leat/core/list.hpp>
#include <leat/passes/lower/cluster_lists.hpp>

namespace leat::passes::detail {

class cluster_lowerer : cluster_lists {
 public:
  constexpr ~cluster_lowerer() = default;  // nvcc's implicit destructor is not constexpr
  constexpr cluster_lowerer(const graph& g, const fusion& f, placement& p) : cluster_lists(g, p), f_(f) {
    slot_.resize(g.nodes.size(), -1);
  }

  /// The step of a cluster that consists of these nodes.
  constexpr program_step run(const fusion::cluster& cluster, const list<int>& nodes) {
    start(f_, cluster);
    nodes_ = &nodes;
    state_.assign(nodes.size(), {});
    for (std::size_t k = 0; k < nodes.size(); ++k) slot_[nodes[k]] = static_cast<int>(k);
    operand_of_.clear();
    input_operand_.clear();
    element_operand_.clear();

    // Determines the stages, and the operand of every memory access.
    int stages = 1;
    bool accumulates_rows = false;
    for (int i : nodes) {
      member& m = of(i);
      const node& n = g_.at(i);
      m.row = f_.places[i].per_row;
      for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
        const int p = place_.source(n, k);
        int operand = -1;
        if (place_.in_register(n, k)) {
          const member& q = of(p);
          if (q.stage > m.stage) m.stage = q.stage;
        } else if (g_.at(p).op->kind == op_kind::index) {
          mark_index(n, p);
        } else if (g_.at(p).op->kind != op_kind::constant) {
          operand = add_operand(g_.input(n, k), place_.space_shape(n));
        }
        input_operand_.push_back(operand);
      }
      if (is_operator<assign_add_op>(*n.op) || is_operator<assign_sub_op>(*n.op))
        input_operand_.push_back(add_operand(g_.input(n, 0), n.result.extent));
      if (n.op->kind == op_kind::reduction && m.row) ++m.stage;  // the result is available in the next stage
      if (!m.row && n.op->kind != op_kind::reduction && m.stage + 1 > stages) stages = m.stage + 1;
      if (n.op->kind == op_kind::reduction && !m.row && !is_row_operand(i) && m.stage + 1 > stages) stages = m.stage + 1;
      if (n.op->kind == op_kind::reduction && m.row && m.stage > stages) stages = m.stage;
      if (place_.is_stored(i)) m.out = stores_elements(n) || stores_models(n) ? add_result_elements(i, n) : add_result(i);
      if (n.op->kind == op_kind::reduction && is_row_operand(i)) accumulates_rows = true;
    }
    collapse();

    write_instructions(nodes, stages);
    step_.chunked = static_cast<int>(space_.rank == 0 ? cut_rule::never
                                     : (rows_ || accumulates_rows) ? cut_rule::rows
                                                                   : cut_rule::anywhere);
    for (auto& o : step_.operands)
      if (space_.rank == 0) o.strides.clear();
    return std::move(step_);
  }

 private:
  struct member {
    int stage = 0;
    bool row = false;          // whether it has one value per row
    std::int64_t scalar = -1;  // register of a per-row value
    std::int64_t lane = -1;    // register of a lane in the current stage
    int spilled = -1;          // row buffer, or -1
    int accumulator = -1;
    int out = -1;  // operand to which it is stored
  };

  constexpr member& of(int i) { return state_[slot_[i]]; }
  // Adds the operands of a node that is stored by elements; returns the index of the first.
  constexpr int add_result_elements(int i, const node& n) {
    const int first = static_cast<int>(element_operand_.size());
    for (int k = 0; k < n.input_count - first_value(n); ++k)
      element_operand_.push_back(stores_models(n) ? add_result_models(i, k) : add_result_element(i, k));
    return first;
  }
  // The index of the first input that is a value; the first input of a write is its variable.
  static constexpr int first_value(const node& n) { return n.op->kind == op_kind::assign ? 1 : 0; }
  // Whether a node is a reduction whose operand has one value per row.
  constexpr bool is_row_operand(int i) {
    const node& n = g_.at(i);
    return n.op->kind == op_kind::reduction && !place_.spans_cluster(i) && place_.in_register(n, 0);
  }

  constexpr void write_instructions(const list<int>& nodes, int stages) {
    start_lists(stages);
    look_up_rows();
    const bool flat = step_.loops.empty();

    // The lanes that each stage needs: its own, and those of earlier stages that it uses and that are cheap to recompute.
    list<list<char>> needed(at(stages), list<char>(nodes.size(), 0));
    if (!flat) {
      for (std::size_t k = nodes.size(); k-- > 0;) {
        const int i = nodes[k];
        const node& n = g_.at(i);
        member& m = of(i);
        const bool lane = !m.row && n.op->kind != op_kind::reduction;
        if (lane && (m.out >= 0)) needed[n.op->kind == op_kind::assign ? stages - 1 : m.stage][k] = 1;
        const bool lane_reduction = n.op->kind == op_kind::reduction && !is_row_operand(i);
        for (int t = 0; t < stages; ++t) {
          const bool here = lane ? needed[t][k] != 0 : lane_reduction && t == m.stage - (m.row ? 1 : 0);
          if (!here) continue;
          if (lane && m.stage < t && n.op->costly && n.op->kind != op_kind::assign) {
            if (m.spilled < 0) m.spilled = spills_++;
            needed[m.stage][k] = 1;
            // The node is computed in its own stage, which the loop over stages has passed, so the operands that it uses there are marked
            // now.
            if (t > m.stage) use_operands(i, m.stage, needed);
            continue;
          }
          use_operands(i, t, needed);
        }
      }
    }

    for (int t = 0; t <= stages; ++t) {
      // Row phase: results of the preceding lanes' reductions, then the values computed from them.
      for (int i : nodes) {
        member& m = of(i);
        const node& n = g_.at(i);
        if (flat || m.row || is_row_operand(i)) {
          if (m.stage != t) continue;
          write_scalar(i, n, m, flat ? once_ : row_[t]);
        }
      }
      if (flat) break;
      if (t == stages) break;
      start_lanes();
      for (int i : nodes) {
        member& m = of(i);
        const node& n = g_.at(i);
        const auto k = at(slot_[i]);
        if (n.op->kind == op_kind::reduction) {
          if (!is_row_operand(i) && m.stage - (m.row ? 1 : 0) == t) write_reduction(i, n, m, t);
        } else if (!m.row && needed[t][k] != 0) {
          if (m.spilled >= 0 && m.stage < t) {
            m.lane = new_register(false, n.result.type);
            put(lanes_[t], reload, m.lane, m.spilled);
            note_type(n.result.type);
          } else {
            write_lane(i, n, m, t);
            if (m.spilled >= 0) put(lanes_[t], spill, m.spilled, m.lane);
          }
        }
      }
      for (int i : nodes) {  // stores come last, so that no load of the chunk follows one
        member& m = of(i);
        const node& n = g_.at(i);
        if (m.row || n.op->kind == op_kind::reduction || m.out < 0) continue;
        if ((n.op->kind == op_kind::assign ? stages - 1 : m.stage) != t) continue;
        if (!stores_models(n)) {
          put(lanes_[t], store, m.out, m.lane, inner_class(m.out));
          continue;
        }
        for (int k = 0; k < n.input_count - first_value(n); ++k) {
          const int out = element_operand_[m.out + k];
          put(lanes_[t], store, out, model_lanes_[m.out + k], inner_class(out));
        }
      }
      end_lanes();
    }
    for (int i : nodes) {
      const node& n = g_.at(i);
      if (n.op->kind == op_kind::reduction && !of(i).row && of(i).accumulator >= 0) {
        put(last_, finish_all, of(i).out, of(i).accumulator, n.op->code, static_cast<std::int64_t>(n.result.type));
      }
    }
    join_lists(stages);
  }

  // Sets each looked-up operand, at the start of a row, to the row given by its index.
  constexpr void look_up_rows() {
    for (std::size_t k = 0; k < step_.operands.size(); ++k) {
      const step_operand& o = step_.operands[k];
      if (o.indices < 0) continue;
      const auto index = scalar_load(o.indices, place_.type_of(step_.operands[o.indices].buffer));
      put(row_[0], look_up, static_cast<std::int64_t>(k), index, o.row);
    }
  }
  constexpr void use_operands(int i, int t, list<list<char>>& needed) {
    const node& n = g_.at(i);
    for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
      if (!place_.in_register(n, k)) continue;
      const int p = place_.source(n, k);
      if (!of(p).row) needed[t][slot_[p]] = 1;
    }
  }
  constexpr std::size_t operand_count(int i) const {
    const node& n = g_.at(i);
    const bool reads_variable = is_operator<assign_add_op>(*n.op) || is_operator<assign_sub_op>(*n.op);
    return at(n.input_count - first_value(n) + (reads_variable ? 1 : 0));
  }
  // The position of a node's first entry in input_operand_.
  constexpr std::size_t operand_start(int i) {
    if (operand_of_.empty()) {
      std::size_t next = 0;
      operand_of_.resize(state_.size(), 0);
      for (int other : *nodes_) {
        operand_of_[slot_[other]] = next;
        next += operand_count(other);
      }
    }
    return operand_of_[slot_[i]];
  }

  constexpr std::int64_t scalar_input(int i, int k, int operand) {
    const node& n = g_.at(i);
    const int p = place_.source(n, k);
    if (operand >= 0) return scalar_load(operand, g_.at(p).result.type);
    if (g_.at(p).op->kind == op_kind::constant) return constant_register(p);
    if (g_.at(p).op->kind == op_kind::index) return index_register(n, p, -1);
    return of(p).scalar;
  }
  constexpr void write_scalar(int i, const node& n, member& m, code_list& to) {
    const auto first = operand_start(i);
    if (stores_elements(n)) {
      const int begin = first_value(n);
      for (int k = begin; k < n.input_count && m.out >= 0; ++k)
        put(last_, store, element_operand_[m.out + k - begin], scalar_input(i, k, input_operand_[first + at(k - begin)]), 0);
      return;
    }
    if (n.op->kind == op_kind::reduction) {
      if (is_row_operand(i)) {  // a reduction over rows: combined in memory, row by row
        note_accumulating(m.out, n);
        put(to, reduce_cell, m.out, of(place_.source(n, 0)).scalar, n.op->code);
        return;
      }
      m.scalar = new_register(true, n.result.type);
      put(to, finish_row, m.scalar, m.accumulator, n.op->code);
    } else {
      std::int64_t in[3]{-1, -1, -1};
      if (n.op->kind == op_kind::assign) {
        in[0] = scalar_input(i, 1, input_operand_[first]);
        m.scalar = in[0];
        if (!is_operator<assign_op>(*n.op)) {
          const auto variable = scalar_load(input_operand_[first + 1], n.result.type);
          m.scalar = new_register(true, n.result.type);
          put(to, is_operator<assign_add_op>(*n.op) ? info_of<add_op>.code : info_of<sub_op>.code, m.scalar, variable, in[0]);
        }
      } else {
        for (int k = 0; k < n.input_count; ++k) in[k] = scalar_input(i, k, input_operand_[first + at(k)]);
        m.scalar = new_register(true, n.result.type);
        put(to, n.op->code, m.scalar, in[0], in[1], in[2]);
      }
    }
    if (m.out >= 0) put(step_.loops.empty() ? last_ : to, store, m.out, m.scalar, 0);
  }

  constexpr std::int64_t lane_input(int i, int k, int operand, int t) {
    const node& n = g_.at(i);
    const int p = place_.source(n, k);
    const dtype type = g_.at(p).result.type;
    if (operand >= 0) return lane_load(operand, type, t);
    if (g_.at(p).op->kind == op_kind::constant) return constant_register(p);
    if (g_.at(p).op->kind == op_kind::index) return index_register(n, p, t);
    return of(p).row ? of(p).scalar : of(p).lane;
  }
  // A register's value as lanes: a scalar is broadcast to all lanes.
  constexpr std::int64_t as_lane(code_list& to, std::int64_t value, dtype type) {
    if (!register_is_scalar(value)) return value;
    const auto lane = new_register(false, type);
    put(to, info_of<copy_op>.code, lane, value);
    return lane;
  }
  constexpr void write_lane(int i, const node& n, member& m, int t) {
    const auto first = operand_start(i);
    auto& to = lanes_[t];
    std::int64_t in[3]{-1, -1, -1};
    note_type(n.result.type);
    if (stores_models(n)) {
      of_models_ = true;
      model_lanes_.resize(element_operand_.size(), -1);
      const int begin = first_value(n);
      for (int k = begin; k < n.input_count && m.out >= 0; ++k) {
        const auto value = lane_input(i, k, input_operand_[first + at(k - begin)], t);
        model_lanes_[m.out + k - begin] = as_lane(to, value, n.result.type);
      }
      return;
    }
    if (n.op->kind == op_kind::assign) {
      in[0] = lane_input(i, 1, input_operand_[first], t);
      if (is_operator<assign_op>(*n.op)) {
        m.lane = as_lane(to, in[0], n.result.type);
        return;
      }
      const auto variable = lane_load(input_operand_[first + 1], n.result.type, t);
      m.lane = new_register(false, n.result.type);
      put(to, is_operator<assign_add_op>(*n.op) ? info_of<add_op>.code : info_of<sub_op>.code, m.lane, variable, in[0]);
      return;
    }
    bool booleans = n.op->code != info_of<select_op>.code;
    for (int k = 0; k < n.input_count; ++k) {
      in[k] = lane_input(i, k, input_operand_[first + at(k)], t);
      booleans = booleans && register_type(in[k]) == dtype::boolean;
      note_type(register_type(in[k]));  // scalars count, too, because they are broadcast to the lanes' width
    }
    // Comparisons and selections of bools have no SIMD form.
    if (booleans && n.input_count > 0 && (n.op->code == info_of<equal_op>.code || n.op->code == info_of<not_equal_op>.code)) mixed_ = true;
    if (n.op->code == info_of<select_op>.code && n.result.type == dtype::boolean) mixed_ = true;
    m.lane = new_register(false, n.result.type);
    put(to, n.op->code, m.lane, in[0], in[1], in[2]);
  }
  constexpr void write_reduction(int i, const node& n, member& m, int t) {
    auto in = lane_input(i, 0, input_operand_[operand_start(i)], t);
    in = as_lane(lanes_[t], in, n.result.type);
    note_type(n.result.type);
    if (n.result.type == dtype::boolean) mixed_ = true;
    if (m.row || inner_class(m.out) == 0) {
      const bool all = !m.row && is_uniform(m.out);
      if (!m.row && !all) {  // the row is reduced, then combined into a cell that rows share
        m.row = false;
        const auto a = accumulators_++;
        put(lanes_[t], reduce_lanes, a, in, n.op->code, 1);
        const auto r = new_register(true, n.result.type);
        put(row_[at(t) + 1], finish_row, r, a, n.op->code);
        note_accumulating(m.out, n);
        put(row_[at(t) + 1], reduce_cell, m.out, r, n.op->code);
        element_ = false;
        return;
      }
      m.accumulator = accumulators_++;
      put(lanes_[t], reduce_lanes, m.accumulator, in, n.op->code, m.row ? 1 : 0);
      if (all) note_accumulating(m.out, n);
      return;
    }
    note_accumulating(m.out, n);
    put(lanes_[t], reduce_array, m.out, in, n.op->code, inner_class(m.out));
    if (inner_class(m.out) != 1) mixed_ = true;
  }

  const fusion& f_;
  const list<int>* nodes_ = nullptr;  // the nodes of the current cluster
  list<int> slot_;                    // the index of a node among them
  list<member> state_;
  list<int> input_operand_;
  list<int> element_operand_;  // operands of nodes that are stored by elements
  list<std::int64_t> model_lanes_;  // lane registers of nodes that are stored by vectors
  list<std::size_t> operand_of_;
};

}  // namespace leat::passes::detail
