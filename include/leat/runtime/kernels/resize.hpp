#pragma once
// Kernels that resize images [batch, h, w, channels], by the nearest pixel or between four, and their gradients. Where a pixel of the result
// lies in the image follows from `align_corners` and `half_pixel_centers`, in float32 as in TensorFlow. Source: TensorFlow
// `ResizeNearestNeighbor`, `ResizeBilinear` and their gradients.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>

namespace leat::runtime {

/// How positions of a result along one axis correspond to those of an image.
class resized_axis {
 public:
  resized_axis(const kernel_node& n, std::int64_t from, std::int64_t to)
      : size_(from),
        aligned_(n.flag("align_corners")),
        centered_(n.flag("half_pixel_centers")),
        scale_(aligned_ && to > 1 ? static_cast<float>(from - 1) / static_cast<float>(to - 1) : static_cast<float>(from) / static_cast<float>(to)) {
    if (aligned_ && centered_) throw invalid_argument("If half_pixel_centers is True, align_corners must be False");
  }
  std::int64_t nearest(std::int64_t k) const {
    const float at = (static_cast<float>(k) + (centered_ ? 0.5f : 0.0f)) * scale_;
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(aligned_ ? std::round(at) : std::floor(at)), 0, size_ - 1);
  }
  bool is_centered() const { return centered_; }
  /// Pixels of the image for each of the result.
  float scale() const { return scale_; }
  /// Where a pixel of the result lies in the image.
  float at(std::int64_t k) const {
    return centered_ ? (static_cast<float>(k) + 0.5f) * scale_ - 0.5f : static_cast<float>(k) * scale_;
  }
  /// The two neighbors of a position, and how far it is from the first.
  struct between {
    std::int64_t lower, upper;
    float share;
  };
  between neighbors(std::int64_t k) const {
    const float place = at(k), below = std::floor(place);
    return {std::max<std::int64_t>(static_cast<std::int64_t>(below), 0),
            std::min<std::int64_t>(static_cast<std::int64_t>(std::ceil(place)), size_ - 1), place - below};
  }

 private:
  std::int64_t size_;
  bool aligned_, centered_;
  float scale_;
};

/// The sizes of such a node: images [batch, h, w, channels] become [batch, to_h, to_w, channels].
struct resized {
  std::int64_t batch, h, w, channels, to_h, to_w;

  resized(const shape& images, std::int64_t height, std::int64_t width)
      : batch(images[0]), h(images[1]), w(images[2]), channels(images[3]), to_h(height), to_w(width) {
    if (h < 1 || w < 1 || channels < 1) throw invalid_argument("input image must be of non-zero size, not " + brackets(images));
    if (to_h < 1 || to_w < 1) throw invalid_argument("output dimensions must be positive");
    if (std::max(std::max(h, w), std::max(to_h, to_w)) > INT32_MAX) throw invalid_argument("input sizes must be between 0 and max int32");
  }
  shape result() const {
    shape s;
    for (const std::int64_t n : {batch, to_h, to_w, channels}) s.push(n);
    return s;
  }
};
inline const shape& images_shape(const tensor_value& v, std::string_view what) {
  if (v.extent().rank != 4) throw invalid_argument(std::string(what) + " must be 4-dimensional, not " + brackets(v.extent()));
  return v.extent();
}
inline std::array<std::int64_t, 2> two_sizes(kernel_context& c) {
  const auto sizes = c.numbers(1);
  if (sizes.size() != 2) throw invalid_argument("shape_t must have two elements, not " + std::to_string(sizes.size()));
  return {sizes[0], sizes[1]};
}

