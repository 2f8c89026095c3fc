#pragma once
// The Cholesky decomposition of a symmetric matrix: A = L Lᵀ with a lower triangular L.

#include <leat/kernels/math/scalar_math.hpp>
#include <leat/ops/linear_systems.hpp>

#include <limits>

namespace leat::kernels {

/// Writes L; see `linear_systems::decompose_cholesky`.
template <class T, class N>
constexpr bool decompose_cholesky(const T* a, T* l, N n) {
  return linear_systems::decompose_cholesky<scalar_math<T>>(a, l, n, std::numeric_limits<T>::quiet_NaN());
}

}  // namespace leat::kernels
