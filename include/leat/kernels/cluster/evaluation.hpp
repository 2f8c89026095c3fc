#pragma once
// One instruction of a fused cluster, and the cluster's state: registers, accumulators, and the position in memory. Everything is a
// template without library calls, so that nvcc compiles it for the device. The code of an instruction depends only on its signature.

#include <leat/graph/operator.hpp>
#include <leat/kernels/cluster/lanes.hpp>
#include <leat/passes/instruction.hpp>

namespace leat::kernels {

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

// The position in memory of one chunk of lanes.
struct chunk_place {
  const cluster_arguments* arguments;
  const std::int64_t* row;  // offset of each operand at this row
  std::int64_t j;           // position in the row
  std::int64_t start;       // first position of the worker's range
  int n;                    // lanes in use
};

template <class T>
[[gnu::always_inline]] constexpr T* pointer(const cluster_arguments& a, std::int64_t operand, std::int64_t offset) {
  return static_cast<T*>(a.base[operand]) + offset;
}

// The state of a cluster's evaluation. Its type depends on the numbers of registers, not on the instructions, so that clusters share code.
template <class LaneSet, class LaneFile, class ScalarFile, class AccumulatorFile, int Operands, int Outer, int Loops, int Unroll,
          bool Large, bool Streams>
struct evaluation {
  using lane_file = LaneFile;
  static constexpr int operands = Operands;
  static constexpr int outer = Outer;
  static constexpr int unroll = Unroll;
  static constexpr int loops = Loops;

  // By operand: the results that stay in registers.
  static constexpr int sums_count = keeps_sums<LaneSet> ? Operands : 0;
  using sum_file = registers<scalar_lanes, sums_count, sums_count, sums_count, sums_count, sums_count, sums_count>;

  ScalarFile scalars;
  AccumulatorFile accumulators;
  [[no_unique_address]] sum_file sums;
  bool fills_copies = true;  // whether rows are so long that all copies of each accumulator are used
  std::int64_t row_offset[Operands > 0 ? Operands : 1]{};
  std::int64_t row_index[Outer > 0 ? Outer : 1]{};

  template <std::int64_t Kind, bool AsScalar>
  [[gnu::always_inline]] constexpr auto read(LaneFile& lanes, std::int64_t r) {
    if constexpr (!register_is_scalar(Kind))
      return lanes.template of<register_type(Kind)>()[r];
    else if constexpr (AsScalar)
      return scalars.template of<register_type(Kind)>()[r];
    else
      return LaneSet::template broadcast<element_of<register_type(Kind)>>(scalars.template of<register_type(Kind)>()[r]);
  }

