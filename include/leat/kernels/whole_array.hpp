#pragma once
// Kernels of whole arrays other than matrix products, as work items that any device can run in any order, because each writes its own part
// of the result. A kernel is constructed from the operands and the step's numbers, returns its number of items, and runs one.

#include <leat/kernels/math/scalar_math.hpp>
#include <leat/passes/lower.hpp>

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

namespace leat::kernels {

/// The numbers of a kernel step: its attributes, and the shapes of its inputs and of its result.
class step_numbers {
 public:
  constexpr explicit step_numbers(const std::int64_t* data) : data_(data) {}
  constexpr std::int64_t attributes() const { return data_[0]; }
  constexpr std::int64_t attribute(int k) const { return data_[1 + k]; }
  /// The dimensions of input `k`; the result's dimensions follow the last input's.
  constexpr const std::int64_t* extents(int k) const {
    const std::int64_t* at = data_ + 1 + data_[0];
    for (; k > 0; --k) at += 1 + at[0];
    return at;
  }
  constexpr int rank(int k) const { return static_cast<int>(extents(k)[0]); }
  constexpr std::int64_t size(int k, int axis) const { return extents(k)[1 + axis]; }
  constexpr std::int64_t product(int k, int from, int to) const {
    std::int64_t n = 1;
    for (int a = from; a < to; ++a) n *= size(k, a);
    return n;
  }

 private:
  const std::int64_t* data_;
};

template <class T>
struct no_check {
  static constexpr bool may_refuse = false;
};

/// Whether a kernel that checks its indices accepts negative ones, which have no row.
/// Kernels of which each item is a long sum, `part(item, 0, 1)`, written to `out[item]`: `part(item, first, step)` is the sum of every
/// step-th term from the first on, for several workers.
template <class Kernel>
concept sums_parts = requires(const Kernel& k) { k.part(0, 0, 1); };

template <class Kernel>
constexpr bool drops_negative(const Kernel& kernel) {
  if constexpr (requires { kernel.drops_negative; }) return kernel.drops_negative;
  else return false;
}

/// Calls `f` with the number of elements of a row, as a constant if rows are so short that a loop over each would cost more than its
/// elements.
template <class F>
void for_row_width(std::int64_t width, F f) {
  switch (width) {
    case 1: return f(std::integral_constant<std::int64_t, 1>{});
    case 8: return f(std::integral_constant<std::int64_t, 8>{});
    case 16: return f(std::integral_constant<std::int64_t, 16>{});
    case 32: return f(std::integral_constant<std::int64_t, 32>{});
    default: return f(width);
  }
}

/// Copies row `indices[k]` of the parameters to row `k` of the result. Nodes of graphs have several `blocks` of parameters, of which
/// `sharing` in turn use the same indices, and the next ones others.
template <class T, class Index>
struct gather_kernel {
  static constexpr bool may_refuse = true;
  const T* params;
  const Index* indices;
  T* out;
  std::int64_t count, rows, width;
  std::int64_t blocks = 1, sharing = 1;
  gather_kernel(const T* from, const Index* its_indices, T* to, std::int64_t its_count, std::int64_t its_rows, std::int64_t its_width,
                std::int64_t its_blocks = 1, std::int64_t its_sharing = 1)
      : params(from), indices(its_indices), out(to), count(its_count), rows(its_rows), width(its_width), blocks(its_blocks),
        sharing(its_sharing) {}
  gather_kernel(void* const* p, const step_numbers& n)
      : params(static_cast<const T*>(p[0])),
        indices(static_cast<const Index*>(p[1])),
        out(static_cast<T*>(p[2])),
        count(n.product(1, 0, n.rank(1))),
        rows(n.size(0, 0)),
        width(n.product(0, 1, n.rank(0))) {}
  std::int64_t items() const { return count * blocks; }
  std::int64_t work() const { return width; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t block = blocks == 1 ? 0 : k / count, at = blocks == 1 ? k : k % count;
    const auto row = block * rows + static_cast<std::int64_t>(indices[block / sharing * count + at]);
    for (std::int64_t j = 0; j < width; ++j) out[k * width + j] = params[row * width + j];
  }
  /// Runs all items on the host.
  void run_all() const {
    if (width == 0) return;  // memcpy must not get null pointers
    if (blocks == 1) return for_row_width(width, [this](auto w) { copy_rows(params, indices, count, w, out); });
    for_row_width(width, [all = *this](auto w) {
      for (std::int64_t block = 0; block < all.blocks; ++block)
        copy_rows(all.params + block * all.rows * w, all.indices + block / all.sharing * all.count, all.count, w,
                  all.out + block * all.count * w);
    });
  }

