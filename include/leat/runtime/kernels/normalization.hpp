#pragma once
// Kernels of normalization: over a batch (FusedBatchNorm and its gradient), by given means and variances
// (BatchNormWithGlobalNormalization and its gradient), and over neighboring channels (LRN and its gradient). Sums over a
// batch are formed in blocks that the shape alone determines, and added in order, so that results do not depend on the number of threads.
// Source: TensorFlow's operators of the same names; Ioffe and Szegedy, "Batch Normalization"; Krizhevsky, Sutskever and Hinton, "ImageNet
// Classification with Deep Convolutional Neural Networks".

#include <leat/core/fill.hpp>
#include <leat/cpu/local_response.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/ops/stacked_matmul.hpp>
#include <leat/runtime/kernels/array_steps.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace leat::runtime {

/// An array as [outer, channels, inner].
struct channel_layout {
  std::int64_t outer, channels, inner;

  std::int64_t count() const { return outer * inner; }
  static constexpr std::int64_t elements_of_block = 1 << 14;
  std::int64_t outer_of_block() const { return std::max<std::int64_t>(elements_of_block / std::max<std::int64_t>(channels * inner, 1), 1); }
  std::int64_t blocks() const { return (outer + outer_of_block() - 1) / outer_of_block(); }
  /// Calls f(first element, channel, elements), which are contiguous, for each channel of the block; with `inner` 1, for all channels at
  /// once as f(first element, 0, channels).
  template <class F>
  void for_block(std::int64_t block, F f) const {
    const std::int64_t begin = block * outer_of_block(), end = std::min(begin + outer_of_block(), outer);
    for (std::int64_t i = begin; i < end; ++i) {
      if (inner == 1) f(i * channels, std::int64_t{0}, channels);
      else
        for (std::int64_t c = 0; c < channels; ++c) f((i * channels + c) * inner, c, inner);
    }
  }
  template <class F>
  void for_all(F f) const {
    cpu::parallel_for(blocks(), [&](std::int64_t block) { for_block(block, f); });
  }
};
inline channel_layout layout_of(const kernel_node& n, const shape& s, std::string_view what) {
  if (s.rank < 2) throw invalid_argument(std::string(what) + " must have at least 2 dimensions, not " + brackets(s));
  const int at = leat::detail::channel_axis(n.record->attributes, s.rank);
  return {product(s, 0, at), s[at], product(s, at + 1, s.rank)};
}

/// Sums of one or two quantities for each channel, in one pass: `of` has a function of (element, channel) for each. The channels that lie
/// beside each other are added as in a vector.
template <class T, class... F>
std::array<std::vector<double>, sizeof...(F)> sums_by_channel(const channel_layout& all, const F&... of) {
  constexpr std::size_t quantities = sizeof...(F);
  const auto channels = static_cast<std::size_t>(all.channels);
  const auto blocks = static_cast<std::size_t>(all.blocks());
  std::vector<T> parts(quantities * channels * blocks);
  cpu::parallel_for(all.blocks(), [&](std::int64_t block) {
    T* const first = parts.data() + quantities * channels * static_cast<std::size_t>(block);
    all.for_block(block, [&](std::int64_t at, std::int64_t c, std::int64_t n) {
      T* to = first;
      const auto add = [&](const auto& f) {
        if (all.inner == 1) {
          T* const __restrict sums = to;
#if !defined(__clang__)
#pragma GCC ivdep
#endif
          for (std::int64_t k = 0; k < n; ++k) sums[k] += f(at + k, k);
        } else {
          T sum = 0;
          for (std::int64_t k = 0; k < n; ++k) sum += f(at + k, c);
          to[c] += sum;
        }
        to += channels;
      };
      (add(of), ...);
    });
  });
  std::array<std::vector<double>, quantities> sums;
  for (std::size_t q = 0; q < quantities; ++q) {
    sums[q].assign(channels, 0);
    for (std::size_t block = 0; block < blocks; ++block)
      for (std::size_t c = 0; c < channels; ++c) sums[q][c] += parts[(quantities * block + q) * channels + c];
  }
  return sums;
}

inline void want_channels(const tensor_value& v, const channel_layout& all, std::string_view what) {
  if (v.extent().rank != 1 || v.extent()[0] != all.channels)
    throw invalid_argument(std::string(what) + " must have one element for each of the " + std::to_string(all.channels) +
                           " channels, not " + brackets(v.extent()));
}
template <class T>
tensor_value by_channel(dtype type, const std::vector<T>& values) {
  tensor_value made(type, leat::shapes::vector_of(static_cast<std::int64_t>(values.size())));
  std::copy(values.begin(), values.end(), made.values<T>().begin());
  return made;
}
template <class F>
void with_normalized(dtype type, F f) {
  if (type == dtype::float32) f(float{});
  else if (type == dtype::float64) f(double{});
  else throw unimplemented("no kernel for dtype " + dtype_name(type));
}

