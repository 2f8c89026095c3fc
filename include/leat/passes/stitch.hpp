#pragma once
// Arithmetic on padded arrays, which are the gradients of slices. A sum of them is assembled from parts, within each of which an operand is
// either entirely zero or entirely an array, so that nothing needs padding: pad(a) + pad(b) is the concatenation of the parts that only a
// covers, that both cover, and that only b covers. Each part is computed only from its own elements, back to arrays in memory, and written
// directly to its place in the result (fuse.hpp).

#include <leat/core/list.hpp>
#include <leat/graph/id_table.hpp>
#include <leat/ops/array.hpp>

namespace leat::passes::detail {

using leat::detail::list;
using leat::detail::list_view;

/// Writes operators on padded arrays part by part. `Writer` adds nodes in their simplest form: `nodes()`, `emit(op, inputs, attributes)`,
/// and `copies(op)`.
template <class Writer>
class stitcher {
 public:
  static constexpr int most_parts = 4;    // each part is a loop to compile
  static constexpr int most_nodes = 256;  // the most nodes of a program that are written again for parts

  constexpr explicit stitcher(Writer& to) : to_(to) {}

  /// The operator on these operands, one of which is padded along a single axis or already assembled from parts. Returns -1 if none is, or
  /// if there would be too many parts.
  constexpr int operate(const op_info& op, list_view<int> in) {
    int axis = -1;
    shape whole;
    for (const int i : in)
      if (const int its = axis_of(i, in.size() > 1); its >= 0 && axis < 0) {
        axis = its;
        whole = g().at(i).result.extent;
      }
    if (axis < 0 || !whole.is_static() || whole.elements() == 0) return -1;
    for (const int i : in)
      if (!(broadcast(g().at(i).result.extent, whole).extent == whole)) return -1;
    std::int64_t cuts[most_parts + 1]{0, whole[axis]};
    int count = 2;
    for (const int i : in)
      if (g().at(i).result.extent == whole && axis_of(i, true) == axis && !cut(i, axis, cuts, count)) return -1;
    if (count == 2) return -1;
    list<int> parts;
    for (int p = 0; p + 1 < count; ++p) {
      int inputs[graph::max_operands];
      for (std::size_t k = 0; k < in.size(); ++k) {
        inputs[k] = part(in[k], axis, whole, cuts[p], cuts[p + 1]);
        if (inputs[k] < 0) return -1;
      }
      parts.push_back(to_.emit(op, {inputs, in.size()}, {}));
    }
    const std::int64_t along[]{axis};
    made_.push_back(g().add(info_of<concat_op>, parts, along));
    return made_.back();
  }

 private:
  constexpr graph& g() { return to_.nodes(); }

  // The axis along which node `i` consists of parts, or -1.
  constexpr int axis_of(int i, bool padded) {
    const node& n = g().at(i);
    if (is_operator<concat_op>(*n.op)) {
      for (const int made : made_)
        if (made == i) return static_cast<int>(g().attribute(n, 0));
      return -1;
    }
    if (!padded || !is_operator<pad_op>(*n.op)) return -1;
    const int rank = n.result.extent.rank;
    int axis = -1;
    for (int a = 0; a < rank; ++a) {
      if (g().attribute(n, a) == 0 && g().attribute(n, rank + a) == 0) continue;
      if (axis >= 0) return -1;
      axis = a;
    }
    return axis;
  }
  // Adds the positions at which the parts of node `i` end; false if there are too many.
  constexpr bool cut(int i, int axis, std::int64_t (&cuts)[most_parts + 1], int& count) {
    const node& n = g().at(i);
    std::int64_t end = 0;
    const bool padded = is_operator<pad_op>(*n.op);
    for (int k = 0; k < n.input_count; ++k) {
      if (padded) end += g().attribute(n, axis);
      if (padded && !add_cut(end, cuts, count)) return false;
      end += g().at(g().input(n, k)).result.extent[axis];
      if (!add_cut(end, cuts, count)) return false;
    }
    return true;
  }
  static constexpr bool add_cut(std::int64_t at, std::int64_t (&cuts)[most_parts + 1], int& count) {
    int k = 0;
    while (cuts[k] < at) ++k;  // stops at the latest at the array's end, which is the last cut
    if (cuts[k] == at) return true;
    if (count == most_parts + 1) return false;
    for (int later = count++; later > k; --later) cuts[later] = cuts[later - 1];
    cuts[k] = at;
    return true;
  }

  // The elements from `begin` to `end` along `axis` of an operand that broadcasts to `whole`: node `i` itself if it is broadcast along that
  // axis, a part of it otherwise, or -1 if it cannot be cut.
  constexpr int part(int i, int axis, const shape& whole, std::int64_t begin, std::int64_t end) {
    const node n = g().at(i);
    const shape& extent = n.result.extent;
    const int own = axis - (whole.rank - extent.rank);
    if (own < 0 || extent[own] == 1 || (begin == 0 && end == extent[own])) return i;
    shape to = extent;
    to.dim[own] = end - begin;
    if (n.op->kind == op_kind::constant)
      return leat::constant(g(), n.result.type, to, leat::detail::value_of_bits(n.result.type, g().attribute(n, 0))).index();
    if (n.op->kind == op_kind::index) return -1;
    const bool along = axis_of(i, true) == own;
    if (along) {
      std::int64_t at = is_operator<pad_op>(*n.op) ? g().attribute(n, own) : 0;
      for (int k = 0; k < n.input_count; ++k) {
        const int x = g().input(n, k);
        const std::int64_t size = g().at(x).result.extent[own];
        if (begin >= at && end <= at + size) return part(x, own, g().at(x).result.extent, begin - at, end - at);
        at += size;
      }
      if (is_operator<pad_op>(*n.op) && (end <= g().attribute(n, own) || begin >= at))
        return leat::constant(g(), n.result.type, to, 0).index();
    }
    const bool copies = to_.copies(*n.op);
    if (n.op->kind == op_kind::element && !n.op->costly && n.control_count == 0 && (n.attribute_count == 0 || copies) &&
        written_ < most_nodes) {
      const auto key = mix(mix(static_cast<std::uint64_t>(i), static_cast<std::uint64_t>(own)),
                           mix(static_cast<std::uint64_t>(begin), static_cast<std::uint64_t>(end)));
      if (const int known = known_.find(key); known >= 0) return known;
      ++written_;
      int inputs[graph::max_operands];
      for (int k = 0; k < n.input_count; ++k) {
        inputs[k] = part(g().input(n, k), own, extent, begin, end);
        if (inputs[k] < 0) return -1;
      }
      const int made = to_.emit(*n.op, {inputs, static_cast<std::size_t>(n.input_count)},
                                copies ? list_view<std::int64_t>(to.dim, static_cast<std::size_t>(to.rank)) : list_view<std::int64_t>{});
      known_.insert(key, made);
      return made;
    }
    std::int64_t attribute[2 * max_rank]{};
    for (int a = 0; a < to.rank; ++a) attribute[to.rank + a] = to[a];
    attribute[own] = begin;
    return to_.emit(info_of<slice_op>, {&i, 1}, {attribute, static_cast<std::size_t>(2 * to.rank)});
  }

  Writer& to_;
  list<int> made_;  // the concatenations
  id_table known_;  // parts of element-wise nodes, by the hash of node and range
  int written_ = 0;
};

}  // namespace leat::passes::detail
