#pragma once
// Thrust's CUDA system as a session's device; the header is empty unless nvcc compiles it. Each session has its own stream, on which
// everything runs in order: feeds are copied in, steps run, and fetches are copied out; only then does the host wait. Steps are recorded as
// a CUDA graph in the second run for the same arrays, and then launched as one. Products use cuBLAS if LEAT_USE_CUBLAS is defined, as
// transposed products of column-major matrices.

#if defined(__CUDACC__)

#include <cuda_runtime_api.h>
#if defined(LEAT_USE_CUBLAS)
#include <cublas_v2.h>
#endif
#include <leat/thrust/execute.hpp>
#include <leat/thrust/team_lanes.hpp>
#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cuda/execution_policy.h>

#include <algorithm>
#include <string>
#include <vector>

static_assert(THRUST_VERSION >= 200000, "an older Thrust than nvcc's own stands first on the include path");

namespace leat::on_thrust {

namespace detail {

inline void check_cuda(cudaError_t status, const char* what) {
  if (status != cudaSuccess)
    throw failed_precondition(std::string("CUDA, ") + what + ": " + cudaGetErrorString(status));
}

/// Steps recorded as a CUDA graph.
class cuda_recording {
 public:
  cuda_recording() = default;
  cuda_recording(const cuda_recording&) = delete;
  cuda_recording& operator=(const cuda_recording&) = delete;
  ~cuda_recording() { clear(); }

  void clear() {
    if (graph_ != nullptr) {
      cudaStreamSynchronize(stream_);  // it may still run
      cudaGraphExecDestroy(graph_);
    }
    graph_ = nullptr;
    addresses_.clear();
    can_record_ = true;
  }
  bool is_for(void* const* addresses, std::size_t count) const {
    return addresses_.size() == count && count > 0 && std::equal(addresses, addresses + count, addresses_.begin());
  }
  void begin(void* const* addresses, std::size_t count) {
    clear();
    addresses_.assign(addresses, addresses + count);
  }
  bool is_ready() const { return graph_ != nullptr; }
  void launch() const { check_cuda(cudaGraphLaunch(graph_, stream_), "repeating a step"); }

  /// Records what `steps` does on the stream, without doing it; false if CUDA cannot record it.
  template <class Steps>
  bool record(cudaStream_t stream, Steps steps) {
    if (!can_record_) return false;
    can_record_ = false;
    stream_ = stream;
    check_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "recording a step");
    cudaGraph_t graph = nullptr;
    try {
      steps();
    } catch (...) {
      cudaStreamEndCapture(stream, &graph);
      if (graph != nullptr) cudaGraphDestroy(graph);
      cudaGetLastError();
      throw;
    }
    const bool recorded =
        cudaStreamEndCapture(stream, &graph) == cudaSuccess && graph != nullptr && cudaGraphInstantiate(&graph_, graph, 0) == cudaSuccess;
    if (graph != nullptr) cudaGraphDestroy(graph);
    if (!recorded) {
      cudaGetLastError();  // it is no failure of the steps, which run as before
      graph_ = nullptr;
    }
    return recorded;
  }

 private:
  cudaGraphExec_t graph_ = nullptr;
  cudaStream_t stream_ = nullptr;
  std::vector<void*> addresses_;
  bool can_record_ = true;
};

/// Item k: takes the least k of an index that is out of range.
template <class Index>
struct find_items {
  is_out_of_range<Index> is_wrong;
  long long* found;
  __device__ void operator()(std::int64_t k) const {
    if (is_wrong(k)) atomicMin(found, static_cast<long long>(k));
  }
};

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
  cudaEvent_t kept_ = nullptr;
  long long* found_ = nullptr;
  long long* found_on_host_ = nullptr;
  auto policy() const { return ::thrust::cuda::par_nosync.on(stream_); }

