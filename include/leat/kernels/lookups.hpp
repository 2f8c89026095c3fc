#pragma once
// Kernels of `gather_nd`, `scatter_nd` and `reverse`, as work items for any device.

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/lookups.hpp>

namespace leat::kernels {

/// Copies to row `k` of the result the elements at place `places[k]` among those of the parameters' first axes.
template <class T, class Index>
struct gather_places_kernel : gather_kernel<T, Index> {
  static constexpr bool may_refuse = false;
  using gather_kernel<T, Index>::gather_kernel;
  gather_places_kernel(void* const* p, const step_numbers& n) : gather_kernel<T, Index>(p, n) {
    const int axes = static_cast<int>(n.attribute(0));
    this->rows = n.product(0, 0, axes);
    this->width = n.product(0, axes, n.rank(0));
  }
};
template <>
struct kernel_of<gather_places_op> {
  template <class T, class Index>
  using type = gather_places_kernel<T, Index>;
  static constexpr bool has_indices = true, only_moves = true;
};

/// Sums of rows by segment, where a segment is a place among the elements of the result's first axes.
template <class T, class Index>
struct scatter_places_kernel : segment_kernel<scatter_places_op, T, Index> {
  static constexpr bool may_refuse = false;
  using segment_kernel<scatter_places_op, T, Index>::segment_kernel;
  scatter_places_kernel(void* const* p, const step_numbers& n) : segment_kernel<scatter_places_op, T, Index>(p, n) {
    const int axes = static_cast<int>(n.attributes());
    this->rows = n.product(2, 0, axes);
    this->width = n.product(2, axes, n.rank(2));
  }
};
template <>
struct kernel_of<scatter_places_op> : segment_kernel_of<scatter_places_op> {
  template <class T, class Index>
  using type = scatter_places_kernel<T, Index>;
};

/// Item k: row `k` of the result, along the last axis.
template <class T>
struct reverse_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  int rank;
  std::int64_t size[max_rank], rows = 1, width = 1;
  bool turned[max_rank];
  /// Of an array of this shape, along the axes that are marked.
  reverse_kernel(const T* from, T* to, const shape& s, const bool* marked) : in(from), out(to), rank(s.rank), size{}, turned{} {
    for (int a = 0; a < rank; ++a) {
      size[a] = s[a];
      turned[a] = marked[a];
      (a + 1 < rank ? rows : width) *= size[a];
    }
  }
  reverse_kernel(void* const* p, const step_numbers& n)
      : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), rank(n.rank(0)), size{}, turned{} {
    for (int a = 0; a < rank; ++a) {
      size[a] = n.size(0, a);
      (a + 1 < rank ? rows : width) *= size[a];
    }
    for (int k = 0; k < n.attributes(); ++k) turned[rule::axis_of(n.attribute(k), rank)] = true;
  }
  std::int64_t items() const { return width == 0 ? 0 : rows; }
  std::int64_t work() const { return width; }
  constexpr void operator()(std::int64_t k) const {
    const T* const row = in + row_of(k) * width;
    T* const to = out + k * width;
    for (std::int64_t j = 0; j < width; ++j) to[j] = row[is_row_turned() ? width - 1 - j : j];
  }
  /// Runs all items on the host.
  void run_all() const {
    for (std::int64_t k = 0, n = items(); k < n; ++k) {
      const T* const row = in + row_of(k) * width;
      if (is_row_turned()) std::reverse_copy(row, row + width, out + k * width);
      else copy_row(row, width, out + k * width);
    }
  }

 private:
  constexpr bool is_row_turned() const { return rank > 0 && turned[rank - 1]; }
  // The row of the operand that row k of the result shows.
  constexpr std::int64_t row_of(std::int64_t k) const {
    std::int64_t rest = k, from = 0, step = 1;
    for (int a = rank - 2; a >= 0; --a) {
      const std::int64_t i = rest % size[a];
      rest /= size[a];
      from += (turned[a] ? size[a] - 1 - i : i) * step;
      step *= size[a];
    }
    return from;
  }
};
template <>
struct kernel_of<reverse_op> : kernel_without_indices<reverse_kernel> {
  static constexpr bool only_moves = true;
};

}  // namespace leat::kernels
