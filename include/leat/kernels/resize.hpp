#pragma once
// Kernels that resize images [batch, h, w, channels], and their gradients, as work items for any device. Where a pixel of the result lies
// in the image follows from `align_corners` and `half_pixel_centers`, in float32 as in TensorFlow. Graphs with names run the same kernels
// (runtime/kernels/resize.hpp).

#include <leat/kernels/whole_array.hpp>
#include <leat/ops/resize.hpp>

namespace leat::kernels {

/// How positions of a result along one axis correspond to those of an image. (A template, because the functions of positions are constexpr
/// for device code only.)
template <class Real>
class resized_axis_of {
 public:
  constexpr resized_axis_of(bool aligned, bool centered, std::int64_t from, std::int64_t to)
      : size_(from),
        aligned_(aligned),
        centered_(centered),
        scale_(aligned && to > 1 ? static_cast<Real>(from - 1) / static_cast<Real>(to - 1)
                                 : static_cast<Real>(from) / static_cast<Real>(to)) {}
  constexpr std::int64_t nearest(std::int64_t k) const {
    const Real at = (static_cast<Real>(k) + (centered_ ? Real(0.5) : Real(0))) * scale_;
    const auto pixel = static_cast<std::int64_t>(aligned_ ? ::roundf(at) : ::floorf(at));
    return pixel < 0 ? 0 : pixel >= size_ ? size_ - 1 : pixel;
  }
  constexpr bool is_centered() const { return centered_; }
  /// Pixels of the image for each of the result.
  constexpr Real scale() const { return scale_; }
  /// Where a pixel of the result lies in the image.
  constexpr Real at(std::int64_t k) const {
    return centered_ ? (static_cast<Real>(k) + Real(0.5)) * scale_ - Real(0.5) : static_cast<Real>(k) * scale_;
  }
  /// The two neighbors of a position, and how far it is from the first.
  struct between {
    std::int64_t lower, upper;
    Real share;
  };
  constexpr between neighbors(std::int64_t k) const {
    const Real place = at(k), below = ::floorf(place);
    const auto lower = static_cast<std::int64_t>(below), upper = static_cast<std::int64_t>(::ceilf(place));
    return {lower < 0 ? 0 : lower, upper < size_ ? upper : size_ - 1, place - below};
  }

 private:
  std::int64_t size_;
  bool aligned_, centered_;
  Real scale_;
};
using resized_axis = resized_axis_of<float>;

/// Images, and what they become in another size.
struct resized_images {
  std::int64_t batch, h, w, channels, to_h, to_w;
  resized_axis rows, columns;

  constexpr resized_images(bool aligned, bool centered, std::int64_t images, std::int64_t height, std::int64_t width,
                           std::int64_t its_channels, std::int64_t to_height, std::int64_t to_width)
      : batch(images),
        h(height),
        w(width),
        channels(its_channels),
        to_h(to_height),
        to_w(to_width),
        rows(aligned, centered, height, to_height),
        columns(aligned, centered, width, to_width) {}
  /// Those of a step: `image` and `made` are the operands, or the result, with the shapes of the images and of the resized ones.
  static constexpr resized_images of_step(const step_numbers& n, int image, int made) {
    return {n.attribute(0) != 0, n.attribute(1) != 0, n.size(image, 0), n.size(image, 1),
            n.size(image, 2),    n.size(image, 3),    n.size(made, 1),  n.size(made, 2)};
  }
  /// Pixels of all results.
  constexpr std::int64_t pixels() const { return batch * to_h * to_w; }
  /// The four pixels between which one of the result lies, as the places of their first channels within the image, and the shares of x and
  /// y.
  struct four {
    std::int64_t place[4];
    float across, down;
  };
  constexpr four around(std::int64_t y, std::int64_t x) const { return around(rows.neighbors(y), columns.neighbors(x)); }
  constexpr four around(const resized_axis::between& v, const resized_axis::between& u) const {
    return {{place(v.lower, u.lower), place(v.lower, u.upper), place(v.upper, u.lower), place(v.upper, u.upper)}, u.share, v.share};
  }
  constexpr std::int64_t nearest(std::int64_t y, std::int64_t x) const { return place(rows.nearest(y), columns.nearest(x)); }
  constexpr std::int64_t of_image() const { return h * w * channels; }

