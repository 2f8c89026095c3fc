#pragma once
// Pictures and sound as files in memory. PNG is written without compression ("stored" blocks of deflate), so that nothing has to be
// linked; WAV has 16 bits a sample. Sources: ISO/IEC 15948 (PNG), RFC 1950 and 1951 (zlib, deflate), Microsoft's RIFF WAVE with format 1.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace leat::summary {

/// A PNG file of 8 bits a channel. `pixels` are rows of `width` pixels of `channels` bytes: 1 gray, 2 gray and alpha, 3 RGB, 4 RGBA.
/// Errors: invalid_argument for sizes below 1 or above 2^24, another number of channels, or pixels that are not as many as the sizes say.
std::string write_png(std::span<const std::uint8_t> pixels, std::int64_t height, std::int64_t width, int channels);

/// A WAV file. `samples` are frames of `channels` numbers between -1 and 1; what lies outside is cut off.
/// Errors: invalid_argument for a rate below 1, no channels or more than 65,535, samples that are no whole frames, NaN, or more than 4 GB.
std::string write_wav(std::span<const float> samples, std::int64_t channels, std::int64_t samples_per_second);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/media_bodies.hpp>
#endif
