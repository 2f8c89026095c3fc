#pragma once
// The singular value decomposition A = U diag(s) Vᵀ of an m × n matrix, by rotations that make its columns, or its rows, orthogonal to each
// other. Source: Golub and Van Loan, Matrix Computations, 8.6 (one-sided Jacobi).

#include <leat/kernels/linalg/lu.hpp>
#include <leat/kernels/linalg/reflection.hpp>
#include <leat/ops/decomposition_sizes.hpp>

#include <cstdint>
#include <limits>

namespace leat::kernels {

namespace linalg_parts {

/// Rotates the rows of w, of `width` elements, until they are orthogonal, and those of `turns` with them unless it is null.
template <class T>
constexpr void make_orthogonal(T* w, std::int64_t rows, std::int64_t width, T* turns) {
  using math = scalar_math<T>;
  constexpr T smallest = std::numeric_limits<T>::min();
  bool has_turned = true;
  for (int sweep = 0; sweep < 60 && has_turned; ++sweep) {
    has_turned = false;
    for (std::int64_t i = 0; i + 1 < rows; ++i)
      for (std::int64_t j = i + 1; j < rows; ++j) {
        T *const x = w + i * width, *const y = w + j * width;
        T a = T(0), b = T(0), both = T(0);
        for (std::int64_t k = 0; k < width; ++k) {
          a += x[k] * x[k];
          b += y[k] * y[k];
          both += x[k] * y[k];
        }
        const T limit = std::numeric_limits<T>::epsilon() * math::sqrt(a) * math::sqrt(b);
        if (math::abs(both) <= limit || math::abs(both) <= smallest) continue;
        has_turned = true;
        const T ratio = (b - a) / (T(2) * both);
        const T tangent = (ratio < T(0) ? T(-1) : T(1)) / (math::abs(ratio) + math::sqrt(T(1) + ratio * ratio));
        const T c = T(1) / math::sqrt(T(1) + tangent * tangent), s = c * tangent;
        rotate_rows(x, y, width, c, -s);
        if (turns != nullptr) rotate_rows(turns + i * rows, turns + j * rows, rows, c, -s);
      }
  }
}

/// Makes rows [known, wanted) of w orthonormal to each other and to those before them, which are orthonormal.
template <class T>
constexpr void complete_rows(T* w, std::int64_t known, std::int64_t wanted, std::int64_t width) {
  for (std::int64_t r = known; r < wanted; ++r) {
    // Begins with the unit vector of which the rows before have the least.
    std::int64_t best = 0;
    T least = std::numeric_limits<T>::max();
    for (std::int64_t k = 0; k < width; ++k) {
      T covered = T(0);
      for (std::int64_t i = 0; i < r; ++i) covered += w[i * width + k] * w[i * width + k];
      if (covered < least) {
        least = covered;
        best = k;
      }
    }
    T* const row = w + r * width;
    for (std::int64_t k = 0; k < width; ++k) row[k] = k == best ? T(1) : T(0);
    for (int pass = 0; pass < 2; ++pass)
      for (std::int64_t i = 0; i < r; ++i) {
        T common = T(0);
        for (std::int64_t k = 0; k < width; ++k) common += row[k] * w[i * width + k];
        for (std::int64_t k = 0; k < width; ++k) row[k] -= common * w[i * width + k];
      }
    T length = T(0);
    for (std::int64_t k = 0; k < width; ++k) length += row[k] * row[k];
    length = scalar_math<T>::sqrt(length);
    for (std::int64_t k = 0; k < width; ++k) row[k] /= length;
  }
}

template <class T>
constexpr void transpose_to(const T* rows, std::int64_t count, std::int64_t width, T* columns) {
  for (std::int64_t i = 0; i < width; ++i)
    for (std::int64_t j = 0; j < count; ++j) columns[i * count + j] = rows[j * width + i];
}

}  // namespace linalg_parts

/// Writes the singular values, descending, and U [m, columns_of_u] and V [n, columns_of_v]. If A has an element that is not finite, all
/// results are NaN. The memory at `scratch` has `sizes.scratch()` elements.
template <class T>
constexpr bool decompose_svd(const T* a, const svd_sizes& sizes, T* s, T* u, T* v, T* scratch) {
  const std::int64_t m = sizes.m, n = sizes.n, least = sizes.least(), most = sizes.most(), rows = sizes.long_vectors();
  const bool is_tall = m >= n;
  T* const w = scratch;
  T* const turns = sizes.has_vectors ? w + rows * most : nullptr;
  T* const of_long = is_tall ? u : v;
  T* const of_short = is_tall ? v : u;
  const T scale = largest_of(a, m * n);
  if (!is_finite_number(scale)) {
    constexpr T nan = std::numeric_limits<T>::quiet_NaN();
    for (std::int64_t i = 0; i < least; ++i) s[i] = nan;
    if (sizes.has_vectors) {
      for (std::int64_t i = 0; i < m * sizes.columns_of_u(); ++i) u[i] = nan;
      for (std::int64_t i = 0; i < n * sizes.columns_of_v(); ++i) v[i] = nan;
    }
    return true;
  }
  const T unit = scale > T(0) ? scale : T(1);
  for (std::int64_t i = 0; i < least; ++i)
    for (std::int64_t j = 0; j < most; ++j) w[i * most + j] = (is_tall ? a[j * n + i] : a[i * n + j]) / unit;
  if (turns != nullptr)
    for (std::int64_t i = 0; i < least; ++i)
      for (std::int64_t j = 0; j < least; ++j) turns[i * least + j] = i == j ? T(1) : T(0);
  linalg_parts::make_orthogonal(w, least, most, turns);
  for (std::int64_t i = 0; i < least; ++i) {
    T length = T(0);
    for (std::int64_t k = 0; k < most; ++k) length += w[i * most + k] * w[i * most + k];
    s[i] = scalar_math<T>::sqrt(length);
  }
  std::int64_t known = 0;  // rows of w that have a direction
  for (std::int64_t i = 0; i < least; ++i) {
    std::int64_t best = i;
    for (std::int64_t j = i + 1; j < least; ++j)
      if (s[j] > s[best]) best = j;
    const T kept = s[i];
    s[i] = s[best];
    s[best] = kept;
    exchange_rows(w + i * most, w + best * most, most);
    if (turns != nullptr) exchange_rows(turns + i * least, turns + best * least, least);
    if (s[i] > least_with_square<T> / std::numeric_limits<T>::epsilon()) {
      for (std::int64_t k = 0; k < most; ++k) w[i * most + k] /= s[i];
      known = i + 1;
    }
    s[i] *= unit;
  }
  if (!sizes.has_vectors) return true;
  linalg_parts::complete_rows(w, known, rows, most);
  linalg_parts::transpose_to(w, rows, most, of_long);
  linalg_parts::transpose_to(turns, least, least, of_short);
  return true;
}

}  // namespace leat::kernels
