#pragma once
// Products of a matrix and a vector, and of two vectors. If the matrix is contiguous along the summed dimension, there is a dot product per
// row, four rows at a time, so that each piece of the vector is read once for four rows. Otherwise its rows are added up in registers. The
// summation order depends only on the shape.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/matmul/tile.hpp>

#include <cstdint>

namespace leat::cpu::detail {

/// alpha sum + beta y; with beta == 0, y is not read.
template <class T>
[[gnu::always_inline]] inline T update_value(T alpha, T sum, T beta, const T* y) {
  const T scaled = scalar_product(alpha, sum);
  if (beta == T(0)) return scaled;
  if constexpr (std::is_floating_point_v<T>) {
    return scaled + beta * *y;
  } else {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(scaled) + static_cast<bits>(scalar_product(beta, *y)));
  }
}

/// y[i * y_step] = alpha sum over p of a[i * lda + p] x[p] + beta y[i * y_step] for `Rows` rows.
template <class T, int Rows>
[[gnu::always_inline]] inline void dot_rows(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* x, T beta,
                                            T* y, std::int64_t y_step) {
  // A single row has four partial sums, so that its additions overlap.
  constexpr int parts = Rows == 1 ? 4 : 1;
  batch<T> sum[Rows * parts];
#pragma GCC unroll 4
  for (int i = 0; i < Rows * parts; ++i) sum[i] = batch<T>(T(0));
  std::int64_t p = 0;
  if constexpr (Rows == 1)
    for (; p + parts * lanes<T> <= k; p += parts * lanes<T>)
#pragma GCC unroll 4
      for (int i = 0; i < parts; ++i)
        sum[i] = multiply_add(load(a + p + i * lanes<T>), load(x + p + i * lanes<T>), sum[i]);
  for (; p + lanes<T> <= k; p += lanes<T>) {
    const batch<T> piece = load(x + p);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) sum[i] = multiply_add(load(a + i * lda + p), piece, sum[i]);
  }
  if (p < k) {
    const int left = static_cast<int>(k - p);
    const batch<T> piece = load_partial(x + p, left);
#pragma GCC unroll 4
    for (int i = 0; i < Rows; ++i) sum[i] = multiply_add(load_partial(a + i * lda + p, left), piece, sum[i]);
  }
  if constexpr (Rows == 1) {
    const batch<T> one(T(1));
    sum[0] = multiply_add(one, multiply_add(one, sum[0], sum[1]), multiply_add(one, sum[2], sum[3]));
  }
#pragma GCC unroll 4
  for (int i = 0; i < Rows; ++i) {
    T* to = y + i * y_step;
    *to = update_value(alpha, reduce_add(sum[i]), beta, to);
  }
}

/// The result of `dot_rows` for as many short rows as a batch has lanes, summed at once, to y[0, lanes).
template <class T>
[[gnu::always_inline]] inline void dot_short_rows(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* x,
                                                  T beta, T* y) {
  batch<T> sum[lanes<T>];
  const batch<T> zero(T(0));
  const batch<T> first = load_some(x, static_cast<int>(k));
#pragma GCC unroll 16
  for (int i = 0; i < lanes<T>; ++i) sum[i] = multiply_add(load_some(a + i * lda, static_cast<int>(k)), first, zero);
  const batch<T> result = multiply_add(batch<T>(alpha), reduce_add_each(sum), zero);
  store(y, beta == T(0) ? result : multiply_add(batch<T>(beta), load(y), result));
}

/// y = alpha A x + beta y, where A has m rows of k elements, along which it is summed.
template <class T>
void multiply_rows(std::int64_t m, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* x, T beta, T* y,
                   std::int64_t y_step) {
  std::int64_t i = 0;
  if (k <= lanes<T> && y_step == 1)
    for (; i + lanes<T> <= m; i += lanes<T>) dot_short_rows(k, alpha, a + i * lda, lda, x, beta, y + i);
  for (; i + 4 <= m; i += 4) dot_rows<T, 4>(k, alpha, a + i * lda, lda, x, beta, y + i * y_step, y_step);
  for (; i < m; ++i) dot_rows<T, 1>(k, alpha, a + i * lda, lda, x, beta, y + i * y_step, y_step);
}

