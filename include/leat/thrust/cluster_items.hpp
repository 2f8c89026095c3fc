#pragma once
// The work items of a fused cluster on Thrust's systems: chunks of rows, positions within the rows of a chunk, and the combination of the
// chunks' results. Their types contain only integers and plain types, because nvcc prints them.

#include <leat/kernels/cluster.hpp>
#include <leat/kernels/program_plan.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::on_thrust {

/// Chunk sizes for a GPU: many small chunks.
inline constexpr chunk_limits device_chunks{.elements = 32, .most = 1 << 16, .most_partials = 4096, .most_pieces = 4096};

/// Whether a device runs items by teams of threads.
template <class Device>
concept has_teams = requires { Device::teams; };

namespace detail {

constexpr int at_least_one(int n) { return n > 0 ? n : 1; }

/// Whether the positions of a row are independent, so that each can run the row phases by itself: nothing is carried along the row, and the
/// row phases write nothing that would then be written twice.
template <class Cluster>
constexpr bool is_divisible() {
  bool divisible = Cluster::has_inner && Cluster::spills == 0;
  for (int phase = 0; phase < Cluster::phase_count; ++phase)
    for (int k = 0; k < Cluster::phase_size(phase); ++k) {
      const auto op = Cluster::code[Cluster::phase_at(phase) + words_per_instruction * k];
      const bool lanes = phase % 2 == 0 && phase > 0 && phase < Cluster::phase_count - 1;
      if (op == reduce_lanes || op == reduce_cell || op == finish_all || (op == store && !lanes)) divisible = false;
    }
  return divisible;
}

/// Whether a combined result is written at the end, so that it needs no initialization.
template <class Cluster>
constexpr bool finishes_all(int operand) {
  constexpr int phase = Cluster::phase_count - 1;
  for (int k = 0; k < Cluster::phase_size(phase); ++k) {
    const int at = Cluster::phase_at(phase) + words_per_instruction * k;
    if (Cluster::code[at] == finish_all && Cluster::code[at + 1] == operand) return true;
  }
  return false;
}

enum class cut { chunks, elements };

// Sums over rows by elements: about this many threads, of at least so many rows each.
inline constexpr std::int64_t summing_threads = 1 << 18, fewest_summed_rows = 8;
// Partial results are combined by teams where results are few; where they are many, by threads, first in groups if there are many parts.
inline constexpr std::int64_t few_results = 2048, many_parts = 32, many_parts_for_teams = 256;

/// The threads of a team for rows of this length: as many as there are positions, or 32; 1 for the shortest rows.
constexpr int team_size(term inner) {
  if (inner.powers != 0) return 32;
  int size = 1;
  while (size < 32 && size < inner.factor) size *= 2;
  return size <= 2 ? 1 : size;
}

/// All data of a cluster, stored by value.
template <int Operands, int Loops, int Accumulating>
struct cluster_numbers {
  void* base[at_least_one(Operands)];
  std::int64_t extents[at_least_one(Loops)];
  std::int64_t strides[at_least_one(Operands * Loops)];
  std::int64_t rows, inner;
  std::int64_t chunks, rows_per_chunk, inner_per_chunk;
  bool is_small;  // whether the number of an element takes 32 bits, whose division is many times as fast
  std::byte* scratch;
  std::int64_t scratch_row, own_scratch_row;
  std::byte* parts;  // partial results, by chunk; null if there is one chunk
  std::int64_t part_bytes;
  std::int64_t part_at[at_least_one(Accumulating)];
  std::int64_t part_elements[at_least_one(Accumulating)];
};
template <class Cluster>
using cluster_data = cluster_numbers<Cluster::operands, Cluster::loops, Cluster::accumulating>;

/// The items of a cluster: chunks, or single positions within the rows of each chunk.
template <class Cluster, cut Cut>
struct cluster_items {
  cluster_data<Cluster> data;

  template <int K>
  constexpr void use_part(void** base, std::int64_t chunk) const {
    constexpr int operand = Cluster::accumulating_operand(K);
    base[operand] = data.parts + chunk * data.part_bytes + data.part_at[K];
  }
  template <std::size_t... K>
  constexpr void use_parts(void** base, std::int64_t chunk, std::index_sequence<K...>) const {
    (use_part<static_cast<int>(K)>(base, chunk), ...);
  }

