#pragma once
// The evaluator of fused clusters, for every device. A cluster's type is its instruction list, a pack of integers, so that
// equal clusters share their code. `Lanes` says what one position of the innermost loop holds: one element
// (`scalar_lanes`), or a SIMD batch (`cpu/lanes.hpp`). Everything is a constexpr template without library calls, so that
// nvcc compiles it for the device.

#include <leat/cpu/math/scalar_math.hpp>
#include <leat/passes/instruction.hpp>
#include <leat/passes/lower.hpp>

namespace leat::kernels {

/// One element at a time.
struct scalar_lanes {
  static constexpr int count = 1;
  template <class T>
  using value = T;
  template <class T>
  using math = cpu::scalar_math<T>;
  template <class T, bool Partial>
  static constexpr T load(const T* p, int) {
    return *p;
  }
  template <class T, bool Partial>
  static constexpr void store(T* p, T v, int) {
    *p = v;
  }
  template <class T, bool Partial>
  static constexpr T load_strided(const T* p, std::int64_t, int) {
    return *p;
  }
  template <class T, bool Partial>
  static constexpr void store_strided(T* p, std::int64_t, T v, int) {
    *p = v;
  }
  template <class T>
  static constexpr T broadcast(T v) {
    return v;
  }
  template <class T>
  static constexpr T position(std::int64_t j) {
    return static_cast<T>(j);
  }
  template <class T, bool Partial>
  static constexpr T or_else(T v, T, int) {
    return v;
  }
  template <class To, class V>
  static constexpr To convert(V v) {
    return cpu::scalar_math<V>::template cast<To>(v);
  }
  template <class Op, class T>
  static constexpr T across(T v) {
    return v;
  }
};

/// What a cluster runs on: memory, sizes, strides. All lengths in elements.
struct cluster_arguments {
  void* const* base = nullptr;              // of each operand, offset included
  const std::int64_t* extents = nullptr;    // of the loops, outermost first
  const std::int64_t* strides = nullptr;    // [operand][loop]
  std::byte* scratch = nullptr;             // row buffers of one worker
  std::int64_t scratch_row = 0;             // bytes of one
  bool stream = false;                      // results are too large for the caches
};

/// The part of a cluster that one worker runs.
struct cluster_range {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 1;
  std::int64_t begin = 0;
  std::int64_t end = 1;
};

namespace detail {

template <class T, int N>
struct register_array {
  T value[N];
};
template <class T>
struct register_array<T, 0> {};

template <class Lanes, int F, int D, int I, int L, int U, int B>
struct registers {
  [[no_unique_address]] register_array<typename Lanes::template value<float>, F> f;
  [[no_unique_address]] register_array<typename Lanes::template value<double>, D> d;
  [[no_unique_address]] register_array<typename Lanes::template value<std::int32_t>, I> i;
  [[no_unique_address]] register_array<typename Lanes::template value<std::int64_t>, L> l;
  [[no_unique_address]] register_array<typename Lanes::template value<std::uint8_t>, U> u;
  [[no_unique_address]] register_array<typename Lanes::template value<bool>, B> b;
  template <dtype Type>
  [[gnu::always_inline]] constexpr auto& of() {
    if constexpr (Type == dtype::float32)
      return f.value;
    else if constexpr (Type == dtype::float64)
      return d.value;
    else if constexpr (Type == dtype::int32)
      return i.value;
    else if constexpr (Type == dtype::int64)
      return l.value;
    else if constexpr (Type == dtype::uint8)
      return u.value;
    else
      return b.value;
  }
};

// Where in memory the instructions of one chunk of lanes work.
struct chunk_place {
  const cluster_arguments* arguments;
  const std::int64_t* row;  // offset of each operand at this row
  std::int64_t j;           // position in the row
  std::int64_t start;       // first position of the worker's range
  int n;                    // lanes in use
};

template <std::int64_t R, bool AsScalar, class Lanes, class LF, class SF>
[[gnu::always_inline]] constexpr auto read(LF& lanes, SF& scalars) {
  constexpr int k = register_number(R);
  if constexpr (register_is_scalar(R)) {
    if constexpr (AsScalar)
      return scalars.template of<register_type(R)>()[k];
    else
      return Lanes::template broadcast<element_of<register_type(R)>>(scalars.template of<register_type(R)>()[k]);
  } else {
    return lanes.template of<register_type(R)>()[k];
  }
}

// One operator.
template <class Lanes, std::int64_t Op, std::int64_t D, std::int64_t A, std::int64_t B, std::int64_t C, class LF, class SF>
[[gnu::always_inline]] constexpr void apply_operator(LF& lanes, SF& scalars) {
  using op = operator_with<static_cast<int>(Op)>;
  constexpr bool scalar = register_is_scalar(D);
  constexpr dtype type = C >= 0 ? register_type(B) : register_type(A);
  using T = element_of<type>;
  using math = std::conditional_t<scalar, cpu::scalar_math<T>, typename Lanes::template math<T>>;
  using To = element_of<register_type(D)>;
  auto a = read<A, scalar, Lanes>(lanes, scalars);
  auto result = [&] {
    if constexpr (requires { op::converts; }) {
      if constexpr (scalar)
        return scalar_lanes::convert<To>(a);
      else
        return Lanes::template convert<To>(a);
    } else if constexpr (C >= 0) {
      return op::template apply<math>(a, read<B, scalar, Lanes>(lanes, scalars), read<C, scalar, Lanes>(lanes, scalars));
    } else if constexpr (B >= 0) {
      return op::template apply<math>(a, read<B, scalar, Lanes>(lanes, scalars));
    } else {
      return op::template apply<math>(a);
    }
  }();
  if constexpr (scalar)
    scalars.template of<register_type(D)>()[register_number(D)] = static_cast<To>(result);
  else
    lanes.template of<register_type(D)>()[register_number(D)] = result;
}

}  // namespace detail

/// A fused cluster: `cluster<scalar_lanes, code…>::run(arguments, range)`.
template <class Lanes, std::int64_t... Code>
struct cluster {
  static constexpr std::int64_t code[sizeof...(Code)]{Code...};
  static constexpr int operands = static_cast<int>(code[operand_total]);
  static constexpr int outer = static_cast<int>(code[outer_loops]);
  static constexpr bool has_inner = code[has_lanes] != 0;
  static constexpr int stage_count = static_cast<int>(code[stages]);
  static constexpr int loops = has_inner ? outer + 1 : 0;
  static constexpr int accumulators = static_cast<int>(code[accumulator_total]);
  static constexpr int accumulating = static_cast<int>(code[accumulating_total]);
  static constexpr int spills = static_cast<int>(code[spill_total]);

