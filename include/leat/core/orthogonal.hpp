#pragma once
// Random matrices with orthonormal columns or rows, for initializers: the Q of the QR decomposition of a matrix of normal numbers, with a
// positive diagonal of R, so that all orthonormal matrices are equally likely (Mezzadri 2007). Computed by modified Gram-Schmidt, done
// twice to reduce rounding errors.

#include <leat/core/philox.hpp>

#include <cmath>
#include <cstddef>
#include <vector>

namespace leat::detail {

/// A matrix [rows, columns], row-major: its columns are orthonormal if it has as many rows as columns or more, otherwise its rows.
/// It depends on the seed and the sizes alone.
inline std::vector<double> orthonormal(std::size_t rows, std::size_t columns, std::uint64_t seed) {
  const std::size_t length = rows > columns ? rows : columns;
  const std::size_t count = rows > columns ? columns : rows;
  std::vector<double> q(count * length);  // one vector after the other
  std::uint64_t drawn = 0;
  for (std::size_t k = 0; k < count; ++k) {
    double* v = &q[k * length];
    for (double norm = 0; norm < 1e-6;) {  // redrawn if it is in the span of those before
      for (std::size_t i = 0; i < length; ++i) v[i] = normal<double>(seed, drawn++);
      for (int twice = 0; twice < 2; ++twice)
        for (std::size_t j = 0; j < k; ++j) {
          const double* u = &q[j * length];
          double along = 0;
          for (std::size_t i = 0; i < length; ++i) along += u[i] * v[i];
          for (std::size_t i = 0; i < length; ++i) v[i] -= along * u[i];
        }
      norm = 0;
      for (std::size_t i = 0; i < length; ++i) norm += v[i] * v[i];
      norm = std::sqrt(norm);
      for (std::size_t i = 0; i < length && norm >= 1e-6; ++i) v[i] /= norm;
    }
  }
  if (rows <= columns) return q;
  std::vector<double> turned(q.size());
  for (std::size_t k = 0; k < count; ++k)
    for (std::size_t i = 0; i < length; ++i) turned[i * count + k] = q[k * length + i];
  return turned;
}

}  // namespace leat::detail
