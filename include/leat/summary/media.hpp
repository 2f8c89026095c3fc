#pragma once
// Images and audio as files in memory. PNG is written without compression ("stored" blocks of deflate), so that no library is needed; WAV
// has 16 bits per sample. Sources: ISO/IEC 15948 (PNG), RFC 1950 and 1951 (zlib, deflate), Microsoft's RIFF WAVE with format 1.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace leat::summary {

/// A PNG file with 8 bits per channel. `pixels` are `height` rows of `width` pixels of `channels` bytes: 1 gray, 2 gray and alpha, 3 RGB, 4
/// RGBA.
/// Errors: invalid_argument for sizes below 1 or above 2^24, for another number of channels, if the number of bytes does not match the
/// sizes, or for more than 1 GB.
std::string write_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, int channels);

/// A WAV file. `samples` are frames of `channels` numbers between -1 and 1; values outside are clipped.
/// Errors: invalid_argument for a rate below 1, for less than 1 or more than 65,535 channels, for an incomplete frame, for NaN, or for more
/// than 4 GB.
std::string write_wav(std::span<const float> samples, std::int64_t channels, std::int64_t samples_per_second);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/media.hpp>
#endif
