#pragma once
// Kernels of `top_k` and `dynamic_stitch`, as work items for any device.

#include <leat/kernels/largest.hpp>
#include <leat/kernels/whole_array.hpp>
#include <leat/ops/top_k.hpp>

namespace leat::kernels {

/// Item r: row r. Each position is the first of those that come after the one before it, so that no memory is needed.
template <class T, class Index>
struct top_places_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  Index* out;
  std::int64_t rows, width, count;
  top_places_kernel(const T* from, Index* to, std::int64_t its_rows, std::int64_t its_width, std::int64_t its_count)
      : in(from), out(to), rows(its_rows), width(its_width), count(its_count) {}
  top_places_kernel(void* const* p, const step_numbers& n)
      : in(static_cast<const T*>(p[0])), out(static_cast<Index*>(p[1])), rows(n.product(0, 0, n.rank(0) - 1)),
        width(n.size(0, n.rank(0) - 1)), count(n.attribute(0)) {}
  std::int64_t items() const { return count == 0 ? 0 : rows; }
  std::int64_t work() const { return width * count; }
  constexpr void operator()(std::int64_t r) const {
    const T* const row = in + r * width;
    Index* const to = out + r * count;
    for (std::int64_t k = 0; k < count; ++k) {
      std::int64_t best = -1;
      for (std::int64_t i = 0; i < width; ++i) {
        if (k > 0 && !comes_before(row, static_cast<std::int64_t>(to[k - 1]), i)) continue;
        if (best < 0 || comes_before(row, i, best)) best = i;
      }
      to[k] = static_cast<Index>(best);
    }
  }
  static constexpr bool run_all_allocates = true;
  /// Runs all items on the host, which sorts the positions.
  void run_all() const {
    largest_of_row<T, Index> largest(width, count);
    for (std::int64_t r = 0, n = items(); r < n; ++r) largest.find(in + r * width, out + r * count);
  }
};
template <>
struct kernel_of<top_places_op> {
  /// Positions are int32, except in nodes of graphs that say int64.
  template <class T, class Index>
  using type = top_places_kernel<T, std::conditional_t<std::is_same_v<Index, std::int64_t>, std::int64_t, std::int32_t>>;
  static constexpr bool has_indices = false;
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};

/// Item j: column j of the result. A node of a graph with more than `most` arrays has several such kernels; the first one `fills` the rows
/// that no index names.
template <class T>
struct dynamic_stitch_kernel {
  static constexpr bool may_refuse = false;
  static constexpr int most = dynamic_stitch_op::most;
  const T* in[most];
  const std::int32_t* indices[most];
  std::int64_t count[most];
  T* out;
  int arrays;
  std::int64_t rows, width;
  bool fills = true;
  dynamic_stitch_kernel(const T* const* from, const std::int32_t* const* its_indices, const std::int64_t* counts, int its_arrays, T* to,
                        std::int64_t its_rows, std::int64_t its_width, bool is_first)
      : out(to), arrays(its_arrays), rows(its_rows), width(its_width), fills(is_first) {
    for (int k = 0; k < arrays; ++k) {
      in[k] = from[k];
      indices[k] = its_indices[k];
      count[k] = counts[k];
    }
  }
  dynamic_stitch_kernel(void* const* p, const step_numbers& n)
      : in{}, indices{}, count{}, arrays(static_cast<int>(n.attribute(1))), rows(n.size(2 * static_cast<int>(n.attribute(1)), 0)),
        width(n.product(2 * static_cast<int>(n.attribute(1)), 1, n.rank(2 * static_cast<int>(n.attribute(1))))) {
    out = static_cast<T*>(p[2 * arrays]);
    for (int k = 0; k < arrays; ++k) {
      in[k] = static_cast<const T*>(p[k]);
      indices[k] = static_cast<const std::int32_t*>(p[arrays + k]);
      count[k] = n.product(arrays + k, 0, n.rank(arrays + k));
    }
  }
  std::int64_t items() const { return width; }
  std::int64_t work() const { return rows; }
  constexpr void operator()(std::int64_t j) const {
    for (std::int64_t r = 0; r < rows && fills; ++r) out[r * width + j] = T{};
    for (int k = 0; k < arrays; ++k)
      for (std::int64_t i = 0; i < count[k]; ++i) out[indices[k][i] * width + j] = in[k][i * width + j];
  }
  /// Runs all items on the host, row by row.
  void run_all() const {
    if (fills) std::fill_n(out, rows * width, T{});
    for (int k = 0; k < arrays; ++k)
      for (std::int64_t i = 0; i < count[k]; ++i) copy_row(in[k] + i * width, width, out + indices[k][i] * width);
  }
};
template <>
struct kernel_of<dynamic_stitch_op> : kernel_without_indices<dynamic_stitch_kernel> {
  static constexpr bool only_moves = true;
  template <class T>
  static std::int64_t bytes_to_read(const step_numbers& n, int k) {
    const auto arrays = static_cast<int>(n.attribute(1));
    return k < arrays || k >= 2 * arrays ? 0 : n.product(k, 0, n.rank(k)) * static_cast<std::int64_t>(sizeof(std::int32_t));
  }
  template <class T>
  static bool accepts(void* const* p, const step_numbers& n) {
    const auto arrays = static_cast<int>(n.attribute(1));
    for (int k = 0; k < arrays; ++k)
      if (find_out_of_range(static_cast<const std::int32_t*>(p[arrays + k]), n.product(arrays + k, 0, n.rank(arrays + k)),
                            n.size(2 * arrays, 0), false) >= 0)
        return false;
    return true;
  }
  /// Checks all indices.
  template <class T>
  static void look(void* const* p, const step_numbers& n, int) {
    const auto arrays = static_cast<int>(n.attribute(1));
    const std::int64_t rows = n.size(2 * arrays, 0);
    for (int k = 0; k < arrays; ++k) {
      const auto* const indices = static_cast<const std::int32_t*>(p[arrays + k]);
      const std::int64_t at = find_out_of_range(indices, n.product(arrays + k, 0, n.rank(arrays + k)), rows, false);
      if (at >= 0)
        LEAT_THROW(invalid_argument("indices[" + std::to_string(k) + "][" + std::to_string(at) + "] = " + std::to_string(indices[at]) +
                               " is out of range [0, " + std::to_string(rows) + ")"));
    }
  }
};

}  // namespace leat::kernels