  using lane_file = detail::registers<Lanes, static_cast<int>(code[lane_registers]), static_cast<int>(code[lane_registers + 1]),
                                      static_cast<int>(code[lane_registers + 2]), static_cast<int>(code[lane_registers + 3]),
                                      static_cast<int>(code[lane_registers + 4]), static_cast<int>(code[lane_registers + 5])>;
  using scalar_file =
      detail::registers<scalar_lanes, static_cast<int>(code[scalar_registers]), static_cast<int>(code[scalar_registers + 1]),
                        static_cast<int>(code[scalar_registers + 2]), static_cast<int>(code[scalar_registers + 3]),
                        static_cast<int>(code[scalar_registers + 4]), static_cast<int>(code[scalar_registers + 5])>;

  // phases: 0 once, 1 + 2t row t, 2 + 2t lanes t, then the last row, then last
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
  // Independent accumulators, to hide the latency of a reduction's additions.
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
  static constexpr int accumulator_slots = accumulators * unroll;
  using accumulator_file = detail::registers<Lanes, accumulator_slots, accumulator_slots, accumulator_slots, accumulator_slots,
                                             accumulator_slots, accumulator_slots>;

  struct state {
    lane_file lanes;
    scalar_file scalars;
    accumulator_file accumulators;
    std::int64_t row_offset[operands > 0 ? operands : 1]{};
    std::int64_t row_index[outer > 0 ? outer : 1]{};
  };

