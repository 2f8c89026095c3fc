#pragma once
// Fusion: decides which nodes run in one loop nest. Element-wise nodes, reductions and writes that have the same iteration space form
// clusters; everything else (products, gather, …) is a step of its own.
//
// Each step has a level, and edges between steps lead to higher levels, so that steps of one level can be merged freely. A node joins the
// cluster of an operand if it can read that operand from a register:
//
//   - both have the same iteration space (except for dimensions of 1) and the operand is an element of it: a plain chain;
//   - the operand was reduced over the last dimension and the node needs one such value per row: softmax, mean and variance;
//   - the node itself has one element per row: it computes on a row's sum before the sum is used.
//
// All other operands are read from memory, on a higher level. In a second phase, a cluster joins a later one that reads its elements, if
// everything else that depends on it comes still later: an optimizer's slots do not depend on the rate, but the variable does. Finally, a
// node that would be stored for only one later cluster moves there, where it is recomputed from arrays that are stored anyway.

#include <leat/core/list.hpp>
#include <leat/passes/node_users.hpp>
#include <leat/passes/shape_numbers.hpp>
#include <leat/passes/unroll_models.hpp>

namespace leat::passes {

/// The step in which each node runs.
struct fusion {
  struct cluster {
    int space = 0;  // index in `space_shapes`
    int level = 0;
    bool rows = false;  // whether something is reduced over the last dimension and used per row
    int merged_into = -1;
  };
  struct place {
    int cluster = -1;      // the cluster of a compute node, or -1
    bool per_row = false;  // whether it has one element per row of the space
    int level = 0;         // the level of a kernel
    bool folded = false;   // whether it is part of another step
  };
  list<cluster> clusters;
  list<place> places;
  list<int> sources;         // for each node, the node whose result it shows: `source_of`
  list<int> spaces;          // for each node, the index of its iteration space, without dimensions of 1
  list<shape> space_shapes;  // the shapes, by this index
  list<int> fold_product;  // for an assignment: the product that is folded into it, or -1
  list<int> fold_scale;    // for an assignment: the scalar that multiplies the product, or -1
  list<int> part_of;       // for an operand that is computed in the memory of a concatenation: the concatenation, or -1
  list<char> is_in_place;  // for a concatenation: whether all of its operands are
  list<char> is_looked_up;  // for a lookup: whether its rows are read in place; empty if there is none

