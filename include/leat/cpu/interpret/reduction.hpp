#pragma once
// Reductions as functions over blocks, in the order of the compiled clusters: four accumulator batches that take turns over a row and are
// combined as a tree at its end, or a single value if a cluster's dtypes differ in width.

#include <leat/cpu/interpret/element.hpp>
#include <leat/ops/reduction.hpp>

#include <algorithm>

namespace leat::cpu {

/// How the elements of a row are divided among accumulators.
enum class reduction_order : int {
  single,  // one value after another
  batch,   // one batch
  four     // four batches in turn
};

/// The partial result of one reduction.
struct alignas(batch_bytes) accumulator {
  std::byte parts[4][batch_bytes];
};

/// The functions of a reduction for one dtype.
struct reduction_functions {
  /// Sets every part to the identity.
  void (*start)(accumulator&, reduction_order) = nullptr;
  /// Accumulates x[0, n). If `part` >= 0, everything is accumulated in that part.
  void (*take)(accumulator&, reduction_order, const void* x, std::int64_t n, int part) = nullptr;
  void (*finish)(const accumulator&, reduction_order, void* to) = nullptr;
  /// to[i * stride] = combine(to[i * stride], x[i]) for i < n.
  void (*into)(void* to, const void* x, std::int64_t n, std::int64_t stride) = nullptr;
  /// to[i] = combine(to[i], (x0[i], x1[i]), (x2[i], x3[i])): combines four rows at once, in pairs.
  void (*four_rows)(void* to, const void* const* x, std::int64_t n) = nullptr;
  /// The results of `start`, `take` and `finish` for each of `rows` consecutive rows of `length` elements: to[k] for k < rows.
  void (*each_row)(void* to, reduction_order, const void* x, std::int64_t rows, std::int64_t length) = nullptr;
  /// Combines such rows into an array, one after another like `into`, except that the first `grouped` rows are combined in fours, like
  /// `four_rows`.
  void (*rows_into)(void* to, const void* x, std::int64_t rows, std::int64_t length, std::int64_t stride, std::int64_t grouped) = nullptr;
  void (*fill)(void* to, std::int64_t n) = nullptr;
  /// Combines the results of chunks, `stride` bytes apart, in order.
  void (*chunks)(void* to, const void* parts, std::int64_t n, std::int64_t chunks, std::int64_t stride) = nullptr;
};

namespace detail {

template <class Op, class T>
struct reduction_loop {
  static constexpr int width = sizeof(T) == 1 ? 0 : static_cast<int>(sizeof(T));
  using lanes = typename lanes_for<width>::type;
  using value = typename lanes::template value<T>;
  using math = typename lanes::template math<T>;
  static constexpr int count = lanes::count;

  [[gnu::always_inline]] static T one(T a, T b) { return Op::template combine<kernels::scalar_math<T>, T>(a, b); }
  [[gnu::always_inline]] static value many(const value& a, const value& b) { return Op::template combine<math>(a, b); }
  static T* part(accumulator& a, int k) { return static_cast<T*>(static_cast<void*>(a.parts[k])); }
  static const T* part(const accumulator& a, int k) { return static_cast<const T*>(static_cast<const void*>(a.parts[k])); }
  [[gnu::always_inline]] static value read(const T* p) { return lanes::template load<T, false>(p, count); }
  [[gnu::always_inline]] static void write(T* p, const value& v) { lanes::template store<T, false>(p, v, count); }

