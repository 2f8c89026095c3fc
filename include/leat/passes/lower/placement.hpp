#pragma once
// Storage of results: the program's buffers, which results are stored in which buffer, and the layout of a node's elements in its buffer (a
// view has other strides over the same elements).

#include <leat/core/list.hpp>
#include <leat/passes/fuse.hpp>
#include <leat/passes/program.hpp>

namespace leat::passes::detail {

/// An element's position in a buffer: offset + Σ index(axis) × stride(axis).
struct location {
  int buffer = -1;
  term offset{0, 0};
  term strides[max_rank]{};
};

class placement {
 public:
  constexpr ~placement() = default;  // nvcc's implicit destructor is not constexpr
  constexpr placement(const graph& g, const fusion& f, program& p) : g_(g), f_(f), p_(p) {
    buffer_.resize(g.nodes.size(), -1);
    stored_.resize(g.nodes.size(), 0);
    in_register_.resize(g.edges.size(), 0);
    for (const auto& n : g_.dimension_names) used_name(n.value);
  }

  /// Decides which results are stored, and creates the buffers of the fetches.
  constexpr void start(std::span<const int> targets) {
    for (int target : targets)
      if (g_.at(target).op->kind != op_kind::group) stored_[target] = 1;
    for (int i = 0; i < g_.size(); ++i) mark_stored(i);
    for (std::size_t k = 0; k < targets.size(); ++k) {
      if (g_.at(targets[k]).op->kind == op_kind::group) {
        p_.fetches.push_back(-1);
      } else {
        p_.fetches.push_back(new_buffer(targets[k], storage::fetch, static_cast<int>(k)));
        buffer_[targets[k]] = p_.fetches.back();
        if (forwards(targets[k])) buffer_[g_.input(g_.at(targets[k]), 0)] = p_.fetches.back();
      }
    }
  }

  constexpr bool is_stored(int i) const { return stored_[i] != 0; }
  /// Whether node `i` is a kernel that is its first operand, after its others: it is stored where that is, and has nothing to do.
  constexpr bool forwards(int i) const {
    const node& n = g_.at(i);
    return n.op->kind == op_kind::kernel && n.op->what.forwards && f_.part_of[i] < 0 && f_.part_of[g_.input(n, 0)] < 0;
  }
  constexpr term as_term(std::int64_t d) { return d >= 0 ? term{d, 0} : term{1, std::int64_t{1} << 4 * used_name(d)}; }
  /// The buffer that holds node `i`; created on first use.
  constexpr int buffer_of(int i) {
    if (buffer_[i] >= 0) return buffer_[i];
    const node& n = g_.at(i);
    int made = -1;
    switch (n.op->kind) {
      case op_kind::placeholder: made = new_buffer(i, storage::feed, feeds_++); break;
      case op_kind::variable: made = new_buffer(i, storage::variable, variables_++); break;
      case op_kind::number: made = new_buffer(i, storage::number, numbers_++); break;
      case op_kind::extent:
        made = new_buffer(i, storage::extent, 0);
        {
          auto& b = p_.buffers[made];  // its shape holds the dimensions to multiply
          b.extent = {};
          for (int k = 0; k < n.attribute_count; ++k) b.extent.push(g_.attribute(n, k));
        }
        break;
      case op_kind::assign: made = buffer_of(g_.input(n, 0)); break;
      case op_kind::kernel:
        if (forwards(i)) {
          made = buffer_of(g_.input(n, 0));
          break;
        }
        [[fallthrough]];
      default: made = f_.part_of[i] >= 0 ? buffer_of(f_.part_of[i]) : new_buffer(i, storage::arena, 0); break;
    }
    return buffer_[i] = made;
  }

