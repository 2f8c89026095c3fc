#pragma once
// Kernels of normalization over neighboring channels, as work items for any device; each item is the channels of one pixel. Graphs with
// names run the same ones (runtime/kernels/normalization.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/local_response.hpp>

#include <bit>

namespace leat::kernels {

/// The settings of LRN: y = x / (bias + alpha Σ x²)^beta, summed over `radius` channels on either side.
struct channel_window {
  std::int64_t radius, channels, rows;
  double bias, alpha, beta;

  /// Of a step whose operand `k` has the images' shape.
  static constexpr channel_window of_step(const step_numbers& n, int k) {
    const auto real = [&](int i) { return std::bit_cast<double>(n.attribute(i)); };
    const std::int64_t channels = n.size(k, 3);
    return {n.attribute(0) < channels ? n.attribute(0) : channels, channels, n.product(k, 0, 3), real(1), real(2), real(3)};
  }
  constexpr std::int64_t begin(std::int64_t k) const { return k > radius ? k - radius : 0; }
  constexpr std::int64_t end(std::int64_t k) const { return k + radius + 1 < channels ? k + radius + 1 : channels; }
  /// bias + alpha Σ x², of single values or of a batch.
  template <class M, class V>
  constexpr V norm_of(V sum) const {
    using T = typename M::value_type;
    return M::add(V(static_cast<T>(bias)), M::multiply(V(static_cast<T>(alpha)), sum));
  }
  /// That to the power of -beta; -3/4, which most models have, by roots.
  template <class M, class V>
  constexpr V factor(V norm) const {
    using T = typename M::value_type;
    if (beta == 0.75) {
      const V root = M::sqrt(norm);
      return M::divide(V(T(1)), M::multiply(root, M::sqrt(root)));
    }
    return M::exp(M::multiply(V(static_cast<T>(-beta)), M::log(norm)));
  }
  /// bias + alpha Σ x² around channel k of a row.
  template <class T>
  constexpr T norm(const T* row, std::int64_t k) const {
    T sum = 0;
    for (std::int64_t j = begin(k); j < end(k); ++j) sum += row[j] * row[j];
    return norm_of<scalar_math<T>>(sum);
  }
  /// What the slopes that neighbors share are multiplied by.
  template <class T>
  constexpr T scale_of_shared() const {
    return static_cast<T>(-2 * alpha * beta);
  }
};

template <class T>
struct local_response_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  channel_window w;
  constexpr local_response_kernel(const T* from, T* to, const channel_window& window) : in(from), out(to), w(window) {}
  local_response_kernel(void* const* p, const step_numbers& n)
      : local_response_kernel(static_cast<const T*>(p[0]), static_cast<T*>(p[1]), channel_window::of_step(n, 0)) {}
  std::int64_t items() const { return w.channels == 0 ? 0 : w.rows; }
  std::int64_t work() const { return w.channels * (2 * w.radius + 32); }
  constexpr void operator()(std::int64_t row) const {
    const std::int64_t at = row * w.channels;
    for (std::int64_t k = 0; k < w.channels; ++k) out[at + k] = in[at + k] * w.template factor<scalar_math<T>>(w.norm(in + at, k));
  }
};
template <class T>
struct local_response_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* slopes;
  const T* in;
  const T* results;
  T* out;
  channel_window w;
  constexpr local_response_grad_kernel(const T* dy, const T* x, const T* y, T* to, const channel_window& window)
      : slopes(dy), in(x), results(y), out(to), w(window) {}
  local_response_grad_kernel(void* const* p, const step_numbers& n)
      : local_response_grad_kernel(static_cast<const T*>(p[0]), static_cast<const T*>(p[1]), static_cast<const T*>(p[2]),
                                   static_cast<T*>(p[3]), channel_window::of_step(n, 1)) {}
  std::int64_t items() const { return w.channels == 0 ? 0 : w.rows; }
  std::int64_t work() const { return w.channels * (4 * w.radius + 32); }
  constexpr void operator()(std::int64_t row) const {
    const std::int64_t at = row * w.channels;
    for (std::int64_t k = 0; k < w.channels; ++k) out[at + k] = T(0);
    for (std::int64_t k = 0; k < w.channels; ++k) {
      const T norm = w.norm(in + at, k);
      const T shared = w.template scale_of_shared<T>() * results[at + k] / norm * slopes[at + k];
      for (std::int64_t j = w.begin(k); j < w.end(k); ++j) out[at + j] += shared * in[at + j];
      out[at + k] += w.template factor<scalar_math<T>>(norm) * slopes[at + k];
    }
  }
};
template <>
struct kernel_of<local_response_op> : kernel_without_indices<local_response_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};
template <>
struct kernel_of<local_response_grad_op> : kernel_without_indices<local_response_grad_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64};
};

}  // namespace leat::kernels
