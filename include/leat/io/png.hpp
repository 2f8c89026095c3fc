#pragma once
// Images in PNG's format. Files are read with all of its kinds of pixels, interlaced or not, which needs zlib; they are written without
// compression ("stored" blocks of deflate), which needs no library. Files are untrusted.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io {

/// A PNG file with 8 or 16 bits per channel. `pixels` are `height` rows of `width` pixels of `channels` numbers: 1 gray, 2 gray and alpha,
/// 3 RGB, 4 RGBA.
/// Errors: invalid_argument for sizes below 1 or above 2^24, for another number of channels, if the number of elements does not match the
/// sizes, or for more than 1 GB.
std::string write_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, int channels);
std::string write_png(std::span<const std::uint16_t> pixels, std::int64_t height, std::int64_t width, int channels);

/// Whether a file in memory begins as PNG files do.
inline bool is_png(std::string_view file) { return file.starts_with("\x89PNG\r\n\x1a\n"); }

/// A PNG file in memory, whose pixels are read as TensorFlow's `DecodePng` makes them of it: with 8 bits for each channel, which are the
/// upper ones of samples of 16 bits; or with 16, which are those of a byte, twice.
class png_image {
 public:
  /// Reads all but the pixels; the bytes must outlive the object. `channels`: 1, 3 or 4, or 0 for those of the file, where a palette counts
  /// as RGB, or as RGBA if it has transparent colors. Errors: invalid_argument for another number of channels, and for a damaged or
  /// truncated file, also if it is too short for its pixels.
  explicit png_image(std::string_view file, int channels = 0);

  /// How many rows of pixels the image has.
  std::int64_t height() const { return height_; }
  /// How many pixels a row has.
  std::int64_t width() const { return width_; }
  /// How many numbers a pixel has: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
  int channels() const { return channels_; }
  /// Writes the rows of pixels, height * width * channels numbers. Errors: invalid_argument for damaged pixels; unimplemented without zlib.
  void read(std::span<std::uint8_t> to) const;
  void read(std::span<std::uint16_t> to) const;

 private:
  struct samples;
  void read_header(std::string_view data);
  template <class Number>
  void write_pixel(const samples& from, Number* to) const;
  template <class Number>
  void read_numbers(std::span<Number> to) const;
  std::int64_t row_bytes(std::int64_t width) const { return (width * depth_ * stored_ + 7) / 8; }
  [[noreturn]] void fail(bool in_header) const;

  std::string_view file_;
  std::int64_t height_ = 0, width_ = 0;
  int channels_ = 0, depth_ = 0, color_ = 0, stored_ = 0;  // `stored_`: samples of a pixel in the file
  bool is_interlaced_ = false, has_transparency_ = false;
  std::vector<std::string_view> parts_;  // of the compressed pixels
  std::vector<std::uint8_t> palette_, palette_alpha_;
  unsigned transparent_[3]{};  // the color that is transparent, in the samples of the file
};

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/png.hpp>
#endif
