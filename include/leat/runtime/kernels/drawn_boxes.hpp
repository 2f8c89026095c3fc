#pragma once
// Kernels that draw the outlines of boxes on images. Source: TensorFlow `DrawBoundingBoxes`, `DrawBoundingBoxesV2`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace leat::runtime {

/// The pixel of a position between 0, the first, and 1, the last of `size` pixels. A position that no integer can represent is left of the
/// image, as with TensorFlow on x86: a box that ends there is inverted.
inline std::int64_t pixel_at(float position, std::int64_t size) {
  const float at = position * static_cast<float>(size - 1);
  return at >= -0x1p63f && at < 0x1p63f ? static_cast<std::int64_t>(at) : std::numeric_limits<std::int64_t>::min();
}

/// The pixels from the first to the last of a box along an axis, which may lie outside of the image.
struct pixel_range {
  std::int64_t first, last, size;
  bool is_inverted() const { return first > last; }
  bool is_outside() const { return first >= size || last < 0; }
  bool has_first() const { return first >= 0; }
  bool has_last() const { return last < size; }
  std::int64_t first_inside() const { return std::max<std::int64_t>(first, 0); }
  std::int64_t last_inside() const { return std::min(last, size - 1); }
};

/// The colors that boxes have in turn, `channels` numbers each: those of input 2, or where there are none, TensorFlow's ten.
inline std::vector<float> colors_of_boxes(kernel_context& c, std::int64_t channels) {
  std::vector<float> all;
  const auto take = [&](const float* color) { all.insert(all.end(), color, color + channels); };
  if (c.input_count() > 2) {
    const tensor_value colors = c.input(2);
    const shape& s = colors.extent();
    if (s.rank != 2) throw invalid_argument("colors must be a 2-D matrix" + brackets(s));
    if (s[1] < channels) throw invalid_argument("colors must have equal or more channels than the image provided: " + brackets(s));
    for (std::int64_t k = 0; k < s[0]; ++k) take(colors.values<float>().data() + k * s[1]);
  }
  if (!all.empty()) return all;
  using color = std::array<float, 4>;
  constexpr float half = 0.5f;
  constexpr std::array<color, 10> usual{{{1, 1, 0, 1}, {0, 0, 1, 1}, {1, 0, 0, 1}, {0, 1, 0, 1}, {half, 0, half, 1}, {half, half, 0, 1},
                                         {half, 0, 0, 1}, {0, 0, half, 1}, {0, 1, 1, 1}, {1, 0, 1, 1}}};
  for (color its : usual) {
    if (channels == 1) its[0] = 1;
    take(its.data());
  }
  return all;
}

inline void run_draw_boxes(kernel_context& c) {
  const tensor_value images = c.input(0), boxes = c.input(1);
  const shape &s = images.extent(), &of_boxes = boxes.extent();
  if (s.rank != 4) throw invalid_argument("The rank of the images should be 4, got shape " + brackets(s));
  if (of_boxes.rank != 3) throw invalid_argument("The rank of the boxes tensor should be 3, got shape " + brackets(of_boxes));
  if (s[0] != of_boxes[0])
    throw invalid_argument("The batch sizes should be the same: images " + brackets(s) + ", boxes " + brackets(of_boxes));
  const std::int64_t channels = s[3];
  if (channels != 1 && channels != 3 && channels != 4)
    throw invalid_argument("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA), got " + std::to_string(channels));
  if (of_boxes[2] != 4)
    throw invalid_argument("The size of the third dimension of the box must be 4. Received: " + std::to_string(of_boxes[2]));
  const std::vector<float> colors = colors_of_boxes(c, channels);
  const std::int64_t count = static_cast<std::int64_t>(colors.size()) / channels, rows = s[1], columns = s[2];
  tensor_value made(dtype::float32, s);
  float* const canvas = made.values<float>().data();
  std::ranges::copy(images.values<float>(), canvas);
  const float* const corners = boxes.values<float>().data();
  for (std::int64_t k = 0; k < of_boxes[0] * of_boxes[1]; ++k) {
    if (k % 256 == 0) c.step.check();
    const float* const box = corners + 4 * k;
    const pixel_range down{pixel_at(box[0], rows), pixel_at(box[2], rows), rows};
    const pixel_range across{pixel_at(box[1], columns), pixel_at(box[3], columns), columns};
    if (down.is_inverted() || across.is_inverted() || down.is_outside() || across.is_outside()) continue;
    const float* const color = colors.data() + k % of_boxes[1] % count * channels;
    float* const image = canvas + k / of_boxes[1] * rows * columns * channels;
    const auto paint = [&](std::int64_t row, std::int64_t column) {
      std::copy_n(color, channels, image + (row * columns + column) * channels);
    };
    const auto row = [&](std::int64_t at) {
      for (std::int64_t j = across.first_inside(); j <= across.last_inside(); ++j) paint(at, j);
    };
    const auto column = [&](std::int64_t at) {
      for (std::int64_t i = down.first_inside(); i <= down.last_inside(); ++i) paint(i, at);
    };
    if (down.has_first()) row(down.first);
    if (down.has_last()) row(down.last);
    if (across.has_first()) column(across.first);
    if (across.has_last()) column(across.last);
  }
  c.set(0, std::move(made));
}

LEAT_FILL(fill_drawn_box_kernels) { register_kernels({"DrawBoundingBoxes", "DrawBoundingBoxesV2"}, run_draw_boxes); }

}  // namespace leat::runtime
