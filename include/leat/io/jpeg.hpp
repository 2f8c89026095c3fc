#pragma once
// Images in JPEG's format, by libjpeg where it is linked (LEAT_USE_JPEG), with the pixels and the files that TensorFlow makes by the same
// library. Files are untrusted.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace leat::io {

/// Whether a file in memory begins as JPEG files do.
inline bool is_jpeg(std::string_view file) { return file.starts_with("\xff\xd8\xff"); }

/// Rows and columns of an image.
struct jpeg_window {
  std::int64_t y = 0, x = 0, height = 0, width = 0;
};
/// How pixels are computed from a file.
struct jpeg_reading {
  std::int64_t channels = 0;           // 1 gray, 3 RGB; 0: those of the file
  std::int64_t ratio = 1;              // 1, 2, 4 or 8: how much smaller the image is made
  bool fancy_upscaling = true;         // colors between their samples are interpolated
  bool try_recover_truncated = false;  // a file that ends too early has gray pixels where it lacks them
  bool is_accurate = false;            // the accurate cosine transform, not the fast one
  std::function<void()> check{};       // called again and again while pixels are read, which ends with its exception
  std::optional<jpeg_window> window{};  // the part of the image, made smaller by `ratio`, that is read
};

/// A JPEG file in memory.
class jpeg_image {
 public:
  /// Reads the header; the bytes must outlive the object. Errors: invalid_argument for settings out of range, and a damaged or truncated
  /// file, a window that is not inside it, or 2^30 bytes of pixels or more; unimplemented without libjpeg.
  explicit jpeg_image(std::string_view file, const jpeg_reading& how = {});
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  std::int64_t channels() const { return channels_; }
  /// Writes height * width * channels bytes. Errors: invalid_argument for damaged pixels; resource_exhausted if the limit of the session's
  /// memory has no room for the coefficients of a file in several scans.
  void read(std::span<std::uint8_t> to) const;

 private:
  std::string_view file_;
  jpeg_reading how_;
  std::int64_t height_ = 0, width_ = 0, channels_ = 0, row_width_ = 0;
  std::size_t coefficient_bytes_ = 0;
};

/// The sizes of the image in a file; for pixels of four colors, four channels.
struct jpeg_shape {
  std::int64_t height = 0, width = 0, channels = 0;
};
/// Reads the header alone. Errors: invalid_argument for a damaged header; unimplemented without libjpeg.
jpeg_shape read_jpeg_shape(std::string_view file);

/// How a file is written; the defaults are TensorFlow's.
struct jpeg_writing {
  std::int64_t quality = 95;  // 0 to 100
  bool progressive = false;
  bool optimize_size = false;
  bool chroma_downsampling = true;  // colors have half as many rows and columns
  bool in_centimeters = false;      // the unit of the densities, inches or centimeters
  std::int64_t x_density = 300, y_density = 300;
  std::string xmp_metadata{};
};
/// A JPEG file of `height` rows of `width` pixels of `channels` bytes, 1 or 3. Errors: invalid_argument for sizes below 1 or above 65500,
/// settings out of range, or bytes that do not match the sizes; unimplemented without libjpeg.
std::string write_jpeg(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, std::int64_t channels,
                       const jpeg_writing& how = {});

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/jpeg.hpp>
#endif
