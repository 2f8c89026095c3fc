#pragma once
// Operators on images [batch, height, width, channels]: convolutions, pools and their gradients, which are again such operators. Height
// and width are sizes, the batch may be a named dimension. The gradients have no form: graphs with names make TensorFlow's nodes of them by
// named/gradients/nn.hpp. Errors of all functions: rules.hpp.

#include <leat/ops/reduction.hpp>
#include <leat/ops/windows.hpp>

namespace leat {

namespace rule {

/// An image operator's operands and numbers, as its shape rule reads them.
struct image_rule {
  static constexpr inference floating_images(const operand_list& x) {
    for (int k = 0; k < x.count; ++k) {
      if (!is_floating(x.type(k))) return inference::wrong(refusal(takes::floating));
      if (x.type(k) != x.type(0)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (x.extent(k).rank != 4) return inference::wrong("takes rank 4: images [batch, height, width, channels]");
    }
    return {x.type(0), {}};
  }
  /// The shape of a result with one element for each window of images and each of `channels`.
  static constexpr inference windows_over(dtype type, const shape& image, std::int64_t h, std::int64_t w, std::int64_t channels,
                                          const leat::detail::window_settings& how) {
    if (const auto problem = how.problem(); !problem.empty()) return inference::wrong(problem);
    std::int64_t down = 0, right = 0;
    if (const auto problem = how.count(0, image[1], h, down); !problem.empty()) return inference::wrong(problem);
    if (const auto problem = how.count(1, image[2], w, right); !problem.empty()) return inference::wrong(problem);
    inference got{type, {}};
    for (const std::int64_t n : {image[0], down, right, channels}) got.extent.push(n);
    return got;
  }
  static constexpr shape shape_of(const std::int64_t* sizes) {
    shape s;
    for (int k = 0; k < 4; ++k) s.push(sizes[k]);
    return s;
  }
};

}  // namespace rule

namespace detail {

/// The numbers of an image operator's node: a shape, if it has one, and the numbers of the windows.
template <int Most>
struct image_numbers {
  std::int64_t data[static_cast<std::size_t>(Most)]{};
  std::size_t count = 0;

  constexpr void push(std::int64_t n) { data[count++] = n; }
  constexpr void push(const shape& s) {
    for (int k = 0; k < s.rank; ++k) push(s[k]);
  }
  /// The node's own numbers, from one on.
  template <class G>
  constexpr void push_own(const G& g, int from) {
    for (int k = from; k < g.attribute_count(); ++k) push(g.attribute(k));
  }
  constexpr std::span<const std::int64_t> all() const { return {data, count}; }
};
template <class G>
constexpr image_numbers<24> numbers_with_shape(const G& g, const shape& s, int from) {
  image_numbers<24> made;
  made.push(s);
  made.push_own(g, from);
  return made;
}
template <class G>
constexpr image_numbers<24> numbers_without_shape(const G& g) {
  image_numbers<24> made;
  made.push_own(g, 4);
  return made;
}

}  // namespace detail

/// Fields of convolutions that follow the operands. Attributes: strides, padding, dilations, explicit paddings.
#define LEAT_CONVOLUTION_FIELDS                                                                                                  \
  {field_kind::type_of, "T"}, {field_kind::list, "strides", 4}, {field_kind::word, "padding", 0, detail::padding_words},         \
      {field_kind::fixed_word, "data_format", 0, detail::image_order_words}, {field_kind::list, "dilations", 4}, {               \
    field_kind::integers, "explicit_paddings"                                                                                    \
  }

/// A convolution: of all channels by each filter, or, if `ByChannel`, of each channel by filters of its own.
template <bool ByChannel>
struct convolution_rule : rule::image_rule {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr facts what{.work = work_kind::convolution};
  static constexpr bool by_channel = ByChannel;

