#pragma once
// Decompositions of square matrices and the systems of equations that they solve, written once: `M` is the arithmetic on elements of type
// T. Kernels run them on numbers (kernels/linalg/), the compiler on the scalars of small matrices (passes/unroll_matrices.hpp). So they
// have no branch on an element; products and sums are rounded once (`fma`), whatever the C++ compiler would contract.

#include <cstdint>
#include <type_traits>

namespace leat::linear_systems {

/// The rows of a matrix and how far apart they are. Its elements may be read as those of the transposed matrix.
template <class T>
struct matrix_view {
  const T* data;
  std::int64_t row, column;
  constexpr matrix_view(const T* elements, std::int64_t width, bool transposed)
      : data(elements), row(transposed ? 1 : width), column(transposed ? width : 1) {}
  constexpr T operator()(std::int64_t i, std::int64_t j) const { return data[i * row + j * column]; }
};

/// A = L Lᵀ: writes L, with zeros above its diagonal. Only the lower half of A is read. If A is not positive definite, L is NaN (`nan`) on
/// and below its diagonal, and the result is false. NaN in A is no failure: L then has NaN, too. Rows of Lᵀ are subtracted from later rows
/// as a whole, which compilers vectorize; L is transposed at the end.
template <class M, class T, class N>
constexpr auto decompose_cholesky(const T* a, T* l, N n, T nan) {
  for (std::int64_t i = 0; i < n; ++i)
    for (std::int64_t j = i; j < n; ++j) l[i * n + j] = a[j * n + i];
  auto is_positive = typename M::mask(true);
  for (std::int64_t k = 0; k < n; ++k) {
    T* const pivot_row = l + k * n;
    is_positive = is_positive && !M::less_equal(pivot_row[k], T(0));
    if constexpr (std::is_same_v<typename M::mask, bool>)
      if (!is_positive) break;  // saves time, and changes nothing
    const T pivot = M::sqrt(pivot_row[k]);
    pivot_row[k] = pivot;
    for (std::int64_t j = k + 1; j < n; ++j) pivot_row[j] = M::divide(pivot_row[j], pivot);
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const row = l + i * n;
      const T factor = M::negate(pivot_row[i]);
      for (std::int64_t j = i; j < n; ++j) row[j] = M::fma(factor, pivot_row[j], row[j]);
    }
  }
  for (std::int64_t i = 0; i < n; ++i) {
    l[i * n + i] = M::select(is_positive, l[i * n + i], nan);
    for (std::int64_t j = i + 1; j < n; ++j) {
      l[j * n + i] = M::select(is_positive, l[i * n + j], nan);
      l[i * n + j] = T(0);
    }
  }
  return is_positive;
}

/// Solves A x = b in the place of b, where A is n × n and b has `columns` columns, stored by rows. `is_lower`: A has zeros above its
/// diagonal, else below it. `UnitDiagonal`: its diagonal is all ones, whatever is stored there. What lies on the other side is not read.
template <class M, bool UnitDiagonal, class T, class N>
constexpr void solve_triangular(const matrix_view<T>& a, bool is_lower, N n, T* b, std::int64_t columns) {
  for (std::int64_t at = 0; at < n; ++at) {
    const std::int64_t i = is_lower ? at : n - 1 - at;
    T* const row = b + i * columns;
    for (std::int64_t before = 0; before < at; ++before) {
      const std::int64_t k = is_lower ? before : n - 1 - before;
      const T factor = M::negate(a(i, k));
      const T* const known = b + k * columns;
      for (std::int64_t j = 0; j < columns; ++j) row[j] = M::fma(factor, known[j], row[j]);
    }
    if constexpr (!UnitDiagonal) {
      const T pivot = a(i, i);
      for (std::int64_t j = 0; j < columns; ++j) row[j] = M::divide(row[j], pivot);
    }
  }
}

template <class T>
constexpr void exchange_rows(T* a, T* b, std::int64_t width) {
  if (a == b) return;
  for (std::int64_t j = 0; j < width; ++j) {
    const T kept = a[j];
    a[j] = b[j];
    b[j] = kept;
  }
}
/// Exchanges row k of n rows with itself or with a later one, whose number is a value of type T.
template <class M, class T>
constexpr void exchange_with_later(T* rows, std::int64_t k, T other, std::int64_t n, std::int64_t width) {
  if constexpr (std::is_floating_point_v<T>) {
    exchange_rows(rows + k * width, rows + static_cast<std::int64_t>(other) * width, width);
  } else {
    for (std::int64_t i = k + 1; i < n; ++i) {
      const auto is_it = M::equal(other, T(i));
      for (std::int64_t j = 0; j < width; ++j) {
        T& a = rows[k * width + j];
        T& b = rows[i * width + j];
        const T kept = a;
        a = M::select(is_it, b, a);
        b = M::select(is_it, kept, b);
      }
    }
  }
}

/// P A = L U, with ones on L's diagonal: writes L below the diagonal of `lu`, and U on it and above. Rows are exchanged so that each pivot
/// is the largest element left in its column. `swap(k, p)` is called for each column k in order: rows k and p, a number of type T, have
/// been exchanged. Returns whether no pivot is zero or NaN.
template <class M, class T, class N, class Swap>
constexpr auto decompose_lu(const T* a, T* lu, N n, Swap swap) {
  for (std::int64_t i = 0; i < n * n; ++i) lu[i] = a[i];
  auto is_regular = typename M::mask(true);
  for (std::int64_t k = 0; k < n; ++k) {
    T best = T(k);
    T most = M::abs(lu[k * n + k]);
    for (std::int64_t i = k + 1; i < n; ++i) {
      const T size = M::abs(lu[i * n + k]);
      const auto is_larger = M::greater(size, most);
      best = M::select(is_larger, T(i), best);
      most = M::select(is_larger, size, most);
    }
    swap(k, best);
    exchange_with_later<M>(lu, k, best, n, n);
    const T* const pivot_row = lu + k * n;
    is_regular = is_regular && M::greater(most, T(0));
    if (k + 1 == n) break;
    const T pivot = M::select(M::equal(pivot_row[k], T(0)), T(1), pivot_row[k]);  // below a pivot of 0 the column has zeros alone
    for (std::int64_t i = k + 1; i < n; ++i) {
      T* const row = lu + i * n;
      row[k] = M::divide(row[k], pivot);
      const T factor = M::negate(row[k]);
      for (std::int64_t j = k + 1; j < n; ++j) row[j] = M::fma(factor, pivot_row[j], row[j]);
    }
  }
  return is_regular;
}

/// Solves A x = b, or Aᵀ x = b, in the place of b, which has `columns` columns. `pivots[k]` is the row that was exchanged with row k.
template <class M, class T, class N>
constexpr void solve_by_lu(const T* lu, const T* pivots, bool transposed, N n, T* b, std::int64_t columns) {
  const matrix_view<T> a(lu, n, transposed);
  if (!transposed) {
    for (std::int64_t k = 0; k < n; ++k) exchange_with_later<M>(b, k, pivots[k], n, columns);
    solve_triangular<M, true>(a, true, n, b, columns);
    solve_triangular<M, false>(a, false, n, b, columns);
  } else {
    solve_triangular<M, false>(a, true, n, b, columns);
    solve_triangular<M, true>(a, false, n, b, columns);
    for (std::int64_t k = n - 1; k >= 0; --k) exchange_with_later<M>(b, k, pivots[k], n, columns);
  }
}

}  // namespace leat::linear_systems
