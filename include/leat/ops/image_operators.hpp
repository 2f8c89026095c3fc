#pragma once
// The classes of operators on images [batch, height, width, channels] and on volumes [batch, depth, height, width, channels]: convolutions,
// pools and their gradients, which are again such operators. The axes of space are sizes, the batch may be a named dimension. The gradients
// have no form: graphs with names make TensorFlow's nodes of them by named/gradients/nn.hpp. Functions: images.hpp, volumes.hpp.

#include <leat/ops/reduction.hpp>
#include <leat/ops/windows.hpp>

namespace leat {

namespace rule {

/// An image operator's operands and numbers, as its shape rule reads them; with three axes of space, a volume's.
template <int Axes>
struct image_rule {
  static constexpr int rank = Axes + 2;
  static constexpr inference floating_images(const operand_list& x) {
    for (int k = 0; k < x.count; ++k) {
      if (!is_floating(x.type(k))) return inference::wrong(refusal(takes::floating));
      if (x.type(k) != x.type(0)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
      if (x.extent(k).rank != rank)
        return inference::wrong(Axes == 2 ? "takes rank 4: images [batch, height, width, channels]"
                                          : "takes rank 5: volumes [batch, depth, height, width, channels]");
    }
    return {x.type(0), {}};
  }
  /// The shape of a result with one element for each window of images and each of `channels`; `window` are the windows' elements.
  static constexpr inference windows_over(dtype type, const shape& image, const std::int64_t* window, std::int64_t channels,
                                          const leat::detail::window_settings& how) {
    if (const auto problem = how.problem(); !problem.empty()) return inference::wrong(problem);
    std::int64_t counts[Axes]{};
    for (int axis = 0; axis < Axes; ++axis)
      if (const auto problem = how.count(axis, image[1 + axis], window[axis], counts[axis]); !problem.empty())
        return inference::wrong(problem);
    return {type, leat::detail::shape_of_windows(image, 1, Axes, Axes + 1, channels, [&](int axis) { return counts[axis]; })};
  }
  static constexpr shape shape_of(const std::int64_t* sizes) {
    shape s;
    for (int k = 0; k < rank; ++k) s.push(sizes[k]);
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
constexpr image_numbers<24> numbers_without_shape(const G& g, int rank) {
  image_numbers<24> made;
  made.push_own(g, rank);
  return made;
}

}  // namespace detail

/// Fields of convolutions. Attributes: strides, padding, dilations, explicit paddings.
template <convolved What>
struct convolution_form {
  static constexpr field form[8]{{field_kind::operand, "input"},  // nvcc does not deduce array sizes in class templates
                                 {field_kind::operand, "filter"},
                                 {field_kind::type_of, "T"},
                                 {field_kind::list, "strides", 4},
                                 {field_kind::word, "padding", 0, detail::padding_words},
                                 {field_kind::fixed_word, "data_format", 0, detail::image_order_words},
                                 {field_kind::list, "dilations", 4},
                                 {field_kind::integers, "explicit_paddings"}};
};
template <>
struct convolution_form<convolved::volumes> {
  static constexpr field form[7]{{field_kind::operand, "input"},
                                 {field_kind::operand, "filter"},
                                 {field_kind::type_of, "T"},
                                 {field_kind::list, "strides", 5},
                                 {field_kind::word, "padding", 0, detail::padding_words},
                                 {field_kind::fixed_word, "data_format", 0, detail::volume_order_words},
                                 {field_kind::list, "dilations", 5}};
};

/// A convolution: of all channels by each filter, or of each channel by filters of its own.
template <convolved What>
struct convolution_rule : rule::image_rule<axes_of(What)> {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr facts what{.work = work_kind::convolution};
  static constexpr int axes = axes_of(What), rank = axes + 2;

  /// The filters of one image, as an array [height, width, channels of a group, filters].
  static constexpr shape flat_filter(const shape& filter) {
    return What == convolved::channels ? leat::detail::depthwise_filter(filter) : filter;
  }
  /// The shape of the result of images and filters; `numbers` are the attributes of the windows.
  static constexpr inference result_of(dtype type, const shape& image, const shape& given, const std::int64_t* numbers, int count) {
    const auto how = leat::detail::window_settings::of_convolution(numbers, count, axes);
    const std::int64_t channels = image[axes + 1];
    if (What != convolved::images && !may_equal(channels, given[axes]))
      return inference::wrong("images and filters differ in the number of channels");
    const shape filter = flat_filter(given);
    const std::int64_t depth = filter[axes], filters = filter[axes + 1];
    if (is_named(depth) || is_named(filters) || is_named(channels))
      return inference::wrong("the numbers of channels and of filters must be sizes that the compiler knows");
    if (depth == 0) return inference::wrong("a filter has no channel");
    if (!leat::detail::fit_groups(channels, depth))
      return inference::wrong("the images' channels are not a multiple of the filters' channels");
    if (channels >= 0 && depth > 0) {
      const std::int64_t groups = channels / depth;
      if (filters > 0 && groups > 0 && filters % groups != 0)
        return inference::wrong("the number of filters is not a multiple of the number of groups of channels");
    }
    return rule::image_rule<axes>::windows_over(type, image, filter.dim, filters, how);
  }
  /// The same where the shape of one of both comes first among the attributes: that of the images, or of the filters.
  static constexpr inference gradient_of(const operand_list& x, bool by_images) {
    inference got = rule::image_rule<axes>::floating_images(x);
    if (!got.problem.empty()) return got;
    const shape held = rule::image_rule<axes>::shape_of(x.attributes);
    const inference result =
        result_of(got.type, by_images ? held : x.extent(0), by_images ? x.extent(0) : held, x.attributes + rank, x.attribute_count - rank);
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(1))) return inference::wrong("the gradient has another shape than the convolution's result");
    got.extent = held;
    return got;
  }
};

template <convolved What>
struct convolution_input_grad_op;
template <convolved What>
struct convolution_filter_grad_op;

/// Source: TensorFlow `Conv2D`, `DepthwiseConv2dNative`, `Conv3D`.
template <convolved What>
struct convolution_op : convolution_rule<What> {
  static constexpr std::string_view type = What == convolved::volumes    ? "Conv3D"
                                           : What == convolved::channels ? "DepthwiseConv2dNative"
                                                                         : "Conv2D";
  static constexpr auto& form = convolution_form<What>::form;
  static constexpr inference infer(const operand_list& x) {
    const inference got = rule::image_rule<axes_of(What)>::floating_images(x);
    return got.problem.empty() ? convolution_rule<What>::result_of(got.type, x.extent(0), x.extent(1), x.attributes, x.attribute_count)
                               : got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0))
      give(g, 0,
           make_node<convolution_input_grad_op<What>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 0).all(), g.input(1),
                                                      g.dy()));
    if (g.wants(1))
      give(g, 1,
           make_node<convolution_filter_grad_op<What>>(leat::detail::numbers_with_shape(g, g.input(1).extent(), 0).all(), g.input(0),
                                                       g.dy()));
  }
};
/// The gradient of a convolution by its images, whose shape comes first among the attributes. Source: TensorFlow `Conv2DBackpropInput`,
/// `DepthwiseConv2dNativeBackpropInput`, `Conv3DBackpropInputV2`.
template <convolved What>
struct convolution_input_grad_op : convolution_rule<What> {
  static constexpr std::string_view type = What == convolved::volumes    ? "Conv3DBackpropInputV2"
                                           : What == convolved::channels ? "DepthwiseConv2dNativeBackpropInput"
                                                                         : "Conv2DBackpropInput";
  static constexpr inference infer(const operand_list& x) { return convolution_rule<What>::gradient_of(x, true); }
  template <class G>
  static constexpr void gradient(G& g) {
    constexpr int rank = axes_of(What) + 2;
    if (g.wants(0))
      give(g, 0,
           make_node<convolution_filter_grad_op<What>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), rank).all(), g.dy(),
                                                       g.input(1)));
    if (g.wants(1)) give(g, 1, make_node<convolution_op<What>>(leat::detail::numbers_without_shape(g, rank).all(), g.dy(), g.input(0)));
  }
};
/// The gradient of a convolution by its filters, whose shape comes first among the attributes. Source: TensorFlow `Conv2DBackpropFilter`,
/// `DepthwiseConv2dNativeBackpropFilter`, `Conv3DBackpropFilterV2`.
template <convolved What>
struct convolution_filter_grad_op : convolution_rule<What> {
  static constexpr std::string_view type = What == convolved::volumes    ? "Conv3DBackpropFilterV2"
                                           : What == convolved::channels ? "DepthwiseConv2dNativeBackpropFilter"
                                                                         : "Conv2DBackpropFilter";
  static constexpr inference infer(const operand_list& x) { return convolution_rule<What>::gradient_of(x, false); }
  template <class G>
  static constexpr void gradient(G& g) {
    constexpr int rank = axes_of(What) + 2;
    if (g.wants(0))
      give(g, 0,
           make_node<convolution_input_grad_op<What>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), rank).all(), g.dy(),
                                                      g.input(1)));
    if (g.wants(1)) give(g, 1, make_node<convolution_op<What>>(leat::detail::numbers_without_shape(g, rank).all(), g.input(0), g.dy()));
  }
};

