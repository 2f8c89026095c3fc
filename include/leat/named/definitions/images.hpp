#pragma once
// Definitions of operators on images that have no typed form: normalization over a batch and over channels, resizing, padding by mirror
// images, the exchange of blocks of pixels for channels or batches, and colors. Source: TensorFlow's operators of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/nn.hpp>
#include <leat/ops/blocks.hpp>
#include <leat/ops/resize.hpp>

namespace leat::detail {

inline void normalized_shape(shape_context& c) {
  const shape& x = c.input(0).extent;
  const shape channels = x.has_rank() && x.rank > 1 ? shapes::vector_of(x[channels_first(c) ? 1 : x.rank - 1]) : shapes::vector_of(-1);
  for (int k = 1; k < c.result_count(); ++k) c.set(k, k < 5 ? channels : shape{});
  c.set(0, x);
}
inline void normalized_gradient_shape(shape_context& c) {
  const shape& x = c.input(1).extent;
  const shape channels = x.has_rank() && x.rank > 1 ? shapes::vector_of(x[channels_first(c) ? 1 : x.rank - 1]) : shapes::vector_of(-1);
  c.set(0, x);
  for (int k = 1; k < 3; ++k) c.set(k, channels);
  for (int k = 3; k < c.result_count(); ++k) c.set(k, shapes::vector_of(0));
}
/// Images [batch, h, w, channels] of the size that input 1 holds.
inline void resized_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, 1, 1);
  const shape& images = c.input(0).extent;
  const auto sizes = c.numbers(1);
  if (sizes && sizes->size() != 2) c.fail("size must have 2 elements, not " + std::to_string(sizes->size()));
  const auto size = [&](std::size_t k) { return sizes && (*sizes)[k] >= 0 ? (*sizes)[k] : unknown_dimension; };
  shape result;
  for (int k = 0; k < 4; ++k) result.push(images.has_rank() ? images[k] : unknown_dimension);
  result = rule::of_resized::resized(result, size(0), size(1));
  c.set(0, result);
}
/// Each axis with its padding before and behind.
inline void padded_shape(shape_context& c) {
  const shape& x = c.input(0).extent;
  if (!x.has_rank()) return;
  shape result;
  const auto paddings = c.numbers(1);
  for (int i = 0; i < x.rank; ++i) {
    const auto at = static_cast<std::size_t>(2 * i);
    const bool is_known = paddings && at + 1 < paddings->size() && (*paddings)[at] >= 0 && (*paddings)[at + 1] >= 0 && x[i] >= 0;
    result.push(is_known && (*paddings)[at] <= max_elements && (*paddings)[at + 1] <= max_elements
                    ? x[i] + (*paddings)[at] + (*paddings)[at + 1]
                    : unknown_dimension);
  }
  c.set(0, result);
}
inline void any_of_rank(shape_context& c) {
  const shape& x = c.input(0).extent;
  if (!x.has_rank()) return;
  shape result;
  for (int i = 0; i < x.rank; ++i) result.push(unknown_dimension);
  c.set(0, result);
}
/// Blocks of block_size x block_size pixels become channels, or channels blocks.
template <bool IntoChannels>
void block_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  const shape& x = c.input(0).extent;
  if (!x.has_rank()) return;
  const std::int64_t block = c.integer("block_size");
  if (block < 2) c.fail("Block size should be > 1, but was: " + std::to_string(block));
  const int space = channels_first(c) ? 2 : 1, channel = channels_first(c) ? 1 : 3;
  const block_exchange made = exchanged_blocks(x, block, IntoChannels, space, channel);
  if (made.too_large) c.fail("block size " + std::to_string(block) + " is too large");
  if (!made.fits())
    c.fail("Dimension size must be evenly divisible by " + std::to_string(made.divisor) + " but is " + std::to_string(x[made.axis]));
  c.set(0, made.result);
}