  template <class T>
  [[gnu::always_inline]] static constexpr T* pointer(const cluster_arguments& a, int operand, std::int64_t offset) {
    return static_cast<T*>(a.base[operand]) + offset;
  }

  template <int At>
  [[gnu::always_inline]] static constexpr void scalar_instruction(state& s, const cluster_arguments& a) {
    constexpr auto op = code[At];
    constexpr auto d = code[At + 1];
    constexpr auto x = code[At + 2];
    constexpr auto y = code[At + 3];
    constexpr auto z = code[At + 4];
    if constexpr (op == load) {
      using T = element_of<register_type(d)>;
      s.scalars.template of<register_type(d)>()[register_number(d)] = *pointer<const T>(a, static_cast<int>(x), s.row_offset[x]);
    } else if constexpr (op == store) {
      using T = element_of<register_type(x)>;
      *pointer<T>(a, static_cast<int>(d), s.row_offset[d]) = s.scalars.template of<register_type(x)>()[register_number(x)];
    } else if constexpr (op == immediate) {
      using T = element_of<register_type(d)>;
      if constexpr (std::is_floating_point_v<T>)
        s.scalars.template of<register_type(d)>()[register_number(d)] = static_cast<T>(__builtin_bit_cast(double, x));
      else
        s.scalars.template of<register_type(d)>()[register_number(d)] = static_cast<T>(x);
    } else if constexpr (op == position) {
      s.scalars.template of<register_type(d)>()[register_number(d)] = static_cast<element_of<register_type(d)>>(s.row_index[x]);
    } else if constexpr (op == finish_row) {
      s.scalars.template of<register_type(d)>()[register_number(d)] = finish<x, y, register_type(d)>(s);
    } else if constexpr (op == finish_all) {
      using T = element_of<static_cast<dtype>(z)>;
      *pointer<T>(a, static_cast<int>(d), s.row_offset[d]) = finish<x, y, static_cast<dtype>(z)>(s);
    } else if constexpr (op == reduce_cell) {
      using T = element_of<register_type(x)>;
      T* cell = pointer<T>(a, static_cast<int>(d), s.row_offset[d]);
      *cell = operator_with<static_cast<int>(y)>::template combine<cpu::scalar_math<T>, T>(
          *cell, s.scalars.template of<register_type(x)>()[register_number(x)]);
    } else {
      detail::apply_operator<Lanes, op, d, x, y, z>(s.lanes, s.scalars);
    }
  }

  // The accumulators of one reduction as one number, combined as a tree.
  template <std::int64_t Accumulator, std::int64_t Op, dtype Type>
  [[gnu::always_inline]] static constexpr auto finish(state& s) {
    using T = element_of<Type>;
    using op = operator_with<static_cast<int>(Op)>;
    using math = typename Lanes::template math<T>;
    auto& parts = s.accumulators.template of<Type>();
    constexpr auto at = Accumulator * unroll;
    if constexpr (unroll == 4)
      return Lanes::template across<op, T>(op::template combine<math>(op::template combine<math>(parts[at], parts[at + 1]),
                                                                      op::template combine<math>(parts[at + 2], parts[at + 3])));
    else
      return Lanes::template across<op, T>(parts[at]);
  }

  template <int At, bool Row>
  [[gnu::always_inline]] static constexpr void start_accumulator(state& s) {
    if constexpr (code[At] == reduce_lanes && (code[At + 4] == 1) == Row) {
      constexpr dtype type = register_type(code[At + 2]);
      using T = element_of<type>;
      using op = operator_with<static_cast<int>(code[At + 3])>;
      for (int u = 0; u < unroll; ++u)
        s.accumulators.template of<type>()[code[At + 1] * unroll + u] = Lanes::template broadcast<T>(op::template identity<T>());
    }
  }

