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

inline void put_little_endian(std::string& to, std::uint32_t v, int bytes) {
  for (int k = 0; k < bytes; ++k) to += static_cast<char>(v >> 8 * k & 0xff);
}

}  // namespace leat::summary::detail

namespace leat::summary {

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