  /// The location of node `i` if it is stored: a whole buffer, row-major, or its part of a concatenation.
  constexpr location whole(int i) {
    if (f_.part_of[i] >= 0) return part_of(i, f_.part_of[i]);
    const node& n = g_.at(i);
    location l{buffer_of(i), {0, 0}, {}};
    term stride{1, 0};
    for (int a = n.result.extent.rank - 1; a >= 0; --a) {
      l.strides[a] = stride;
      stride = stride * as_term(n.result.extent[a]);
    }
    return l;
  }
  constexpr location part_of(int i, int concatenation) {
    const node& n = g_.at(concatenation);
    location l = whole(concatenation);
    const auto axis = rule::axis_of(g_.attribute(n, 0), n.result.extent.rank);
    for (int k = 0; g_.input(n, k) != i; ++k) move_by(l.offset, g_.at(g_.input(n, k)).result.extent[axis], l.strides[axis]);
    return l;
  }
  /// The location of node `i`'s elements, for reading.
  constexpr location location_of(int i) {
    const node& n = g_.at(i);
    if (f_.looks_up(i)) return row_zero(n);
    if (n.op->kind != op_kind::view) {
      const location here = whole(i);
      p_.buffers[here.buffer].read = p_.buffers[here.buffer].read || n.op->kind == op_kind::variable;
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
        move_by(v.offset, g_.attribute(n, a), l.strides[a]);
      }
    } else if (is_operator<take_models_op>(*n.op)) {
      const auto axis = g_.attribute(n, 0);
      for (int a = 0; a < from.rank; ++a) {
        if (a == axis) v.strides[0] = l.strides[a];
        else move_by(v.offset, g_.attribute(n, 1 + a), l.strides[a]);
      }
    } else if (is_operator<take_element_op>(*n.op)) {
      v.offset = {g_.attribute(n, 0), 0};  // the view is of a whole array of static shape
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

  /// Whether node `i` is a lookup whose rows are read in place; each row has `row_length` elements.
  constexpr bool looks_up(int i) const { return f_.looks_up(i); }
  constexpr std::int64_t row_length(const node& lookup) { return location_of(g_.input(lookup, 0)).strides[0].factor; }
  constexpr dtype type_of(int buffer) const { return p_.buffers[buffer].type; }

  /// Moves the offset of a view forward by `begin` elements along an axis.
  constexpr void move_by(term& offset, std::int64_t begin, const term& stride) {
    if (begin == 0) return;
    const term step = term{begin, 0} * stride;
    if (offset.factor == 0)
      offset = step;
    else if (offset.powers == step.powers)
      offset.factor += step.factor;
    else
      p_.problem << "a slice that begins inside two dimensions, of which an inner one is named";
  }
  constexpr const shape& space_shape(const node& n) const { return space_of(g_, n); }
  /// The node whose result input `k` of a node shows.
  constexpr int source(const node& n, int k) const { return f_.sources[g_.input(n, k)]; }
  /// Whether the iteration space of node `i` is that of its cluster, except for dimensions of 1.
  constexpr bool spans_cluster(int i) const { return f_.spaces[i] == f_.clusters[f_.places[i].cluster].space; }
  /// Whether compute node `n` finds its input `k` in a register.
  constexpr bool in_register(const node& n, int k) const { return in_register_[n.inputs + k] != 0; }

 private:
  // The locations of a lookup's elements if all of its indices were 0.
  constexpr location row_zero(const node& n) {
    const location l = location_of(g_.input(n, 0));
    location v{l.buffer, l.offset, {}};
    const int first = g_.at(g_.input(n, 1)).result.extent.rank;
    for (int a = 0; a < n.result.extent.rank; ++a) v.strides[a] = a < first ? term{0, 0} : l.strides[a - first + 1];
    return v;
  }
  // Must agree with fuser::reads_as.
  constexpr bool finds_in_register(int i, int input) const {
    const int p = f_.sources[input];
    const auto& mine = f_.places[i];
    const auto& its = f_.places[p];
    if (mine.cluster < 0 || its.cluster != mine.cluster || !is_compute(g_.at(p))) return false;
    if (g_.at(p).op->kind == op_kind::reduction && !its.per_row) return false;
    if (!spans_cluster(i)) return its.per_row;
    const int rank = f_.space_shapes[f_.spaces[i]].rank;
    const int all = (1 << rank) - 1;
    const int mask = covered(g_.at(input).result.extent, space_shape(g_.at(i)));
    return its.per_row ? mask == (all & ~(1 << (rank - 1))) : mask == all;
  }
  constexpr int used_name(std::int64_t d) {
    for (std::size_t k = 0; k < p_.names.size(); ++k)
      if (p_.names[k] == d) return static_cast<int>(k);
    if (p_.names.size() == term::most_names) {
      if (p_.problem.size == 0) p_.problem << "more than " << term::most_names << " named dimensions in one step";
      return 0;
    }
    p_.names.push_back(d);
    return static_cast<int>(p_.names.size()) - 1;
  }
  constexpr int new_buffer(int i, storage where, int index) {
    const node& n = g_.at(i);
    p_.buffers.push_back({where, index, n.result.type, n.result.extent, n.id});
    return static_cast<int>(p_.buffers.size()) - 1;
  }
  constexpr void mark_stored(int i) {
    const node& n = g_.at(i);
    if (n.op->kind == op_kind::assign || (n.op->kind == op_kind::kernel && !f_.only_checks_rows(g_, i))) stored_[i] = 1;
    const bool computes = is_compute(n);
    for (int k = 0; computes && k < n.input_count; ++k) in_register_[n.inputs + k] = finds_in_register(i, g_.input(n, k)) ? 1 : 0;
    for (int k = 0; k < n.control_count; ++k)
      if (const int p = f_.sources[g_.control(n, k)]; g_.at(p).op->kind == op_kind::reduction) stored_[p] = 1;
    if (f_.places[i].folded && !is_operator<matmul_op>(*n.op)) return;
    for (int k = 0; k < n.input_count; ++k) {
      const int p = source(n, k);
      if (!is_compute(g_.at(p)) || f_.places[p].folded) continue;
      if (!computes || f_.fold_product[i] >= 0 || !in_register(n, k)) stored_[p] = 1;
    }
    if (f_.fold_product[i] >= 0 && f_.fold_scale[i] >= 0) stored_[f_.sources[f_.fold_scale[i]]] = 1;
  }

  const graph& g_;
  const fusion& f_;
  program& p_;
  list<int> buffer_;
  list<char> stored_;
  list<char> in_register_;  // indexed by edge
  int feeds_ = 0;
  int variables_ = 0;
  int numbers_ = 0;
};

}  // namespace leat::passes::detail
