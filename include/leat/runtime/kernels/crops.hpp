#pragma once
// Kernels that cut boxes out of images [batch, h, w, channels] and resize them, and the gradients by the images and by the boxes. A box is
// y1, x1, y2, x2, as fractions of an image, of which 0 and 1 are the centers of the first and last pixel. Source: TensorFlow
// `CropAndResize` and its gradients.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <array>
#include <cmath>

namespace leat::runtime {

/// Where the pixels of a crop lie along one axis of an image, in float32 as in TensorFlow.
class cropped_axis {
 public:
  cropped_axis(float first, float last, std::int64_t size, std::int64_t count)
      : first_(first),
        last_(last),
        end_(static_cast<float>(size - 1)),
        is_one_(count == 1),
        ratio_(is_one_ ? 0 : end_ / static_cast<float>(count - 1)),
        step_(is_one_ ? 0 : (last - first) * end_ / static_cast<float>(count - 1)) {}
  float at(std::int64_t k) const { return is_one_ ? 0.5f * (first_ + last_) * end_ : first_ * end_ + static_cast<float>(k) * step_; }
  /// Whether a position lies in the image; NaN does not.
  bool is_inside(float position) const { return position >= 0 && position <= end_; }
  /// How a position changes with the box's first and last coordinate.
  float by_first(std::int64_t k) const { return is_one_ ? 0.5f * end_ : end_ - static_cast<float>(k) * ratio_; }
  float by_last(std::int64_t k) const { return is_one_ ? 0.5f * end_ : static_cast<float>(k) * ratio_; }

 private:
  float first_, last_, end_;
  bool is_one_;
  float ratio_, step_;
};

/// Boxes of images and the sizes of their crops.
struct crop_sizes {
  std::int64_t batch, h, w, channels, boxes, rows, columns;

