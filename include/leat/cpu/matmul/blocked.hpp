#pragma once
// The general matrix product, for any shape and type. C is cut into panels of a tile's width, and the inner dimension into blocks. For each
// block, the part of B below a panel is packed into a small buffer on the stack, transposed if needed and padded with zeros at the right
// edge, and all rows of A use it while it is in the first-level cache. Nothing is allocated, and the order in which each element is summed
// depends only on the shape.

#include <leat/cpu/matmul/tile.hpp>

#include <algorithm>
#include <cstdint>

namespace leat::cpu::detail {

/// The bytes of a panel of B that is as wide as a tile.
inline constexpr std::int64_t panel_bytes = 32768;

/// The number of rows of B in a block.
template <class T>
inline constexpr std::int64_t panel_rows = panel_bytes / (tile_columns<T> * static_cast<std::int64_t>(sizeof(T)));

/// The number of rows of A and C in a block; its part of A stays in the second-level cache.
inline constexpr std::int64_t block_rows = 512;

/// Copies alpha times the block b(p, j), p < rows, j < columns, to panel[p * width + j], with zeros from `columns` on.
template <class T>
void pack_panel(bool transposed, T alpha, const T* b, std::int64_t ldb, std::int64_t rows, int columns, int width,
                T* panel) {
  const batch<T> zero(T(0));
  const batch<T> scale(alpha);
  if (transposed) {
    // Squares of lanes by lanes are transposed in registers; rows that B lacks are zeros.
    for (int j = 0; j < width; j += lanes<T>)
      for (std::int64_t p = 0; p < rows; p += lanes<T>) {
        const int depth = static_cast<int>(std::min<std::int64_t>(lanes<T>, rows - p));
        batch<T> square[lanes<T>];
        for (int i = 0; i < lanes<T>; ++i)
          square[i] = j + i < columns ? multiply_add(scale, load_some(b + (j + i) * ldb + p, depth), zero) : zero;
        transpose<T>(square);
        for (int i = 0; i < depth; ++i) store(panel + (p + i) * width + j, square[i]);
      }
    return;
  }
  for (std::int64_t p = 0; p < rows; ++p, b += ldb, panel += width)
    for (int j = 0; j < width; j += lanes<T>) {
      const int left = columns - j;
      const batch<T> piece = left >= lanes<T> ? load(b + j) : left > 0 ? load_partial(b + j, left) : zero;
      store(panel + j, multiply_add(scale, piece, zero));
    }
}

/// Computes all rows of C in one panel: full tiles, then tiles of two rows if half a tile or less is left.
template <class T, int Batches>
void multiply_panel(std::int64_t m, std::int64_t inner, const T* a, std::int64_t a_row, std::int64_t a_step, const T* b,
                    std::int64_t b_step, T beta, T* c, std::int64_t ldc, int columns) {
  std::int64_t row = 0;
  for (; m - row > tile_rows / 2; row += tile_rows)
    multiply_tile<T, tile_rows, Batches>(inner, a + row * a_row, a_row, a_step, b, b_step, beta, c + row * ldc, ldc,
                                         static_cast<int>(std::min<std::int64_t>(tile_rows, m - row)), columns);
  for (; row < m; row += 2)
    multiply_tile<T, 2, Batches>(inner, a + row * a_row, a_row, a_step, b, b_step, beta, c + row * ldc, ldc,
                                 static_cast<int>(std::min<std::int64_t>(2, m - row)), columns);
}

/// The source of a panel: B from the panel's first column on; the inner block begins at row 0.
template <class T>
struct panel_of_b {
  bool transposed;
  T alpha;
  const T* from;
  std::int64_t ldb;
};

/// Computes a panel of C, with `columns` <= Batches * lanes, for one inner block.
template <class T, int Batches>
void multiply_columns_of(std::int64_t rows, std::int64_t inner, const T* a, std::int64_t a_row, std::int64_t a_step,
                         const panel_of_b<T>& b, T beta, T* c, std::int64_t ldc, int columns, T* panel) {
  constexpr int width = Batches * lanes<T>;
  if (b.transposed || b.alpha != T(1) || columns != width) {
    pack_panel(b.transposed, b.alpha, b.from, b.ldb, inner, columns, width, panel);
    return multiply_panel<T, Batches>(rows, inner, a, a_row, a_step, panel, width, beta, c, ldc, columns);
  }
  if (Batches == 1 || rows <= tile_rows)
    return multiply_panel<T, Batches>(rows, inner, a, a_row, a_step, b.from, b.ldb, beta, c, ldc, columns);
  // Where B can be read in place, the first tile also packs it for the other tiles: its stores take no time in addition to its
  // multiplications.
  multiply_tile<T, tile_rows, Batches, true>(inner, a, a_row, a_step, b.from, b.ldb, beta, c, ldc, tile_rows, columns, panel);
  multiply_panel<T, Batches>(rows - tile_rows, inner, a + tile_rows * a_row, a_row, a_step, panel, width, beta, c + tile_rows * ldc, ldc,
                             columns);
}

/// The width of the next panel in batches, where `left` columns remain: as wide as possible, but two panels of equal width rather than a
/// wide and a narrow one.
template <class T>
constexpr int panel_batches(std::int64_t left) {
  if (left <= lanes<T>) return 1;
  constexpr std::int64_t widest = widest_tile * lanes<T>;
  if (widest_tile > tile_batches && left >= widest && (left <= widest || left > 2 * tile_columns<T>)) return widest_tile;
  return tile_batches;
}

/// C = alpha op(A) op(B) + beta C, row-major, for k >= 1.
template <class T>
void matmul_blocked(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha,
                    const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  alignas(64) T panel[static_cast<std::size_t>(panel_rows<T> * widest_tile * lanes<T>)];
  const std::int64_t a_row = transpose_a ? 1 : lda;
  const std::int64_t a_step = transpose_a ? lda : 1;
  const std::int64_t inner_blocks = (k + panel_rows<T> - 1) / panel_rows<T>;
  const std::int64_t inner_block = (k + inner_blocks - 1) / inner_blocks;
  for (std::int64_t first = 0; first < k; first += inner_block) {
    const std::int64_t inner = std::min(inner_block, k - first);
    const T keep = first == 0 ? beta : T(1);
    for (std::int64_t top = 0; top < m; top += block_rows) {
      const std::int64_t rows = std::min(block_rows, m - top);
      const T* a_block = a + top * a_row + first * a_step;
      for (std::int64_t column = 0; column < n;) {
        const panel_of_b<T> from{transpose_b, alpha, transpose_b ? b + column * ldb + first : b + first * ldb + column, ldb};
        T* to = c + top * ldc + column;
        const int batches = panel_batches<T>(n - column);
        const int columns = static_cast<int>(std::min<std::int64_t>(batches * lanes<T>, n - column));
        if (batches == 1)
          multiply_columns_of<T, 1>(rows, inner, a_block, a_row, a_step, from, keep, to, ldc, columns, panel);
        else if (batches == tile_batches)
          multiply_columns_of<T, tile_batches>(rows, inner, a_block, a_row, a_step, from, keep, to, ldc, columns, panel);
        else
          multiply_columns_of<T, widest_tile>(rows, inner, a_block, a_row, a_step, from, keep, to, ldc, columns, panel);
        column += columns;
      }
    }
  }
}

}  // namespace leat::cpu::detail
