#pragma once
// The evaluator of fused clusters, for every device. It iterates over the phases of a cluster's instructions (cluster/instructions.hpp),
// over rows, and over positions of the innermost loop, each of which holds one `Lanes` (cluster/lanes.hpp), and runs each instruction
// (cluster/evaluation.hpp). Everything is a constexpr template without library calls, so that nvcc compiles it for the device.

#include <leat/kernels/cluster/evaluation.hpp>
#include <leat/kernels/cluster/instructions.hpp>
#include <leat/passes/lower.hpp>

namespace leat::kernels {

/// A fused cluster: `cluster<scalar_lanes, instructions<hash>>::run(arguments, range)`; see `cluster_of`.
template <class Lanes, class Instructions>
struct cluster {
  static constexpr const std::int64_t* code = Instructions::code;
  /// A word of the instructions as a constant: the list itself is not in a GPU's memory, so no device code may read it.
  static consteval std::int64_t word(int at) { return code[at]; }
  static constexpr int operands = static_cast<int>(code[operand_total]);
  static constexpr int outer = static_cast<int>(code[outer_loops]);
  static constexpr bool has_inner = code[has_lanes] != 0;
  static constexpr int stage_count = static_cast<int>(code[stages]);
  static constexpr int loops = has_inner ? outer + 1 : 0;
  static constexpr int accumulators = static_cast<int>(code[accumulator_total]);
  static constexpr int accumulating = static_cast<int>(code[accumulating_total]);
  static constexpr int spills = static_cast<int>(code[spill_total]);

  static constexpr bool is_batch = Lanes::count > 1 && !team_of_threads<Lanes>;

  using lane_file = detail::registers<Lanes, static_cast<int>(code[lane_registers]), static_cast<int>(code[lane_registers + 1]),
                                      static_cast<int>(code[lane_registers + 2]), static_cast<int>(code[lane_registers + 3]),
                                      static_cast<int>(code[lane_registers + 4]), static_cast<int>(code[lane_registers + 5])>;
  using scalar_file =
      detail::registers<scalar_lanes, static_cast<int>(code[scalar_registers]), static_cast<int>(code[scalar_registers + 1]),
                        static_cast<int>(code[scalar_registers + 2]), static_cast<int>(code[scalar_registers + 3]),
                        static_cast<int>(code[scalar_registers + 4]), static_cast<int>(code[scalar_registers + 5])>;

  // Phases: 0 is once, 1 + 2t is row t, 2 + 2t is lanes t; the second to last is the last row phase, and the last one runs at the end.
  static constexpr int phase_count = 2 * stage_count + 3;
  static constexpr int phase_size(int phase) { return static_cast<int>(code[phase_lengths + phase]); }
  static constexpr int phase_at(int phase) {
    int at = phase_lengths + phase_count + 3 * accumulating;
    for (int p = 0; p < phase; ++p) at += words_per_instruction * phase_size(p);
    return at;
  }
  /// Operand, operator and dtype of the k-th result that is combined over rows or chunks.
  static constexpr int accumulating_operand(int k) { return static_cast<int>(code[phase_lengths + phase_count + 3 * k]); }
  static constexpr int accumulating_code(int k) { return static_cast<int>(code[phase_lengths + phase_count + 3 * k + 1]); }
  static constexpr dtype accumulating_type(int k) { return static_cast<dtype>(code[phase_lengths + phase_count + 3 * k + 2]); }

