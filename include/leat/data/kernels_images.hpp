#pragma once
// Kernels between images and their files' bytes. JPEG needs libjpeg (io/jpeg.hpp). Source: TensorFlow `DecodePng`, `DecodeBmp`,
// `DecodeGif`, `DecodeJpeg`, `DecodeImage`, `EncodePng`, `EncodeJpeg`.

#include <leat/core/fill.hpp>
#include <leat/data/bmp_image.hpp>
#include <leat/data/gif_images.hpp>
#include <leat/io/jpeg.hpp>
#include <leat/io/png.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <string>

namespace leat::detail {

enum class image_kind { png, gif, bmp, jpeg };
inline std::string image_kind_name(image_kind kind) {
  constexpr const char* names[]{"PNG", "GIF", "BMP", "JPEG"};
  return names[static_cast<int>(kind)];
}
/// The bytes of an image's file, input 0. Errors: invalid_argument, in TensorFlow's words.
inline std::string image_contents(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("`contents` must be scalar but got shape" + brackets(c.extent(0)));
  std::string contents = c.input(0).as<std::string>();
  if (contents.empty()) throw invalid_argument("Input is empty.");
  return contents;
}
inline image_kind image_kind_of(std::string_view contents) {
  if (io::is_png(contents)) return image_kind::png;
  if (is_gif(contents)) return image_kind::gif;
  if (is_bmp(contents)) return image_kind::bmp;
  if (io::is_jpeg(contents)) return image_kind::jpeg;
  throw invalid_argument("Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required.");
}

/// The pixels of an image of one kind: uint8 of shape [height, width, channels], for GIF [frames, height, width, 3].
inline tensor_value decoded_image(image_kind kind, std::string_view contents, std::int64_t channels, bool all_frames,
                                  const io::jpeg_reading& how = {}) {
  const auto filled = [](std::initializer_list<std::int64_t> sizes, const auto& image) {
    tensor_value made(dtype::uint8, sizes);
    image.read(made.values<std::uint8_t>());
    return made;
  };
  switch (kind) {
    case image_kind::png: {
      const io::png_image image(contents, static_cast<int>(std::clamp<std::int64_t>(channels, -1, 9)));
      return filled({image.height(), image.width(), image.channels()}, image);
    }
    case image_kind::bmp: {
      const bmp_image image(contents, channels);
      return filled({image.height(), image.width(), image.channels()}, image);
    }
    case image_kind::gif: {
      if (channels != 0 && channels != 3) throw invalid_argument("channels must be 0 or 3 for GIF, but got " + std::to_string(channels));
      const gif_images images(contents);
      if (all_frames) return filled({images.count(), images.height(), images.width(), 3}, images);
      return filled({images.height(), images.width(), 3}, images);
    }
    case image_kind::jpeg: break;
  }
  io::jpeg_reading its = how;
  its.channels = channels;
  const io::jpeg_image image(contents, its);
  return filled({image.height(), image.width(), image.channels()}, image);
}
/// How a node of DecodeJpeg reads a file; other decoders have the defaults.
inline io::jpeg_reading jpeg_reading_of(kernel_context& c) {
  const std::string method = c.node.text("dct_method");
  if (!method.empty() && method != "INTEGER_FAST" && method != "INTEGER_ACCURATE")
    throw invalid_argument("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
  return {.ratio = c.node.integer("ratio", 1),
          .fancy_upscaling = c.node.flag("fancy_upscaling", true),
          .try_recover_truncated = c.node.flag("try_recover_truncated"),
          .is_accurate = method == "INTEGER_ACCURATE",
          .check = [&step = c.step] { step.check(); }};
}

template <image_kind Kind>
void run_decode_kind(kernel_context& c) {
  const std::string contents = image_contents(c);
  const image_kind is = image_kind_of(contents);
  if (const dtype type = c.node.type_of("dtype", dtype::uint8); type != dtype::uint8)
    throw unimplemented(std::string(c.node.type) + " to " + dtype_name(type) + ": only uint8 is known");
  // TensorFlow's decoder of JPEG reads PNG as well.
  if (is != Kind && !(Kind == image_kind::jpeg && is == image_kind::png))
    throw invalid_argument("Trying to decode " + image_kind_name(is) + " format using a wrong op. Use `decode_" +
                           (is == image_kind::png   ? "png"
                            : is == image_kind::gif ? "gif"
                            : is == image_kind::bmp ? "bmp"
                                                    : "jpeg") +
                           "` or `decode_image` instead. Op used: " + std::string(c.node.type));
  c.set(0, decoded_image(is, contents, c.node.integer("channels"), true, jpeg_reading_of(c)));
}
inline void run_decode_image(kernel_context& c) {
  const std::string contents = image_contents(c);
  const dtype type = c.node.type_of("dtype", dtype::uint8);
  if (type != dtype::uint8 && type != dtype::float32)
    throw unimplemented("DecodeImage to " + dtype_name(type) + ": uint8 and float32 are known");
  tensor_value image = decoded_image(image_kind_of(contents), contents, c.node.integer("channels"), c.node.flag("expand_animations", true),
                                     {.check = [&step = c.step] { step.check(); }});
  if (type == dtype::uint8) return c.set(0, std::move(image));
  tensor_value made(dtype::float32, image.extent());
  const auto from = std::as_const(image).values<std::uint8_t>();
  std::transform(from.begin(), from.end(), made.values<float>().begin(), [](std::uint8_t v) { return static_cast<float>(v) / 255.0f; });
  c.set(0, std::move(made));
}

inline void run_encode_png(kernel_context& c) {
  const tensor_value images = c.input(0);
  const shape& s = images.extent();
  if (const std::int64_t level = c.node.integer("compression", -1); level < -1 || level > 9)
    throw invalid_argument("compression should be in [-1,9], got " + std::to_string(level));
  if (s.rank < 3) throw invalid_argument("images must be at least rank 3" + brackets(s));
  const std::int64_t channels = s[s.rank - 1], width = s[s.rank - 2], height = s[s.rank - 3];
  if (channels < 1 || channels > 4) throw invalid_argument("image must have 1, 2, 3, or 4 channels, got " + std::to_string(channels));
  shape batch;
  for (int axis = 0; axis + 3 < s.rank; ++axis) batch.push(s[axis]);
  tensor_value made(text_dtype, batch);
  const auto pixels = images.values<std::uint8_t>();
  const auto size = static_cast<std::size_t>(s.elements(s.rank - 3, s.rank));
  for (std::size_t k = 0; k < made.texts().size(); ++k) {
    c.step.check();
    made.texts()[k] = io::write_png(pixels.subspan(k * size, size), height, width, static_cast<int>(channels));
  }
  c.set(0, std::move(made));
}

inline void run_encode_jpeg(kernel_context& c) {
  const tensor_value image = c.input(0);
  const shape& s = image.extent();
  if (s.rank != 3) throw invalid_argument("image must be 3-dimensional" + brackets(s));
  const std::string format = c.node.text("format"), unit = c.node.text("density_unit");
  if (!format.empty() && format != "grayscale" && format != "rgb")
    throw invalid_argument("format must be '', grayscale or rgb, got " + format);
  if (const std::int64_t wanted = format == "grayscale" ? 1 : 3; !format.empty() && s[2] != wanted)
    throw invalid_argument("format " + format + " expects " + std::to_string(wanted) + " channels, got " + brackets(s));
  if (s[2] != 1 && s[2] != 3) throw invalid_argument("image must have 1 or 3 channels, got " + brackets(s));
  if (!unit.empty() && unit != "in" && unit != "cm") throw invalid_argument("density_unit must be 'in' or 'cm', got " + unit);
  c.set(0, tensor_value(io::write_jpeg(image.values<std::uint8_t>(), s[0], s[1], s[2],
                                       {.quality = c.node.integer("quality", 95),
                                        .progressive = c.node.flag("progressive"),
                                        .optimize_size = c.node.flag("optimize_size"),
                                        .chroma_downsampling = c.node.flag("chroma_downsampling", true),
                                        .in_centimeters = unit == "cm",
                                        .x_density = c.node.integer("x_density", 300),
                                        .y_density = c.node.integer("y_density", 300),
                                        .xmp_metadata = c.node.text("xmp_metadata")})));
}

LEAT_FILL(fill_image_file_kernels) {
  register_kernel("DecodePng", run_decode_kind<image_kind::png>);
  register_kernel("DecodeBmp", run_decode_kind<image_kind::bmp>);
  register_kernel("DecodeGif", run_decode_kind<image_kind::gif>);
  register_kernel("DecodeJpeg", run_decode_kind<image_kind::jpeg>);
  register_kernel("DecodeImage", run_decode_image);
  register_kernel("EncodePng", run_encode_png);
  register_kernel("EncodeJpeg", run_encode_jpeg);
}

}  // namespace leat::detail
