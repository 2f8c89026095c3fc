#pragma once
// The exponential of a matrix: a quotient of polynomials for the matrix divided by a power of 2, then squared as often. Source:
// Higham 2005, "The scaling and squaring method for the matrix exponential revisited".

#include <leat/kernels/linalg/lu.hpp>
#include <leat/kernels/linalg/reflection.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// c = a b, of square matrices in distinct memory.
template <class T, class N>
constexpr void multiply_square(const T* a, const T* b, T* c, N n) {
  for (std::int64_t i = 0; i < n; ++i) {
    T* const row = c + i * n;
    for (std::int64_t j = 0; j < n; ++j) row[j] = T(0);
    for (std::int64_t k = 0; k < n; ++k) {
      const T factor = a[i * n + k];
      for (std::int64_t j = 0; j < n; ++j) row[j] += factor * b[k * n + j];
    }
  }
}

/// The number of n × n matrices that `exponential` needs at `scratch`.
inline constexpr std::int64_t exponential_matrices = 7;

/// Writes e^A; NaN if A has an element that is not finite.
template <class T, class N>
constexpr bool exponential(const T* a, N n, T* out, T* scratch) {
  const std::int64_t all = n * n;
  T norm = T(0);  // the largest sum of a column
  for (std::int64_t j = 0; j < n; ++j) {
    T sum = T(0);
    for (std::int64_t i = 0; i < n; ++i) sum += scalar_math<T>::abs(a[i * n + j]);
    if (!(sum <= norm)) norm = sum;
  }
  if (!is_finite_number(norm) || !is_finite_number(largest_of(a, all))) {
    for (std::int64_t i = 0; i < all; ++i) out[i] = std::numeric_limits<T>::quiet_NaN();
    return true;
  }
  int squarings = 0;
  T scale = T(1);
  for (; norm * scale > T(5.371920351148152); scale /= T(2)) ++squarings;
  constexpr double b[]{64764752532480000,
                       32382376266240000,
                       7771770303897600,
                       1187353796428800,
                       129060195264000,
                       10559470521600,
                       670442572800,
                       33522128640,
                       1323241920,
                       40840800,
                       960960,
                       16380,
                       182,
                       1};
  // The coefficients divided by the first one, so that they fit float32.
  const auto coefficient = [&](int k) { return static_cast<T>(b[k] / b[0]); };
  T *const x = scratch, *const x2 = x + all, *const x4 = x2 + all, *const x6 = x4 + all, *const odd = x6 + all, *const even = odd + all,
           *const other = even + all;
  for (std::int64_t i = 0; i < all; ++i) x[i] = a[i] * scale;
  multiply_square(x, x, x2, n);
  multiply_square(x2, x2, x4, n);
  multiply_square(x4, x2, x6, n);
  // Sums of even powers: b[k + 12] x^12 + ... + b[k] I, into `to`.
  const auto polynomial = [&](int k, T* to) {
    for (std::int64_t i = 0; i < all; ++i)
      other[i] = coefficient(k + 12) * x6[i] + coefficient(k + 10) * x4[i] + coefficient(k + 8) * x2[i];
    multiply_square(x6, other, to, n);
    for (std::int64_t i = 0; i < all; ++i) to[i] += coefficient(k + 6) * x6[i] + coefficient(k + 4) * x4[i] + coefficient(k + 2) * x2[i];
    for (std::int64_t i = 0; i < n; ++i) to[i * n + i] += coefficient(k);
  };
  polynomial(1, even);
  multiply_square(x, even, odd, n);
  polynomial(0, even);
  for (std::int64_t i = 0; i < all; ++i) {
    out[i] = even[i] + odd[i];
    x[i] = even[i] - odd[i];
  }
  T* const lu = x2;
  T* const pivots = x4;
  decompose_lu(x, lu, n, [&](std::int64_t row, std::int64_t with) { pivots[row] = static_cast<T>(with); });
  solve_by_lu(lu, pivots, false, n, out, n);
  for (int k = 0; k < squarings; ++k) {
    for (std::int64_t i = 0; i < all; ++i) x[i] = out[i];
    multiply_square(x, x, out, n);
  }
  return true;
}

}  // namespace leat::kernels
