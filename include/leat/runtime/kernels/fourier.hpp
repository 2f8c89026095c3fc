#pragma once
// Kernels of Fourier transforms along the last axes, or along axes that an input names. A node keeps the plans of the lengths that it
// meets; rows are transformed side by side, in parallel blocks. Source: TensorFlow `FFT`, `IFFT`, `RFFT`, `IRFFT`, their forms for two and
// three axes, and `FFTND` with its kin.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/runtime/kernels/fourier_plan.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace leat::runtime {

namespace fourier {

/// The plans that a node has used last.
class plan_memory final : public kernel_memory {
 public:
  /// The plan of a length. The node's guard is held.
  template <class Plan>
  std::shared_ptr<const Plan> of(std::int64_t length) {
    auto& kept = [&]() -> auto& {
      if constexpr (std::is_same_v<Plan, fourier_plan>) return complex_;
      else return real_;
    }();
    for (const auto& plan : kept)
      if (plan->size() == length) return plan;
    auto made = std::make_shared<const Plan>(length);
    if (kept.size() < most) return kept.emplace_back(std::move(made));
    next_ = (next_ + 1) % most;
    return kept[next_] = std::move(made);
  }

 private:
  static constexpr std::size_t most = 4;
  std::vector<std::shared_ptr<const fourier_plan>> complex_;
  std::vector<std::shared_ptr<const real_fourier_plan>> real_;
  std::size_t next_ = 0;
};
template <class Plan>
std::shared_ptr<const Plan> plan_for(kernel_node& node, std::int64_t length) {
  const std::lock_guard lock(node.guard);
  if (node.memory == nullptr) node.memory = std::make_unique<plan_memory>();
  return static_cast<plan_memory&>(*node.memory).of<Plan>(length);
}

/// An axis of an array: the elements of each line are `inner` apart, and as many lines lie side by side.
struct axis_lines {
  std::int64_t outer = 1, size = 1, inner = 1;
  axis_lines(const shape& s, int axis) : outer(s.elements(0, axis)), size(s[axis]), inner(s.elements(axis + 1, s.rank)) {}
  std::int64_t count() const { return outer * inner; }
  /// The offset of a line's first element.
  std::int64_t begin(std::int64_t line) const { return line / inner * size * inner + line % inner; }
};

/// The most lines of a block.
inline constexpr std::int64_t most_lanes = 16;
/// Calls `f(first, lanes, memory)` for blocks of lines, with memory for `doubles` float64 for each line. Lines of a block are in one row
/// of `inner` lines, or, if that is 1, follow each other.
template <class F>
void for_blocks(std::int64_t lines, std::int64_t inner, std::int64_t length, std::int64_t doubles, F f) {
  if (lines == 0) return;
  const std::int64_t most = std::clamp<std::int64_t>((std::int64_t{1} << 15) / std::max<std::int64_t>(length, 1), 1, most_lanes);
  const std::int64_t row = inner == 1 ? lines : inner, lanes = std::min(most, row), blocks = (row + lanes - 1) / lanes;
  metered_bytes taken;  // of the blocks that are transformed at once
  const std::int64_t chunks = lines / row * blocks;
  taken.take(static_cast<std::size_t>(std::min<std::int64_t>(chunks, cpu::thread_count()) * doubles * lanes) * sizeof(double));
  // Short lines go to one task in numbers, because each task costs a few microseconds.
  const std::int64_t each = std::max<std::int64_t>(1, (std::int64_t{1} << 14) / (lanes * std::max<std::int64_t>(length, 1)));
  cpu::parallel_for((chunks + each - 1) / each, [&](std::int64_t part) {
    const cpu::scratch<double> memory(doubles * lanes);
    for (std::int64_t chunk = part * each; chunk < std::min(chunks, (part + 1) * each); ++chunk) {
      const std::int64_t at = chunk % blocks * lanes;
      f(chunk / blocks * row + at, std::min(lanes, row - at), memory.get());
    }
  });
}

/// Transforms complex numbers along an axis; T is float or double. `from` and `to` may be the same array.
template <class T>
void transform_axis(const fourier_plan& plan, const T* from, T* to, const axis_lines& at, bool is_inverse) {
  const std::int64_t n = plan.size(), inner = at.inner;
  const double scale = is_inverse ? 1.0 / static_cast<double>(n) : 1.0;
  for_blocks(at.count(), inner, n, 2 * n + plan.work_size(), [&](std::int64_t first, std::int64_t lanes, double* memory) {
    const complex_planes x{memory, memory + n * lanes};
    const std::int64_t step = inner == 1 ? n : 1;  // from a line to the next
    const std::int64_t begin = at.begin(first);
    for (std::int64_t j = 0; j < n; ++j) {
      const T* source = from + 2 * (begin + j * inner);
      for (std::int64_t q = 0; q < lanes; ++q, source += 2 * step) {
        x.re[j * lanes + q] = static_cast<double>(source[0]);
        x.im[j * lanes + q] = static_cast<double>(source[1]);
      }
    }
    double* const work = memory + 2 * n * lanes;
    const complex_planes y = is_inverse ? plan.run(x.exchanged(), work, lanes).exchanged() : plan.run(x, work, lanes);
    for (std::int64_t j = 0; j < n; ++j) {
      T* target = to + 2 * (begin + j * inner);
      for (std::int64_t q = 0; q < lanes; ++q, target += 2 * step) {
        target[0] = static_cast<T>(scale * y.re[j * lanes + q]);
        target[1] = static_cast<T>(scale * y.im[j * lanes + q]);
      }
    }
  });
}
/// Transforms real numbers along an axis to frequencies. Lines of `from` may be longer than the transform.
template <class T>
void transform_real(const real_fourier_plan& plan, const T* from, const axis_lines& in, T* to, const axis_lines& out) {
  for_blocks(out.count(), out.inner, plan.size(), plan.memory_size(), [&](std::int64_t first, std::int64_t lanes, double* memory) {
    const T* const source = from + in.begin(first);
    T* const target = to + 2 * out.begin(first);
    const std::int64_t from_step = in.inner == 1 ? in.size : 1, to_step = out.inner == 1 ? 2 * out.size : 2;
    plan.forward(
        [&](std::int64_t j, double* x) {
          for (std::int64_t q = 0; q < lanes; ++q) x[q] = static_cast<double>(source[j * in.inner + q * from_step]);
        },
        [&](std::int64_t k, const double* re, const double* im) {
          T* at = target + 2 * k * out.inner;
          for (std::int64_t q = 0; q < lanes; ++q, at += to_step) {
            at[0] = static_cast<T>(re[q]);
            at[1] = static_cast<T>(im[q]);
          }
        },
        memory, lanes);
  });
}
/// Transforms frequencies along an axis back to real numbers. Lines of `from` may have more frequencies than the transform.
template <class T>
void transform_back(const real_fourier_plan& plan, const T* from, const axis_lines& in, T* to, const axis_lines& out) {
  for_blocks(out.count(), out.inner, plan.size(), plan.memory_size(), [&](std::int64_t first, std::int64_t lanes, double* memory) {
    const T* const source = from + 2 * in.begin(first);
    T* const target = to + out.begin(first);
    const std::int64_t from_step = in.inner == 1 ? 2 * in.size : 2, to_step = out.inner == 1 ? out.size : 1;
    plan.back(
        [&](std::int64_t k, double* re, double* im) {
          const T* at = source + 2 * k * in.inner;
          for (std::int64_t q = 0; q < lanes; ++q, at += from_step) {
            re[q] = static_cast<double>(at[0]);
            im[q] = static_cast<double>(at[1]);
          }
        },
        [&](std::int64_t j, const double* x) {
          for (std::int64_t q = 0; q < lanes; ++q) target[j * out.inner + q * to_step] = static_cast<T>(x[q]);
        },
        memory, lanes);
  });
}

/// The first elements along some axes, as a view if these are all.
inline tensor_value cropped(const tensor_value& v, const shape& to) {
  if (v.extent() == to) return v;
  tensor_value made(v.type(), to);
  const auto strides = strides_of(v.extent());
  with_storage(v.type(), [&]<class S>(S) {
    if (made.elements() > 0) gather_walk(stored<S>(made), stored<S>(v), to.dim, strides.data(), static_cast<std::size_t>(to.rank));
  });
  return made;
}

enum class kind { complex, from_real, to_real };

/// The transform of a node along `axes`, of these lengths. The last axis is that along which real numbers have half of the frequencies.
template <kind Kind>
void run(kernel_context& c, std::span<const int> axes, std::span<const std::int64_t> lengths, bool is_inverse) {
  const tensor_value x = c.input(0);
  const bool takes_complex = Kind != kind::from_real;
  const dtype type = takes_complex ? x.type() : complex_of(x.type());
  if (!is_complex(type)) throw unimplemented("no kernel of " + std::string(c.node.type) + " for dtype " + dtype_name(x.type()));
  const int last = axes.back();
  shape used = x.extent(), made = x.extent();  // what is read of the input, and the result
  for (std::size_t k = 0; k < axes.size(); ++k) {
    const bool halves = k + 1 == axes.size() && lengths[k] > 0;
    used.dim[axes[k]] = Kind == kind::to_real && halves ? lengths[k] / 2 + 1 : lengths[k];
    made.dim[axes[k]] = Kind == kind::from_real && halves ? lengths[k] / 2 + 1 : lengths[k];
  }
  tensor_value result(Kind == kind::to_real ? part_dtype(type) : type, made);
  if (result.elements() == 0 || x.elements() == 0) {
    std::fill_n(result.data(), result.bytes(), std::byte{0});
    return c.set(0, std::move(result));
  }
  const step_interruption stop(c.step);
  const cpu::scoped_interruption within(&stop);
  const auto along_others = [&]<class T>(T*, const T* from, T* to, const shape& s) {
    for (std::size_t k = axes.size(); k-- > 0;) {
      if (Kind != kind::complex && axes[k] == last) continue;
      transform_axis(*plan_for<fourier_plan>(c.node, lengths[k]), from, to, axis_lines(s, axes[k]), is_inverse);
      from = to;
    }
  };
  with_part(type, [&]<class T>(T) {
    const auto numbers_of = [](const tensor_value& v) { return reinterpret_cast<const T*>(v.data()); };
    T* const to = reinterpret_cast<T*>(result.data());
    // Rows may be longer than what is read of them; along other axes, only that is copied.
    shape rows = used;
    rows.dim[last] = x.extent()[last];
    const tensor_value input = cropped(x, Kind == kind::complex || (Kind == kind::to_real && axes.size() > 1) ? used : rows);
    if constexpr (Kind == kind::complex) {
      along_others(to, numbers_of(input), to, used);
    } else if constexpr (Kind == kind::from_real) {
      transform_real(*plan_for<real_fourier_plan>(c.node, lengths.back()), numbers_of(input), axis_lines(rows, last), to,
                     axis_lines(made, last));
      along_others(to, static_cast<const T*>(to), to, made);
    } else {
      tensor_value spectrum = input;
      if (axes.size() > 1) {
        spectrum = tensor_value(type, used);
        T* const changed = reinterpret_cast<T*>(spectrum.data());
        along_others(changed, numbers_of(input), changed, used);
      }
      transform_back(*plan_for<real_fourier_plan>(c.node, lengths.back()), numbers_of(spectrum), axis_lines(spectrum.extent(), last), to,
                     axis_lines(made, last));
    }
  });
  c.set(0, std::move(result));
}

/// Checks that an axis has as many elements as a transform reads. Errors: invalid_argument, in TensorFlow's words.
inline void want_size(const shape& s, int axis, std::int64_t least) {
  if (s[axis] != 0 && s[axis] < least)
    throw invalid_argument("Input dimension " + std::to_string(axis) + " must have length of at least " + std::to_string(least) +
                           " but got: " + std::to_string(s[axis]));
}

/// A transform along the last `Axes` axes.
template <kind Kind, int Axes, bool IsInverse>
void run_last(kernel_context& c) {
  const shape s = c.extent(0);
  if (s.rank < Axes)
    throw invalid_argument("Input must have rank of at least " + std::to_string(Axes) + " but got: " + brackets(s));
  std::array<int, static_cast<std::size_t>(Axes)> axes{};
  std::array<std::int64_t, static_cast<std::size_t>(Axes)> lengths{};
  for (std::size_t k = 0; k < Axes; ++k) {
    axes[k] = s.rank - Axes + static_cast<int>(k);
    lengths[k] = s[axes[k]];
  }
  if constexpr (Kind != kind::complex) {
    if (c.extent(1).rank != 1 || c.extent(1)[0] != Axes)
      throw invalid_argument("fft_length must have shape [" + std::to_string(Axes) + "]");
    with_index(c.type(1), [&]<class I>(I) { std::ranges::copy(c.input(1).values<I>(), lengths.begin()); });
    for (std::size_t k = 0; k < Axes; ++k) {
      if (lengths[k] < 0)
        throw invalid_argument("fft_length[" + std::to_string(k) + "] must >= 0, but got: " + std::to_string(lengths[k]));
      want_size(s, axes[k], IsInverse && k + 1 == Axes ? lengths[k] / 2 + 1 : lengths[k]);
    }
  }
  run<Kind>(c, axes, lengths, IsInverse);
}

/// A transform along the axes that input 2 names, with the lengths of input 1.
template <kind Kind, bool IsInverse>
void run_along(kernel_context& c) {
  const shape s = c.extent(0);
  const std::vector<std::int64_t> lengths = c.numbers(1), named = c.numbers(2);
  if (c.extent(1).rank != 1 || c.extent(2).rank != 1 || lengths.size() != named.size() || named.empty())
    throw invalid_argument("axes must have length equal to fft_length: " + brackets(c.extent(2)) + " and " + brackets(c.extent(1)));
  std::vector<int> axes;
  for (std::size_t k = 0; k < named.size(); ++k) {
    axes.push_back(axis_of(named[k], s.rank, "axis"));
    if (std::count(axes.begin(), axes.end(), axes.back()) > 1)
      throw invalid_argument("the axis " + std::to_string(named[k]) + " is named twice");
    if (lengths[k] < 0)
      throw invalid_argument("fft_length[" + std::to_string(k) + "] must >= 0, but got: " + std::to_string(lengths[k]));
    want_size(s, axes.back(), Kind == kind::to_real && k + 1 == named.size() ? lengths[k] / 2 + 1 : lengths[k]);
  }
  run<Kind>(c, axes, lengths, IsInverse);
}

}  // namespace fourier

