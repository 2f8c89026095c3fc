#pragma once
// Kernels between images and their files' bytes. JPEG needs libjpeg (io/jpeg.hpp). Source: TensorFlow `DecodePng`, `DecodeBmp`,
// `DecodeGif`, `DecodeJpeg`, `DecodeAndCropJpeg`, `DecodeImage`, `ExtractJpegShape`, `EncodePng`, `EncodeJpeg`,
// `EncodeJpegVariableQuality`.

#include <leat/core/fill.hpp>
#include <leat/data/bmp_image.hpp>
#include <leat/data/gif_images.hpp>
#include <leat/io/jpeg.hpp>
#include <leat/io/png.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <span>
#include <string>
#include <utility>

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

inline void want_gif_channels(std::int64_t channels) {
  if (channels != 0 && channels != 3) throw invalid_argument("channels must be 0 or 3 for GIF, got " + std::to_string(channels));
}
inline constexpr dtype wide_pixels = static_cast<dtype>(data_type::uint16);
/// The elements of a tensor of uint16.
inline std::span<std::uint16_t> wide_numbers(tensor_value& v) {
  return {static_cast<std::uint16_t*>(static_cast<void*>(v.data())), static_cast<std::size_t>(v.elements())};
}
inline std::span<const std::uint16_t> wide_numbers(const tensor_value& v) {
  return {static_cast<const std::uint16_t*>(static_cast<const void*>(v.data())), static_cast<std::size_t>(v.elements())};
}