  constexpr void operator()(std::int64_t item) const {
    if constexpr (Cut == cut::chunks) {
      run_chunk(item, data.scratch + item * Cluster::spills * data.scratch_row, data.scratch_row);
    } else {
      std::int64_t chunk = 0;
      if (Cluster::outer > 0)
        chunk = data.is_small ? static_cast<std::uint32_t>(item) / static_cast<std::uint32_t>(data.inner) : item / data.inner;
      run_position(chunk, item - chunk * data.inner);
    }
  }
  /// Runs a chunk with row buffers of its own.
  constexpr void operator()(std::int64_t chunk, std::byte* scratch) const { run_chunk(chunk, scratch, data.own_scratch_row); }
  /// Runs a position within the rows of a chunk.
  constexpr void run_position(std::int64_t chunk, std::int64_t position) const {
    kernels::cluster_range range{0, data.rows, position, position + 1};
    take_rows(range, chunk);
    run(chunk, range, nullptr, 0);
  }

 private:
  constexpr void take_rows(kernels::cluster_range& range, std::int64_t chunk) const {
    range.row_begin = chunk * data.rows_per_chunk;
    if (range.row_begin + data.rows_per_chunk < range.row_end) range.row_end = range.row_begin + data.rows_per_chunk;
  }
  constexpr void run_chunk(std::int64_t chunk, std::byte* scratch, std::int64_t scratch_row) const {
    kernels::cluster_range range{0, data.rows, 0, data.inner};
    if (data.rows_per_chunk > 0) {
      take_rows(range, chunk);
    } else {
      range.begin = chunk * data.inner_per_chunk;
      if (range.begin + data.inner_per_chunk < range.end) range.end = range.begin + data.inner_per_chunk;
    }
    run(chunk, range, scratch, scratch_row);
  }
  constexpr void run(std::int64_t chunk, const kernels::cluster_range& range, std::byte* scratch, std::int64_t scratch_row) const {
    kernels::cluster_arguments a;
    a.extents = data.extents;
    a.strides = data.strides;
    a.scratch = scratch;
    a.scratch_row = scratch_row;
    if constexpr (Cluster::accumulating > 0) {
      void* base[at_least_one(Cluster::operands)];
      for (int k = 0; k < Cluster::operands; ++k) base[k] = data.base[k];
      if (data.parts != nullptr)
        use_parts(base, chunk, std::make_index_sequence<static_cast<std::size_t>(Cluster::accumulating)>{});
      a.base = base;
      Cluster::run(a, range);
    } else {
      a.base = data.base;
      Cluster::run(a, range);
    }
  }
};

/// Item i: sets element i % n of part i / n to the operator's identity.
template <int Code, dtype Type>
struct identity_items {
  std::byte* to;
  std::int64_t n, bytes;
  constexpr void operator()(std::int64_t i) const {
    using T = element_of<Type>;
    static_cast<T*>(static_cast<void*>(to + i / n * bytes))[i % n] = operator_with<Code>::template identity<T>();
  }
};

/// Item i + n g: combines element i of the parts g, g + groups, …, each lane of those that are its own, in order, and writes it to the g-th
/// result.
template <class Lanes, int Code, dtype Type>
struct combine_items {
  std::byte* to;
  std::int64_t to_bytes;
  const std::byte* parts;
  std::int64_t n, chunks, groups, bytes;
  constexpr void operator()(std::int64_t item) const {
    using T = element_of<Type>;
    using op = operator_with<Code>;
    const std::int64_t g = item / n;
    const std::int64_t i = item - g * n;
    std::int64_t c = g;
    if constexpr (kernels::team_of_threads<Lanes>) c += groups * Lanes::lane();
    const auto part = [&](std::int64_t k) { return static_cast<const T*>(static_cast<const void*>(parts + k * bytes))[i]; };
    T all = c < chunks ? part(c) : op::template identity<T>();
    for (c += groups * Lanes::count; c < chunks; c += groups * Lanes::count)
      all = op::template combine<kernels::scalar_math<T>, T>(all, part(c));
    static_cast<T*>(static_cast<void*>(to + g * to_bytes))[i] = Lanes::template across<op, T>(all);
  }
};

}  // namespace detail

}  // namespace leat::on_thrust
