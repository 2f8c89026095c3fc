#pragma once
// Lanes of a fused cluster on a GPU: `Count` neighbouring threads of a warp work on one row, one element each, so that they read and write
// neighbouring elements at the same time. The header is empty unless nvcc compiles it.

#if defined(__CUDACC__)

#include <leat/kernels/cluster/lanes.hpp>
#include <leat/ops/reduction.hpp>

namespace leat::on_thrust {

/// A team of `Count` threads, a power of two up to 32. Reductions over a team have one order, and all members get the same result.
template <int Count>
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
    return p[lane() * stride];
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
  using warp = team_lanes<32>;
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