  template <int At, bool Partial, int Copy>
  [[gnu::always_inline]] static constexpr void lane_instruction(lane_file& lanes, state& s, const detail::chunk_place& place) {
    constexpr auto op = code[At];
    constexpr auto d = code[At + 1];
    constexpr auto x = code[At + 2];
    constexpr auto y = code[At + 3];
    constexpr auto z = code[At + 4];
    const cluster_arguments& a = *place.arguments;
    if constexpr (op == load) {
      using T = element_of<register_type(d)>;
      auto& to = lanes.template of<register_type(d)>()[register_number(d)];
      if constexpr (y == 1) {
        to = Lanes::template load<T, Partial>(pointer<const T>(a, static_cast<int>(x), place.row[x] + place.j), place.n);
      } else {
        const std::int64_t stride = a.strides[x * loops + outer];
        to = Lanes::template load_strided<T, Partial>(pointer<const T>(a, static_cast<int>(x), place.row[x] + place.j * stride), stride,
                                                      place.n);
      }
    } else if constexpr (op == store) {
      using T = element_of<register_type(x)>;
      const auto value = lanes.template of<register_type(x)>()[register_number(x)];
      if constexpr (y == 1) {
        T* to = pointer<T>(a, static_cast<int>(d), place.row[d] + place.j);
        if constexpr (!Partial && requires { Lanes::template stream<T>(to, value); }) {
          if (a.stream)
            Lanes::template stream<T>(to, value);
          else
            Lanes::template store<T, Partial>(to, value, place.n);
        } else {
          Lanes::template store<T, Partial>(to, value, place.n);
        }
      } else {
        const std::int64_t stride = a.strides[d * loops + outer];
        Lanes::template store_strided<T, Partial>(pointer<T>(a, static_cast<int>(d), place.row[d] + place.j * stride), stride, value,
                                                  place.n);
      }
    } else if constexpr (op == position) {
      lanes.template of<register_type(d)>()[register_number(d)] = Lanes::template position<element_of<register_type(d)>>(place.j);
    } else if constexpr (op == reduce_lanes) {
      constexpr dtype type = register_type(x);
      using T = element_of<type>;
      using reduction = operator_with<static_cast<int>(y)>;
      auto& to = s.accumulators.template of<type>()[d * unroll + Copy];
      to = reduction::template combine<typename Lanes::template math<T>>(
          to, Lanes::template or_else<T, Partial>(lanes.template of<type>()[register_number(x)], reduction::template identity<T>(), place.n));
    } else if constexpr (op == reduce_array) {
      constexpr dtype type = register_type(x);
      using T = element_of<type>;
      using reduction = operator_with<static_cast<int>(y)>;
      const auto value = lanes.template of<type>()[register_number(x)];
      using math = typename Lanes::template math<T>;
      if constexpr (z == 1) {
        T* to = pointer<T>(a, static_cast<int>(d), place.row[d] + place.j);
        Lanes::template store<T, Partial>(to, reduction::template combine<math>(Lanes::template load<T, Partial>(to, place.n), value), place.n);
      } else {
        const std::int64_t stride = a.strides[d * loops + outer];
        T* to = pointer<T>(a, static_cast<int>(d), place.row[d] + place.j * stride);
        Lanes::template store_strided<T, Partial>(
            to, stride, reduction::template combine<math>(Lanes::template load_strided<T, Partial>(to, stride, place.n), value), place.n);
      }
    } else if constexpr (op == spill) {
      using V = std::remove_cvref_t<decltype(lanes.template of<register_type(x)>()[0])>;
      *static_cast<V*>(static_cast<void*>(a.scratch + d * a.scratch_row + (place.j - place.start) / Lanes::count * static_cast<std::int64_t>(sizeof(V)))) =
          lanes.template of<register_type(x)>()[register_number(x)];
    } else if constexpr (op == reload) {
      using V = std::remove_cvref_t<decltype(lanes.template of<register_type(d)>()[0])>;
      lanes.template of<register_type(d)>()[register_number(d)] = *static_cast<const V*>(static_cast<const void*>(
          a.scratch + x * a.scratch_row + (place.j - place.start) / Lanes::count * static_cast<std::int64_t>(sizeof(V))));
    } else {
      detail::apply_operator<Lanes, op, d, x, y, z>(lanes, s.scalars);
    }
  }