  static void start(accumulator& a, reduction_order) {
    for (int k = 0; k < 4; ++k)
      for (int i = 0; i < count; ++i) part(a, k)[i] = Op::template identity<T>();
  }
  static void take(accumulator& a, reduction_order order, const void* from, std::int64_t n, int only) {
    const T* x = static_cast<const T*>(from);
    if (width == 0 || order == reduction_order::single) {
      T& to = *part(a, 0);
      T v = to;
      for (std::int64_t i = 0; i < n; ++i) v = one(v, x[i]);
      to = v;
      return;
    }
    if constexpr (width != 0) {
      if (order == reduction_order::four && only < 0 && n >= 4 * count) {
        value p[4]{read(part(a, 0)), read(part(a, 1)), read(part(a, 2)), read(part(a, 3))};
        for (; n >= 4 * count; n -= 4 * count, x += 4 * count)
          for (int u = 0; u < 4; ++u) p[u] = many(p[u], read(x + u * count));
        for (int u = 0; u < 4; ++u) write(part(a, u), p[u]);
      }
      if (n == 0) return;
      T* const to = part(a, std::max(only, 0));
      value p = read(to);
      for (; n >= count; n -= count, x += count) p = many(p, read(x));
      if (n > 0) {
        const int rest = static_cast<int>(n);
        p = many(p, lanes::template or_else<T, true>(lanes::template load<T, true>(x, rest), Op::template identity<T>(), rest));
      }
      write(to, p);
    }
  }
  static void finish(const accumulator& a, reduction_order order, void* to) {
    T& out = *static_cast<T*>(to);
    if (width == 0 || order == reduction_order::single) {
      out = *part(a, 0);
    } else if constexpr (width != 0) {
      if (order == reduction_order::four)
        out = lanes::template across<Op, T>(many(many(read(part(a, 0)), read(part(a, 1))), many(read(part(a, 2)), read(part(a, 3)))));
      else
        out = lanes::template across<Op, T>(read(part(a, 0)));
    }
  }
  static void into(void* to, const void* from, std::int64_t n, std::int64_t stride) {
    T* out = static_cast<T*>(to);
    const T* x = static_cast<const T*>(from);
    std::int64_t i = 0;
    if constexpr (width != 0) {
      if (stride == 1)
        for (; i + count <= n; i += count) write(out + i, many(read(out + i), read(x + i)));
    }
    if (stride == 0) {
      T v = *out;
      for (; i < n; ++i) v = one(v, x[i]);
      *out = v;
    }
    for (; i < n; ++i) out[i * stride] = one(out[i * stride], x[i]);
  }
  static void four_rows(void* to, const void* const* from, std::int64_t n) {
    T* out = static_cast<T*>(to);
    const T* x[4];
    for (int u = 0; u < 4; ++u) x[u] = static_cast<const T*>(from[u]);
    std::int64_t i = 0;
    if constexpr (width != 0)
      for (; i + count <= n; i += count)
        write(out + i, many(read(out + i), many(many(read(x[0] + i), read(x[1] + i)), many(read(x[2] + i), read(x[3] + i)))));
    for (; i < n; ++i) out[i] = one(out[i], one(one(x[0][i], x[1][i]), one(x[2][i], x[3][i])));
  }
  static void each_row(void* to, reduction_order order, const void* from, std::int64_t rows, std::int64_t length) {
    T* out = static_cast<T*>(to);
    const T* x = static_cast<const T*>(from);
    if (width == 0 || order == reduction_order::single) {
      for (; rows > 0; --rows, x += length) {
        T v = Op::template identity<T>();
        for (std::int64_t i = 0; i < length; ++i) v = one(v, x[i]);
        *out++ = v;
      }
      return;
    }
    if constexpr (width != 0) {
      const value none(Op::template identity<T>());
      for (; rows > 0; --rows) {
        value p[4]{none, none, none, none};
        std::int64_t n = length;
        if (order == reduction_order::four)
          for (; n >= 4 * count; n -= 4 * count, x += 4 * count)
            for (int u = 0; u < 4; ++u) p[u] = many(p[u], read(x + u * count));
        for (; n >= count; n -= count, x += count) p[0] = many(p[0], read(x));
        if (n > 0) p[0] = many(p[0], part_of(x, static_cast<int>(n)));
        x += n;
        *out++ = lanes::template across<Op, T>(order == reduction_order::four ? many(many(p[0], p[1]), many(p[2], p[3])) : p[0]);
      }
    }
  }
  static void rows_into(void* to, const void* from, std::int64_t rows, std::int64_t length, std::int64_t stride, std::int64_t grouped) {
    const T* x = static_cast<const T*>(from);
    if (width == 0 || stride != 1) {
      for (std::int64_t k = 0; k < grouped; k += 4)
        for (std::int64_t i = 0; i < length; ++i) {
          T& out = static_cast<T*>(to)[i * stride];
          const T* const at = x + k * length + i;
          out = one(out, one(one(at[0], at[length]), one(at[2 * length], at[3 * length])));
        }
      for (std::int64_t k = grouped; k < rows; ++k) into(to, x + k * length, length, stride);
      return;
    }
    if constexpr (width != 0) {
      T* out = static_cast<T*>(to);
      std::int64_t left = length;
      for (; left >= count; left -= count, out += count, x += count) write(out, down<false>(read(out), x, rows, length, grouped, count));
      if (left > 0) {
        const int rest = static_cast<int>(left);
        lanes::template store<T, true>(out, down<true>(lanes::template load<T, true>(out, rest), x, rows, length, grouped, rest), rest);
      }
    }
  }
  static void fill(void* to, std::int64_t n) { std::fill_n(static_cast<T*>(to), n, Op::template identity<T>()); }
  static void chunks(void* to, const void* parts, std::int64_t n, std::int64_t chunks, std::int64_t stride) {
    T* out = static_cast<T*>(to);
    for (std::int64_t c = 0; c < chunks; ++c) {
      const T* from = static_cast<const T*>(static_cast<const void*>(static_cast<const std::byte*>(parts) + c * stride));
      if (c == 0)
        std::copy_n(from, n, out);
      else
        for (std::int64_t i = 0; i < n; ++i) out[i] = one(out[i], from[i]);
    }
  }
  static constexpr reduction_functions functions{&start, &take, &finish, &into, &four_rows, &each_row, &rows_into, &fill, &chunks};

 private:
  // The first n lanes from memory; the others are the identity.
  [[gnu::always_inline]] static value part_of(const T* x, int n) {
    return lanes::template or_else<T, true>(lanes::template load<T, true>(x, n), Op::template identity<T>(), n);
  }
  // Combines all rows of one batch of columns.
  template <bool Partial>
  [[gnu::always_inline]] static value down(value v, const T* x, std::int64_t rows, std::int64_t length, std::int64_t grouped, int n) {
    const auto at = [&](std::int64_t k) {
      if constexpr (Partial) return lanes::template load<T, true>(x + k * length, n);
      else return read(x + k * length);
    };
    std::int64_t k = 0;
    for (; k < grouped; k += 4) v = many(v, many(many(at(k), at(k + 1)), many(at(k + 2), at(k + 3))));
    for (; k < rows; ++k) v = many(v, at(k));
    return v;
  }
};

/// The functions of the reduction `Op` for a dtype, or null if it does not accept it.
template <class Op>
const reduction_functions* find_reduction(dtype type) {
  const auto of = [&]<dtype D>() -> const reduction_functions* {
    constexpr tensor_info info{D, {}};
    if constexpr (Op::infer({&info, 1, nullptr, 0}).problem.empty())
      return type == D ? &reduction_loop<Op, element_of<D>>::functions : nullptr;
    else
      return nullptr;
  };
  const reduction_functions* found = nullptr;
  [&]<std::size_t... I>(std::index_sequence<I...>) {
    ((found = found != nullptr ? found : of.template operator()<all_dtypes[I]>()), ...);
  }(std::make_index_sequence<dtype_count>{});
  return found;
}

}  // namespace detail

}  // namespace leat::cpu
