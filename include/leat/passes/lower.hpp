#pragma once
// Lowering: from a graph and its fusion to a program. Decides which results are stored, where each buffer lives, collapses
// loops that all operands walk alike, and writes the instructions of each cluster.

#include <leat/graph/id_table.hpp>
#include <leat/passes/fuse.hpp>
#include <leat/passes/instruction.hpp>
#include <leat/passes/program.hpp>

namespace leat {

/// How a cluster may be cut into chunks; the cut depends on the shape alone, never on the number of threads.
enum class cut_rule : int { never, rows, anywhere };

}  // namespace leat

namespace leat::passes {

/// A product that updates a variable: variable += scale × a b. Made by fusion from an assignment and a product.
struct matmul_update_op {
  static constexpr std::string_view type = "MatMulUpdate";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return {x.type(2), x.extent(2)}; }
};

namespace detail {

struct location {
  int buffer = -1;
  term offset{0, 0};
  term strides[max_rank]{};
};

class lowerer {
 public:
  constexpr ~lowerer() = default;  // nvcc's implicit one is not constexpr
  constexpr lowerer(const graph& g, std::span<const int> targets) : g_(g), f_(fuse(g, targets)), targets_(targets) {
    buffer_.resize(g.nodes.size(), -1);
    stored_.resize(g.nodes.size(), 0);
    slot_.resize(g.nodes.size(), -1);
  }