  // Applies one operator. `D`, `A`, `B` and `C` are the kinds of the registers, and `d`, `a`, `b` and `c` the registers.
  template <std::int64_t Op, std::int64_t D, std::int64_t A, std::int64_t B, std::int64_t C>
  [[gnu::always_inline]] constexpr void operate(LaneFile& lanes, std::int64_t d, std::int64_t a, std::int64_t b, std::int64_t c) {
    using op = operator_with<static_cast<int>(Op)>;
    constexpr bool scalar = register_is_scalar(D);
    using T = element_of<C >= 0 ? register_type(B) : register_type(A)>;
    using math = std::conditional_t<scalar, scalar_math<T>, typename LaneSet::template math<T>>;
    using To = element_of<register_type(D)>;
    if constexpr (requires { op::converts; }) {
      if constexpr (scalar)
        scalars.template of<register_type(D)>()[d] = scalar_lanes::convert<To>(read<A, true>(lanes, a));
      else
        lanes.template of<register_type(D)>()[d] = LaneSet::template convert<To>(read<A, false>(lanes, a));
    } else if constexpr (C >= 0) {
      put<D>(lanes, d, op::template apply<math>(read<A, scalar>(lanes, a), read<B, scalar>(lanes, b), read<C, scalar>(lanes, c)));
    } else if constexpr (B >= 0) {
      put<D>(lanes, d, apply<op, math, scalar>(read<A, scalar>(lanes, a), read<B, scalar>(lanes, b)));
    } else {
      put<D>(lanes, d, apply<op, math, scalar>(read<A, scalar>(lanes, a)));
    }
  }
  // In a very large cluster, costly functions such as tanh are called, because inlining each call would take longer to compile than to run.
  template <class Op, class Math, bool Scalar, class... V>
  [[gnu::always_inline]] static constexpr auto apply(V... v) {
    if constexpr (requires { Op::costly; } && !Scalar && Large)
      return apply_apart<Op, Math>(v...);
    else if constexpr (requires { Op::costly; } && !Scalar)
      return apply_in_place<Op, Math>(v...);
    else
      return Op::template apply<Math>(v...);
  }
  // In other clusters, inlining is forced, because a call would save and restore the loop's registers.
  template <class Op, class Math, class... V>
  [[gnu::always_inline, gnu::flatten]] static constexpr auto apply_in_place(V... v) {
    return Op::template apply<Math>(v...);
  }
  template <class Op, class Math, class... V>
  [[gnu::noinline]] static constexpr auto apply_apart(V... v) {
    return Op::template apply<Math>(v...);
  }
  template <std::int64_t D, class V>
  [[gnu::always_inline]] constexpr void put(LaneFile& lanes, std::int64_t d, V value) {
    if constexpr (register_is_scalar(D))
      scalars.template of<register_type(D)>()[d] = static_cast<element_of<register_type(D)>>(value);
    else
      lanes.template of<register_type(D)>()[d] = value;
  }

  // Combines the accumulators of one reduction into one value, as a tree.
  template <std::int64_t Op, dtype Type>
  [[gnu::always_inline]] constexpr auto finish(std::int64_t accumulator) {
    using T = element_of<Type>;
    using op = operator_with<static_cast<int>(Op)>;
    using math = typename LaneSet::template math<T>;
    auto& parts = accumulators.template of<Type>();
    const auto at = accumulator * Unroll;
    auto all = parts[at];
    if constexpr (Unroll == 4)
      if (fills_copies)
        all = op::template combine<math>(op::template combine<math>(all, parts[at + 1]),
                                         op::template combine<math>(parts[at + 2], parts[at + 3]));
    return LaneSet::template across<op, T>(all);
  }

  [[gnu::always_inline]] static constexpr void meet() {
    if constexpr (team_of_threads<LaneSet>) LaneSet::meet();
  }

  // Runs an instruction outside the innermost loop. `Y` and `Z` are the words of the instruction where they select code: an operator, a
  // dtype.
  template <std::int64_t Signature>
  [[gnu::always_inline]] constexpr void scalar_instruction(LaneFile& lanes, const cluster_arguments& a, std::int64_t d, std::int64_t x,
                                                           std::int64_t y, std::int64_t z) {
    constexpr signature of = unpack_signature(Signature);
    constexpr std::int64_t Op = of.op, D = of.d, X = of.x, Y = of.y, Z = of.z;
    if constexpr (Op == load) {
      put<D>(lanes, d, *pointer<const element_of<register_type(D)>>(a, x, row_offset[x]));
    } else if constexpr (Op == store) {
      meet();
      *pointer<element_of<register_type(X)>>(a, d, row_offset[d]) = scalars.template of<register_type(X)>()[x];
    } else if constexpr (Op == immediate) {
      using T = element_of<register_type(D)>;
      if constexpr (std::is_floating_point_v<T>)
        put<D>(lanes, d, static_cast<T>(__builtin_bit_cast(double, x)));
      else
        put<D>(lanes, d, static_cast<T>(x));
    } else if constexpr (Op == position) {
      put<D>(lanes, d, static_cast<element_of<register_type(D)>>(row_index[x]));
    } else if constexpr (Op == look_up) {
      row_offset[d] += static_cast<std::int64_t>(scalars.template of<register_type(X)>()[x]) * Y;
    } else if constexpr (Op == finish_row) {
      put<D>(lanes, d, finish<Y, register_type(D)>(x));
    } else if constexpr (Op == finish_all) {
      const auto all = finish<Y, static_cast<dtype>(Z)>(x);
      meet();
      *pointer<element_of<static_cast<dtype>(Z)>>(a, d, row_offset[d]) = all;
    } else if constexpr (Op == reduce_cell) {
      using T = element_of<register_type(X)>;
      T* cell = pointer<T>(a, d, row_offset[d]);
      const T all = operator_with<static_cast<int>(Y)>::template combine<scalar_math<T>, T>(
          *cell, scalars.template of<register_type(X)>()[x]);
      meet();
      *cell = all;
    } else {
      operate<Op, D, X, Y, Z>(lanes, d, x, y, z);
    }
  }