 private:
  template <class Width>
  static void copy_rows(const T* from, const Index* its, std::int64_t n, Width w, T* __restrict to) {
    for (std::int64_t k = 0; k < n; ++k) {
      if constexpr (std::is_trivially_copyable_v<T>)
        std::memcpy(to + k * w, from + static_cast<std::int64_t>(its[k]) * w, static_cast<std::size_t>(w) * sizeof(T));
      else
        std::copy_n(from + static_cast<std::int64_t>(its[k]) * w, std::int64_t{w}, to + k * w);
    }
  }
};

/// The kernel of an operator, for every device: `type<T, Index>`, for the dtype of its first operand and, where `has_indices`, of the one
/// that holds int32 or int64, which is the second or the one that `index_operand` says. `takes` are the dtypes of the first operand; a
/// kernel that `only_moves` elements takes all. Where the host must read operands before the kernel runs, `look<T>(operands, numbers,
/// inputs)` does, and `bytes_to_read<T>(numbers, k)` says how much of operand k; `accepts<T>(operands, numbers)`
/// is whether `look` finds no error. Specialized next to the kernel.
template <class Op>
struct kernel_of;
template <class Op>
concept has_kernel = requires { kernel_of<Op>::has_indices; };
template <class Op>
concept looks_first = requires(const step_numbers& n) { kernel_of<Op>::template look<int>(nullptr, n, 0); };

template <class Op>
constexpr int index_operand_of() {
  if constexpr (requires { kernel_of<Op>::index_operand; }) return kernel_of<Op>::index_operand;
  else return 1;
}
template <class Op>
constexpr bool only_moves() {
  if constexpr (requires { kernel_of<Op>::only_moves; }) return kernel_of<Op>::only_moves;
  else return false;
}
/// A kernel; some want to know the number of inputs.
template <class Kernel>
constexpr Kernel kernel_for(void* const* p, const step_numbers& n, int inputs) {
  if constexpr (std::is_constructible_v<Kernel, void* const*, const step_numbers&, int>) return Kernel(p, n, inputs);
  else return Kernel(p, n);
}
/// Of kernels of one type argument, and of those whose first operand holds the indices.
template <template <class> class Kernel>
struct kernel_without_indices {
  template <class T, class>
  using type = Kernel<T>;
  static constexpr bool has_indices = false;
};
template <template <class> class Kernel>
struct kernel_on_indices : kernel_without_indices<Kernel> {
  static constexpr dtype takes[]{dtype::int32, dtype::int64};
};

template <>
struct kernel_of<gather_op> {
  template <class T, class Index>
  using type = gather_kernel<T, Index>;
  static constexpr bool has_indices = true, only_moves = true;
};

/// Item j: column `j` of the result, which combines the rows of each segment by `Op`, in order.
template <class Op, class T, class Index>
struct segment_kernel {
  static constexpr bool may_refuse = true;
  static constexpr bool drops_negative = true;
  const T* data;
  const Index* indices;
  T* out;
  std::int64_t count, rows, width;
  segment_kernel(const T* from, const Index* its_indices, T* to, std::int64_t its_count, std::int64_t its_rows, std::int64_t its_width)
      : data(from), indices(its_indices), out(to), count(its_count), rows(its_rows), width(its_width) {}
  segment_kernel(void* const* p, const step_numbers& n)
      : data(static_cast<const T*>(p[0])),
        indices(static_cast<const Index*>(p[1])),
        out(static_cast<T*>(p[2])),
        count(n.product(1, 0, n.rank(1))),
        rows(n.size(2, 0)),
        width(n.product(2, 1, n.rank(2))) {}
  std::int64_t items() const { return width; }
  std::int64_t work() const { return count; }
  constexpr void operator()(std::int64_t j) const {
    for (std::int64_t r = 0; r < rows; ++r) out[r * width + j] = Op::template identity<T>();
    for (std::int64_t k = 0; k < count; ++k) {
      const auto row = static_cast<std::int64_t>(indices[k]);
      if (row >= 0) out[row * width + j] = Op::template combine<scalar_math<T>>(out[row * width + j], data[k * width + j]);
    }
  }
  /// Runs all items on the host, row by row.
  void run_all() const {
    std::fill_n(out, rows * width, Op::template identity<T>());
    for_row_width(width, [this](auto w) {
      for (std::int64_t k = 0; k < count; ++k)
        if (const auto row = static_cast<std::int64_t>(indices[k]); row >= 0) combine_row(data + k * w, w, out + row * w);
    });
  }