  crop_sizes(const shape& image, std::int64_t its_boxes, std::int64_t its_rows, std::int64_t its_columns)
      : batch(image[0]), h(image[1]), w(image[2]), channels(image[3]), boxes(its_boxes), rows(its_rows), columns(its_columns) {
    if (h < 1 || w < 1) throw invalid_argument("image dimensions must be positive, not " + brackets(image));
    if (rows < 1 || columns < 1) throw invalid_argument("crop dimensions must be positive");
    if (std::max(std::max(h, w), std::max(rows, columns)) > INT32_MAX) throw invalid_argument("sizes must be at most max int32");
  }
  shape crops() const {
    shape s;
    for (const std::int64_t n : {boxes, rows, columns, channels}) s.push(n);
    return s;
  }
  std::int64_t pixel(std::int64_t image, std::int64_t y, std::int64_t x) const { return ((image * h + y) * w + x) * channels; }
};
inline const shape& four_axes(const tensor_value& v, std::string_view what) {
  if (v.extent().rank != 4) throw invalid_argument(std::string(what) + " must be 4-D, not " + brackets(v.extent()));
  return v.extent();
}
/// The images of the boxes. Errors: invalid_argument for boxes or indices of the wrong shape; out_of_range for an image that does not
/// exist.
inline std::vector<std::int64_t> images_of_boxes(kernel_context& c, int boxes, std::int64_t batch) {
  const shape &s = c.extent(boxes), &indices = c.extent(boxes + 1);
  if (s.rank != 2) throw invalid_argument("boxes must be 2-D, not " + brackets(s));
  if (s[1] != 4) throw invalid_argument("boxes must have 4 columns, not " + brackets(s));
  if (indices.rank != 1) throw invalid_argument("box_index must be 1-D, not " + brackets(indices));
  if (indices[0] != s[0]) throw invalid_argument("box_index has incompatible shape: " + brackets(indices) + " for boxes " + brackets(s));
  const auto images = c.numbers(boxes + 1);
  for (const std::int64_t i : images)
    if (i < 0 || i >= batch) throw out_of_range("box_index has values outside [0, batch_size)");
  return images;
}

inline void want_crops(const shape& given, const crop_sizes& s) {
  if (!(given == s.crops()))
    throw invalid_argument("grads has the shape " + brackets(given) + ", where " + brackets(s.crops()) + " is expected");
}

/// A pixel of a crop whose place lies in the image.
struct crop_pixel {
  std::int64_t box, y, x, at;  // `at`: its first channel in the crops
  const cropped_axis &rows, &columns;
  float in_y, in_x;
};
/// Calls inside(pixel) for the pixels of one box's crop that lie in the image, `outside(first channel)` for the others. Pixels without
/// channels are none.
template <class Inside, class Outside>
void for_each_crop_pixel(const crop_sizes& s, const float* boxes, std::int64_t box, Inside inside, Outside outside) {
  if (s.channels == 0) return;
  const float* const corner = boxes + 4 * box;
  const cropped_axis rows(corner[0], corner[2], s.h, s.rows), columns(corner[1], corner[3], s.w, s.columns);
  for (std::int64_t y = 0; y < s.rows; ++y)
    for (std::int64_t x = 0; x < s.columns; ++x) {
      const std::int64_t at = ((box * s.rows + y) * s.columns + x) * s.channels;
      const float in_y = rows.at(y), in_x = columns.at(x);
      if (rows.is_inside(in_y) && columns.is_inside(in_x)) inside(crop_pixel{box, y, x, at, rows, columns, in_y, in_x});
      else outside(at);
    }
}
/// The four pixels of an image around a place, and its distances from the first.
struct four_pixels {
  std::int64_t top_left, top_right, bottom_left, bottom_right;
  float right, down;
  four_pixels(const crop_sizes& s, std::int64_t image, float y, float x) : right(x - std::floor(x)), down(y - std::floor(y)) {
    const auto top = static_cast<std::int64_t>(std::floor(y)), bottom = std::min(static_cast<std::int64_t>(std::ceil(y)), s.h - 1);
    const auto left = static_cast<std::int64_t>(std::floor(x)), right_of = std::min(static_cast<std::int64_t>(std::ceil(x)), s.w - 1);
    top_left = s.pixel(image, std::min(top, s.h - 1), std::min(left, s.w - 1));
    top_right = s.pixel(image, std::min(top, s.h - 1), right_of);
    bottom_left = s.pixel(image, bottom, std::min(left, s.w - 1));
    bottom_right = s.pixel(image, bottom, right_of);
  }
};
inline std::int64_t nearest_pixel(const crop_sizes& s, std::int64_t image, float y, float x) {
  const auto nearest = [](float at, std::int64_t size) { return std::min(static_cast<std::int64_t>(std::round(at)), size - 1); };
  return s.pixel(image, nearest(y, s.h), nearest(x, s.w));
}
inline bool is_nearest(const kernel_node& n) {
  const auto method = n.attribute<std::string>("method", "bilinear");
  if (method != "bilinear" && method != "nearest") throw invalid_argument("method must be 'bilinear' or 'nearest', not '" + method + "'");
  return method == "nearest";
}

inline void run_crop(kernel_context& c) {
  const tensor_value images = c.input(0), boxes = c.input(1);
  const shape& image = four_axes(images, "input image");
  const auto indices = images_of_boxes(c, 1, image[0]);
  if (c.extent(3).rank != 1) throw invalid_argument("crop_size must be 1-D, not " + brackets(c.extent(3)));
  const auto sizes = c.numbers(3);
  if (sizes.size() != 2) throw invalid_argument("crop_size must have two elements, not " + std::to_string(sizes.size()));
  const crop_sizes s(image, boxes.extent()[0], sizes[0], sizes[1]);
  const bool nearest = is_nearest(c.node);
  const float elsewhere = c.node.attribute<float>("extrapolation_value", 0);
  tensor_value made(dtype::float32, s.crops());
  float* const to = made.values<float>().data();
  with_number(images.type(), [&]<class T>(T) {
    const T* const from = images.values<T>().data();
    const auto value = [&](std::int64_t at) { return static_cast<float>(from[at]); };
    cpu::parallel_for(s.boxes, [&](std::int64_t box) {
      const std::int64_t of = indices[static_cast<std::size_t>(box)];
      const auto outside = [&](std::int64_t at) { std::fill_n(to + at, s.channels, elsewhere); };
      for_each_crop_pixel(
          s, boxes.values<float>().data(), box,
          [&](const crop_pixel& p) {
            if (nearest) {
              const std::int64_t pixel = nearest_pixel(s, of, p.in_y, p.in_x);
              for (std::int64_t k = 0; k < s.channels; ++k) to[p.at + k] = value(pixel + k);
              return;
            }
            const four_pixels four(s, of, p.in_y, p.in_x);
            for (std::int64_t k = 0; k < s.channels; ++k) {
              const float top = value(four.top_left + k) + (value(four.top_right + k) - value(four.top_left + k)) * four.right;
              const float bottom = value(four.bottom_left + k) + (value(four.bottom_right + k) - value(four.bottom_left + k)) * four.right;
              to[p.at + k] = top + (bottom - top) * four.down;
            }
          },
          outside);
    });
  });
  c.set(0, std::move(made));
}
inline void run_crop_back_to_images(kernel_context& c) {
  const tensor_value dy = c.input(0), boxes = c.input(1);
  const shape& crops = four_axes(dy, "grads image");
  if (c.extent(3).rank != 1) throw invalid_argument("image_size must be 1-D, not " + brackets(c.extent(3)));
  const auto sizes = c.numbers(3);
  if (sizes.size() != 4) throw invalid_argument("image_size must have 4 elements, not " + std::to_string(sizes.size()));
  const shape image = shape_from(sizes);
  const auto indices = images_of_boxes(c, 1, image[0]);
  const crop_sizes s(image, boxes.extent()[0], crops[1], crops[2]);
  want_crops(crops, s);
  const bool nearest = is_nearest(c.node);
  const dtype type = c.node.type_of("T", dtype::float32);
  with_fraction(type, [&]<class T>(T) {
    tensor_value made(type, image);
    T* const to = made.values<T>().data();
    const float* const slopes = dy.values<float>().data();
    std::fill_n(to, made.elements(), T(0));
    for (std::int64_t box = 0; box < s.boxes; ++box) {  // boxes overlap
      const std::int64_t of = indices[static_cast<std::size_t>(box)];
      for_each_crop_pixel(
          s, boxes.values<float>().data(), box,
          [&](const crop_pixel& p) {
            if (nearest) {
              const std::int64_t pixel = nearest_pixel(s, of, p.in_y, p.in_x);
              for (std::int64_t k = 0; k < s.channels; ++k) to[pixel + k] += static_cast<T>(slopes[p.at + k]);
              return;
            }
            const four_pixels four(s, of, p.in_y, p.in_x);
            for (std::int64_t k = 0; k < s.channels; ++k) {
              const float top = (1 - four.down) * slopes[p.at + k], bottom = four.down * slopes[p.at + k];
              to[four.top_left + k] += static_cast<T>((1 - four.right) * top);
              to[four.top_right + k] += static_cast<T>(four.right * top);
              to[four.bottom_left + k] += static_cast<T>((1 - four.right) * bottom);
              to[four.bottom_right + k] += static_cast<T>(four.right * bottom);
            }
          },
          [](std::int64_t) {});
    }
    c.set(0, std::move(made));
  });
}
inline void run_crop_back_to_boxes(kernel_context& c) {
  const tensor_value dy = c.input(0), images = c.input(1), boxes = c.input(2);
  const shape &crops = four_axes(dy, "grads image"), &image = four_axes(images, "input image");
  const auto indices = images_of_boxes(c, 2, image[0]);
  const crop_sizes s(image, boxes.extent()[0], crops[1], crops[2]);
  want_crops(crops, s);
  tensor_value made(dtype::float32, boxes.extent());
  float* const to = made.values<float>().data();
  const float* const slopes = dy.values<float>().data();
  std::fill_n(to, made.elements(), 0.0f);
  with_number(images.type(), [&]<class T>(T) {
    const T* const from = images.values<T>().data();
    const auto value = [&](std::int64_t at) { return static_cast<float>(from[at]); };
    cpu::parallel_for(s.boxes, [&](std::int64_t box) {
      float* const by = to + 4 * box;
      for_each_crop_pixel(
          s, boxes.values<float>().data(), box,
          [&](const crop_pixel& p) {
            const four_pixels four(s, indices[static_cast<std::size_t>(box)], p.in_y, p.in_x);
            for (std::int64_t k = 0; k < s.channels; ++k) {
              const float a = value(four.top_left + k), b = value(four.top_right + k);
              const float d = value(four.bottom_left + k), e = value(four.bottom_right + k);
              const float down = ((d - a) * (1 - four.right) + (e - b) * four.right) * slopes[p.at + k];
              const float across = ((b - a) * (1 - four.down) + (e - d) * four.down) * slopes[p.at + k];
              by[0] += down * p.rows.by_first(p.y);
              by[2] += down * p.rows.by_last(p.y);
              by[1] += across * p.columns.by_first(p.x);
              by[3] += across * p.columns.by_last(p.x);
            }
          },
          [](std::int64_t) {});
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_crop_kernels) {
  register_kernel("CropAndResize", run_crop);
  register_kernel("CropAndResizeGradImage", run_crop_back_to_images);
  register_kernel("CropAndResizeGradBoxes", run_crop_back_to_boxes);
}

}  // namespace leat::runtime
