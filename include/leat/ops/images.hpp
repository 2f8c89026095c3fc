#pragma once
// Convolutions and pools of images [batch, height, width, channels]. Height and width are sizes, the batch may be a named dimension. With
// `axis_order::channels_first`, images and results are [batch, channels, height, width]: they are transposed before and after. Errors of
// all functions: rules.hpp.

#include <leat/ops/array_plan.hpp>
#include <leat/ops/image_operators.hpp>

namespace leat {

namespace detail {
// The attributes of a node: some numbers, then the explicit paddings if there are any.
template <window_pads Padding, std::int64_t... Numbers>
struct with_pads {
  using type = attributes<Numbers...>;
};
template <window_pads Padding, std::int64_t... Numbers>
  requires(Padding.is_listed)
struct with_pads<Padding, Numbers...> {
  using type = attributes<Numbers..., 0, 0, Padding.listed.top, Padding.listed.bottom, Padding.listed.left, Padding.listed.right, 0, 0>;
};
template <window_pads Padding>
inline constexpr auto padding_number =
    static_cast<std::int64_t>(Padding.is_listed ? window_padding::listed : static_cast<window_padding>(Padding.how));
template <hw Strides, window_pads Padding, hw Dilations>
using convolution_attributes =
    typename with_pads<Padding, 1, Strides.h, Strides.w, 1, padding_number<Padding>, 1, Dilations.h, Dilations.w, 1>::type;
template <hw Window, hw Strides, window_pads Padding>
using pool_attributes = typename with_pads<Padding, 1, Window.h, Window.w, 1, 1, Strides.h, Strides.w, 1, padding_number<Padding>>::type;

// Images with their channels last, and results with theirs where the images' were. Other arrays than images stay, and are refused later.
template <axis_order Order, tensor_expression X>
constexpr auto channels_behind(const X& x) {
  if constexpr (Order == axis_order::channels_first && X::rank == 4) return make<transpose_op, attributes<0, 2, 3, 1>>(x);
  else return x;
}
template <axis_order Order, tensor_expression X>
constexpr auto channels_back(const X& x) {
  if constexpr (Order == axis_order::channels_first && X::rank == 4) return make<transpose_op, attributes<0, 3, 1, 2>>(x);
  else return x;
}
template <axis_order Order, class X>
struct ordered_images {
  using type = X;
};
template <tensor_expression X>
  requires(X::rank == 4)
struct ordered_images<axis_order::channels_first, X> {
  using type = made_with<transpose_op, attributes<0, 2, 3, 1>, X>;
};
template <axis_order Order, class X>
using ordered = typename ordered_images<Order, X>::type;
// The problem with a call, under names that compilers print in short.
template <class Op, hw Strides, window_pads Padding, hw Dilations, axis_order Order, class X, class F>
using why_not_convolved = why_with<Op, convolution_attributes<Strides, Padding, Dilations>, ordered<Order, X>, F>;
template <class Op, hw Window, hw Strides, window_pads Padding, axis_order Order, class X>
using why_not_pooled = why_with<Op, pool_attributes<Window, Strides, Padding>, ordered<Order, X>>;
}  // namespace detail

#define LEAT_CONVOLUTION_FUNCTION(function, op)                                                                                   \
  template <hw Strides = 1, window_pads Padding = padding::valid, hw Dilations = 1, axis_order Order = axis_order::channels_last, \
            tensor_expression X, tensor_expression F>                                                                             \
    requires accepted_with<op, detail::convolution_attributes<Strides, Padding, Dilations>, detail::ordered<Order, X>, F>         \
  constexpr auto function(const X& images, const F& filters) {                                                                    \
    return detail::channels_back<Order>(                                                                                          \
        make<op, detail::convolution_attributes<Strides, Padding, Dilations>>(detail::channels_behind<Order>(images), filters));  \
  }                                                                                                                               \
  template <hw Strides = 1, window_pads Padding = padding::valid, hw Dilations = 1, axis_order Order = axis_order::channels_last, \
            tensor_expression X, tensor_expression F>                                                                             \
    requires refused_with<op, detail::convolution_attributes<Strides, Padding, Dilations>, detail::ordered<Order, X>, F>          \
  detail::why_not_convolved<op, Strides, Padding, Dilations, Order, X, F> function(const X&, const F&) = delete
/// Convolution of images with filters: the sums of the products of each window and each filter. `conv2d<2, padding::same>(images,
/// filters)`; the arguments in <> are strides, padding, dilations, and the order of axes. `hw{2, 1}` gives height and width each their own
/// stride or dilation, `pads{1, 0, 2, 2}` is explicit padding, and `axis_order::channels_first` says that images have their channels behind
/// the batch. Shapes: images [batch, height, width, in], filters [height, width, in, out]; result [batch, windows down, windows right,
/// out]. `in` of the images may be a multiple of that of the filters, which then are for groups of channels. Dtypes: floating point.
/// Source: TensorFlow `Conv2D`.
LEAT_CONVOLUTION_FUNCTION(conv2d, convolution_op<convolved::images>);
LEAT_OTHERWISE_OF(conv2d, "<strides, padding, dilations>(images, filters) takes two tensors of rank 4; the others are template arguments: "
                          "conv2d<1, padding::same>(images, filters); " LEAT_TENSORS);
/// Convolution of each channel of images with filters of its own, with the arguments of `conv2d`. Shapes: images [batch, height, width,
/// in], filters [height, width, in, multiplier]; result [batch, windows down, windows right, in multiplier]. Dtypes: floating point.
/// Source: TensorFlow `DepthwiseConv2dNative`.
LEAT_CONVOLUTION_FUNCTION(depthwise_conv2d, convolution_op<convolved::channels>);
LEAT_OTHERWISE_OF(depthwise_conv2d, "<strides, padding, dilations>(images, filters) takes two tensors of rank 4; the others are template "
                                    "arguments; " LEAT_TENSORS);
#undef LEAT_CONVOLUTION_FUNCTION

#define LEAT_POOL_FUNCTION(function, op)                                                                                        \
  template <hw Window, hw Strides = Window, window_pads Padding = padding::valid, axis_order Order = axis_order::channels_last, \
            tensor_expression X>                                                                                                \
    requires accepted_with<op, detail::pool_attributes<Window, Strides, Padding>, detail::ordered<Order, X>>                    \
  constexpr auto function(const X& images) {                                                                                    \
    return detail::channels_back<Order>(                                                                                        \
        make<op, detail::pool_attributes<Window, Strides, Padding>>(detail::channels_behind<Order>(images)));                   \
  }                                                                                                                             \
  template <hw Window, hw Strides = Window, window_pads Padding = padding::valid, axis_order Order = axis_order::channels_last, \
            tensor_expression X>                                                                                                \
    requires refused_with<op, detail::pool_attributes<Window, Strides, Padding>, detail::ordered<Order, X>>                     \
  detail::why_not_pooled<op, Window, Strides, Padding, Order, X> function(const X&) = delete
/// The largest element of each window, per channel: `max_pool<2>(images)`, `max_pool<3, 2, padding::same>(images)`; the arguments in <> are
/// the window, strides, which are the window if they are not given, padding, which does not count, and the order of axes, as of `conv2d`.
/// Shapes: images [batch, height, width, channels]; result [batch, windows down, windows right, channels]. Dtypes: floating point. Source:
/// TensorFlow `MaxPool`.
LEAT_POOL_FUNCTION(max_pool, max_pool_op<2>);
LEAT_OTHERWISE_OF(max_pool, "<window, strides, padding>(images) takes one tensor of rank 4; the others are template arguments: "
                            "max_pool<2>(images); " LEAT_TENSORS);
/// The mean of each window, per channel, with the arguments of `max_pool`, but no explicit padding. Shapes, dtypes: as `max_pool`. Source:
/// TensorFlow `AvgPool`.
LEAT_POOL_FUNCTION(avg_pool, avg_pool_op<2>);
LEAT_OTHERWISE_OF(avg_pool, "<window, strides, padding>(images) takes one tensor of rank 4; the others are template arguments: "
                            "avg_pool<2>(images); " LEAT_TENSORS);
#undef LEAT_POOL_FUNCTION

namespace detail {
template <class X, class F, hw Strides, padding Padding, hw Dilations>
struct conv1d_plan {
  static constexpr std::string_view function = "conv1d";
  static constexpr std::string_view problem() {
    if (X::rank != 3 || F::rank != 3) return "takes rank 3: sequences [batch, width, in] and filters [width, in, out]";
    tensor_info both[]{{X::type, raised(X::extent, 1)}, {F::type, raised(F::extent, 0)}};
    using numbers = convolution_attributes<Strides, Padding, Dilations>;
    return convolution_op<convolved::images>::infer({both, 2, numbers::data, numbers::count}).problem;
  }
  // With an axis of 1 at `axis`.
  static constexpr shape raised(const shape& s, int axis) {
    shape made;
    for (int i = 0; i < s.rank; ++i) {
      if (i == axis) made.push(1);
      made.push(s[i]);
    }
    return made;
  }
};
}  // namespace detail
/// Convolution of sequences with filters: `conv1d<2, padding::same>(x, filters)`; the arguments in <> are stride, padding and dilation.
/// Shapes: x [batch, width, in], filters [width, in, out]; result [batch, windows, out]. Dtypes: floating point. Source: TensorFlow
/// `conv1d`, which makes a `Conv2D` of it as well.
template <std::int64_t Stride = 1, padding Padding = padding::valid, std::int64_t Dilation = 1, tensor_expression X, tensor_expression F>
  requires detail::fits_plan<detail::conv1d_plan<X, F, hw{1, Stride}, Padding, hw{1, Dilation}>>
constexpr auto conv1d(const X& x, const F& filters) {
  return squeeze<1>(conv2d<hw{1, Stride}, Padding, hw{1, Dilation}>(expand_dims<1>(x), expand_dims<0>(filters)));
}
template <std::int64_t Stride = 1, padding Padding = padding::valid, std::int64_t Dilation = 1, tensor_expression X, tensor_expression F>
  requires(!detail::fits_plan<detail::conv1d_plan<X, F, hw{1, Stride}, Padding, hw{1, Dilation}>>)
detail::why_not<detail::conv1d_plan<X, F, hw{1, Stride}, Padding, hw{1, Dilation}>, X, F> conv1d(const X&, const F&) = delete;
LEAT_OTHERWISE_OF(conv1d, "<stride, padding, dilation>(x, filters) takes two tensors of rank 3; the others are template arguments: "
                          "conv1d<1, padding::same>(x, filters); " LEAT_TENSORS);

}  // namespace leat
