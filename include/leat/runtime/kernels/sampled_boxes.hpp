#pragma once
// Kernels that choose a part of an image at random, as training does to have more images than there are. With seeds these are TensorFlow's
// numbers. Source: TensorFlow `SampleDistortedBoundingBox`, `SampleDistortedBoundingBoxV2`, `StatelessSampleDistortedBoundingBox`,
// `RandomCrop`.

#include <leat/core/fill.hpp>
#include <leat/kernels/random.hpp>
#include <leat/runtime/kernels/fractional_pools.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/shape.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <vector>

namespace leat::runtime {

/// Pixels from (y, x) to (bottom, right), which do not belong to it.
struct pixel_box {
  std::int64_t y = 0, x = 0, bottom = 0, right = 0;

  float area() const { return static_cast<float>((right - x) * (bottom - y)); }
  /// The area that both share.
  float shared(const pixel_box& other) const {
    const std::int64_t down = std::min(bottom, other.bottom) - std::max(y, other.y),
                       across = std::min(right, other.right) - std::max(x, other.x);
    return down < 0 || across < 0 ? 0 : static_cast<float>(down * across);
  }
};

/// What a sampled box must be like: ranges of its width divided by its height, and of its part of the image's area.
class box_sampler {
 public:
  /// Errors: invalid_argument, in TensorFlow's words, for attributes out of range.
  explicit box_sampler(const kernel_node& n)
      : ratios_(range(n, "aspect_ratio_range", {0.75f, 1.33f})), areas_(range(n, "area_range", {0.05f, 1})) {
    const auto both = [](const std::vector<float>& r) { return "[" + std::to_string(r[0]) + ", " + std::to_string(r[1]) + "]"; };
    if (ratios_.size() != 2) throw invalid_argument("Aspect ratio range field must specify 2 dimensions");
    if (!(ratios_[0] > 0 && ratios_[1] > 0)) throw invalid_argument("Aspect ratio range must be non-negative: " + both(ratios_));
    if (areas_.size() != 2) throw invalid_argument("Area range field must specify 2 dimensions");
    if (!(areas_[0] > 0 && areas_[1] > 0)) throw invalid_argument("Area range must be non-negative: " + both(areas_));
    if (!(areas_[0] <= 1 && areas_[1] <= 1)) throw invalid_argument("Area range must be less then or equal to 1.0: " + both(areas_));
    attempts_ = n.integer("max_attempts", 100);
    if (attempts_ <= 0 || attempts_ > INT32_MAX)
      throw invalid_argument("Max attempts must be non-negative: " + std::to_string(attempts_));
  }
  std::int64_t attempts() const { return attempts_; }

  /// A box that covers at least `covered` of one of the objects; the whole image if no attempt finds one.
  pixel_box sample(kernel_context& c, std::int64_t height, std::int64_t width, const std::vector<pixel_box>& objects, float covered,
                   word_source words) const {
    for (std::int64_t attempt = 0; attempt < attempts_; ++attempt) {
      if (attempt % 256 == 0) c.step.check();
      const float ratio = unit(words) * (ratios_[1] - ratios_[0]) + ratios_[0];
      pixel_box box;
      if (!draw(height, width, ratio, words, box) || box.area() < 1) continue;
      for (const pixel_box& object : objects)
        if (object.area() >= 1 && box.shared(object) / object.area() >= covered) return box;
    }
    return {0, 0, height, width};
  }

 private:
  static std::vector<float> range(const kernel_node& n, std::string_view name, std::vector<float> otherwise) {
    return n.record->attributes.find(name) != nullptr ? n.list<float>(name) : otherwise;
  }
  /// A number in [0, 1) of 23 bits.
  static float unit(word_source& words) { return std::bit_cast<float>(0x3f800000u | (words.next() & 0x7fffffu)) - 1; }
  /// An integer in [0, n), each as often.
  static std::int64_t below(word_source& words, std::int64_t n) {
    const auto count = static_cast<std::uint32_t>(n);
    if (std::has_single_bit(count)) return words.next() & (count - 1);
    const std::uint32_t least = UINT32_MAX % count + 1;  // below it are words that would make some integers more frequent
    for (;;)
      if (const std::uint32_t word = words.next(); word >= least) return word % count;
  }
  static std::int64_t rounded(float v) { return v < 0x1p31f ? std::lrint(v) : INT32_MAX; }