 private:
  constexpr std::int64_t place(std::int64_t row, std::int64_t column) const { return (row * w + column) * channels; }
};

/// Item k: pixel k of the result.
template <class T>
struct resize_nearest_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  T* out;
  resized_images r;
  constexpr resize_nearest_kernel(const T* from, T* to, const resized_images& how) : in(from), out(to), r(how) {}
  resize_nearest_kernel(void* const* p, const step_numbers& n)
      : resize_nearest_kernel(static_cast<const T*>(p[0]), static_cast<T*>(p[1]), resized_images::of_step(n, 0, 1)) {}
  std::int64_t items() const { return r.pixels(); }
  std::int64_t work() const { return r.channels + 8; }
  constexpr void operator()(std::int64_t k) const {
    const std::int64_t image = k / r.to_w / r.to_h;
    const T* const from = in + image * r.of_image() + r.nearest(k / r.to_w % r.to_h, k % r.to_w);
    for (std::int64_t j = 0; j < r.channels; ++j) out[k * r.channels + j] = from[j];
  }
};
/// Item k: pixel k of the result, float32 for images of any dtype.
template <class T>
struct resize_bilinear_kernel {
  static constexpr bool may_refuse = false;
  const T* in;
  float* out;
  resized_images r;
  constexpr resize_bilinear_kernel(const T* from, float* to, const resized_images& how) : in(from), out(to), r(how) {}
  resize_bilinear_kernel(void* const* p, const step_numbers& n)
      : resize_bilinear_kernel(static_cast<const T*>(p[0]), static_cast<float*>(p[1]), resized_images::of_step(n, 0, 1)) {}
  std::int64_t items() const { return r.pixels(); }
  std::int64_t work() const { return 4 * r.channels + 16; }
  constexpr void operator()(std::int64_t k) const {
    write(k / r.to_w / r.to_h, k, r.around(k / r.to_w % r.to_h, k % r.to_w));
  }
  /// Writes pixel k of all results, which lies in an image between four.
  constexpr void write(std::int64_t image, std::int64_t k, const resized_images::four& around) const {
    const T* const from = in + image * r.of_image();
    float* const __restrict to = out + k * r.channels;
    for (std::int64_t j = 0; j < r.channels; ++j) {
      const float a = static_cast<float>(from[around.place[0] + j]), b = static_cast<float>(from[around.place[1] + j]);
      const float c = static_cast<float>(from[around.place[2] + j]), d = static_cast<float>(from[around.place[3] + j]);
      const float top = a + (b - a) * around.across, bottom = c + (d - c) * around.across;
      to[j] = top + (bottom - top) * around.down;
    }
  }
};