  /// The filters of one image, as an array [height, width, channels of a group, filters].
  static constexpr shape flat_filter(const shape& filter) { return ByChannel ? leat::detail::depthwise_filter(filter) : filter; }
  /// The shape of the result of images and filters.
  static constexpr inference result_of(dtype type, const shape& image, const shape& given, const leat::detail::window_settings& how) {
    if (ByChannel && !may_equal(image[3], given[2])) return inference::wrong("images and filters differ in the number of channels");
    const shape filter = flat_filter(given);
    if (is_named(filter[2]) || is_named(filter[3]) || is_named(image[3]))
      return inference::wrong("the numbers of channels and of filters must be sizes that the compiler knows");
    if (filter[2] == 0) return inference::wrong("a filter has no channel");
    if (image[3] >= 0 && filter[2] > 0) {
      if (image[3] % filter[2] != 0) return inference::wrong("the images' channels are not a multiple of the filters' channels");
      const std::int64_t groups = image[3] / filter[2];
      if (filter[3] > 0 && groups > 0 && filter[3] % groups != 0)
        return inference::wrong("the number of filters is not a multiple of the number of groups of channels");
    }
    return windows_over(type, image, filter[0], filter[1], filter[3], how);
  }
};

template <bool ByChannel>
struct convolution_input_grad_op;
template <bool ByChannel>
struct convolution_filter_grad_op;

/// Source: TensorFlow `Conv2D`, `DepthwiseConv2dNative`.
template <bool ByChannel>
struct convolution_op : convolution_rule<ByChannel> {
  static constexpr std::string_view type = ByChannel ? "DepthwiseConv2dNative" : "Conv2D";
  static constexpr field form[8]{{field_kind::operand, "input"},  // nvcc does not deduce array sizes in class templates
                                 {field_kind::operand, "filter"},
                                 LEAT_CONVOLUTION_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    const inference got = rule::image_rule::floating_images(x);
    if (!got.problem.empty()) return got;
    return convolution_rule<ByChannel>::result_of(got.type, x.extent(0), x.extent(1),
                                                  leat::detail::window_settings::of_convolution(x.attributes, x.attribute_count));
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0))
      give(g, 0, make_node<convolution_input_grad_op<ByChannel>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 0).all(),
                                                                 g.input(1), g.dy()));
    if (g.wants(1))
      give(g, 1, make_node<convolution_filter_grad_op<ByChannel>>(leat::detail::numbers_with_shape(g, g.input(1).extent(), 0).all(),
                                                                  g.input(0), g.dy()));
  }
};
#undef LEAT_CONVOLUTION_FIELDS
/// The gradient of a convolution by its images, whose shape comes first among the attributes. Source: TensorFlow `Conv2DBackpropInput`,
/// `DepthwiseConv2dNativeBackpropInput`.
template <bool ByChannel>
struct convolution_input_grad_op : convolution_rule<ByChannel> {
  static constexpr std::string_view type = ByChannel ? "DepthwiseConv2dNativeBackpropInput" : "Conv2DBackpropInput";
  static constexpr inference infer(const operand_list& x) {
    inference got = rule::image_rule::floating_images(x);
    if (!got.problem.empty()) return got;
    const shape image = rule::image_rule::shape_of(x.attributes);
    const inference result = convolution_rule<ByChannel>::result_of(
        got.type, image, x.extent(0), leat::detail::window_settings::of_convolution(x.attributes + 4, x.attribute_count - 4));
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(1))) return inference::wrong("the gradient has another shape than the convolution's result");
    got.extent = image;
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0))
      give(g, 0, make_node<convolution_filter_grad_op<ByChannel>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 4).all(), g.dy(),
                                                                  g.input(1)));
    if (g.wants(1)) give(g, 1, make_node<convolution_op<ByChannel>>(leat::detail::numbers_without_shape(g).all(), g.dy(), g.input(0)));
  }
};
/// The gradient of a convolution by its filters, whose shape comes first among the attributes. Source: TensorFlow `Conv2DBackpropFilter`,
/// `DepthwiseConv2dNativeBackpropFilter`.
template <bool ByChannel>
struct convolution_filter_grad_op : convolution_rule<ByChannel> {
  static constexpr std::string_view type = ByChannel ? "DepthwiseConv2dNativeBackpropFilter" : "Conv2DBackpropFilter";
  static constexpr inference infer(const operand_list& x) {
    inference got = rule::image_rule::floating_images(x);
    if (!got.problem.empty()) return got;
    const shape filter = rule::image_rule::shape_of(x.attributes);
    const inference result = convolution_rule<ByChannel>::result_of(
        got.type, x.extent(0), filter, leat::detail::window_settings::of_convolution(x.attributes + 4, x.attribute_count - 4));
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(1))) return inference::wrong("the gradient has another shape than the convolution's result");
    got.extent = filter;
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0))
      give(g, 0, make_node<convolution_input_grad_op<ByChannel>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 4).all(), g.dy(),
                                                                 g.input(1)));
    if (g.wants(1)) give(g, 1, make_node<convolution_op<ByChannel>>(leat::detail::numbers_without_shape(g).all(), g.input(0), g.dy()));
  }
};
/// Fields of pools that follow the operands. Attributes: window, strides, padding.
#define LEAT_POOL_FIELDS                                                                                             \
  {field_kind::type_of, "T"}, {field_kind::list, "ksize", 4}, {field_kind::list, "strides", 4},                      \
      {field_kind::word, "padding", 0, detail::padding_words}, {                                                     \
    field_kind::fixed_word, "data_format", 0, detail::image_order_words                                              \
  }

