#pragma once
// Implementation of png.hpp. Sources: ISO/IEC 15948 (PNG), RFC 1950 and 1951 (zlib, deflate).

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/png.hpp>

#include <algorithm>
#include <cstdlib>
#include <vector>

namespace leat::io::detail {

// Sums modulo 65521 that end a zlib stream. Source: RFC 1950. 5,552 bytes are as many as 32 bits hold without a remainder.
inline std::uint32_t zlib_checksum(std::string_view bytes) {
  std::uint32_t a = 1, b = 0;
  while (!bytes.empty()) {
    for (const char c : bytes.substr(0, 5552)) b += a += static_cast<unsigned char>(c);
    a %= 65521, b %= 65521;
    bytes.remove_prefix(std::min<std::size_t>(bytes.size(), 5552));
  }
  return b << 16 | a;
}

inline void put_big_endian(std::string& to, std::uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) to += static_cast<char>(v >> shift & 0xff);
}
inline void put_chunk(std::string& to, std::string_view type, std::string_view data) {
  put_big_endian(to, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = to.size();
  to += type;
  to += data;
  put_big_endian(to, io::crc32(std::string_view(to).substr(begin)));
}

inline std::uint32_t big_endian(std::string_view bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
  return v;
}

/// One of the seven parts of an interlaced image: which pixels of it there are.
struct png_pass {
  int x = 0, y = 0, step_x = 1, step_y = 1;
  std::int64_t columns(std::int64_t width) const { return width <= x ? 0 : (width - x + step_x - 1) / step_x; }
  std::int64_t rows(std::int64_t height) const { return height <= y ? 0 : (height - y + step_y - 1) / step_y; }
};
inline std::span<const png_pass> png_passes(bool is_interlaced) {
  static constexpr png_pass whole[]{{}};
  static constexpr png_pass interlaced[]{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
  if (is_interlaced) return interlaced;
  return whole;
}

/// Takes back the filter of a row, whose bytes were replaced by differences. Returns false for an unknown filter.
inline bool unfilter_row(int filter, std::span<std::uint8_t> row, std::span<const std::uint8_t> above, std::size_t pixel) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int left = i >= pixel ? row[i - pixel] : 0, up = above[i], corner = i >= pixel ? above[i - pixel] : 0;
    int expected = 0;
    switch (filter) {
      case 0: return true;
      case 1: expected = left; break;
      case 2: expected = up; break;
      case 3: expected = (left + up) / 2; break;
      case 4: {  // whichever of the three is nearest to their linear continuation
        const int guess = left + up - corner;
        const int by_left = std::abs(guess - left), by_up = std::abs(guess - up), by_corner = std::abs(guess - corner);
        expected = by_left <= by_up && by_left <= by_corner ? left : by_up <= by_corner ? up : corner;
        break;
      }
      default: return false;
    }
    row[i] = static_cast<std::uint8_t>(row[i] + expected);
  }
  return filter <= 4;
}

