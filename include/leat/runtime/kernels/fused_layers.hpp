#pragma once
// Kernels of layers that a rewriter of graphs has joined: a product or a convolution, a bias or a normalization, and an activation. The
// product is that of the nodes MatMul and Conv2D, and the steps after it are the classes of the operators that were joined. Source:
// TensorFlow `_FusedMatMul`, `_FusedConv2D`, `_FusedDepthwiseConv2dNative`.

#include <leat/core/fill.hpp>
#include <leat/cpu/stacked_matmul.hpp>
#include <leat/ops/nn.hpp>
#include <leat/runtime/kernels/array_steps.hpp>
#include <leat/runtime/kernels/images.hpp>
#include <leat/runtime/kernels/normalization.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <map>
#include <numbers>

namespace leat::runtime {

/// LeakyRelu of values, whose class is a composite; the second operand is alpha.
struct leaky_step {
  template <class M, class V>
  static constexpr V apply(V x, V alpha) {
    return rule::leaky::slope_of<M>(x, x, V(0), alpha);
  }
};
/// x Φ(x), which TensorFlow has in joined layers alone. Source: Hendrycks and Gimpel, "Gaussian Error Linear Units".
struct gelu_step {
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr V apply(V x) {
    using T = typename M::value_type;
    return M::multiply(M::multiply(x, V(T(0.5))), M::add(V(T(1)), M::erf(M::multiply(x, V(T(1 / std::numbers::sqrt2))))));
  }
};
/// The same with tanh in the place of erf.
struct approximate_gelu_step {
  static constexpr bool costly = true;
  template <class M, class V>
  static constexpr V apply(V x) {
    using T = typename M::value_type;
    constexpr T root = T(std::numbers::sqrt2 * std::numbers::inv_sqrtpi);  // √(2/π)
    const V cubic = M::add(x, M::multiply(V(T(0.044715)), M::multiply(x, M::square(x))));
    return M::multiply(M::multiply(x, V(T(0.5))), M::add(V(T(1)), M::tanh(M::multiply(V(root), cubic))));
  }
};

/// A step that follows a product.
enum class fused_step : unsigned char {
  bias, normalization, sum, relu, relu6, elu, leaky_relu, tanh, sigmoid, gelu_exact, gelu_approximate
};

/// The steps of a node, which keeps them.
struct fused_step_list final : kernel_memory {
  std::vector<fused_step> all;
  /// Errors: unimplemented for an unknown name, invalid_argument if there is none.
  explicit fused_step_list(const std::vector<std::string>& names) {
    static const std::map<std::string, fused_step, std::less<>> by_name{
        {"BiasAdd", fused_step::bias},          {"FusedBatchNorm", fused_step::normalization},
        {"Add", fused_step::sum},               {"Relu", fused_step::relu},
        {"Relu6", fused_step::relu6},           {"Elu", fused_step::elu},
        {"LeakyRelu", fused_step::leaky_relu},  {"Tanh", fused_step::tanh},
        {"Sigmoid", fused_step::sigmoid},       {"GeluExact", fused_step::gelu_exact},
        {"GeluApproximate", fused_step::gelu_approximate}};
    for (const std::string& name : names) {
      const auto at = by_name.find(name);
      if (at == by_name.end()) throw unimplemented("Fusion is not implemented: " + name);
      all.push_back(at->second);
    }
    if (all.empty()) throw invalid_argument("Fused operator must have at least one fused op.");
  }
  static const std::vector<fused_step>& of(kernel_context& c) {
    const std::lock_guard lock(c.node.guard);
    if (c.node.memory == nullptr) c.node.memory = std::make_unique<fused_step_list>(c.node.list<std::string>("fused_ops"));
    return static_cast<const fused_step_list&>(*c.node.memory).all;
  }
};

/// What follows a product: the node's `fused_ops`, in their order, on rows of channels.
class fused_steps {
 public:
  explicit fused_steps(kernel_context& c) : c_(c), steps_(fused_step_list::of(c)) {}
  bool has(fused_step step) const { return std::ranges::find(steps_, step) != steps_.end(); }
  /// Applies all steps to `rows` rows of `channels` elements each.
  template <class T>
  void apply(T* to, std::int64_t rows, std::int64_t channels) {
    using list = array_steps<T>;
    list steps(rows, channels);
    std::vector<std::vector<T>> slopes;
    int next = 2;  // the input that the next step takes
    for (const fused_step step : steps_) switch (step) {
        case fused_step::bias: steps.template add<add_op>(list::by_column(per_channel<T>(next++, channels))); break;
        case fused_step::normalization: {
          const T *const scale = per_channel<T>(next, channels), *const offset = per_channel<T>(next + 1, channels);
          const T *const mean = per_channel<T>(next + 2, channels), *const variance = per_channel<T>(next + 3, channels);
          slopes.push_back(normal_slopes(scale, variance, channels, static_cast<T>(c_.node.attribute("epsilon", 0.0001f))));
          add_normalization(steps, list::by_column(mean), list::by_column(slopes.back().data()), list::by_column(offset));
          next += 4;
          break;
        }
        case fused_step::sum: {
          const tensor_value& other = c_.input(next++);
          if (other.elements() != rows * channels)
            throw invalid_argument("the array that is added has the shape " + brackets(other.extent()) + ", and the product " +
                                   std::to_string(rows * channels) + " elements");
          steps.template add<add_op>(list::elements(other.values<T>().data()));
          break;
        }
        case fused_step::leaky_relu:
          steps.template add<leaky_step>(list::value(static_cast<T>(c_.node.attribute("leakyrelu_alpha", 0.2f))));
          break;
        case fused_step::relu: steps.template add<relu_op>(); break;
        case fused_step::relu6: steps.template add<relu6_op>(); break;
        case fused_step::elu: steps.template add<elu_op>(); break;
        case fused_step::tanh: steps.template add<tanh_op>(); break;
        case fused_step::sigmoid: steps.template add<sigmoid_op>(); break;
        case fused_step::gelu_exact: steps.template add<gelu_step>(); break;
        case fused_step::gelu_approximate: steps.template add<approximate_gelu_step>(); break;
      }
    steps.run(to, to);
  }

 private:
  template <class T>
  const T* per_channel(int k, std::int64_t channels) {
    const tensor_value& v = c_.input(k);
    if (v.extent().rank != 1 || v.extent()[0] != channels)
      throw invalid_argument("a vector of " + std::to_string(channels) + " channels is expected, not the shape " + brackets(v.extent()));
    return v.values<T>().data();
  }
  kernel_context& c_;
  const std::vector<fused_step>& steps_;
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
    computed_by<stacked_products_op>::run<T>(a.values<T>().data(), b.values<T>().data(), to, stacks);
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
      const auto done = computed_by<convolution_op<What>>::template run<T>(how, from, filters.values<T>().data(), to);
      const std::int64_t channels = result[result.rank - 1];
      steps.apply(to, channels == 0 ? 0 : result.elements() / channels, channels);
      return done;
    });
  });
}

LEAT_FILL(fill_fused_layer_kernels) {
  register_kernel("_FusedMatMul", run_fused_matmul);
  register_kernel("_FusedConv2D", run_fused_convolution<convolved::images>);
  register_kernel("_FusedDepthwiseConv2dNative", run_fused_convolution<convolved::channels>);
}

}  // namespace leat::runtime