/// The shape of a pool's result.
struct pool_rule : rule::image_rule {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference result_of(dtype type, const shape& image, const std::int64_t* numbers, int count) {
    return windows_over(type, image, numbers[1], numbers[2], image[3], leat::detail::window_settings::of_pool(numbers, count));
  }
};

/// The gradient of `max_pool_grad_op` by dy: of each window, the element of the third operand where the image is largest. Source:
/// TensorFlow `MaxPoolGradGrad`.
struct max_pool_grad_grad_op : pool_rule {
  static constexpr std::string_view type = "MaxPoolGradGrad";
  static constexpr inference infer(const operand_list& x) {
    inference got = floating_images(x);
    if (!got.problem.empty()) return got;
    if (!may_equal(x.extent(0), x.extent(2))) return inference::wrong("the gradient has another shape than the images");
    return result_of(got.type, x.extent(0), x.attributes, x.attribute_count);
  }
  template <class G>
  static constexpr void gradient(G& g);
};
/// The gradient of MaxPool: each element of dy goes to the first of the largest elements of its window. Source: TensorFlow `MaxPoolGrad`.
struct max_pool_grad_op : pool_rule {
  static constexpr std::string_view type = "MaxPoolGrad";
  static constexpr inference infer(const operand_list& x) {
    inference got = floating_images(x);
    if (!got.problem.empty()) return got;
    const inference result = result_of(got.type, x.extent(0), x.attributes, x.attribute_count);
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(2))) return inference::wrong("the gradient has another shape than the pool's result");
    got.extent = x.extent(0);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(2)) give(g, 2, make_node<max_pool_grad_grad_op>(own(g).all(), g.input(0), g.input(1), g.dy()));
  }
  template <class G>
  static constexpr leat::detail::image_numbers<24> own(const G& g) {
    leat::detail::image_numbers<24> made;
    made.push_own(g, 0);
    return made;
  }
};
template <class G>
constexpr void max_pool_grad_grad_op::gradient(G& g) {
  if (g.wants(2)) give(g, 2, make_node<max_pool_grad_op>(max_pool_grad_op::own(g).all(), g.input(0), g.input(1), g.dy()));
}
/// Source: TensorFlow `MaxPool`.
struct max_pool_op : pool_rule {
  static constexpr std::string_view type = "MaxPool";
  static constexpr field form[]{{field_kind::operand, "input"}, LEAT_POOL_FIELDS, {field_kind::integers, "explicit_paddings"}};
  static constexpr inference infer(const operand_list& x) {
    const inference got = floating_images(x);
    return got.problem.empty() ? result_of(got.type, x.extent(0), x.attributes, x.attribute_count) : got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<max_pool_grad_op>(max_pool_grad_op::own(g).all(), g.input(0), g.result(), g.dy()));
  }
};