/// A file of pixels, each number of one or two bytes.
template <class Number>
std::string png_of(std::span<const Number> pixels, std::int64_t height, std::int64_t width, int channels) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (height < 1 || width < 1 || height > most || width > most || channels < 1 || channels > 4)
    throw invalid_argument("a picture of " + std::to_string(height) + " x " + std::to_string(width) + " pixels of " +
                           std::to_string(channels) + " channels: sizes are 1 to 2^24, channels 1 to 4");
  const auto row = static_cast<std::size_t>(width * channels);
  if (pixels.size() != row * static_cast<std::size_t>(height))
    throw invalid_argument("a picture of " + std::to_string(height) + " x " + std::to_string(width) + " x " + std::to_string(channels) +
                           " with " + std::to_string(pixels.size()) + " numbers");
  const std::size_t bytes = (row * sizeof(Number) + 1) * static_cast<std::size_t>(height);
  if (bytes > std::size_t{1} << 30) throw invalid_argument("a picture of more than 1 GB");
  // Each row is preceded by the number of its filter; 0 is none.
  std::string rows;
  rows.reserve(bytes);
  for (; !pixels.empty(); pixels = pixels.subspan(row)) {
    rows += '\0';
    if constexpr (sizeof(Number) == 1) {
      rows.append(reinterpret_cast<const char*>(pixels.data()), row);
    } else {
      for (const Number v : pixels.first(row)) {
        rows += static_cast<char>(v >> 8);
        rows += static_cast<char>(v & 0xff);
      }
    }
  }
  std::string packed("\x78\x01", 2);
  constexpr std::size_t block = 65535;
  const auto put_16 = [&](std::size_t v) {
    packed += static_cast<char>(v & 0xff);
    packed += static_cast<char>(v >> 8 & 0xff);
  };
  for (std::size_t at = 0; at < rows.size(); at += block) {
    const std::size_t size = std::min(block, rows.size() - at);
    packed += at + size == rows.size() ? '\1' : '\0';
    put_16(size);
    put_16(~size);
    packed.append(rows, at, size);
  }
  put_big_endian(packed, zlib_checksum(rows));

  std::string header;
  put_big_endian(header, static_cast<std::uint32_t>(width));
  put_big_endian(header, static_cast<std::uint32_t>(height));
  constexpr char color_types[]{0, 0, 4, 2, 6};
  header += {static_cast<char>(8 * sizeof(Number)), color_types[channels], 0, 0, 0};
  std::string file("\x89PNG\r\n\x1a\n", 8);
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", packed);
  put_chunk(file, "IEND", {});
  return file;
}

}  // namespace leat::io::detail

namespace leat::io {

LEAT_FUNCTION std::string write_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, int channels) {
  return detail::png_of(pixels, height, width, channels);
}
LEAT_FUNCTION std::string write_png(std::span<const std::uint16_t> pixels, std::int64_t height, std::int64_t width, int channels) {
  return detail::png_of(pixels, height, width, channels);
}

struct png_image::samples {
  unsigned at[4]{};
};

LEAT_FUNCTION void png_image::fail(bool in_header) const {
  throw invalid_argument(in_header ? std::string("Invalid PNG. Failed to initialize decoder.")
                                   : "Invalid PNG data, size " + std::to_string(file_.size()));
}

LEAT_FUNCTION void png_image::read_header(std::string_view data) {
  if (data.size() != 13) fail(true);
  constexpr std::int64_t most = std::int64_t{1} << 27, most_pixels = std::int64_t{1} << 29;  // TensorFlow's limits
  width_ = detail::big_endian(data, 0);
  height_ = detail::big_endian(data, 4);
  depth_ = static_cast<unsigned char>(data[8]);
  color_ = static_cast<unsigned char>(data[9]);
  if (width_ < 1 || height_ < 1 || width_ >= most || height_ >= most || width_ * height_ >= most_pixels) fail(true);
  if (data[10] != 0 || data[11] != 0 || static_cast<unsigned char>(data[12]) > 1) fail(true);
  is_interlaced_ = data[12] == 1;
  const bool is_small = depth_ == 1 || depth_ == 2 || depth_ == 4;
  switch (color_) {
    case 0:
    case 3: stored_ = 1; break;
    case 2: stored_ = 3; break;
    case 4: stored_ = 2; break;
    case 6: stored_ = 4; break;
    default: fail(true);
  }
  if (!(depth_ == 8 || (depth_ == 16 && color_ != 3) || (is_small && (color_ == 0 || color_ == 3)))) fail(true);
}

