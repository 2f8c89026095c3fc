#pragma once
// Stacks of matrices on the CPU: threads share the matrices, and the loops over a small matrix have constant lengths.

#include <leat/core/error.hpp>
#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/matrices.hpp>

#include <algorithm>
#include <atomic>

namespace leat::cpu {

/// Calls `run(begin, end)` for parts of `count` matrices, which threads share; `work` is that of one matrix. The result is whether all
/// calls returned true.
template <class Run>
bool run_matrices(std::int64_t count, std::int64_t work, Run run) {
  if (count <= 1) return run(0, count);
  constexpr std::int64_t least_work = std::int64_t{1} << 15;  // multiplications that are worth a thread
  const std::int64_t at_once = std::max<std::int64_t>(1, least_work / work);
  const std::int64_t blocks = (count + at_once - 1) / at_once;
  if (blocks <= 1) return run(0, count);
  std::atomic<bool> are_fine{true};
  parallel_for(blocks, [&](std::int64_t block) {
    const std::int64_t begin = block * at_once, end = std::min(begin + at_once, count);
    if (!run(begin, end)) are_fine.store(false, std::memory_order_relaxed);
  });
  return are_fine.load(std::memory_order_relaxed);
}

template <kernels::of_matrices Kernel>
struct loops_of<Kernel> {
  static void run(const Kernel& kernel) {
    const bool are_fine = run_matrices(kernel.count, kernel.work(), [&](std::int64_t begin, std::int64_t end) {
      const auto part = [&](auto n) {
        bool all = true;
        for (std::int64_t k = begin; k < end; ++k) all = kernel.decompose(k, n) && all;
        return all;
      };
      if constexpr (Kernel::unrolls) return kernels::with_matrix_size(kernel.n, part);
      else return part(kernel.n);
    });
    if (!are_fine && kernel.is_checked) throw invalid_argument(kernel.problem());
  }
};

}  // namespace leat::cpu
