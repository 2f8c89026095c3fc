#pragma once
// Gradients of operators on images in graphs with names, as TensorFlow writes them: normalization over a batch and over channels, resizing,
// mirror images, and blocks of pixels that become channels or batches. Source: TensorFlow's gradients of the operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/gradients/pools.hpp>

namespace leat::detail {

// Only the normalized result has a gradient; means and variances pass none.
inline gradient_list gradient_of_batch_norm(const gradient_call& c) {
  const output dy = c.dy();
  if (!static_cast<bool>(dy)) return {};
  graph& g = c.owner();
  const std::string type(c.operation().type());
  const bool is_training = c.flag("is_training", true);
  std::vector<output> inputs{dy, c.input(0), c.input(1), is_training ? c.result(3) : c.input(3), is_training ? c.result(4) : c.input(4)};
  if (c.operation().outputs().size() > 5) inputs.push_back(c.result(5));  // of the third version
  const std::string version = type.substr(std::string_view("FusedBatchNorm").size());
  const tensor_info channels = info_like(c.input(1));
  const tensor_info nothing{c.input(1).type(), vector_of(0)};
  const graph_operation made = g.named().raw(g, "FusedBatchNormGrad" + version, inputs,
                                             c.attributes({"T", "U", "epsilon", "data_format", "is_training"}),
                                             {info_like(c.input(0)), channels, channels, nothing, nothing});
  return {made.result(0), made.result(1), made.result(2)};
}
inline gradient_list gradient_of_channel_norm(const gradient_call& c) {
  return {
      image_node(c, "LRNGrad", {c.dy(), c.input(0), c.result()}, {"T", "depth_radius", "bias", "alpha", "beta"}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_mirror_pad(const gradient_call& c) {
  return {image_node(c, "MirrorPadGrad", {c.dy(), c.input(1)}, {"T", "Tpaddings", "mode"}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_mirror_pad_grad(const gradient_call& c) {
  return {image_node(c, "MirrorPad", {c.dy(), c.input(1)}, {"T", "Tpaddings", "mode"}, info_like(c.input(0)))};
}
// The rows and columns of images, as the sizes that the gradient is resized to.
inline output image_sizes(const output& images) {
  const shape& s = images.extent();
  if (s.rank == 4 && s[1] >= 0 && s[2] >= 0)
    return constant(std::vector<std::int32_t>{static_cast<std::int32_t>(s[1]), static_cast<std::int32_t>(s[2])});
  return raw_named(images.owner(), "StridedSlice", "strided_slice",
                   {{"input", shape_of(images)},
                    {"stack", tensor_literal({1})},
                    {"stack_1", tensor_literal({3})},
                    {"stack_2", tensor_literal({1})}},
                   {{"T", dtype::int32},
                    {"Index", dtype::int32},
                    {"begin_mask", 0},
                    {"end_mask", 0},
                    {"ellipsis_mask", 0},
                    {"new_axis_mask", 0},
                    {"shrink_axis_mask", 0}},
                   {{dtype::int32, vector_of(2)}}, std::source_location())
      .result();
}
inline gradient_list gradient_of_resize_nearest(const gradient_call& c) {
  const output dy = c.dy();
  const output sizes = image_sizes(c.input(0));
  return {image_node(c, "ResizeNearestNeighborGrad", {dy, sizes}, {"T", "align_corners", "half_pixel_centers"}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_resize_bilinear(const gradient_call& c) {
  return {image_node(c, "ResizeBilinearGrad", {c.dy(), c.input(0)}, {"T", "align_corners", "half_pixel_centers"}, info_like(c.input(0)))};
}
template <bool IntoChannels>
gradient_list gradient_of_blocks(const gradient_call& c) {
  return {
      image_node(c, IntoChannels ? "DepthToSpace" : "SpaceToDepth", {c.dy()}, {"T", "block_size", "data_format"}, info_like(c.input(0)))};
}
// The paddings of one are the crops of the other.
inline gradient_list exchanged_batches(const gradient_call& c, std::string_view type, std::string_view from, std::string_view to) {
  attribute_map settings = c.attributes({"T", "Tblock_shape"});
  const attribute_map pads = c.attributes({from});
  settings[to] = pads.empty() ? attribute_value(data_type::int32) : *pads.find(from);
  const std::vector<output> inputs{c.dy(), c.input(1), c.input(2)};
  return {c.owner().named().raw(c.owner(), type, inputs, std::move(settings), {info_like(c.input(0))}).result()};
}
inline gradient_list gradient_of_space_to_batch(const gradient_call& c) {
  return exchanged_batches(c, "BatchToSpaceND", "Tpaddings", "Tcrops");
}
// The older forms, of images, whose blocks are squares.
template <bool IntoBatch>
gradient_list gradient_of_image_blocks(const gradient_call& c) {
  const char *const from = IntoBatch ? "Tpaddings" : "Tidx", *const to = IntoBatch ? "Tidx" : "Tpaddings";
  attribute_map settings = c.attributes({"T", "block_size"});
  const attribute_map border = c.attributes({from});
  settings[to] = border.empty() ? attribute_value(data_type::int32) : *border.find(from);
  const std::vector<output> inputs{c.dy(), c.input(1)};
  return {c.owner()
              .named()
              .raw(c.owner(), IntoBatch ? "BatchToSpace" : "SpaceToBatch", inputs, std::move(settings), {info_like(c.input(0))})
              .result()};
}
inline gradient_list gradient_of_batch_to_space(const gradient_call& c) {
  return exchanged_batches(c, "SpaceToBatchND", "Tcrops", "Tpaddings");
}

// TensorFlow gives the images of these dtypes alone a gradient.
inline bool is_fraction(const output& o) { return o.type() == dtype::float32 || o.type() == dtype::float64; }
inline gradient_list gradient_of_resize_cubic(const gradient_call& c) {
  if (!is_fraction(c.input(0))) return {};
  return {image_node(c, "ResizeBicubicGrad", {c.dy(), c.input(0)}, {"T", "align_corners", "half_pixel_centers"}, info_like(c.input(0)))};
}
inline gradient_list gradient_of_crops(const gradient_call& c) {
  const output dy = c.dy(), image = c.input(0), boxes = c.input(1), indices = c.input(2);
  output by_image;
  if (is_fraction(image))
    by_image = image_node(c, "CropAndResizeGradImage", {dy, boxes, indices, shape_of(image)}, {"T", "method"}, info_like(image));
  return {by_image, image_node(c, "CropAndResizeGradBoxes", {dy, image, boxes, indices}, {"T"}, info_like(boxes))};
}
inline gradient_list gradient_of_dilation(const gradient_call& c) {
  const output dy = c.dy(), image = c.input(0), filter = c.input(1);
  const output by_image =
      image_node(c, "Dilation2DBackpropInput", {image, filter, dy}, {"T", "strides", "rates", "padding"}, info_like(image));
  return {by_image,
          image_node(c, "Dilation2DBackpropFilter", {image, filter, dy}, {"T", "strides", "rates", "padding"}, info_like(filter))};
}
/// The gradient of patches of images with so many axes of space: each pixel gets the sum over its copies. Patches of the pixels' numbers
/// say which they are; the pixels are counted from 1, and number 0 is outside the image.
template <int Axes>
gradient_list gradient_of_patches(const gradient_call& c) {
  const output images = c.input(0);
  const output sizes = shape_of(images);
  const output batch = index(sizes, {0});
  std::vector<output> space;
  for (int k = 1; k <= Axes; ++k) space.push_back(index(sizes, {k}));
  const output channels = index(sizes, {Axes + 1});
  output count = space[0] * space[1];
  for (std::size_t k = 2; k < space.size(); ++k) count = count * space[k];
  count = count + 1;
  const output one = images.owner().named().make_constant(images.owner(), std::int32_t{1}, "Const");
  space.insert(space.begin(), one);
  space.push_back(one);
  const output numbers = reshape(range_to(1, count), stack(space));
  attribute_map settings = c.attributes({"ksizes", "strides", "rates", "padding"});
  const output copies = reshape(call_operator(images.owner(), c.operation().type(), {numbers}, std::move(settings)).result(), {-1});
  const output slopes = transpose(reshape(c.dy(), stack({batch, element_count_of(copies), channels})), {1, 0, 2});
  const output sums = slice(unsorted_segment_sum(slopes, copies, count), {1, 0, 0}, {-1, -1, -1});
  return {reshape(transpose(sums, {1, 0, 2}), sizes)};
}
/// The slopes under the inverse transformations. Source: TensorFlow's gradient.
inline gradient_list gradient_of_projection(const gradient_call& c) {
  const output images = c.input(0), transforms = c.input(1);
  const output ones = ones_like(slice(transforms, {0, 0}, {-1, 1}));
  const output matrices = reshape(concat({transforms, ones}, 1), {-1, 3, 3});
  const output inverse = reshape(call_operator(images.owner(), "MatrixInverse", {matrices}).result(), {-1, 9});
  const output flat = slice(inverse / slice(inverse, {0, 8}, {-1, 1}), {0, 0}, {-1, 8});
  return {call_operator(images.owner(), "ImageProjectiveTransformV2", {c.dy(), flat, image_sizes(images)},
                        c.attributes({"interpolation", "fill_mode"}))
              .result()};
}
inline gradient_list gradient_of_scaling(const gradient_call& c) {
  return {call_operator(c.owner(), "ScaleAndTranslateGrad", {c.dy(), c.input(0), c.input(2), c.input(3)},
                        c.attributes({"kernel_type", "antialias"}))
              .result()};
}
inline gradient_list gradient_of_given_norm(const gradient_call& c) {
  const output x = c.input(0), mean = c.input(1), variance = c.input(2), gamma = c.input(4);
  const tensor_info channels = info_like(mean);
  const graph_operation made = c.owner().named().raw(
      c.owner(), "BatchNormWithGlobalNormalizationGrad", std::array{x, mean, variance, gamma, c.dy()},
      c.attributes({"T", "variance_epsilon", "scale_after_normalization"}), {info_like(x), channels, channels, channels, channels});
  return {made.result(0), made.result(1), made.result(2), made.result(3), made.result(4)};
}

LEAT_FILL(fill_image_gradients) {
  enter_gradients({
      {"FusedBatchNorm", gradient_of_batch_norm},
      {"FusedBatchNormV2", gradient_of_batch_norm},
      {"FusedBatchNormV3", gradient_of_batch_norm},
      {"LRN", gradient_of_channel_norm},
      {"MirrorPad", gradient_of_mirror_pad},
      {"MirrorPadGrad", gradient_of_mirror_pad_grad},
      {"ResizeNearestNeighbor", gradient_of_resize_nearest},
      {"ResizeBilinear", gradient_of_resize_bilinear},
      {"ResizeBicubic", gradient_of_resize_cubic},
      {"CropAndResize", gradient_of_crops},
      {"Dilation2D", gradient_of_dilation},
      {"ExtractImagePatches", gradient_of_patches<2>},
      {"ExtractVolumePatches", gradient_of_patches<3>},
      {"ImageProjectiveTransformV2", gradient_of_projection},
      {"ImageProjectiveTransformV3", gradient_of_projection},
      {"ScaleAndTranslate", gradient_of_scaling},
      {"BatchNormWithGlobalNormalization", gradient_of_given_norm},
      {"SpaceToDepth", gradient_of_blocks<true>},
      {"DepthToSpace", gradient_of_blocks<false>},
      {"SpaceToBatch", gradient_of_image_blocks<true>},
      {"BatchToSpace", gradient_of_image_blocks<false>},
      {"SpaceToBatchND", gradient_of_space_to_batch},
      {"BatchToSpaceND", gradient_of_batch_to_space},
  });
}

}  // namespace leat::detail
