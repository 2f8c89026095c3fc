#pragma once
// Memory and results of loops (passes/loops.hpp). The loop itself is run by each device.

#include <leat/kernels/whole_array.hpp>
#include <leat/passes/loops.hpp>

#include <cstring>

namespace leat::kernels {

/// Memory for a result of a loop: nothing is computed.
template <class T>
struct loop_memory_kernel {
  static constexpr bool may_refuse = false;
  loop_memory_kernel(void* const*, const step_numbers&, int) {}
  std::int64_t items() const { return 0; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t) const {}
};
template <>
struct kernel_of<passes::loop_memory_op> : kernel_without_indices<loop_memory_kernel> {
  static constexpr bool only_moves = true;
};

/// Copies the first operand to the result.
template <class T>
struct loop_result_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  std::int64_t count;
  loop_result_kernel(void* const* p, const step_numbers& n)
      : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[2])), count(n.product(0, 0, n.rank(0))) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t k) const { out[k] = in[k]; }
  /// Runs all items on the host.
  void run_all() const {
    if (count > 0) std::memcpy(out, in, static_cast<std::size_t>(count) * sizeof(T));
  }
};
template <>
struct kernel_of<passes::loop_result_op> : kernel_without_indices<loop_result_kernel> {
  static constexpr bool only_moves = true;
};

}  // namespace leat::kernels
