#pragma once
// Kernels of patches of images [batch, h, w, channels] and volumes [batch, d, h, w, channels]: the elements of each window, beside one
// another in the last dimension. Elements outside the image are zeros. Source: TensorFlow `ExtractImagePatches`, `ExtractVolumePatches`.

#include <leat/core/fill.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/runtime/kernels/image_settings.hpp>

#include <algorithm>

namespace leat::runtime {

inline void run_patches(kernel_context& c) {
  const kernel_node& n = c.node;
  const image_settings settings(n, 2, n.list<std::int64_t>("ksizes"), n.list<std::int64_t>("strides"), n.list<std::int64_t>("rates"));
  const tensor_value images = c.input(0);
  if (images.extent().rank != 4) throw invalid_argument("images must be 4-dimensional, not " + brackets(images.extent()));
  const image_windows in = settings.windows_over(images.extent(), [&](int axis) { return settings.window(axis); });
  std::int64_t cells = 0, depth = 0;
  if (!multiplies(in.h.window, in.w.window, cells) || !multiplies(cells, in.channels, depth) || depth >= max_elements)
    throw resource_exhausted("a patch of more than 2^44 elements, which no memory holds");
  tensor_value made(images.type(), settings.result_shape(in, depth));
  if (made.elements() == 0) return c.set(0, std::move(made));  // without channels, any number of pixels would be walked over
  with_storage(images.type(), [&]<class S>(S) {
    // Blocks of rows of patches, which the shape alone determines, are shared by threads.
    const std::int64_t rows = in.batch * in.h.count, width = in.w.count * depth, chunk = std::max<std::int64_t>((1 << 14) / width, 1);
    cpu::parallel_for((rows + chunk - 1) / chunk, [&](std::int64_t block) {
      S* to = stored<S>(made) + block * chunk * width;
      for (std::int64_t row = block * chunk, end = std::min(row + chunk, rows); row < end; ++row) {
        const S* const from = stored<S>(images) + row / in.h.count * in.image_elements();
        const std::int64_t top = in.h.begin(row % in.h.count);
        for (std::int64_t column = 0; column < in.w.count; ++column)
          for (std::int64_t i = 0; i < in.h.window; ++i)
            for (std::int64_t j = 0; j < in.w.window; ++j, to += in.channels) {
              const std::int64_t y = top + i * in.h.dilation, x = in.w.begin(column) + j * in.w.dilation;
              if (in.h.is_inside(y) && in.w.is_inside(x)) std::copy_n(from + (y * in.w.size + x) * in.channels, in.channels, to);
              else std::fill_n(to, in.channels, S{});
            }
      }
    });
  });
  c.set(0, std::move(made));
}

inline void run_volume_patches(kernel_context& c) {
  const kernel_node& n = c.node;
  const auto ksizes = n.list<std::int64_t>("ksizes"), strides = n.list<std::int64_t>("strides");
  const auto check = [](const std::string& name, const std::vector<std::int64_t>& list) {
    if (list.size() != 5) throw invalid_argument(name + " must have 5 elements, not " + std::to_string(list.size()));
    if (list[0] != 1 || list[4] != 1) throw unimplemented("Only support " + name + " across space.");
    for (std::size_t k = 1; k < 4; ++k)
      if (list[k] < 1) throw out_of_range(name + " is out of range.");
  };
  check("ksizes", ksizes);
  check("strides", strides);
  const tensor_value volumes = c.input(0);
  if (volumes.extent().rank != 5) throw invalid_argument("input must be 5-dimensional" + brackets(volumes.extent()));
  const image_settings settings(n, 3, ksizes, strides, {});
  const image_windows in = settings.windows_over(volumes.extent(), [&](int axis) { return settings.window(axis); });
  std::int64_t cells = 0, depth = 0;
  if (!multiplies(in.d.window, in.h.window, cells) || !multiplies(cells, in.w.window, cells) || !multiplies(cells, in.channels, depth) ||
      depth >= max_elements)
    throw invalid_argument("Output size would overflow: a patch of more than 2^44 elements");
  tensor_value made(volumes.type(), settings.result_shape(in, depth));
  if (made.elements() == 0) return c.set(0, std::move(made));
  with_storage(volumes.type(), [&]<class S>(S) {
    const std::int64_t rows = in.batch * in.d.count * in.h.count, width = in.w.count * depth;
    cpu::parallel_for(rows, [&](std::int64_t row) {
      S* to = stored<S>(made) + row * width;
      const std::int64_t front = in.d.begin(row / in.h.count % in.d.count), top = in.h.begin(row % in.h.count);
      const S* const from = stored<S>(volumes) + row / (in.d.count * in.h.count) * in.d.size * in.h.size * in.w.size * in.channels;
      for (std::int64_t column = 0; column < in.w.count; ++column)
        for (std::int64_t z = front; z < front + in.d.window; ++z)
          for (std::int64_t y = top; y < top + in.h.window; ++y)
            for (std::int64_t k = 0; k < in.w.window; ++k, to += in.channels) {
              const std::int64_t x = in.w.begin(column) + k;
              if (in.d.is_inside(z) && in.h.is_inside(y) && in.w.is_inside(x))
                std::copy_n(from + ((z * in.h.size + y) * in.w.size + x) * in.channels, in.channels, to);
              else std::fill_n(to, in.channels, S{});
            }
    });
  });
  c.set(0, std::move(made));
}

LEAT_FILL(fill_patch_kernels) {
  register_kernel("ExtractImagePatches", run_patches);
  register_kernel("ExtractVolumePatches", run_volume_patches);
}

}  // namespace leat::runtime