  // The offset of an operand's row. It is the constant 0 in a single loop, so that it is not read again after each store.
  [[gnu::always_inline]] static constexpr std::int64_t row_of(const chunk_place& place, std::int64_t operand) {
    if constexpr (Outer > 0) return place.row[operand];
    else return 0;
  }
  // Runs an instruction of the innermost loop.
  template <bool Partial, int Copy, std::int64_t Signature>
  [[gnu::always_inline]] constexpr void lane_instruction(LaneFile& lanes, const chunk_place& place, std::int64_t d, std::int64_t x,
                                                         std::int64_t y, std::int64_t z) {
    constexpr signature of = unpack_signature(Signature);
    constexpr std::int64_t Op = of.op, D = of.d, X = of.x, Y = of.y, Z = of.z;
    const cluster_arguments& a = *place.arguments;
    if constexpr (Op == load) {
      using T = element_of<register_type(D)>;
      if constexpr (Y == 1) {
        put<D>(lanes, d, LaneSet::template load<T, Partial>(pointer<const T>(a, x, row_of(place, x) + place.j), place.n));
      } else {
        const std::int64_t stride = a.strides[x * Loops + Outer];
        put<D>(lanes, d,
               LaneSet::template load_strided<T, Partial>(pointer<const T>(a, x, row_of(place, x) + place.j * stride), stride, place.n));
      }
    } else if constexpr (Op == store) {
      using T = element_of<register_type(X)>;
      const auto value = lanes.template of<register_type(X)>()[x];
      if constexpr (Y == 1) {
        T* to = pointer<T>(a, d, row_of(place, d) + place.j);
        if constexpr (Streams && !Partial && requires { LaneSet::template stream<T>(to, value); }) {
          if (a.stream && LaneSet::is_aligned(to))
            LaneSet::template stream<T>(to, value);
          else
            LaneSet::template store<T, Partial>(to, value, place.n);
        } else {
          LaneSet::template store<T, Partial>(to, value, place.n);
        }
      } else {
        const std::int64_t stride = a.strides[d * Loops + Outer];
        LaneSet::template store_strided<T, Partial>(pointer<T>(a, d, row_of(place, d) + place.j * stride), stride, value, place.n);
      }
    } else if constexpr (Op == position) {
      put<D>(lanes, d, LaneSet::template position<element_of<register_type(D)>>(place.j));
    } else if constexpr (Op == reduce_lanes) {
      constexpr dtype type = register_type(X);
      using T = element_of<type>;
      using reduction = operator_with<static_cast<int>(Y)>;
      auto& to = accumulators.template of<type>()[d * Unroll + Copy];
      to = reduction::template combine<typename LaneSet::template math<T>>(
          to, LaneSet::template or_else<T, Partial>(lanes.template of<type>()[x], reduction::template identity<T>(), place.n));
    } else if constexpr (Op == reduce_array) {
      constexpr dtype type = register_type(X);
      using T = element_of<type>;
      using reduction = operator_with<static_cast<int>(Y)>;
      const auto value = lanes.template of<type>()[x];
      using math = typename LaneSet::template math<T>;
      if constexpr (keeps_sums<LaneSet>) {
        auto& to = sums.template of<type>()[d];
        to = reduction::template combine<math>(to, value);
      } else if constexpr (Z == 1) {
        T* to = pointer<T>(a, d, row_of(place, d) + place.j);
        LaneSet::template store<T, Partial>(to, reduction::template combine<math>(LaneSet::template load<T, Partial>(to, place.n), value),
                                            place.n);
      } else {
        const std::int64_t stride = a.strides[d * Loops + Outer];
        T* to = pointer<T>(a, d, row_of(place, d) + place.j * stride);
        LaneSet::template store_strided<T, Partial>(
            to, stride, reduction::template combine<math>(LaneSet::template load_strided<T, Partial>(to, stride, place.n), value), place.n);
      }
    } else if constexpr (Op == spill) {
      using V = std::remove_cvref_t<decltype(lanes.template of<register_type(X)>()[0])>;
      if constexpr (team_of_threads<LaneSet>)
        LaneSet::template store<V, Partial>(row_buffer<V>(place, d), lanes.template of<register_type(X)>()[x], place.n);
      else
        *row_buffer<V>(place, d) = lanes.template of<register_type(X)>()[x];
    } else if constexpr (Op == reload) {
      using V = std::remove_cvref_t<decltype(lanes.template of<register_type(D)>()[0])>;
      if constexpr (team_of_threads<LaneSet>)
        put<D>(lanes, d, LaneSet::template load<V, Partial>(row_buffer<V>(place, x), place.n));
      else
        put<D>(lanes, d, *row_buffer<V>(place, x));
    } else {
      operate<Op, D, X, Y, Z>(lanes, d, x, y, z);
    }
  }
  template <class V>
  [[gnu::always_inline]] static constexpr V* row_buffer(const chunk_place& place, std::int64_t k) {
    const cluster_arguments& a = *place.arguments;
    constexpr std::int64_t bytes = sizeof(V);
    // The position in the row buffer is computed from the lanes before, which are whole batches: nothing is lost to rounding where a lane
    // has whole bytes, and no division is needed.
    const std::int64_t before = place.j - place.start;
    const std::int64_t at = team_of_threads<LaneSet>        ? before * bytes
                            : bytes % LaneSet::count == 0 ? before * (bytes / LaneSet::count)
                                                          : before / LaneSet::count * bytes;
    return static_cast<V*>(static_cast<void*>(a.scratch + k * a.scratch_row + at));
  }