 public:
  static constexpr bool shares_memory = false;
  static constexpr bool teams = true;
  template <int Count, bool Apart>
  using lanes = team_lanes<Count, Apart>;
  template <class Lanes, bool Apart>
  using one_lane = thread_lanes<Lanes, Apart>;
  using workspace = leat::workspace;
  static constexpr chunk_limits chunks = device_chunks;

  cuda_device() {
    detail::check_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
    detail::check_cuda(cudaEventCreateWithFlags(&kept_, cudaEventDisableTiming), "making an event");
    found_ = static_cast<long long*>(allocate(sizeof *found_));
    found_on_host_ = static_cast<long long*>(allocate_on_host(sizeof *found_on_host_));
#if defined(LEAT_USE_CUBLAS)
    factors_ = allocate(2 * sizeof(double));
    workspace_ = allocate(workspace_bytes);
    check_cublas(cublasCreate(&cublas_));
    check_cublas(cublasSetStream(cublas_, stream_));
    check_cublas(cublasSetWorkspace(cublas_, workspace_, workspace_bytes));  // so that a product in a recording allocates nothing
#endif
  }
  cuda_device(const cuda_device&) = delete;
  cuda_device& operator=(const cuda_device&) = delete;
  ~cuda_device() {
    cudaStreamSynchronize(stream_);
#if defined(LEAT_USE_CUBLAS)
    cublasDestroy(cublas_);
    release(workspace_);
    release(factors_);
#endif
    release_on_host(found_on_host_);
    release(found_);
    cudaEventDestroy(kept_);
    cudaStreamDestroy(stream_);
  }

  static void* allocate(std::size_t bytes) {
    void* p = nullptr;
    detail::check_cuda(cudaMalloc(&p, bytes), "allocating memory");
    return p;
  }
  static void release(void* p) { cudaFree(p); }
  /// Memory of the host that the device reads and writes by itself.
  static void* allocate_on_host(std::size_t bytes) {
    void* p = nullptr;
    detail::check_cuda(cudaMallocHost(&p, bytes), "allocating memory of the host");
    return p;
  }
  static void release_on_host(void* p) { cudaFreeHost(p); }
  /// Copies to the device; `from` may be changed after the call.
  void copy_in(void* to, const void* from, std::size_t bytes) const {
    if (bytes == 0) return;
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
    cudaPointerAttributes attributes{};
    if (cudaPointerGetAttributes(&attributes, from) == cudaSuccess && attributes.type == cudaMemoryTypeHost) finish();
  }
  /// Copies from memory of allocate_on_host, which must stay as it is until wait_for_kept() has returned.
  void copy_in_kept(void* to, const void* from, std::size_t bytes) const {
    detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
    detail::check_cuda(cudaEventRecord(kept_, stream_), "copying to the device");
  }
  void wait_for_kept() const { detail::check_cuda(cudaEventSynchronize(kept_), "copying to the device"); }
  /// Copies from the device; `to` is valid after finish().
  void copy_out(void* to, const void* from, std::size_t bytes) const {
    if (bytes > 0)
      detail::check_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the device");
  }
  /// The stream on which everything runs.
  cudaStream_t stream() const { return stream_; }
  void finish() const { detail::check_cuda(cudaStreamSynchronize(stream_), "running a step"); }

