#pragma once
// The products of oneDNN and of a BLAS, if macros select them. Each runs only on the calling thread, because parallel_for divides the work
// already. oneDNN as Debian builds it uses OpenMP, where the number of threads is a setting of the calling thread; it is set to one for the
// call. The two functions for it are found at run time if OpenMP is present, so that OpenMP need not be linked.

#include <leat/cpu/configuration.hpp>

#include <cstdint>

#if defined(LEAT_USE_ONEDNN)
#include <oneapi/dnnl/dnnl.h>
#include <oneapi/dnnl/dnnl_config.h>

// Declared under names of our own, because <omp.h> may declare them, too, with varying signatures.
extern "C" {
[[gnu::weak]] int leat_omp_get_max_threads() __asm__("omp_get_max_threads");
[[gnu::weak]] void leat_omp_set_num_threads(int) __asm__("omp_set_num_threads");
}
#endif

#if defined(LEAT_USE_BLAS)
#include <cblas.h>
#endif

namespace leat::cpu::detail {

#if defined(LEAT_USE_ONEDNN)

class one_openmp_thread {
 public:
  one_openmp_thread() {
    if (leat_omp_get_max_threads == nullptr) return;
    before_ = leat_omp_get_max_threads();
    if (before_ != 1) leat_omp_set_num_threads(1);
  }
  one_openmp_thread(const one_openmp_thread&) = delete;
  one_openmp_thread& operator=(const one_openmp_thread&) = delete;
  ~one_openmp_thread() {
    if (before_ != 1) leat_omp_set_num_threads(before_);
  }

 private:
  int before_ = 1;
};

inline void matmul_onednn(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                          float alpha, const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta,
                          float* c, std::int64_t ldc) {
  const one_openmp_thread alone;
  dnnl_sgemm(transpose_a ? 'T' : 'N', transpose_b ? 'T' : 'N', m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

#endif

#if defined(LEAT_USE_BLAS)

inline void matmul_blas(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k, float alpha,
                        const float* a, std::int64_t lda, const float* b, std::int64_t ldb, float beta, float* c,
                        std::int64_t ldc) {
  cblas_sgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), alpha, a,
              static_cast<blasint>(lda), b, static_cast<blasint>(ldb), beta, c, static_cast<blasint>(ldc));
}

inline void matmul_blas(bool transpose_a, bool transpose_b, std::int64_t m, std::int64_t n, std::int64_t k,
                        double alpha, const double* a, std::int64_t lda, const double* b, std::int64_t ldb, double beta,
                        double* c, std::int64_t ldc) {
  cblas_dgemm(CblasRowMajor, transpose_a ? CblasTrans : CblasNoTrans, transpose_b ? CblasTrans : CblasNoTrans,
              static_cast<blasint>(m), static_cast<blasint>(n), static_cast<blasint>(k), alpha, a,
              static_cast<blasint>(lda), b, static_cast<blasint>(ldb), beta, c, static_cast<blasint>(ldc));
}

#endif

}  // namespace leat::cpu::detail
