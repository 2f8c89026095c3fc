#pragma once
// Element-wise operators as functions over blocks. The single definition of an operator, `apply`, yields two plain functions for each
// combination of dtypes that its rule accepts: one over a block of contiguous elements, in SIMD batches if the dtypes have one width, and
// one over single values. A program that is known only at run time calls them by address.
//
// An operand of a block may be a single value for all of it. The value is then stored broadcast to a batch, and its pointer does not
// advance, so that one function serves all kinds of operands. Results are equal to those of the compiled clusters, which instantiate the
// same `apply` over the same batches; see interpret.hpp.

#include <leat/cpu/lanes.hpp>
#include <leat/graph/operator.hpp>

#include <array>
#include <cstring>
#include <utility>

namespace leat::cpu {

/// to[i] = op(x[i], y[i], z[i]) for i < n. If bit k of `rows` is set, operand k has n elements; otherwise it is one value, repeated over
/// `repeated_bytes`. The result may alias an operand with elements of the same size.
using block_function = void (*)(void* to, const void* x, const void* y, const void* z, std::int64_t n, unsigned rows);
/// *to = op(*x, *y, *z).
using single_function = void (*)(void* to, const void* x, const void* y, const void* z);

/// The functions of an operator for some dtypes; null if it does not accept them.
struct element_functions {
  block_function block = nullptr;
  single_function single = nullptr;
};

/// The bytes over which a uniform operand is repeated.
inline constexpr std::size_t repeated_bytes = batch_bytes;

namespace detail {

// The lane width in bytes with which these dtypes can be computed together: 4, 8, or 0 for one element at a time.
template <dtype... Types>
constexpr int common_width() {
  int width = 0;
  bool one = true;
  const auto look = [&](dtype t) {
    if (t == dtype::boolean) return;
    const int bytes = size_of(t);
    one = one && bytes != 1 && (width == 0 || width == bytes);
    width = bytes;
  };
  (look(Types), ...);
  return one ? width : 0;
}

// The dtype in which an operator computes. Of three operands it is that of the second, because the first may be a condition.
template <dtype First, dtype... Rest>
constexpr dtype computed_type() {
  const dtype rest[]{Rest..., First};
  return sizeof...(Rest) == 2 ? rest[0] : First;
}

template <int Width>
struct lanes_for {
  using type = batch_lanes<Width>;
};
template <>
struct lanes_for<0> {
  using type = kernels::scalar_lanes;
};

// One operand of a block, and the step by which it advances.
template <class T>
struct block_input {
  const T* at;
  std::int64_t step;
};

// The last elements of an operand, padded to a batch.
template <class Lanes, class T>
[[gnu::always_inline]] inline const T* padded(std::byte* to, const T* from, int n) {
  T* const out = static_cast<T*>(static_cast<void*>(to));
  Lanes::template store<T, false>(out, Lanes::template load<T, true>(from, n), Lanes::count);
  return out;
}

template <class Op, dtype Result, dtype... In>
struct element_loop {
  static constexpr int width = common_width<Result, In...>();
  using R = element_of<Result>;
  using math_type = element_of<computed_type<In...>()>;

  template <class Lanes, class... V>
  [[gnu::always_inline]] static auto compute(const V&... v) {
    if constexpr (requires { Op::converts; })
      return Lanes::template convert<R>(v...);
    else if constexpr (requires { Op::costly; } && Lanes::count > 1)
      return in_place<typename Lanes::template math<math_type>>(v...);
    else
      return Op::template apply<typename Lanes::template math<math_type>>(v...);
  }
  template <class Math, class... V>
  [[gnu::always_inline, gnu::flatten]] static auto in_place(V... v) {
    return Op::template apply<Math>(v...);
  }

  static void single(void* to, const void* x, const void* y, const void* z) {
    const void* const in[]{x, y, z};
    *static_cast<R*>(to) = [&]<std::size_t... I>(std::index_sequence<I...>) {
      return static_cast<R>(compute<kernels::scalar_lanes>(*static_cast<const element_of<In>*>(in[I])...));
    }(std::make_index_sequence<sizeof...(In)>{});
  }

  static void block(void* to, const void* x, const void* y, const void* z, std::int64_t n, unsigned rows) {
    using lanes = typename lanes_for<width>::type;
    const void* const in[]{x, y, z};
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      loop(static_cast<R*>(to), n,
           block_input<element_of<In>>{static_cast<const element_of<In>*>(in[I]), (rows >> I & 1) != 0 ? lanes::count : 0}...);
    }(std::make_index_sequence<sizeof...(In)>{});
  }

 private:
  template <class... T>
  [[gnu::always_inline]] static void loop(R* to, std::int64_t n, block_input<T>... in) {
    using lanes = typename lanes_for<width>::type;
    if constexpr (width == 0) {
      for (std::int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<R>(compute<lanes>(*in.at...));
        ((in.at += in.step), ...);
      }
    } else {
      constexpr int count = lanes::count;
      std::int64_t whole = n / count;
      const int rest = static_cast<int>(n % count);
      alignas(batch_bytes) std::byte last[sizeof...(T) + 1][batch_bytes];
      R* end = nullptr;
      for (;;) {
        for (; whole > 0; --whole) {
          lanes::template store<R, false>(to, compute<lanes>(lanes::template load<T, false>(in.at, count)...), count);
          to += count;
          ((in.at += in.step), ...);
        }
        if (rest == 0) return;
        if (end != nullptr) break;
        // The remaining elements are padded to a batch, so that the code above can process them, too.
        int k = 0;
        ((in.at = in.step == 0 ? in.at : padded<lanes>(last[k], in.at, rest), ++k), ...);
        end = to;
        to = static_cast<R*>(static_cast<void*>(last[sizeof...(T)]));
        whole = 1;
      }
      const R* const made = static_cast<const R*>(static_cast<const void*>(last[sizeof...(T)]));
      lanes::template store<R, true>(end, lanes::template load<R, false>(made, count), rest);
    }
  }
};

// ---- dtypes of operators ----------------------------------------------------------------------------------------------

inline constexpr dtype all_dtypes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8, dtype::boolean};
inline constexpr int dtype_count = 6;

