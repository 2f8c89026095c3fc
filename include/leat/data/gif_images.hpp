#pragma once
// The frames of a GIF file, as TensorFlow's `DecodeGif` makes them of it. Files are untrusted: sizes count only as far as the file's length
// allows. Source: CompuServe, "GRAPHICS INTERCHANGE FORMAT, Version 89a".

#include <leat/core/error.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::detail {

inline bool is_gif(std::string_view file) {
  return file.size() >= 6 && file.substr(0, 4) == "GIF8" && (file[4] == '7' || file[4] == '9') && file[5] == 'a';
}

class gif_images {
 public:
  /// Finds the frames; the bytes must outlive the object. Of a damaged or truncated file these are the frames before the damage, as in
  /// TensorFlow. Errors: invalid_argument if there are none.
  explicit gif_images(std::string_view file) : rest_(file) {
    if (!is_gif(file)) fail("it is no GIF");
    take(6 + 4);
    const unsigned packed = byte();
    take(2);
    const std::string_view common = colors(packed);
    try {
      read_frames(common);
    } catch (const invalid_argument&) {
      if (frames_.empty()) throw;  // otherwise the frames before the damage count
    }
    if (frames_.empty()) fail("gif file does not contain any image");
    for (const frame& f : frames_) {
      if (f.colors.empty()) fail("missing color map for frame " + std::to_string(&f - frames_.data()));
      width_ = std::max(width_, f.width);
      height_ = std::max(height_, f.height);
    }
    std::size_t held = 0;
    for (const frame& f : frames_) held += f.data.size();
    if (!can_hold(held, width_ * height_)) fail("the file is too short for its pixels");
    constexpr std::int64_t most = std::int64_t{1} << 31;  // bytes
    if (width_ * height_ * 3 > most / count()) fail("more than 2 GB of pixels");
  }

  std::int64_t count() const { return static_cast<std::int64_t>(frames_.size()); }
  std::int64_t height() const { return height_; }
  std::int64_t width() const { return width_; }
  /// Writes the first frames, height * width * 3 bytes each. What a frame leaves out it takes from the one before, or leaves black.
  void read(std::span<std::uint8_t> to) const {
    const auto size = static_cast<std::size_t>(width_ * height_ * 3);
    std::vector<std::uint8_t> indices;
    for (std::size_t k = 0; k < frames_.size() && (k + 1) * size <= to.size(); ++k) {
      const frame& f = frames_[k];
      const std::span<std::uint8_t> at = to.subspan(k * size, size);
      if (k == 0) std::fill(at.begin(), at.end(), std::uint8_t{0});
      else std::copy_n(to.begin() + static_cast<std::ptrdiff_t>((k - 1) * size), size, at.begin());
      unpack(f, indices);
      std::size_t next = 0;
      for (std::int64_t r = 0; r < f.height; ++r) {
        const std::int64_t y = f.top + (f.is_interlaced ? interlaced_row(r, f.height) : r);
        for (std::int64_t x = f.left; x < f.left + f.width; ++x) {
          const std::size_t index = indices[next++];
          if (static_cast<int>(index) == f.transparent || x >= width_ || y >= height_) continue;
          if (3 * index + 3 > f.colors.size()) fail("a color outside of the frame's colors");
          for (std::size_t c = 0; c < 3; ++c)
            at[static_cast<std::size_t>((y * width_ + x) * 3) + c] = static_cast<std::uint8_t>(f.colors[3 * index + c]);
        }
      }
    }
  }

 private:
  struct frame {
    std::int64_t left = 0, top = 0, width = 0, height = 0;
    bool is_interlaced = false;
    int transparent = -1;
    std::string_view colors;
    int code_bits = 0;
    std::string data;
  };