 private:
  template <class Width>
  static void combine_row(const T* from, Width w, T* to) {
    if constexpr (requires { Width::value; }) {
      combine_block<Width::value>(from, to);
    } else {
      std::int64_t j = 0;
      for (constexpr std::int64_t block = 8; j + block <= w; j += block) combine_block<block>(from + j, to + j);
      for (; j < w; ++j) combine_block<1>(from + j, to + j);
    }
  }
  // Reads everything before it stores anything, because compilers cannot know that the arrays are distinct.
  template <std::int64_t N>
  static void combine_block(const T* from, T* to) {
    T made[static_cast<std::size_t>(N)];
    for (std::int64_t j = 0; j < N; ++j) made[j] = Op::template combine<scalar_math<T>>(to[j], from[j]);
    for (std::int64_t j = 0; j < N; ++j) to[j] = made[j];
  }
};
template <class Op>
struct segment_kernel_of {
  template <class T, class Index>
  using type = segment_kernel<Op, T, Index>;
  static constexpr bool has_indices = true;
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};
template <>
struct kernel_of<segment_sum_op> : segment_kernel_of<segment_sum_op> {};
template <>
struct kernel_of<segment_max_op> : segment_kernel_of<segment_max_op> {};
template <>
struct kernel_of<segment_min_op> : segment_kernel_of<segment_min_op> {};
template <>
struct kernel_of<segment_prod_op> : segment_kernel_of<segment_prod_op> {};

/// Item i: one line of elements along an axis; each is combined with those before it.
template <class Op, class T>
struct cumulative_kernel {
  static constexpr bool may_refuse = false;
  const T* from;
  T* out;
  std::int64_t lines, size, inner;
  bool exclusive, reverse;
  cumulative_kernel(void* const* p, const step_numbers& n)
      : from(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), exclusive(n.attribute(0) != 0), reverse(n.attribute(1) != 0) {
    const int axis = rule::axis_of(n.attribute(2), n.rank(0));
    size = n.size(0, axis);
    inner = n.product(0, axis + 1, n.rank(0));
    lines = n.product(0, 0, axis) * inner;
  }
  std::int64_t items() const { return size == 0 ? 0 : lines; }
  std::int64_t work() const { return size; }
  constexpr void operator()(std::int64_t line) const {
    const std::int64_t first = line / inner * size * inner + line % inner;
    T all = Op::template identity<T>();
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t at = first + (reverse ? size - 1 - k : k) * inner;
      const T next = Op::template combine<scalar_math<T>>(all, from[at]);
      out[at] = exclusive ? all : next;
      all = next;
    }
  }
  /// Runs all items on the host: it processes neighboring lines together, which the compiler vectorizes.
  void run_all() const {
    if (inner == 1) return exclusive ? run_lines<true>() : run_lines<false>();
    const std::int64_t step = reverse ? -inner : inner;
    for (std::int64_t block = 0, n = inner == 0 ? 0 : items() / inner; block < n; ++block) {
      std::int64_t at = block * size * inner + (reverse ? (size - 1) * inner : 0);
      for (std::int64_t k = 0; k < size; ++k, at += step) {
        const T* const x = from + at - (exclusive ? step : 0);
        for (std::int64_t j = 0; j < inner; ++j) {
          if (k > 0) out[at + j] = Op::template combine<scalar_math<T>>(out[at - step + j], x[j]);
          else
            out[at + j] = exclusive ? Op::template identity<T>() : Op::template combine<scalar_math<T>>(Op::template identity<T>(), x[j]);
        }
      }
    }
  }

 private:
  /// Lines along the last axis, several in turns: each element has to wait for the one before it in its line. All are read before the
  /// first is written, because a processor takes addresses for equal that are a multiple of 4096 bytes apart.
  template <bool Exclusive>
  void run_lines() const {
    constexpr int together = 4;
    const std::int64_t n = items(), step = reverse ? -1 : 1, width = size;
    std::int64_t line = 0;
    for (; line + together <= n; line += together) {
      const T* x = from + line * width + (reverse ? width - 1 : 0);
      T* to = out + line * width + (reverse ? width - 1 : 0);
      T all[together], next[together];
      for (T& one : all) one = Op::template identity<T>();
      for (std::int64_t k = 0; k < width; ++k, x += step, to += step) {
#pragma GCC unroll 4
        for (int i = 0; i < together; ++i) next[i] = Op::template combine<scalar_math<T>>(all[i], x[i * width]);
#pragma GCC unroll 4
        for (int i = 0; i < together; ++i) {
          to[i * width] = Exclusive ? all[i] : next[i];
          all[i] = next[i];
        }
      }
    }
    for (; line < n; ++line) (*this)(line);
  }
};
template <bool Product>
struct kernel_of<cumulative_op<Product>> {
  template <class T, class>
  using type = cumulative_kernel<cumulative_op<Product>, T>;
  static constexpr bool has_indices = false;
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};

