#pragma once
// Thrust's systems for the host: serial, OpenMP, TBB. A system runs work items by `for_each_n` over their indices, with an explicit
// execution policy and raw pointers inside the item. It uses nothing else of Thrust, so that every version from 1.17 on works, and one
// program may use all systems. cuda.hpp has the system for GPUs.

#include <thrust/for_each.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/system/cpp/execution_policy.h>
#if defined(LEAT_THRUST_OMP)
#include <thrust/system/omp/execution_policy.h>
#endif
#if defined(LEAT_THRUST_TBB)
#include <thrust/system/tbb/execution_policy.h>
#endif

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <new>

namespace leat::on_thrust {

/// Base of the host systems: arrays are in the host's memory. `Policy` is the class of an execution policy.
template <class Policy>
struct host_system {
  static constexpr bool shares_memory = true;
  static void* allocate(std::size_t bytes) { return ::operator new(bytes, std::align_val_t{64}); }
  static void release(void* p) { ::operator delete(p, std::align_val_t{64}); }
  static void copy_in(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void copy_out(void* to, const void* from, std::size_t bytes) { std::memcpy(to, from, bytes); }
  static void finish() {}

  /// Runs items 0, …, n - 1, each of about `work` elements. Runs them in order on this thread if that takes less time than waking another
  /// one.
  template <class Item>
  static void for_each(std::int64_t n, std::int64_t work, const Item& item) {
    if (n == 1 || n * work <= 8192) {
      for (std::int64_t k = 0; k < n; ++k) item(k);
    } else {
      ::thrust::for_each_n(Policy{}, ::thrust::counting_iterator<std::int64_t>(0), n, item);
    }
  }
};

using serial_system = host_system<::thrust::system::cpp::detail::par_t>;
#if defined(LEAT_THRUST_OMP)
using omp_system = host_system<::thrust::system::omp::detail::par_t>;
#endif
#if defined(LEAT_THRUST_TBB)
using tbb_system = host_system<::thrust::system::tbb::detail::par_t>;
#endif

}  // namespace leat::on_thrust