  constexpr program run() {
    for (const auto& n : g_.dimension_names) used_name(n.value);
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (g_.at(targets_[i]).op->kind != op_kind::group) stored_[at(targets_[i])] = 1;
    for (int i = 0; i < g_.size(); ++i) mark_stored(i);
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (g_.at(targets_[i]).op->kind == op_kind::group) {
        p_.fetches.push_back(-1);
      } else {
        p_.fetches.push_back(new_buffer(targets_[i], storage::fetch, static_cast<int>(i)));
        buffer_[at(targets_[i])] = p_.fetches.back();
      }
    }
    order_steps();
    for (const auto& s : order_) {
      if (s.cluster >= 0)
        lower_cluster(s.cluster);
      else
        lower_kernel(s.node);
    }
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      const auto& s = p_.steps[k];
      for (const auto& o : s.operands) {
        auto& b = p_.buffers[at(o.buffer)];
        if (static_cast<int>(k) < b.first) b.first = static_cast<int>(k);
        if (static_cast<int>(k) > b.last) b.last = static_cast<int>(k);
      }
    }
    return std::move(p_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // ---- names, terms, buffers ------------------------------------------------------------------------------------------

  constexpr int used_name(std::int64_t d) {
    for (std::size_t k = 0; k < p_.names.size(); ++k)
      if (p_.names[k] == d) return static_cast<int>(k);
    p_.names.push_back(d);
    return static_cast<int>(p_.names.size()) - 1;
  }
  constexpr term as_term(std::int64_t d) { return d >= 0 ? term{d, 0} : term{1, std::int64_t{1} << 4 * used_name(d)}; }

  constexpr int new_buffer(int i, storage where, int index) {
    const node& n = g_.at(i);
    p_.buffers.push_back({where, index, n.result.type, n.result.extent, n.id});
    return static_cast<int>(p_.buffers.size()) - 1;
  }
  constexpr int buffer_of(int i) {
    if (buffer_[at(i)] >= 0) return buffer_[at(i)];
    const node& n = g_.at(i);
    int made = -1;
    switch (n.op->kind) {
      case op_kind::placeholder: made = new_buffer(i, storage::feed, feeds_++); break;
      case op_kind::variable: made = new_buffer(i, storage::variable, variables_++); break;
      case op_kind::number: made = new_buffer(i, storage::number, numbers_++); break;
      case op_kind::extent:
        made = new_buffer(i, storage::extent, 0);
        {
          auto& b = p_.buffers[at(made)];  // the dimensions to multiply stand in the shape's place
          b.extent = {};
          for (int k = 0; k < n.attribute_count; ++k) b.extent.push(g_.attribute(n, k));
        }
        break;
      case op_kind::assign: made = buffer_of(g_.input(n, 0)); break;
      default: made = new_buffer(i, storage::arena, 0); break;
    }
    return buffer_[at(i)] = made;
  }

  constexpr location whole(int i) {
    const node& n = g_.at(i);
    location l{buffer_of(i), {0, 0}, {}};
    term stride{1, 0};
    for (int a = n.result.extent.rank - 1; a >= 0; --a) {
      l.strides[a] = stride;
      stride = stride * as_term(n.result.extent[a]);
    }
    return l;
  }
  // Where the elements of node `i` lie, for reading.
  constexpr location location_of(int i) {
    const node& n = g_.at(i);
    if (n.op->kind != op_kind::view) {
      const location here = whole(i);
      p_.buffers[at(here.buffer)].read = p_.buffers[at(here.buffer)].read || n.op->kind == op_kind::variable;
      return here;
    }
    const int x = g_.input(n, 0);
    const shape& from = g_.at(x).result.extent;
    const location l = location_of(x);
    location v{l.buffer, l.offset, {}};
    if (is_operator<transpose_op>(*n.op)) {
      std::int64_t attribute[max_rank + 1]{};
      for (int k = 0; k < n.attribute_count; ++k) attribute[k] = g_.attribute(n, k);
      for (int a = 0; a < from.rank; ++a) v.strides[a] = l.strides[transpose_op::axis(attribute, n.attribute_count, from.rank, a)];
    } else if (is_operator<slice_op>(*n.op)) {
      for (int a = 0; a < from.rank; ++a) {
        v.strides[a] = l.strides[a];
        const auto begin = g_.attribute(n, a);
        if (begin == 0) continue;
        const term step = term{begin, 0} * l.strides[a];
        if (v.offset.factor == 0)
          v.offset = step;
        else if (v.offset.powers == step.powers)
          v.offset.factor += step.factor;
        else
          p_.problem << "a slice that begins inside two dimensions, of which an inner one is named";
      }
    } else if (is_alias(g_, n)) {
      const shape& to = n.result.extent;
      int b = 0;
      for (int a = 0; a < to.rank; ++a) {
        if (to[a] == 1) continue;
        while (from[b] == 1) ++b;
        v.strides[a] = l.strides[b++];
      }
    } else {
      term stride{1, 0};
      for (int a = n.result.extent.rank - 1; a >= 0; --a) {
        v.strides[a] = stride;
        stride = stride * as_term(n.result.extent[a]);
      }
    }
    return v;
  }

  // ---- what is stored -------------------------------------------------------------------------------------------------

  constexpr int cluster_of(int i) const { return f_.places[at(i)].cluster; }
  constexpr const shape& space_shape(const node& n) const {
    return n.op->kind == op_kind::reduction ? g_.at(g_.input(n, 0)).result.extent : n.result.extent;
  }
  // Whether compute node `i` finds its input in a register; see fuser::reads_as.
  constexpr bool in_register(int i, int input) const {
    const int p = source_of(g_, input);
    const node& n = g_.at(i);
    const node& q = g_.at(p);
    const auto& mine = f_.places[at(i)];
    const auto& its = f_.places[at(p)];
    if (mine.cluster < 0 || its.cluster != mine.cluster || !is_compute(q)) return false;
    if (q.op->kind == op_kind::reduction && !its.per_row) return false;
    const shape& own = space_shape(n);
    const shape& space = f_.clusters[at(mine.cluster)].space;
    const bool row_level = own.squeezed() != space;
    if (row_level) return its.per_row;
    const int all = (1 << space.rank) - 1;
    const int mask = covered(g_.at(input).result.extent, own);
    return its.per_row ? mask == (all & ~(1 << (space.rank - 1))) : mask == all;
  }
  constexpr void mark_stored(int i) {
    const node& n = g_.at(i);
    if (n.op->kind == op_kind::assign || n.op->kind == op_kind::kernel) stored_[at(i)] = 1;
    if (f_.places[at(i)].folded && !is_operator<matmul_op>(*n.op)) return;
    for (int k = 0; k < n.input_count; ++k) {
      const int p = source_of(g_, g_.input(n, k));
      if (!is_compute(g_.at(p)) || f_.places[at(p)].folded) continue;
      if (!is_compute(n) || f_.fold_product[at(i)] >= 0 || !in_register(i, g_.input(n, k))) stored_[at(p)] = 1;
    }
    if (f_.fold_product[at(i)] >= 0 && f_.fold_scale[at(i)] >= 0) stored_[at(source_of(g_, f_.fold_scale[at(i)]))] = 1;
  }

  // ---- order ----------------------------------------------------------------------------------------------------------

  struct scheduled {
    int level;
    int node;
    int cluster;
  };
  constexpr void order_steps() {
    std::vector<char> seen(f_.clusters.size(), 0);
    int deepest = 0;
    std::vector<scheduled> all;
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_.at(i);
      if (f_.places[at(i)].folded) continue;
      if (n.op->kind == op_kind::kernel || f_.fold_product[at(i)] >= 0) {
        all.push_back({f_.places[at(i)].level, i, -1});
      } else if (is_compute(n)) {
        const int c = cluster_of(i);
        if (seen[at(c)] != 0) continue;
        seen[at(c)] = 1;
        all.push_back({f_.clusters[at(c)].level, i, c});
      } else {
        continue;
      }
      if (all.back().level > deepest) deepest = all.back().level;
    }
    std::vector<int> count(at(deepest) + 2, 0);
    for (const auto& s : all) ++count[at(s.level) + 1];
    for (std::size_t l = 1; l < count.size(); ++l) count[l] += count[l - 1];
    order_.resize(all.size(), {});
    for (const auto& s : all) order_[at(count[at(s.level)]++)] = s;
    members_.resize(f_.clusters.size(), {});
    for (int i = 0; i < g_.size(); ++i)
      if (is_compute(g_.at(i)) && cluster_of(i) >= 0 && !f_.places[at(i)].folded && f_.fold_product[at(i)] < 0)
        members_[at(cluster_of(i))].push_back(i);
  }