  constexpr int find(int c) const {
    while (clusters[c].merged_into >= 0) c = clusters[c].merged_into;
    return c;
  }
  /// Whether node `i` is a lookup whose rows are read in place (passes/rows_in_place.hpp).
  constexpr bool looks_up(int i) const { return !is_looked_up.empty() && is_looked_up[i] != 0; }
  /// Whether the step of node `i` does nothing but check indices.
  constexpr bool only_checks_rows(const graph& g, int i) const {
    const node& n = g.at(i);
    return looks_up(i) || (is_operator<first_rows_op>(*n.op) && counts_one_by_one(g, n));
  }
  /// Whether node `i` of a graph is a kernel, that is, a step of its own.
  constexpr bool is_kernel(const graph& g, int i) const {
    const node& n = g.at(i);
    return n.op->kind == op_kind::kernel || writes_rows(n) || fold_product[i] >= 0;
  }
};

inline constexpr shape one_element{};

/// The shape over which a node is computed: that of an input, given by its index, that of its result, or a single element. For a reduction
/// it is the operand's shape. Nodes that store scalars as an array have a single element, and those that store vectors one vector.
enum space_kind : int { space_of_element = -2, space_of_result = -1 };
constexpr int space_input(const node& n) {
  if (n.op->kind == op_kind::reduction) return 0;
  if (n.op->kind != op_kind::element && n.op->kind != op_kind::assign) return space_of_result;
  if (stores_elements(n)) return space_of_element;
  if (stores_models(n)) return n.op->kind == op_kind::assign ? 1 : 0;
  return space_of_result;
}
/// The shape over which a node is computed.
constexpr const shape& space_of(const graph& g, const node& n) {
  const int input = space_input(n);
  if (input == space_of_result) return n.result.extent;
  return input == space_of_element ? one_element : g.at(g.input(n, input)).result.extent;
}

/// The dimensions of `n`'s iteration space (those that are not 1) along which the shape `p` is not broadcast, as a bit mask.
constexpr int covered(const shape& p, const shape& n) {
  int mask = 0;
  int bit = 1;
  for (int i = 0, at = p.rank - n.rank; i < n.rank; ++i, ++at) {
    if (n.dim[i] == 1) continue;
    if (at >= 0 && p.dim[at] != 1) mask |= bit;
    bit <<= 1;
  }
  return mask;
}

namespace detail {

class fuser {
 public:
  constexpr fuser(const graph& g, std::span<const int> targets) : g_(g) {
    f_.places.resize(g.nodes.size(), {});
    users_.resize(g.nodes.size(), 0);
    reader_.resize(g.nodes.size(), -1);
    f_.fold_product.resize(g.nodes.size(), -1);
    f_.fold_scale.resize(g.nodes.size(), -1);
    f_.part_of.resize(g.nodes.size(), -1);
    f_.is_in_place.resize(g.nodes.size(), 0);
    is_target_.resize(g.nodes.size(), 0);
    written_.resize(g.nodes.size(), 0);
    writer_.resize(g.nodes.size(), -1);
    first_read_.resize(g.nodes.size(), -1);
    last_read_.resize(g.nodes.size(), -1);
    f_.sources.resize(g.nodes.size(), 0);
    f_.spaces.resize(g.nodes.size(), 0);
    extents_.resize(g.nodes.size(), 0);
    for (int t : targets) is_target_[t] = 1;
    shape_numbers numbers(f_.space_shapes);
    numbers.of(one_element);  // index 0
    for (int i = 0; i < g.size(); ++i) {
      const node& n = g.at(i);
      f_.sources[i] = is_alias(g, n) ? f_.sources[g.input(n, 0)] : i;
      extents_[i] = numbers.of(n.result.extent);
      const int input = space_input(n);
      if (input != space_of_element) f_.spaces[i] = input == space_of_result ? extents_[i] : extents_[g.input(n, input)];
      for (int k = 0; k < n.input_count; ++k) ++users_[source(g.input(n, k))];
      for (int k = 0; k < n.control_count; ++k) ++users_[source(g.control(n, k))];
      if (n.op->kind != op_kind::assign) continue;
      const auto variable = static_cast<std::size_t>(g.input(n, 0));
      writer_[variable] = written_[variable] != 0 ? -1 : i;
      written_[variable] = 1;
    }
  }

  constexpr fusion run() {
    for (int i = 0; i < g_.size(); ++i) {
      fold_update(i);
      concatenate_in_place(i);
    }
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_.at(i);
      if (f_.places[i].folded) continue;
      if (f_.is_kernel(g_, i)) f_.places[i].level = kernel_level(i);
      else if (is_compute(n)) assign_cluster(i);
      note_reads(i);
      if (may_refuse(n)) refusable_ = larger(refusable_, f_.places[i].level + 1);
    }
    join_later();
    for (auto& p : f_.places)
      if (p.cluster >= 0) p.cluster = f_.find(p.cluster);
    sink();
    return std::move(f_);
  }

 private:
  constexpr const shape& space_shape(const node& n) const { return space_of(g_, n); }
  constexpr int source(int i) const { return f_.sources[i]; }
  constexpr int rank_of(int space) const { return f_.space_shapes[space].rank; }

  // Whether a step validates its input at run time, by its values or by the sizes of named dimensions.
  constexpr bool may_refuse(const node& n) const {
    if (is_operator<argmax_op>(*n.op) || is_operator<argmin_op>(*n.op)) {
      const shape& from = g_.at(g_.input(n, 0)).result.extent;
      return from[rule::last_axis(g_.attribute(n, 0), from.rank)] < 0;
    }
    return n.op->only_checks || n.op->may_refuse || is_operator<gather_op>(*n.op) || is_operator<first_rows_op>(*n.op);
  }