/// Has no items; the step only checks its indices.
template <class Index>
struct check_rows_kernel {
  static constexpr bool may_refuse = true;
  const Index* indices;
  std::int64_t count, rows;
  bool drops_negative;
  check_rows_kernel(void* const* p, const step_numbers& n)
      : indices(static_cast<const Index*>(p[0])),
        count(n.product(1, 0, n.rank(1))),
        rows(n.size(0, 0)),
        drops_negative(n.attribute(0) == 0) {}
  std::int64_t items() const { return 0; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t) const {}
};
template <>
struct kernel_of<passes::check_rows_op> : kernel_on_indices<check_rows_kernel> {};

/// Item k: the position of the first index that equals the k-th, or -1 if the k-th is negative.
template <class Index>
struct first_rows_kernel {
  static constexpr bool may_refuse = true;
  static constexpr bool drops_negative = true;
  const Index* indices;
  std::int64_t* out;
  std::int64_t count, rows;
  first_rows_kernel(void* const* p, const step_numbers& n)
      : indices(static_cast<const Index*>(p[0])),
        out(static_cast<std::int64_t*>(p[1])),
        count(n.product(0, 0, n.rank(0))),
        rows(n.attribute(0)) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return count; }
  constexpr void operator()(std::int64_t k) const {
    std::int64_t first = 0;
    while (indices[first] != indices[k]) ++first;
    out[k] = indices[k] < 0 ? -1 : first;
  }
  /// Runs all items on one thread, because searching for each index separately takes quadratic time.
  void run_all() const {
    if (count < 16 || count > half_mask) {
      for (std::int64_t k = 0; k < count; ++k) (*this)(k);
    } else if (!find_by_hash()) {
      find_by_sorting();
    }
  }

 private:
  static constexpr int half = 31;
  static constexpr std::int64_t half_mask = (std::int64_t{1} << half) - 1;

  // Finds positions by a hash table within the result, with as many lists as there are indices. The high half of element b is the head of
  // list b. The low half of element k is the next entry in its list if its index occurs there first, and the first position otherwise.
  // Positions count from 1; 0 ends a list. Returns false if the lists get long, as with maliciously chosen indices, which are then sorted
  // instead.
  bool find_by_hash() const {
    constexpr std::int64_t is_repeated = std::int64_t{1} << 62;
    constexpr std::int64_t not_head = half_mask | is_repeated;
    std::int64_t patience = 16 * count;
    for (std::int64_t k = 0; k < count; ++k) out[k] = 0;
    for (std::int64_t k = 0; k < count; ++k) {
      if (indices[k] < 0) continue;
      const std::uint64_t mixed = (static_cast<std::uint64_t>(indices[k]) * 0x9e3779b97f4a7c15) >> 32;
      std::int64_t& list = out[(mixed * static_cast<std::uint64_t>(count)) >> 32];
      const std::int64_t head = (list & ~not_head) >> half;
      std::int64_t at = head;
      for (; at != 0 && indices[at - 1] != indices[k]; at = out[at - 1] & half_mask)
        if (--patience < 0) return false;
      if (at != 0) {
        out[k] |= (at - 1) | is_repeated;
      } else {
        list = (list & not_head) | ((k + 1) << half);
        out[k] |= head;
      }
    }
    for (std::int64_t k = 0; k < count; ++k)
      out[k] = indices[k] < 0 ? -1 : (out[k] & is_repeated) != 0 ? out[k] & half_mask : k;
    return true;
  }
  // The low half of an element is a position in sorted order, until the high half has received the first position.
  void find_by_sorting() const {
    for (std::int64_t k = 0; k < count; ++k) out[k] = k;
    std::sort(out, out + count,
              [this](std::int64_t a, std::int64_t b) { return indices[a] != indices[b] ? indices[a] < indices[b] : a < b; });
    std::int64_t first = out[0] & half_mask;
    for (std::int64_t k = 0; k < count; ++k) {
      const std::int64_t at = out[k] & half_mask;
      if (indices[at] != indices[first]) first = at;
      out[at] |= first << half;
    }
    for (std::int64_t k = 0; k < count; ++k) out[k] = indices[k] < 0 ? -1 : out[k] >> half;
  }
};