  template <class Program>
  static constexpr std::size_t recordings_of = on_thrust::recordings_of<Program>;
  template <class Program, class Last>
  void run_recorded(const workspace& w, void* const* on_host, detail::cuda_recording* recordings, Last last) {
    on_thrust::run_recorded<Program>(*this, w, on_host, recordings, last);
  }
  using recording = detail::cuda_recording;
  /// Runs the steps, which depend only on these addresses. The second time they are recorded as a CUDA graph, and launched as such from
  /// then on; not the first time, in which CUDA may load their code.
  template <class Steps>
  void repeat(recording& r, void* const* addresses, std::size_t count, Steps steps) {
    if (!r.is_for(addresses, count)) {
      r.begin(addresses, count);
      steps();
    } else if (r.is_ready()) {
      r.launch();
    } else if (r.record(stream_, steps)) {
      r.launch();
    } else {
      steps();
    }
  }
  template <class Item>
  void for_each(std::int64_t n, std::int64_t, const Item& item) {
    if (n > 0) ::thrust::for_each_n(policy(), ::thrust::counting_iterator<std::int64_t>(0), n, item);
  }
  /// Runs a cluster's items for the positions of each chunk of rows.
  template <class Item>
  void for_each_position(std::int64_t chunks, std::int64_t inner, const Item& item) {
    if (chunks == 0 || inner == 0) return;
    constexpr std::int64_t threads = detail::threads_for_positions, most_rows = 65535;  // the most blocks of a grid's second axis
    const bool by_row = chunks > 1 && inner >= threads;
    const std::int64_t along = by_row ? inner : chunks * inner;
    const dim3 blocks(static_cast<unsigned>((along + threads - 1) / threads),
                      static_cast<unsigned>(by_row ? std::min(chunks, most_rows) : 1));
    detail::run_positions<<<blocks, static_cast<unsigned>(threads), 0, stream_>>>(chunks, inner, by_row, item);
    detail::check_cuda(cudaPeekAtLastError(), "starting a step");
  }
  /// Runs each item by a team of `Count` threads.
  template <int Count, class Item>
  void for_each_team(std::int64_t n, const Item& item) {
    if (n == 0) return;
    constexpr int threads = 128;
    detail::run_by_teams<Count><<<static_cast<unsigned>((n * Count + threads - 1) / threads), threads, 0, stream_>>>(n, item);
    detail::check_cuda(cudaPeekAtLastError(), "starting a step");
  }
  /// Runs the items of a kernel that sums parts (`kernels::sums_parts`), each by a block of threads.
  template <class Kernel>
  void for_each_sum(const Kernel& kernel) {
    constexpr int threads = 256;
    if (kernel.items() == 0) return;
    detail::sum_by_blocks<threads><<<static_cast<unsigned>(kernel.items()), threads, 0, stream_>>>(kernel);
    detail::check_cuda(cudaPeekAtLastError(), "starting a step");
  }
  /// The same, each with so many bytes of a multiprocessor's own memory; false if there are not as many.
  template <int Count, class Item>
  bool for_each_team_with(std::int64_t n, std::int64_t bytes, const Item& item) {
    constexpr std::int64_t most_bytes = std::int64_t{48} << 10;  // that every GPU gives to a block
    int threads = 128;
    while (threads > 32 && threads / Count * bytes > most_bytes) threads /= 2;
    if (threads / Count * bytes > most_bytes) return false;
    if (n == 0) return true;
    detail::run_by_teams_with<Count><<<static_cast<unsigned>((n * Count + threads - 1) / threads), static_cast<unsigned>(threads),
                                       static_cast<std::size_t>(threads / Count * bytes), stream_>>>(n, bytes, item);
    detail::check_cuda(cudaPeekAtLastError(), "starting a step");
    return true;
  }
  template <class Index>
  std::int64_t find_out_of_range(const Index* indices, std::int64_t count, std::int64_t rows, bool passes_negative) {
    constexpr long long none = 0x7f7f7f7f7f7f7f7f;
    detail::check_cuda(cudaMemsetAsync(found_, 0x7f, sizeof none, stream_), "checking indices");
    for_each(count, 1, detail::find_items<Index>{{indices, rows, passes_negative}, found_});
    copy_out(found_on_host_, found_, sizeof none);
    finish();
    return *found_on_host_ == none ? -1 : static_cast<std::int64_t>(*found_on_host_);
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
  static constexpr std::size_t workspace_bytes = std::size_t{32} << 20;  // what NVIDIA advises for the newest GPUs
  cublasHandle_t cublas_ = nullptr;
  void* factors_ = nullptr;
  void* workspace_ = nullptr;
#endif
};

}  // namespace leat::on_thrust

#endif