/// Fields of pools. Attributes: window, strides, padding, and for the largest element of images explicit paddings.
#define LEAT_POOL_FIELDS(name, axes, orders)                                                                                         \
  {field_kind::operand, name}, {field_kind::type_of, "T"}, {field_kind::list, "ksize", axes + 2},                                 \
      {field_kind::list, "strides", axes + 2}, {field_kind::word, "padding", 0, detail::padding_words}, {                            \
    field_kind::fixed_word, "data_format", 0, orders                                                                                 \
  }
template <int Axes, bool Largest>
struct pool_form {
  static constexpr field form[6]{LEAT_POOL_FIELDS("input", 3, detail::volume_order_words)};
};
template <>
struct pool_form<2, false> {
  static constexpr field form[6]{LEAT_POOL_FIELDS("value", 2, detail::image_order_words)};
};
template <>
struct pool_form<2, true> {
  static constexpr field form[7]{LEAT_POOL_FIELDS("input", 2, detail::image_order_words), {field_kind::integers, "explicit_paddings"}};
};
#undef LEAT_POOL_FIELDS

/// The shape of a pool's result, and the attributes of its gradients.
template <int Axes>
struct pool_rule : rule::image_rule<Axes> {
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr int axes = Axes;
  static constexpr inference result_of(dtype type, const shape& image, const std::int64_t* numbers, int count) {
    return rule::image_rule<Axes>::windows_over(type, image, numbers + 1, image[Axes + 1],
                                                leat::detail::window_settings::of_pool(numbers, count, Axes));
  }
  /// Of a pool, where all operands are images.
  static constexpr inference of_images(const operand_list& x) {
    const inference got = rule::image_rule<Axes>::floating_images(x);
    return got.problem.empty() ? result_of(got.type, x.extent(0), x.attributes, x.attribute_count) : got;
  }
  template <class G>
  static constexpr leat::detail::image_numbers<24> own(const G& g) {
    leat::detail::image_numbers<24> made;
    made.push_own(g, 0);
    return made;
  }
};