/// The gradient of AvgPool, which spreads each element of dy evenly over its window; the images' shape comes first among the attributes.
/// Source: TensorFlow `AvgPoolGrad`.
struct avg_pool_grad_op;
/// Source: TensorFlow `AvgPool`.
struct avg_pool_op : pool_rule {
  static constexpr std::string_view type = "AvgPool";
  static constexpr field form[]{{field_kind::operand, "value"}, LEAT_POOL_FIELDS};
  static constexpr inference infer(const operand_list& x) {
    const inference got = floating_images(x);
    return got.problem.empty() ? result_of(got.type, x.extent(0), x.attributes, x.attribute_count) : got;
  }
  template <class G>
  static constexpr void gradient(G& g);
};
struct avg_pool_grad_op : pool_rule {
  static constexpr std::string_view type = "AvgPoolGrad";
  static constexpr inference infer(const operand_list& x) {
    inference got = floating_images(x);
    if (!got.problem.empty()) return got;
    const shape image = shape_of(x.attributes);
    const inference result = result_of(got.type, image, x.attributes + 4, x.attribute_count - 4);
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(0))) return inference::wrong("the gradient has another shape than the pool's result");
    got.extent = image;
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<avg_pool_op>(leat::detail::numbers_without_shape(g).all(), g.dy()));
  }
};
template <class G>
constexpr void avg_pool_op::gradient(G& g) {
  if (g.wants(0)) give(g, 0, make_node<avg_pool_grad_op>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 0).all(), g.dy()));
}
#undef LEAT_POOL_FIELDS

namespace detail {
template <hw Strides, padding Padding, hw Dilations>
using convolution_attributes =
    attributes<1, Strides.h, Strides.w, 1, static_cast<std::int64_t>(Padding), 1, Dilations.h, Dilations.w, 1>;
template <hw Window, hw Strides, padding Padding>
using pool_attributes = attributes<1, Window.h, Window.w, 1, 1, Strides.h, Strides.w, 1, static_cast<std::int64_t>(Padding)>;
// Results of the functions, under names that compilers print in short.
template <class Op, hw Strides, padding Padding, hw Dilations, class X, class F>
using convolved = made_with<Op, convolution_attributes<Strides, Padding, Dilations>, X, F>;
template <class Op, hw Strides, padding Padding, hw Dilations, class X, class F>
using why_not_convolved = why_with<Op, convolution_attributes<Strides, Padding, Dilations>, X, F>;
template <class Op, hw Window, hw Strides, padding Padding, class X>
using pooled = made_with<Op, pool_attributes<Window, Strides, Padding>, X>;
template <class Op, hw Window, hw Strides, padding Padding, class X>
using why_not_pooled = why_with<Op, pool_attributes<Window, Strides, Padding>, X>;
}  // namespace detail

#define LEAT_CONVOLUTION_FUNCTION(function, op)                                                                            \
  template <hw Strides = 1, padding Padding = padding::valid, hw Dilations = 1, tensor_expression X, tensor_expression F>  \
    requires accepted_with<op, detail::convolution_attributes<Strides, Padding, Dilations>, X, F>                          \
  constexpr detail::convolved<op, Strides, Padding, Dilations, X, F> function(const X& images, const F& filters) {         \
    return make<op, detail::convolution_attributes<Strides, Padding, Dilations>>(images, filters);                         \
  }                                                                                                                        \
  template <hw Strides = 1, padding Padding = padding::valid, hw Dilations = 1, tensor_expression X, tensor_expression F>  \
    requires refused_with<op, detail::convolution_attributes<Strides, Padding, Dilations>, X, F>                           \
  detail::why_not_convolved<op, Strides, Padding, Dilations, X, F> function(const X&, const F&) = delete