  // Folds variable -= scale * product, or +=, into one call that multiplies and updates.
  constexpr void fold_update(int i) {
    const node& n = g_.at(i);
    if (!is_operator<assign_sub_op>(*n.op) && !is_operator<assign_add_op>(*n.op)) return;
    if (!is_floating(n.result.type) || n.result.extent.rank != 2) return;
    int value = g_.input(n, 1);
    int scale = -1;
    if (is_operator<mul_op>(*g_.at(value).op) && single(value)) {
      const int a = g_.input(g_.at(value), 0);
      const int b = g_.input(g_.at(value), 1);
      const bool first = g_.at(a).result.extent.rank == 0;
      scale = first ? a : b;
      const int other = first ? b : a;
      if (g_.at(scale).result.extent.rank != 0 || !is_operator<matmul_op>(*g_.at(other).op) || !single(other)) return;
      f_.places[value].folded = true;
      value = other;
    }
    if (!is_operator<matmul_op>(*g_.at(value).op) || !single(value)) return;
    // The fused step must not read a variable that is overwritten, and its scale must be a whole buffer.
    const bool scale_fits = scale < 0 || (!reads_written(scale) && !is_strided_view(g_, scale));
    for (int k = 0; k < 2; ++k)
      if (!scale_fits || reads_written(g_.input(g_.at(value), k))) {
        if (scale >= 0) f_.places[g_.input(n, 1)].folded = false;
        return;
      }
    f_.places[value].folded = true;
    f_.fold_product[i] = value;
    f_.fold_scale[i] = scale;
  }
  // Concatenates without a step if each operand is an element-wise node that only the concatenation uses: the operands are then computed in
  // the memory of the result.
  constexpr void concatenate_in_place(int i) {
    const node& n = g_.at(i);
    if (!is_operator<concat_op>(*n.op)) return;
    for (int k = 0; k < n.input_count; ++k) {
      const int p = g_.input(n, k);
      const node& part = g_.at(p);
      if (part.op->kind != op_kind::element || !single(p) || stores_elements(part) || stores_models(part)) return;
    }
    for (int k = 0; k < n.input_count; ++k) f_.part_of[g_.input(n, k)] = i;
    f_.is_in_place[i] = 1;
  }
  constexpr bool single(int i) const { return users_[i] == 1 && is_target_[i] == 0 && f_.places[i].folded == false; }

  // The first level on which `i` can be read from memory.
  constexpr int available(int i) const {
    i = source(i);
    const node& n = g_.at(i);
    if (f_.is_kernel(g_, i)) return f_.places[i].level + 1;
    if (is_compute(n)) return f_.clusters[f_.find(f_.places[i].cluster)].level + 1;
    int level = 0;
    for (int k = 0; k < n.input_count; ++k) level = larger(level, available(g_.input(n, k)));
    for (int k = 0; k < n.control_count; ++k) level = larger(level, available(g_.control(n, k)));
    return level;
  }
  static constexpr int larger(int a, int b) { return a < b ? b : a; }

  constexpr int after_controls(int i) const {
    const node& n = g_.at(i);
    int level = 0;
    for (int k = 0; k < n.control_count; ++k) level = larger(level, available(g_.control(n, k)));
    return level;
  }
  // A read of a variable; writes of the variable must follow it.
  struct read {
    int reader;
    bool element = true;  // whether it reads element by element, not through a view that rearranges elements
    int next = -1;        // the next read of the same variable
  };
  constexpr void add_read(int variable, int reader, bool element) {
    int& first = first_read_[variable];
    int& last = last_read_[variable];
    (first < 0 ? first : reads_[last].next) = static_cast<int>(reads_.size());
    last = static_cast<int>(reads_.size());
    reads_.push_back({reader, element});
  }
  // Later writes follow this write, and therefore the reads before it, which need not be kept.
  constexpr void add_write(int variable, int writer) {
    first_read_[variable] = last_read_[variable] = static_cast<int>(reads_.size());
    reads_.push_back({writer});
  }
  template <class F>
  constexpr void for_each_read(int variable, F f) const {
    for (int k = first_read_[variable]; k >= 0; k = reads_[k].next) f(reads_[k]);
  }
  constexpr void note_reads(int i) {
    const node& n = g_.at(i);
    for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) note_read(g_.input(n, k), i);
    if (f_.fold_product[i] >= 0) {
      const node& p = g_.at(f_.fold_product[i]);
      for (int k = 0; k < p.input_count; ++k) note_read(g_.input(p, k), i);
      if (f_.fold_scale[i] >= 0) note_read(f_.fold_scale[i], i);
    }
    if (n.op->kind == op_kind::assign) add_write(g_.input(n, 0), i);
  }
  constexpr void note_read(int input, int reader, bool element = true) {
    const int s = source(input);
    if (g_.at(s).op->kind == op_kind::variable) {
      if (written_[s] != 0) add_read(s, reader, element);
    } else if (g_.at(s).op->kind == op_kind::assign) {
      if (reads_written(s)) add_read(g_.input(g_.at(s), 0), reader, element);
    } else if (g_.at(s).op->kind == op_kind::view) {
      note_read(g_.input(g_.at(s), 0), reader,
                element && (is_operator<take_element_op>(*g_.at(s).op) || is_operator<take_models_op>(*g_.at(s).op)));
    }
  }
  constexpr int reader_level(int reader) const {
    const node& r = g_.at(reader);
    if (f_.is_kernel(g_, reader)) return f_.places[reader].level + 1;
    if (is_compute(r)) return f_.clusters[f_.find(f_.places[reader].cluster)].level + 1;
    return 0;  // a view: its readers are recorded instead
  }

