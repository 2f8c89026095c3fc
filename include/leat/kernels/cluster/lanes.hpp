#pragma once
// The environment of a fused cluster: its arguments, the range of one worker, and the class `Lanes`, which holds the content of one
// position of the innermost loop: one element (`scalar_lanes`), a SIMD batch (`cpu/lanes.hpp`), or one element of each thread of a team
// (`thrust/team_lanes.hpp`).

#include <leat/kernels/math/scalar_math.hpp>

#include <cstddef>
#include <cstdint>

namespace leat::kernels {

/// Lanes of one element.
struct scalar_lanes {
  static constexpr int count = 1;
  template <class T>
  using value = T;
  template <class T>
  using math = scalar_math<T>;
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
    return scalar_math<V>::template cast<To>(v);
  }
  template <class Op, class T>
  static constexpr T across(T v) {
    return v;
  }
};

/// Lanes of one element for a range of one position: results that are summed over rows stay in registers until the last row.
struct position_lanes : scalar_lanes {
  static constexpr bool keeps_sums = true;
};
template <class Lanes>
concept keeps_sums = requires { Lanes::keeps_sums; };

/// Lanes of several threads, which run every instruction together: each holds one position, and all hold the same scalars. A team meets
/// before it writes a scalar, because a member may still have to read what was there.
template <class Lanes>
concept team_of_threads = requires { Lanes::meet(); };

/// Arguments of a cluster: memory, sizes, strides. Lengths are in elements, except that of a row buffer.
struct cluster_arguments {
  void* const* base = nullptr;              // by operand, including its offset
  const std::int64_t* extents = nullptr;    // of the loops, outermost first
  const std::int64_t* strides = nullptr;    // [operand][loop]
  std::byte* scratch = nullptr;             // row buffers of this worker
  std::int64_t scratch_row = 0;             // bytes of one row buffer
  bool stream = false;                      // whether results are too large for the caches, and are written past them
  bool fetches = false;                     // whether the lines of results are prefetched while a row is computed
};

/// The part of a cluster that one worker runs.
struct cluster_range {
  std::int64_t row_begin = 0;
  std::int64_t row_end = 1;
  std::int64_t begin = 0;
  std::int64_t end = 1;
};

}  // namespace leat::kernels
