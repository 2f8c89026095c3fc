#pragma once
// Layers of graphs with names that convolve and pool, along one, two and three axes of space. As layers.hpp says, each is called with
// inputs, `layers::conv2d(x, 32, 5)`, or without, for a layer that can be called several times:
//
//   const auto maps = layers::conv2d(32, {5, 3}, {.pad = padding::same, .activation = layers::relu});
//   auto y = layers::max_pooling2d(maps(x), 2, 2);
//
// Sizes, strides and dilations are one number for all axes of space, or one for each. Source: TensorFlow 1.x `tf.layers`.

#include <leat/core/function_bodies.hpp>
#include <leat/ops/windows.hpp>
#include <leat/train/named/layers.hpp>

namespace leat::layers {

/// Numbers of the axes of space: one for all of them, or one for each.
struct along_axes {
  std::vector<std::int64_t> of;
  along_axes(std::int64_t all) : of{all} {}
  along_axes(std::initializer_list<std::int64_t> each) : of(each) {}
};

/// Options of layers that convolve.
struct convolution_options {
  along_axes strides = 1;                        // from window to window
  padding pad = padding::valid;                  // `same`: as many windows as positions, over the stride
  axis_order order = axis_order::channels_last;  // where the channels are
  along_axes dilation_rate = 1;                  // from element to element of a window; 1 where strides are not
  activation_function activation{};              // empty: linear
  bool use_bias = true;
  first_value kernel_initializer{};  // empty: the scope's, or else Glorot's
  first_value bias_initializer = zeros;
  variable_regularizer kernel_regularizer{};
  variable_regularizer bias_regularizer{};
  bool trainable = true;
  std::string name{};  // empty: the function's, made unique
  reuse_setting reuse{};
};

/// A convolution of sequences: activation(x * kernel + bias). Variables: `kernel` [size, channels, filters], `bias` [filters]. Shapes: x
/// [batch, width, channels], where `channels` is known, or [batch, channels, width]; result [batch, windows, filters]. Dtypes: float32,
/// float64. Errors: invalid_argument for inputs, sizes or settings that do not fit. Source: `conv1d`.
layer conv1d(std::int64_t filters, const along_axes& size, const convolution_options& options = {});
output conv1d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options = {},
              const std::source_location& where = std::source_location::current());
/// A convolution of images. Variables: `kernel` [height, width, channels, filters], `bias` [filters]. Shapes: x [batch, height, width,
/// channels] or [batch, channels, height, width]. Dtypes and errors: as for `conv1d`. Source: `conv2d`.
layer conv2d(std::int64_t filters, const along_axes& size, const convolution_options& options = {});
output conv2d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options = {},
              const std::source_location& where = std::source_location::current());
/// A convolution of volumes. Variables: `kernel` [depth, height, width, channels, filters], `bias` [filters]. Shapes: x [batch, depth,
/// height, width, channels] or [batch, channels, depth, height, width]. Dtypes and errors: as for `conv1d`. Source: `conv3d`.
layer conv3d(std::int64_t filters, const along_axes& size, const convolution_options& options = {});
output conv3d(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options = {},
              const std::source_location& where = std::source_location::current());

/// A transposed convolution: images that are `strides` times larger than x. Variables: `kernel` [height, width, filters, channels], `bias`
/// [filters]. Shapes: x as for `conv2d`; result [batch, height strides, width strides, filters] with `padding::same`, and with
/// `padding::valid` larger by what a window exceeds its stride. Dtypes and errors: as for `conv1d`; a dilation is refused.
/// Source: `conv2d_transpose`.
layer conv2d_transpose(std::int64_t filters, const along_axes& size, const convolution_options& options = {});
output conv2d_transpose(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options = {},
                        const std::source_location& where = std::source_location::current());
/// The transpose of a convolution of volumes, as `conv2d_transpose` of images. Variables: `kernel` [depth, height, width, filters,
/// channels], `bias` [filters]. Source: `conv3d_transpose`.
layer conv3d_transpose(std::int64_t filters, const along_axes& size, const convolution_options& options = {});
output conv3d_transpose(const output& x, std::int64_t filters, const along_axes& size, const convolution_options& options = {},
                        const std::source_location& where = std::source_location::current());