template <class Op>
constexpr int operands_of() {
  if constexpr (requires { Op::form; }) {
    int n = 0;
    for (const field& f : Op::form) n += is_operand(f.kind) ? 1 : 0;
    return n;
  } else {
    using math = kernels::scalar_math<float>;
    if constexpr (requires { Op::template apply<math>(0.0f); }) return 1;
    else if constexpr (requires { Op::template apply<math>(0.0f, 0.0f); }) return 2;
    else return 3;
  }
}

struct element_types {
  dtype result = dtype::invalid;
  dtype in[3]{};
};
constexpr int key_of(const dtype* in, int count) {
  int key = 0;
  for (int k = 0; k < count; ++k) key = key << 4 | static_cast<int>(in[k]);
  return key;
}

template <class Op, int Operands>
struct accepted_types {
  static constexpr int combinations = Operands == 1   ? dtype_count
                                      : Operands == 2 ? dtype_count * dtype_count
                                                      : dtype_count * dtype_count * dtype_count;
  static constexpr element_types at(int index) {
    element_types t;
    tensor_info infos[3];
    for (int k = Operands; k-- > 0; index /= dtype_count) infos[k] = {t.in[k] = all_dtypes[index % dtype_count], {}};
    const inference got = Op::infer({infos, Operands, nullptr, 0});
    if (got.problem.empty()) t.result = got.type;
    return t;
  }
  static constexpr int count = [] {
    int n = 0;
    for (int i = 0; i < combinations; ++i) n += at(i).result != dtype::invalid ? 1 : 0;
    return n;
  }();
  static constexpr auto list = [] {
    std::array<element_types, static_cast<std::size_t>(count) + 1> all{};
    std::size_t n = 0;
    for (int i = 0; i < combinations; ++i)
      if (const auto t = at(i); t.result != dtype::invalid) all[n++] = t;
    return all;
  }();
};

struct element_entry {
  int key;
  dtype result;
  element_functions functions;
};

template <class Op, int Operands, std::size_t... I>
constexpr auto element_table(std::index_sequence<I...>) {
  constexpr auto& list = accepted_types<Op, Operands>::list;
  if constexpr (Operands == 1)
    return std::array<element_entry, sizeof...(I)>{element_entry{
        key_of(list[I].in, 1), list[I].result,
        {&element_loop<Op, list[I].result, list[I].in[0]>::block, &element_loop<Op, list[I].result, list[I].in[0]>::single}}...};
  else if constexpr (Operands == 2)
    return std::array<element_entry, sizeof...(I)>{
        element_entry{key_of(list[I].in, 2), list[I].result,
                      {&element_loop<Op, list[I].result, list[I].in[0], list[I].in[1]>::block,
                       &element_loop<Op, list[I].result, list[I].in[0], list[I].in[1]>::single}}...};
  else
    return std::array<element_entry, sizeof...(I)>{
        element_entry{key_of(list[I].in, 3), list[I].result,
                      {&element_loop<Op, list[I].result, list[I].in[0], list[I].in[1], list[I].in[2]>::block,
                       &element_loop<Op, list[I].result, list[I].in[0], list[I].in[1], list[I].in[2]>::single}}...};
}

// The functions of a conversion, from every dtype to every other one.
template <class Op, std::size_t... I>
constexpr auto conversion_table(std::index_sequence<I...>) {
  return std::array<element_entry, sizeof...(I)>{
      element_entry{static_cast<int>(all_dtypes[I / dtype_count]),
                    all_dtypes[I % dtype_count],
                    {&element_loop<Op, all_dtypes[I % dtype_count], all_dtypes[I / dtype_count]>::block,
                     &element_loop<Op, all_dtypes[I % dtype_count], all_dtypes[I / dtype_count]>::single}}...};
}

/// The functions of `Op` from the dtypes `in` to the dtype `result`.
template <class Op>
element_functions find_element(dtype result, const dtype* in, int count) {
  static constexpr auto table = [] {
    if constexpr (requires { Op::converts; })
      return conversion_table<Op>(std::make_index_sequence<dtype_count * dtype_count>{});
    else
      return element_table<Op, operands_of<Op>()>(
          std::make_index_sequence<static_cast<std::size_t>(accepted_types<Op, operands_of<Op>()>::count)>{});
  }();
  const int key = key_of(in, count);
  for (const auto& entry : table)
    if (entry.key == key && entry.result == result) return entry.functions;
  return {};
}

}  // namespace detail

/// The function over blocks of an element-wise operator whose operands and result have one dtype. `Op` needs only `apply`.
template <class Op, class T>
constexpr block_function block_function_of() {
  constexpr dtype type = dtype_of<T>;
  constexpr int operands = detail::operands_of<Op>();
  if constexpr (operands == 1) return &detail::element_loop<Op, type, type>::block;
  else if constexpr (operands == 2) return &detail::element_loop<Op, type, type, type>::block;
  else return &detail::element_loop<Op, type, type, type, type>::block;
}

}  // namespace leat::cpu