LEAT_FUNCTION png_image::png_image(std::string_view file, int channels) : file_(file) {
  if (channels != 0 && channels != 1 && channels != 3 && channels != 4)
    throw invalid_argument("`channels` must be 0, 1, 3 or 4 but got " + std::to_string(channels));
  if (!is_png(file)) fail(true);
  bool is_ended = false, has_palette = false, is_interrupted = false;
  std::uint64_t compressed = 0;
  for (std::size_t at = 8; !is_ended;) {
    // The pixels begin with the first part, also if that is damaged.
    const bool in_header = parts_.empty() && !file.substr(std::min(at + 4, file.size())).starts_with("IDAT");
    if (file.size() - at < 12) fail(in_header);
    const std::size_t length = detail::big_endian(file, at);
    if (length > file.size() - at - 12) fail(in_header);
    const std::string_view type = file.substr(at + 4, 4), data = file.substr(at + 8, length);
    const bool is_whole = crc32(file.substr(at + 4, length + 4)) == detail::big_endian(file, at + 8 + length);
    const bool is_needed = (type[0] & 0x20) == 0;
    if (is_needed && !is_whole) fail(in_header);
    if (width_ == 0 && type != "IHDR") fail(true);
    if (type == "IHDR") {
      if (width_ != 0) fail(true);
      read_header(data);
    } else if (type == "PLTE") {
      if (has_palette) fail(in_header);
      if (parts_.empty()) {  // behind the pixels it says nothing; nor does a wrong one without use
        has_palette = true;
        const bool is_used = color_ == 3, is_wrong = length % 3 != 0 || length > 768;
        if ((is_used && is_wrong) || (length == 0 && (color_ & 2) != 0)) fail(true);
        if (is_used) palette_.assign(data.begin(), data.begin() + static_cast<std::ptrdiff_t>(std::min(length, std::size_t{3} << depth_)));
      }
    } else if (type == "tRNS" && is_whole && parts_.empty() && !has_transparency_) {
      const auto sample = [&](std::size_t k) {
        return static_cast<unsigned>(static_cast<unsigned char>(data[2 * k])) << 8 | static_cast<unsigned char>(data[2 * k + 1]);
      };
      if (color_ == 3 && 3 * length <= palette_.size()) {
        palette_alpha_.assign(data.begin(), data.end());
        has_transparency_ = length > 0;
      } else if ((color_ == 0 && length == 2) || (color_ == 2 && length == 6)) {
        for (std::size_t k = 0; k < length / 2; ++k) transparent_[k] = sample(k) & ((1u << depth_) - 1);
        has_transparency_ = true;
      }
    } else if (type == "IDAT") {
      if (color_ == 3 && palette_.empty()) fail(true);
      if (is_interrupted) {  // the pixels are in consecutive parts only
        at += length + 12;
        continue;
      }
      parts_.push_back(data);
      compressed += length;
    } else if (type == "IEND") {
      if (parts_.empty()) fail(true);
      is_ended = true;
    } else if (is_needed) {
      fail(in_header);
    }
    is_interrupted = !parts_.empty() && type != "IDAT";
    at += length + 12;
  }
  // Deflate packs at most 1,032 bytes into one, so memory for pixels that the file cannot hold is never taken.
  std::uint64_t needed = 0;
  for (const detail::png_pass& p : detail::png_passes(is_interlaced_))
    if (const std::int64_t columns = p.columns(width_); columns > 0)
      needed += static_cast<std::uint64_t>(p.rows(height_) * (row_bytes(columns) + 1));
  if (needed > compressed * 1040) fail(false);
  channels_ = channels != 0 ? channels : color_ == 3 ? (has_transparency_ ? 4 : 3) : stored_;
}

