#pragma once
// Kernels of pooling (cpu/pools.hpp), for images and volumes of either layout.

#include <leat/core/fill.hpp>
#include <leat/cpu/image_steps.hpp>
#include <leat/runtime/kernels/class_kernel.hpp>
#include <leat/runtime/kernels/image_settings.hpp>

namespace leat::runtime {

/// The settings of a pooling node; with `ByInputs`, its last two inputs hold the window and the strides.
template <int Axes, bool ByInputs = false>
image_settings pooling_settings(kernel_context& c) {
  if constexpr (ByInputs) {
    const int last = c.input_count() - 1;
    const auto ksize = c.numbers(last - 1), strides = c.numbers(last);
    if (ksize.size() != Axes + 2)
      throw invalid_argument("Sliding window ksize field must specify " + std::to_string(Axes + 2) + " dimensions");
    if (strides.size() != Axes + 2)
      throw invalid_argument("Sliding window stride field must specify " + std::to_string(Axes + 2) + " dimensions");
    return image_settings(c.node, Axes, ksize, strides, {});
  } else {
    return image_settings(c.node, Axes);
  }
}
inline image_windows pooling_of(const image_settings& settings, const shape& image) {
  return settings.windows_over(image, [&](int axis) { return settings.window(axis); });
}

template <int Axes, bool ByInputs = false>
auto run_max_pool(kernel_context& c) {
  const image_settings settings = pooling_settings<Axes, ByInputs>(c);
  const tensor_value images = c.input(0);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "tensor_in"));
  return with_number(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    return set_images<T>(c, settings, images.type(), settings.result_shape(in, in.channels),
                         [&](T* to) { return computed_by<max_pool_op<Axes>>::template run<T>(in, from, from, to); });
  });
}
template <int Axes, bool ByInputs = false>
auto run_max_pool_back(kernel_context& c) {
  const image_settings settings = pooling_settings<Axes, ByInputs>(c);
  const tensor_value images = c.input(0), dy = c.input(2);
  const shape image = settings.channels_last(images.extent(), "orig_input");
  const auto in = pooling_of(settings, image);
  const shape result = settings.result_shape(in, in.channels);
  want_shape(settings.channels_last(c.input(1).extent(), "orig_output"), result, "orig_output");
  want_shape(settings.channels_last(dy.extent(), "grad"), result, "grad");
  if (dy.type() != images.type()) throw unimplemented("no kernel for a gradient of another dtype than the images");
  return with_number(images.type(), [&]<class T>(T) {
    tensor_value held_images, held_results, held_slope;
    const T* const from = channels_last<T>(settings, images, held_images);
    // The results are read only in volumes, where all elements that equal them get the gradient.
    const T* const results = Axes == 2 ? nullptr : channels_last<T>(settings, c.input(1), held_results);
    const T* const slope = channels_last<T>(settings, dy, held_slope);
    return set_images<T>(c, settings, images.type(), image, [&](T* to) {
      return computed_by<max_pool_grad_op<Axes>>::template run<T>(in, from, results, slope, to);
    });
  });
}
template <int Axes, bool ByInputs = false>
auto run_max_pool_back_back(kernel_context& c) {
  const image_settings settings = pooling_settings<Axes, ByInputs>(c);
  const tensor_value images = c.input(0), slopes = c.input(2);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "orig_input"));
  const shape result = settings.result_shape(in, in.channels);
  want_shape(settings.channels_last(c.input(1).extent(), "orig_output"), result, "orig_output");
  want_shape(slopes.extent(), images.extent(), "grad");
  return with_number(images.type(), [&]<class T>(T) {
    tensor_value held_images, held_slopes;
    const T* const from = channels_last<T>(settings, images, held_images);
    const T* const taken = channels_last<T>(settings, slopes, held_slopes);
    return set_images<T>(c, settings, images.type(), result,
                         [&](T* to) { return computed_by<max_pool_grad_grad_op<Axes>>::template run<T>(in, from, taken, to); });
  });
}
template <int Axes>
auto run_average_pool(kernel_context& c) {
  const image_settings settings = pooling_settings<Axes>(c);
  const tensor_value images = c.input(0);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "tensor_in"));
  return with_fraction(images.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const from = channels_last<T>(settings, images, held);
    return set_images<T>(c, settings, images.type(), settings.result_shape(in, in.channels),
                         [&](T* to) { return computed_by<avg_pool_op<Axes>>::template run<T>(in, from, from, to); });
  });
}
template <int Axes>
auto run_average_pool_back(kernel_context& c) {
  const image_settings settings = pooling_settings<Axes>(c);
  const shape image = settings.channels_last(settings.held_shape(c.numbers(0), "orig_input_shape"), "orig_input_shape");
  const tensor_value dy = c.input(1);
  const auto in = pooling_of(settings, image);
  want_shape(settings.channels_last(dy.extent(), "grad"), settings.result_shape(in, in.channels), "grad");
  return with_fraction(dy.type(), [&]<class T>(T) {
    tensor_value held;
    const T* const slope = channels_last<T>(settings, dy, held);
    return set_images<T>(c, settings, dy.type(), image, [&](T* to) {
      return computed_by<avg_pool_grad_op<Axes>>::template run<T>(in, nullptr, nullptr, slope, to);
    });
  });
}