template <>
struct kernel_of<passes::first_rows_op> : kernel_on_indices<first_rows_kernel> {};

/// Item b: some columns of the sums of rows with equal indices, added in order. `first` is the result of `first_rows_kernel`.
template <class T>
struct sum_equal_rows_kernel {
  static constexpr bool may_refuse = false;
  static constexpr std::int64_t columns = 16;  // the columns of an item, which fill cache lines
  const T* data;
  const std::int64_t* first;
  T* out;
  std::int64_t count, width;
  sum_equal_rows_kernel(void* const* p, const step_numbers& n)
      : data(static_cast<const T*>(p[0])),
        first(static_cast<const std::int64_t*>(p[1])),
        out(static_cast<T*>(p[2])),
        count(n.product(1, 0, n.rank(1))),
        width(n.product(0, n.rank(1), n.rank(0))) {}
  std::int64_t items() const { return (width + columns - 1) / columns; }
  std::int64_t work() const { return count * columns; }
  constexpr void operator()(std::int64_t b) const {
    const std::int64_t begin = b * columns;
    const std::int64_t end = begin + columns < width ? begin + columns : width;
    for (std::int64_t k = 0; k < count; ++k) {
      const bool starts = first[k] == k;
      for (std::int64_t j = begin; j < end; ++j) out[k * width + j] = starts ? data[k * width + j] : T(0);
      if (starts || first[k] < 0) continue;
      T* const to = out + first[k] * width;
      for (std::int64_t j = begin; j < end; ++j) to[j] = scalar_math<T>::add(to[j], data[k * width + j]);
    }
  }
};

template <>
struct kernel_of<passes::sum_equal_rows_op> : kernel_without_indices<sum_equal_rows_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};

/// Item k: writes row `indices[k]` of the variable, or subtracts from it, if position k is the first of that index. If equal indices are
/// treated one by one, there are no positions, and item j subtracts all rows from column j, in order.
template <class T, class Index>
struct write_rows_kernel {
  static constexpr bool may_refuse = false;  // the indices were checked when `first` was computed
  T* variable;
  const T* rows;
  const Index* indices;
  const std::int64_t* first;
  std::int64_t count, width;
  bool subtracts, repeats;
  write_rows_kernel(void* const* p, const step_numbers& n)
      : variable(static_cast<T*>(p[0])),
        rows(static_cast<const T*>(p[1])),
        indices(static_cast<const Index*>(p[2])),
        first(counts_one_by_one(n) ? nullptr : static_cast<const std::int64_t*>(p[3])),
        count(n.product(2, 0, n.rank(2))),
        width(n.product(0, 1, n.rank(0))),
        subtracts(n.attribute(0) != 0),
        repeats(counts_one_by_one(n)) {}
  static bool counts_one_by_one(const step_numbers& n) { return n.attributes() > 1 && n.attribute(1) != 0; }
  std::int64_t items() const { return repeats ? width : count; }
  std::int64_t work() const { return repeats ? count : width; }
  constexpr void operator()(std::int64_t item) const {
    if (!repeats) return with_rule([&](auto rule) { write(rule, item, 0, width, width); });
    for (std::int64_t k = 0; k < count; ++k) with_rule([&](auto rule) { write(rule, k, item, item + 1, width); });
  }
  /// Runs all items on the host, row by row.
  void run_all() const {
    for_row_width(width, [this](auto w) {
      with_rule([&](auto rule) {
        for (std::int64_t k = 0; k < count; ++k) write(rule, k, 0, w, w);
      });
    });
  }

