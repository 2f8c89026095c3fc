#pragma once
// Copies elements from strided memory to contiguous memory: transpositions, slices, repetitions. Axes that can be walked as one are merged
// first. Then rows that are contiguous on both sides are copied whole; where another axis is contiguous in the source, squares of
// elements are transposed in registers, so that both sides are read and written in whole registers; other elements are copied one by one.

#include <leat/cpu/batch.hpp>
#include <leat/cpu/parallel.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace leat::cpu {

namespace detail {

/// The axes of a strided copy, outermost first: sizes, and strides of the source in elements. The result is contiguous.
struct strided_axes {
  static constexpr int most = 16;
  int rank = 0;
  std::int64_t size[most]{};
  std::int64_t from[most]{};
  std::int64_t to[most]{};  // strides of the result

  /// Without axes of one element, and with neighbors merged that the source walks as one axis. Axes beyond `most` are left out; returns how
  /// many of the outermost axes that are.
  std::size_t set(const std::int64_t* sizes, const std::int64_t* strides, std::size_t count) {
    std::int64_t elements = 1;
    int begin = most;
    std::size_t left = count;
    for (; left > 0; --left) {
      const std::int64_t n = sizes[left - 1], stride = strides[left - 1];
      if (n == 1) continue;
      if (begin < most && stride == size[begin] * from[begin]) {
        size[begin] *= n;
      } else {
        if (begin == 0) break;
        --begin;
        size[begin] = n;
        from[begin] = stride;
        to[begin] = elements;
      }
      elements *= n;
    }
    rank = most - begin;
    for (int a = 0; a < rank; ++a) {
      size[a] = size[begin + a];
      from[a] = from[begin + a];
      to[a] = to[begin + a];
    }
    return left;
  }
  void remove(int axis) {
    --rank;
    for (int a = axis; a < rank; ++a) {
      size[a] = size[a + 1];
      from[a] = from[a + 1];
      to[a] = to[a + 1];
    }
  }
};

/// Calls f(offset in the source, offset in the result) for the positions [begin, end) of the axes, in order.
template <class F>
[[gnu::always_inline]] inline void for_each_position(const strided_axes& axes, std::int64_t begin, std::int64_t end, F f) {
  std::int64_t index[strided_axes::most]{}, from = 0, to = 0, rest = begin;
  for (int a = axes.rank - 1; a >= 0; --a) {
    index[a] = rest % axes.size[a];
    rest /= axes.size[a];
    from += index[a] * axes.from[a];
    to += index[a] * axes.to[a];
  }
  for (std::int64_t at = begin; at < end; ++at) {
    f(from, to);
    for (int a = axes.rank - 1; a >= 0; --a) {
      from += axes.from[a];
      to += axes.to[a];
      if (++index[a] < axes.size[a]) break;
      from -= index[a] * axes.from[a];
      to -= index[a] * axes.to[a];
      index[a] = 0;
    }
  }
}

/// A row of a usual length is copied here: calling a function would take longer than the copy.
[[gnu::always_inline]] inline void copy_row(void* to, const void* from, std::int64_t bytes) {
  constexpr std::int64_t block = 64, longest = 1024;
  auto* d = static_cast<std::byte*>(to);
  const auto* s = static_cast<const std::byte*>(from);
  if (bytes < block || bytes > longest) {
    std::memcpy(d, s, static_cast<std::size_t>(bytes));
    return;
  }
  std::int64_t k = 0;
  for (; k + block <= bytes; k += block) std::memcpy(d + k, s + k, static_cast<std::size_t>(block));
  if (k < bytes) std::memcpy(d + bytes - block, s + bytes - block, static_cast<std::size_t>(block));
}

/// Element (i, j) of the result, whose rows have `width` elements and are `to_step` apart, is element j * from_step + i of the source.
template <class T>
void transpose_rows(const T* from, std::int64_t from_step, T* to, std::int64_t to_step, std::int64_t height, std::int64_t width) {
  const auto one_by_one = [&](std::int64_t i, std::int64_t i_end, std::int64_t j, std::int64_t j_end) {
    for (; i < i_end; ++i)
      for (std::int64_t k = j; k < j_end; ++k) to[i * to_step + k] = from[k * from_step + i];
  };
  if constexpr (sizeof(T) >= 4) {
    using word = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
    constexpr std::int64_t side = lanes<word>;
    const auto* source = static_cast<const word*>(static_cast<const void*>(from));
    auto* result = static_cast<word*>(static_cast<void*>(to));
    std::int64_t i = 0;
    for (; i + side <= height; i += side) {
      std::int64_t j = 0;
      for (; j + side <= width; j += side) {
        batch<word> square[side];
#pragma GCC unroll 16
        for (std::int64_t k = 0; k < side; ++k) square[k] = load(source + (j + k) * from_step + i);
        cpu::transpose<word>(square);
#pragma GCC unroll 16
        for (std::int64_t k = 0; k < side; ++k) store(result + (i + k) * to_step + j, square[k]);
      }
      one_by_one(i, i + side, j, width);
    }
    one_by_one(i, height, 0, width);
  } else {
    // A square at a time, so that the cache lines of the source are read once.
    constexpr std::int64_t side = 64;
    for (std::int64_t i = 0; i < height; i += side)
      for (std::int64_t j = 0; j < width; j += side) one_by_one(i, std::min(height, i + side), j, std::min(width, j + side));
  }
}

/// Calls f(begin, end) for pieces of [0, count), on several threads if there are many elements in all.
template <class F>
void share_positions(std::int64_t count, std::int64_t elements_of_each, F f) {
  constexpr std::int64_t elements_of_chunk = 1 << 16;
  const std::int64_t step = std::max<std::int64_t>(elements_of_chunk / std::max<std::int64_t>(elements_of_each, 1), 1);
  const std::int64_t chunks = (count + step - 1) / step;
  if (chunks <= 1) return f(std::int64_t{0}, count);
  parallel_for(chunks, [&](std::int64_t chunk) { f(chunk * step, std::min(count, (chunk + 1) * step)); });
}

template <class T>
void copy_axes(T* to, const T* from, strided_axes axes) {
  if (axes.rank == 0) {
    *to = *from;
    return;
  }
  const std::int64_t positions = axes.to[0] * axes.size[0];
  const int last = axes.rank - 1;
  const std::int64_t width = axes.size[last], step = axes.from[last];
  axes.remove(last);
  const auto axis = static_cast<int>(std::find(axes.from, axes.from + axes.rank, 1) - axes.from);
  if (step != 1 && step != 0 && axis < axes.rank) {
    // Pieces of work: rows of squares.
    const std::int64_t height = axes.size[axis], to_step = axes.to[axis], side = batch_bytes / sizeof(T);
    const std::int64_t rows = (height + side - 1) / side;
    axes.size[axis] = rows;
    axes.from[axis] *= side;
    axes.to[axis] *= side;
    // The row of squares varies fastest: the source is read in its order.
    std::rotate(axes.size + axis, axes.size + axis + 1, axes.size + axes.rank);
    std::rotate(axes.from + axis, axes.from + axis + 1, axes.from + axes.rank);
    std::rotate(axes.to + axis, axes.to + axis + 1, axes.to + axes.rank);
    share_positions(positions / height / width * rows, side * width, [&](std::int64_t begin, std::int64_t end) {
      std::int64_t row = begin % rows;
      for_each_position(axes, begin, end, [&](std::int64_t f, std::int64_t t) {
        transpose_rows(from + f, step, to + t, to_step, std::min(side, height - row * side), width);
        if (++row == rows) row = 0;
      });
    });
    return;
  }
  share_positions(positions / width, width, [&](std::int64_t begin, std::int64_t end) {
    if (step == 1) {
      const auto bytes = width * static_cast<std::int64_t>(sizeof(T));
      for_each_position(axes, begin, end, [&](std::int64_t f, std::int64_t t) { copy_row(to + t, from + f, bytes); });
    } else if (step == 0) {
      for_each_position(axes, begin, end, [&](std::int64_t f, std::int64_t t) { std::fill_n(to + t, width, from[f]); });
    } else {
      for_each_position(axes, begin, end, [&](std::int64_t f, std::int64_t t) {
        for (std::int64_t k = 0; k < width; ++k) to[t + k] = from[f + k * step];
      });
    }
  });
}

}  // namespace detail

/// Copies `count` axes, outermost first, of the sizes and strides (in elements, of any sign; 0 repeats) from `from` to contiguous memory.
/// The two do not overlap.
template <class T>
void copy_strided(T* to, const T* from, const std::int64_t* sizes, const std::int64_t* strides, std::size_t count) {
  static_assert(std::is_trivially_copyable_v<T>);
  if (std::find(sizes, sizes + count, 0) != sizes + count) return;
  detail::strided_axes axes;
  const std::size_t left = axes.set(sizes, strides, count);
  if (left == 0) return detail::copy_axes(to, from, axes);
  std::int64_t elements = 1;
  for (std::size_t a = 1; a < count; ++a) elements *= sizes[a];
  for (std::int64_t k = 0; k < sizes[0]; ++k) copy_strided(to + k * elements, from + k * strides[0], sizes + 1, strides + 1, count - 1);
}

}  // namespace leat::cpu
