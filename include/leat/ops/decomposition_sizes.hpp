#pragma once
// The sizes of decompositions with several results, which shape rules and kernels share.

#include <cstdint>

namespace leat {

/// Of A = Q R with an m × n matrix A. `is_full`: Q is square and R has as many rows as A; else both have min(m, n) columns and rows.
struct qr_sizes {
  std::int64_t m, n;
  bool is_full;
  constexpr std::int64_t least() const { return m < n ? m : n; }
  constexpr std::int64_t between() const { return is_full ? m : least(); }  // columns of Q, rows of R
  constexpr std::int64_t results() const { return m * between() + between() * n; }
  constexpr std::int64_t scratch() const { return m * n + least() + (n > between() ? n : between()); }
};

/// Of A = U diag(s) Vᵀ. `is_full`: U and V are square; else both have min(m, n) columns. Without `has_vectors` they are not computed.
struct svd_sizes {
  std::int64_t m, n;
  bool is_full, has_vectors;
  constexpr std::int64_t least() const { return m < n ? m : n; }
  constexpr std::int64_t most() const { return m < n ? n : m; }
  constexpr std::int64_t columns_of_u() const { return is_full ? m : least(); }
  constexpr std::int64_t columns_of_v() const { return is_full ? n : least(); }
  /// The number of vectors of the longer side.
  constexpr std::int64_t long_vectors() const { return has_vectors && is_full ? most() : least(); }
  constexpr std::int64_t scratch() const { return long_vectors() * most() + (has_vectors ? least() * least() : 0); }
  /// The places of U, of V and of the memory of the decomposition behind the singular values.
  constexpr std::int64_t begin_of_u() const { return least(); }
  constexpr std::int64_t begin_of_v() const { return least() + (has_vectors ? m * columns_of_u() : 0); }
  constexpr std::int64_t begin_of_scratch() const { return begin_of_v() + (has_vectors ? n * columns_of_v() : 0); }
};

}  // namespace leat
