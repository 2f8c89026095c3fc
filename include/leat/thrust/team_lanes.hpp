#pragma once
// Lanes of a fused cluster on a GPU: a thread works on an element, or `Count` neighbouring threads of a warp work on one row, one element
// each, so that they read and write neighbouring elements at the same time. `Apart` says that the cluster reads no array that it writes:
// its reads may then overtake its writes. The header is empty unless nvcc compiles it.

#if defined(__CUDACC__)

#include <leat/kernels/cluster/lanes.hpp>
#include <leat/ops/reduction.hpp>

namespace leat::on_thrust {

namespace detail {
template <bool Apart, class T>
__host__ __device__ T read_element(const T* p) {
#if defined(__CUDA_ARCH__)
  if constexpr (Apart && std::is_same_v<T, bool>) return __ldg(reinterpret_cast<const unsigned char*>(p)) != 0;
  else if constexpr (Apart) return __ldg(p);
#endif
  return *p;
}
}  // namespace detail

/// `Lanes` of one element, scalar_lanes or position_lanes, as a GPU reads it.
template <class Lanes, bool Apart>
struct thread_lanes : Lanes {
  template <class T, bool Partial>
  static __host__ __device__ T load(const T* p, int) {
    return detail::read_element<Apart>(p);
  }
  template <class T, bool Partial>
  static __host__ __device__ T load_strided(const T* p, std::int64_t, int) {
    return detail::read_element<Apart>(p);
  }
};

/// A team of `Count` threads, a power of two up to 32. Reductions over a team have one order, and all members get the same result.
template <int Count, bool Apart>
struct team_lanes {
  static constexpr int count = Count;
  template <class T>
  using value = T;
  template <class T>
  using math = kernels::scalar_math<T>;

  /// The number of this thread in its team.
  static __host__ __device__ int lane() {
#if defined(__CUDA_ARCH__)
    return static_cast<int>(threadIdx.x) & (Count - 1);
#else
    return 0;
#endif
  }
  /// Waits for the other members; what they have written is visible afterwards.
  static __host__ __device__ void meet() {
#if defined(__CUDA_ARCH__)
    __syncwarp(members());
#endif
  }

  template <class T, bool Partial>
  static __host__ __device__ T load(const T* p, int n) {
    return load_strided<T, Partial>(p, 1, n);
  }
  template <class T, bool Partial>
  static __host__ __device__ void store(T* p, T v, int n) {
    store_strided<T, Partial>(p, 1, v, n);
  }
  template <class T, bool Partial>
  static __host__ __device__ T load_strided(const T* p, std::int64_t stride, int n) {
    if (Partial && lane() >= n) return T(1);  // a number that no operator refuses
    return detail::read_element<Apart>(p + lane() * stride);
  }
  template <class T, bool Partial>
  static __host__ __device__ void store_strided(T* p, std::int64_t stride, T v, int n) {
    if (!Partial || lane() < n) p[lane() * stride] = v;
  }
  template <class T>
  static constexpr T broadcast(T v) {
    return v;
  }
  template <class T>
  static __host__ __device__ T position(std::int64_t j) {
    return static_cast<T>(j + lane());
  }
  template <class T, bool Partial>
  static __host__ __device__ T or_else(T v, T otherwise, int n) {
    return Partial && lane() >= n ? otherwise : v;
  }
  template <class To, class V>
  static constexpr To convert(V v) {
    return kernels::scalar_math<V>::template cast<To>(v);
  }
  template <class Op, class T>
  static __host__ __device__ T across(T v) {
#if defined(__CUDA_ARCH__)
    for (int step = Count / 2; step > 0; step /= 2) v = Op::template combine<math<T>, T>(v, exchanged(v, step));
    v = first(v);  // a combination may depend on the order, as the larger one of 0 and -0
#endif
    return v;
  }

 private:
#if defined(__CUDA_ARCH__)
  static __device__ unsigned members() {
    if constexpr (Count == 32) return 0xffffffffU;
    else return ((1U << Count) - 1U) << (threadIdx.x & 31U & ~static_cast<unsigned>(Count - 1));
  }
  // What a shuffle moves: 32 bits or 64.
  template <class T>
  static __device__ auto widened(T v) {
    if constexpr (sizeof(T) < 4) return static_cast<int>(v);
    else if constexpr (sizeof(T) == 8 && std::is_integral_v<T>) return static_cast<long long>(v);
    else return v;
  }
  template <class T>
  static __device__ T exchanged(T v, int step) {
    return static_cast<T>(__shfl_xor_sync(members(), widened(v), step, Count));
  }
  template <class T>
  static __device__ T first(T v) {
    return static_cast<T>(__shfl_sync(members(), widened(v), 0, Count));
  }
#endif
};

namespace detail {
constexpr int threads_for_positions = 256;
/// Runs a cluster's items for the positions of each chunk of rows, each by a thread: those of a chunk by neighbouring blocks if `by_row`,
/// so that no thread divides.
template <class Item>
__global__ void run_positions(std::int64_t chunks, std::int64_t inner, bool by_row, Item item) {
  const std::int64_t k = static_cast<std::int64_t>(blockIdx.x) * threads_for_positions + threadIdx.x;
  if (!by_row) {
    if (k < chunks * inner) item(k);
  } else if (k < inner) {
    for (std::int64_t chunk = blockIdx.y; chunk < chunks; chunk += gridDim.y) item.run_position(chunk, k);
  }
}
/// Runs item k by the k-th team of `Count` threads.
template <int Count, class Item>
__global__ void run_by_teams(std::int64_t n, Item item) {
  const std::int64_t k = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / Count;
  if (k < n) item(k);
}
/// The same, with memory that the team alone uses.
template <int Count, class Item>
__global__ void run_by_teams_with(std::int64_t n, std::int64_t bytes, Item item) {
  extern __shared__ double team_memory[];
  const std::int64_t k = (static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x) / Count;
  if (k < n) item(k, static_cast<std::byte*>(static_cast<void*>(team_memory)) + static_cast<int>(threadIdx.x) / Count * bytes);
}
/// Sums the parts of each item by a block of `Threads` threads, in one order.
template <int Threads, class Kernel>
__global__ void sum_by_blocks(Kernel kernel) {
  using T = std::remove_cvref_t<decltype(kernel.part(0, 0, 1))>;
  using warp = team_lanes<32, false>;
  __shared__ T parts[Threads / 32];
  const T part = warp::across<sum_op, T>(kernel.part(blockIdx.x, threadIdx.x, Threads));
  if (warp::lane() == 0) parts[threadIdx.x / 32] = part;
  __syncthreads();
  if (threadIdx.x == 0) {
    T sum = parts[0];
    for (int k = 1; k < Threads / 32; ++k) sum = kernels::scalar_math<T>::add(sum, parts[k]);
    kernel.out[blockIdx.x] = sum;
  }
}
}  // namespace detail

}  // namespace leat::on_thrust

#endif
