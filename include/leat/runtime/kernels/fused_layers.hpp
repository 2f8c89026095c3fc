#pragma once
// Kernels of layers that a rewriter of graphs has joined: a product or a convolution, a bias or a normalization, and an activation. Source:
// TensorFlow `_FusedMatMul`, `_FusedConv2D`, `_FusedDepthwiseConv2dNative`.

#include <leat/core/fill.hpp>
#include <leat/cpu/stacked_matmul.hpp>
#include <leat/runtime/kernels/images.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

namespace leat::runtime {

/// A step that follows a product.
enum class fused_step { bias, normalization, sum, relu, relu6, elu, leaky_relu, tanh, sigmoid, gelu_exact, gelu_approximate };

/// What follows a product: the node's `fused_ops`, in their order, on rows of channels.
class fused_steps {
 public:
  explicit fused_steps(kernel_context& c) : c_(c) {
    static const std::map<std::string, fused_step, std::less<>> by_name{
        {"BiasAdd", fused_step::bias},          {"FusedBatchNorm", fused_step::normalization},
        {"Add", fused_step::sum},               {"Relu", fused_step::relu},
        {"Relu6", fused_step::relu6},           {"Elu", fused_step::elu},
        {"LeakyRelu", fused_step::leaky_relu},  {"Tanh", fused_step::tanh},
        {"Sigmoid", fused_step::sigmoid},       {"GeluExact", fused_step::gelu_exact},
        {"GeluApproximate", fused_step::gelu_approximate}};
    for (const std::string& name : c.node.list<std::string>("fused_ops")) {
      const auto at = by_name.find(name);
      if (at == by_name.end()) throw unimplemented("Fusion is not implemented: " + name);
      steps_.push_back(at->second);
    }
    if (steps_.empty()) throw invalid_argument("Fused operator must have at least one fused op.");
  }
  bool has(fused_step step) const { return std::ranges::find(steps_, step) != steps_.end(); }
  /// Applies all steps to `rows` rows of `channels` elements each.
  template <class T>
  void apply(T* to, std::int64_t rows, std::int64_t channels) {
    int next = 2;  // the input that the next step takes
    const std::int64_t count = rows * channels;
    const auto each = [&](auto f) {
      for (std::int64_t i = 0; i < count; ++i) to[i] = f(to[i]);
    };
    constexpr T zero = T(0), one = T(1);
    for (const fused_step step : steps_) switch (step) {
        case fused_step::bias: {
          const T* const bias = per_channel<T>(next++, channels);
          for (std::int64_t i = 0; i < count; ++i) to[i] += bias[i % channels];
          break;
        }
        case fused_step::normalization:
          normalize(to, rows, channels, next);
          next += 4;
          break;
        case fused_step::sum: {
          const tensor_value other = c_.input(next++);
          if (other.elements() != count)
            throw invalid_argument("the array that is added has the shape " + brackets(other.extent()) + ", and the product " +
                                   std::to_string(count) + " elements");
          for (std::int64_t i = 0; i < count; ++i) to[i] += other.values<T>()[static_cast<std::size_t>(i)];
          break;
        }
        case fused_step::relu: each([](T x) { return x < zero ? zero : x; }); break;
        case fused_step::relu6: each([](T x) { return x < zero ? zero : x > T(6) ? T(6) : x; }); break;
        case fused_step::elu: each([](T x) { return x < zero ? std::expm1(x) : x; }); break;
        case fused_step::leaky_relu: {
          const T slope = static_cast<T>(c_.node.attribute("leakyrelu_alpha", 0.2f));
          each([slope](T x) { return x < zero ? slope * x : x; });
          break;
        }
        case fused_step::tanh: each([](T x) { return std::tanh(x); }); break;
        case fused_step::sigmoid: each([](T x) { return one / (one + std::exp(-x)); }); break;
        case fused_step::gelu_exact: each([](T x) { return x / 2 * (one + std::erf(x / std::numbers::sqrt2_v<T>)); }); break;
        case fused_step::gelu_approximate: {
          const T root = std::sqrt(2 / std::numbers::pi_v<T>);
          each([root](T x) { return x / 2 * (one + std::tanh(root * (x + static_cast<T>(0.044715) * x * x * x))); });
          break;
        }
      }
  }

