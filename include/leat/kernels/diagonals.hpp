#pragma once
// Kernels of the diagonals of matrices, as work items for any device. Graphs with names run the same ones for several diagonals
// (runtime/kernels/diagonal.hpp): these are the rows of an array, the uppermost first, and shorter ones lie at the left or right end of
// their rows.

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/diagonals.hpp>

namespace leat::kernels {

/// Matrices of one size with the places of some of their diagonals in rows of `width` elements.
struct diagonal_layout {
  std::int64_t rows = 0, columns = 0, width = 0;
  leat::detail::diagonal_range range{};
  bool is_left_above = true, is_left_below = true;

  /// The main diagonals of operand `k` of a step.
  static constexpr diagonal_layout of_step(const step_numbers& n, int k) {
    const int rank = n.rank(k);
    const std::int64_t rows = n.size(k, rank - 2), columns = n.size(k, rank - 1);
    return {.rows = rows, .columns = columns, .width = leat::detail::diagonal_range{}.longest(rows, columns)};
  }
  constexpr std::int64_t of_diagonals() const { return range.count() * width; }
  /// The first element of diagonal `d` among the diagonals, and in the matrix.
  constexpr std::int64_t begin(std::int64_t d) const {
    const bool is_left = d >= 0 ? is_left_above : is_left_below;
    return (range.upper - d) * width + (is_left ? 0 : width - length(d));
  }
  constexpr std::int64_t begin_in_matrix(std::int64_t d) const { return d < 0 ? -d * columns : d; }
  constexpr std::int64_t length(std::int64_t d) const { return leat::detail::diagonal_range{d, d}.longest(rows, columns); }
};

/// Item k: row k of all matrices, a copy of another one or filled, with the elements of the diagonals.
template <class T>
struct matrix_of_diagonals_kernel {
  static constexpr bool may_refuse = false;
  const T* matrices;  // null: `other` fills them
  const T* diagonals;
  T* out;
  diagonal_layout layout;
  std::int64_t all_rows;
  T other{};
  constexpr matrix_of_diagonals_kernel(const T* from, const T* its_diagonals, T* to, const diagonal_layout& its_layout, std::int64_t count,
                                       const T& filler)
      : matrices(from), diagonals(its_diagonals), out(to), layout(its_layout), all_rows(count), other(filler) {}
  std::int64_t items() const { return layout.columns == 0 ? 0 : all_rows; }
  std::int64_t work() const { return layout.columns; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t columns = layout.columns, matrix = k / layout.rows, row = k % layout.rows;
    T* const to = out + k * columns;
    for (std::int64_t j = 0; j < columns; ++j) to[j] = matrices != nullptr ? matrices[k * columns + j] : other;
    const std::int64_t lowest = layout.range.lower > -row ? layout.range.lower : -row;
    const std::int64_t uppermost = layout.range.upper < columns - 1 - row ? layout.range.upper : columns - 1 - row;
    for (std::int64_t d = lowest; d <= uppermost; ++d)
      to[row + d] = diagonals[matrix * layout.of_diagonals() + layout.begin(d) + (d < 0 ? row + d : row)];
  }
};
template <class T>
struct matrix_diag_kernel : matrix_of_diagonals_kernel<T> {
  using matrix_of_diagonals_kernel<T>::matrix_of_diagonals_kernel;
  matrix_diag_kernel(void* const* p, const step_numbers& n)
      : matrix_of_diagonals_kernel<T>(nullptr, static_cast<const T*>(p[0]), static_cast<T*>(p[1]), diagonal_layout::of_step(n, 1),
                                      n.product(1, 0, n.rank(1) - 1), T{}) {}
};
template <class T>
struct matrix_set_diag_kernel : matrix_of_diagonals_kernel<T> {
  using matrix_of_diagonals_kernel<T>::matrix_of_diagonals_kernel;
  matrix_set_diag_kernel(void* const* p, const step_numbers& n)
      : matrix_of_diagonals_kernel<T>(static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<T*>(p[2]),
                                      diagonal_layout::of_step(n, 0), n.product(0, 0, n.rank(0) - 1), T{}) {}
};

/// Item k: row k of all diagonals.
template <class T>
struct diagonals_of_matrix_kernel {
  static constexpr bool may_refuse = false;
  const T* matrices;
  T* out;
  diagonal_layout layout;
  std::int64_t all_rows;
  T other{};
  constexpr diagonals_of_matrix_kernel(const T* from, T* to, const diagonal_layout& its_layout, std::int64_t count, const T& filler)
      : matrices(from), out(to), layout(its_layout), all_rows(count), other(filler) {}
  diagonals_of_matrix_kernel(void* const* p, const step_numbers& n)
      : diagonals_of_matrix_kernel(static_cast<const T*>(p[0]), static_cast<T*>(p[1]), diagonal_layout::of_step(n, 0),
                                   n.product(1, 0, n.rank(1) - 1), T{}) {}
  std::int64_t items() const { return layout.width == 0 ? 0 : all_rows; }
  std::int64_t work() const { return layout.width; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t matrix = k / layout.range.count(), place = k % layout.range.count(), d = layout.range.upper - place;
    const T* const from = matrices + matrix * layout.rows * layout.columns + layout.begin_in_matrix(d);
    T* const to = out + matrix * layout.of_diagonals();
    for (std::int64_t j = 0; j < layout.width; ++j) to[place * layout.width + j] = other;
    for (std::int64_t i = 0; i < layout.length(d); ++i) to[layout.begin(d) + i] = from[i * (layout.columns + 1)];
  }
};

/// Item k: row k of all matrices, with zeros outside of the band.
template <class T>
struct band_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  std::int64_t rows, columns, all_rows, below, above;
  constexpr band_kernel(const T* from, T* to, std::int64_t its_rows, std::int64_t its_columns, std::int64_t count, std::int64_t lower,
                        std::int64_t upper)
      : in(from), out(to), rows(its_rows), columns(its_columns), all_rows(count), below(lower < 0 ? its_rows : lower),
        above(upper < 0 ? its_columns : upper) {}
  band_kernel(void* const* p, const step_numbers& n)
      : band_kernel(static_cast<const T*>(p[0]), static_cast<T*>(p[1]), n.size(0, n.rank(0) - 2), n.size(0, n.rank(0) - 1),
                    n.product(0, 0, n.rank(0) - 1), n.attribute(0), n.attribute(1)) {}
  std::int64_t items() const { return columns == 0 ? 0 : all_rows; }
  std::int64_t work() const { return columns; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t row = k % rows;
    const std::int64_t begin = row <= below ? 0 : row - below < columns ? row - below : columns;
    const std::int64_t end = above >= columns - row ? columns : row + above < begin ? begin : row + above + 1;
    const T* const from = in + k * columns;
    T* const to = out + k * columns;
    for (std::int64_t j = 0; j < begin; ++j) to[j] = T{};
    for (std::int64_t j = begin; j < end; ++j) to[j] = from[j];
    for (std::int64_t j = end; j < columns; ++j) to[j] = T{};
  }
};

template <template <class> class Kernel>
struct kernel_of_diagonals : kernel_without_indices<Kernel> {
  static constexpr bool only_moves = true;
};
template <>
struct kernel_of<matrix_diag_op> : kernel_of_diagonals<matrix_diag_kernel> {};
template <>
struct kernel_of<matrix_set_diag_op> : kernel_of_diagonals<matrix_set_diag_kernel> {};
template <>
struct kernel_of<matrix_diag_part_op> : kernel_of_diagonals<diagonals_of_matrix_kernel> {};
template <>
struct kernel_of<matrix_band_part_op> : kernel_of_diagonals<band_kernel> {};

}  // namespace leat::kernels
