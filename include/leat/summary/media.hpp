#pragma once
// Images and audio as files in memory: PNG (io/png.hpp), and WAV with 16 bits per sample. Source: Microsoft's RIFF WAVE with format 1.

#include <leat/core/function_bodies.hpp>
#include <leat/io/png.hpp>

#include <cstdint>
#include <span>
#include <string>

namespace leat::summary {

using io::write_png;

/// A WAV file. `samples` are frames of `channels` numbers between -1 and 1; values outside are clipped.
/// Errors: invalid_argument for a rate below 1, for less than 1 or more than 65,535 channels, for an incomplete frame, for NaN, or for more
/// than 4 GB.
std::string write_wav(std::span<const float> samples, std::int64_t channels, std::int64_t samples_per_second);

}  // namespace leat::summary

#if LEAT_WITH_BODIES
#include <leat/summary/impl/media.hpp>
#endif