  static constexpr bool lanes_reduce(int phase) {
    for (int k = 0; k < phase_size(phase); ++k)
      if (code[phase_at(phase) + words_per_instruction * k] == reduce_lanes) return true;
    return false;
  }
  // The number of independent accumulators, which hide the latency of a reduction's additions.
  static constexpr int unroll = [] {
    if (Lanes::count == 1) return 1;
    int longest = 0;
    bool reduces = false;
    for (int t = 0; t < stage_count; ++t) {
      if (phase_size(2 + 2 * t) > longest) longest = phase_size(2 + 2 * t);
      reduces = reduces || lanes_reduce(2 + 2 * t);
    }
    return reduces && longest <= 24 ? 4 : 1;
  }();
  static constexpr bool is_large = [] {
    for (int t = 0; t < stage_count; ++t)
      if (phase_size(2 + 2 * t) > 64) return is_batch;
    return false;
  }();
  // Whether the cluster works on small arrays of many models. Its registers must then not go through memory, and its instructions are
  // short. It has a store for each element of a matrix, mostly to memory that it has read, so no store bypasses the caches.
  static constexpr bool is_unrolled = [] {
    const int size = phase_size(2);
    if (stage_count != 1 || size > 1024) return false;
    if (code[of_models] != 0) return true;
    const std::int64_t* at = code + phase_at(2);
    for (const std::int64_t* const end = at + words_per_instruction * size; at != end; at += words_per_instruction)
      if (*at == operator_record<multiply_add_op>::code) return true;
    return false;
  }();
  static constexpr int accumulator_slots = accumulators * unroll;
  using accumulator_file = detail::registers<Lanes, accumulator_slots, accumulator_slots, accumulator_slots, accumulator_slots,
                                             accumulator_slots, accumulator_slots>;

  using state = detail::evaluation<Lanes, lane_file, scalar_file, accumulator_file, operands, outer, loops, unroll, is_large,
                                   !is_unrolled>;

  // Instructions are expanded in groups, because the cost of expanding a pack grows with the square of its length.
  static constexpr int group = 32;
  static constexpr int group_size(int size, int begin) { return size - begin < group ? size - begin : group; }

  template <int At, int Size>
  struct scalar_run {
    template <std::size_t... I>
    [[gnu::always_inline]] static constexpr void run(state& s, lane_file& none, const cluster_arguments& a, std::index_sequence<I...>) {
      constexpr int w = words_per_instruction;
      (detail::scalar_step<state, code[At + w * int(I) + 5]>::run(s, none, a, word(At + w * int(I) + 1), word(At + w * int(I) + 2),
                                                                 word(At + w * int(I) + 3), word(At + w * int(I) + 4)),
       ...);
    }
    [[gnu::always_inline]] static constexpr void run(state& s, lane_file& none, const cluster_arguments& a) {
      run(s, none, a, std::make_index_sequence<static_cast<std::size_t>(group_size(Size, 0))>{});
      if constexpr (Size > group) scalar_run<At + words_per_instruction * group, Size - group>::run(s, none, a);
    }
  };
  template <int Phase>
  [[gnu::always_inline]] static constexpr void scalar_phase(state& s, const cluster_arguments& a) {
    [[maybe_unused]] lane_file none;
    if constexpr (phase_size(Phase) > 0) scalar_run<phase_at(Phase), phase_size(Phase)>::run(s, none, a);
  }
  // In a very large cluster, each group is a separate function, which leaves its results in memory.
  template <int At, bool Partial, int Copy, std::size_t... I>
  [[gnu::always_inline]] static constexpr void lane_group(state& s, lane_file& lanes, const detail::chunk_place& place,
                                                          std::index_sequence<I...>) {
    constexpr int w = words_per_instruction;
    (detail::lane_step<state, Partial, Copy, code[At + w * int(I) + 5]>::run(
         s, lanes, place, word(At + w * int(I) + 1), word(At + w * int(I) + 2), word(At + w * int(I) + 3), word(At + w * int(I) + 4)),
     ...);
  }
  template <int At, int Size, bool Partial, int Copy>
  [[gnu::noinline]] static constexpr void lane_group_apart(state& s, lane_file& lanes, const detail::chunk_place& place) {
    lane_group<At, Partial, Copy>(s, lanes, place, std::make_index_sequence<static_cast<std::size_t>(Size)>{});
  }
  template <int At, int Size, bool Partial, int Copy, std::size_t... G>
  [[gnu::always_inline]] static constexpr void lane_groups(state& s, lane_file& lanes, const detail::chunk_place& place,
                                                           std::index_sequence<G...>) {
    (lane_group_apart<At + words_per_instruction * group * int(G), group_size(Size, group * int(G)), Partial, Copy>(s, lanes, place), ...);
  }
  template <int At, int Size, bool Partial, int Copy, std::size_t... G>
  [[gnu::always_inline]] static constexpr void lane_groups_in_place(state& s, lane_file& lanes, const detail::chunk_place& place,
                                                                    std::index_sequence<G...>) {
    (lane_group<At + words_per_instruction * group * int(G), Partial, Copy>(
         s, lanes, place, std::make_index_sequence<static_cast<std::size_t>(group_size(Size, group * int(G)))>{}),
     ...);
  }
  template <int Phase, bool Partial, int Copy>
  [[gnu::always_inline]] static constexpr void lane_chunk(state& s, const detail::chunk_place& place) {
    lane_file lanes;
    constexpr int size = phase_size(Phase);
    if constexpr (is_large && is_unrolled && !Partial)
      lane_groups_in_place<phase_at(Phase), size, Partial, Copy>(
          s, lanes, place, std::make_index_sequence<static_cast<std::size_t>((size + group - 1) / group)>{});
    else if constexpr (is_large)
      lane_groups<phase_at(Phase), size, Partial, Copy>(s, lanes, place,
                                                        std::make_index_sequence<static_cast<std::size_t>((size + group - 1) / group)>{});
    else
      lane_group<phase_at(Phase), Partial, Copy>(s, lanes, place, std::make_index_sequence<static_cast<std::size_t>(size)>{});
  }
  template <int At, int Size, bool Row>
  [[gnu::always_inline]] static constexpr void start_from(state& s) {
    if constexpr (Size > 0) {
      if constexpr (code[At] == reduce_lanes) s.template start_accumulator<Row, code[At + 5]>(word(At + 1));
      start_from<At + words_per_instruction, Size - 1, Row>(s);
    }
  }
  template <int Phase, bool Row>
  [[gnu::always_inline]] static constexpr void start_phase(state& s) {
    if constexpr (lanes_reduce(Phase)) start_from<phase_at(Phase), phase_size(Phase), Row>(s);
  }

