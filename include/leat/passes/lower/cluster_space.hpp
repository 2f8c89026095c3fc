#pragma once
// The iteration space of a cluster: the loops that its nodes share, and an operand for each buffer that they access, with a stride along
// each loop. Adjacent loops that every operand can traverse as one are merged.

#include <leat/core/list.hpp>
#include <leat/passes/lower/placement.hpp>

namespace leat::passes::detail {

class cluster_space {
 protected:
  constexpr ~cluster_space() = default;  // nvcc's implicit destructor is not constexpr
  constexpr cluster_space(const graph& g, placement& p) : g_(g), place_(p) {}
  static constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

  constexpr void start(const fusion& f, const fusion::cluster& c) {
    step_ = {};
    step_.is_cluster = true;
    space_ = f.space_shapes[c.space];
    rows_ = c.rows;
    fixed_dims_ = rows_ && space_.rank > 0 ? 1 << (space_.rank - 1) : 0;
  }

  constexpr void mark_index(const node& n, int p) {
    const int loop = loop_of_axis(n, p);
    if (loop >= 0) fixed_dims_ |= 1 << loop;
  }
  // The dimension of the space along which an index node counts.
  constexpr int loop_of_axis(const node& n, int p) const {
    const shape& own = place_.space_shape(n);
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
      if (have.buffer == o.buffer && have.indices == o.indices && have.offset == o.offset && have.strides == o.strides)
        return static_cast<int>(k);
    }
    step_.operands.push_back(o);
    return static_cast<int>(step_.operands.size()) - 1;
  }
  // An operand for reading node `x` by a node of shape `own`: strides along the space, 0 where it is broadcast.
  constexpr int add_operand(int x, const shape& own) {
    const node& n = g_.at(x);
    step_operand o = operand_at(place_.location_of(x), n.result.extent, own);
    if (place_.looks_up(x)) {
      const int indices = g_.input(n, 1);
      shape as_rows = g_.at(indices).result.extent;  // there is a row for each index
      while (as_rows.rank < n.result.extent.rank) as_rows.push(1);
      o.indices = intern(operand_at(place_.location_of(indices), as_rows, own));
      o.row = place_.row_length(n);
    }
    return intern(o);
  }
  constexpr step_operand operand_at(const location& l, const shape& extent, const shape& own) {
    step_operand o{l.buffer, l.offset, {}};
    o.strides.assign(at(space_.rank), term{0, 0});
    int loop = 0;
    for (int a = 0; a < own.rank; ++a) {
      if (own[a] == 1) continue;
      const int b = a - (own.rank - extent.rank);
      if (b >= 0 && extent[b] != 1) o.strides[loop] = l.strides[b];
      ++loop;
    }
    return o;
  }
  // An operand for writing node `i`; a reduction's strides are 0 along reduced axes.
  constexpr int add_result(int i) {
    const node& n = g_.at(i);
    const location l = place_.whole(i);
    step_operand o{l.buffer, l.offset, {}};
    o.strides.assign(at(space_.rank), term{0, 0});
    if (n.op->kind != op_kind::reduction) {
      int loop = 0;
      for (int a = 0; a < n.result.extent.rank; ++a)
        if (n.result.extent[a] != 1) o.strides[loop++] = l.strides[a];
      return intern(o);
    }
    const shape& own = place_.space_shape(n);
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = g_.attribute(n, k);
    const int mask = rule::reduced_axes(attribute, n.attribute_count, own.rank);
    const bool kept = n.attribute_count > 0 && attribute[0] != 0;
    int loop = 0;
    int axis = 0;
    for (int a = 0; a < own.rank; ++a) {
      const bool reduced = (mask >> a & 1) != 0;
      if (own[a] != 1) {
        if (!reduced) o.strides[loop] = l.strides[axis];
        ++loop;
      }
      if (!reduced || kept) ++axis;
    }
    return intern(o);
  }

  // An operand for writing element `k` of node `i`, which is stored by elements.
  constexpr int add_result_element(int i, std::int64_t k) {
    return intern({place_.buffer_of(i), term{k, 0}, list<term>(at(space_.rank), term{0, 0})});
  }

  // An operand for writing element `k` of all models, for a node that is stored by vectors.
  constexpr int add_result_models(int i, std::int64_t k) {
    const node& n = g_.at(i);
    const int axis = static_cast<int>(g_.attribute(n, 0));
    const location l = place_.whole(i);
    step_operand o{l.buffer, {0, 0}, {l.strides[axis]}};
    for (int a = n.result.extent.rank; a-- > 0;) {
      if (a == axis) continue;
      place_.move_by(o.offset, k % n.result.extent[a], l.strides[a]);
      k /= n.result.extent[a];
    }
    return intern(o);
  }

  // Merges adjacent loops that every operand can traverse as one.
  constexpr void collapse() {
    list<term> loops;
    for (int d = 0; d < space_.rank; ++d) loops.push_back(place_.as_term(space_[d]));
    loop_number_.assign(at(space_.rank), 0);
    list<int> original;  // the first dimension of each loop, for index nodes
    list<int> fixed;
    for (int d = 0; d < space_.rank; ++d) {
      original.push_back(d);
      fixed.push_back(fixed_dims_ >> d & 1);
    }
    for (std::size_t d = loops.size(); d-- > 1;) {
      if (fixed[d] != 0 || fixed[d - 1] != 0) continue;
      bool together = true;
      for (const auto& o : step_.operands)
        together = together && o.strides[d - 1] == (o.strides[d].factor == 0 ? term{0, 0} : o.strides[d] * loops[d]);
      if (!together) continue;
      loops[d - 1] = loops[d - 1] * loops[d];
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(d));
      fixed.erase(fixed.begin() + static_cast<std::ptrdiff_t>(d));
      for (auto& o : step_.operands) o.strides.erase(o.strides.begin() + static_cast<std::ptrdiff_t>(d) - 1);
      original.erase(original.begin() + static_cast<std::ptrdiff_t>(d));
    }
    for (std::size_t l = 0; l < original.size(); ++l) {
      const int end = l + 1 < original.size() ? original[l + 1] : space_.rank;
      for (int d = original[l]; d < end; ++d) loop_number_[d] = static_cast<int>(l);
    }
    step_.loops = loops;
  }

  constexpr int inner_loop() const { return static_cast<int>(step_.loops.size()) - 1; }
  constexpr int inner_class(int operand) const {
    if (step_.loops.empty()) return 0;
    const term& t = step_.operands[operand].strides[inner_loop()];
    return t.factor == 0 ? 0 : t == term{1, 0} ? 1 : 2;
  }
  constexpr bool is_uniform(int operand) const {
    for (const auto& t : step_.operands[operand].strides)
      if (t.factor != 0) return false;
    return true;
  }
  constexpr int loop_of_index(const node& n, int p) const {
    const int dim = loop_of_axis(n, p);
    return dim < 0 ? -1 : loop_number_[dim];
  }

  const graph& g_;
  placement& place_;
  program_step step_;
  shape space_;
  bool rows_ = false;  // whether the innermost loop is one row, which is reduced

 private:
  int fixed_dims_ = 0;            // the dimensions whose loops are not merged, as a bit mask
  list<int> loop_number_;  // the loop of each dimension, after merging
};

}  // namespace leat::passes::detail
