#pragma once
// Clusters cut into chunks, which threads share: a chunk's part of a cluster, and the combination of the chunks' partial results, in
// order, so that results do not depend on the number of threads. kernels/program_plan.hpp decides where to cut.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/cluster.hpp>
#include <leat/kernels/program_plan.hpp>

#include <algorithm>
#include <vector>

namespace leat::cpu::detail {

/// The rows, or positions within rows, of a chunk; `plan` points to the cluster's numbers.
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

// The identity and the combination of a result that chunks share.
struct combined_result {
  int operand;
  bool starts;  // whether it must hold its identity before the first row
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
inline void run_chunks(const chunked_run& c, const kernels::cluster_arguments& a, const std::int64_t* plan,
                       const std::int64_t* result_elements, const int* result_bytes, std::byte* arena) {
  const std::int64_t chunks = plan[plan_chunks];
  std::int64_t partial = 0;
  // A cluster may have more operands than a node: then the lists are allocated.
  std::int64_t few_places[graph::max_operands];
  std::vector<std::int64_t> many_places(c.result_count > static_cast<int>(graph::max_operands) ? static_cast<std::size_t>(c.result_count)
                                                                                               : 0);
  std::int64_t* const partial_at = many_places.empty() ? few_places : many_places.data();
  for (int k = 0; k < c.result_count; ++k) {
    partial_at[k] = partial;
    partial += leat::detail::divide_up(result_elements[k] * result_bytes[k], 64) * 64;
  }
  parallel_for(chunks, [&](std::int64_t chunk) {
    void* few[graph::max_operands];
    std::vector<void*> many(c.operands > static_cast<int>(graph::max_operands) ? static_cast<std::size_t>(c.operands) : 0);
    void** const base = many.empty() ? few : many.data();
    kernels::cluster_arguments mine = a;
    if (c.result_count > 0) {
      std::copy_n(a.base, c.operands, base);
      for (int k = 0; k < c.result_count; ++k) {
        base[c.results[k].operand] = arena + plan[plan_partials] + chunk * partial + partial_at[k];
        if (c.results[k].starts) c.results[k].fill(base[c.results[k].operand], result_elements[k]);
      }
      mine.base = base;
    }
    mine.scratch = a.scratch + chunk * c.spills * a.scratch_row;
    c.run(mine, range_of_chunk(plan, chunk));
    if (mine.stream) stream_fence();
  });
  for (int k = 0; k < c.result_count; ++k)
    c.results[k].combine(a.base[c.results[k].operand], arena + plan[plan_partials] + partial_at[k], result_elements[k], chunks, partial);
}

}  // namespace leat::cpu::detail
