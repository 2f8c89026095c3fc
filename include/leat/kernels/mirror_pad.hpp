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
    if (rank == 0) {  // a scalar
      rank = 1;
      inner[0] = padded[0] = 1;
    }
  }
  constexpr std::int64_t place(int axis, std::int64_t k) const {
    return leat::detail::mirrored_place(k - before[axis], inner[axis], repeats);
  }
  static constexpr std::int64_t product(const std::int64_t* sizes, int count) {
    std::int64_t n = 1;
    for (int a = 0; a < count; ++a) n *= sizes[a];
    return n;
  }
};

/// Item k: row k of the result, along the last axis.
template <class T>
struct mirror_pad_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  mirrored_axes axes;
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
    for (std::int64_t j = 0; j < axes.padded[last]; ++j) out[k * axes.padded[last] + j] = in[from + axes.place(last, j)];
  }
};

/// Item k: element k of the inner array, the sum of the elements of the padded one that show it, in order: along each axis these are up to
/// three, one before, one within, one behind.
template <class T>
struct mirror_pad_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* slopes;
  T* out;
  mirrored_axes axes;
  mirror_pad_grad_kernel(void* const* p, const step_numbers& n)
      : slopes(static_cast<const T*>(p[0])), out(static_cast<T*>(p[1])), axes(n, 1) {}
  std::int64_t items() const { return mirrored_axes::product(axes.inner, axes.rank); }
  std::int64_t work() const { return 8 * axes.rank; }
  constexpr void operator()(std::int64_t k) const {
    std::int64_t shown[max_rank][3]{}, rest = k, step = 1;
    int count[max_rank]{}, at[max_rank]{};
    for (int a = axes.rank - 1; a >= 0; --a) {
      const std::int64_t i = rest % axes.inner[a], size = axes.inner[a], behind = axes.padded[a] - axes.before[a] - size;
      rest /= axes.inner[a];
      const std::int64_t left = -i - axes.repeats, right = 2 * size - 2 - i + axes.repeats;
      if (left < 0 && left >= -axes.before[a]) shown[a][count[a]++] = (left + axes.before[a]) * step;
      shown[a][count[a]++] = (i + axes.before[a]) * step;
      if (right >= size && right < size + behind) shown[a][count[a]++] = (right + axes.before[a]) * step;
      step *= axes.padded[a];
    }
    T sum = T(0);
    for (bool more = true; more;) {
      std::int64_t from = 0;
      for (int a = 0; a < axes.rank; ++a) from += shown[a][at[a]];
      sum = scalar_math<T>::add(sum, slopes[from]);
      more = false;
      for (int a = axes.rank - 1; a >= 0 && !more; --a) {
        more = ++at[a] < count[a];
        if (!more) at[a] = 0;
      }
    }
    out[k] = sum;
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