/// What normalization multiplies each channel by: scale / √(variance + epsilon).
template <class T>
std::vector<T> normal_slopes(const T* scale, const T* variance, std::int64_t channels, T epsilon) {
  std::vector<T> slopes(static_cast<std::size_t>(channels));
  for (std::int64_t k = 0; k < channels; ++k) slopes[static_cast<std::size_t>(k)] = scale[k] / std::sqrt(variance[k] + epsilon);
  return slopes;
}
/// Adds the steps x = (x - mean) slope + offset.
template <class T, class Operand>
void add_normalization(array_steps<T>& steps, const Operand& mean, const Operand& slope, const Operand& offset) {
  steps.template add<sub_op>(mean);
  steps.template add<multiply_add_op>(slope, offset);
}

inline void run_batch_norm(kernel_context& c) {
  const tensor_value x = c.input(0), scale = c.input(1), offset = c.input(2), given_mean = c.input(3), given_variance = c.input(4);
  const channel_layout all = layout_of(c.node, x.extent(), "input");
  const bool is_training = c.node.flag("is_training", true);
  const double epsilon = static_cast<double>(c.node.attribute<float>("epsilon", 1e-4f));
  const double factor = static_cast<double>(c.node.attribute<float>("exponential_avg_factor", 1));
  want_channels(scale, all, "scale");
  want_channels(offset, all, "offset");
  if (!is_training || factor != 1) {
    want_channels(given_mean, all, "mean");
    want_channels(given_variance, all, "variance");
  }
  with_normalized(x.type(), [&]<class T>(T) {
    const auto channels = static_cast<std::size_t>(all.channels);
    const T* const from = x.values<T>().data();
    std::vector<T> mean(channels), variance(channels), out_mean(channels), out_variance(channels);
    if (x.elements() == 0) {
      // As in TensorFlow, also where means are given: what leaves is NaN, and the gradient's share 0.
      std::ranges::fill(out_mean, std::numeric_limits<T>::quiet_NaN());
      std::ranges::fill(out_variance, std::numeric_limits<T>::quiet_NaN());
    } else if (is_training) {
      const double count = static_cast<double>(all.count());
      const auto [sums] = sums_by_channel<T>(all, [from](std::int64_t i, std::int64_t) { return from[i]; });
      for (std::size_t k = 0; k < channels; ++k) mean[k] = static_cast<T>(sums[k] / count);
      const auto [squares] = sums_by_channel<T>(all, [from, center = mean.data()](std::int64_t i, std::int64_t k) {
        const T d = from[i] - center[k];
        return d * d;
      });
      // The variance that leaves is that of the population which the batch is a sample of.
      const double sample = count > 1 ? count / (count - 1) : count;
      for (std::size_t k = 0; k < channels; ++k) {
        variance[k] = static_cast<T>(squares[k] / count);
        const double unbiased = squares[k] / count * sample;
        out_mean[k] = mean[k];
        out_variance[k] = static_cast<T>(unbiased);
        if (factor == 1) continue;
        out_mean[k] = static_cast<T>((1 - factor) * given_mean.values<T>()[k] + factor * mean[k]);
        out_variance[k] = static_cast<T>((1 - factor) * given_variance.values<T>()[k] + factor * unbiased);
      }
    } else {
      std::copy_n(given_mean.values<T>().begin(), channels, mean.begin());
      std::copy_n(given_variance.values<T>().begin(), channels, variance.begin());
      out_mean = mean;
      out_variance = variance;
    }
    const std::vector<T> slope =
        normal_slopes(scale.values<T>().data(), variance.data(), all.channels, static_cast<T>(epsilon));
    tensor_value made(x.type(), x.extent());
    using list = array_steps<T>;
    list steps(all.inner == 1 ? all.outer : all.outer * all.channels, all.inner == 1 ? all.channels : all.inner);
    const auto each = [&](const T* values) { return all.inner == 1 ? list::by_column(values) : list::by_row(values, all.channels); };
    add_normalization(steps, each(mean.data()), each(slope.data()), each(offset.values<T>().data()));
    steps.run(from, made.values<T>().data());
    c.set(0, std::move(made));
    c.set(1, by_channel(scale.type(), out_mean));
    c.set(2, by_channel(scale.type(), out_variance));
    c.set(3, by_channel(scale.type(), mean));
    c.set(4, by_channel(scale.type(), variance));
    tensor_value nothing(scale.type(), shape{});
    nothing.values<T>()[0] = T(0);
    c.set(5, std::move(nothing));
  });
}
inline void run_batch_norm_back(kernel_context& c) {
  const tensor_value dy = c.input(0), x = c.input(1), scale = c.input(2), its_mean = c.input(3), its_variance = c.input(4);
  const channel_layout all = layout_of(c.node, x.extent(), "x");
  if (!(dy.extent() == x.extent()))
    throw invalid_argument("x and y_backprop must have the same shape, not " + brackets(x.extent()) + " and " + brackets(dy.extent()));
  want_channels(scale, all, "scale");
  want_channels(its_mean, all, "reserve_space_1");
  want_channels(its_variance, all, "reserve_space_2");
  const bool is_training = c.node.flag("is_training", true);
  const float epsilon = c.node.attribute<float>("epsilon", 1e-4f);
  with_normalized(x.type(), [&]<class T>(T) {
    if (its_mean.type() != x.type() || scale.type() != x.type()) throw unimplemented("no kernel for scales of another dtype than x");
    const auto channels = static_cast<std::size_t>(all.channels);
    const T *const from = x.values<T>().data(), *const slopes = dy.values<T>().data(), *const mean = its_mean.values<T>().data();
    std::vector<T> root(channels), by_scale(channels), by_offset(channels), factor(channels), of_offset(channels), of_scale(channels);
    for (std::size_t k = 0; k < channels; ++k) root[k] = 1 / std::sqrt(its_variance.values<T>()[k] + static_cast<T>(epsilon));
    const auto [products, sums] = sums_by_channel<T>(
        all, [=, roots = root.data()](std::int64_t i, std::int64_t k) { return slopes[i] * (from[i] - mean[k]) * roots[k]; },
        [slopes](std::int64_t i, std::int64_t) { return slopes[i]; });
    const double count = std::max<double>(static_cast<double>(all.count()), 1);
    for (std::size_t k = 0; k < channels; ++k) {
      by_scale[k] = static_cast<T>(products[k]);
      by_offset[k] = static_cast<T>(sums[k]);
      factor[k] = scale.values<T>()[k] * root[k];
      of_offset[k] = is_training ? static_cast<T>(sums[k] / count) : T(0);
      of_scale[k] = is_training ? static_cast<T>(products[k] / count) : T(0);
    }
    tensor_value made(x.type(), x.extent());
    T* const to = made.values<T>().data();
    const auto slope = [&](std::int64_t i, std::int64_t channel) {
      const auto k = static_cast<std::size_t>(channel);
      return factor[k] * (slopes[i] - of_offset[k] - (from[i] - mean[k]) * root[k] * of_scale[k]);
    };
    all.for_all([&](std::int64_t at, std::int64_t first, std::int64_t n) {
      if (all.inner == 1)
        for (std::int64_t k = 0; k < n; ++k) to[at + k] = slope(at + k, k);
      else
        for (std::int64_t k = 0; k < n; ++k) to[at + k] = slope(at + k, first);
    });
    c.set(0, std::move(made));
    c.set(1, by_channel(scale.type(), by_scale));
    c.set(2, by_channel(scale.type(), by_offset));
    for (int k = 3; k < 5; ++k) c.set(k, tensor_value(scale.type(), leat::shapes::vector_of(0)));
  });
}