 private:
  template <bool Repeats, bool Subtracts>
  struct row_rule {};
  // Calls `f` with the properties that are the same for all rows, as a type.
  template <class F>
  constexpr void with_rule(F f) const {
    if (repeats) subtracts ? f(row_rule<true, true>{}) : f(row_rule<true, false>{});
    else subtracts ? f(row_rule<false, true>{}) : f(row_rule<false, false>{});
  }
  template <bool Repeats, bool Subtracts, class End, class Width>
  constexpr void write(row_rule<Repeats, Subtracts>, std::int64_t k, std::int64_t begin, End end, Width w) const {
    const auto row = static_cast<std::int64_t>(indices[k]);
    if (Repeats ? row < 0 : first[k] != k) return;
    T* const to = variable + row * w;
    const T* const from = rows + k * w;
    if constexpr (requires { Width::value; }) {
      write_block<Subtracts, Width::value>(to, from);
    } else {
      constexpr std::int64_t block = 16;
      for (; begin + block <= end; begin += block) write_block<Subtracts, block>(to + begin, from + begin);
      for (; begin < end; ++begin) write_block<Subtracts, 1>(to + begin, from + begin);
    }
  }
  // Reads everything before it stores anything, because compilers cannot know that the arrays are distinct.
  template <bool Subtracts, std::int64_t N>
  static constexpr void write_block(T* to, const T* from) {
    T written[static_cast<std::size_t>(N)];
    for (std::int64_t j = 0; j < N; ++j) written[j] = Subtracts ? scalar_math<T>::subtract(to[j], from[j]) : from[j];
    for (std::int64_t j = 0; j < N; ++j) to[j] = written[j];
  }
};

template <>
struct kernel_of<passes::write_rows_op> {
  template <class T, class Index>
  using type = write_rows_kernel<T, Index>;
  static constexpr bool has_indices = true;
  static constexpr int index_operand = 2;
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};

/// Copies indices that are known to be in range.
template <class T>
struct check_range_kernel {
  static constexpr bool may_refuse = true;
  const T* indices;
  T* out;
  std::int64_t count, rows;
  bool are_labels;
  check_range_kernel(void* const* p, const step_numbers& n)
      : indices(static_cast<const T*>(p[0])),
        out(static_cast<T*>(p[1])),
        count(n.product(0, 0, n.rank(0))),
        rows(n.attribute(0)),
        are_labels(n.attributes() > 1) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t k) const { out[k] = indices[k]; }
};
template <>
struct kernel_of<check_range_op> : kernel_on_indices<check_range_kernel> {};

/// The position of the first index that is out of range, or -1; the host reads the indices. Nearly always there is none, so the first loop
/// checks all indices without a branch for each.
template <class Index>
std::int64_t find_out_of_range(const Index* indices, std::int64_t count, std::int64_t rows, bool drops_negative) {
  Index least = 0, most = -1;
  for (std::int64_t k = 0; k < count; ++k) {
    least = indices[k] < least ? indices[k] : least;
    most = indices[k] > most ? indices[k] : most;
  }
  if (most < rows && (least >= 0 || drops_negative)) return -1;
  std::int64_t k = 0;
  while (indices[k] < rows && (indices[k] >= 0 || drops_negative)) ++k;
  return k;
}

/// The error message for a kernel's index that is out of range.
template <class Kernel, class Index>
std::string out_of_range_text(const Kernel& kernel, Index index, std::int64_t position) {
  const std::string at = " at position " + std::to_string(position), range = "[0, " + std::to_string(kernel.rows) + ")";
  const std::string value = std::to_string(static_cast<std::int64_t>(index));
  if constexpr (requires { kernel.are_labels; })
    if (kernel.are_labels)
      return "Received a label value of " + value + " which is outside the valid range of " + range + ". It stands" + at;
  return "index " + value + at + " is out of range " + range;
}

/// Copies divisors that `refuse_zero` has checked.
template <class T>
struct check_divisor_kernel {
  static constexpr bool may_refuse = false;
  const T* divisors;
  T* out;
  std::int64_t count;
  check_divisor_kernel(void* const* p, const step_numbers& n)
      : divisors(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), count(n.product(0, 0, n.rank(0))) {}
  std::int64_t items() const { return count; }
  std::int64_t work() const { return 1; }
  constexpr void operator()(std::int64_t k) const { out[k] = divisors[k]; }
};
/// The position of the first divisor that is 0, or -1. The divisors must be readable by the host.
template <class T>
std::int64_t find_zero(const T* divisors, std::int64_t count) {
  for (std::int64_t k = 0; k < count; ++k)
    if (divisors[k] == T(0)) [[unlikely]]
      return k;
  return -1;
}
/// Throws invalid_argument if a divisor is 0.
template <class T>
void refuse_zero(const T* divisors, std::int64_t count) {
  if (const std::int64_t k = find_zero(divisors, count); k >= 0) [[unlikely]]
    LEAT_THROW(invalid_argument("Integer division by zero: element " + std::to_string(k) + " of the divisor is 0"));
}
template <>
struct kernel_of<passes::check_divisor_op> : kernel_without_indices<check_divisor_kernel> {
  static constexpr dtype takes[]{dtype::int32, dtype::int64, dtype::uint8};
  /// All divisors, unless the quotient is empty.
  template <class T>
  static std::int64_t bytes_to_read(const step_numbers& n, int k) {
    return k == 0 && n.product(2, 0, n.rank(2)) > 0 ? n.product(0, 0, n.rank(0)) * static_cast<std::int64_t>(sizeof(T)) : 0;
  }
  template <class T>
  static bool accepts(void* const* p, const step_numbers& n) {
    return n.product(2, 0, n.rank(2)) == 0 || find_zero(static_cast<const T*>(p[0]), n.product(0, 0, n.rank(0))) < 0;
  }
  template <class T>
  static void look(void* const* p, const step_numbers& n, int) {
    if (n.product(2, 0, n.rank(2)) > 0) refuse_zero(static_cast<const T*>(p[0]), n.product(0, 0, n.rank(0)));
  }
};

