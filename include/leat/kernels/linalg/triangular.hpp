#pragma once
// Systems of linear equations whose matrix is triangular.

#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/linear_systems.hpp>

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

using linear_systems::matrix_view;

/// Solves A x = b; see `linear_systems::solve_triangular`.
template <bool UnitDiagonal, class T, class N>
constexpr void solve_triangular(const matrix_view<T>& a, bool is_lower, N n, T* b, std::int64_t columns) {
  linear_systems::solve_triangular<scalar_math<T>, UnitDiagonal>(a, is_lower, n, b, columns);
}

}  // namespace leat::kernels
