#pragma once
// Least squares: the x for which |A x - b|² + r |x|² is least, for each column of b.

#include <leat/kernels/linalg/cholesky.hpp>
#include <leat/kernels/linalg/svd.hpp>
#include <leat/kernels/linalg/triangular.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// The sizes of a system: A is m × n, b has `columns` columns.
struct least_squares_sizes {
  std::int64_t m, n, columns;
  constexpr std::int64_t least() const { return m < n ? m : n; }
  constexpr svd_sizes svd() const { return {m, n, false, true}; }
  /// Elements of memory for either way of solving it.
  constexpr std::int64_t scratch() const {
    const auto s = svd();
    const std::int64_t by_values = s.begin_of_scratch() + s.scratch() + least() * columns;
    const std::int64_t by_products = 2 * least() * least() + least() * columns;
    return by_values > by_products ? by_values : by_products;
  }
};

/// By a Cholesky decomposition of AᵀA + r I or, if A has more columns than rows, of AAᵀ + r I. The result is false if that is singular, or
/// so nearly that a pivot may be nothing but a rounding error.
template <class T>
constexpr bool solve_by_products(const T* a, const T* b, T regularizer, const least_squares_sizes& sizes, T* x, T* scratch) {
  const std::int64_t m = sizes.m, n = sizes.n, columns = sizes.columns, least = sizes.least();
  const bool is_tall = m >= n;
  T *const products = scratch, *const l = products + least * least, *const solved = is_tall ? x : l + least * least;
  const matrix_view<T> rows(a, n, is_tall);  // of the shorter side
  const std::int64_t width = is_tall ? m : n;
  for (std::int64_t i = 0; i < least; ++i)
    for (std::int64_t j = 0; j <= i; ++j) {
      T sum = i == j ? regularizer : T(0);
      for (std::int64_t k = 0; k < width; ++k) sum += rows(i, k) * rows(j, k);
      products[i * least + j] = products[j * least + i] = sum;
    }
  if (!decompose_cholesky(products, l, least)) return false;
  const T rounding = std::numeric_limits<T>::epsilon() * static_cast<T>(least);
  for (std::int64_t i = 0; i < least; ++i) {
    const T pivot = l[i * least + i];
    if (pivot * pivot <= rounding * products[i * least + i]) return false;
  }
  for (std::int64_t i = 0; i < least; ++i)
    for (std::int64_t c = 0; c < columns; ++c) {
      T sum = is_tall ? T(0) : b[i * columns + c];
      for (std::int64_t k = 0; k < m && is_tall; ++k) sum += a[k * n + i] * b[k * columns + c];
      solved[i * columns + c] = sum;
    }
  solve_triangular<false>(matrix_view<T>(l, least, false), true, least, solved, columns);
  solve_triangular<false>(matrix_view<T>(l, least, true), false, least, solved, columns);
  for (std::int64_t i = 0; i < n && !is_tall; ++i)
    for (std::int64_t c = 0; c < columns; ++c) {
      T sum = T(0);
      for (std::int64_t k = 0; k < m; ++k) sum += a[k * n + i] * solved[k * columns + c];
      x[i * columns + c] = sum;
    }
  return true;
}

/// By singular values: the shortest x without a regularizer, also for matrices of lower rank.
template <class T>
constexpr void solve_by_singular_values(const T* a, const T* b, const least_squares_sizes& sizes, T* x, T* scratch) {
  const svd_sizes of = sizes.svd();
  const std::int64_t m = sizes.m, n = sizes.n, columns = sizes.columns, least = sizes.least();
  T *const s = scratch, *const u = s + of.begin_of_u(), *const v = s + of.begin_of_v(), *const rest = s + of.begin_of_scratch();
  T* const middle = rest + of.scratch();
  decompose_svd(a, of, s, u, v, rest);
  for (std::int64_t i = 0; i < least; ++i)
    for (std::int64_t c = 0; c < columns; ++c) {
      T sum = T(0);
      for (std::int64_t k = 0; k < m; ++k) sum += u[k * least + i] * b[k * columns + c];
      const bool counts = !(s[i] <= s[0] * static_cast<T>(of.most()) * std::numeric_limits<T>::epsilon());
      middle[i * columns + c] = counts ? sum / s[i] : T(0);
    }
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t c = 0; c < columns; ++c) {
      T sum = T(0);
      for (std::int64_t k = 0; k < least; ++k) sum += v[i * least + k] * middle[k * columns + c];
      x[i * columns + c] = sum;
    }
}

}  // namespace leat::kernels