/// y[j] = alpha sum over p of x[p * x_step] a[p * lda + j] + beta y[j] for Batches * lanes columns or, with Batches == 1, for the first
/// `columns` of one batch.
template <class T, int Batches>
[[gnu::always_inline]] inline void add_rows(std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* x,
                                            std::int64_t x_step, T beta, T* y, int columns) {
  // A single batch of columns has four partial sums, so that its additions overlap.
  constexpr int parts = Batches == 1 ? 4 : 1;
  batch<T> sum[Batches * parts];
#pragma GCC unroll 4
  for (int j = 0; j < Batches * parts; ++j) sum[j] = batch<T>(T(0));
  std::int64_t p = 0;
  for (; p + parts <= k; p += parts, a += parts * lda, x += parts * x_step)
#pragma GCC unroll 4
    for (int j = 0; j < Batches * parts; ++j) {
      if constexpr (Batches == 1)
        sum[j] = multiply_add(batch<T>(x[j * x_step]), load_some(a + j * lda, columns), sum[j]);
      else sum[j] = multiply_add(batch<T>(*x), load(a + j * lanes<T>), sum[j]);
    }
  if constexpr (Batches == 1) {
    for (; p < k; ++p, a += lda, x += x_step) sum[0] = multiply_add(batch<T>(*x), load_some(a, columns), sum[0]);
    const batch<T> one(T(1));
    sum[0] = multiply_add(one, multiply_add(one, sum[0], sum[1]), multiply_add(one, sum[2], sum[3]));
  }
  const batch<T> scale(alpha);
  const batch<T> zero(T(0));
#pragma GCC unroll 4
  for (int j = 0; j < Batches; ++j) {
    T* to = y + j * lanes<T>;
    batch<T> result = multiply_add(scale, sum[j], zero);
    if (beta != T(0)) result = multiply_add(batch<T>(beta), load_some(to, columns), result);
    store_some(to, result, columns);
  }
}

/// y = alpha transpose(A) x + beta y, where A has k rows of n elements, across which it is summed.
template <class T>
void multiply_columns(std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t lda, const T* x,
                      std::int64_t x_step, T beta, T* y) {
  std::int64_t j = 0;
  for (; j + 4 * lanes<T> <= n; j += 4 * lanes<T>)
    add_rows<T, 4>(k, alpha, a + j, lda, x, x_step, beta, y + j, lanes<T>);
  for (; j < n; j += lanes<T>)
    add_rows<T, 1>(k, alpha, a + j, lda, x, x_step, beta, y + j,
                   n - j >= lanes<T> ? lanes<T> : static_cast<int>(n - j));
}

/// y[i * y_step] = alpha sum over p of a[i * a_row + p * a_step] x[p * x_step] + beta y[i * y_step], for all other layouts.
template <class T>
void multiply_strided(std::int64_t m, std::int64_t k, T alpha, const T* a, std::int64_t a_row, std::int64_t a_step,
                      const T* x, std::int64_t x_step, T beta, T* y, std::int64_t y_step) {
  for (std::int64_t i = 0; i < m; ++i) {
    T sum(0);
    for (std::int64_t p = 0; p < k; ++p) {
      const T* element = a + i * a_row + p * a_step;
      sum = update_value(*element, x[p * x_step], T(1), &sum);
    }
    y[i * y_step] = update_value(alpha, sum, beta, y + i * y_step);
  }
}

/// C = alpha a b + beta C, where a is a column and b a row.
template <class T>
void multiply_outer(std::int64_t m, std::int64_t n, T alpha, const T* a, std::int64_t a_step, const T* b, T beta, T* c,
                    std::int64_t ldc) {
  const batch<T> keep(beta);
  const batch<T> zero(T(0));
  for (std::int64_t i = 0; i < m; ++i, a += a_step, c += ldc) {
    const batch<T> element(scalar_product(alpha, *a));
    for (std::int64_t j = 0; j < n; j += lanes<T>) {
      const int count = n - j >= lanes<T> ? lanes<T> : static_cast<int>(n - j);
      const batch<T> old = beta == T(0) ? zero : multiply_add(keep, load_some(c + j, count), zero);
      const batch<T> result = multiply_add(element, load_some(b + j, count), old);
      store_some(c + j, result, count);
    }
  }
}

}  // namespace leat::cpu::detail
