#pragma once
// The decomposition A = Q R of an m × n matrix, where the columns of Q are orthonormal and R is upper triangular, by reflections.

#include <leat/kernels/linalg/reflection.hpp>
#include <leat/ops/decomposition_sizes.hpp>

#include <cstdint>

namespace leat::kernels {

/// Writes Q [m, between] and R [between, n]. The memory at `scratch` has `sizes.scratch()` elements.
template <class T>
constexpr void decompose_qr(const T* a, const qr_sizes& sizes, T* q, T* r, T* scratch) {
  const std::int64_t m = sizes.m, n = sizes.n, least = sizes.least(), between = sizes.between();
  T* const w = scratch;
  T* const factors = w + m * n;
  T* const line = factors + least;
  for (std::int64_t i = 0; i < m * n; ++i) w[i] = a[i];
  // Applies reflection j, whose vector lies in column j of w, to the columns from `from` on of a matrix of `width` columns.
  const auto reflect = [&](std::int64_t j, T* to, std::int64_t width, std::int64_t from) {
    if (factors[j] == T(0)) return;
    for (std::int64_t c = from; c < width; ++c) line[c] = to[j * width + c];
    for (std::int64_t i = j + 1; i < m; ++i)
      for (std::int64_t c = from; c < width; ++c) line[c] += w[i * n + j] * to[i * width + c];
    for (std::int64_t c = from; c < width; ++c) to[j * width + c] -= factors[j] * line[c];
    for (std::int64_t i = j + 1; i < m; ++i) {
      const T scaled = factors[j] * w[i * n + j];
      for (std::int64_t c = from; c < width; ++c) to[i * width + c] -= scaled * line[c];
    }
  };
  for (std::int64_t j = 0; j < least; ++j) {
    factors[j] = make_reflection(w + j * n + j, n, m - j);
    reflect(j, w, n, j + 1);
  }
  for (std::int64_t i = 0; i < between; ++i)
    for (std::int64_t c = 0; c < n; ++c) r[i * n + c] = c >= i ? w[i * n + c] : T(0);
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t c = 0; c < between; ++c) q[i * between + c] = i == c ? T(1) : T(0);
  for (std::int64_t j = least - 1; j >= 0; --j) reflect(j, q, between, j);
}

}  // namespace leat::kernels