  // Whether the rows of an operand are looked up.
  static constexpr bool is_looked_up(std::int64_t operand) {
    for (int k = 0; k < phase_size(1); ++k)
      if (const int at = phase_at(1) + words_per_instruction * k; code[at] == look_up && code[at + 1] == operand) return true;
    return false;
  }
  static constexpr bool looks_up = [] {
    for (int k = 0; k < phase_size(1); ++k)
      if (code[phase_at(1) + words_per_instruction * k] == look_up) return true;
    return false;
  }();
  // The first array that a lanes phase accesses with `op`, element after element, or -1. Looked-up rows do not count, because they are not
  // contiguous.
  static constexpr int array_of(int phase, std::int64_t op, int word_of_operand) {
    for (int k = 0; k < phase_size(phase); ++k) {
      const int at = phase_at(phase) + words_per_instruction * k;
      const std::int64_t operand = code[at + word_of_operand];
      if (code[at] == op && code[at + 3] == 1 && !is_looked_up(operand)) return static_cast<int>(operand);
    }
    return -1;
  }
  // For rows of several stages: the operand that the first stage reads, and the one that the last stage writes, or -1. While the second
  // stage works on a row in the cache, the next row is prefetched, because hardware prefetchers stop at the row's end, and so are the lines
  // to which this row's result will be written.
  static constexpr bool has_stages = stage_count >= 2 && outer == 1 && is_batch;
  static constexpr int read_operand = has_stages ? array_of(2, load, 2) : -1;
  static constexpr int written_operand = has_stages ? array_of(2 * stage_count, store, 1) : -1;
  template <int Phase>
  [[gnu::always_inline]] static constexpr void fetch_ahead(const cluster_arguments& a, const detail::chunk_place& place) {
    constexpr int bytes = static_cast<int>(code[lane_width]);
    if constexpr (read_operand >= 0 && Phase == 4) {
      const auto next = place.row[read_operand] + a.strides[read_operand * loops] + place.j;
      __builtin_prefetch(static_cast<const std::byte*>(a.base[read_operand]) + next * bytes);
    }
    if constexpr (written_operand >= 0 && Phase == 4 && stage_count > 2)
      if (a.fetches)
        __builtin_prefetch(static_cast<const std::byte*>(a.base[written_operand]) + (place.row[written_operand] + place.j) * bytes, 1);
  }