  constexpr int kernel_level(int i) const {
    const node& n = g_.at(i);
    int level = after_controls(i);
    const bool writes = n.op->kind == op_kind::assign;
    if (writes) {
      level = larger(level, refusable_);
      for_each_read(g_.input(n, 0), [&](const read& r) { level = larger(level, reader_level(r.reader)); });
    }
    if (f_.fold_product[i] >= 0) {
      const node& p = g_.at(f_.fold_product[i]);
      for (int k = 0; k < 2; ++k) level = larger(level, available(g_.input(p, k)));
      if (f_.fold_scale[i] >= 0) level = larger(level, available(f_.fold_scale[i]));
    } else {
      for (int k = writes ? 1 : 0; k < n.input_count; ++k) level = larger(level, available(g_.input(n, k)));
    }
    return level;
  }

  enum class access { memory, lane, row };
  // How node `i` would read its input inside cluster `c`. The shape of the input determines which dimensions it covers, and not that of the
  // node behind aliases: [10, 1] and [10] broadcast to [10, 10] along different axes.
  constexpr access reads_as(int i, int input, int c) const {
    const int p = source(input);
    const auto& place = f_.places[p];
    if (place.cluster < 0 || f_.find(place.cluster) != c || f_.spaces[i] != f_.clusters[c].space) return access::memory;
    if (!place.per_row && is_reduced(p)) return access::memory;
    const int mask = covered(g_.at(input).result.extent, space_shape(g_.at(i)));
    const int rank = rank_of(f_.spaces[i]);
    const int all = (1 << rank) - 1;
    if (!place.per_row) return mask == all ? access::lane : access::memory;
    return rank > 0 && mask == (all & ~(1 << (rank - 1))) ? access::row : access::memory;
  }
  // Whether a node's result is a reduction that is complete only when its cluster ends, so that it is not an element of the cluster's
  // space.
  constexpr bool is_reduced(int p) const { return g_.at(p).op->kind == op_kind::reduction && !f_.places[p].per_row; }
  // Whether the space `own` equals `whole` without its last dimension.
  constexpr bool is_outer(int own, int whole) const {
    const shape& mine = f_.space_shapes[own];
    const shape& space = f_.space_shapes[whole];
    if (space.rank < 2 || mine.rank != space.rank - 1) return false;
    for (int i = 0; i < mine.rank; ++i)
      if (mine.dim[i] != space.dim[i]) return false;
    return true;
  }

  constexpr int new_cluster(int space, int level) {
    f_.clusters.push_back({space, level, false, -1});
    return static_cast<int>(f_.clusters.size()) - 1;
  }