template <class Number>
void png_image::write_pixel(const samples& from, Number* to) const {
  unsigned color[3]{from.at[0], from.at[0], from.at[0]};
  const bool has_color = color_ == 2 || color_ == 6 || color_ == 3;
  unsigned most = (1u << depth_) - 1, alpha = most;
  if (color_ == 2 || color_ == 6) color[1] = from.at[1], color[2] = from.at[2];
  if (color_ == 4) alpha = from.at[1];
  if (color_ == 6) alpha = from.at[3];
  if (color_ == 3) {
    const std::size_t index = from.at[0];
    for (std::size_t k = 0; k < 3; ++k) color[k] = 3 * index + k < palette_.size() ? palette_[3 * index + k] : 0;
    // Without transparent colors TensorFlow fills in the largest sample of the file, which is no byte's largest for small samples.
    alpha = !has_transparency_ ? most : index < palette_alpha_.size() ? palette_alpha_[index] : 255;
    most = 255;
  } else {
    if (has_transparency_)
      alpha = color[0] == transparent_[0] && (color_ == 0 || (color[1] == transparent_[1] && color[2] == transparent_[2]))
                  ? 0
                  : std::max(most, 255u);
    if (depth_ < 8)
      for (unsigned& c : color) c = c * 255 / most;
  }
  const bool is_wide = depth_ == 16;
  const auto number_of = [&](unsigned v) {
    if constexpr (sizeof(Number) == 1) return static_cast<Number>(is_wide ? v >> 8 : v);
    else return static_cast<Number>(is_wide ? v : v * 257);
  };
  if (channels_ <= 2) {
    // The weights 0.299, 0.587 and what is left, in 1/32768, cut off as libpng does.
    const bool is_gray = !has_color || (color[0] == color[1] && color[0] == color[2]);
    const std::uint64_t sum = 9797ull * color[0] + 19234ull * color[1] + 3737ull * color[2] + (is_wide ? 16384 : 0);
    to[0] = number_of(is_gray ? color[0] : static_cast<unsigned>(sum >> 15));
    if (channels_ == 2) to[1] = number_of(alpha);
    return;
  }
  for (int k = 0; k < 3; ++k) to[k] = number_of(color[k]);
  if (channels_ == 4) to[3] = number_of(alpha);
}

LEAT_FUNCTION void png_image::read(std::span<std::uint8_t> to) const { read_numbers(to); }
LEAT_FUNCTION void png_image::read(std::span<std::uint16_t> to) const { read_numbers(to); }

template <class Number>
void png_image::read_numbers(std::span<Number> to) const {
  if (to.size() != static_cast<std::size_t>(height_ * width_ * channels_))
    throw invalid_argument("another number of elements than the image has");
  std::size_t next_part = 0;
  const auto next = [&] {
    std::string_view part;
    while (part.empty() && next_part < parts_.size()) part = parts_[next_part++];  // an empty one is not the end
    return part;
  };
  inflating_stream in(compression::zlib, next, "PNG");
  const auto fill = [&](std::uint8_t* bytes, std::size_t count) {
    try {
      while (count > 0) {
        const std::size_t got = in.read({reinterpret_cast<char*>(bytes), count});
        if (got == 0) fail(false);
        bytes += got;
        count -= got;
      }
    } catch (const data_loss&) {
      fail(false);
    }
  };
  const auto pixel = static_cast<std::size_t>(std::max(1, depth_ * stored_ / 8));
  for (const detail::png_pass& p : detail::png_passes(is_interlaced_)) {
    const std::int64_t columns = p.columns(width_), rows = p.rows(height_);
    if (columns == 0) continue;
    std::vector<std::uint8_t> row(static_cast<std::size_t>(row_bytes(columns))), above(row.size());
    for (std::int64_t r = 0; r < rows; ++r) {
      std::uint8_t filter = 0;
      fill(&filter, 1);
      fill(row.data(), row.size());
      if (!detail::unfilter_row(filter, row, above, pixel)) fail(false);
      for (std::int64_t column = 0; column < columns; ++column) {
        samples of;
        for (int k = 0; k < stored_; ++k) {
          const auto i = static_cast<std::size_t>(column * stored_ + k);
          if (depth_ == 16) {
            of.at[k] = static_cast<unsigned>(row[2 * i]) << 8 | row[2 * i + 1];
          } else if (depth_ == 8) {
            of.at[k] = row[i];
          } else {
            const std::size_t bit = i * static_cast<std::size_t>(depth_);
            of.at[k] = static_cast<unsigned>(row[bit / 8]) >> (8 - static_cast<std::size_t>(depth_) - bit % 8) & ((1u << depth_) - 1);
          }
        }
        const std::int64_t x = p.x + column * p.step_x, y = p.y + r * p.step_y;
        write_pixel(of, to.data() + (y * width_ + x) * channels_);
      }
      std::swap(row, above);
    }
  }
  try {
    char rest[256];
    while (in.read(rest) > 0) continue;
    if (!in.is_whole()) fail(false);
  } catch (const data_loss&) {  // behind the last row, as a wrong checksum is: TensorFlow takes the pixels
  }
}

}  // namespace leat::io