template <int Axes>
struct max_pool_grad_op;
/// The gradient of `max_pool_grad_op` by dy: of each window, the element of the third operand where the image is largest. Source:
/// TensorFlow `MaxPoolGradGrad`, `MaxPool3DGradGrad`.
template <int Axes>
struct max_pool_grad_grad_op : pool_rule<Axes> {
  static constexpr std::string_view type = Axes == 3 ? "MaxPool3DGradGrad" : "MaxPoolGradGrad";
  static constexpr inference infer(const operand_list& x) {
    const inference got = pool_rule<Axes>::of_images(x);
    if (got.problem.empty() && !may_equal(x.extent(0), x.extent(2)))
      return inference::wrong("the gradient has another shape than the images");
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(2)) give(g, 2, make_node<max_pool_grad_op<Axes>>(pool_rule<Axes>::own(g).all(), g.input(0), g.input(1), g.dy()));
  }
};
/// The gradient of MaxPool: each element of dy goes to the first of the largest elements of its window; in volumes, to all of them. Source:
/// TensorFlow `MaxPoolGrad`, `MaxPool3DGrad`.
template <int Axes>
struct max_pool_grad_op : pool_rule<Axes> {
  static constexpr std::string_view type = Axes == 3 ? "MaxPool3DGrad" : "MaxPoolGrad";
  static constexpr inference infer(const operand_list& x) {
    inference got = pool_rule<Axes>::of_images(x);
    if (!got.problem.empty()) return got;
    if (!may_equal(got.extent, x.extent(2))) return inference::wrong("the gradient has another shape than the pool's result");
    got.extent = x.extent(0);
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(2)) give(g, 2, make_node<max_pool_grad_grad_op<Axes>>(pool_rule<Axes>::own(g).all(), g.input(0), g.input(1), g.dy()));
  }
};
/// Source: TensorFlow `MaxPool`, `MaxPool3D`.
template <int Axes>
struct max_pool_op : pool_rule<Axes> {
  static constexpr std::string_view type = Axes == 3 ? "MaxPool3D" : "MaxPool";
  static constexpr facts what{.narrow = Axes == 3 ? narrow_rule::computes : narrow_rule::ordered};
  static constexpr auto& form = pool_form<Axes, true>::form;
  static constexpr inference infer(const operand_list& x) { return pool_rule<Axes>::of_images(x); }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<max_pool_grad_op<Axes>>(pool_rule<Axes>::own(g).all(), g.input(0), g.result(), g.dy()));
  }
};

