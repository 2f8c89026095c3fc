#pragma once
// Reflections that clear all elements of a vector but the first: H = I - f v vᵀ with v[0] = 1. Source: Golub and Van Loan, Matrix
// Computations, 5.1; the sign is that of LAPACK and Eigen.

#include <leat/kernels/math/scalar_math.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// Makes the reflection of the `count` elements x[0], x[step], ...: x[0] becomes the first element of H x, the others those of v. The
/// result is f, which is 0 if there is nothing to clear.
template <class T>
constexpr T make_reflection(T* x, std::int64_t step, std::int64_t count) {
  T rest = T(0);
  for (std::int64_t i = 1; i < count; ++i) rest += x[i * step] * x[i * step];
  const T first = x[0];
  if (rest <= std::numeric_limits<T>::min()) {
    for (std::int64_t i = 1; i < count; ++i) x[i * step] = T(0);
    return T(0);
  }
  const T length = scalar_math<T>::sqrt(first * first + rest);
  const T kept = first >= T(0) ? -length : length;
  for (std::int64_t i = 1; i < count; ++i) x[i * step] /= first - kept;
  x[0] = kept;
  return (kept - first) / kept;
}

/// The largest absolute value of elements, NaN or infinite if one of them is.
template <class T>
constexpr T largest_of(const T* x, std::int64_t count) {
  T most = T(0);
  for (std::int64_t i = 0; i < count; ++i) {
    const T size = scalar_math<T>::abs(x[i]);
    if (!(size <= most)) most = size;
    if (size != size) return size;
  }
  return most;
}
/// The size below which squares leave the range of numbers; among elements of size 1, what is smaller counts as zero.
template <class T>
inline constexpr T least_with_square = sizeof(T) == 8 ? T(1.5e-154) : T(1.1e-19);

template <class T>
constexpr bool is_finite_number(T x) {
  return scalar_math<T>::abs(x) <= std::numeric_limits<T>::max();
}

/// Replaces two rows x and y by c x + s y and c y - s x.
template <class T>
constexpr void rotate_rows(T* x, T* y, std::int64_t width, T c, T s) {
  for (std::int64_t j = 0; j < width; ++j) {
    const T kept = x[j];
    x[j] = c * kept + s * y[j];
    y[j] = c * y[j] - s * kept;
  }
}

}  // namespace leat::kernels