LEAT_FILL(fill_fourier_kernels) {
  using fourier::kind;
  register_kernel("FFT", fourier::run_last<kind::complex, 1, false>);
  register_kernel("FFT2D", fourier::run_last<kind::complex, 2, false>);
  register_kernel("FFT3D", fourier::run_last<kind::complex, 3, false>);
  register_kernel("IFFT", fourier::run_last<kind::complex, 1, true>);
  register_kernel("IFFT2D", fourier::run_last<kind::complex, 2, true>);
  register_kernel("IFFT3D", fourier::run_last<kind::complex, 3, true>);
  register_kernel("RFFT", fourier::run_last<kind::from_real, 1, false>);
  register_kernel("RFFT2D", fourier::run_last<kind::from_real, 2, false>);
  register_kernel("RFFT3D", fourier::run_last<kind::from_real, 3, false>);
  register_kernel("IRFFT", fourier::run_last<kind::to_real, 1, true>);
  register_kernel("IRFFT2D", fourier::run_last<kind::to_real, 2, true>);
  register_kernel("IRFFT3D", fourier::run_last<kind::to_real, 3, true>);
  register_kernel("FFTND", fourier::run_along<kind::complex, false>);
  register_kernel("IFFTND", fourier::run_along<kind::complex, true>);
  register_kernel("RFFTND", fourier::run_along<kind::from_real, false>);
  register_kernel("IRFFTND", fourier::run_along<kind::to_real, true>);
}

}  // namespace leat::runtime