/// Convolution of images with filters: the sums of the products of each window and each filter. `conv2d<2, padding::same>(images,
/// filters)`; the arguments in <> are strides, padding and dilations, of which `hw{2, 1}` gives height and width each their own. Shapes:
/// images [batch, height, width, in], filters [height, width, in, out]; result [batch, windows down, windows right, out]. `in` of the images
/// may be a multiple of that of the filters, which then are for groups of channels. Dtypes: floating point. Source: TensorFlow `Conv2D`.
LEAT_CONVOLUTION_FUNCTION(conv2d, convolution_op<false>);
LEAT_OTHERWISE_OF(conv2d, "<strides, padding, dilations>(images, filters) takes two tensors of rank 4; the others are template arguments: "
                          "conv2d<1, padding::same>(images, filters); " LEAT_TENSORS);
/// Convolution of each channel of images with filters of its own, with the arguments of `conv2d`. Shapes: images [batch, height, width, in],
/// filters [height, width, in, multiplier]; result [batch, windows down, windows right, in multiplier]. Dtypes: floating point. Source:
/// TensorFlow `DepthwiseConv2dNative`.
LEAT_CONVOLUTION_FUNCTION(depthwise_conv2d, convolution_op<true>);
LEAT_OTHERWISE_OF(depthwise_conv2d, "<strides, padding, dilations>(images, filters) takes two tensors of rank 4; the others are template "
                                    "arguments; " LEAT_TENSORS);
#undef LEAT_CONVOLUTION_FUNCTION

#define LEAT_POOL_FUNCTION(function, op)                                                           \
  template <hw Window, hw Strides = Window, padding Padding = padding::valid, tensor_expression X> \
    requires accepted_with<op, detail::pool_attributes<Window, Strides, Padding>, X>               \
  constexpr detail::pooled<op, Window, Strides, Padding, X> function(const X& images) {            \
    return make<op, detail::pool_attributes<Window, Strides, Padding>>(images);                    \
  }                                                                                                \
  template <hw Window, hw Strides = Window, padding Padding = padding::valid, tensor_expression X> \
    requires refused_with<op, detail::pool_attributes<Window, Strides, Padding>, X>                \
  detail::why_not_pooled<op, Window, Strides, Padding, X> function(const X&) = delete
/// The largest element of each window, per channel: `max_pool<2>(images)`, `max_pool<3, 2, padding::same>(images)`; the arguments in <> are
/// the window, strides, which are the window if they are not given, and padding, which does not count. Shapes: images [batch, height,
/// width, channels]; result [batch, windows down, windows right, channels]. Dtypes: floating point. Source: TensorFlow `MaxPool`.
LEAT_POOL_FUNCTION(max_pool, max_pool_op);
LEAT_OTHERWISE_OF(max_pool, "<window, strides, padding>(images) takes one tensor of rank 4; the others are template arguments: "
                            "max_pool<2>(images); " LEAT_TENSORS);
/// The mean of each window, per channel, with the arguments of `max_pool`. Shapes, dtypes: as `max_pool`. Source: TensorFlow `AvgPool`.
LEAT_POOL_FUNCTION(avg_pool, avg_pool_op);
LEAT_OTHERWISE_OF(avg_pool, "<window, strides, padding>(images) takes one tensor of rank 4; the others are template arguments: "
                            "avg_pool<2>(images); " LEAT_TENSORS);
#undef LEAT_POOL_FUNCTION

}  // namespace leat
