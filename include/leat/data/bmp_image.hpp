#pragma once
// The pixels of a BMP file, as TensorFlow's `DecodeBmp` makes them of it: without palettes and compression. Source: Microsoft's
// BITMAPINFOHEADER.

#include <leat/core/error.hpp>

#include <cstdint>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace leat::detail {

inline bool is_bmp(std::string_view file) { return file.starts_with("BM"); }

class bmp_image {
 public:
  /// Reads the header; the bytes must outlive the object. Errors: invalid_argument, in TensorFlow's words.
  bmp_image(std::string_view file, std::int64_t channels) : file_(file) {
    if (channels != 0 && channels != 3 && channels != 4)
      throw invalid_argument("`channels` must be 0, 3 or 4 for BMP, but got " + std::to_string(channels));
    if (file.size() < 32)
      throw invalid_argument("Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, got " +
                             std::to_string(file.size()) + " bytes");
    begin_ = number(10, 4);
    width_ = number(18, 4);
    const std::int64_t height = number(22, 4), bits = number(28, 2);
    if (width_ < 1) throw invalid_argument("Width must be positive");
    if (height == 0) throw invalid_argument("Height must be nonzero");
    stored_ = bits / 8;
    if (bits % 8 != 0 || (stored_ != 1 && stored_ != 3 && stored_ != 4))
      throw invalid_argument("Number of channels inherent in the image must be 1, 3 or 4, was " + std::to_string(stored_));
    is_upright_ = height < 0;
    height_ = std::abs(height);
    channels_ = channels == 0 ? stored_ : channels;
    constexpr std::int64_t most = std::int64_t{1} << 30;
    if (width_ * height_ >= most / 4) throw invalid_argument("Total possible pixel bytes must be less than 2^30");
    row_ = (width_ * stored_ + 3) / 4 * 4;
    const std::int64_t beside = static_cast<std::int64_t>(file.size()) - begin_ - row_ * height_;
    if (begin_ < 0 || beside != 0)
      throw invalid_argument("Input size should match (header_size + row_size * abs_height) but they differ by " + std::to_string(beside));
  }
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  std::int64_t channels() const { return channels_; }
  /// Writes height * width * channels bytes.
  void read(std::span<std::uint8_t> to) const {
    std::uint8_t* at = to.data();
    for (std::int64_t y = 0; y < height_; ++y) {
      const char* from = file_.data() + begin_ + (is_upright_ ? y : height_ - 1 - y) * row_;
      for (std::int64_t x = 0; x < width_; ++x, from += stored_, at += channels_) {
        const auto sample = [&](std::int64_t k) { return static_cast<std::uint8_t>(from[k]); };
        if (channels_ == 1) {
          at[0] = sample(0);
          continue;
        }
        for (std::int64_t k = 0; k < 3; ++k) at[k] = sample(stored_ == 1 ? 0 : 2 - k);  // blue comes first
        if (channels_ == 4) at[3] = stored_ == 4 ? sample(3) : 255;
      }
    }
  }

 private:
  std::int64_t number(std::size_t at, int bytes) const {  // signed, little-endian
    std::uint32_t v = 0;
    for (int i = 0; i < bytes; ++i)
      v |= static_cast<std::uint32_t>(static_cast<unsigned char>(file_[at + static_cast<std::size_t>(i)])) << (8 * i);
    return bytes == 4 ? static_cast<std::int32_t>(v) : static_cast<std::int64_t>(v);
  }
  std::string_view file_;
  std::int64_t begin_ = 0, width_ = 0, height_ = 0, row_ = 0, stored_ = 0, channels_ = 0;
  bool is_upright_ = false;
};

}  // namespace leat::detail