/// The pixels of an image of one kind, of shape [height, width, channels], for GIF with `all_frames` [frames, height, width, 3]. `type`:
/// uint8; uint16, for which bytes are multiplied by 256, and PNG's samples have all of their bits; or float32, from 0 to 1.
inline tensor_value decoded_image(image_kind kind, std::string_view contents, std::int64_t channels, bool all_frames, dtype type,
                                  const io::jpeg_reading& how = {}) {
  // As TensorFlow does, real numbers are multiplied by the reciprocal of the largest one: the last bit is that of a division for some only.
  const auto changed = [type](const shape& s, auto from, float largest) {
    tensor_value made(type, s);
    const auto wide = [](auto v) { return static_cast<std::uint16_t>(v * 256); };
    const auto real = [by = 1 / largest](auto v) { return static_cast<float>(v) * by; };
    if (type == wide_pixels) std::ranges::transform(from, wide_numbers(made).begin(), wide);
    else std::ranges::transform(from, made.values<float>().begin(), real);
    return made;
  };
  const auto filled = [&](std::initializer_list<std::int64_t> sizes, const auto& image) {
    if constexpr (requires(std::span<std::uint16_t> to) { image.read(to); })
      if (type != dtype::uint8) {
        tensor_value made(wide_pixels, sizes);
        image.read(wide_numbers(made));
        return type == wide_pixels ? made : changed(made.extent(), wide_numbers(made), 65535);
      }
    tensor_value made(dtype::uint8, sizes);
    image.read(made.values<std::uint8_t>());
    return type == dtype::uint8 ? made : changed(made.extent(), std::as_const(made).values<std::uint8_t>(), 255);
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
      want_gif_channels(channels);
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

/// As in TensorFlow, the operators of PNG, JPEG and GIF read the files of all three; that of GIF gives an array of frames, the others the
/// first frame.
template <image_kind Kind>
void run_decode_kind(kernel_context& c) {
  const std::string contents = image_contents(c);
  const image_kind is = image_kind_of(contents);
  const dtype type = c.node.type_of("dtype", dtype::uint8);
  if (type != dtype::uint8 && type != wide_pixels)
    throw invalid_argument(std::string(c.node.type) + " to " + dtype_name(type) + ": uint8 and uint16 are known");
  constexpr bool is_bmp = Kind == image_kind::bmp, has_frames = Kind == image_kind::gif;
  const std::int64_t channels = has_frames ? 3 : c.node.integer("channels");
  if (is == image_kind::gif) want_gif_channels(channels);
  if (is_bmp != (is == image_kind::bmp)) {
    const std::string name = image_kind_name(is);
    std::string function = name;
    std::ranges::transform(function, function.begin(), [](char letter) { return static_cast<char>(letter + ('a' - 'A')); });
    throw invalid_argument("Trying to decode " + name + " format using " + (is_bmp ? "DecodeBmp op" : "a wrong op") + ". Use `decode_" +
                           function + "` or `decode_image` instead." + (is_bmp ? "" : " Op used: " + std::string(c.node.type)));
  }
  tensor_value image = decoded_image(is, contents, channels, has_frames, type, jpeg_reading_of(c));
  if (has_frames && image.extent().rank == 3) {
    shape frames = shapes::vector_of(1);
    for (int axis = 0; axis < 3; ++axis) frames.push(image.extent()[axis]);
    image = image.reshaped(frames);
  }
  c.set(0, std::move(image));
}
inline void run_decode_image(kernel_context& c) {
  const std::string contents = image_contents(c);
  const dtype type = c.node.type_of("dtype", dtype::uint8);
  if (type != dtype::uint8 && type != wide_pixels && type != dtype::float32)
    throw invalid_argument("DecodeImage to " + dtype_name(type) + ": uint8, uint16 and float32 are known");
  c.set(0, decoded_image(image_kind_of(contents), contents, c.node.integer("channels"), c.node.flag("expand_animations", true), type,
                         {.check = [&step = c.step] { step.check(); }}));
}

/// A window of a JPEG file: rows and columns from input 1, `y, x, height, width`.
inline void run_decode_and_crop(kernel_context& c) {
  const std::string contents = image_contents(c);
  if (c.extent(1).rank != 1) throw invalid_argument("crop_window must be 1-D, got shape " + brackets(c.extent(1)));
  const auto window = c.numbers(1);
  if (window.size() != 4) throw invalid_argument("crop_size must have four elements " + brackets(c.extent(1)));
  if (const image_kind is = image_kind_of(contents); is != image_kind::jpeg)
    throw invalid_argument("DecodeAndCropJpeg operation can run on JPEG only, but detected " + image_kind_name(is) + ".");
  io::jpeg_reading how = jpeg_reading_of(c);
  how.window = io::jpeg_window{window[0], window[1], window[2], window[3]};
  c.set(0, decoded_image(image_kind::jpeg, contents, c.node.integer("channels"), false, dtype::uint8, how));
}
inline void run_jpeg_shape(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("contents must be scalar, got shape " + brackets(c.extent(0)));
  const io::jpeg_shape s = io::read_jpeg_shape(c.input(0).texts()[0]);
  c.set(0, integer_tensor(c.node.type_of("output_type", dtype::int32), {s.height, s.width, s.channels}));
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
  const auto write = [&](auto pixels) {
    const auto size = static_cast<std::size_t>(s.elements(s.rank - 3, s.rank));
    for (std::size_t k = 0; k < made.texts().size(); ++k) {
      c.step.check();
      made.texts()[k] = io::write_png(pixels.subspan(k * size, size), height, width, static_cast<int>(channels));
    }
  };
  if (images.type() == wide_pixels) write(wide_numbers(images));
  else write(images.values<std::uint8_t>());
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

inline void run_encode_jpeg_of_quality(kernel_context& c) {
  const tensor_value image = c.input(0);
  const shape& s = image.extent();
  if (s.rank != 3) throw invalid_argument("image must be 3-dimensional" + brackets(s));
  if (c.extent(1).rank != 0) throw invalid_argument("quality must be scalar: " + brackets(c.extent(1)));
  if (s[2] != 1 && s[2] != 3) throw invalid_argument("image must have 1 or 3 channels, got " + brackets(s));
  c.set(0, tensor_value(io::write_jpeg(image.values<std::uint8_t>(), s[0], s[1], s[2], {.quality = c.number(1)})));
}

LEAT_FILL(fill_image_file_kernels) {
  register_kernel("DecodePng", run_decode_kind<image_kind::png>);
  register_kernel("DecodeBmp", run_decode_kind<image_kind::bmp>);
  register_kernel("DecodeGif", run_decode_kind<image_kind::gif>);
  register_kernel("DecodeJpeg", run_decode_kind<image_kind::jpeg>);
  register_kernel("DecodeAndCropJpeg", run_decode_and_crop);
  register_kernel("ExtractJpegShape", run_jpeg_shape);
  register_kernel("DecodeImage", run_decode_image);
  register_kernel("EncodePng", run_encode_png);
  register_kernel("EncodeJpeg", run_encode_jpeg);
  register_kernel("EncodeJpegVariableQuality", run_encode_jpeg_of_quality);
}

}  // namespace leat::detail
