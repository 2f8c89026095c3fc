#pragma once
// Definitions of operators on sound: files in WAV's format, spectrograms, and the coefficients that speech models take.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

#include <bit>

namespace leat::detail {

LEAT_FILL(fill_audio_definitions) {
  constexpr facts files{.is = nature::pure, .stops_gradient = true};
  constexpr facts pure{.is = nature::pure};
  define_operator(
      "DecodeWav(contents: string) -> (audio: float32, sample_rate: int32); desired_channels: int = -1; desired_samples: int = -1", files,
      [](shape_context& c) {
        shapes::want_rank(c, 0, 0);
        shape audio;
        for (const char* name : {"desired_samples", "desired_channels"}) {
          const std::int64_t wanted = c.attribute(name) != nullptr ? c.integer(name) : -1;
          if (wanted < -1 || wanted > INT32_MAX) c.fail(std::string(name) + " must be -1 or more, got " + std::to_string(wanted));
          audio.push(wanted < 0 ? unknown_dimension : wanted);
        }
        c.set(0, audio);
        c.set(1, shape{});
      });
  define_operator("EncodeWav(audio: float32, sample_rate: int32) -> (contents: string)", files, [](shape_context& c) {
    shapes::want_rank(c, 0, 2);
    shapes::want_rank(c, 1, 0);
    c.set(0, shape{});
  });
  define_operator(
      "AudioSpectrogram(input: float32) -> (spectrogram: float32); window_size: int; stride: int; magnitude_squared: bool = false", pure,
      [](shape_context& c) {
        shapes::want_rank(c, 0, 2);
        const shape& s = c.input(0).extent;
        const std::int64_t window = c.integer("window_size"), stride = c.integer("stride");
        if (window < 2 || window > INT32_MAX) c.fail("window_size must be > 1, got " + std::to_string(window));
        if (stride < 1 || stride > INT32_MAX) c.fail("stride must be > 0, got " + std::to_string(stride));
        shape made = shapes::vector_of(s.has_rank() ? s[1] : unknown_dimension);
        const bool is_known = s.has_rank() && s[0] >= 0;
        made.push(!is_known ? unknown_dimension : s[0] < window ? 0 : 1 + (s[0] - window) / stride);
        made.push(1 + static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(window)) / 2));
        c.set(0, made);
      });
  define_operator(
      "Mfcc(spectrogram: float32, sample_rate: int32) -> (output: float32); upper_frequency_limit: float = 4000.0; lower_frequency_limit: "
      "float = 20.0; filterbank_channel_count: int = 40; dct_coefficient_count: int = 13",
      pure, [](shape_context& c) {
        shapes::want_rank(c, 0, 3);
        shapes::want_rank(c, 1, 0);
        const shape& s = c.input(0).extent;
        const std::int64_t count = c.attribute("dct_coefficient_count") != nullptr ? c.integer("dct_coefficient_count") : 13;
        shape made = shapes::vector_of(s.has_rank() ? s[0] : unknown_dimension);
        made.push(s.has_rank() ? s[1] : unknown_dimension);
        made.push(count < 0 ? unknown_dimension : count);
        c.set(0, made);
      });
}

}  // namespace leat::detail
