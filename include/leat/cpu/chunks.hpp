#pragma once
// Clusters cut into chunks, which threads share: runs a chunk's part of a cluster, and combines the chunks' partial results in order, so
// that results do not depend on the number of threads. kernels/program_plan.hpp decides where to cut.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/batch.hpp>
#include <leat/kernels/cluster.hpp>
#include <leat/kernels/program_plan.hpp>

#include <algorithm>

namespace leat::cpu::detail {

/// The rows, or positions within rows, of a chunk; `plan` points to the cluster's numbers in the plan.
inline kernels::cluster_range range_of_chunk(const std::int64_t* plan, std::int64_t chunk) {
  kernels::cluster_range r{0, plan[plan_rows], 0, plan[plan_inner]};
  if (plan[plan_rows_per_chunk] > 0) {
    r.row_begin = chunk * plan[plan_rows_per_chunk];
    r.row_end = std::min(r.row_end, r.row_begin + plan[plan_rows_per_chunk]);
  } else {
    r.begin = chunk * plan[plan_inner_per_chunk];
    r.end = std::min(r.end, r.begin + plan[plan_inner_per_chunk]);
  }
  return r;
}

// The initialization and the combination of a result that chunks share.
struct combined_result {
  int operand;
  bool starts;  // whether it must be initialized before the first row
  void (*fill)(void*, std::int64_t);
  void (*combine)(void*, const void*, std::int64_t, std::int64_t, std::int64_t);
};

template <int Code, dtype Type>
void fill_identity(void* to, std::int64_t n) {
  using T = element_of<Type>;
  std::fill_n(static_cast<T*>(to), n, operator_with<Code>::template identity<T>());
}
template <int Code, dtype Type>
void combine_chunks(void* to, const void* parts, std::int64_t n, std::int64_t chunks, std::int64_t stride) {
  using T = element_of<Type>;
  T* out = static_cast<T*>(to);
  for (std::int64_t c = 0; c < chunks; ++c) {
    const T* part = static_cast<const T*>(static_cast<const void*>(static_cast<const std::byte*>(parts) + c * stride));
    if (c == 0)
      std::copy_n(part, n, out);
    else
      for (std::int64_t i = 0; i < n; ++i) out[i] = operator_with<Code>::template combine<kernels::scalar_math<T>, T>(out[i], part[i]);
  }
}

/// A cluster cut into chunks: threads take chunks, and shared results are combined in order.
struct chunked_run {
  void (*run)(const kernels::cluster_arguments&, const kernels::cluster_range&);
  const combined_result* results;
  int result_count;
  int operands;
  int spills;
};
void run_chunks(const chunked_run& c, const kernels::cluster_arguments& a, const std::int64_t* plan, const std::int64_t* result_elements,
                const int* result_bytes, std::byte* arena);

}  // namespace leat::cpu::detail

#if LEAT_WITH_BODIES
#include <leat/cpu/impl/chunks.hpp>
#endif
