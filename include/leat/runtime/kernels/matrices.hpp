#pragma once
// Kernels of decompositions of matrices that have several results. The algorithms are those of typed expressions (kernels/linalg/).

#include <leat/core/fill.hpp>
#include <leat/cpu/matrices.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

namespace leat::runtime {

/// The matrices of input 0. Errors: invalid_argument, with TensorFlow's message, if it has none.
struct input_matrices {
  shape stack;
  std::int64_t count = 1, rows = 0, columns = 0;

  explicit input_matrices(kernel_context& c) {
    const shape& s = c.extent(0);
    if (s.rank < 2) throw invalid_argument("Input tensor 0 must have rank >= 2, got " + std::to_string(s.rank));
    stack = rule::matrices::stack(s);
    count = product(stack, 0, stack.rank);
    rows = rule::matrices::rows(s);
    columns = rule::matrices::columns(s);
  }
  void want_square() const {
    if (rows != columns) throw invalid_argument("Input matrix must be square.");
  }
  std::int64_t elements() const { return rows * columns; }
};

inline void run_log_determinant(kernel_context& c) {
  const tensor_value in = c.input(0);
  const input_matrices of(c);
  of.want_square();
  with_fraction(in.type(), [&]<class T>(T) {
    tensor_value sign(in.type(), of.stack), logarithm(in.type(), of.stack);
    const T* const from = in.values<T>().data();
    T* const signs = sign.values<T>().data();
    T* const logarithms = logarithm.values<T>().data();
    const std::int64_t n = of.rows;
    cpu::run_matrices(of.count, kernels::cubic_work(n, n), [&](std::int64_t begin, std::int64_t end) {
      const cpu::scratch<T> memory(n * (n + 1) + 1);
      T* const lu = memory.get();
      T* const pivots = lu + n * n;
      for (std::int64_t k = begin; k < end; ++k) {
        kernels::decompose_lu(from + k * n * n, lu, n, [&](std::int64_t row, std::int64_t other) { pivots[row] = static_cast<T>(other); });
        const auto found = kernels::logarithm_of_determinant(lu, pivots, n);
        signs[k] = found.sign;
        logarithms[k] = found.logarithm;
      }
      return true;
    });
    c.set(0, std::move(sign));
    c.set(1, std::move(logarithm));
  });
}

LEAT_FILL(fill_matrix_kernels) { register_kernel("LogMatrixDeterminant", run_log_determinant); }

}  // namespace leat::runtime