/// Images in blocks of block_size x block_size pixels, whose pixels are in as many images, after a border was added (`IntoBatch`), or the
/// images of such blocks, without a border.
template <bool IntoBatch>
void image_blocks_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, 1, 2);
  const shape &x = c.input(0).extent, &borders = c.input(1).extent;
  if (borders.has_rank() && !(may_equal(borders[0], 2) && may_equal(borders[1], 2)))
    c.fail("paddings and crops have the shape [2,2], not " + leat::shape_text(borders));
  const std::int64_t block = c.integer("block_size");
  if (!x.has_rank() || block < 2 || block > INT32_MAX) return;
  const std::int64_t all = block * block;
  std::int64_t batches = unknown_dimension;
  if (x[0] >= 0 && !IntoBatch) {
    if (x[0] % all != 0) c.fail("Dimension size must be evenly divisible by " + std::to_string(all) + " but is " + std::to_string(x[0]));
    batches = x[0] / all;
  }
  if (x[0] >= 0 && IntoBatch && !multiplies(x[0], all, batches)) c.fail("a result of more than 2^44 elements, which no memory holds");
  shape result;
  for (const std::int64_t size : {batches, unknown_dimension, unknown_dimension, x[3]}) result.push(size);
  c.set(0, result);
}
/// Images of at least `Least` dimensions, with three colors in the last one, or any number of channels.
template <int Least, bool AreColors>
void colored_shape(shape_context& c) {
  const shape& s = c.input(0).extent;
  if (s.has_rank() && s.rank < Least)
    c.fail("Shape must be at least rank " + std::to_string(Least) + " but is rank " + std::to_string(s.rank));
  if (AreColors && s.has_rank() && !may_equal(s[s.rank - 1], 3)) c.fail("Dimension must be 3 but is " + std::to_string(s[s.rank - 1]));
  if (c.input_count() > 1) shapes::want_rank(c, 1, 0);
  c.set(0, s);
}
/// Images with boxes [batch, boxes, 4] drawn on them, in colors [count, channels] if a third input holds some.
inline void drawn_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, 1, 3);
  if (c.input_count() > 2) shapes::want_rank(c, 2, 2);
  c.set(0, c.input(0).extent);
}
/// Crops [boxes, rows, columns, channels] of images.
inline void crops_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, 1, 2);
  const shape &images = c.input(0).extent, &boxes = c.input(1).extent;
  const auto sizes = c.numbers(3);
  if (sizes && sizes->size() != 2) c.fail("crop_size must have two elements, not " + std::to_string(sizes->size()));
  shape result;
  result.push(boxes.has_rank() ? boxes[0] : unknown_dimension);
  for (std::size_t k = 0; k < 2; ++k) result.push(sizes && (*sizes)[k] >= 0 ? (*sizes)[k] : unknown_dimension);
  result.push(images.has_rank() ? images[3] : unknown_dimension);
  c.set(0, result);
}
/// Lists of boxes that were selected, and how many there are.
inline void selected_shape(shape_context& c) {
  shapes::want_rank(c, 0, 2);
  shapes::want_rank(c, 1, 1);
  const auto most = shapes::number(c, 2);
  const shape list = shapes::vector_of(c.flag("pad_to_max_output_size") && most && *most >= 0 ? *most : unknown_dimension);
  c.set(0, list);
  if (c.result_count() == 3) c.set(1, list);
  if (c.result_count() > 1) c.set(c.result_count() - 1, shape{});
}
/// Images by a filter [h, w, channels] in windows with `rates` between their elements.
inline void dilated_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, 1, 3);
  const shape &image = c.input(0).extent, &filter = c.input(1).extent;
  if (!image.has_rank() || !filter.has_rank()) return;
  shape result = image;
  for (int i = 0; i < 2; ++i) {
    std::int64_t window = filter[i];
    const std::int64_t rate = attribute_at(c, "rates", i + 1, 1);
    if (window > 1) {
      if (rate < 1 || !multiplies(window - 1, rate, window) || window >= max_elements)
        c.fail("rate " + std::to_string(rate) + " of a filter of " + std::to_string(filter[i]));
      ++window;
    }
    result.dim[i + 1] = windows(c, image[i + 1], window, attribute_at(c, "strides", i + 1, 1));
  }
  c.set(0, result);
}
/// Images in windows of `ksizes`, whose elements become channels.
inline void patches_shape(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  const shape& image = c.input(0).extent;
  if (!image.has_rank()) return;
  shape result = image;
  for (int i = 1; i < 3; ++i) {
    const std::int64_t window = attribute_at(c, "ksizes", i, 1), rate = attribute_at(c, "rates", i, 1);
    if (window < 1 || rate < 1) c.fail("windows of " + std::to_string(window) + " elements with rate " + std::to_string(rate));
    result.dim[i] = windows(c, image[i], window, attribute_at(c, "strides", i, 1), rate);
    if (result[3] >= 0 && !multiplies(result[3], window, result.dim[3])) c.fail("patches of more than 2^63 elements");
  }
  c.set(0, result);
}
/// Images of the rows and columns that input `K` holds.
template <int K>
void images_of_size(shape_context& c) {
  shapes::want_rank(c, 0, 4);
  shapes::want_rank(c, K, 1);
  const shape& images = c.input(0).extent;
  const auto sizes = c.numbers(K);
  if (sizes && sizes->size() != 2) c.fail("sizes must be two numbers, not " + std::to_string(sizes->size()));
  const auto size = [&](std::size_t k) { return sizes && (*sizes)[k] >= 0 ? (*sizes)[k] : unknown_dimension; };
  shape result;
  for (const std::int64_t n : {images.has_rank() ? images[0] : unknown_dimension, size(0), size(1),
                               images.has_rank() ? images[3] : unknown_dimension})
    result.push(n);
  c.set(0, result);
}
/// Volumes in windows of `ksizes`, whose elements become channels.
inline void volume_patches_shape(shape_context& c) {
  shapes::want_rank(c, 0, 5);
  const shape& volume = c.input(0).extent;
  if (!volume.has_rank()) return;
  shape result = volume;
  for (int i = 1; i < 4; ++i) {
    const std::int64_t window = attribute_at(c, "ksizes", i, 1), stride = attribute_at(c, "strides", i, 1);
    if (window < 1 || stride < 1) return;  // the kernel refuses them
    result.dim[i] = windows(c, volume[i], window, stride);
    if (result[4] >= 0 && !multiplies(result[4], window, result.dim[4])) c.fail("patches of more than 2^63 elements");
  }
  c.set(0, result);
}
inline void given_normalized_gradient_shape(shape_context& c) {
  c.set(0, c.input(0).extent);
  for (int k = 1; k < c.result_count(); ++k) c.set(k, c.input(1).extent);
}

