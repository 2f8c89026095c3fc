#pragma once
// Convolutions and pools of named graphs along one, two and three axes of space, with dilation and either order of axes, composed of the
// same nodes as in TensorFlow 1.x. nn.hpp has the forms for images with the channels last.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/nn.hpp>

namespace leat {

/// Settings of convolutions and pools along any axes of space. `strides` and `dilations` have one number, for all axes of space, or one for
/// each.
struct space_options {
  std::vector<std::int64_t> strides{1};          // from window to window
  padding pad = padding::valid;                  // `same`: as many windows as positions, over the stride
  axis_order order = axis_order::channels_last;  // where the channels are
  std::vector<std::int64_t> dilations{1};        // from element to element of a window; pools have none
};

/// Convolution of sequences [batch, width, in] with filters [width, in, out]; with the channels first, sequences [batch, in, width].
/// Shapes: result [batch, windows, out]. Dtypes: float32, float64, int32. Errors: invalid_argument if shapes or settings do not fit.
/// Source: `conv1d`.
output conv1d(const output& values, const output& filters, const space_options& options = {}, std::string_view name = "conv1d",
              const std::source_location& where = std::source_location::current());
/// Convolution of images [batch, height, width, in] with filters [height, width, in, out]; with the channels first, images [batch, in,
/// height, width]. Shapes: result [batch, windows down, windows right, out]. Dtypes and errors: as for `conv1d`. Source: `conv2d`.
output conv2d(const output& images, const output& filters, const space_options& options, std::string_view name = "Conv2D",
              const std::source_location& where = std::source_location::current());
/// Convolution of volumes [batch, depth, height, width, in] with filters [depth, height, width, in, out]; with the channels first, volumes
/// [batch, in, depth, height, width]. Dtypes and errors: as for `conv1d`. Source: `conv3d`.
output conv3d(const output& volumes, const output& filters, const space_options& options = {}, std::string_view name = "Conv3D",
              const std::source_location& where = std::source_location::current());

/// Convolution of each channel of images by filters of its own, [height, width, in, multiplier]. Shapes: result [batch, windows down,
/// windows right, in multiplier]. Dtypes and errors: as for `conv1d`. Source: `depthwise_conv2d`.
output depthwise_conv2d(const output& images, const output& filters, const space_options& options = {}, std::string_view name = "depthwise",
                        const std::source_location& where = std::source_location::current());
/// `depthwise_conv2d`, then a convolution with filters [1, 1, in multiplier, out]. Shapes: result [batch, windows down, windows right,
/// out]. Dtypes and errors: as for `conv1d`. Source: `separable_conv2d`.
output separable_conv2d(const output& images, const output& depthwise_filters, const output& pointwise_filters,
                        const space_options& options = {}, std::string_view name = "separable_conv2d",
                        const std::source_location& where = std::source_location::current());

/// The transpose of a convolution, its gradient with respect to the images: images of the shape `sizes`, whose windows are the elements of
/// `values`. Filters are [height, width, out, in]. Shapes: values [batch, windows down, windows right, in]; result `sizes`, an int32
/// vector. Dtypes: float32, float64. Errors: invalid_argument if shapes or settings do not fit. Source: `conv2d_transpose`.
output conv2d_transpose(const output& values, const output& filters, const operand_value& sizes, const space_options& options = {},
                        std::string_view name = "conv2d_transpose", const std::source_location& where = std::source_location::current());
/// The transpose of a convolution of volumes, as `conv2d_transpose` of images, with filters [depth, height, width, out, in].
/// Source: `conv3d_transpose`.
output conv3d_transpose(const output& values, const output& filters, const operand_value& sizes, const space_options& options = {},
                        std::string_view name = "conv3d_transpose", const std::source_location& where = std::source_location::current());

/// The largest element of each window of images, of `window` elements (one number for both axes, or two); padding does not count. Dtypes:
/// numbers. Errors: invalid_argument if shapes, window or settings do not fit. Source: `max_pool2d`.
output max_pool2d(const output& images, const std::vector<std::int64_t>& window, const space_options& options = {},
                  std::string_view name = "MaxPool", const std::source_location& where = std::source_location::current());
/// The mean of each window of images; padding does not count. Dtypes: floating point. Errors: as for `max_pool2d`. Source: `avg_pool2d`.
output avg_pool2d(const output& images, const std::vector<std::int64_t>& window, const space_options& options = {},
                  std::string_view name = "AvgPool", const std::source_location& where = std::source_location::current());
/// The largest element of each window of volumes. Dtypes and errors: as for `max_pool2d`. Source: `max_pool3d`.
output max_pool3d(const output& volumes, const std::vector<std::int64_t>& window, const space_options& options = {},
                  std::string_view name = "MaxPool3D", const std::source_location& where = std::source_location::current());
/// The mean of each window of volumes; padding does not count. Dtypes and errors: as for `avg_pool2d`. Source: `avg_pool3d`.
output avg_pool3d(const output& volumes, const std::vector<std::int64_t>& window, const space_options& options = {},
                  std::string_view name = "AvgPool3D", const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/convolution.hpp>
#endif
