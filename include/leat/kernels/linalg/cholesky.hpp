#pragma once
// The Cholesky decomposition of a symmetric matrix: A = L Lᵀ with a lower triangular L.

#include <leat/kernels/math/scalar_math.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// Writes L, with zeros above its diagonal. Only the lower half of A is read. If A is not positive definite, L is NaN on and below its
/// diagonal, and the result is false. NaN in A is no failure: L then has NaN, too. Rows of Lᵀ are subtracted from later rows as a whole,
/// which compilers vectorize; L is transposed at the end.
template <class T, class N>
constexpr bool decompose_cholesky(const T* a, T* l, N n) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) l[i * n + j] = a[j * n + i];
  bool is_positive = true;
  for (std::int64_t k = 0; k < n && is_positive; ++k) {
    T* const pivot_row = l + k * n;
    is_positive = !(pivot_row[k] <= T(0));
    const T pivot = scalar_math<T>::sqrt(pivot_row[k]);
    pivot_row[k] = pivot;
    for (std::int64_t j = k + 1; j < n; ++j) pivot_row[j] /= pivot;
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const row = l + i * n;
      const T factor = pivot_row[i];
      for (std::int64_t j = i; j < n; ++j) row[j] -= factor * pivot_row[j];
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    if (!is_positive) l[i * n + i] = std::numeric_limits<T>::quiet_NaN();
    for (std::int64_t j = i + 1; j < n; ++j) {
      l[j * n + i] = is_positive ? l[i * n + j] : std::numeric_limits<T>::quiet_NaN();
      l[i * n + j] = T(0);
    }
  }
  return is_positive;
}

}  // namespace leat::kernels
