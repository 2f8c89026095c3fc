// The readers of images under libFuzzer: what they accept has the size that was told, has all of its pixels, and has them again. The first
// two bytes choose how the file behind them is read.

#include <leat/core/memory.hpp>
#include <leat/data/bmp_image.hpp>
#include <leat/data/gif_images.hpp>
#include <leat/io/inflate.hpp>
#include <leat/io/jpeg.hpp>
#include <leat/io/png.hpp>

#include "properties.hpp"

#include <algorithm>
#include <vector>

namespace {

using namespace leat;
using leat_fuzz::must;

constexpr std::int64_t most_bytes = 2 << 20;  // of pixels: larger images would be few runs a second

template <class Look>
bool try_to(Look look) {
  try {
    look();
    return true;
  } catch (const error& e) {
    must(e.what()[0] != '\0' && io::is_utf8(e.what()), "an error says something");
    return false;
  }
}

/// Reads an image twice, into memory of different contents; empty for pixels that are refused.
template <class Image>
std::vector<std::uint8_t> pixels_of(const Image& image, std::int64_t channels, std::int64_t frames = 1) {
  must(image.height() >= 1 && image.width() >= 1 && channels >= 1 && channels <= 4 && frames >= 1, "an image has pixels");
  must(image.height() <= (std::int64_t{1} << 32) / image.width(), "sizes are limited");
  if (image.height() * image.width() > most_bytes / 4 / frames) return {};
  const auto size = static_cast<std::size_t>(image.height() * image.width() * channels * frames);
  std::vector<std::uint8_t> first(size, 0xaa), second(size, 0x55);
  const bool is_fine = try_to([&] { image.read(first); });
  must(try_to([&] { image.read(second); }) == is_fine, "an image is read again");
  if (!is_fine) return {};
  must(first == second, "all pixels are written, and come again");
  return first;
}

void look_at_png(std::string_view file, int channels) {
  const io::png_image image(file, channels);
  must(channels == 0 || image.channels() == channels, "an image has the channels that are asked for");
  const auto pixels = pixels_of(image, image.channels());
  if (pixels.empty()) return;
  const std::string again = io::write_png(pixels, image.height(), image.width(), image.channels());
  const io::png_image its(again);
  must(its.height() == image.height() && its.width() == image.width() && its.channels() == image.channels(), "sizes come back");
  must(pixels_of(its, its.channels()) == pixels, "pixels come back");
}
void look_at_jpeg(std::string_view file, const io::jpeg_reading& how) {
  const io::jpeg_image image(file, how), whole(file, {.channels = how.channels});
  must(how.channels == 0 || image.channels() == how.channels, "an image has the channels that are asked for");
  const auto smaller = [&](std::int64_t n) { return (n + how.ratio - 1) / how.ratio; };
  must(image.height() == smaller(whole.height()) && image.width() == smaller(whole.width()), "an image is made smaller");
  const auto pixels = pixels_of(image, image.channels());
  if (pixels.empty()) return;
  const std::string again = io::write_jpeg(pixels, image.height(), image.width(), image.channels(), {.quality = 50});
  const io::jpeg_image its(again);
  must(its.height() == image.height() && its.width() == image.width() && its.channels() == image.channels(), "sizes come back");
  must(!pixels_of(its, its.channels()).empty(), "a written file is read");
}
void look_at_bmp(std::string_view file, std::int64_t channels) {
  const detail::bmp_image image(file, channels);
  must(channels == 0 || image.channels() == channels, "an image has the channels that are asked for");
  must(image.height() * image.width() <= static_cast<std::int64_t>(file.size()), "a file holds its pixels");
  pixels_of(image, image.channels());
}
void look_at_gif(std::string_view file) {
  const detail::gif_images images(file);
  must(images.count() <= static_cast<std::int64_t>(file.size()), "a file holds its frames");
  const auto first = pixels_of(images, 3), all = pixels_of(images, 3, images.count());
  must(all.empty() || (first.size() * static_cast<std::size_t>(images.count()) == all.size() &&
                       std::equal(first.begin(), first.end(), all.begin())),
       "the first frame is the first of all");
}

/// A PNG file whose chunks have their right checksums, which bytes at random hardly have. `packs`: also compresses the pixels.
std::string with_checksums(std::string_view file, bool packs) {
  std::string made(file.substr(0, 8));
  std::string rows;
  std::vector<std::pair<std::string, std::string>> chunks;
  for (std::size_t at = 8; at + 8 <= file.size();) {
    const std::size_t length = std::min<std::size_t>(io::detail::big_endian(file, at), file.size() - at - 8);
    const std::string type(file.substr(at + 4, 4));
    const std::string_view data = file.substr(at + 8, length);
    if (packs && type == "IDAT") {
      if (rows.empty()) chunks.emplace_back(type, "");
      rows += data;
      rows += ' ';
    } else {
      chunks.emplace_back(type, data);
    }
    at += std::min(length + 12, file.size() - at);
  }
  for (auto& [type, data] : chunks) {
    if (packs && type == "IDAT") {
      rows.pop_back();
      rows.resize(std::max<std::size_t>(rows.size(), 4096), '\0');
      io::deflating_stream(io::compression::zlib, 1).add(rows, data, true);
    }
    io::detail::put_chunk(made, type, data);
  }
  return made;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const unsigned how = data[0], more = data[1];
  std::string_view file(reinterpret_cast<const char*>(data) + 2, size - 2);
  constexpr int all_channels[]{0, 1, 3, 4};
  const int channels = all_channels[how & 3];
  const io::jpeg_reading reading{.channels = channels,
                                 .ratio = 1 << (how >> 2 & 3),
                                 .fancy_upscaling = (how & 16) != 0,
                                 .try_recover_truncated = (how & 32) != 0,
                                 .is_accurate = (how & 64) != 0};
  std::string changed;
  if (io::is_png(file) && (more & 1) != 0) file = changed = with_checksums(file, (more & 2) != 0);
  static memory_meter* const meter = memory_meter::make(64 << 20);
  const memory_scope limited(meter);
  try_to([&] { look_at_png(file, channels); });
  try_to([&] { look_at_jpeg(file, reading); });
  try_to([&] { look_at_bmp(file, channels); });
  try_to([&] { look_at_gif(file); });
  must(meter->used() == 0, "memory is given back");
  return 0;
}