  // Initializes the accumulators that start anew in each row if `Row`, and those that start once otherwise.
  template <bool Row, std::int64_t Signature>
  [[gnu::always_inline]] constexpr void start_accumulator(std::int64_t d) {
    constexpr signature of = unpack_signature(Signature);
    constexpr std::int64_t Op = of.op, X = of.x, Z = of.z;
    if constexpr (Op == reduce_lanes && (Z == 1) == Row) {
      using T = element_of<register_type(X)>;
      using op = operator_with<static_cast<int>(of.y)>;
      for (int u = 0; u < Unroll; ++u)
        accumulators.template of<register_type(X)>()[d * Unroll + u] = LaneSet::template broadcast<T>(op::template identity<T>());
    }
  }
};

// One instruction as a function that depends only on its signature.
template <class State, std::int64_t Signature>
struct scalar_step {
  [[gnu::always_inline]] static constexpr void run(State& s, typename State::lane_file& none, const cluster_arguments& a, std::int64_t d,
                                                   std::int64_t x, std::int64_t y, std::int64_t z) {
    s.template scalar_instruction<Signature>(none, a, d, x, y, z);
  }
};
template <class State, bool Partial, int Copy, std::int64_t Signature>
struct lane_step {
  [[gnu::always_inline]] static constexpr void run(State& s, typename State::lane_file& lanes, const chunk_place& place, std::int64_t d,
                                                   std::int64_t x, std::int64_t y, std::int64_t z) {
    s.template lane_instruction<Partial, Copy, Signature>(lanes, place, d, x, y, z);
  }
};

}  // namespace detail

}  // namespace leat::kernels