  template <int Phase>
  [[gnu::always_inline]] static constexpr void lane_phase(state& s, const cluster_arguments& a, const cluster_range& r) {
    start_phase<Phase, true>(s);
    if constexpr (phase_size(Phase) > 0) {
      detail::chunk_place place{&a, s.row_offset, r.begin, r.begin, Lanes::count};
      if constexpr (unroll == 4) {
        for (; place.j + 4 * Lanes::count <= r.end;) {
          fetch_ahead<Phase>(a, place);
          lane_chunk<Phase, false, 0>(s, place);
          place.j += Lanes::count;
          fetch_ahead<Phase>(a, place);
          lane_chunk<Phase, false, 1>(s, place);
          place.j += Lanes::count;
          fetch_ahead<Phase>(a, place);
          lane_chunk<Phase, false, 2>(s, place);
          place.j += Lanes::count;
          fetch_ahead<Phase>(a, place);
          lane_chunk<Phase, false, 3>(s, place);
          place.j += Lanes::count;
        }
      }
      if constexpr (is_large && !is_unrolled) {  // the same code serves whole batches and the remainder
        for (; place.j < r.end; place.j += Lanes::count) {
          place.n = r.end - place.j < Lanes::count ? static_cast<int>(r.end - place.j) : Lanes::count;
          lane_chunk<Phase, true, 0>(s, place);
        }
      } else {
        for (; place.j + Lanes::count <= r.end; place.j += Lanes::count) {
          fetch_ahead<Phase>(a, place);
          lane_chunk<Phase, false, 0>(s, place);
        }
        if constexpr (Lanes::count > 1) {
          if (place.j < r.end) {
            place.n = static_cast<int>(r.end - place.j);
            lane_chunk<Phase, true, 0>(s, place);
          }
        }
      }
    }
  }

