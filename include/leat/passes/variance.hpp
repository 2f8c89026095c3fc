#pragma once
// Variances of large arrays in one pass. As written, Σ (x - mean)² needs the mean first, so that the array is read twice. With a pivot p,
// the first of the summed elements, it is Σ (x - p)² - (Σ (x - p))² / n, whose sums are computed together with the mean's.
//
// Rounding: the sums have an error relative to the variance + (mean - p)², and their difference keeps it. For data in random order, the
// second term is about as large as the first. Since p is one of the n elements, the term is at most n times as large, which happens if the
// first element is the only outlier. Columns of equal elements give 0 exactly. The mean itself is computed as before, to the bit.

#include <leat/core/list.hpp>
#include <leat/ops/reduction.hpp>

#include <bit>

namespace leat::passes::detail {

using leat::detail::list_view;

/// Smaller arrays stay in the caches, where a second pass is cheap and the loss of accuracy by a pivot is not worthwhile.
inline constexpr std::int64_t least_one_pass_elements = 1 << 16;

/// Whether node `i` of the graph is the mean of `x` over these axes (attributes of a reduction in its normal form), in any shape.
constexpr bool is_mean_of(const graph& g, int i, int x, list_view<std::int64_t> axes, double count) {
  while (is_operator<reshape_op>(*g.at(i).op)) i = g.input(g.at(i), 0);
  const node& share = g.at(i);
  const bool divides = is_operator<real_div_op>(*share.op);
  if (!divides && !is_operator<mul_op>(*share.op)) return false;
  const node& by = g.at(g.input(share, 1));
  if (by.op->kind != op_kind::constant || by.result.extent.rank != 0) return false;
  const double factor = leat::detail::value_of_bits(by.result.type, g.attribute(by, 0));
  if (divides ? factor != count : factor * count != 1) return false;
  int sum = g.input(share, 0);
  while (is_operator<reshape_op>(*g.at(sum).op)) sum = g.input(g.at(sum), 0);
  const node& s = g.at(sum);
  if (!is_operator<sum_op>(*s.op) || g.input(s, 0) != x || static_cast<std::size_t>(s.attribute_count) != axes.size()) return false;
  for (int k = 1; k < s.attribute_count; ++k)
    if (g.attribute(s, k) != axes[static_cast<std::size_t>(k)]) return false;
  return true;
}

/// The large array x for which `squares`, an operand of a sum over these axes in normal form, is (x - mean of x over them)², or -1. Also -1
/// for an x that is computed element by element, because its loop can compute the mean at the same time, but not the distances, and for
/// sums along rows, which are still in the cache when they are read again.
constexpr int array_of_squared_distances(const graph& g, int squares, list_view<std::int64_t> axes) {
  const node& n = g.at(squares);
  const bool is_square = is_operator<square_op>(*n.op) || (is_operator<mul_op>(*n.op) && g.input(n, 0) == g.input(n, 1));
  const bool is_both = is_operator<squared_difference_op>(*n.op);
  if ((!is_square && !is_both) || !is_floating(n.result.type)) return -1;
  const shape& extent = n.result.extent;
  if (!extent.is_static() || extent.elements() < least_one_pass_elements) return -1;
  if (axes.size() == 2 && axes[1] == extent.rank - 1 && extent.rank > 1) return -1;
  const node& distance = is_both ? n : g.at(g.input(n, 0));
  if (!is_both && !is_operator<sub_op>(*distance.op)) return -1;
  double count = 1;
  for (std::size_t k = 1; k < axes.size(); ++k) count *= static_cast<double>(extent[static_cast<int>(axes[k])]);
  for (int side = 0; side < 2; ++side) {
    const int x = g.input(distance, side);
    const op_kind kind = g.at(x).op->kind;
    const bool in_memory = kind == op_kind::placeholder || kind == op_kind::variable || kind == op_kind::number || kind == op_kind::kernel;
    if (in_memory && g.at(x).result.extent == extent && is_mean_of(g, g.input(distance, 1 - side), x, axes, count)) return x;
  }
  return -1;
}

}  // namespace leat::passes::detail
