#pragma once
// Sessions on Thrust's backends: `auto s = session_on<thrust_serial>(loss, train);`. `thrust_omp` exists if LEAT_THRUST_OMP is defined,
// `thrust_tbb` if LEAT_THRUST_TBB is, and `thrust_cuda` in programs that nvcc compiles. This header is not part of <leat/leat.hpp>, because
// Thrust is slow to compile.

#include <leat/core/standard.hpp>

#include <leat/leat.hpp>
#include <leat/thrust/cuda.hpp>
#include <leat/thrust/execute.hpp>
#include <leat/thrust/system.hpp>

namespace leat {

namespace on_thrust {

/// What the host backends use from the CPU layer.
struct host_support {
  using mode = cpu::flush_denormals;
  template <class T>
  static void multiply(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* a,
                       std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    cpu::matmul<T>(ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
  }
};

}  // namespace on_thrust

/// Runs on one thread.
using thrust_serial = on_thrust::host_device<on_thrust::serial_system, on_thrust::host_support>;
#if defined(LEAT_THRUST_OMP)
/// Runs on OpenMP threads.
using thrust_omp = on_thrust::host_device<on_thrust::omp_system, on_thrust::host_support>;
#endif
#if defined(LEAT_THRUST_TBB)
/// Runs on oneTBB threads.
using thrust_tbb = on_thrust::host_device<on_thrust::tbb_system, on_thrust::host_support>;
#endif
#if defined(__CUDACC__)
/// Runs on the current GPU.
using thrust_cuda = on_thrust::cuda_device;
#endif

}  // namespace leat