/// Normalization by given means and variances, of images whose channels are last.
struct given_normalization {
  channel_layout all;
  float epsilon;
  bool scales;

  given_normalization(kernel_context& c, std::initializer_list<std::pair<int, std::string_view>> by_channel)
      : all(layout_of_images(c)),
        epsilon(c.node.attribute<float>("variance_epsilon", 0)),
        scales(c.node.flag("scale_after_normalization")) {
    for (const auto& [k, what] : by_channel) want_channels(c.input(k), all, what);
  }
  static channel_layout layout_of_images(kernel_context& c) {
    const shape& s = c.extent(0);
    if (s.rank != 4) throw invalid_argument("input must be 4-dimensional, not " + brackets(s));
    return {product(s, 0, 3), s[3], 1};
  }
  /// 1 / √(variance + epsilon) of each channel.
  template <class T>
  std::vector<T> roots(const tensor_value& variance) const {
    std::vector<T> list;
    for (const T v : variance.values<T>()) list.push_back(1 / std::sqrt(v + static_cast<T>(epsilon)));
    return list;
  }
};
inline void run_given_norm(kernel_context& c) {
  const given_normalization n(c, {{1, "mean"}, {2, "var"}, {3, "beta"}, {4, "gamma"}});
  const tensor_value x = c.input(0), mean = c.input(1), beta = c.input(3), gamma = c.input(4);
  with_normalized(x.type(), [&]<class T>(T) {
    std::vector<T> slope = n.roots<T>(c.input(2));
    for (std::size_t k = 0; k < slope.size() && n.scales; ++k) slope[k] *= gamma.values<T>()[k];
    tensor_value made(x.type(), x.extent());
    using list = array_steps<T>;
    list steps(n.all.outer, n.all.channels);
    add_normalization(steps, list::by_column(mean.values<T>().data()), list::by_column(slope.data()),
                      list::by_column(beta.values<T>().data()));
    steps.run(x.values<T>().data(), made.values<T>().data());
    c.set(0, std::move(made));
  });
}
inline void run_given_norm_back(kernel_context& c) {
  const given_normalization n(c, {{1, "mean"}, {2, "var"}, {3, "gamma"}});
  const tensor_value x = c.input(0), mean = c.input(1), variance = c.input(2), gamma = c.input(3), dy = c.input(4);
  if (!(dy.extent() == x.extent()))
    throw invalid_argument("input and out_backprop must have the same shape, not " + brackets(x.extent()) + " and " +
                           brackets(dy.extent()));
  with_normalized(x.type(), [&]<class T>(T) {
    const auto channels = static_cast<std::size_t>(n.all.channels);
    const T *const from = x.values<T>().data(), *const slopes = dy.values<T>().data(), *const center = mean.values<T>().data();
    const auto [products, sums] = sums_by_channel<T>(
        n.all, [=](std::int64_t i, std::int64_t k) { return slopes[i] * (from[i] - center[k]); },
        [slopes](std::int64_t i, std::int64_t) { return slopes[i]; });
    const std::vector<T> root = n.roots<T>(variance);
    std::vector<T> factor = root, by_mean(channels), by_variance(channels), by_beta(channels), by_gamma(channels);
    for (std::size_t k = 0; k < channels; ++k) {
      if (n.scales) factor[k] *= gamma.values<T>()[k];
      by_mean[k] = -static_cast<T>(sums[k]) * factor[k];
      by_variance[k] = static_cast<T>(products[k]) * factor[k] * root[k] * root[k] / -2;
      by_beta[k] = static_cast<T>(sums[k]);
      by_gamma[k] = n.scales ? static_cast<T>(products[k]) * root[k] : T(0);
    }
    tensor_value made(x.type(), x.extent());
    T* const to = made.values<T>().data();
    n.all.for_all([&](std::int64_t at, std::int64_t, std::int64_t count) {
      for (std::int64_t k = 0; k < count; ++k) to[at + k] = slopes[at + k] * factor[static_cast<std::size_t>(k)];
    });
    c.set(0, std::move(made));
    int result = 1;
    for (const auto* list : {&by_mean, &by_variance, &by_beta, &by_gamma}) c.set(result++, by_channel(x.type(), *list));
  });
}