  /// A box of this ratio; false if the image has no place for it.
  bool draw(std::int64_t height, std::int64_t width, float ratio, word_source& words, pixel_box& to) const {
    if (!(ratio > 0) || height <= 0 || width <= 0 || areas_[0] > areas_[1]) return false;
    const float pixels[]{static_cast<float>(width), static_cast<float>(height)};
    const float least = areas_[0] * pixels[0] * pixels[1], most = areas_[1] * pixels[0] * pixels[1];
    const auto width_of = [&](std::int64_t rows) { return rounded(static_cast<float>(rows) * ratio); };
    std::int64_t rows = rounded(std::sqrt(least / ratio)), most_rows = rounded(std::sqrt(most / ratio));
    if (width_of(most_rows) > width) {
      constexpr float little = 0.0000001f;  // so that a half rounds to the width
      const double limit = (static_cast<double>(width) + 0.5 - static_cast<double>(little)) / static_cast<double>(ratio);
      most_rows = limit < 0x1p31 ? static_cast<std::int64_t>(limit) : INT32_MAX;
      if (width_of(most_rows) > width) --most_rows;
    }
    most_rows = std::min(most_rows, height);
    rows = std::min(rows, most_rows);
    if (rows < most_rows) rows += below(words, most_rows - rows + 1);
    std::int64_t columns = width_of(rows);
    const auto area = [&] { return static_cast<float>(columns * rows); };
    if (area() < least) columns = width_of(++rows);  // rounding alone is no reason to fail
    if (area() > most) columns = width_of(--rows);
    if (area() < least || area() > most || columns > width || rows > height || columns <= 0 || rows <= 0) return false;
    const std::int64_t y = rows < height ? below(words, height - rows) : 0, x = columns < width ? below(words, width - columns) : 0;
    to = {y, x, y + rows, x + columns};
    return true;
  }