  // Whether the cluster sums over rows, as for the gradient of a bias: four rows are then combined in registers before the array is
  // accessed.
  static constexpr bool combines_rows = [] {
    if (Lanes::count == 1 || stage_count != 1 || outer != 1 || phase_size(1) != 0 || phase_size(3) != 0 || phase_size(2) > 24) return false;
    for (int k = 0; k < phase_size(2); ++k) {
      const int at = phase_at(2) + words_per_instruction * k;
      if (code[at] == reduce_array && code[at + 4] == 1) return true;
    }
    return false;
  }();
  template <bool Partial, int Copy, std::size_t... I>
  [[gnu::always_inline]] static constexpr void one_of_four_rows(lane_file& lanes, state& s, const detail::chunk_place& place,
                                                                std::index_sequence<I...>) {
    (instruction_but_reduce_array<Partial, Copy, phase_at(2) + words_per_instruction * static_cast<int>(I)>(lanes, s, place), ...);
  }
  template <bool Partial, int Copy, int At>
  [[gnu::always_inline]] static constexpr void instruction_but_reduce_array(lane_file& lanes, state& s, const detail::chunk_place& place) {
    if constexpr (code[At] != reduce_array) s.template lane_instruction<Partial, Copy, code[At + 5]>(
          lanes, place, word(At + 1), word(At + 2), word(At + 3), word(At + 4));
  }
  template <bool Partial, int At>
  [[gnu::always_inline]] static constexpr void reduce_four_rows(lane_file (&lanes)[4], const cluster_arguments& a,
                                                                const detail::chunk_place& place) {
    if constexpr (code[At] == reduce_array) {
      constexpr dtype type = register_type(unpack_signature(code[At + 5]).x);
      using T = element_of<type>;
      using reduction = operator_with<static_cast<int>(code[At + 3])>;
      using math = typename Lanes::template math<T>;
      constexpr auto k = word(At + 2);
      T* to = detail::pointer<T>(a, word(At + 1), place.row[word(At + 1)] + place.j);
      const auto rows = reduction::template combine<math>(
          reduction::template combine<math>(lanes[0].template of<type>()[k], lanes[1].template of<type>()[k]),
          reduction::template combine<math>(lanes[2].template of<type>()[k], lanes[3].template of<type>()[k]));
      Lanes::template store<T, Partial>(to, reduction::template combine<math>(Lanes::template load<T, Partial>(to, place.n), rows),
                                        place.n);
    }
  }
  template <bool Partial, std::size_t... I>
  [[gnu::always_inline]] static constexpr void four_rows_chunk(state& s, const cluster_arguments& a, detail::chunk_place (&place)[4],
                                                               std::int64_t j, int n, std::index_sequence<I...> all) {
    lane_file lanes[4];
    for (auto& p : place) {
      p.j = j;
      p.n = n;
    }
    constexpr bool apart = unroll == 4;
    one_of_four_rows<Partial, 0>(lanes[0], s, place[0], all);
    one_of_four_rows<Partial, apart ? 1 : 0>(lanes[1], s, place[1], all);
    one_of_four_rows<Partial, apart ? 2 : 0>(lanes[2], s, place[2], all);
    one_of_four_rows<Partial, apart ? 3 : 0>(lanes[3], s, place[3], all);
    (reduce_four_rows<Partial, phase_at(2) + words_per_instruction * static_cast<int>(I)>(lanes, a, place[0]), ...);
  }
  // Runs all complete groups of four rows; returns the first row that remains.
  [[gnu::always_inline]] static constexpr std::int64_t run_four_rows(state& s, const cluster_arguments& a, const cluster_range& r) {
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(phase_size(2))>{};
    std::int64_t row = r.row_begin;
    std::int64_t offset[4][operands > 0 ? operands : 1]{};
    detail::chunk_place place[4]{};
    for (; row + 4 <= r.row_end; row += 4) {
      for (int u = 0; u < 4; ++u) {
        for (int k = 0; k < operands; ++k) offset[u][k] = (row + u) * a.strides[k * loops];
        place[u] = {&a, offset[u], r.begin, r.begin, Lanes::count};
      }
      std::int64_t j = r.begin;
      for (; j + Lanes::count <= r.end; j += Lanes::count) four_rows_chunk<false>(s, a, place, j, Lanes::count, all);
      if (j < r.end) four_rows_chunk<true>(s, a, place, j, static_cast<int>(r.end - j), all);
    }
    return row;
  }

  template <std::size_t... T>
  [[gnu::always_inline]] static constexpr void run_row(state& s, const cluster_arguments& a, const cluster_range& r,
                                                       std::index_sequence<T...>) {
    ((scalar_phase<1 + 2 * static_cast<int>(T)>(s, a), lane_phase<2 + 2 * static_cast<int>(T)>(s, a, r)), ...);
    scalar_phase<1 + 2 * stage_count>(s, a);
  }
  template <std::size_t... T>
  [[gnu::always_inline]] static constexpr void start_all(state& s, std::index_sequence<T...>) {
    (start_phase<2 + 2 * static_cast<int>(T), false>(s), ...);
  }

