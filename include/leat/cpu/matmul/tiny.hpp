#pragma once
// Products of a few elements, without packing and without buffers. Each element of C is summed in the order of the inner dimension, as in
// passes/unroll.hpp, which turns such products into scalars in compiled programs, so that both give the same bits.

#include <leat/cpu/matmul/tile.hpp>
#include <leat/kernels/math/scalar_math.hpp>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace leat::cpu::detail {

/// Whether a product has only a few elements. This includes all products that passes/unroll.hpp turns into scalars.
constexpr bool is_tiny_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  return k >= 1 && k <= 8 && m * k <= 16 && k * n <= 16 && m * n <= 16;
}

/// a b of integers (wrapping) or floating-point values.
template <class T>
[[gnu::always_inline]] inline batch<T> batch_product(const batch<T>& a, const batch<T>& b) {
  if constexpr (std::is_floating_point_v<T>) return a * b;
  else return multiply_add(a, b, batch<T>(T(0)));
}

/// C = alpha op(A) op(B) + beta C, row-major, for k >= 1.
template <class T>
void multiply_tiny(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                   std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
  const std::int64_t a_row = transpose_a ? 1 : lda;
  const std::int64_t a_step = transpose_a ? lda : 1;
  if (transpose_b || n == 1) {
    using math = kernels::scalar_math<T>;
    const std::int64_t b_column = transpose_b ? ldb : 1;
    const std::int64_t b_step = transpose_b ? 1 : ldb;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const T* left = a + i * a_row;
        const T* right = b + j * b_column;
        T sum = math::multiply(*left, scalar_product(alpha, *right));
        for (std::int64_t p = 1; p < k; ++p) sum = math::fma(left[p * a_step], scalar_product(alpha, right[p * b_step]), sum);
        T* to = c + i * ldc + j;
        *to = beta == T(0) ? sum : math::fma(beta, *to, sum);
      }
    return;
  }
  const batch<T> scale(alpha);
  for (std::int64_t j = 0; j < n; j += lanes<T>) {
    const int columns = static_cast<int>(std::min<std::int64_t>(lanes<T>, n - j));
    for (std::int64_t i = 0; i < m; ++i) {
      const T* left = a + i * a_row;
      batch<T> sum = batch_product(batch<T>(*left), batch_product(scale, load_some(b + j, columns)));
      for (std::int64_t p = 1; p < k; ++p)
        sum = multiply_add(batch<T>(left[p * a_step]), batch_product(scale, load_some(b + p * ldb + j, columns)), sum);
      T* to = c + i * ldc + j;
      store_some(to, beta == T(0) ? sum : multiply_add(batch<T>(beta), load_some(to, columns), sum), columns);
    }
  }
}

}  // namespace leat::cpu::detail
