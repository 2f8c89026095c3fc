#pragma once
// What a program's plan consists of: sizes of loops, strides, chunks, and the arena offset of each intermediate result.

#include <leat/core/list.hpp>
#include <leat/passes/lower.hpp>

#include <cstddef>
#include <cstdint>

namespace leat {

/// Positions of a cluster's fields in the plan.
enum plan_field : int {
  plan_rows,            // product of the sizes of the outer loops
  plan_inner,           // size of the innermost loop
  plan_chunks,          // number of chunks
  plan_rows_per_chunk,  // 0 if the innermost loop is cut instead
  plan_inner_per_chunk,
  plan_scratch,      // arena offset of the row buffers
  plan_scratch_row,  // bytes of one row buffer
  plan_partials,     // arena offset of the chunks' partial results
  plan_stores,       // how results are written: `stores_plainly`, ...
  plan_numbers       // start of the sizes, strides, offsets (clusters) or the step's numbers (kernels)
};

/// The memory that a step accesses.
struct workspace {
  void** buffers = nullptr;               // indexed by buffer of the program
  const std::int64_t* numbers = nullptr;  // those of the plan
  std::byte* arena = nullptr;
};

/// The size of chunks: about this many elements, whatever the number of threads, and a smaller number of chunks if their results are
/// combined.
struct chunk_limits {
  std::int64_t elements = 16384;
  std::int64_t most = 64;
  std::int64_t most_partials = 16;  // of rows
  std::int64_t most_pieces = 64;    // of one row whose pieces' results are combined
  std::int64_t last_cache = -1;  // bytes; -1: queried from the system
  std::int64_t alignment = 64;   // of blocks in the arena, in bytes
};

/// How a cluster writes its results: plainly, past the caches, or into cache lines that are prefetched while a row is computed.
inline constexpr std::int64_t stores_plainly = 0, stores_past_caches = 1, stores_fetched = 2;

namespace detail {

// Results of more bytes than these are prefetched, or written past the caches, because they do not fit the processor core's own caches.
inline constexpr std::int64_t fetched_bytes = std::int64_t{1} << 20;
inline constexpr std::int64_t stream_bytes = std::int64_t{8} << 20;

constexpr int plan_size(const program_view::step& s) {
  if (!s.is_cluster) return plan_numbers + s.attribute_count;
  return plan_numbers + s.loop_count + s.operand_count * s.loop_count + s.operand_count;
}
/// The position of the numbers of step `k` in the plan.
constexpr int plan_at(const program_view& p, int k) {
  int at = 0;
  for (int i = 0; i < k; ++i) at += plan_size(p.step_at(i));
  return at;
}

constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }
constexpr std::int64_t divide_up(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Whether a cluster's results may bypass the caches if they are large: no result is combined over rows or chunks, and none is written over
/// an array that the loop reads, which is in the cache already.
[[gnu::cold]] constexpr bool may_stream(const program_view::step& s, const std::int64_t* code) {
  if (code[accumulating_total] != 0) return false;
  const auto lanes = [&](int op, auto each) {
    const std::int64_t* w = code + phase_lengths + 2 * code[stages] + 3;
    for (const std::int64_t* const end = code + s.instruction_count; w + words_per_instruction <= end; w += words_per_instruction)
      if (const auto operand = w[op == load ? 2 : 1]; w[0] == op && operand >= 0 && operand < s.operand_count)
        each(s.operand_buffer(static_cast<int>(operand)));
  };
  bool over = false;
  lanes(store, [&](int written) { lanes(load, [&](int read) { over = over || read == written; }); });
  return !over;
}

}  // namespace detail

/// The offsets of buffers in the arena, and the numbers of every step.
struct program_plan {
  detail::list<std::int64_t> numbers;
  detail::list<std::int64_t> offsets;  // by buffer, or -1
  std::int64_t arena_bytes = 0;
  std::int64_t work = 0;  // the number of elements of the largest cluster
};

/// A program with its plan, as a session holds them. It borrows its members, which must outlive it.
struct planned_program {
  const std::int64_t* data = nullptr;   // the packed program
  const std::int64_t* sizes = nullptr;  // the sizes of named dimensions
  const program_plan* plan = nullptr;
};

}  // namespace leat
