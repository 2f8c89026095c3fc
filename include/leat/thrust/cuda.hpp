#pragma once
// Thrust's CUDA system as a session's device; the header is empty unless nvcc compiles it. Each session has its own stream, on which
// everything runs in order: feeds are copied in, steps run, and fetches are copied out; only then does the host wait. Products use cuBLAS
// if LEAT_USE_CUBLAS is defined, as transposed products of column-major matrices.

#if defined(__CUDACC__)

#include <cuda_runtime_api.h>
#if defined(LEAT_USE_CUBLAS)
#include <cublas_v2.h>
#endif
#include <leat/thrust/execute.hpp>
#include <thrust/find.h>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>

#include <string>

static_assert(THRUST_VERSION >= 200000, "an older Thrust than nvcc's own stands first on the include path");

namespace leat::on_thrust {

namespace detail {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw failed_precondition(std::string("CUDA, ") + what + ": " + cudaGetErrorString(status));
}

/// Item 0: computes the two factors of a product, for cuBLAS.
template <class T>
struct factor_items {
  T* to;
  const T* scale;
  T alpha, beta;
  constexpr void operator()(std::int64_t) const {
    to[0] = alpha * *scale;
    to[1] = beta;
  }
};

}  // namespace detail

class cuda_device {
  cudaStream_t stream_ = nullptr;
  auto policy() const { return ::thrust::cuda::par_nosync.on(stream_); }

 public:
  static constexpr bool shares_memory = false;
  using workspace = leat::workspace;
  static constexpr chunk_limits chunks = device_chunks;

  cuda_device() {
    detail::check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
#if defined(LEAT_USE_CUBLAS)
    factors_ = allocate(2 * sizeof(double));
    check_cublas(cublasCreate(&cublas_));
    check_cublas(cublasSetStream(cublas_, stream_));
#endif
  }
  cuda_device(const cuda_device&) = delete;
  cuda_device& operator=(const cuda_device&) = delete;
  ~cuda_device() {
    cudaStreamSynchronize(stream_);
#if defined(LEAT_USE_CUBLAS)
    cublasDestroy(cublas_);
    release(factors_);
#endif
    cudaStreamDestroy(stream_);
  }

  static void* allocate(std::size_t bytes) {
    void* p = nullptr;
    detail::check_cuda(cudaMalloc(&p, bytes), "allocating memory");
    return p;
  }
  static void release(void* p) { cudaFree(p); }
  /// Copies to the device; `from` may be changed after the call.
  void copy_in(void* to, const void* from, std::size_t bytes) const {
    if (bytes == 0) return;
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, from) == cudaSuccess && attributes.type == cudaMemoryTypeHost) finish();
  }
  /// Copies from the device; `to` is valid after finish().
  void copy_out(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0)
      detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the device");
  }
  /// The stream on which everything runs.
  cudaStream_t stream() const { return stream_; }
  void finish() const { detail::check_cuda(cudaStreamSynchronize(stream_), "running a step"); }

  template <class Program, std::size_t... Step>
  void run(const workspace& w, std::index_sequence<Step...> steps) {
    run_program<Program>(*this, w, steps);
  }
  template <class Item>
  void for_each(std::int64_t n, std::int64_t, const Item& item) {
    if (n > 0) ::thrust::for_each_n(policy(), ::thrust::counting_iterator<std::int64_t>(0), n, item);
  }
  template <class Index>
  std::int64_t find_out_of_range(const Index* indices, std::int64_t count, std::int64_t rows, bool passes_negative) {
    const ::thrust::counting_iterator<std::int64_t> first(0);
    const auto found = ::thrust::find_if(policy(), first, first + count,
                                         detail::is_out_of_range<Index>{indices, rows, passes_negative});
    return found == first + count ? -1 : *found;
  }
  template <class T>
  void multiply(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* scale, const T* a,
                std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    if (m == 0 || n == 0) return;
#if defined(LEAT_USE_CUBLAS)
    if constexpr (std::is_floating_point_v<T>) {
      if (k > 0) {
        const T* alpha_at = &alpha;
        const T* beta_at = &beta;
        if (scale != nullptr) {  // the scale is known only on the device
          T* to = static_cast<T*>(factors_);
          for_each(1, 1, detail::factor_items<T>{to, scale, alpha, beta});
          alpha_at = to;
          beta_at = to + 1;
        }
        check_cublas(
            cublasSetPointerMode(cublas_, scale != nullptr ? CUBLAS_POINTER_MODE_DEVICE : CUBLAS_POINTER_MODE_HOST));
        const auto at = ta ? CUBLAS_OP_T : CUBLAS_OP_N;
        const auto bt = tb ? CUBLAS_OP_T : CUBLAS_OP_N;
        const auto size = [](std::int64_t v) { return static_cast<int>(v); };
        if constexpr (sizeof(T) == 4)
          check_cublas(cublasSgemm(cublas_, bt, at, size(n), size(m), size(k), alpha_at, b, size(ldb), a, size(lda),
                                   beta_at, c, size(ldc)));
        else
          check_cublas(cublasDgemm(cublas_, bt, at, size(n), size(m), size(k), alpha_at, b, size(ldb), a, size(lda),
                                   beta_at, c, size(ldc)));
        return;
      }
    }
#endif
    for_each(m * n, k, detail::product_of(ta, tb, n, k, alpha, scale, a, lda, b, ldb, beta, c, ldc));
  }

 private:
#if defined(LEAT_USE_CUBLAS)
  static void check_cublas(cublasStatus_t status) {
    if (status != CUBLAS_STATUS_SUCCESS)
      throw failed_precondition(std::string("cuBLAS: ") + cublasGetStatusString(status));
  }
  cublasHandle_t cublas_ = nullptr;
  void* factors_ = nullptr;
#endif
};

}  // namespace leat::on_thrust

#endif