  std::vector<float> ratios_, areas_;
  std::int64_t attempts_ = 0;
};

/// The objects in boxes, input 1, in pixels. Errors: invalid_argument for corners outside the image, and for no boxes unless an attribute
/// takes the image for one.
inline std::vector<pixel_box> objects_in(kernel_context& c, std::int64_t height, std::int64_t width) {
  const shape& s = c.extent(1);
  if (s.rank != 3) throw invalid_argument("input boxes must be 3-dimensional [batch, num_boxes, coords]: " + brackets(s));
  if (s[2] != 4) throw invalid_argument("bounding boxes must have shape [4] or [*, 4], got " + brackets(s));
  const tensor_value boxes = c.input(1);
  const auto corners = boxes.values<float>();
  for (const float v : corners)
    if (!(v >= 0 && v <= 1)) throw invalid_argument("All bounding box coordinates must be in [0.0, 1.0]: " + std::to_string(v));
  std::vector<pixel_box> made;
  const auto pixel = [&](std::size_t k, std::int64_t size) { return static_cast<std::int64_t>(corners[k] * static_cast<float>(size)); };
  for (std::size_t k = 0; k < corners.size(); k += 4)
    made.push_back({pixel(k, height), pixel(k + 1, width), pixel(k + 2, height), pixel(k + 3, width)});
  if (!made.empty()) return made;
  if (!c.node.flag("use_image_if_no_bounding_boxes"))
    throw invalid_argument(
        "No bounding boxes provided as input. One must enable use_image_if_no_bounding_boxes if you wish to not provide any "
        "bounding boxes.");
  return {{0, 0, height, width}};
}

/// A node's words from its seeds, TensorFlow's if it has some.
inline word_source drawn_words(kernel_context& c, std::int64_t count) {
  const auto [seed, begin] = draw(c, count);
  return word_source(sequence_from(c, seed, begin / 4));
}
template <class Words>
void run_sampled_box(kernel_context& c, Words words) {
  const box_sampler sampler(c.node);
  const tensor_value sizes = c.input(0);
  if (sizes.extent().rank != 1) throw invalid_argument("image_size must be 1-dimensional" + brackets(sizes.extent()));
  if (sizes.extent()[0] != 3) throw invalid_argument("image_size must contain 3 elements" + brackets(sizes.extent()));
  with_number(sizes.type(), [&]<class T>(T) {
    if constexpr (std::is_integral_v<T>) {
      const auto height = static_cast<std::int64_t>(sizes.values<T>()[0]), width = static_cast<std::int64_t>(sizes.values<T>()[1]);
      if (height < 0 || height >= INT32_MAX) throw invalid_argument("image height cannot be >= int32 max");
      if (width < 0 || width >= INT32_MAX) throw invalid_argument("image width cannot be >= int32 max");
      if (c.input_count() > 2 && c.extent(2).rank != 0)
        throw invalid_argument("min_object_covered must be 0-D, got shape " + brackets(c.extent(2)));
      const float covered = c.input_count() > 2 ? std::as_const(c.input(2)).template values<float>()[0]
                                                : c.node.attribute<float>("min_object_covered", 0.1f);
      if (!(covered >= 0)) throw invalid_argument("Min object covered must be non-negative: " + std::to_string(covered));
      const std::vector<pixel_box> objects = objects_in(c, height, width);
      const pixel_box box = sampler.sample(c, height, width, objects, covered, words(sampler.attempts()));
      tensor_value begin(sizes.type(), {3}), size(sizes.type(), {3}), part(dtype::float32, {1, 1, 4});
      const auto set = [](tensor_value& to, std::int64_t rows, std::int64_t columns, std::int64_t channels) {
        to.values<T>()[0] = static_cast<T>(rows);
        to.values<T>()[1] = static_cast<T>(columns);
        to.values<T>()[2] = static_cast<T>(channels);
      };
      set(begin, box.y, box.x, 0);
      set(size, box.bottom - box.y, box.right - box.x, -1);
      const auto rows = static_cast<float>(height), columns = static_cast<float>(width);
      const float corners[]{static_cast<float>(box.y) / rows, static_cast<float>(box.x) / columns, static_cast<float>(box.bottom) / rows,
                            static_cast<float>(box.right) / columns};
      std::ranges::copy(corners, part.values<float>().begin());
      c.set(0, std::move(begin));
      c.set(1, std::move(size));
      c.set(2, std::move(part));
    } else {
      throw unimplemented("no kernel for dtype " + dtype_name(sizes.type()));
    }
  });
}

inline void run_random_crop(kernel_context& c) {
  const tensor_value image = c.input(0);
  const shape& s = image.extent();
  if (s.rank != 3) throw invalid_argument("input must be 3-dimensional" + brackets(s));
  if (c.extent(1).rank != 1) throw invalid_argument("shape_t must be 1-dimensional" + brackets(c.extent(1)));
  const auto sizes = c.numbers(1);
  if (sizes.size() != 2) throw invalid_argument("shape_t must have two elements" + brackets(c.extent(1)));
  for (const std::int64_t size : sizes)
    if (size < 0) throw invalid_argument("RandomCrop: a size of " + std::to_string(size));
  if (s[1] < sizes[1])
    throw failed_precondition("width must be >= target_width: width = " + std::to_string(s[1]) +
                              ", target_width = " + std::to_string(sizes[1]));
  if (s[0] < sizes[0])
    throw failed_precondition("height must be >= target_height: height = " + std::to_string(s[0]) +
                              ", target_height = " + std::to_string(sizes[0]));
  word_source words = drawn_words(c, 2);
  const auto place = [&](std::int64_t size, std::int64_t part) {
    return size > part ? static_cast<std::int64_t>(words.next() % static_cast<std::uint64_t>(size - part + 1)) : 0;
  };
  const std::int64_t x = place(s[1], sizes[1]), y = place(s[0], sizes[0]);
  tensor_value made(image.type(), {sizes[0], sizes[1], s[2]});
  with_storage(image.type(), [&]<class S>(S) {
    for (std::int64_t row = 0; row < sizes[0]; ++row)
      std::copy_n(stored<S>(image) + ((y + row) * s[1] + x) * s[2], sizes[1] * s[2], stored<S>(made) + row * sizes[1] * s[2]);
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_sampled_box_kernels) {
  for (const char* type : {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"})
    register_kernel(type, [](kernel_context& c) {
      run_sampled_box(c, [&](std::int64_t attempts) { return drawn_words(c, 4 * attempts); });
    });
  register_kernel("StatelessSampleDistortedBoundingBox", [](kernel_context& c) {
    run_sampled_box(c, [&](std::int64_t) {
      const auto seed = integers(seed_pair(c, 3));
      return word_source(kernels::seeded_sequence(seed.data()));
    });
  });
  register_kernel("RandomCrop", run_random_crop);
}

}  // namespace leat::runtime
