#pragma once
// Implementation of media.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/inflate.hpp>
#include <leat/summary/media.hpp>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace leat::summary::detail {

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
inline void put_little_endian(std::string& to, std::uint32_t v, int bytes) {
  for (int k = 0; k < bytes; ++k) to += static_cast<char>(v >> 8 * k & 0xff);
}

inline void put_chunk(std::string& to, std::string_view type, std::string_view data) {
  put_big_endian(to, static_cast<std::uint32_t>(data.size()));
  const std::size_t begin = to.size();
  to += type;
  to += data;
  put_big_endian(to, io::crc32(std::string_view(to).substr(begin)));
}

}  // namespace leat::summary::detail

namespace leat::summary {

LEAT_FUNCTION std::string write_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, int channels) {
  constexpr std::int64_t most = std::int64_t{1} << 24;
  if (height < 1 || width < 1 || height > most || width > most || channels < 1 || channels > 4)
    throw invalid_argument("a picture of " + std::to_string(height) + " x " + std::to_string(width) + " pixels of " +
                           std::to_string(channels) + " channels: sizes are 1 to 2^24, channels 1 to 4");
  const auto row = static_cast<std::size_t>(width * channels);
  if (pixels.size() != row * static_cast<std::size_t>(height))
    throw invalid_argument("a picture of " + std::to_string(height) + " x " + std::to_string(width) + " x " + std::to_string(channels) +
                           " with " + std::to_string(pixels.size()) + " bytes");
  // Each row is preceded by the number of its filter; 0 is none.
  std::string rows;
  rows.reserve((row + 1) * static_cast<std::size_t>(height));
  for (; !pixels.empty(); pixels = pixels.subspan(row)) {
    rows += '\0';
    rows.append(reinterpret_cast<const char*>(pixels.data()), row);
  }
  if (rows.size() > std::size_t{1} << 30) throw invalid_argument("a picture of more than 1 GB");
  std::string packed("\x78\x01", 2);
  constexpr std::size_t block = 65535;
  for (std::size_t at = 0; at < rows.size(); at += block) {
    const std::size_t size = std::min(block, rows.size() - at);
    packed += at + size == rows.size() ? '\1' : '\0';
    detail::put_little_endian(packed, static_cast<std::uint32_t>(size), 2);
    detail::put_little_endian(packed, static_cast<std::uint32_t>(~size), 2);
    packed.append(rows, at, size);
  }
  detail::put_big_endian(packed, detail::zlib_checksum(rows));

  std::string header;
  detail::put_big_endian(header, static_cast<std::uint32_t>(width));
  detail::put_big_endian(header, static_cast<std::uint32_t>(height));
  constexpr char color_types[]{0, 0, 4, 2, 6};
  header += {8, color_types[channels], 0, 0, 0};
  std::string file("\x89PNG\r\n\x1a\n", 8);
  detail::put_chunk(file, "IHDR", header);
  detail::put_chunk(file, "IDAT", packed);
  detail::put_chunk(file, "IEND", {});
  return file;
}

LEAT_FUNCTION std::string write_wav(std::span<const float> samples, std::int64_t channels, std::int64_t samples_per_second) {
  if (samples_per_second < 1 || samples_per_second > 0xffffffff)
    throw invalid_argument("sound of " + std::to_string(samples_per_second) + " samples per second");
  if (channels < 1 || channels > 65535) throw invalid_argument("sound of " + std::to_string(channels) + " channels");
  if (samples.size() % static_cast<std::size_t>(channels) != 0)
    throw invalid_argument(std::to_string(samples.size()) + " samples are no whole frames of " + std::to_string(channels) + " channels");
  const auto frame = static_cast<std::uint64_t>(2 * channels);
  if (2 * samples.size() > 0xffffff00 || frame * static_cast<std::uint64_t>(samples_per_second) > 0xffffffff)
    throw invalid_argument("more sound than the 4 GB of a WAV file");
  const auto bytes = static_cast<std::uint32_t>(2 * samples.size());
  std::string file = "RIFF";
  file.reserve(44 + bytes);
  const auto put = [&](std::uint64_t v, int size) { detail::put_little_endian(file, static_cast<std::uint32_t>(v), size); };
  put(36 + bytes, 4);
  file += "WAVEfmt ";
  put(16, 4), put(1, 2);  // length of the format chunk; PCM
  put(static_cast<std::uint64_t>(channels), 2);
  put(static_cast<std::uint64_t>(samples_per_second), 4);
  put(frame * static_cast<std::uint64_t>(samples_per_second), 4);
  put(frame, 2), put(16, 2);
  file += "data";
  put(bytes, 4);
  for (const float s : samples) {
    if (std::isnan(s)) throw invalid_argument("NaN in sound");
    put(static_cast<std::uint32_t>(static_cast<std::int32_t>(std::clamp(std::round(s * 32768.0f), -32768.0f, 32767.0f))), 2);
  }
  return file;
}

}  // namespace leat::summary
