#pragma once
// Matrix products: C = alpha op(A) op(B) + beta C, row-major, with op the identity or the transposition.
// Model: products of a few elements (tiny.hpp), and those with vectors, which are limited by memory, have separate kernels. Other products
// use the kernel of blocked.hpp or, from 2^26 multiplications on, oneDNN if it is linked. On a Zen 4 core with 512-bit batches, in 1e9
// operations per second, ours / oneDNN 2.6 / OpenBLAS 0.3.21 with its best kernels (peak 118): 64x256x784 113 / 113 / 97, its gradient
// 784x256x64 108 / 111 / 103, 64x10x128 66 / 47 / 69, 16x16x16 78 / 22 / 79, 512^3 111 / 114 / 106, 2048^3 96 / 112 / 105. Builds with
// 128-bit batches use oneDNN, or a BLAS, from 2^14 multiplications on; other builds use no BLAS, since OpenBLAS falls back to kernels of
// 2004 on processors newer than itself.
// Products are cut into blocks of C for parallel_for. Those of a library are cut by their shape alone; our own are cut into equal shares
// for the threads, since each element is summed in one order whatever block it is in. Results are therefore the same for any number of
// threads.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/matmul/blocked.hpp>
#include <leat/cpu/matmul/library.hpp>
#include <leat/cpu/matmul/tiny.hpp>
#include <leat/cpu/matmul/vector.hpp>
#include <leat/cpu/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace leat::cpu {

