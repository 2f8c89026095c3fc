#pragma once
// The decomposition of a matrix with exchanged rows: P A = L U, where L is lower triangular with ones on its diagonal and U is upper
// triangular. Rows are exchanged so that each pivot is the largest element left in its column.

#include <leat/kernels/linalg/triangular.hpp>
#include <leat/kernels/math/scalar_math.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

using linear_systems::exchange_rows;

/// Writes L and U; see `linear_systems::decompose_lu`. `swap(k, p)` is called for each column k in order: rows k and p have been exchanged.
template <class T, class N, class Swap>
constexpr bool decompose_lu(const T* a, T* lu, N n, Swap swap) {
  return linear_systems::decompose_lu<scalar_math<T>>(a, lu, n,
                                                      [&](std::int64_t k, T other) { swap(k, static_cast<std::int64_t>(other)); });
}
/// Solves A x = b; see `linear_systems::solve_by_lu`.
template <class T, class N>
constexpr void solve_by_lu(const T* lu, const T* pivots, bool transposed, N n, T* b, std::int64_t columns) {
  linear_systems::solve_by_lu<scalar_math<T>>(lu, pivots, transposed, n, b, columns);
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