 private:
  template <class T>
  const T* per_channel(int k, std::int64_t channels) {
    const tensor_value& v = c_.input(k);
    if (v.extent().rank != 1 || v.extent()[0] != channels)
      throw invalid_argument("a vector of " + std::to_string(channels) + " channels is expected, not the shape " + brackets(v.extent()));
    return v.values<T>().data();
  }
  template <class T>
  void normalize(T* to, std::int64_t rows, std::int64_t channels, int first) {
    const T *const scale = per_channel<T>(first, channels), *const offset = per_channel<T>(first + 1, channels);
    const T *const mean = per_channel<T>(first + 2, channels), *const variance = per_channel<T>(first + 3, channels);
    const T least = static_cast<T>(c_.node.attribute("epsilon", 0.0001f));
    for (std::int64_t k = 0; k < channels; ++k) {
      const T factor = scale[k] / std::sqrt(variance[k] + least);
      for (std::int64_t r = 0; r < rows; ++r) to[r * channels + k] = (to[r * channels + k] - mean[k]) * factor + offset[k];
    }
  }
  kernel_context& c_;
  std::vector<fused_step> steps_;
};

inline void run_fused_matmul(kernel_context& c) {
  fused_steps steps(c);
  const tensor_value a = c.input(0), b = c.input(1);
  const shape &x = a.extent(), &y = b.extent();
  const bool ta = c.node.flag("transpose_a"), tb = c.node.flag("transpose_b");
  if (x.rank != 2 || y.rank != 2) throw invalid_argument("In[0] and In[1] must be matrices: " + brackets(x) + ", " + brackets(y));
  if (x[ta ? 0 : 1] != y[tb ? 1 : 0])
    throw invalid_argument("Matrix size-incompatible: In[0]: " + brackets(x) + ", In[1]: " + brackets(y));
  tensor_value made(a.type(), {x[ta ? 1 : 0], y[tb ? 0 : 1]});
  const kernels::matrix_stacks stacks(x.dim, x.rank, y.dim, y.rank, ta, tb);
  with_fraction(a.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    cpu::multiply_stacks(stacks, a.values<T>().data(), b.values<T>().data(), to);
    steps.apply(to, made.extent()[0], made.extent()[1]);
  });
  c.set(0, std::move(made));
}
template <convolved What>
void run_fused_convolution(kernel_context& c) {
  fused_steps steps(c);
  const image_settings settings(c.node, axes_of(What));
  const tensor_value images = c.input(0), filters = c.input(1);
  const auto how = convolution_of<What>(settings, settings.channels_last(images.extent(), "input"), filters.extent());
  const shape result = settings.result_shape(how.in, how.filters);
  if (settings.is_channels_first() && steps.has(fused_step::sum))
    throw unimplemented("Fusion is not implemented: Add of images whose channels come first");
  with_fraction(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    set_images<T>(c, settings, images.type(), result, [&](T* to) {
      cpu::convolve(how, from, filters.values<T>().data(), to);
      const std::int64_t channels = result[result.rank - 1];
      steps.apply(to, channels == 0 ? 0 : result.elements() / channels, channels);
    });
  });
}

LEAT_FILL(fill_fused_layer_kernels) {
  register_kernel("_FusedMatMul", run_fused_matmul);
  register_kernel("_FusedConv2D", run_fused_convolution<convolved::images>);
  register_kernel("_FusedDepthwiseConv2dNative", run_fused_convolution<convolved::channels>);
}

}  // namespace leat::runtime