  // The results that stay in registers, where the lanes keep them: their start, and their end.
  template <int K>
  [[gnu::always_inline]] static constexpr auto& sum_of(state& s) {
    return s.sums.template of<accumulating_type(K)>()[accumulating_operand(K)];
  }
  template <std::size_t... K>
  [[gnu::always_inline]] static constexpr void start_sums(state& s, std::index_sequence<K...>) {
    ((sum_of<static_cast<int>(K)>(s) = operator_with<accumulating_code(static_cast<int>(K))>::template identity<
          element_of<accumulating_type(static_cast<int>(K))>>()),
     ...);
  }
  template <int K>
  [[gnu::always_inline]] static constexpr void write_sum(state& s, const cluster_arguments& a, std::int64_t position) {
    constexpr int operand = accumulating_operand(K);
    *detail::pointer<element_of<accumulating_type(K)>>(a, operand, position * a.strides[operand * loops + outer]) = sum_of<K>(s);
  }
  template <std::size_t... K>
  [[gnu::always_inline]] static constexpr void write_sums(state& s, const cluster_arguments& a, std::int64_t position,
                                                          std::index_sequence<K...>) {
    (write_sum<static_cast<int>(K)>(s, a, position), ...);
  }

  [[gnu::always_inline]] static constexpr void place_row(state& s, const cluster_arguments& a, std::int64_t row) {
    if constexpr (outer > 0) {
      std::int64_t rest = row;
      for (int l = outer - 1; l >= 0; --l) {
        s.row_index[l] = l == 0 ? rest : rest % a.extents[l];
        if (l > 0) rest /= a.extents[l];
      }
      for (int k = 0; k < operands; ++k) {
        std::int64_t offset = 0;
        for (int l = 0; l < outer; ++l) offset += s.row_index[l] * a.strides[k * loops + l];
        s.row_offset[k] = offset;
      }
    }
  }

  /// Runs a range of rows, or of positions within rows. Results that are combined over rows (`accumulating_operand`) must be initialized
  /// with the operator's identity, unless the lanes keep them in registers.
  [[gnu::always_inline]] static constexpr void run(const cluster_arguments& a, const cluster_range& r) {
    state s;
    scalar_phase<0>(s, a);
    if constexpr (has_inner) {
      constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(stage_count)>{};
      if constexpr (unroll == 4) s.fills_copies = r.end - r.begin >= 4 * Lanes::count || combines_rows;
      start_all(s, all);
      [[maybe_unused]] constexpr auto results = std::make_index_sequence<static_cast<std::size_t>(accumulating)>{};
      if constexpr (keeps_sums<Lanes>) start_sums(s, results);
      std::int64_t row = r.row_begin;
      if constexpr (combines_rows) row = run_four_rows(s, a, r);
      for (; row < r.row_end; ++row) {
        place_row(s, a, row);
        run_row(s, a, r, all);
      }
      if constexpr (keeps_sums<Lanes>) write_sums(s, a, r.begin, results);
    }
    if constexpr (outer > 0)
      for (int k = 0; k < operands; ++k) s.row_offset[k] = 0;
    scalar_phase<2 + 2 * stage_count>(s, a);
  }
};

/// Whether the last phase of a cluster writes all elements of a combined result, so that nothing must be written before the first row.
template <class Cluster>
constexpr bool finishes_all(int operand) {
  constexpr int phase = 2 + 2 * Cluster::stage_count;
  for (int k = 0; k < Cluster::phase_size(phase); ++k) {
    const int at = Cluster::phase_at(phase) + words_per_instruction * k;
    if (Cluster::code[at] == finish_all && Cluster::code[at + 1] == operand) return true;
  }
  return false;
}

/// The cluster of a program's step.
template <class Lanes, class Program, int Step>
using cluster_of = cluster<Lanes, instructions<detail::known_cluster<Program, Step>()>>;

namespace detail {
template <class Lanes, class Program, int Step, std::size_t... I>
constexpr auto write_cluster(std::index_sequence<I...>)
    -> cluster<Lanes, written_instructions<Program::data[static_cast<std::size_t>(Program::view.step_at(Step).instructions) + I]...>>;
}  // namespace detail

/// `cluster_of` with the instructions as template arguments, for device code.
template <class Lanes, class Program, int Step>
using written_cluster_of = decltype(detail::write_cluster<Lanes, Program, Step>(
    std::make_index_sequence<static_cast<std::size_t>(Program::view.step_at(Step).instruction_count)>{}));

}  // namespace leat::kernels