inline void run_max_pool_with_places(kernel_context& c) {
  const image_settings settings = pooling_settings<2>(c);
  const tensor_value images = c.input(0);
  const auto in = pooling_of(settings, settings.channels_last(images.extent(), "tensor_in"));
  const shape result = settings.result_shape(in, in.channels);
  const bool in_batch = c.node.flag("include_batch_in_index");
  const dtype place_type = c.node.type_of("Targmax", dtype::int64);
  if (place_type == dtype::int32 && images.elements() > INT32_MAX)
    throw invalid_argument("argmax of int32 cannot count the elements of " + brackets(images.extent()));
  with_number(images.type(), [&]<class T>(T) {
    with_index(place_type, [&]<class I>(I) {
      tensor_value made(images.type(), result), places(place_type, result);
      if (made.elements() > 0)
        cpu::max_pool_with_places(in, images.values<T>().data(), in_batch, made.values<T>().data(), places.values<I>().data());
      c.set(0, std::move(made));
      c.set(1, std::move(places));
    });
  });
}
/// Calls f(element of the windows' results, place in all images) for what MaxPoolWithArgmax found. Errors: invalid_argument if a place is
/// outside the image of its window.
template <class F>
void for_each_place_found(kernel_context& c, const shape& image, F f) {
  const image_settings settings = pooling_settings<2>(c);
  const auto in = pooling_of(settings, settings.channels_last(image, "tensor_in"));
  const tensor_value places = c.input(2);
  want_shape(places.extent(), settings.result_shape(in, in.channels), "argmax");
  const bool in_batch = c.node.flag("include_batch_in_index");
  const std::int64_t elements = in.image_elements(), results = in.positions() * in.channels;
  if (results == 0) return;
  with_index(places.type(), [&]<class I>(I) {
    const I* const at = places.values<I>().data();
    for (std::int64_t b = 0; b < in.batch; ++b)
      for (std::int64_t k = b * results; k < (b + 1) * results; ++k) {
        const std::int64_t first = in_batch ? b * elements : 0, place = static_cast<std::int64_t>(at[k]);
        if (place < first || place >= first + elements)
          throw invalid_argument("Invalid output gradient index: " + std::to_string(place) + ", " + std::to_string(first) + ", " +
                                 std::to_string(first + elements));
        f(k, b * elements + place - first);
      }
  });
}
inline void run_max_pool_back_to_places(kernel_context& c) {
  const tensor_value images = c.input(0), dy = c.input(1);
  want_shape(dy.extent(), c.extent(2), "grad");
  with_number(dy.type(), [&]<class T>(T) {
    tensor_value made(dy.type(), images.extent());
    T* const to = made.values<T>().data();
    const T* const slope = dy.values<T>().data();
    std::fill_n(to, made.elements(), T(0));
    for_each_place_found(c, images.extent(),
                         [&](std::int64_t k, std::int64_t place) { to[place] = arithmetic<T>::add(to[place], slope[k]); });
    c.set(0, std::move(made));
  });
}
inline void run_max_pool_back_back_from_places(kernel_context& c) {
  const tensor_value images = c.input(0), slopes = c.input(1);
  want_shape(slopes.extent(), images.extent(), "grad");
  with_number(slopes.type(), [&]<class T>(T) {
    tensor_value made(slopes.type(), c.extent(2));
    T* const to = made.values<T>().data();
    const T* const from = slopes.values<T>().data();
    for_each_place_found(c, images.extent(), [&](std::int64_t k, std::int64_t place) { to[k] = from[place]; });
    c.set(0, std::move(made));
  });
}

LEAT_FILL(fill_pool_kernels) {
  register_class_kernel("MaxPool", run_max_pool<2>);
  register_class_kernel("MaxPoolGrad", run_max_pool_back<2>);
  register_class_kernel("MaxPoolGradGrad", run_max_pool_back_back<2>);
  register_class_kernel("MaxPoolV2", run_max_pool<2, true>);
  register_class_kernel("MaxPoolGradV2", run_max_pool_back<2, true>);
  register_class_kernel("MaxPoolGradGradV2", run_max_pool_back_back<2, true>);
  register_class_kernel("MaxPool3D", run_max_pool<3>);
  register_class_kernel("MaxPool3DGrad", run_max_pool_back<3>);
  register_class_kernel("MaxPool3DGradGrad", run_max_pool_back_back<3>);
  register_class_kernel("AvgPool", run_average_pool<2>);
  register_class_kernel("AvgPoolGrad", run_average_pool_back<2>);
  register_class_kernel("AvgPool3D", run_average_pool<3>);
  register_class_kernel("AvgPool3DGrad", run_average_pool_back<3>);
  register_kernel("MaxPoolWithArgmax", run_max_pool_with_places);
  register_kernel("MaxPoolGradWithArgmax", run_max_pool_back_to_places);
  register_kernel("MaxPoolGradGradWithArgmax", run_max_pool_back_back_from_places);
}

}  // namespace leat::runtime