  // ---- kernels --------------------------------------------------------------------------------------------------------

  constexpr void lower_kernel(int i) {
    const node& n = g_.at(i);
    program_step s;
    auto operand = [&](int x) { s.operands.push_back({location_of(x).buffer, {0, 0}, {}}); };
    auto extents = [&](int x) {  // rank, then the dimensions
      const shape& e = g_.at(x).result.extent;
      s.attributes.push_back(e.rank);
      for (int a = 0; a < e.rank; ++a) s.attributes.push_back(e[a]);
    };
    if (f_.fold_product[at(i)] >= 0) {
      const node& product = g_.at(f_.fold_product[at(i)]);
      const int scale = f_.fold_scale[at(i)];
      s.code = operator_record<matmul_update_op>::code;
      operand(g_.input(product, 0));
      operand(g_.input(product, 1));
      operand(g_.input(n, 0));
      const bool constant = scale < 0 || g_.at(source_of(g_, scale)).op->kind == op_kind::constant;
      const double sign = is_operator<assign_sub_op>(*n.op) ? -1 : 1;
      const double fixed = scale >= 0 && constant ? constant_value(g_, source_of(g_, scale)) : 1;
      if (!constant) operand(scale);
      s.attributes = {3, g_.attribute(product, 0), g_.attribute(product, 1), std::bit_cast<std::int64_t>(sign * fixed)};
      extents(g_.input(product, 0));
      extents(g_.input(product, 1));
      extents(i);
    } else {
      s.code = n.op->code;
      for (int k = 0; k < n.input_count; ++k) operand(g_.input(n, k));
      s.operands.push_back({buffer_of(i), {0, 0}, {}});
      s.attributes.push_back(n.attribute_count);
      for (int k = 0; k < n.attribute_count; ++k) s.attributes.push_back(g_.attribute(n, k));
      for (int k = 0; k < n.input_count; ++k) extents(g_.input(n, k));
      extents(i);
    }
    p_.steps.push_back(std::move(s));
  }

  // ---- clusters -------------------------------------------------------------------------------------------------------

  struct member {
    int stage = 0;
    bool row = false;           // its value is one per row
    std::int64_t scalar = -1;   // register of a row value
    std::int64_t lane = -1;     // register of a lane in the stage being written
    int lane_stage = -1;
    int spilled = -1;           // row buffer
    int accumulator = -1;
    int out = -1;               // operand that it is stored to
    int needed = -1;            // last stage for which it was found to be needed as a lane
  };

  constexpr void lower_cluster(int c) {
    const auto& cluster = f_.clusters[at(c)];
    const auto& nodes = members_[at(c)];
    if (nodes.empty()) return;
    step_ = {};
    step_.is_cluster = true;
    space_ = cluster.space;
    state_.assign(nodes.size(), {});
    for (std::size_t k = 0; k < nodes.size(); ++k) slot_[at(nodes[k])] = static_cast<int>(k);
    operand_of_.clear();
    input_operand_.clear();
    fixed_dims_ = cluster.rows && space_.rank > 0 ? 1 << (space_.rank - 1) : 0;
    rows_ = cluster.rows;

    // stages, and every access to memory
    int stages = 1;
    bool accumulates_rows = false;
    for (int i : nodes) {
      member& m = of(i);
      const node& n = g_.at(i);
      m.row = f_.places[at(i)].per_row;
      for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
        const int p = source_of(g_, g_.input(n, k));
        int operand = -1;
        if (in_register(i, g_.input(n, k))) {
          const member& q = of(p);
          if (q.stage > m.stage) m.stage = q.stage;
        } else if (g_.at(p).op->kind == op_kind::index) {
          mark_index(n, p);
        } else if (g_.at(p).op->kind != op_kind::constant) {
          operand = add_operand(g_.input(n, k), space_shape(n));
        }
        input_operand_.push_back(operand);
      }
      if (is_operator<assign_add_op>(*n.op) || is_operator<assign_sub_op>(*n.op))
        input_operand_.push_back(add_operand(g_.input(n, 0), n.result.extent));
      if (n.op->kind == op_kind::reduction && m.row) ++m.stage;  // of use in the next stage
      if (!m.row && n.op->kind != op_kind::reduction && m.stage + 1 > stages) stages = m.stage + 1;
      if (n.op->kind == op_kind::reduction && !m.row && !is_row_operand(i) && m.stage + 1 > stages) stages = m.stage + 1;
      if (n.op->kind == op_kind::reduction && m.row && m.stage > stages) stages = m.stage;
      if (stored_[at(i)] != 0) m.out = add_result(i);
      if (n.op->kind == op_kind::reduction && is_row_operand(i)) accumulates_rows = true;
    }
    for (int i : nodes)
      if (g_.at(i).op->kind == op_kind::assign && !of(i).row) of(i).needed = stages - 1;
    collapse();