/// Copies `n` elements on the host; returns the end of the written elements. A few elements are copied without a call.
template <class T>
T* copy_row(const T* from, std::int64_t n, T* to) {
  if (n >= 8) return std::copy_n(from, n, to);
  for (std::int64_t j = 0; j < n; ++j) to[j] = from[j];
  return to + n;
}

/// Item k: one row of the result, copied from the operand or filled.
template <class T>
struct pad_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  int rank;
  std::int64_t before[max_rank], from[max_rank], to[max_rank];
  std::int64_t rows = 1;
  T filler{};
  /// Of arrays of these shapes, padded by `before_each` before each axis.
  pad_kernel(const T* array, T* made, const shape& its, const shape& padded, const std::int64_t* before_each, const T& fill = T{})
      : in(array), out(made), rank(its.rank), before{}, from{}, to{}, filler(fill) {
    for (int a = 0; a < rank; ++a) place(a, before_each[a], its[a], padded[a]);
    make_vector();
  }
  pad_kernel(void* const* p, const step_numbers& n)
      : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), rank(n.rank(0)), before{}, from{}, to{} {
    for (int a = 0; a < rank; ++a) place(a, n.attribute(a), n.size(0, a), n.size(1, a));
    make_vector();
  }
  std::int64_t items() const { return rows; }
  std::int64_t work() const { return to[rank - 1]; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t width = to[rank - 1];
    std::int64_t rest = k;
    std::int64_t source = 0;
    std::int64_t step = 1;
    bool inside = true;
    for (int a = rank - 2; a >= 0; --a) {
      const std::int64_t i = rest % to[a] - before[a];
      rest /= to[a];
      inside = inside && i >= 0 && i < from[a];
      source += i * step;
      step *= from[a];
    }
    for (std::int64_t j = 0; j < width; ++j) {
      const std::int64_t i = j - before[rank - 1];
      out[k * width + j] = inside && i >= 0 && i < from[rank - 1] ? in[source * from[rank - 1] + i] : filler;
    }
  }
  /// Runs all items on the host; it copies and fills whole rows.
  void run_all() const {
    const T* source = in;
    if (rank == 1) {
      pad_axis(0, source, out);
      return;
    }
    pad_kernel merged = *this;
    merged.merge_rows();
    merged.pad_axis(0, source, out);
  }

 private:
  constexpr void place(int axis, std::int64_t its_before, std::int64_t its_from, std::int64_t its_to) {
    before[axis] = its_before;
    from[axis] = its_from;
    to[axis] = its_to;
    if (axis + 1 < rank) rows *= its_to;
  }
  // A scalar, which has no padding, is a vector of one element.
  constexpr void make_vector() {
    if (rank > 0) return;
    rank = 1;
    from[0] = to[0] = 1;
  }
  // Merges dimensions whose rows are contiguous in both operand and result.
  void merge_rows() {
    while (rank > 1 && before[rank - 1] == 0 && from[rank - 1] == to[rank - 1]) {
      const std::int64_t width = to[--rank];
      before[rank - 1] *= width;
      from[rank - 1] *= width;
      to[rank - 1] *= width;
    }
  }
  // Writes the part of the result from `axis` on; returns its end.
  T* pad_axis(int axis, const T*& source, T* to_here) const {
    std::int64_t inner = 1;
    for (int a = axis + 1; a < rank; ++a) inner *= to[a];
    T* const begin = std::fill_n(to_here, before[axis] * inner, filler);
    T* at = begin;
    if (axis == rank - 1) {
      at = copy_row(source, from[axis], begin);
      source += from[axis];
    } else {
      for (std::int64_t i = 0; i < from[axis]; ++i) at = pad_axis(axis + 1, source, at);
    }
    return std::fill_n(at, (to[axis] - before[axis] - from[axis]) * inner, filler);
  }
};

