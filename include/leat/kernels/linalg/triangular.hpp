#pragma once
// Systems of linear equations whose matrix is triangular.

#include <cstdint>
#include <type_traits>

namespace leat::kernels {

/// Calls `f` with a matrix's size, as a constant if it is so small that loops over it should be unrolled.
template <class F>
constexpr auto with_matrix_size(std::int64_t n, F f) {
  switch (n) {
    case 1: return f(std::integral_constant<std::int64_t, 1>{});
    case 2: return f(std::integral_constant<std::int64_t, 2>{});
    case 3: return f(std::integral_constant<std::int64_t, 3>{});
    case 4: return f(std::integral_constant<std::int64_t, 4>{});
    case 6: return f(std::integral_constant<std::int64_t, 6>{});
    case 8: return f(std::integral_constant<std::int64_t, 8>{});
    default: return f(n);
  }
}

/// An estimate of the work of a cubic algorithm, which does not overflow.
constexpr std::int64_t cubic_work(std::int64_t n, std::int64_t columns) {
  constexpr std::int64_t most = std::int64_t{1} << 20;
  const std::int64_t a = n < most ? n : most, b = columns < most ? columns : most;
  return a * a * (b + 1) + 1;
}

/// The rows of a matrix and how far apart they are. Its elements may be read as those of the transposed matrix.
template <class T>
struct matrix_view {
  const T* data;
  std::int64_t row, column;
  constexpr matrix_view(const T* elements, std::int64_t width, bool transposed)
      : data(elements), row(transposed ? 1 : width), column(transposed ? width : 1) {}
  constexpr T operator()(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
};

/// Solves A x = b in the place of b, where A is n × n and b has `columns` columns, stored by rows. `is_lower`: A has zeros above its
/// diagonal, else below it. `UnitDiagonal`: its diagonal is all ones, whatever is stored there. What lies on the other side is not read.
template <bool UnitDiagonal, class T, class N>
constexpr void solve_triangular(const matrix_view<T>& a, bool is_lower, N n, T* b, std::int64_t columns) {
  for (std::int64_t at = 0; at < n; ++at) {
    const std::int64_t i = is_lower ? at : n - 1 - at;
    T* const row = b + i * columns;
    for (std::int64_t before = 0; before < at; ++before) {
      const std::int64_t k = is_lower ? before : n - 1 - before;
      const T factor = a(i, k);
      const T* const known = b + k * columns;
      for (std::int64_t j = 0; j < columns; ++j) row[j] -= factor * known[j];
    }
    if constexpr (!UnitDiagonal) {
      const T pivot = a(i, i);
      for (std::int64_t j = 0; j < columns; ++j) row[j] /= pivot;
    }
  }
}

}  // namespace leat::kernels
