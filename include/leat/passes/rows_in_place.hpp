#pragma once
// Lookups whose rows are read in place: the loop that uses the rows follows the indices, so that nothing is copied first. All that remains
// of such a lookup is a step that checks its indices. A lookup is read in place if a single cluster reads it, along its rows, and neither
// its array nor its indices are written before or in that cluster. The order of sums must not change: in a cluster with rows the loops are
// the same either way, but a cluster with any other reduction reads a copy. A long row is worth a loop of its own in any cluster, a short
// one only where rows are reduced.

#include <leat/core/list.hpp>
#include <leat/passes/fuse.hpp>

namespace leat::passes {

/// Rows of at least this many elements are worth a loop of their own.
inline constexpr std::int64_t long_row = 16;

namespace detail {

class row_finder {
 public:
  constexpr ~row_finder() = default;  // nvcc's implicit destructor is not constexpr
  constexpr row_finder(const graph& g, std::span<const int> targets, std::int64_t shortest, fusion& f)
      : g_(g), f_(f), targets_(targets), shortest_(shortest) {}

  constexpr void run() {
    bool some = false;
    for (int i = 0; i < g_.size(); ++i)
      if (is_operator<gather_op>(*g_.at(i).op) && fits(g_.at(i))) {
        if (!some) reader_.resize(g_.nodes.size(), never);
        some = true;
        reader_[i] = unread;
      }
    if (!some) return;
    find_readers();
    f_.is_looked_up.resize(g_.nodes.size(), 0);
    for (int i = 0; i < g_.size(); ++i) f_.is_looked_up[i] = reader_[i] >= 0 && may_read(g_.at(i), reader_[i]) ? 1 : 0;
  }

 private:
  static constexpr int never = -1, unread = -2;  // other values: the cluster that reads a lookup
  static constexpr std::int64_t longest_row = std::int64_t{1} << 30;  // the longest row that an instruction can encode

  // Whether the rows have a known size and there may be more than one index.
  constexpr bool fits(const node& n) const {
    const shape& params = g_.at(g_.input(n, 0)).result.extent;
    std::int64_t row = 1;
    for (int a = 1; a < params.rank; ++a) {
      if (params[a] < 1 || params[a] > longest_row / row) return false;
      row *= params[a];
    }
    bool several = false;
    const shape& indices = g_.at(g_.input(n, 1)).result.extent;
    for (int a = 0; a < indices.rank; ++a) several = several || indices[a] != 1;
    return several;
  }
  constexpr void find_readers() {
    reduces_.resize(f_.clusters.size(), 0);
    first_write_.resize(g_.nodes.size(), no_write);
    writes_.resize(g_.nodes.size(), 0);
    for (int i = 0; i < g_.size(); ++i) {
      const node& n = g_.at(i);
      const int c = f_.places[i].cluster;
      if (n.op->kind == op_kind::reduction && c >= 0) reduces_[c] = 1;
      if (n.op->kind == op_kind::assign) note_write(i);
      for (int k = 0; k < n.input_count; ++k) {
        const int x = g_.input(n, k);
        if (reader_[x] == never) continue;
        const bool reads = is_compute(n) && c >= 0 && !f_.places[i].folded && !f_.is_kernel(g_, i) && reads_along_rows(n, x);
        reader_[x] = reads && (reader_[x] == unread || reader_[x] == c) ? c : never;
      }
    }
    for (const int t : targets_) reader_[t] = never;
  }
  constexpr void note_write(int i) {
    const int variable = g_.input(g_.at(i), 0);
    const int level = f_.is_kernel(g_, i) ? f_.places[i].level : f_.clusters[f_.places[i].cluster].level;
    if (level < first_write_[variable]) first_write_[variable] = level;
    ++writes_[variable];
  }
  // Whether the innermost dimension over which a node is computed is a dimension of the rows of lookup `x`.
  constexpr bool reads_along_rows(const node& n, int x) const {
    const shape& own = space_of(g_, n);
    const shape& rows = g_.at(x).result.extent;
    int a = own.rank - 1;
    while (a >= 0 && own[a] == 1) --a;
    const int b = a - (own.rank - rows.rank);
    return a >= 0 && b >= g_.at(g_.input(g_.at(x), 1)).result.extent.rank && rows[b] != 1;
  }
  constexpr bool may_read(const node& n, int c) const {
    const shape& rows = n.result.extent;
    int a = rows.rank - 1;
    while (rows[a] == 1) --a;
    if (!f_.clusters[c].rows && (reduces_[c] != 0 || rows[a] < shortest_)) return false;
    return stays(g_.input(n, 0), c) && stays(g_.input(n, 1), c);
  }
  // Whether an array still has its value when cluster `c` runs.
  constexpr bool stays(int x, int c) const {
    while (g_.at(x).op->kind == op_kind::view) x = g_.input(g_.at(x), 0);
    const int level = f_.clusters[c].level;
    if (g_.at(x).op->kind == op_kind::variable) return first_write_[x] > level;
    if (g_.at(x).op->kind == op_kind::assign) return writes_[g_.input(g_.at(x), 0)] == 1;  // this write, which has run by then
    return true;
  }

  static constexpr int no_write = 1 << 30;

  const graph& g_;
  fusion& f_;
  std::span<const int> targets_;
  std::int64_t shortest_;
  list<int> reader_;
  list<char> reduces_;     // by cluster: whether it has a reduction
  list<int> first_write_;  // by variable: the level of the first write
  list<int> writes_;       // by variable: the number of writes
};

}  // namespace detail

/// Marks the lookups of a fused graph whose rows are read in place: rows of at least `shortest` elements, and shorter ones where rows are
/// reduced.
constexpr void find_rows_in_place(const graph& g, std::span<const int> targets, std::int64_t shortest, fusion& f) {
  detail::row_finder(g, targets, shortest, f).run();
}

}  // namespace leat::passes
