#pragma once
// Kernel of patches of images [batch, h, w, channels]: the elements of each window, beside one another in the last dimension. Elements
// outside the image are zeros. Source: TensorFlow `ExtractImagePatches`.

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

LEAT_FILL(fill_patch_kernels) { register_kernel("ExtractImagePatches", run_patches); }

}  // namespace leat::runtime