namespace detail {

/// From this number of multiplications on, a linked library is faster.
inline constexpr std::int64_t library_threshold = batch_bytes < 32 ? 1 << 14 : 1 << 26;

/// The number of multiplications in one block of work for parallel_for. A block of our own kernel takes at least some microseconds of one
/// core, to be worth a thread, and at most about a hundred, so that a thread that starts late simply takes fewer blocks. A library's
/// summation order may change with the shape of the block, so even one thread computes the same blocks.
inline constexpr std::int64_t least_multiplications_per_chunk = 1 << 19;
inline constexpr std::int64_t most_multiplications_per_chunk = 1 << 23;
inline constexpr std::int64_t library_multiplications_per_chunk = batch_bytes < 32 ? 1 << 21 : 1 << 26;

/// Whether a linked library multiplies matrices of T.
template <class T>
constexpr bool has_library() {
#if defined(LEAT_USE_ONEDNN)
  if (std::is_same_v<T, float>) return true;
#endif
#if defined(LEAT_USE_BLAS)
  if (std::is_floating_point_v<T> && batch_bytes < 32) return true;
#endif
  return false;
}

template <class T>
void multiply_block(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                    const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc,
                    bool with_library) {
#if defined(LEAT_USE_ONEDNN)
  if constexpr (std::is_same_v<T, float>)
    if (with_library) return matmul_onednn(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
#if defined(LEAT_USE_BLAS)
  if constexpr (std::is_floating_point_v<T> && batch_bytes < 32)
    if (with_library) return matmul_blas(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
#endif
  static_cast<void>(with_library);
  matmul_blocked(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

/// C = beta C.
template <class T>
void scale_matrix(std::int64_t m, std::int64_t n, T beta, T* c, std::int64_t ldc) {
  for (std::int64_t i = 0; i < m; ++i)
    for (std::int64_t j = 0; j < n; ++j) {
      T& value = c[i * ldc + j];
      value = beta == T(0) ? T(0) : scalar_product(beta, value);
    }
}

/// A single column: C = alpha op(A) b + beta C.
template <class T>
void multiply_column(bool transpose_a, std::int64_t m, std::int64_t k, T alpha, const T* a, std::int64_t lda,
                     const T* b, std::int64_t b_step, T beta, T* c, std::int64_t c_step) {
  if (!transpose_a && (b_step == 1 || k == 1)) return multiply_rows(m, k, alpha, a, lda, b, beta, c, c_step);
  if (transpose_a && (c_step == 1 || m == 1)) return multiply_columns(m, k, alpha, a, lda, b, b_step, beta, c);
  multiply_strided(m, k, alpha, a, transpose_a ? 1 : lda, transpose_a ? lda : 1, b, b_step, beta, c, c_step);
}

/// A single row: C = alpha a op(B) + beta C.
template <class T>
void multiply_row(bool transpose_b, std::int64_t n, std::int64_t k, T alpha, const T* a, std::int64_t a_step,
                  const T* b, std::int64_t ldb, T beta, T* c) {
  if (!transpose_b) return multiply_columns(n, k, alpha, b, ldb, a, a_step, beta, c);
  if (a_step == 1 || k == 1) return multiply_rows(n, k, alpha, b, ldb, a, beta, c, std::int64_t(1));
  multiply_strided(n, k, alpha, b, ldb, std::int64_t(1), a, a_step, beta, c, std::int64_t(1));
}

/// A division of columns or rows into parts: their number, and their size, a multiple of `step`.
struct division {
  std::int64_t parts = 1;
  std::int64_t size = 0;
};

inline division divide_evenly(std::int64_t whole, std::int64_t parts, std::int64_t step) {
  const std::int64_t size = ((whole + parts - 1) / parts + step - 1) / step * step;
  return {(whole + size - 1) / size, size};
}

/// A division of C into blocks.
struct blocks_of_c {
  division rows;
  division columns;
};

/// Divides C into about `parts` blocks for our own kernel. They may depend on the number of threads, because no sum depends on a block's
/// shape. The largest block is as small as possible, and then as square as possible, so that it reads the least of A and B.
template <class T>
blocks_of_c even_blocks(std::int64_t m, std::int64_t n, std::int64_t parts) {
  blocks_of_c best{{1, m}, {1, n}};
  for (std::int64_t p = 1; p <= parts; ++p) {
    if (parts % p != 0) continue;
    const blocks_of_c next{divide_evenly(m, p, tile_rows), divide_evenly(n, parts / p, tile_columns<T>)};
    const auto area = [](const blocks_of_c& b) { return b.rows.size * b.columns.size; };
    const auto edges = [](const blocks_of_c& b) { return b.rows.size + b.columns.size; };
    if (area(next) < area(best) || (area(next) == area(best) && edges(next) < edges(best))) best = next;
  }
  return best;
}

/// Divides C into about `parts` blocks for a library, by the shape alone. Blocks are as square as possible, but have more columns than
/// rows, which costs the library nothing.
template <class T>
blocks_of_c library_blocks(std::int64_t m, std::int64_t n, std::int64_t parts) {
  constexpr std::int64_t column_step = 2 * tile_columns<T>;
  constexpr std::int64_t row_step = 2 * tile_rows;
  blocks_of_c b{{1, m}, {1, n}};
  while (b.rows.parts * b.columns.parts < parts) {
    const blocks_of_c before = b;
    if (b.columns.size >= 4 * b.rows.size && b.columns.size > column_step)
      b.columns = divide_evenly(n, 2 * b.columns.parts, column_step);
    else if (b.rows.size > row_step)
      b.rows = divide_evenly(m, 2 * b.rows.parts, row_step);
    else
      break;
    if (b.rows.parts == before.rows.parts && b.columns.parts == before.columns.parts) break;
  }
  return b;
}

template <class T>
void multiply_general(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                      const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  const std::int64_t work = m * n * k;
  const bool with_library = has_library<T>() && work >= library_threshold;
  std::int64_t parts = 1;
  if (with_library) {
    parts = has_threads ? work / library_multiplications_per_chunk : 1;
  } else if (has_threads && work >= 2 * least_multiplications_per_chunk) {
    const std::int64_t threads = std::min<std::int64_t>(thread_count(), work / least_multiplications_per_chunk);
    if (threads > 1) parts = threads * (work / (threads * most_multiplications_per_chunk) + 1);
  }
  if (parts < 2)
    return multiply_block(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, with_library);
  const blocks_of_c blocks = with_library ? library_blocks<T>(m, n, parts) : even_blocks<T>(m, n, parts);
  const division rows = blocks.rows;
  const division columns = blocks.columns;
  parallel_for(rows.parts * columns.parts, [=](std::int64_t chunk) {
    const std::int64_t row = chunk / columns.parts * rows.size;
    const std::int64_t column = chunk % columns.parts * columns.size;
    multiply_block(transpose_a, transpose_b, std::min(rows.size, m - row), std::min(columns.size, n - column), k, alpha,
                   a + (transpose_a ? row : row * lda), lda, b + (transpose_b ? column * ldb : column), ldb, beta,
                   c + row * ldc + column, ldc, with_library);
  });
}

#if defined(LEAT_SEPARATE_COMPILATION)
// These are compiled once for a program, in impl/matmul.hpp, because they would otherwise be most of the code that each source of a small
// model compiles.
#define LEAT_PRODUCTS(BEFORE, T)                                                                                                          \
  BEFORE template void multiply_tiny(bool, bool, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,           \
                                     std::int64_t, T, T*, std::int64_t);                                                                  \
  BEFORE template void multiply_rows(std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, T, T*, std::int64_t);               \
  BEFORE template void multiply_columns(std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, std::int64_t, T, T*);            \
  BEFORE template void multiply_strided(std::int64_t, std::int64_t, T, const T*, std::int64_t, std::int64_t, const T*, std::int64_t, T,   \
                                        T*, std::int64_t);                                                                                \
  BEFORE template void multiply_outer(std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*, T, T*, std::int64_t);              \
  BEFORE template void multiply_general(bool, bool, std::int64_t, std::int64_t, std::int64_t, T, const T*, std::int64_t, const T*,        \
                                        std::int64_t, T, T*, std::int64_t)
LEAT_PRODUCTS(extern, float);
LEAT_PRODUCTS(extern, double);
#if !defined(LEAT_SEPARATE_SOURCE)
#undef LEAT_PRODUCTS
#endif
#endif

}  // namespace detail

/// C = alpha op(A) op(B) + beta C for row-major matrices. Shapes: op(A) [m, k], op(B) [k, n], C [m, n]; lda, ldb and ldc are the row
/// strides. With beta == 0, C is not read. C must not overlap A or B. Sizes known at compile time may be given as M, N and K (-1: unknown),
/// so that only the kernels for such shapes are compiled. Dtypes: float, double, int32_t, int64_t (integers wrap).
template <class T, std::int64_t M = -1, std::int64_t N = -1, std::int64_t K = -1>
void matmul(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
            std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  if constexpr (M >= 0) m = M;
  if constexpr (N >= 0) n = N;
  if constexpr (K >= 0) k = K;
  if (m == 0 || n == 0) return;
  if (k == 0) return detail::scale_matrix(m, n, beta, c, ldc);
  if (detail::is_tiny_product(m, n, k))
    return detail::multiply_tiny(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  if constexpr (N == 1) {
    detail::multiply_column(transpose_a, m, k, alpha, a, lda, b, transpose_b ? 1 : ldb, beta, c, ldc);
  } else if constexpr (M == 1) {
    detail::multiply_row(transpose_b, n, k, alpha, a, transpose_a ? lda : 1, b, ldb, beta, c);
  } else {
    if (N == -1 && n == 1)
      return detail::multiply_column(transpose_a, m, k, alpha, a, lda, b, transpose_b ? 1 : ldb, beta, c, ldc);
    if (M == -1 && m == 1)
      return detail::multiply_row(transpose_b, n, k, alpha, a, transpose_a ? lda : 1, b, ldb, beta, c);
    if constexpr (K == -1 || K == 1)
      if (k == 1 && (!transpose_b || ldb == 1))
        return detail::multiply_outer(m, n, alpha, a, transpose_a ? std::int64_t(1) : lda, b, beta, c, ldc);
    detail::multiply_general(transpose_a, transpose_b, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
}

}  // namespace leat::cpu
