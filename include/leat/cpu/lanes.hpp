#pragma once
// Lanes of fused clusters on the CPU: a SIMD batch. `Width` is the size of the elements, 4 or 8 bytes.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/math.hpp>
#include <leat/kernels/cluster.hpp>

#include <utility>

namespace leat::cpu {

static_assert(sizeof(batch<float>) == static_cast<std::size_t>(passes::register_bytes), "sums of scalars keep the order of these lanes");

template <int Width>
struct batch_lanes {
  using wide = std::conditional_t<Width == 4, float, double>;
  using truth = mask<wide>;
  static constexpr int count = lanes<wide>;

  template <class T>
  static constexpr bool fits = sizeof(T) == Width && !std::is_same_v<T, bool>;
  template <class T>
  struct value_of {
    using type = char;  // registers of this dtype do not occur at this width
  };
  template <class T>
    requires fits<T>
  struct value_of<T> {
    using type = batch<T>;
  };
  template <class T>
    requires std::is_same_v<T, bool>
  struct value_of<T> {
    using type = truth;
  };
  template <class T>
  using value = typename value_of<T>::type;
  template <class T>
  using math = batch_math<std::conditional_t<fits<T>, T, wide>>;

  template <class T, bool Partial>
  [[gnu::always_inline]] static value<T> load(const T* p, int n) {
    if constexpr (std::is_same_v<T, bool>)
      return Partial ? load_mask<wide>(p, n) : load_mask<wide>(p);
    else
      return Partial ? load_rest(p, n) : cpu::load(p);
  }
  template <class T, bool Partial>
  [[gnu::always_inline]] static void store(T* p, const value<T>& v, int n) {
    if constexpr (std::is_same_v<T, bool>)
      Partial ? store_mask<wide>(p, v, n) : store_mask<wide>(p, v);
    else
      Partial ? store_rest(p, v, n) : cpu::store(p, v);
  }
  template <class T>
    requires fits<T>
  [[gnu::always_inline]] static void stream(T* p, const value<T>& v) {
    cpu::stream(p, v);
  }
  [[gnu::always_inline]] static bool is_aligned(const void* p) {
    return is_batch_aligned(p);
  }
  // Assembles whole registers in registers, because a register that is written to memory in parts is slow to read back.
  template <class T, std::size_t... I>
  [[gnu::always_inline]] static value<T> collect(const T* p, std::int64_t stride, std::index_sequence<I...>) {
    typedef T whole [[gnu::vector_size(sizeof(value<T>))]];
    return __builtin_bit_cast(value<T>, whole{p[static_cast<std::int64_t>(I) * stride]...});
  }
  template <class T, bool Partial>
  [[gnu::always_inline]] static value<T> load_strided(const T* p, std::int64_t stride, int n) {
    if constexpr (!Partial && !std::is_same_v<T, bool>)
      return collect(p, stride, std::make_index_sequence<static_cast<std::size_t>(count)>{});
    alignas(64) T part[static_cast<std::size_t>(count)]{};
    for (int k = 0; k < (Partial ? n : count); ++k) part[k] = p[k * stride];
    return load<T, false>(part, count);
  }
  template <class T, bool Partial>
  [[gnu::always_inline]] static void store_strided(T* p, std::int64_t stride, const value<T>& v, int n) {
    alignas(64) T part[static_cast<std::size_t>(count)];
    store<T, false>(part, v, count);
    for (int k = 0; k < (Partial ? n : count); ++k) p[k * stride] = part[k];
  }
  template <class T>
  [[gnu::always_inline]] static value<T> broadcast(T v) {
    return value<T>(v);
  }
  template <class T>
  [[gnu::always_inline]] static value<T> position(std::int64_t j) {
    return batch_math<T>::add(iota<T>(), batch<T>(static_cast<T>(j)));
  }
  template <class T, bool Partial>
  [[gnu::always_inline]] static value<T> or_else(const value<T>& v, T other, int n) {
    if constexpr (Partial)
      return cpu::select<T>(first_lanes<T>(n), v, batch<T>(other));
    else
      return v;
  }
  template <class To, class V>
  [[gnu::always_inline]] static value<To> convert(const V& v) {
    if constexpr (std::is_same_v<V, truth>) {
      if constexpr (std::is_same_v<To, bool>)
        return v;
      else
        return batch_math<To>::from_mask(v);
    } else {
      return batch_math<typename V::value_type>::template cast<To>(v);
    }
  }
  template <class Op, class T>
  [[gnu::always_inline]] static T across(const value<T>& v) {
    if constexpr (std::is_same_v<Op, sum_op>)
      return reduce_add(v);
    else if constexpr (std::is_same_v<Op, max_op>)
      return reduce_max(v);
    else if constexpr (std::is_same_v<Op, min_op>)
      return reduce_min(v);
    else
      return reduce_mul(v);
  }
};

}  // namespace leat::cpu