  constexpr void assign_cluster(int i) {
    const node& n = g_.at(i);
    const int space = f_.spaces[i];
    int base = after_controls(i);
    const int first = n.op->kind == op_kind::assign ? 1 : 0;

    // First attempt: the node is one element per row of an operand's cluster.
    for (int k = first; k < n.input_count; ++k) {
      const int p = source(g_.input(n, k));
      const auto& place = f_.places[p];
      if (place.cluster < 0 || !place.per_row || n.op->kind == op_kind::assign) continue;
      const int c = f_.find(place.cluster);
      if (!is_outer(space, f_.clusters[c].space)) continue;
      int level = base;
      for (int j = first; j < n.input_count; ++j) {
        const int q = source(g_.input(n, j));
        const auto& other = f_.places[q];
        const bool same_row = other.cluster >= 0 && other.per_row && f_.find(other.cluster) == c && extents_[q] == space;
        level = larger(level, same_row ? f_.clusters[c].level : available(q));
      }
      if (level > f_.clusters[c].level) continue;
      f_.places[i] = {c, n.op->kind != op_kind::reduction, 0, false};
      return;
    }

    // Second attempt: the node is an element of its own space.
    int level = base;
    int first_joined = -1;  // the first input that can be read from a register
    for (int k = first; k < n.input_count; ++k) {
      const int input = g_.input(n, k);
      const int p = source(input);
      const int its = cluster_of(p);
      const bool joins = its >= 0 && reads_as(i, input, its) != access::memory;
      if (joins) first_joined = first_joined < 0 ? k : first_joined;
      level = larger(level, joins ? f_.clusters[its].level : available(p));
    }
    if (n.op->kind == op_kind::assign) {
      level = larger(level, refusable_);
      for_each_read(g_.input(n, 0), [&](const read& r) {
        const auto& place = f_.places[r.reader];
        const bool aligned = r.element && place.cluster >= 0 && !place.per_row && f_.clusters[f_.find(place.cluster)].space == space &&
                             g_.at(r.reader).op->kind != op_kind::assign;
        level = larger(level, aligned ? f_.clusters[f_.find(place.cluster)].level : reader_level(r.reader));
      });
    }
    int c = -1;
    auto join = [&](int other) {
      other = f_.find(other);
      auto& o = f_.clusters[other];
      if (o.level != level || o.space != space) return;
      if (c < 0) {
        c = other;
      } else if (c != other) {
        f_.clusters[c].rows = f_.clusters[c].rows || o.rows;
        o.merged_into = c;
      }
    };
    for (int k = first_joined < 0 ? n.input_count : first_joined; k < n.input_count; ++k) {
      const int p = source(g_.input(n, k));
      if (f_.places[p].cluster >= 0 && reads_as(i, g_.input(n, k), f_.find(f_.places[p].cluster)) != access::memory)
        join(f_.places[p].cluster);
    }
    if (n.op->kind == op_kind::assign)  // an aligned reader of the variable on this level must be in the same loop
      for_each_read(g_.input(n, 0), [&](const read& r) {
        if (r.element && f_.places[r.reader].cluster >= 0 && !f_.places[r.reader].per_row) join(f_.places[r.reader].cluster);
      });
    const int rank = rank_of(space);
    if (rank == 0) {
      if (static_cast<int>(numbers_.size()) <= level) numbers_.resize(static_cast<std::size_t>(level) + 1, -1);
      if (numbers_[level] >= 0) join(numbers_[level]);
    } else {
      for (int k = 0; k < n.input_count; ++k) {  // joins another loop that reads the same array
        const int input = g_.input(n, k);
        const int reader = reader_[source(input)];
        if (reader >= 0 && f_.find(reader) != c && covered(g_.at(input).result.extent, space_shape(n)) != 0) join(reader);
      }
    }
    if (c < 0) c = new_cluster(space, level);
    if (rank == 0) numbers_[level] = c;
    const bool row_reduction = n.op->kind == op_kind::reduction && rank >= 2 &&
                               covered(kept_like(n, space_shape(n)), space_shape(n)) == (1 << (rank - 1)) - 1;
    if (row_reduction) f_.clusters[c].rows = true;
    f_.places[i] = {c, row_reduction, 0, false};
    for (int k = 0; k < n.input_count; ++k) reader_[source(g_.input(n, k))] = c;
  }

 public:
  // The shape of a reduction's result, with the reduced dimensions kept as 1.
  constexpr shape kept_like(const node& n, const shape& from) const {
    std::int64_t attribute[max_rank + 1]{};
    for (int k = 0; k < n.attribute_count; ++k) attribute[k] = g_.attribute(n, k);
    const int mask = rule::reduced_axes(attribute, n.attribute_count, from.rank);
    shape kept = from;
    for (int a = 0; a < kept.rank; ++a)
      if ((mask >> a & 1) != 0) kept.dim[a] = 1;
    return kept;
  }

