#pragma once
// Kernels of padding by mirror images, as work items for any device.

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/mirror_pad.hpp>

namespace leat::kernels {

/// The axes of a padded array and of the inner one.
struct mirrored_axes {
  int rank;
  std::int64_t repeats, before[max_rank], inner[max_rank], padded[max_rank];

  /// Of a step: the operand or result `k` has the inner shape.
  constexpr mirrored_axes(const step_numbers& n, int its_inner)
      : rank(n.rank(its_inner)), repeats(n.attribute(0)), before{}, inner{}, padded{} {
    for (int a = 0; a < rank; ++a) {
      before[a] = n.attribute(1 + a);
      inner[a] = n.size(its_inner, a);
      padded[a] = n.size(1 - its_inner, a);
    }
    make_vector();
  }
  /// Of arrays of these shapes, padded by `before_each` before each axis.
  constexpr mirrored_axes(const shape& its_inner, const shape& its_padded, const std::int64_t* before_each, std::int64_t its_repeats)
      : rank(its_inner.rank), repeats(its_repeats), before{}, inner{}, padded{} {
    for (int a = 0; a < rank; ++a) {
      before[a] = before_each[a];
      inner[a] = its_inner[a];
      padded[a] = its_padded[a];
    }
    make_vector();
  }
  constexpr std::int64_t place(int axis, std::int64_t k) const {
    return leat::detail::mirrored_place(k - before[axis], inner[axis], repeats);
  }
  static constexpr std::int64_t product(const std::int64_t* sizes, int count) {
    std::int64_t n = 1;
    for (int a = 0; a < count; ++a) n *= sizes[a];
    return n;
  }

 private:
  // A scalar is a vector of one element.
  constexpr void make_vector() {
    if (rank > 0) return;
    rank = 1;
    inner[0] = padded[0] = 1;
  }
};

/// Item k: row k of the result, along the last axis.
template <class T>
struct mirror_pad_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  mirrored_axes axes;
  mirror_pad_kernel(const T* from, T* to, const mirrored_axes& its_axes) : in(from), out(to), axes(its_axes) {}
  mirror_pad_kernel(void* const* p, const step_numbers& n) : in(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), axes(n, 0) {}
  std::int64_t items() const { return axes.padded[axes.rank - 1] == 0 ? 0 : mirrored_axes::product(axes.padded, axes.rank - 1); }
  std::int64_t work() const { return axes.padded[axes.rank - 1]; }
  constexpr void operator()(std::int64_t k) const {
    const int last = axes.rank - 1;
    std::int64_t rest = k, from = 0, step = axes.inner[last];
    for (int a = last - 1; a >= 0; --a) {
      from += axes.place(a, rest % axes.padded[a]) * step;
      rest /= axes.padded[a];
      step *= axes.inner[a];
    }
    const T* const row = in + from;
    T* const to = out + k * axes.padded[last];
    const std::int64_t before = axes.before[last], size = axes.inner[last];
    for (std::int64_t j = 0; j < before; ++j) to[j] = row[axes.place(last, j)];
    for (std::int64_t j = 0; j < size; ++j) to[before + j] = row[j];
    for (std::int64_t j = before + size; j < axes.padded[last]; ++j) to[j] = row[axes.place(last, j)];
  }
};

/// Item k: row k of the inner array, along the last axis. Each element is the sum of the elements of the padded array that show it, in
/// order: along each axis these are up to three, one before, one within, one behind.
template <class T>
struct mirror_pad_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* slopes;
  T* out;
  mirrored_axes axes;
  mirror_pad_grad_kernel(const T* dy, T* to, const mirrored_axes& its_axes) : slopes(dy), out(to), axes(its_axes) {}
  mirror_pad_grad_kernel(void* const* p, const step_numbers& n)
      : slopes(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), axes(n, 1) {}
  std::int64_t items() const { return axes.inner[axes.rank - 1] == 0 ? 0 : mirrored_axes::product(axes.inner, axes.rank - 1); }
  std::int64_t work() const { return 2 * axes.inner[axes.rank - 1]; }
  constexpr void operator()(std::int64_t k) const {
    const int last = axes.rank - 1;
    std::int64_t shown[max_rank][3]{}, rest = k, step = axes.padded[last];
    int count[max_rank]{}, at[max_rank]{};
    for (int a = last - 1; a >= 0; --a) {
      const std::int64_t i = rest % axes.inner[a], size = axes.inner[a], behind = axes.padded[a] - axes.before[a] - size;
      rest /= axes.inner[a];
      const std::int64_t left = -i - axes.repeats, right = 2 * size - 2 - i + axes.repeats;
      if (left < 0 && left >= -axes.before[a]) shown[a][count[a]++] = (left + axes.before[a]) * step;
      shown[a][count[a]++] = (i + axes.before[a]) * step;
      if (right >= size && right < size + behind) shown[a][count[a]++] = (right + axes.before[a]) * step;
      step *= axes.padded[a];
    }
    T* const to = out + k * axes.inner[last];
    for (std::int64_t j = 0; j < axes.inner[last]; ++j) to[j] = T(0);
    for (bool more = true; more;) {
      std::int64_t from = 0;
      for (int a = 0; a < last; ++a) from += shown[a][at[a]];
      add_row(slopes + from, to);
      more = false;
      for (int a = last - 1; a >= 0 && !more; --a) {
        more = ++at[a] < count[a];
        if (!more) at[a] = 0;
      }
    }
  }

 private:
  // Adds a row of the padded array to the row that it shows.
  constexpr void add_row(const T* row, T* to) const {
    const int last = axes.rank - 1;
    const std::int64_t size = axes.inner[last], before = axes.before[last], behind = axes.padded[last] - before - size;
    const auto add = [&](std::int64_t j, std::int64_t from) { to[j] = scalar_math<T>::add(to[j], row[from]); };
    for (std::int64_t j = 1 - axes.repeats; j < size && j <= before - axes.repeats; ++j) add(j, before - axes.repeats - j);
    for (std::int64_t j = 0; j < size; ++j) add(j, before + j);
    const std::int64_t first = size - 1 + axes.repeats - behind;
    for (std::int64_t j = first < 0 ? 0 : first; j < size && j <= size - 2 + axes.repeats; ++j)
      add(j, before + 2 * size - 2 - j + axes.repeats);
  }
};
template <>
struct kernel_of<mirror_pad_op> : kernel_without_indices<mirror_pad_kernel> {
  static constexpr bool only_moves = true;
};
template <>
struct kernel_of<mirror_pad_grad_op> : kernel_without_indices<mirror_pad_grad_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};

}  // namespace leat::kernels
