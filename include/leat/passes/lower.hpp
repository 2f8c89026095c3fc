#pragma once
// Lowering: turns a graph and its fusion into a program. It orders the steps and writes each one, either a kernel with its operands and
// attributes, or a cluster, whose instructions `lower/cluster_lowerer.hpp` writes.

#include <leat/core/list.hpp>
#include <leat/passes/lower/cluster_lowerer.hpp>
#include <leat/passes/rows_in_place.hpp>

namespace leat::passes {

/// A product that updates a variable: variable += scale × a b. Fused from an assignment and a product.
struct matmul_update_op {
  static constexpr std::string_view type = "MatMulUpdate";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) { return {x.type(2), x.extent(2)}; }
};

namespace detail {

class lowerer {
 public:
  constexpr ~lowerer() = default;  // nvcc's implicit destructor is not constexpr
  constexpr lowerer(const graph& g, std::span<const int> targets, std::int64_t in_place)
      : g_(g), f_(fuse(g, targets)), place_(g, f_, p_), cluster_(g, f_, place_) {
    if (in_place > 0) find_rows_in_place(g, targets, in_place, f_);
    place_.start(targets);
  }
  lowerer(const lowerer&) = delete;
  lowerer& operator=(const lowerer&) = delete;

  constexpr program run() {
    order_steps();
    for (const auto& s : order_) {
      if (s.cluster < 0)
        lower_kernel(s.node);
      else if (const auto& nodes = members_[s.cluster]; !nodes.empty())
        p_.steps.push_back(cluster_.run(f_.clusters[s.cluster], nodes));
    }
    for (std::size_t k = 0; k < p_.steps.size(); ++k) {
      const auto& s = p_.steps[k];
      for (const auto& o : s.operands) {
        auto& b = p_.buffers[o.buffer];
        if (static_cast<int>(k) < b.first) b.first = static_cast<int>(k);
        if (static_cast<int>(k) > b.last) b.last = static_cast<int>(k);
      }
    }
    return std::move(p_);
  }

 private:
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  struct scheduled {
    int level;
    int node;
    int cluster;
  };
  constexpr void order_steps() {
    list<char> seen(f_.clusters.size(), 0);
    int deepest = 0;
    list<scheduled> all;
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_.at(i);
      if (f_.places[i].folded) continue;
      if (f_.is_in_place[i] != 0) continue;
      if (f_.is_kernel(g_, i)) {
        all.push_back({f_.places[i].level, i, -1});
      } else if (is_compute(n)) {
        const int c = f_.places[i].cluster;
        if (seen[c] != 0) continue;
        seen[c] = 1;
        all.push_back({f_.clusters[c].level, i, c});
      } else {
        continue;
      }
      if (all.back().level > deepest) deepest = all.back().level;
    }
    list<int> count(at(deepest) + 2, 0);
    for (const auto& s : all) ++count[at(s.level) + 1];
    for (std::size_t l = 1; l < count.size(); ++l) count[l] += count[l - 1];
    order_.resize(all.size(), {});
    for (const auto& s : all) order_[count[s.level]++] = s;
    members_.resize(f_.clusters.size(), {});
    for (int i = 0; i < g_.size(); ++i)
      if (is_compute(g_.at(i)) && f_.places[i].cluster >= 0 && !f_.places[i].folded && f_.fold_product[i] < 0)
        members_[f_.places[i].cluster].push_back(i);
  }