template <int Axes>
struct avg_pool_grad_op;
/// Source: TensorFlow `AvgPool`, `AvgPool3D`.
template <int Axes>
struct avg_pool_op : pool_rule<Axes> {
  static constexpr std::string_view type = Axes == 3 ? "AvgPool3D" : "AvgPool";
  static constexpr auto& form = pool_form<Axes, false>::form;
  static constexpr inference infer(const operand_list& x) {
    if (x.attribute_count > 2 * (Axes + 2) + 1) return inference::wrong("means have no explicit padding: pad<...>(images) first");
    return pool_rule<Axes>::of_images(x);
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0))
      give(g, 0, make_node<avg_pool_grad_op<Axes>>(leat::detail::numbers_with_shape(g, g.input(0).extent(), 0).all(), g.dy()));
  }
};
/// The gradient of AvgPool, which spreads each element of dy evenly over its window; the images' shape comes first among the attributes.
/// Source: TensorFlow `AvgPoolGrad`, `AvgPool3DGrad`.
template <int Axes>
struct avg_pool_grad_op : pool_rule<Axes> {
  static constexpr std::string_view type = Axes == 3 ? "AvgPool3DGrad" : "AvgPoolGrad";
  static constexpr inference infer(const operand_list& x) {
    using base = rule::image_rule<Axes>;
    inference got = base::floating_images(x);
    if (!got.problem.empty()) return got;
    const shape image = base::shape_of(x.attributes);
    const inference result = pool_rule<Axes>::result_of(got.type, image, x.attributes + base::rank, x.attribute_count - base::rank);
    if (!result.problem.empty()) return result;
    if (!may_equal(result.extent, x.extent(0))) return inference::wrong("the gradient has another shape than the pool's result");
    got.extent = image;
    return got;
  }
  template <class G>
  static constexpr void gradient(G& g) {
    if (g.wants(0)) give(g, 0, make_node<avg_pool_op<Axes>>(leat::detail::numbers_without_shape(g, Axes + 2).all(), g.dy()));
  }
};

}  // namespace leat