/// Options of `depthwise_conv2d`, `separable_conv1d` and `separable_conv2d`.
struct separable_options {
  along_axes strides = 1;                        // from window to window
  padding pad = padding::valid;                  // `same`: as many windows as positions, over the stride
  axis_order order = axis_order::channels_last;  // where the channels are
  along_axes dilation_rate = 1;                  // from element to element of a window
  std::int64_t depth_multiplier = 1;             // filters of each channel
  activation_function activation{};
  bool use_bias = true;
  first_value depthwise_initializer{};
  first_value pointwise_initializer{};
  first_value bias_initializer = zeros;
  variable_regularizer depthwise_regularizer{};
  variable_regularizer pointwise_regularizer{};
  variable_regularizer bias_regularizer{};
  bool trainable = true;
  std::string name{};
  reuse_setting reuse{};
};
/// A convolution of each channel of images by filters of its own. Variables: `depthwise_kernel` [height, width, channels,
/// depth_multiplier], `bias` [channels depth_multiplier]. Shapes, dtypes and errors: as for `conv2d`. Source:
/// `keras.layers.DepthwiseConv2D`.
layer depthwise_conv2d(const along_axes& size, const separable_options& options = {});
output depthwise_conv2d(const output& x, const along_axes& size, const separable_options& options = {},
                        const std::source_location& where = std::source_location::current());
/// A convolution of each channel of sequences, then of all channels at each position. Variables: `depthwise_kernel` [size, channels,
/// depth_multiplier], `pointwise_kernel` [1, channels depth_multiplier, filters], `bias` [filters]. Shapes, dtypes and errors: as for
/// `conv1d`. Source: `separable_conv1d`.
layer separable_conv1d(std::int64_t filters, const along_axes& size, const separable_options& options = {});
output separable_conv1d(const output& x, std::int64_t filters, const along_axes& size, const separable_options& options = {},
                        const std::source_location& where = std::source_location::current());
/// A convolution of each channel of images, then of all channels at each position. Variables: `depthwise_kernel` [height, width, channels,
/// depth_multiplier], `pointwise_kernel` [1, 1, channels depth_multiplier, filters], `bias` [filters]. Shapes, dtypes and errors: as for
/// `conv2d`. Source: `separable_conv2d`.
layer separable_conv2d(std::int64_t filters, const along_axes& size, const separable_options& options = {});
output separable_conv2d(const output& x, std::int64_t filters, const along_axes& size, const separable_options& options = {},
                        const std::source_location& where = std::source_location::current());

/// Options of layers that pool.
struct pooling_options {
  padding pad = padding::valid;                  // `same`: as many windows as positions, over the stride
  axis_order order = axis_order::channels_last;  // where the channels are
  std::string name{};                            // empty: the function's, made unique
};
/// The largest element of each window of sequences [batch, width, channels]. Dtypes: numbers. Errors: invalid_argument for inputs, sizes
/// or settings that do not fit. Source: `max_pooling1d`.
layer max_pooling1d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output max_pooling1d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                     const std::source_location& where = std::source_location::current());
/// The largest element of each window of images [batch, height, width, channels]. Dtypes and errors: as for `max_pooling1d`.
/// Source: `max_pooling2d`.
layer max_pooling2d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output max_pooling2d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                     const std::source_location& where = std::source_location::current());
/// The largest element of each window of volumes [batch, depth, height, width, channels]. Dtypes and errors: as for `max_pooling1d`.
/// Source: `max_pooling3d`.
layer max_pooling3d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output max_pooling3d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                     const std::source_location& where = std::source_location::current());
/// The mean of each window of sequences; padding does not count. Dtypes: floating point. Errors: as for `max_pooling1d`.
/// Source: `average_pooling1d`.
layer average_pooling1d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output average_pooling1d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                         const std::source_location& where = std::source_location::current());
/// The mean of each window of images; padding does not count. Dtypes and errors: as for `average_pooling1d`. Source: `average_pooling2d`.
layer average_pooling2d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output average_pooling2d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                         const std::source_location& where = std::source_location::current());
/// The mean of each window of volumes; padding does not count. Dtypes and errors: as for `average_pooling1d`. Source: `average_pooling3d`.
layer average_pooling3d(const along_axes& size, const along_axes& strides, const pooling_options& options = {});
output average_pooling3d(const output& x, const along_axes& size, const along_axes& strides, const pooling_options& options = {},
                         const std::source_location& where = std::source_location::current());

}  // namespace leat::layers

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/convolutions.hpp>
#endif
