#pragma once
// The innermost part of a matrix product: a tile of C, of a few rows by a few batches, held in registers over the whole inner dimension.
// Each step multiplies a batch-wide piece of a row of B by one broadcast element of each row of A. The additions of different elements then
// overlap, and each element is summed in the order of the inner dimension.

#include <leat/cpu/batch.hpp>

#include <cstdint>
#include <type_traits>

namespace leat::cpu::detail {

/// Rows of a full tile: as many as fit the registers together with two batches of B. The remaining rows are computed in pairs.
inline constexpr int tile_rows = batch_bytes == 64 ? 8 : batch_bytes == 32 ? 6 : 4;

/// Batches in a row of a tile.
inline constexpr int tile_batches = 2;

/// Batches in a row of the widest tiles, which use nearly all of 32 registers. They load less for each multiplication, and there are fewer
/// of them to start and finish.
inline constexpr int widest_tile = batch_bytes == 64 ? 3 : tile_batches;

/// A tile that packs prefetches rows of B, which are far apart in memory, this many rows ahead.
inline constexpr std::int64_t rows_ahead = 16;

/// Columns of a tile.
template <class T>
inline constexpr int tile_columns = tile_batches* lanes<T>;

/// a b + c of integers (wrapping) or floating-point values.
template <class T>
[[gnu::always_inline]] inline batch<T> multiply_add(const batch<T>& a, const batch<T>& b, const batch<T>& c) {
  if constexpr (std::is_floating_point_v<T>) {
    return fused_multiply_add(a, b, c);
  } else {
    using bits = native<std::make_unsigned_t<T>>;
    return from_native<T>((native<T>)((bits)to_native(a) * (bits)to_native(b) + (bits)to_native(c)));
  }
}

/// Loads one batch, or only its first `count` lanes.
template <class T>
[[gnu::always_inline]] inline batch<T> load_some(const T* p, int count) {
  return count >= lanes<T> ? load(p) : load_partial(p, count);
}

/// Stores one batch, or only its first `count` lanes.
template <class T>
[[gnu::always_inline]] inline void store_some(T* p, const batch<T>& v, int count) {
  if (count >= lanes<T>) store(p, v);
  else store_partial(p, v, count);
}

/// a b, wrapping for integers.
template <class T>
constexpr T scalar_product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a * b;
  } else {
    using bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<bits>(a) * static_cast<bits>(b));
  }
}

/// C = A B + beta C for a tile of `rows` <= Rows by `columns` <= Batches * lanes. Element (i, p) of A is a[i * a_row + p * a_step]; row p
/// of B begins at b + p * b_step and is readable in all Batches * lanes columns. With beta == 0, C is not read. If `Packs`, the values read
/// of B are also stored at `packed`, row after row.
template <class T, int Rows, int Batches, bool Packs = false>
[[gnu::noinline]] void multiply_tile(std::int64_t inner, const T* a, std::int64_t a_row, std::int64_t a_step,
                                     const T* b, std::int64_t b_step, T beta, T* c, std::int64_t c_row, int rows,
                                     int columns, [[maybe_unused]] T* packed = nullptr) {
  // Rows past the last one repeat it, and are not stored.
  const T* row[Rows];
  batch<T> sum[Rows][Batches];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i) {
    row[i] = a + (i < rows ? i : rows - 1) * a_row;
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j) sum[i][j] = batch<T>(T(0));
  }
  // C is read at the end, so it is prefetched here.
  if (beta != T(0))
    for (int i = 0; i < rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) __builtin_prefetch(c + i * c_row + j * lanes<T>, 1);
  for (std::int64_t p = 0, offset = 0; p < inner; ++p, offset += a_step, b += b_step) {
    batch<T> piece[Batches];
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j) piece[j] = load(b + j * lanes<T>);
    if constexpr (Packs) {
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) {
        piece[j].store_aligned(packed + j * lanes<T>);
        __builtin_prefetch(b + rows_ahead * b_step + j * lanes<T>);
      }
      packed += Batches * lanes<T>;
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i) {
      const batch<T> element(row[i][offset]);
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) sum[i][j] = multiply_add(element, piece[j], sum[i][j]);
    }
  }
  if (rows == Rows && columns == Batches * lanes<T>) {
    if (beta != T(0)) {
      const batch<T> keep(beta);
#pragma GCC unroll 8
      for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
        for (int j = 0; j < Batches; ++j) sum[i][j] = multiply_add(keep, load(c + i * c_row + j * lanes<T>), sum[i][j]);
    }
#pragma GCC unroll 8
    for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
      for (int j = 0; j < Batches; ++j) store(c + i * c_row + j * lanes<T>, sum[i][j]);
    return;
  }
  // Columns past the edge of C go through a buffer.
  alignas(batch<T>) T buffer[Rows][Batches * lanes<T>];
#pragma GCC unroll 8
  for (int i = 0; i < Rows; ++i)
#pragma GCC unroll 4
    for (int j = 0; j < Batches; ++j) sum[i][j].store_aligned(buffer[i] + j * lanes<T>);
  const batch<T> keep(beta);
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; j += lanes<T>) {
      T* to = c + i * c_row + j;
      const batch<T> result = load(buffer[i] + j);
      const int count = columns - j;
      store_some(to, beta == T(0) ? result : multiply_add(keep, load_some(to, count), result), count);
    }
}

}  // namespace leat::cpu::detail