  template <int Phase, std::size_t... I>
  [[gnu::always_inline]] static constexpr void scalar_phase(state& s, const cluster_arguments& a, std::index_sequence<I...>) {
    (scalar_instruction<phase_at(Phase) + words_per_instruction * static_cast<int>(I)>(s, a), ...);
  }
  template <int Phase>
  [[gnu::always_inline]] static constexpr void scalar_phase(state& s, const cluster_arguments& a) {
    scalar_phase<Phase>(s, a, std::make_index_sequence<static_cast<std::size_t>(phase_size(Phase))>{});
  }
  template <int Phase, bool Partial, int Copy, std::size_t... I>
  [[gnu::always_inline]] static constexpr void lane_chunk(state& s, const detail::chunk_place& place, std::index_sequence<I...>) {
    lane_file lanes;
    constexpr int at = phase_at(Phase);
    (lane_instruction<at + words_per_instruction * static_cast<int>(I), Partial, Copy>(lanes, s, place), ...);
  }
  template <int Phase, bool Row, std::size_t... I>
  [[gnu::always_inline]] static constexpr void start_phase(state& s, std::index_sequence<I...>) {
    constexpr int at = phase_at(Phase);
    (start_accumulator<at + words_per_instruction * static_cast<int>(I), Row>(s), ...);
  }

  template <int Phase>
  [[gnu::always_inline]] static constexpr void lane_phase(state& s, const cluster_arguments& a, const cluster_range& r) {
    constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(phase_size(Phase))>{};
    start_phase<Phase, true>(s, all);
    if constexpr (phase_size(Phase) > 0) {
      detail::chunk_place place{&a, s.row_offset, r.begin, r.begin, Lanes::count};
      if constexpr (unroll == 4) {
        for (; place.j + 4 * Lanes::count <= r.end;) {
          lane_chunk<Phase, false, 0>(s, place, all);
          place.j += Lanes::count;
          lane_chunk<Phase, false, 1>(s, place, all);
          place.j += Lanes::count;
          lane_chunk<Phase, false, 2>(s, place, all);
          place.j += Lanes::count;
          lane_chunk<Phase, false, 3>(s, place, all);
          place.j += Lanes::count;
        }
      }
      for (; place.j + Lanes::count <= r.end; place.j += Lanes::count) lane_chunk<Phase, false, 0>(s, place, all);
      if constexpr (Lanes::count > 1) {
        if (place.j < r.end) {
          place.n = static_cast<int>(r.end - place.j);
          lane_chunk<Phase, true, 0>(s, place, all);
        }
      }
    }
  }

  template <std::size_t... T>
  [[gnu::always_inline]] static constexpr void run_row(state& s, const cluster_arguments& a, const cluster_range& r,
                                                       std::index_sequence<T...>) {
    ((scalar_phase<1 + 2 * static_cast<int>(T)>(s, a), lane_phase<2 + 2 * static_cast<int>(T)>(s, a, r)), ...);
    scalar_phase<1 + 2 * stage_count>(s, a);
  }
  template <std::size_t... T>
  [[gnu::always_inline]] static constexpr void start_all(state& s, std::index_sequence<T...>) {
    (start_phase<2 + 2 * static_cast<int>(T), false>(
         s, std::make_index_sequence<static_cast<std::size_t>(phase_size(2 + 2 * static_cast<int>(T)))>{}),
     ...);
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

  /// Runs a range of rows, or of positions within rows. Results that are combined (`accumulating_operand`) must hold their
  /// identity before, where rows are combined into them.
  [[gnu::always_inline]] static constexpr void run(const cluster_arguments& a, const cluster_range& r) {
    state s;
    scalar_phase<0>(s, a);
    if constexpr (has_inner) {
      constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(stage_count)>{};
      start_all(s, all);
      for (std::int64_t row = r.row_begin; row < r.row_end; ++row) {
        place_row(s, a, row);
        run_row(s, a, r, all);
      }
    }
    if constexpr (outer > 0)
      for (int k = 0; k < operands; ++k) s.row_offset[k] = 0;
    scalar_phase<2 + 2 * stage_count>(s, a);
  }
};

}  // namespace leat::kernels
