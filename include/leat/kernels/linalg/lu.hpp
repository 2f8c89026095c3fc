#pragma once
// The decomposition of a matrix with exchanged rows: P A = L U, where L is lower triangular with ones on its diagonal and U is upper
// triangular. Rows are exchanged so that each pivot is the largest element left in its column.

#include <leat/kernels/linalg/triangular.hpp>
#include <leat/kernels/math/scalar_math.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// Writes L below the diagonal of `lu`, and U on it and above. `swap(k, p)` is called for each column k in order: rows k and p have been
/// exchanged. Returns whether no pivot is zero or NaN.
template <class T, class N, class Swap>
constexpr bool decompose_lu(const T* a, T* lu, N n, Swap swap) {
  for (std::int64_t i = 0; i < n * n; ++i) lu[i] = a[i];
  bool is_regular = true;
  for (std::int64_t k = 0; k < n; ++k) {
    std::int64_t best = k;
    for (std::int64_t i = k + 1; i < n; ++i)
      if (scalar_math<T>::abs(lu[i * n + k]) > scalar_math<T>::abs(lu[best * n + k])) best = i;
    swap(k, best);
    if (best != k)
      for (std::int64_t j = 0; j < n; ++j) {
        const T kept = lu[k * n + j];
        lu[k * n + j] = lu[best * n + j];
        lu[best * n + j] = kept;
      }
    const T* const pivot_row = lu + k * n;
    const T pivot = pivot_row[k];
    is_regular = is_regular && scalar_math<T>::abs(pivot) > T(0);
    if (pivot == T(0)) continue;  // the column has zeros alone
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const row = lu + i * n;
      const T factor = row[k] / pivot;
      row[k] = factor;
      for (std::int64_t j = k + 1; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  return is_regular;
}

template <class T>
constexpr void exchange_rows(T* a, T* b, std::int64_t width) {
  if (a == b) return;
  for (std::int64_t j = 0; j < width; ++j) {
    const T kept = a[j];
    a[j] = b[j];
    b[j] = kept;
  }
}

/// Solves A x = b, or Aᵀ x = b, in the place of b, which has `columns` columns. `pivots[k]` is the row that was exchanged with row k.
template <class T, class N>
constexpr void solve_by_lu(const T* lu, const T* pivots, bool transposed, N n, T* b, std::int64_t columns) {
  const matrix_view<T> a(lu, n, transposed);
  const auto exchange = [&](std::int64_t k) {
    exchange_rows(b + k * columns, b + static_cast<std::int64_t>(pivots[k]) * columns, columns);
  };
  if (!transposed) {
    for (std::int64_t k = 0; k < n; ++k) exchange(k);
    solve_triangular<true>(a, true, n, b, columns);
    solve_triangular<false>(a, false, n, b, columns);
  } else {
    solve_triangular<false>(a, true, n, b, columns);
    solve_triangular<true>(a, false, n, b, columns);
    for (std::int64_t k = n - 1; k >= 0; --k) exchange(k);
  }
}

/// A determinant as a sign, which is 0 for a singular matrix, and the logarithm of its absolute value.
template <class T>
struct signed_logarithm {
  T sign, logarithm;
};
template <class T>
constexpr T sign_of_exchanges(const T* pivots, std::int64_t n) {
  T sign = T(1);
  for (std::int64_t k = 0; k < n; ++k)
    if (static_cast<std::int64_t>(pivots[k]) != k) sign = -sign;
  return sign;
}
template <class T>
constexpr signed_logarithm<T> logarithm_of_determinant(const T* lu, const T* pivots, std::int64_t n) {
  signed_logarithm<T> found{sign_of_exchanges(pivots, n), T(0)};
  for (std::int64_t k = 0; k < n; ++k) {
    const T pivot = lu[k * n + k];
    found.sign *= scalar_math<T>::sign(pivot);
    found.logarithm += scalar_math<T>::log(scalar_math<T>::abs(pivot));
  }
  return found;
}
/// The determinant: the product of the pivots or, where that product leaves the range of numbers on the way, what the logarithm says.
template <class T>
constexpr T determinant_by_lu(const T* lu, const T* pivots, std::int64_t n) {
  T product = sign_of_exchanges(pivots, n);
  bool has_zero = false;
  for (std::int64_t k = 0; k < n; ++k) {
    product *= lu[k * n + k];
    has_zero = has_zero || lu[k * n + k] == T(0);
  }
  if (has_zero || (product != T(0) && scalar_math<T>::abs(product) <= std::numeric_limits<T>::max())) return product;
  const auto all = logarithm_of_determinant(lu, pivots, n);
  return all.sign * scalar_math<T>::exp(all.logarithm);
}

}  // namespace leat::kernels