  constexpr void lower_kernel(int i) {
    const node& n = g_.at(i);
    program_step s;
    auto operand = [&](int x) { s.operands.push_back({place_.location_of(x).buffer, {0, 0}, {}}); };
    auto extents = [&](int x) {  // the rank, then the dimensions
      const shape& e = g_.at(x).result.extent;
      s.attributes.push_back(e.rank);
      for (int a = 0; a < e.rank; ++a) s.attributes.push_back(e[a]);
    };
    if (f_.only_checks_rows(g_, i)) return lower_check(i);
    if (place_.forwards(i) && place_.buffer_of(i) == place_.buffer_of(g_.input(n, 0))) return;
    if (f_.fold_product[i] >= 0) {
      const node& product = g_.at(f_.fold_product[i]);
      const int scale = f_.fold_scale[i];
      s.code = operator_record<matmul_update_op>::code;
      operand(g_.input(product, 0));
      operand(g_.input(product, 1));
      operand(g_.input(n, 0));
      const bool constant = scale < 0 || g_.at(f_.sources[scale]).op->kind == op_kind::constant;
      const double sign = is_operator<assign_sub_op>(*n.op) ? -1 : 1;
      const double fixed = scale >= 0 && constant ? constant_value(g_, f_.sources[scale]) : 1;
      if (!constant) operand(scale);
      s.attributes = {3, g_.attribute(product, 0), g_.attribute(product, 1), std::bit_cast<std::int64_t>(sign * fixed)};
      extents(g_.input(product, 0));
      extents(g_.input(product, 1));
      extents(i);
    } else {
      s.code = n.op->code;
      const int inputs = n.input_count - (is_operator<write_rows_op>(*n.op) && counts_one_by_one(g_, n) ? 1 : 0);  // without the positions
      for (int k = 0; k < inputs; ++k) operand(g_.input(n, k));
      s.operands.push_back({place_.buffer_of(i), {0, 0}, {}});
      // The attributes of a divisor check are a shape, stored after the others, where the sizes of named dimensions are substituted.
      const bool shaped = is_operator<check_divisor_op>(*n.op);
      s.attributes.push_back(shaped ? 0 : n.attribute_count);
      for (int k = 0; k < n.attribute_count && !shaped; ++k) s.attributes.push_back(g_.attribute(n, k));
      for (int k = 0; k < n.input_count; ++k) extents(g_.input(n, k));
      extents(i);
      if (shaped) s.attributes.push_back(n.attribute_count);
      for (int k = 0; k < n.attribute_count && shaped; ++k) s.attributes.push_back(g_.attribute(n, k));
    }
    p_.steps.push_back(std::move(s));
  }

  // Writes a step that rejects indices out of range; lookups with the same indices and number of rows share it.
  constexpr void lower_check(int i) {
    const node& n = g_.at(i);
    const bool is_lookup = is_operator<gather_op>(*n.op);
    const int indices = f_.sources[g_.input(n, is_lookup ? 1 : 0)];
    const shape& params = g_.at(g_.input(n, 0)).result.extent;
    const checked_rows made{indices, is_lookup ? params[0] : g_.attribute(n, 0), is_lookup};
    for (const checked_rows& c : checked_)
      if (c.indices == made.indices && c.rows == made.rows && c.refuses_negative >= made.refuses_negative) return;
    checked_.push_back(made);
    program_step s;
    s.code = operator_record<check_rows_op>::code;
    s.operands.push_back({place_.location_of(indices).buffer, {0, 0}, {}});
    const shape& extent = g_.at(indices).result.extent;
    s.attributes = {1, is_lookup ? 1 : 0, 1, made.rows, extent.rank};
    for (int a = 0; a < extent.rank; ++a) s.attributes.push_back(extent[a]);
    p_.steps.push_back(std::move(s));
  }

  struct checked_rows {
    int indices;
    std::int64_t rows;
    bool refuses_negative;
  };
  const graph& g_;
  fusion f_;
  program p_;
  placement place_;
  cluster_lowerer cluster_;
  list<scheduled> order_;
  list<list<int>> members_;  // the nodes of each cluster
  list<checked_rows> checked_;
};

}  // namespace detail

/// The program of an arranged graph. For `in_place` see `compile`.
constexpr program lower(const graph& g, std::span<const int> targets, std::int64_t in_place = 0) {
  return detail::lowerer(g, targets, in_place).run();
}

/// Runs all passes: compiles a graph to its program. Two options are for programs whose steps a C++ compiler compiles. With `unrolled`,
/// small arrays become scalars. If `in_place` is not 0, looked-up rows are read in place, provided that they have at least that many
/// elements or are reduced (rows_in_place.hpp).
constexpr program compile(const graph& g, list<int> targets, bool unrolled = false, std::int64_t in_place = 0) {
  graph simple = simplify(g, targets);
  program p;
  p.problem = unordered_writes(simple);
  if (p.problem.size == 0) p.problem = zero_divisor(simple);
  if (p.problem.size > 0) return p;
  simple = unroll_models(std::move(simple), targets);
  if (unrolled) simple = unroll(std::move(simple), targets);
  const graph arranged = arrange(simple, targets);
  return lower(arranged, targets, in_place);
}

}  // namespace leat::passes