  // A code of 12 bits stands for at most 4,096 pixels, and shorter codes for fewer, so memory for pixels that the file cannot hold is never
  // taken.
  static bool can_hold(std::size_t bytes, std::int64_t pixels) { return pixels <= static_cast<std::int64_t>(bytes + 2) * 2800; }
  [[noreturn]] static void fail(const std::string& why) { throw invalid_argument("Invalid GIF data: " + why); }
  std::string_view take(std::size_t count) {
    if (count > rest_.size()) fail("the file is truncated");
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }
  unsigned byte() { return static_cast<unsigned char>(take(1)[0]); }
  std::int64_t number() {
    const std::string_view two = take(2);
    return static_cast<unsigned char>(two[0]) | static_cast<unsigned char>(two[1]) << 8;
  }
  std::string_view colors(unsigned packed) {
    return (packed & 0x80) != 0 ? take(std::size_t{3} << ((packed & 7) + 1)) : std::string_view{};
  }
  std::string blocks() {
    std::string all;
    while (const unsigned size = byte()) all += take(size);
    return all;
  }
  void read_frames(std::string_view common) {
    int transparent = -1;
    std::vector<std::uint8_t> indices;
    for (bool is_ended = false; !is_ended;) {
      switch (byte()) {
        case 0x21:  // an extension; the one before a frame names its transparent color
          if (byte() == 0xf9) {
            const std::string settings = blocks();
            if (settings.size() < 4) fail("an extension that is too short");
            transparent = (settings[0] & 1) != 0 ? static_cast<unsigned char>(settings[3]) : -1;
          } else {
            blocks();
          }
          break;
        case 0x2c: {
          frame next = frame_at(common, transparent);
          if (!frames_.empty()) unpack(next, indices);  // a later frame counts if its pixels are whole
          frames_.push_back(std::move(next));
          transparent = -1;
          break;
        }
        case 0x3b: is_ended = true; break;
        default: fail("an unknown block");
      }
    }
  }
  frame frame_at(std::string_view common, int transparent) {
    frame f;
    f.left = number(), f.top = number(), f.width = number(), f.height = number();
    const unsigned packed = byte();
    f.is_interlaced = (packed & 0x40) != 0;
    f.transparent = transparent;
    f.colors = (packed & 0x80) != 0 ? colors(packed) : common;
    f.code_bits = static_cast<int>(byte());
    if (f.code_bits < 1 || f.code_bits > 8) fail("codes of " + std::to_string(f.code_bits) + " bits");
    f.data = blocks();
    if (f.width < 1 || f.height < 1) fail("a frame without pixels");
    if (!can_hold(f.data.size(), f.width * f.height)) fail("the file is too short for its pixels");
    return f;
  }
  // The rows come in four passes.
  static std::int64_t interlaced_row(std::int64_t at, std::int64_t height) {
    constexpr std::int64_t begins[]{0, 4, 2, 1}, steps[]{8, 8, 4, 2};
    for (int pass = 0; pass < 4; ++pass) {
      const std::int64_t rows = height <= begins[pass] ? 0 : (height - begins[pass] + steps[pass] - 1) / steps[pass];
      if (at < rows) return begins[pass] + at * steps[pass];
      at -= rows;
    }
    return 0;
  }
  // Each code is a color, or the pixels of an earlier code and one more. Source: T. A. Welch, 1984.
  static void unpack(const frame& f, std::vector<std::uint8_t>& to) {
    constexpr int most_codes = 4096;
    struct entry {
      std::int16_t before = -1;
      std::uint8_t last = 0, first = 0;
      std::uint16_t length = 1;
    };
    std::vector<entry> codes(most_codes);
    const int clear = 1 << f.code_bits, end = clear + 1;
    for (int k = 0; k < clear; ++k)
      codes[static_cast<std::size_t>(k)] = {-1, static_cast<std::uint8_t>(k), static_cast<std::uint8_t>(k), 1};
    const auto wanted = static_cast<std::size_t>(f.width * f.height);
    to.clear();
    to.reserve(wanted);
    int bits = f.code_bits + 1, next = end + 1, last = -1, held = 0;
    std::uint32_t buffer = 0;
    for (std::size_t at = 0; to.size() < wanted;) {
      while (held < bits) {
        if (at == f.data.size()) fail("the pixels of a frame are truncated");
        buffer |= static_cast<std::uint32_t>(static_cast<unsigned char>(f.data[at++])) << held;
        held += 8;
      }
      const int code = static_cast<int>(buffer & ((1u << bits) - 1));
      buffer >>= bits;
      held -= bits;
      if (code == clear) {
        bits = f.code_bits + 1, next = end + 1, last = -1;
        continue;
      }
      if (code == end) fail("the pixels of a frame are truncated");
      if (code > next || (code == next && last < 0) || (last < 0 && code >= clear)) fail("a code before its definition");
      // The new code is the last one's pixels and the first pixel of this one, which may be the new code itself.
      if (last >= 0 && next < most_codes) {
        const entry& before = codes[static_cast<std::size_t>(last)];
        const std::uint8_t first = code == next ? before.first : codes[static_cast<std::size_t>(code)].first;
        codes[static_cast<std::size_t>(next)] = {static_cast<std::int16_t>(last), first, before.first,
                                                 static_cast<std::uint16_t>(before.length + 1)};
        if (++next == 1 << bits && bits < 12) ++bits;
      } else if (code >= next) {
        fail("a code before its definition");
      }
      const std::size_t length = codes[static_cast<std::size_t>(code)].length, begin = to.size();
      to.resize(begin + length);
      int from = code;
      for (std::size_t k = length; k-- > 0; from = codes[static_cast<std::size_t>(from)].before)
        to[begin + k] = codes[static_cast<std::size_t>(from)].last;
      last = code;
    }
  }

  std::string_view rest_;
  std::vector<frame> frames_;
  std::int64_t width_ = 0, height_ = 0;
};

}  // namespace leat::detail
