#pragma once
// Resizes images [batch, h, w, channels] of graphs with names, by the nearest pixel or between four (cpu/resize.hpp), and their
// gradients. Source: TensorFlow `ResizeNearestNeighbor`, `ResizeBilinear` and their gradients.

#include <leat/core/fill.hpp>
#include <leat/cpu/resize.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <vector>

namespace leat::runtime {

/// How positions of a result along one axis correspond to those of an image, by a node's attributes.
struct resized_axis : kernels::resized_axis {
  resized_axis(const kernel_node& n, std::int64_t from, std::int64_t to)
      : kernels::resized_axis(n.flag("align_corners"), n.flag("half_pixel_centers"), from, to) {
    if (n.flag("align_corners") && n.flag("half_pixel_centers"))
      throw invalid_argument("If half_pixel_centers is True, align_corners must be False");
  }
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
  /// The same as the kernels have it.
  kernels::resized_images by(const kernel_node& n) const {
    static_cast<void>(resized_axis(n, h, to_h));  // checks the attributes
    return {n.flag("align_corners"), n.flag("half_pixel_centers"), batch, h, w, channels, to_h, to_w};
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

inline auto run_resize_nearest(kernel_context& c) {
  using computed = computed_by<resize_nearest_op>;
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  const auto how = r.by(c.node);
  return with_storage(images.type(), [&]<class T>(T) -> computed {
    if constexpr (std::is_same_v<T, std::string>) {
      throw unimplemented("no kernel for strings");
    } else {
      tensor_value made(images.type(), r.result());
      const auto done = computed::run<T>(stored<T>(images), stored<T>(made), how);
      c.set(0, std::move(made));
      return done;
    }
  });
}
inline auto run_resize_nearest_back(kernel_context& c) {
  const tensor_value dy = c.input(0);
  const auto [h, w] = two_sizes(c);
  const shape& given = images_shape(dy, "grads");
  shape image = given;
  image.dim[1] = h;
  image.dim[2] = w;
  const resized r(image, given[1], given[2]);
  const auto how = r.by(c.node);
  return with_number(dy.type(), [&]<class T>(T) {
    tensor_value made(dy.type(), image);
    const auto done = computed_by<resize_nearest_grad_op>::run<T>(dy.values<T>().data(), made.values<T>().data(), how);
    c.set(0, std::move(made));
    return done;
  });
}
inline auto run_resize_bilinear(kernel_context& c) {
  const tensor_value images = c.input(0);
  const auto [to_h, to_w] = two_sizes(c);
  const resized r(images_shape(images, "input"), to_h, to_w);
  const auto how = r.by(c.node);
  return with_number(images.type(), [&]<class T>(T) {
    tensor_value made(dtype::float32, r.result());
    const auto done = computed_by<resize_bilinear_op>::run<T>(images.values<T>().data(), made.values<float>().data(), how);
    c.set(0, std::move(made));
    return done;
  });
}
inline auto run_resize_bilinear_back(kernel_context& c) {
  const tensor_value dy = c.input(0), original = c.input(1);
  const shape& given = images_shape(dy, "grads");
  const shape& image = images_shape(original, "original_image");
  const resized r(image, given[1], given[2]);
  if (given[0] != r.batch || given[3] != r.channels)
    throw invalid_argument("grads and original_image must have the same batch and channels");
  const auto how = r.by(c.node);
  return with_fraction(original.type(), [&]<class T>(T) {
    tensor_value made(original.type(), image);
    const auto done = computed_by<resize_bilinear_grad_op>::run<float>(dy.values<float>().data(), made.values<T>().data(), how);
    c.set(0, std::move(made));
    return done;
  });
}

LEAT_FILL(fill_resize_kernels) {
  register_class_kernel("ResizeNearestNeighbor", run_resize_nearest);
  register_class_kernel("ResizeNearestNeighborGrad", run_resize_nearest_back);
  register_class_kernel("ResizeBilinear", run_resize_bilinear);
  register_class_kernel("ResizeBilinearGrad", run_resize_bilinear_back);
}

}  // namespace leat::runtime