    write_instructions(nodes, stages);
    step_.chunked = static_cast<int>(space_.rank == 0 ? cut_rule::never
                                     : (rows_ || accumulates_rows) ? cut_rule::rows
                                                                   : cut_rule::anywhere);
    for (auto& o : step_.operands)
      if (space_.rank == 0) o.strides.clear();
    p_.steps.push_back(std::move(step_));
  }
  constexpr member& of(int i) { return state_[at(slot_[at(i)])]; }
  // A reduction whose operand is one value per row.
  constexpr bool is_row_operand(int i) {
    const node& n = g_.at(i);
    return n.op->kind == op_kind::reduction && space_shape(n).squeezed() != space_ && in_register(i, g_.input(n, 0));
  }

  constexpr void mark_index(const node& n, int p) {
    const int loop = loop_of_axis(n, p);
    if (loop >= 0) fixed_dims_ |= 1 << loop;
  }
  // The dimension of the space that an index node counts.
  constexpr int loop_of_axis(const node& n, int p) const {
    const shape& own = space_shape(n);
    const shape& counted = g_.at(p).result.extent;
    const int axis = static_cast<int>(g_.attribute(g_.at(p), 0)) + own.rank - counted.rank;
    if (own[axis] == 1) return -1;
    int loop = 0;
    for (int a = 0; a < axis; ++a) loop += own[a] != 1;
    return loop;
  }

  constexpr int intern(const step_operand& o) {
    for (std::size_t k = 0; k < step_.operands.size(); ++k) {
      const auto& have = step_.operands[k];
      if (have.buffer == o.buffer && have.offset == o.offset && have.strides == o.strides) return static_cast<int>(k);
    }
    step_.operands.push_back(o);
    return static_cast<int>(step_.operands.size()) - 1;
  }
  // Reading node `x` by a node of shape `own`: strides along the space, 0 where it is repeated.
  constexpr int add_operand(int x, const shape& own) {
    const location l = location_of(x);
    const shape& extent = g_.at(x).result.extent;
    step_operand o{l.buffer, l.offset, {}};
    o.strides.assign(at(space_.rank), term{0, 0});
    int loop = 0;
    for (int a = 0; a < own.rank; ++a) {
      if (own[a] == 1) continue;
      const int b = a - (own.rank - extent.rank);
      if (b >= 0 && extent[b] != 1) o.strides[at(loop)] = l.strides[b];
      ++loop;
    }
    return intern(o);
  }
  // Writing node `i`; a reduction's strides are 0 along what it reduces.
  constexpr int add_result(int i) {
    const node& n = g_.at(i);
    const location l = whole(i);
    step_operand o{l.buffer, {0, 0}, {}};
    o.strides.assign(at(space_.rank), term{0, 0});
    if (n.op->kind != op_kind::reduction) {
      int loop = 0;
      for (int a = 0; a < n.result.extent.rank; ++a)
        if (n.result.extent[a] != 1) o.strides[at(loop++)] = l.strides[a];
      return intern(o);
    }
    const shape& own = space_shape(n);
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = g_.attribute(n, k);
    const int mask = rule::reduced_axes(attribute, n.attribute_count, own.rank);
    const bool kept = n.attribute_count > 0 && attribute[0] != 0;
    int loop = 0;
    int axis = 0;
    for (int a = 0; a < own.rank; ++a) {
      const bool reduced = (mask >> a & 1) != 0;
      if (own[a] != 1) {
        if (!reduced) o.strides[at(loop)] = l.strides[axis];
        ++loop;
      }
      if (!reduced || kept) ++axis;
    }
    return intern(o);
  }

  // Merges loops that every operand walks as one.
  constexpr void collapse() {
    std::vector<term> loops;
    for (int d = 0; d < space_.rank; ++d) loops.push_back(as_term(space_[d]));
    loop_number_.assign(at(space_.rank), 0);
    std::vector<int> original;  // first dimension of each loop, for index nodes
    std::vector<int> fixed;
    for (int d = 0; d < space_.rank; ++d) {
      original.push_back(d);
      fixed.push_back(fixed_dims_ >> d & 1);
    }
    for (std::size_t d = loops.size(); d-- > 1;) {
      if (fixed[d] != 0 || fixed[d - 1] != 0) continue;
      bool together = true;
      for (const auto& o : step_.operands) together = together && o.strides[d - 1] == (o.strides[d].factor == 0 ? term{0, 0} : o.strides[d] * loops[d]);
      if (!together) continue;
      loops[d - 1] = loops[d - 1] * loops[d];
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(d));
      fixed.erase(fixed.begin() + static_cast<std::ptrdiff_t>(d));
      for (auto& o : step_.operands) o.strides.erase(o.strides.begin() + static_cast<std::ptrdiff_t>(d) - 1);
      original.erase(original.begin() + static_cast<std::ptrdiff_t>(d));
    }
    for (std::size_t l = 0; l < original.size(); ++l)
      for (int d = original[l]; d < (l + 1 < original.size() ? original[l + 1] : space_.rank); ++d) loop_number_[at(d)] = static_cast<int>(l);
    step_.loops = loops;
  }

  // ---- instructions ---------------------------------------------------------------------------------------------------

  using code_list = std::vector<std::int64_t>;
  constexpr void put(code_list& to, std::int64_t op, std::int64_t d, std::int64_t a = -1, std::int64_t b = -1, std::int64_t c = -1) {
    const std::int64_t kinds = pack_signature(op, d, a, b, c);
    const signature s = unpack_signature(kinds);
    auto number = [](std::int64_t kind, std::int64_t word) { return kind >= 0 ? register_number(word) : word; };
    to.push_back(op);
    to.push_back(number(s.d, d));
    to.push_back(number(s.x, a));
    to.push_back(op >= 0 ? number(s.y, b) : b);
    to.push_back(op >= 0 ? number(s.z, c) : c);
    to.push_back(kinds);
  }
  constexpr std::int64_t new_register(bool scalar, dtype type) {
    const auto file = at(register_file(type));
    return make_register(scalar ? scalar_count_[file]++ : lane_count_[file]++, scalar, type);
  }
  constexpr int inner_loop() const { return static_cast<int>(step_.loops.size()) - 1; }
  constexpr int inner_class(int operand) const {
    if (step_.loops.empty()) return 0;
    const term& t = step_.operands[at(operand)].strides[at(inner_loop())];
    return t.factor == 0 ? 0 : t == term{1, 0} ? 1 : 2;
  }
  constexpr bool is_uniform(int operand) const {
    for (const auto& t : step_.operands[at(operand)].strides)
      if (t.factor != 0) return false;
    return true;
  }

  constexpr void write_instructions(const std::vector<int>& nodes, int stages) {
    for (int k = 0; k < register_files; ++k) scalar_count_[k] = lane_max_[k] = 0;
    once_.clear();
    last_.clear();
    row_.assign(at(stages) + 1, {});
    lanes_.assign(at(stages), {});
    loaded_scalar_.assign(step_.operands.size(), -1);
    constants_.clear();
    constant_at_ = {};
    accumulators_ = spills_ = 0;
    accumulating_.clear();
    const bool flat = step_.loops.empty();
    element_ = !rows_;
    uniform_width_ = 0;
    mixed_ = false;

    // which lanes each stage needs: its own, and those of earlier stages that it uses and that are cheap to compute again
    std::vector<std::vector<char>> needed(at(stages), std::vector<char>(nodes.size(), 0));
    if (!flat) {
      for (std::size_t k = nodes.size(); k-- > 0;) {
        const int i = nodes[k];
        const node& n = g_.at(i);
        member& m = of(i);
        const bool lane = !m.row && n.op->kind != op_kind::reduction;
        if (lane && (m.out >= 0)) needed[at(n.op->kind == op_kind::assign ? stages - 1 : m.stage)][k] = 1;
        const bool lane_reduction = n.op->kind == op_kind::reduction && !is_row_operand(i);
        for (int t = 0; t < stages; ++t) {
          const bool here = lane ? needed[at(t)][k] != 0 : lane_reduction && t == m.stage - (m.row ? 1 : 0);
          if (!here) continue;
          if (lane && m.stage < t && n.op->costly && n.op->kind != op_kind::assign) {
            if (m.spilled < 0) m.spilled = spills_++;
            needed[at(m.stage)][k] = 1;
            // computed in its own stage: t below m.stage has been passed already
            if (t > m.stage) use_operands(i, m.stage, needed);
            continue;
          }
          use_operands(i, t, needed);
        }
      }
    }

    for (int t = 0; t <= stages; ++t) {
      // rows: what was reduced by the lanes before, then what is made of it
      for (int i : nodes) {
        member& m = of(i);
        const node& n = g_.at(i);
        if (flat || m.row || is_row_operand(i)) {
          if (m.stage != t) continue;
          write_scalar(i, n, m, flat ? once_ : row_[at(t)]);
        }
      }
      if (flat) break;
      if (t == stages) break;
      for (int k = 0; k < register_files; ++k) lane_count_[k] = 0;
      loaded_lane_.assign(step_.operands.size(), -1);
      for (int i : nodes) {
        member& m = of(i);
        const node& n = g_.at(i);
        const auto k = at(slot_[at(i)]);
        if (n.op->kind == op_kind::reduction) {
          if (!is_row_operand(i) && m.stage - (m.row ? 1 : 0) == t) write_reduction(i, n, m, t);
        } else if (!m.row && needed[at(t)][k] != 0) {
          if (m.spilled >= 0 && m.stage < t) {
            m.lane = new_register(false, n.result.type);
            put(lanes_[at(t)], reload, m.lane, m.spilled);
            note_type(n.result.type);
          } else {
            write_lane(i, n, m, t);
            if (m.spilled >= 0) put(lanes_[at(t)], spill, m.spilled, m.lane);
          }
        }
      }
      for (int i : nodes) {  // stores last, so that no load of the chunk comes after one
        member& m = of(i);
        const node& n = g_.at(i);
        if (m.row || n.op->kind == op_kind::reduction || m.out < 0) continue;
        if ((n.op->kind == op_kind::assign ? stages - 1 : m.stage) == t) put(lanes_[at(t)], store, m.out, m.lane, inner_class(m.out));
      }
      for (int k = 0; k < register_files; ++k)
        if (lane_count_[k] > lane_max_[k]) lane_max_[k] = lane_count_[k];
    }
    for (int i : nodes) {
      const node& n = g_.at(i);
      if (n.op->kind == op_kind::reduction && !of(i).row && of(i).accumulator >= 0) {
        put(last_, finish_all, of(i).out, of(i).accumulator, n.op->code, static_cast<std::int64_t>(n.result.type));
      }
    }

    auto& out = step_.instructions;
    out.assign(phase_lengths, 0);
    out[lane_width] = mixed_ ? 0 : uniform_width_;
    out[outer_loops] = flat ? 0 : inner_loop();
    out[has_lanes] = flat ? 0 : 1;
    out[leat::stages] = stages;
    out[operand_total] = static_cast<std::int64_t>(step_.operands.size());
    out[accumulator_total] = accumulators_;
    for (int k = 0; k < register_files; ++k) {
      out[at(lane_registers + k)] = lane_max_[k];
      out[at(scalar_registers + k)] = scalar_count_[k];
    }
    out[spill_total] = spills_;
    out[accumulating_total] = static_cast<std::int64_t>(accumulating_.size() / 3);
    out[element_loop] = element_ ? 1 : 0;
    step_.scratch = spills_;
    auto length = [&](const code_list& l) { out.push_back(static_cast<std::int64_t>(l.size() / words_per_instruction)); };
    length(once_);
    for (int t = 0; t < stages; ++t) {
      length(row_[at(t)]);
      length(lanes_[at(t)]);
    }
    length(row_[at(stages)]);
    length(last_);
    for (auto v : accumulating_) out.push_back(v);
    auto append = [&](const code_list& l) {
      for (auto v : l) out.push_back(v);
    };
    append(once_);
    for (int t = 0; t < stages; ++t) {
      append(row_[at(t)]);
      append(lanes_[at(t)]);
    }
    append(row_[at(stages)]);
    append(last_);
  }

  constexpr void use_operands(int i, int t, std::vector<std::vector<char>>& needed) {
    const node& n = g_.at(i);
    for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
      const int p = source_of(g_, g_.input(n, k));
      if (in_register(i, g_.input(n, k)) && !of(p).row) needed[at(t)][at(slot_[at(p)])] = 1;
    }
  }

  constexpr void note_type(dtype d) {
    if (d == dtype::boolean) return;
    const int width = size_of(d);
    if (width == 1) mixed_ = true;
    if (uniform_width_ == 0) uniform_width_ = width;
    if (uniform_width_ != width) mixed_ = true;
  }

  constexpr std::int64_t constant_register(int p) {
    const node& q = g_.at(p);
    const auto bits = g_.attribute(q, 0);
    const auto is_it = [&](const known_constant& c) { return c.bits == bits && register_type(c.where) == q.result.type; };
    // few are looked through, which constant evaluation does sooner than it makes a table
    constexpr std::size_t few = 16;
    const auto key = mix(static_cast<std::uint64_t>(bits), static_cast<std::uint64_t>(q.result.type));
    if (const int known = constants_.size() > few ? constant_at_.find(key) : -1; known >= 0 && is_it(constants_[at(known)]))
      return constants_[at(known)].where;
    for (std::size_t k = 0; k < constants_.size() && k < few; ++k)
      if (is_it(constants_[k])) return constants_[k].where;
    const auto r = new_register(true, q.result.type);
    put(once_, immediate, r, bits);
    if (constants_.size() >= few) constant_at_.insert(key, static_cast<int>(constants_.size()));
    constants_.push_back({bits, r});
    return r;
  }
  // The register of an operand that is read from memory once per row, or once.
  constexpr std::int64_t scalar_load(int operand, dtype type, int t) {
    auto& r = loaded_scalar_[at(operand)];
    if (r < 0) {
      r = new_register(true, type);
      put(is_uniform(operand) || step_.loops.empty() ? once_ : row_[0], load, r, operand, 0);
    }
    (void)t;
    return r;
  }

  constexpr std::int64_t scalar_input(int i, int k, int operand, int t) {
    const node& n = g_.at(i);
    const int p = source_of(g_, g_.input(n, k));
    if (operand >= 0) return scalar_load(operand, g_.at(p).result.type, t);
    if (g_.at(p).op->kind == op_kind::constant) return constant_register(p);
    if (g_.at(p).op->kind == op_kind::index) return index_register(n, p, true, t);
    return of(p).scalar;
  }
  constexpr std::int64_t index_register(const node& n, int p, bool scalar, int t) {
    const int dim = loop_of_axis(n, p);
    const dtype type = g_.at(p).result.type;
    if (dim < 0) {
      const auto r = new_register(true, type);
      put(once_, immediate, r, 0);
      return r;
    }
    const int loop = loop_number_[at(dim)];
    if (scalar || loop != inner_loop()) {
      const auto r = new_register(true, type);
      put(row_[0], position, r, loop);
      return r;
    }
    const auto r = new_register(false, type);
    put(lanes_[at(t)], position, r, -1);
    note_type(type);
    return r;
  }
  constexpr std::size_t operand_count(int i) const {
    const node& n = g_.at(i);
    if (n.op->kind != op_kind::assign) return at(n.input_count);
    return is_operator<assign_op>(*n.op) ? 1 : 2;
  }

  constexpr void write_scalar(int i, const node& n, member& m, code_list& to) {
    const auto first = operand_start(i);
    if (n.op->kind == op_kind::reduction) {
      if (is_row_operand(i)) {  // over rows: combined into memory, row by row
        note_accumulating(m.out, n);
        put(to, reduce_cell, m.out, of(source_of(g_, g_.input(n, 0))).scalar, n.op->code);
        return;
      }
      m.scalar = new_register(true, n.result.type);
      put(to, finish_row, m.scalar, m.accumulator, n.op->code);
    } else {
      std::int64_t in[3]{-1, -1, -1};
      if (n.op->kind == op_kind::assign) {
        in[0] = scalar_input(i, 1, input_operand_[first], m.stage);
        m.scalar = in[0];
        if (!is_operator<assign_op>(*n.op)) {
          const auto variable = scalar_load(input_operand_[first + 1], n.result.type, m.stage);
          m.scalar = new_register(true, n.result.type);
          put(to, is_operator<assign_add_op>(*n.op) ? info_of<add_op>.code : info_of<sub_op>.code, m.scalar, variable, in[0]);
        }
      } else {
        for (int k = 0; k < n.input_count; ++k) in[k] = scalar_input(i, k, input_operand_[first + at(k)], m.stage);
        m.scalar = new_register(true, n.result.type);
        put(to, n.op->code, m.scalar, in[0], in[1], in[2]);
      }
    }
    if (m.out >= 0) put(step_.loops.empty() ? last_ : to, store, m.out, m.scalar, 0);
  }

  constexpr std::int64_t lane_input(int i, int k, int operand, int t) {
    const node& n = g_.at(i);
    const int p = source_of(g_, g_.input(n, k));
    const dtype type = g_.at(p).result.type;
    if (operand >= 0) return lane_load(operand, type, t);
    if (g_.at(p).op->kind == op_kind::constant) return constant_register(p);
    if (g_.at(p).op->kind == op_kind::index) return index_register(n, p, false, t);
    return of(p).row ? of(p).scalar : of(p).lane;
  }
  constexpr std::int64_t lane_load(int operand, dtype type, int t) {
    const int inner = inner_class(operand);
    if (inner == 0) return scalar_load(operand, type, t);
    auto& r = loaded_lane_[at(operand)];
    if (r < 0) {
      r = new_register(false, type);
      put(lanes_[at(t)], load, r, operand, inner);
      note_type(type);
    }
    return r;
  }

  constexpr void write_lane(int i, const node& n, member& m, int t) {
    const auto first = operand_start(i);
    auto& to = lanes_[at(t)];
    std::int64_t in[3]{-1, -1, -1};
    note_type(n.result.type);
    if (n.op->kind == op_kind::assign) {
      in[0] = lane_input(i, 1, input_operand_[first], t);
      if (is_operator<assign_op>(*n.op)) {
        m.lane = in[0];
        if (register_is_scalar(in[0])) {
          m.lane = new_register(false, n.result.type);
          put(to, info_of<copy_op>.code, m.lane, in[0]);
        }
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
      if (!register_is_scalar(in[k])) note_type(register_type(in[k]));
      else note_scalar(register_type(in[k]));
    }
    // comparisons and selections between bools have no SIMD form
    if (booleans && n.input_count > 0 && (n.op->code == info_of<equal_op>.code || n.op->code == info_of<not_equal_op>.code)) mixed_ = true;
    if (n.op->code == info_of<select_op>.code && n.result.type == dtype::boolean) mixed_ = true;
    m.lane = new_register(false, n.result.type);
    put(to, n.op->code, m.lane, in[0], in[1], in[2]);
  }
  // A scalar that lanes use is broadcast to their width.
  constexpr void note_scalar(dtype d) { note_type(d); }

  constexpr void note_accumulating(int operand, const node& n) {
    accumulating_.push_back(operand);
    accumulating_.push_back(n.op->code);
    accumulating_.push_back(static_cast<std::int64_t>(n.result.type));
  }

  constexpr void write_reduction(int i, const node& n, member& m, int t) {
    auto in = lane_input(i, 0, input_operand_[operand_start(i)], t);
    if (register_is_scalar(in)) {  // the same in every element: repeated as a lane
      const auto r = new_register(false, n.result.type);
      put(lanes_[at(t)], info_of<copy_op>.code, r, in);
      in = r;
    }
    note_type(n.result.type);
    if (n.result.type == dtype::boolean) mixed_ = true;
    if (m.row || inner_class(m.out) == 0) {
      const bool all = !m.row && is_uniform(m.out);
      if (!m.row && !all) {  // the row is reduced, then combined into a cell that other rows share
        m.row = false;
        const auto a = accumulators_++;
        put(lanes_[at(t)], reduce_lanes, a, in, n.op->code, 1);
        const auto r = new_register(true, n.result.type);
        put(row_[at(t) + 1], finish_row, r, a, n.op->code);
        note_accumulating(m.out, n);
        put(row_[at(t) + 1], reduce_cell, m.out, r, n.op->code);
        element_ = false;
        return;
      }
      m.accumulator = accumulators_++;
      put(lanes_[at(t)], reduce_lanes, m.accumulator, in, n.op->code, m.row ? 1 : 0);
      if (all) note_accumulating(m.out, n);
      return;
    }
    note_accumulating(m.out, n);
    put(lanes_[at(t)], reduce_array, m.out, in, n.op->code, inner_class(m.out));
    if (inner_class(m.out) != 1) mixed_ = true;
  }

  // Position of a node's first entry in input_operand_.
  constexpr std::size_t operand_start(int i) {
    if (operand_of_.empty()) {
      std::size_t next = 0;
      operand_of_.resize(state_.size(), 0);
      for (int other : members_[at(cluster_of(i))]) {
        operand_of_[at(slot_[at(other)])] = next;
        next += operand_count(other);
      }
    }
    return operand_of_[at(slot_[at(i)])];
  }

  const graph& g_;
  fusion f_;
  std::span<const int> targets_;
  program p_;
  std::vector<int> buffer_;
  std::vector<char> stored_;
  std::vector<scheduled> order_;
  std::vector<std::vector<int>> members_;
  int feeds_ = 0;
  int variables_ = 0;
  int numbers_ = 0;

  // of the cluster being written
  program_step step_;
  shape space_;
  std::vector<int> slot_;
  std::vector<member> state_;
  std::vector<int> input_operand_;
  std::vector<std::size_t> operand_of_;
  int fixed_dims_ = 0;
  bool rows_ = false;
  std::vector<int> loop_number_;
  code_list once_;
  code_list last_;
  std::vector<code_list> row_;
  std::vector<code_list> lanes_;
  std::vector<std::int64_t> loaded_scalar_;
  std::vector<std::int64_t> loaded_lane_;
  struct known_constant {
    std::int64_t bits;
    std::int64_t where;
  };
  std::vector<known_constant> constants_;
  id_table constant_at_;  // those after the first few
  int scalar_count_[register_files]{};
  int lane_count_[register_files]{};
  int lane_max_[register_files]{};
  int accumulators_ = 0;
  int spills_ = 0;
  std::vector<std::int64_t> accumulating_;
  bool element_ = true;
  int uniform_width_ = 0;
  bool mixed_ = false;
};

}  // namespace detail

/// The program of an arranged graph.
constexpr program lower(const graph& g, std::span<const int> targets) { return detail::lowerer(g, targets).run(); }

/// All passes: from a graph to its program.
constexpr program compile(const graph& g, std::vector<int> targets) {
  graph simple = simplify(g, targets);
  program p;
  p.problem = unordered_writes(simple);
  if (p.problem.size > 0) return p;
  const graph arranged = arrange(simple, targets);
  return lower(arranged, targets);
}

}  // namespace leat::passes