/// Item k: one channel of one image, to which the pixels of the result are added in order.
template <class T>
struct resize_nearest_grad_kernel {
  static constexpr bool may_refuse = false;
  const T* slopes;
  T* out;
  resized_images r;
  constexpr resize_nearest_grad_kernel(const T* dy, T* to, const resized_images& how) : slopes(dy), out(to), r(how) {}
  resize_nearest_grad_kernel(void* const* p, const step_numbers& n)
      : resize_nearest_grad_kernel(static_cast<const T*>(p[0]), static_cast<T*>(p[1]), resized_images::of_step(n, 1, 0)) {}
  std::int64_t items() const { return r.batch * r.channels; }
  std::int64_t work() const { return r.to_h * r.to_w * 8; }
  constexpr void operator()(std::int64_t k) const { add(k / r.channels, k % r.channels, k % r.channels + 1); }
  /// Adds some channels of one image.
  constexpr void add(std::int64_t image, std::int64_t begin, std::int64_t end) const {
    T* const to = out + image * r.of_image();
    for (std::int64_t at = 0; at < r.h * r.w; ++at)
      for (std::int64_t j = begin; j < end; ++j) to[at * r.channels + j] = T(0);
    const T* from = slopes + image * r.to_h * r.to_w * r.channels;
    for (std::int64_t y = 0; y < r.to_h; ++y)
      for (std::int64_t x = 0; x < r.to_w; ++x, from += r.channels) {
        T* const pixel = to + r.nearest(y, x);
        for (std::int64_t j = begin; j < end; ++j) pixel[j] = scalar_math<T>::add(pixel[j], from[j]);
      }
  }
};
/// The same, for the four pixels between which each of the result lies.
template <class T>
struct resize_bilinear_grad_kernel {
  static constexpr bool may_refuse = false;
  const float* slopes;
  T* out;
  resized_images r;
  constexpr resize_bilinear_grad_kernel(const float* dy, T* to, const resized_images& how) : slopes(dy), out(to), r(how) {}
  std::int64_t items() const { return r.batch * r.channels; }
  std::int64_t work() const { return r.to_h * r.to_w * 16; }
  constexpr void operator()(std::int64_t k) const { add(k / r.channels, k % r.channels, k % r.channels + 1); }
  constexpr void add(std::int64_t image, std::int64_t begin, std::int64_t end) const {
    T* const to = out + image * r.of_image();
    for (std::int64_t at = 0; at < r.h * r.w; ++at)
      for (std::int64_t j = begin; j < end; ++j) to[at * r.channels + j] = T(0);
    const float* from = slopes + image * r.to_h * r.to_w * r.channels;
    for (std::int64_t y = 0; y < r.to_h; ++y)
      for (std::int64_t x = 0; x < r.to_w; ++x, from += r.channels) {
        const auto around = r.around(y, x);
        const float across = around.across, down = around.down;
        const float shares[]{(1 - down) * (1 - across), (1 - down) * across, down * (1 - across), down * across};
        for (int i = 0; i < 4; ++i)
          for (std::int64_t j = begin; j < end; ++j) {
            T& pixel = to[around.place[i] + j];
            pixel = static_cast<T>(pixel + static_cast<T>(from[j] * shares[i]));
          }
      }
  }
};
/// The same for a step, whose result is of the images' dtype.
template <class>
struct resize_bilinear_grad_step {
  static constexpr bool may_refuse = false;
  resize_bilinear_grad_kernel<float> floats;
  resize_bilinear_grad_kernel<double> doubles;
  bool is_double;
  template <class T>
  resize_bilinear_grad_step(const float* dy, T* to, const resized_images& how)
      : floats(dy, nullptr, how), doubles(dy, nullptr, how), is_double(std::is_same_v<T, double>) {
    if constexpr (std::is_same_v<T, double>) doubles.out = to;
    else floats.out = to;
  }
  resize_bilinear_grad_step(void* const* p, const step_numbers& n)
      : floats(static_cast<const float*>(p[0]), static_cast<float*>(p[1]), resized_images::of_step(n, 1, 0)),
        doubles(static_cast<const float*>(p[0]), static_cast<double*>(p[1]), resized_images::of_step(n, 1, 0)),
        is_double(n.attribute(4) == static_cast<std::int64_t>(dtype::float64)) {}
  std::int64_t items() const { return floats.items(); }
  std::int64_t work() const { return floats.work(); }
  constexpr void operator()(std::int64_t k) const {
    if (is_double) doubles(k);
    else floats(k);
  }
};

template <>
struct kernel_of<resize_nearest_op> : kernel_without_indices<resize_nearest_kernel> {
  static constexpr bool only_moves = true;
};
template <>
struct kernel_of<resize_bilinear_op> : kernel_without_indices<resize_bilinear_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};
template <>
struct kernel_of<resize_nearest_grad_op> : kernel_without_indices<resize_nearest_grad_kernel> {
  static constexpr dtype takes[]{dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8};
};
template <>
struct kernel_of<resize_bilinear_grad_op> : kernel_without_indices<resize_bilinear_grad_step> {
  static constexpr dtype takes[]{dtype::float32};
};

}  // namespace leat::kernels
