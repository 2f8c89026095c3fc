#pragma once
// Products of stacks of matrices on the CPU: one product for each pair of matrices.

#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/stacked_matmul.hpp>

#include <algorithm>

namespace leat::cpu {

/// The products of two stacks. Threads share the products, and large products themselves.
template <class T>
void multiply_stacks(const kernels::matrix_stacks& s, const T* a, const T* b, T* out) {
  if (s.m * s.n == 0) return;
  const auto multiply = [&](std::int64_t at) {
    T* const to = out + at * s.m * s.n;
    if (s.k == 0) std::fill_n(to, s.m * s.n, T(0));
    else
      matmul<T>(s.ta, s.tb, s.m, s.n, s.k, T(1), a + s.place(s.step_a, at), s.lda, b + s.place(s.step_b, at), s.ldb, T(0), to, s.n);
  };
  const std::int64_t work = s.m * s.n * std::max<std::int64_t>(s.k, 1);
  const std::int64_t at_once = std::max<std::int64_t>(1, detail::least_multiplications_per_chunk / work);
  parallel_for((s.count + at_once - 1) / at_once, [&](std::int64_t block) {
    for (std::int64_t at = block * at_once; at < std::min((block + 1) * at_once, s.count); ++at) multiply(at);
  });
}

template <class T>
struct loops_of<kernels::stacked_products_kernel<T>> {
  static void run(const kernels::stacked_products_kernel<T>& k) { multiply_stacks(k.s, k.a, k.b, k.out); }
};

}  // namespace leat::cpu
