#pragma once
// Convolutions and pools of volumes [batch, depth, height, width, channels]. Depth, height and width are sizes, the batch may be a named
// dimension. Errors of all functions: rules.hpp.

#include <leat/ops/image_operators.hpp>

namespace leat {

namespace detail {
template <dhw Strides, padding Padding, dhw Dilations>
using volume_convolution_attributes = attributes<1, Strides.d, Strides.h, Strides.w, 1, static_cast<std::int64_t>(Padding), 1, Dilations.d,
                                                 Dilations.h, Dilations.w, 1>;
template <dhw Window, dhw Strides, padding Padding>
using volume_pool_attributes =
    attributes<1, Window.d, Window.h, Window.w, 1, 1, Strides.d, Strides.h, Strides.w, 1, static_cast<std::int64_t>(Padding)>;
}  // namespace detail

/// Convolution of volumes with filters: `conv3d<2, padding::same>(volumes, filters)`; the arguments in <> are strides, padding and
/// dilations, of which `dhw{1, 2, 2}` gives depth, height and width each their own. Shapes: volumes [batch, depth, height, width, in],
/// filters [depth, height, width, in, out]; result [batch, windows deep, down, right, out]. Dtypes: floating point. Source: TensorFlow
/// `Conv3D`.
template <dhw Strides = 1, padding Padding = padding::valid, dhw Dilations = 1, tensor_expression X, tensor_expression F>
  requires accepted_with<convolution_op<convolved::volumes>, detail::volume_convolution_attributes<Strides, Padding, Dilations>, X, F>
constexpr auto conv3d(const X& volumes, const F& filters) {
  return make<convolution_op<convolved::volumes>, detail::volume_convolution_attributes<Strides, Padding, Dilations>>(volumes, filters);
}
template <dhw Strides = 1, padding Padding = padding::valid, dhw Dilations = 1, tensor_expression X, tensor_expression F>
  requires refused_with<convolution_op<convolved::volumes>, detail::volume_convolution_attributes<Strides, Padding, Dilations>, X, F>
why_with<convolution_op<convolved::volumes>, detail::volume_convolution_attributes<Strides, Padding, Dilations>, X, F> conv3d(
    const X&, const F&) = delete;
LEAT_OTHERWISE_OF(conv3d, "<strides, padding, dilations>(volumes, filters) takes two tensors of rank 5; the others are template arguments: "
                          "conv3d<1, padding::same>(volumes, filters); " LEAT_TENSORS);

#define LEAT_VOLUME_POOL_FUNCTION(function, op)                                                                                     \
  template <dhw Window, dhw Strides = Window, padding Padding = padding::valid, tensor_expression X>                                \
    requires accepted_with<op, detail::volume_pool_attributes<Window, Strides, Padding>, X>                                         \
  constexpr auto function(const X& volumes) {                                                                                       \
    return make<op, detail::volume_pool_attributes<Window, Strides, Padding>>(volumes);                                             \
  }                                                                                                                                 \
  template <dhw Window, dhw Strides = Window, padding Padding = padding::valid, tensor_expression X>                                \
    requires refused_with<op, detail::volume_pool_attributes<Window, Strides, Padding>, X>                                          \
  why_with<op, detail::volume_pool_attributes<Window, Strides, Padding>, X> function(const X&) = delete;                            \
  LEAT_OTHERWISE_OF(function, "<window, strides, padding>(volumes) takes one tensor of rank 5; the others are template arguments; " \
                    LEAT_TENSORS)
/// The largest element of each window of volumes, per channel: `max_pool3d<2>(volumes)`; the arguments in <> are the window, strides, which
/// are the window if they are not given, and padding, which does not count. Its gradient goes to all elements of a window that are equally
/// large. Shapes: volumes [batch, depth, height, width, channels]; result [batch, windows deep, down, right, channels]. Dtypes: floating
/// point. Source: TensorFlow `MaxPool3D`.
LEAT_VOLUME_POOL_FUNCTION(max_pool3d, max_pool_op<3>);
/// The mean of each window of volumes, per channel, with the arguments of `max_pool3d`. Source: TensorFlow `AvgPool3D`.
LEAT_VOLUME_POOL_FUNCTION(avg_pool3d, avg_pool_op<3>);
#undef LEAT_VOLUME_POOL_FUNCTION

}  // namespace leat
