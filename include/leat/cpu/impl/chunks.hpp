#pragma once
// The bodies of cpu/chunks.hpp: see core/function_bodies.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/chunks.hpp>
#include <leat/cpu/parallel.hpp>

#include <algorithm>
#include <vector>

namespace leat::cpu::detail {

LEAT_FUNCTION void run_chunks(const chunked_run& c, const kernels::cluster_arguments& a, const std::int64_t* plan,
                              const std::int64_t* result_elements, const int* result_bytes, std::byte* arena) {
  const std::int64_t chunks = plan[plan_chunks];
  std::int64_t partial = 0;
  // A cluster may have more operands than a node; the lists are then allocated.
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