 private:
  // Joins clusters to later ones that read their elements.
  constexpr void join_later() {
    list<int> reader(f_.clusters.size(), -1);  // for each cluster, the first cluster that reads its elements
    bool some = false;
    for (int i = 0; i < g_.size(); ++i) {
      const int to = cluster_of(i);
      if (to < 0) continue;
      const node& n = g_.at(i);
      for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
        const int from = cluster_of(source(g_.input(n, k)));
        if (from < 0 || from == to || !reads_element(i, k, from, to)) continue;
        auto& first = reader[from];
        if (first < 0 || f_.clusters[to].level < f_.clusters[first].level) first = to;
        some = true;
      }
    }
    if (!some) return;
    const users_of_nodes users(g_, f_.sources);
    list<int> first(f_.clusters.size(), -1), last(f_.clusters.size(), -1), next(g_.nodes.size(), -1);  // lists of nodes
    for (int i = g_.size() - 1; i >= 0; --i) {
      const int c = cluster_of(i);
      if (c < 0) continue;
      if (first[c] < 0) last[c] = i;
      next[i] = first[c];
      first[c] = i;
    }
    // Later clusters come first, because earlier ones may then join the merged clusters.
    list<list<int>> by_level;
    for (std::size_t c = 0; c < f_.clusters.size(); ++c) {
      if (reader[c] < 0 || f_.clusters[c].merged_into >= 0) continue;
      const auto level = static_cast<std::size_t>(f_.clusters[c].level);
      if (by_level.size() <= level) by_level.resize(level + 1);
      by_level[level].push_back(static_cast<int>(c));
    }
    for (std::size_t level = by_level.size(); level-- > 0;)
      for (const int from : by_level[level]) {
        const int to = f_.find(reader[from]);
        bool may = to != from;
        for (int i = first[from]; may && i >= 0; i = next[i]) may = may_wait(i, from, to, users);
        if (!may) continue;
        f_.clusters[from].merged_into = to;
        next[last[from]] = first[to];
        first[to] = first[from];
      }
  }
  // The cluster of a node, or -1.
  constexpr int cluster_of(int i) const {
    const int c = f_.places[i].cluster;
    return c < 0 ? -1 : f_.find(c);
  }
  // Whether node `i` of cluster `to` reads an element of its input in cluster `from`, where both clusters are single loops over the same
  // space.
  constexpr bool reads_element(int i, int k, int from, int to) const {
    const auto& a = f_.clusters[from];
    const auto& b = f_.clusters[to];
    return !a.rows && !b.rows && a.space == b.space && rank_of(a.space) > 0 && !f_.places[i].folded &&
           reads_as(i, g_.input(g_.at(i), k), from) == access::lane;
  }
  // The level on which a node runs, or -1 if it is neither a step nor part of one.
  constexpr int level_of(int i) const {
    if (f_.is_kernel(g_, i)) return f_.places[i].level;
    const int c = cluster_of(i);
    return c < 0 ? -1 : f_.clusters[c].level;
  }
  // Whether a node of cluster `from` may run in the later cluster `to`.
  constexpr bool may_wait(int i, int from, int to, const users_of_nodes& users) const {
    const int level = f_.clusters[to].level;
    for (const auto& u : users.of(i)) {
      const int c = f_.is_kernel(g_, u.node) ? -1 : cluster_of(u.node);
      if (c == from) continue;
      if (level_of(u.node) > level) continue;
      if (c == to && u.input >= 0 && reads_element(u.node, u.input, from, to)) continue;
      // Any other user must be a group of operations that is only fetched.
      if (level_of(u.node) >= 0 || u.input >= 0 || source(u.node) != u.node || !users.of(u.node).empty()) return false;
    }
    const node& n = g_.at(i);
    for (int k = n.op->kind == op_kind::assign ? 1 : 0; k < n.input_count; ++k) {
      const int p = source(g_.input(n, k));
      if (!reads_written(p)) continue;
      const int writer = g_.at(p).op->kind == op_kind::variable ? writer_[p] : -1;
      if (writer < 0) return false;
      const int c = f_.is_kernel(g_, writer) ? -1 : cluster_of(writer);
      const bool aligned = (c == from || c == to) && extents_[p] == f_.clusters[to].space;
      if (!aligned && level_of(writer) <= level) return false;
    }
    if (n.op->kind != op_kind::assign) return true;
    const int variable = g_.input(n, 0);
    if (writer_[variable] != i) return false;
    for (const auto& u : users.of(variable)) {
      const int c = f_.is_kernel(g_, u.node) ? -1 : cluster_of(u.node);
      if (c == from) continue;
      const int its = level_of(u.node);
      if (its < 0 || (its > f_.clusters[from].level && its <= level)) return false;
    }
    return true;
  }

  // Moves a node into the only later cluster that uses it, if no more arrays have to be stored than before.
  constexpr void sink() {
    list<int> target(g_.nodes.size(), -1);  // -1: no use yet; -2: several clusters, or not read as a lane
    for (int i = g_.size() - 1; i >= 0; --i) {
      const node& n = g_.at(i);
      auto& place = f_.places[i];
      if (n.op->kind == op_kind::element && place.cluster >= 0 && !place.per_row && is_target_[i] == 0 && target[i] >= 0 &&
          target[i] != place.cluster && space_input(n) == space_of_result && may_sink(i, target[i]))
        place.cluster = target[i];
      const bool row_node = place.per_row && n.op->kind != op_kind::reduction;
      const bool takes = is_compute(n) && place.cluster >= 0 && !row_node && !place.folded;
      for (int k = 0; k < n.input_count; ++k) {
        const int p = source(g_.input(n, k));
        int to = -2;
        if (takes && extents_[p] == f_.clusters[place.cluster].space)
          if (const int rank = rank_of(extents_[p]);
              rank > 0 && covered(g_.at(g_.input(n, k)).result.extent, space_shape(n)) == (1 << rank) - 1)
            to = place.cluster;
        auto& t = target[p];
        t = t == -1 || t == to ? to : -2;
      }
      for (int k = 0; k < n.control_count; ++k) target[g_.control(n, k)] = -2;
    }
  }
  constexpr bool may_sink(int i, int target) const {
    const node& n = g_.at(i);
    if (n.control_count > 0) return false;
    int arrays = -1;
    for (int k = 0; k < n.input_count; ++k) {
      const int p = source(g_.input(n, k));
      if (g_.at(p).op->kind == op_kind::variable && written_[p] != 0) {
        if (!is_written_by(p, target) || p != g_.input(n, k)) return false;
        continue;  // the target's loop has loaded the element already
      }
      if ((g_.at(p).op->kind == op_kind::view || g_.at(p).op->kind == op_kind::assign) && reads_written(p)) return false;
      if (rank_of(extents_[p]) == 0 || g_.at(p).op->kind == op_kind::index) continue;
      if (g_.at(p).op->kind == op_kind::constant) continue;
      if (arrays >= 0 && arrays != p) return false;
      arrays = p;
    }
    return true;
  }
  // Whether this cluster is a single loop and has the only write of a variable: it then writes each element after all reads of that
  // element.
  constexpr bool is_written_by(int variable, int cluster) const {
    if (f_.clusters[cluster].rows || extents_[variable] != f_.clusters[cluster].space) return false;
    const int writer = writer_[variable];
    return writer >= 0 && f_.fold_product[writer] < 0 && f_.places[writer].cluster == cluster;
  }
  constexpr bool reads_written(int i) const {
    i = source(i);
    if (g_.at(i).op->kind == op_kind::variable) return written_[i] != 0;
    if (g_.at(i).op->kind == op_kind::assign) return writer_[g_.input(g_.at(i), 0)] < 0;
    return g_.at(i).op->kind == op_kind::view && reads_written(g_.input(g_.at(i), 0));
  }

  const graph& g_;
  fusion f_;
  list<int> extents_;  // for each node, the index of its result's shape without dimensions of 1
  list<int> users_;
  list<int> reader_;  // for each node, the last cluster that reads it
  list<char> is_target_;
  list<char> written_;
  list<int> writer_;  // the only node that writes a variable, or -1
  list<read> reads_;
  list<int> first_read_, last_read_;  // indexed by variable
  list<int> numbers_;                 // indexed by level: the cluster of all scalars, or -1
  int refusable_ = 0;  // the first level after all steps that may reject their input: writes come no earlier
};

}  // namespace detail

/// Assigns the nodes of an arranged graph to steps.
constexpr fusion fuse(const graph& g, std::span<const int> targets) { return detail::fuser(g, targets).run(); }

}  // namespace leat::passes