LEAT_FILL(fill_image_definitions) {
  constexpr facts pure{.is = nature::pure};
  constexpr facts moves{.is = nature::pure, .narrow = narrow_rule::moves};
  const std::string norm = "epsilon: float = 0.0001; data_format: string = \"NHWC\"; is_training: bool = true";
  const std::string factor = "; exponential_avg_factor: float = 1.0";
  const std::string results = "batch_mean: U, batch_variance: U, reserve_space_1: U, reserve_space_2: U";
  define_operator(
      "FusedBatchNorm(x: T, scale: T, offset: T, mean: T, variance: T) -> (y: T, batch_mean: T, batch_variance: T, reserve_space_1: T, "
      "reserve_space_2: T); " +
          norm + factor,
      pure, normalized_shape);
  define_operator("FusedBatchNormV2(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, " + results + "); " + norm + factor, pure,
                  normalized_shape);
  define_operator(
      "FusedBatchNormV3(x: T, scale: U, offset: U, mean: U, variance: U) -> (y: T, " + results + ", reserve_space_3: U); " + norm + factor,
      pure, normalized_shape);
  define_operator(
      "FusedBatchNormGrad(y_backprop: T, x: T, scale: T, reserve_space_1: T, reserve_space_2: T) -> (x_backprop: T, scale_backprop: T, "
      "offset_backprop: T, reserve_space_3: T, reserve_space_4: T); " +
          norm,
      pure, normalized_gradient_shape);
  const std::string slopes = "(x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_3: U, reserve_space_4: U); ";
  define_operator("FusedBatchNormGradV2(y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U) -> " + slopes + norm,
                  pure, normalized_gradient_shape);
  const std::string slopes_3 = "(x_backprop: T, scale_backprop: U, offset_backprop: U, reserve_space_4: U, reserve_space_5: U); ";
  define_operator(
      "FusedBatchNormGradV3(y_backprop: T, x: T, scale: float32, reserve_space_1: U, reserve_space_2: U, reserve_space_3: U) -> " +
          slopes_3 + norm,
      pure, normalized_gradient_shape);

  const std::string window = "depth_radius: int = 5; bias: float = 1.0; alpha: float = 1.0; beta: float = 0.5";
  define_operator("LRN(input: T) -> (output: T); T: type = float32; " + window, pure, shapes::like<0>);
  define_operator("LRNGrad(input_grads: T, input_image: T, output_image: T) -> (output: T); T: type = float32; " + window, pure,
                  shapes::like<0>);

  define_operator(
      "MaxPoolGradGrad(orig_input: T, orig_output: T, grad: T) -> (output: T); ksize: list(int); strides: list(int); padding: string; "
      "data_format: string = \"NHWC\"",
      pure, shapes::like<1>);

  const std::string mode = "; mode: string; Tpaddings: {int32, int64} = int32";
  define_operator("MirrorPad(input: T, paddings: Tpaddings) -> (output: T)" + mode, moves, padded_shape);
  define_operator("MirrorPadGrad(input: T, paddings: Tpaddings) -> (output: T)" + mode, pure, any_of_rank);
  define_operator("PadV2(input: T, paddings: Tpaddings, constant_values: T) -> (output: T); Tpaddings: {int32, int64} = int32", moves,
                  padded_shape);

  const std::string corners = "align_corners: bool = false; half_pixel_centers: bool = false";
  define_operator("ResizeNearestNeighbor(images: T, size: int32) -> (resized_images: T); " + corners, pure, resized_shape);
  define_operator("ResizeNearestNeighborGrad(grads: T, size: int32) -> (output: T); " + corners, pure, resized_shape);
  define_operator("ResizeBilinear(images: T, size: int32) -> (resized_images: float32); " + corners, pure, resized_shape);
  define_operator("ResizeBilinearGrad(grads: float32, original_image: T) -> (output: T); " + corners, pure, shapes::like<1>);

  define_operator("ResizeBicubic(images: T, size: int32) -> (resized_images: float32); " + corners, pure, resized_shape);
  define_operator("ResizeBicubicGrad(grads: float32, original_image: T) -> (output: T); " + corners, pure, shapes::like<1>);
  define_operator("ResizeArea(images: T, size: int32) -> (resized_images: float32); align_corners: bool = false", pure, resized_shape);

  const std::string given = "variance_epsilon: float; scale_after_normalization: bool";
  define_operator("BatchNormWithGlobalNormalization(t: T, m: T, v: T, beta: T, gamma: T) -> (result: T); " + given, pure, shapes::like<0>);
  define_operator("BatchNormWithGlobalNormalizationGrad(t: T, m: T, v: T, gamma: T, backprop: T) -> (dx: T, dm: T, dv: T, db: T, dg: T); " +
                      given,
                  pure, given_normalized_gradient_shape);

  const std::string method = "; method: string = \"bilinear\"";
  define_operator("CropAndResize(image: T, boxes: float32, box_ind: int32, crop_size: int32) -> (crops: float32)" + method +
                      "; extrapolation_value: float = 0.0",
                  pure, crops_shape);
  define_operator("CropAndResizeGradImage(grads: float32, boxes: float32, box_ind: int32, image_size: int32) -> (output: T); T: {float32, "
                  "float64, half}" + method,
                  pure, held_shape<3>);
  define_operator("CropAndResizeGradBoxes(grads: float32, image: T, boxes: float32, box_ind: int32) -> (output: float32)" + method, pure,
                  shapes::like<2>);

  constexpr facts selects{.is = nature::pure, .stops_gradient = true};
  define_operator("NonMaxSuppression(boxes: float32, scores: float32, max_output_size: int32) -> (selected_indices: int32); iou_threshold: "
                  "float = 0.5",
                  selects, selected_shape);
  const std::string limits = "(boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold";
  const std::string types = "; T: type = float32; T_threshold: type = float32";
  const std::string padded = "; pad_to_max_output_size: bool = false";
  define_operator("NonMaxSuppressionV2" + limits + ") -> (selected_indices: int32)" + types, selects, selected_shape);
  define_operator("NonMaxSuppressionV3" + limits + ", score_threshold: T_threshold) -> (selected_indices: int32)" + types, selects,
                  selected_shape);
  define_operator("NonMaxSuppressionV4" + limits + ", score_threshold: T_threshold) -> (selected_indices: int32, valid_outputs: int32)" +
                      types + padded,
                  selects, selected_shape);
  define_operator("NonMaxSuppressionV5(boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, soft_nms_sigma: "
                  "T) -> (selected_indices: int32, selected_scores: T, valid_outputs: int32); T: type = float32" + padded,
                  selects, selected_shape);
  define_operator("NonMaxSuppressionWithOverlaps(overlaps: float32, scores: float32, max_output_size: int32, overlap_threshold: float32, "
                  "score_threshold: float32) -> (selected_indices: int32)",
                  selects, selected_shape);

  // A part of an image, as operands of Slice, and as fractions of its height and width.
  const auto sampled = [](shape_context& c) {
    shapes::want_rank(c, 0, 1);
    shapes::want_rank(c, 1, 3);
    if (const shape& s = c.input(0).extent; s.has_rank() && s[0] >= 0 && s[0] != 3)
      c.fail("image_size must contain 3 elements, not " + std::to_string(s[0]));
    if (const shape& s = c.input(1).extent; s.has_rank() && s[2] >= 0 && s[2] != 4)
      c.fail("bounding boxes must have 4 coordinates, not " + std::to_string(s[2]));
    shape box = shapes::vector_of(1);
    for (const std::int64_t n : {1, 4}) box.push(n);
    c.set(0, shapes::vector_of(3));
    c.set(1, shapes::vector_of(3));
    c.set(2, box);
  };
  constexpr facts samples{.is = nature::random, .work = work_kind::none, .stops_gradient = true};
  const std::string seeds = "seed: int = 0; seed2: int = 0; ";
  const std::string box_results = " -> (begin: T, size: T, bboxes: float32); T: {uint8, int8, int16, int32, int64}; ";
  const std::string box_ranges =
      "aspect_ratio_range: list(float) = [0.75, 1.33]; area_range: list(float) = [0.05, 1.0]; max_attempts: int = 100; "
      "use_image_if_no_bounding_boxes: bool = false";
  define_operator("SampleDistortedBoundingBox(image_size: T, bounding_boxes: float32)" + box_results + seeds +
                      "min_object_covered: float = 0.1; " + box_ranges,
                  samples, sampled);
  define_operator("SampleDistortedBoundingBoxV2(image_size: T, bounding_boxes: float32, min_object_covered: float32)" + box_results +
                      seeds + box_ranges,
                  samples, sampled);
  define_operator("StatelessSampleDistortedBoundingBox(image_size: T, bounding_boxes: float32, min_object_covered: float32, seed: Tseed)" +
                      box_results + "Tseed: {int32, int64}; " + box_ranges,
                  {.is = nature::pure, .work = work_kind::none, .stops_gradient = true}, sampled);
  define_operator("RandomCrop(image: T, size: int64) -> (output: T); " + seeds + "T: {uint8, int8, int16, int32, int64, float32, float64}",
                  {.is = nature::random, .narrow = narrow_rule::moves, .values = {1, 1}, .stops_gradient = true}, [](shape_context& c) {
                    shapes::want_rank(c, 0, 3);
                    shapes::want_rank(c, 1, 1);
                    const auto sizes = c.numbers(1);
                    if (sizes && sizes->size() != 2) c.fail("size must have two elements, not " + std::to_string(sizes->size()));
                    shape result;
                    for (std::size_t k = 0; k < 2; ++k) result.push(sizes && (*sizes)[k] >= 0 ? (*sizes)[k] : unknown_dimension);
                    result.push(c.input(0).extent.has_rank() ? c.input(0).extent[2] : unknown_dimension);
                    c.set(0, result);
                  });

  define_operator(
      "CombinedNonMaxSuppression(boxes: float32, scores: float32, max_output_size_per_class: int32, max_total_size: int32, "
      "iou_threshold: float32, score_threshold: float32) -> (nmsed_boxes: float32, nmsed_scores: float32, nmsed_classes: float32, "
      "valid_detections: int32); pad_per_class: bool = false; clip_boxes: bool = true",
      selects, [](shape_context& c) {
        shapes::want_rank(c, 0, 4);
        shapes::want_rank(c, 1, 3);
        for (int k = 2; k < 6; ++k) shapes::want_rank(c, k, 0);
        const std::int64_t batch = c.input(0).extent.has_rank() ? c.input(0).extent[0] : unknown_dimension;
        const std::int64_t classes = c.input(1).extent.has_rank() ? c.input(1).extent[2] : unknown_dimension;
        const auto each = shapes::number(c, 2), all = shapes::number(c, 3);
        std::int64_t width = all && *all >= 0 ? *all : unknown_dimension;
        if (c.flag("pad_per_class")) {
          const bool is_known = width >= 0 && classes >= 0 && each && *each >= 0;
          width = is_known ? std::min(width, *each * classes) : unknown_dimension;
        }
        shape list = shapes::vector_of(batch);
        list.push(width);
        shape boxes = list;
        boxes.push(4);
        c.set(0, boxes);
        c.set(1, list);
        c.set(2, list);
        c.set(3, shapes::vector_of(batch));
      });
  const std::string projected = " -> (transformed_images: dtype); interpolation: string; fill_mode: string = \"CONSTANT\"";
  define_operator("ImageProjectiveTransformV2(images: dtype, transforms: float32, output_shape: int32)" + projected, pure,
                  images_of_size<2>);
  define_operator("ImageProjectiveTransformV3(images: dtype, transforms: float32, output_shape: int32, fill_value: float32)" + projected,
                  pure, images_of_size<2>);
  for (const char* type : {"ExtractGlimpse", "ExtractGlimpseV2"})
    define_operator(type + std::string("(input: float32, size: int32, offsets: float32) -> (glimpse: float32); centered: bool = true; "
                                       "normalized: bool = true; uniform_noise: bool = true; noise: string = \"uniform\""),
                    {.is = nature::random, .stops_gradient = true}, [](shape_context& c) {
                      shapes::want_rank(c, 2, 2);
                      images_of_size<1>(c);
                    });
  const std::string scaled = "kernel_type: string = \"lanczos3\"; antialias: bool = true";
  define_operator("ScaleAndTranslate(images: T, size: int32, scale: float32, translation: float32) -> (resized_images: float32); " + scaled,
                  pure, images_of_size<1>);
  define_operator(
      "ScaleAndTranslateGrad(grads: T, original_image: T, scale: float32, translation: float32) -> (output: T); T: {float32}; " + scaled,
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 4);
        shapes::want_rank(c, 1, 4);
        if (!c.input(0).extent.has_rank() || !c.input(1).extent.has_rank()) return;
        shape result = c.input(1).extent;
        for (const int k : {0, 3}) result.dim[k] = c.input(0).extent[k];
        c.set(0, result);
      });
  define_operator("ExtractVolumePatches(input: T) -> (patches: T); ksizes: list(int); strides: list(int); padding: string", moves,
                  volume_patches_shape);

  const std::string rates = "strides: list(int); rates: list(int); padding: string";
  define_operator("Dilation2D(input: T, filter: T) -> (output: T); " + rates, pure, dilated_shape);
  define_operator("Dilation2DBackpropInput(input: T, filter: T, out_backprop: T) -> (in_backprop: T); " + rates, pure, shapes::like<0>);
  define_operator("Dilation2DBackpropFilter(input: T, filter: T, out_backprop: T) -> (filter_backprop: T); " + rates, pure,
                  shapes::like<1>);

  define_operator("ExtractImagePatches(images: T) -> (patches: T); ksizes: list(int); " + rates, pure, patches_shape);

  const std::string block = "block_size: int >= 2; data_format: string = \"NHWC\"";
  define_operator("SpaceToDepth(input: T) -> (output: T); " + block, moves, block_shape<true>);
  define_operator("DepthToSpace(input: T) -> (output: T); " + block, moves, block_shape<false>);
  const std::string blocks = "Tblock_shape: {int32, int64} = int32; ";
  define_operator("SpaceToBatchND(input: T, block_shape: Tblock_shape, paddings: Tpaddings) -> (output: T); " + blocks +
                      "Tpaddings: {int32, int64} = int32",
                  moves, any_of_rank);
  define_operator(
      "BatchToSpaceND(input: T, block_shape: Tblock_shape, crops: Tcrops) -> (output: T); " + blocks + "Tcrops: {int32, int64} = int32",
      moves, any_of_rank);
  define_operator("SpaceToBatch(input: T, paddings: Tpaddings) -> (output: T); Tpaddings: {int32, int64} = int32; block_size: int >= 2",
                  moves, image_blocks_shape<true>);
  define_operator("BatchToSpace(input: T, crops: Tidx) -> (output: T); block_size: int >= 2; Tidx: {int32, int64} = int32", moves,
                  image_blocks_shape<false>);

  const std::string of_float = "; T: {half, float32} = float32";
  define_operator("AdjustContrastv2(images: T, contrast_factor: float32) -> (output: T)" + of_float, pure, colored_shape<3, false>);
  define_operator("AdjustContrast(images: T, contrast_factor: float32, min_value: float32, max_value: float32) -> (output: float32)", pure,
                  [](shape_context& c) {
                    for (const int k : {2, 3}) shapes::want_rank(c, k, 0);
                    colored_shape<3, false>(c);
                  });
  define_operator("AdjustHue(images: T, delta: float32) -> (output: T)" + of_float, pure, colored_shape<3, true>);
  define_operator("AdjustSaturation(images: T, scale: float32) -> (output: T)" + of_float, pure, colored_shape<3, true>);
  const std::string converted = "(images: T) -> (output: T); T: {half, float32, float64} = float32";
  define_operator("RGBToHSV" + converted, pure, colored_shape<1, true>);
  define_operator("HSVToRGB" + converted, {.is = nature::pure, .stops_gradient = true}, colored_shape<1, true>);
  const std::string drawn = "(images: T, boxes: float32";
  define_operator("DrawBoundingBoxes" + drawn + ") -> (output: T)" + of_float, {.is = nature::pure, .stops_gradient = true}, drawn_shape);
  define_operator("DrawBoundingBoxesV2" + drawn + ", colors: float32) -> (output: T)" + of_float, pure, drawn_shape);
}

}  // namespace leat::detail
