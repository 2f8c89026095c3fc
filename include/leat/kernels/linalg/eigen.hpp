#pragma once
// Eigenvalues and eigenvectors of a symmetric matrix: reflections make it tridiagonal, rotations make that diagonal. Source: Golub and Van
// Loan, Matrix Computations, 8.3 (implicit steps with Wilkinson's shift).

#include <leat/kernels/linalg/lu.hpp>
#include <leat/kernels/linalg/reflection.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

/// The number of elements that `decompose_symmetric` needs at its `turned` and `scratch`.
constexpr std::int64_t eigen_scratch(std::int64_t n) { return n < 3 ? n - 1 : 3 * n - 3; }

namespace linalg_parts {

/// Makes the symmetric matrix tridiagonal: `diagonal` and, beside it, `beside`. Row k of `a` then has the vector of reflection k, whose
/// factor is factors[k].
template <class T>
constexpr void make_tridiagonal(T* a, std::int64_t n, T* diagonal, T* beside, T* factors, T* line) {
  for (std::int64_t k = 0; k + 2 < n; ++k) {
    T* const x = a + k * n;
    const T factor = make_reflection(x + k + 1, 1, n - k - 1);
    diagonal[k] = x[k];
    beside[k] = x[k + 1];
    factors[k] = factor;
    if (factor == T(0)) continue;
    x[k + 1] = T(1);
    T common = T(0);
    for (std::int64_t i = k + 1; i < n; ++i) {
      T sum = T(0);
      for (std::int64_t j = k + 1; j < n; ++j) sum += a[i * n + j] * x[j];
      line[i] = factor * sum;
      common += line[i] * x[i];
    }
    common *= factor / T(2);
    for (std::int64_t i = k + 1; i < n; ++i) line[i] -= common * x[i];
    for (std::int64_t i = k + 1; i < n; ++i)
      for (std::int64_t j = k + 1; j < n; ++j) a[i * n + j] -= x[i] * line[j] + line[i] * x[j];
  }
  if (n > 1) {
    diagonal[n - 2] = a[(n - 2) * n + n - 2];
    beside[n - 2] = a[(n - 2) * n + n - 1];
  }
  diagonal[n - 1] = a[(n - 1) * n + n - 1];
}

/// Writes the product of the reflections, transposed.
template <class T>
constexpr void multiply_reflections(const T* a, std::int64_t n, const T* factors, T* turned) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j < n; ++j) turned[i * n + j] = i == j ? T(1) : T(0);
  for (std::int64_t k = n - 3; k >= 0; --k) {
    const T* const v = a + k * n;
    if (factors[k] == T(0)) continue;
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const row = turned + i * n;
      T sum = T(0);
      for (std::int64_t j = k + 1; j < n; ++j) sum += row[j] * v[j];
      sum *= factors[k];
      for (std::int64_t j = k + 1; j < n; ++j) row[j] -= sum * v[j];
    }
  }
}

/// One implicit step on the rows and columns [begin, end] of a tridiagonal matrix; `turned` has rows of n elements, or is null.
template <class T>
constexpr void rotate_tridiagonal(T* diagonal, T* beside, std::int64_t begin, std::int64_t end, T* turned, std::int64_t n) {
  using math = scalar_math<T>;
  const T half = (diagonal[end - 1] - diagonal[end]) / T(2), last = beside[end - 1];
  const T root = math::sqrt(half * half + last * last);
  const T shift = diagonal[end] - last / (half + (half < T(0) ? -root : root)) * last;
  T x = diagonal[begin] - shift, z = beside[begin];
  for (std::int64_t k = begin; k < end; ++k) {
    const T r = math::sqrt(x * x + z * z);
    const T c = r == T(0) ? T(1) : x / r, s = r == T(0) ? T(0) : z / r;
    if (k > begin) beside[k - 1] = r;
    const T p = diagonal[k], q = diagonal[k + 1], e = beside[k];
    diagonal[k] = c * c * p + T(2) * c * s * e + s * s * q;
    diagonal[k + 1] = s * s * p - T(2) * c * s * e + c * c * q;
    beside[k] = c * s * (q - p) + (c * c - s * s) * e;
    if (k + 1 < end) {
      x = beside[k];
      z = s * beside[k + 1];
      beside[k + 1] *= c;
    }
    if (turned != nullptr) rotate_rows(turned + k * n, turned + (k + 1) * n, n, c, s);
  }
}

}  // namespace linalg_parts

/// Writes the eigenvalues, ascending, and the vectors, the columns of a matrix. Only the lower half of A is read. `turned` has n² elements,
/// or is null if no vectors are wanted; `scratch` has `eigen_scratch(n)`. `vectors` is used either way. The result is false, and all values
/// and vectors are NaN, if A has an element that is not finite.
template <class T, class N>
constexpr bool decompose_symmetric(const T* a, N n, T* values, T* vectors, T* turned, T* scratch) {
  if (n == 0) return true;
  using math = scalar_math<T>;
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = 0; j <= i; ++j) vectors[i * n + j] = vectors[j * n + i] = a[i * n + j];
  const T scale = largest_of(vectors, n * n);
  bool is_fine = is_finite_number(scale);
  if (is_fine) {
    T* const beside = scratch;
    T* const factors = beside + n - 1;
    T* const line = n < 3 ? factors : factors + n - 2;
    if (scale > T(0))
      for (std::int64_t i = 0; i < n * n; ++i) vectors[i] /= scale;
    linalg_parts::make_tridiagonal(vectors, n, values, beside, factors, line - (n < 3 ? 0 : 1));
    if (turned != nullptr) linalg_parts::multiply_reflections(vectors, n, factors, turned);
    std::int64_t steps = 40 * n;
    for (std::int64_t end = n - 1; end > 0 && steps > 0;) {
      const auto is_small = [&](std::int64_t k) {
        return math::abs(beside[k]) <= std::numeric_limits<T>::epsilon() / T(2) * (math::abs(values[k]) + math::abs(values[k + 1])) ||
               math::abs(beside[k]) <= least_with_square<T>;
      };
      if (is_small(end - 1)) {
        beside[end - 1] = T(0);
        --end;
        continue;
      }
      std::int64_t begin = end - 1;
      while (begin > 0 && !is_small(begin - 1)) --begin;
      linalg_parts::rotate_tridiagonal(values, beside, begin, end, turned, n);
      --steps;
    }
    is_fine = steps > 0;
  }
  if (!is_fine) {
    for (std::int64_t i = 0; i < n; ++i) values[i] = std::numeric_limits<T>::quiet_NaN();
    for (std::int64_t i = 0; i < n * n; ++i) vectors[i] = std::numeric_limits<T>::quiet_NaN();
    return false;
  }
  for (std::int64_t i = 0; i < n; ++i) {
    std::int64_t least = i;
    for (std::int64_t j = i + 1; j < n; ++j)
      if (values[j] < values[least]) least = j;
    const T kept = values[i];
    values[i] = values[least];
    values[least] = kept;
    if (turned != nullptr) exchange_rows(turned + i * n, turned + least * n, n);
  }
  for (std::int64_t i = 0; i < n; ++i) values[i] *= scale > T(0) ? scale : T(1);
  if (turned != nullptr)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) vectors[i * n + j] = turned[j * n + i];
  return true;
}

}  // namespace leat::kernels