inline void run_resize_nearest(kernel_context& c) {
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  const resized_axis rows(c.node, r.h, r.to_h), columns(c.node, r.w, r.to_w);
  with_storage(images.type(), [&]<class T>(T) {
    if constexpr (std::is_same_v<T, std::string>) {
      throw unimplemented("no kernel for strings");
    } else {
      tensor_value made(images.type(), r.result());
      const T* const from = stored<T>(images);
      T* const to = stored<T>(made);
      cpu::parallel_for(r.batch, [&](std::int64_t image) {
        for (std::int64_t y = 0; y < r.to_h; ++y)
          for (std::int64_t x = 0; x < r.to_w; ++x)
            std::copy_n(from + ((image * r.h + rows.nearest(y)) * r.w + columns.nearest(x)) * r.channels, r.channels,
                        to + ((image * r.to_h + y) * r.to_w + x) * r.channels);
      });
      c.set(0, std::move(made));
    }
  });
}
inline void run_resize_nearest_back(kernel_context& c) {
  const tensor_value dy = c.input(0);
  const auto [h, w] = two_sizes(c);
  const shape& given = images_shape(dy, "grads");
  shape image = given;
  image.dim[1] = h;
  image.dim[2] = w;
  const resized r(image, given[1], given[2]);
  const resized_axis rows(c.node, r.h, r.to_h), columns(c.node, r.w, r.to_w);
  with_number(dy.type(), [&]<class T>(T) {
    tensor_value made(dy.type(), image);
    const T* const from = dy.values<T>().data();
    T* const to = made.values<T>().data();
    std::fill_n(to, made.elements(), T(0));
    cpu::parallel_for(r.batch, [&](std::int64_t k) {
      for (std::int64_t y = 0; y < r.to_h; ++y)
        for (std::int64_t x = 0; x < r.to_w; ++x) {
          T* const pixel = to + ((k * r.h + rows.nearest(y)) * r.w + columns.nearest(x)) * r.channels;
          const T* const slope = from + ((k * r.to_h + y) * r.to_w + x) * r.channels;
          for (std::int64_t j = 0; j < r.channels; ++j) pixel[j] = arithmetic<T>::add(pixel[j], slope[j]);
        }
    });
    c.set(0, std::move(made));
  });
}
/// Calls f(pixel of the result, four pixels of the image, shares of x and y) for one image.
template <class F>
void for_each_between(const resized& r, const resized_axis& rows, const resized_axis& columns, F f) {
  for (std::int64_t y = 0; y < r.to_h; ++y) {
    const auto v = rows.neighbors(y);
    for (std::int64_t x = 0; x < r.to_w; ++x) {
      const auto u = columns.neighbors(x);
      const auto at = [&](std::int64_t row, std::int64_t column) { return (row * r.w + column) * r.channels; };
      f((y * r.to_w + x) * r.channels, std::array{at(v.lower, u.lower), at(v.lower, u.upper), at(v.upper, u.lower), at(v.upper, u.upper)}, u.share,
        v.share);
    }
  }
}
inline void run_resize_bilinear(kernel_context& c) {
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  const resized_axis rows(c.node, r.h, r.to_h), columns(c.node, r.w, r.to_w);
  with_number(images.type(), [&]<class T>(T) {
    tensor_value made(dtype::float32, r.result());
    const T* const from = images.values<T>().data();
    float* const to = made.values<float>().data();
    cpu::parallel_for(r.batch, [&](std::int64_t k) {
      const T* const image = from + k * r.h * r.w * r.channels;
      float* const out = to + k * r.to_h * r.to_w * r.channels;
      for_each_between(r, rows, columns, [&](std::int64_t at, const std::array<std::int64_t, 4>& p, float across, float down) {
        for (std::int64_t j = 0; j < r.channels; ++j) {
          const auto value = [&](std::size_t i) { return static_cast<float>(image[p[i] + j]); };
          const float top = value(0) + (value(1) - value(0)) * across, bottom = value(2) + (value(3) - value(2)) * across;
          out[at + j] = top + (bottom - top) * down;
        }
      });
    });
    c.set(0, std::move(made));
  });
}
inline void run_resize_bilinear_back(kernel_context& c) {
  const tensor_value dy = c.input(0), original = c.input(1);
  const shape& given = images_shape(dy, "grads");
  const shape& image = images_shape(original, "original_image");
  const resized r(image, given[1], given[2]);
  if (given[0] != r.batch || given[3] != r.channels) throw invalid_argument("grads and original_image must have the same batch and channels");
  const resized_axis rows(c.node, r.h, r.to_h), columns(c.node, r.w, r.to_w);
  if (original.type() != dtype::float32 && original.type() != dtype::float64)
    throw unimplemented("no kernel for dtype " + dtype_name(original.type()));
  with_number(original.type(), [&]<class T>(T) {
    tensor_value made(original.type(), image);
    const float* const from = dy.values<float>().data();
    T* const to = made.values<T>().data();
    std::fill_n(to, made.elements(), T(0));
    cpu::parallel_for(r.batch, [&](std::int64_t k) {
      const float* const slopes = from + k * r.to_h * r.to_w * r.channels;
      T* const out = to + k * r.h * r.w * r.channels;
      for_each_between(r, rows, columns, [&](std::int64_t at, const std::array<std::int64_t, 4>& p, float across, float down) {
        const float shares[]{(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across};
        for (std::size_t i = 0; i < 4; ++i)
          for (std::int64_t j = 0; j < r.channels; ++j) {
            T& pixel = out[p[i] + j];
            pixel = static_cast<T>(pixel + static_cast<T>(slopes[at + j] * shares[i]));
          }
      });
    });
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_resize_kernels) {
  register_kernel("ResizeNearestNeighbor", run_resize_nearest);
  register_kernel("ResizeNearestNeighborGrad", run_resize_nearest_back);
  register_kernel("ResizeBilinear", run_resize_bilinear);
  register_kernel("ResizeBilinearGrad", run_resize_bilinear_back);
}

}  // namespace leat::runtime