/// The settings of an LRN node.
inline kernels::channel_window channel_window_of(const kernel_node& n, const shape& s) {
  const std::int64_t radius = n.integer("depth_radius", 5);
  const auto real = [&](const char* name, float otherwise) { return static_cast<double>(n.attribute<float>(name, otherwise)); };
  if (s.rank != 4) throw invalid_argument("in must be 4-dimensional, not " + brackets(s));
  if (radius < 0) throw invalid_argument("depth_radius must be 0 or more, not " + std::to_string(radius));
  return {std::min(radius, s[3]), s[3], product(s, 0, 3), real("bias", 1), real("alpha", 1), real("beta", 0.5f)};
}
inline auto run_channel_norm(kernel_context& c) {
  const tensor_value x = c.input(0);
  const auto w = channel_window_of(c.node, x.extent());
  return with_fraction(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), x.extent());
    const auto done = computed_by<local_response_op>::run<T>(x.values<T>().data(), made.values<T>().data(), w);
    c.set(0, std::move(made));
    return done;
  });
}
inline auto run_channel_norm_back(kernel_context& c) {
  const tensor_value dy = c.input(0), x = c.input(1), y = c.input(2);
  const auto w = channel_window_of(c.node, x.extent());
  if (!(dy.extent() == x.extent()) || !(y.extent() == x.extent()))
    throw invalid_argument("input_grads, input_image and output_image must have the same shape");
  return with_fraction(x.type(), [&]<class T>(T) {
    tensor_value made(x.type(), x.extent());
    const auto done = computed_by<local_response_grad_op>::run<T>(dy.values<T>().data(), x.values<T>().data(), y.values<T>().data(),
                                                                  made.values<T>().data(), w);
    c.set(0, std::move(made));
    return done;
  });
}

LEAT_FILL(fill_normalization_kernels) {
  register_kernels({"FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"}, run_batch_norm);
  register_kernels({"FusedBatchNormGrad", "FusedBatchNormGradV2", "FusedBatchNormGradV3"}, run_batch_norm_back);
  register_kernel("BatchNormWithGlobalNormalization", run_given_norm);
  register_kernel("BatchNormWithGlobalNormalizationGrad", run_given_norm_back);
  register_class_kernel("LRN", run_channel_norm);
  register_class_kernel("LRNGrad", run_channel_norm_back);
}

}  // namespace leat::runtime