template <>
struct kernel_of<pad_op> : kernel_without_indices<pad_kernel> {
  static constexpr bool only_moves = true;
};

/// Item k: the part of row k / inputs that comes from input k % inputs. A node of a graph with more than `most` inputs has several such
/// kernels, which write parts of the same rows.
template <class T>
struct concat_kernel {
  static constexpr bool may_refuse = false;
  static constexpr int most = 64;
  const T* in[most];
  std::int64_t begin[most], width[most];
  T* out;
  int inputs;
  std::int64_t rows, whole = 0, rest = 0;  // `rest` of a row is written by other kernels
  /// Of arrays with these numbers of elements for each row, which has `its_whole` elements from `to` on.
  concat_kernel(const T* const* from, const std::int64_t* widths, int count, T* to, std::int64_t its_rows, std::int64_t its_whole)
      : out(to), inputs(count), rows(its_rows), whole(its_whole) {
    std::int64_t next = 0;
    for (int k = 0; k < count; ++k) {
      in[k] = from[k];
      begin[k] = next;
      next += width[k] = widths[k];
    }
    rest = whole - next;
  }
  concat_kernel(void* const* p, const step_numbers& n, int count) : in{}, begin{}, width{}, out(static_cast<T*>(p[count])), inputs(count) {
    const int rank = n.rank(0);
    const int axis = static_cast<int>(n.attribute(0) < 0 ? n.attribute(0) + rank : n.attribute(0));
    rows = n.product(0, 0, axis);
    for (int k = 0; k < count; ++k) {
      in[k] = static_cast<const T*>(p[k]);
      begin[k] = whole;
      width[k] = n.product(k, axis, rank);
      whole += width[k];
    }
  }
  std::int64_t items() const { return rows * inputs; }
  std::int64_t work() const { return whole / inputs; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t row = k / inputs;
    const auto from = k % inputs;
    for (std::int64_t j = 0; j < width[from]; ++j) out[row * whole + begin[from] + j] = in[from][row * width[from] + j];
  }
  /// Runs all items on the host.
  void run_all() const {
    T* to = out;
    for (std::int64_t row = 0; row < rows; ++row, to += rest)
      for (int k = 0; k < inputs; ++k) to = copy_row(in[k] + row * width[k], width[k], to);
  }
};

template <>
struct kernel_of<concat_op> : kernel_without_indices<concat_kernel> {
  static constexpr bool only_moves = true;
};

/// Item k: the index of the maximum or minimum of one line, the first of equal elements; NaN is ignored unless all elements are NaN.
template <class T, class To, bool Largest>
struct arg_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  To* out;
  std::int64_t before, length, after;
  arg_kernel(void* const* p, const step_numbers& n) : in(static_cast<const T*>(p[0])), out(static_cast<To*>(p[1])) {
    const int rank = n.rank(0);
    const int axis = static_cast<int>(n.attribute(0) < 0 ? n.attribute(0) + rank : n.attribute(0));
    before = n.product(0, 0, axis);
    length = n.size(0, axis);
    if (length == 0)
      LEAT_THROW(invalid_argument(std::string(Largest ? "ArgMax" : "ArgMin") + ": Reduction axis " + std::to_string(axis) +
                             " is empty: there is no " + (Largest ? "largest" : "smallest") + " element"));
    after = n.product(0, axis + 1, rank);
  }
  std::int64_t items() const { return before * after; }
  std::int64_t work() const { return length; }
  constexpr void operator()(std::int64_t k) const {
    const T* line = in + k / after * length * after + k % after;
    std::int64_t best = 0;
    T top = line[0];
    for (std::int64_t i = 1; i < length; ++i) {
      const T v = line[i * after];
      if ((Largest ? v > top : v < top) || (top != top && v == v)) {
        top = v;
        best = i;
      }
    }
    out[k] = static_cast<To>(best);
  }
};
/// Its result holds the indices.
template <bool Largest>
struct arg_kernel_of {
  template <class T, class To>
  using type = arg_kernel<T, To, Largest>;
  static constexpr bool has_indices = true;
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};
template <>
struct kernel_of<argmax_op> : arg_kernel_of<true> {};
template <>
struct kernel_of<argmin_op> : arg_kernel_of<false> {};

}  // namespace leat::kernels
