#pragma once
// Kernels of sound: files in WAV's format, spectrograms, and mel-frequency cepstral coefficients, the features of speech models. Files are
// untrusted: sizes in their headers are checked against their bytes. Source: TensorFlow `DecodeWav`, `EncodeWav`, `AudioSpectrogram`,
// `Mfcc`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/fourier.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <string>
#include <string_view>
#include <vector>

namespace leat::runtime {

// ---- files ------------------------------------------------------------------------------------------------------------

/// The bytes of a WAV file, read one part after the other. Errors: invalid_argument, in TensorFlow's words, where the file ends too early.
class wav_reader {
 public:
  explicit wav_reader(std::string_view file) : rest_(file) {}
  bool is_at_end() const { return rest_.empty(); }
  std::string_view bytes(std::size_t count) {
    if (count > rest_.size()) throw invalid_argument("Data too short when trying to read string");
    const std::string_view read = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return read;
  }
  /// A little-endian number of `size` bytes.
  std::uint32_t number(int size) {
    const std::string_view read = bytes(static_cast<std::size_t>(size));
    std::uint32_t made = 0;
    for (int k = size; k-- > 0;) made = made << 8 | static_cast<unsigned char>(read[static_cast<std::size_t>(k)]);
    return made;
  }
  void expect(std::string_view wanted) {
    const std::string_view read = bytes(wanted.size());
    if (read != wanted) throw invalid_argument("Header mismatch: Expected " + std::string(wanted) + " but found " + std::string(read));
  }
  /// Skips bytes of a chunk that is not read, to the end of the file at most.
  void skip(std::size_t count) { rest_.remove_prefix(std::min(count, rest_.size())); }

 private:
  std::string_view rest_;
};

/// The samples of a WAV file with 16 bits for each, as they lie in it.
struct wav_samples {
  std::uint32_t rate = 0;
  std::int64_t count = 0, channels = 0;
  std::string_view bytes{};

  float at(std::int64_t sample, std::int64_t channel) const {
    const auto k = 2 * static_cast<std::size_t>(sample * channels + channel);
    const auto word = static_cast<std::uint16_t>(static_cast<unsigned char>(bytes[k]) | static_cast<unsigned char>(bytes[k + 1]) << 8);
    return static_cast<float>(static_cast<std::int16_t>(word)) * (1.0f / 32768);
  }
};
/// Errors: invalid_argument for a file that is cut off, is no WAV file, or has samples of another kind.
inline wav_samples read_wav(std::string_view file) {
  wav_reader in(file);
  in.expect("RIFF");
  in.number(4);  // the size of the file, which is not looked at
  in.expect("WAVE");
  std::string_view chunk = in.bytes(4);
  while (chunk != "fmt ") {
    constexpr std::string_view skipped[]{"JUNK", "bext", "iXML", "qlty", "mext", "levl", "link", "axml"};
    if (std::ranges::find(skipped, chunk) == std::end(skipped)) throw invalid_argument("Unexpected field " + std::string(chunk));
    in.bytes(in.number(4));
    chunk = in.bytes(4);
  }
  const std::uint32_t format_size = in.number(4);
  if (format_size != 16 && format_size != 18)
    throw invalid_argument("Bad format chunk size for WAV: Expected 16 or 18, but got" + std::to_string(format_size));
  if (const std::uint32_t format = in.number(2); format != 1)
    throw invalid_argument("Bad audio format for WAV: Expected 1 (PCM), but got" + std::to_string(format));
  const std::uint32_t channels = in.number(2);
  if (channels < 1) throw invalid_argument("Bad number of channels for WAV: Expected at least 1, but got 0");
  wav_samples made{.rate = in.number(4), .channels = channels};
  const std::uint32_t each_second = in.number(4), each_sample = in.number(2), bits = in.number(2);
  if (bits != 16) throw invalid_argument("Can only read 16-bit WAV files, but received " + std::to_string(bits));
  if (each_sample != 2 * channels)
    throw invalid_argument("Bad bytes per sample in WAV header: Expected " + std::to_string(2 * channels) + " but got " +
                           std::to_string(each_sample));
  if (each_second != each_sample * made.rate)  // modulo 2^32
    throw invalid_argument("Bad bytes per second in WAV header: Expected " + std::to_string(each_sample * made.rate) + " but got " +
                           std::to_string(each_second) + " (sample_rate=" + std::to_string(made.rate) +
                           ", bytes_per_sample=" + std::to_string(each_sample) + ")");
  if (format_size == 18) in.skip(2);
  bool has_data = false;
  while (!in.is_at_end()) {
    const std::string_view name = in.bytes(4);
    const std::uint32_t size = in.number(4);
    if (size > INT32_MAX)
      throw invalid_argument("WAV data chunk '" + std::string(name) + "' is too large: " + std::to_string(size) +
                             " bytes, but the limit is " + std::to_string(INT32_MAX));
    if (name != "data") {
      in.skip(size);
      continue;
    }
    if (has_data) throw invalid_argument("More than one data chunk found in WAV");
    has_data = true;
    made.count = size / each_sample;
    made.bytes = in.bytes(static_cast<std::size_t>(made.count) * each_sample);
  }
  if (!has_data) throw invalid_argument("No data chunk found in WAV");
  return made;
}

inline void run_decode_wav(kernel_context& c) {
  if (c.extent(0).rank != 0) throw invalid_argument("contents must be scalar, got shape " + brackets(c.extent(0)));
  const tensor_value contents = c.input(0);
  const wav_samples audio = read_wav(contents.texts()[0]);
  const auto wanted = [&](const char* name, std::int64_t otherwise) {
    const std::int64_t count = c.node.integer(name, -1);
    if (count < -1 || count > INT32_MAX)
      throw invalid_argument(std::string(name) + " must be >= -1, got " + std::to_string(count));
    return count == -1 ? otherwise : count;
  };
  const std::int64_t channels = wanted("desired_channels", audio.channels), samples = wanted("desired_samples", audio.count);
  tensor_value made(dtype::float32, {samples, channels});
  float* to = made.values<float>().data();
  for (std::int64_t i = 0; i < samples && channels > 0; ++i) {
    if (i % 4096 == 0) c.step.check();
    // Samples that the file lacks are silent, channels that it lacks are its last one.
    for (std::int64_t k = 0; k < channels; ++k) *to++ = i < audio.count ? audio.at(i, std::min(k, audio.channels - 1)) : 0;
  }
  c.set(0, std::move(made));
  c.set(1, tensor_value(static_cast<std::int32_t>(audio.rate)));
}

/// The sample rate, input `k`. Errors: invalid_argument if it is no scalar.
inline std::int64_t sample_rate(kernel_context& c, int k) {
  if (c.extent(k).rank != 0)
    throw invalid_argument("Input sample_rate should be a scalar tensor, got " + brackets(c.extent(k)) + " instead.");
  return c.number(k);
}
inline void run_encode_wav(kernel_context& c) {
  const tensor_value audio = c.input(0);
  const shape& s = audio.extent();
  if (s.rank != 2) throw invalid_argument("audio must be 2-dimensional" + brackets(s));
  const std::int64_t rate = sample_rate(c, 1);
  if (audio.elements() >= INT32_MAX) throw invalid_argument("Cannot encode audio with >= max int32 elements");
  if (rate <= 0) throw invalid_argument("sample_rate must be in (0, 2^32), got: " + std::to_string(rate));
  if (s[1] == 0 || s[1] > UINT16_MAX) throw invalid_argument("num_channels must be in (0, 2^16), got: " + std::to_string(s[1]));
  constexpr std::int64_t header = 44;
  const std::int64_t bytes = 2 * audio.elements();
  if (header + bytes > UINT32_MAX) throw invalid_argument("Provided channels and frames cannot be encoded as a WAV.");
  metered_bytes taken;
  taken.take(static_cast<std::size_t>(header + bytes));
  std::string file;
  file.reserve(static_cast<std::size_t>(header + bytes));
  const auto number = [&](std::int64_t v, int size) {
    for (int k = 0; k < size; ++k) file += static_cast<char>(static_cast<std::uint64_t>(v) >> (8 * k) & 0xff);
  };
  file += "RIFF";
  number(header + bytes - 8, 4);
  file += "WAVEfmt ";
  number(16, 4);
  number(1, 2);
  number(s[1], 2);
  number(rate, 4);
  number(2 * rate * s[1], 4);
  number(2 * s[1], 2);
  number(16, 2);
  file += "data";
  number(bytes, 4);
  for (const float x : audio.values<float>()) {
    const float scaled = std::round(x * 32768);
    number(std::isnan(scaled) ? 0 : static_cast<std::int64_t>(std::clamp(scaled, -32768.0f, 32767.0f)), 2);
  }
  taken.give_back();
  tensor_value made(std::move(file));
  made.count_texts(static_cast<std::size_t>(header + bytes));
  c.set(0, std::move(made));
}

// ---- spectrograms -----------------------------------------------------------------------------------------------------

inline void run_spectrogram(kernel_context& c) {
  const tensor_value audio = c.input(0);
  const shape& s = audio.extent();
  if (s.rank != 2) throw invalid_argument("input must be 2-dimensional" + brackets(s));
  const std::int64_t window = c.node.integer("window_size"), stride = c.node.integer("stride");
  if (window < 2 || window > INT32_MAX) throw invalid_argument("Spectrogram: window_size must be > 1, got " + std::to_string(window));
  if (stride < 1 || stride > INT32_MAX) throw invalid_argument("Spectrogram: stride must be > 0, got " + std::to_string(stride));
  const std::uint64_t length = std::bit_ceil(static_cast<std::uint64_t>(window));
  const std::int64_t channels = s[1], rows = s[0] < window ? 0 : 1 + (s[0] - window) / stride;
  const auto width = static_cast<std::int64_t>(1 + length / 2);
  tensor_value made(dtype::float32, {channels, rows, width});
  if (made.elements() == 0) return c.set(0, std::move(made));
  const bool is_squared = c.node.flag("magnitude_squared");
  const auto plan = fourier::plan_for<real_fourier_plan>(c.node, static_cast<std::int64_t>(length));
  std::vector<double> weights;  // Hann's
  for (std::int64_t k = 0; k < window; ++k)
    weights.push_back(0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(window)));
  const float* const from = audio.values<float>().data();
  float* const to = made.values<float>().data();
  const step_interruption stop(c.step);
  const cpu::scoped_interruption within(&stop);
  fourier::for_blocks(channels * rows, 1, plan->size(), plan->memory_size(), [&](std::int64_t first, std::int64_t lanes, double* memory) {
    std::array<const float*, static_cast<std::size_t>(fourier::most_lanes)> begins{};
    for (std::int64_t q = 0; q < lanes; ++q)
      begins[static_cast<std::size_t>(q)] = from + (first + q) % rows * stride * channels + (first + q) / rows;
    plan->forward(
        [&](std::int64_t k, double* x) {
          if (k >= window) return static_cast<void>(std::fill_n(x, lanes, 0.0));
          const double weight = weights[static_cast<std::size_t>(k)];
          for (std::int64_t q = 0; q < lanes; ++q)
            x[q] = static_cast<double>(begins[static_cast<std::size_t>(q)][k * channels]) * weight;
        },
        [&](std::int64_t k, const double* re, const double* im) {
          for (std::int64_t q = 0; q < lanes; ++q) {
            const auto power = static_cast<float>(re[q] * re[q] + im[q] * im[q]);
            to[(first + q) * width + k] = is_squared ? power : std::sqrt(power);
          }
        },
        memory, lanes);
  });
  c.set(0, std::move(made));
}

// ---- coefficients -----------------------------------------------------------------------------------------------------

/// Triangles of equal width on the mel scale, by which frequencies are summed. A frequency belongs to two of them: the falling side of
/// `channel`, by its weight, and the rising side of the next.
class mel_bank {
 public:
  /// Errors: invalid_argument for settings out of range.
  mel_bank(std::int64_t frequencies, double rate, std::int64_t channels, double low, double high) : channels_(channels) {
    if (channels < 1 || rate <= 0 || frequencies < 2 || !(low >= 0) || !(high > low))
      throw invalid_argument("Mfcc initialization failed for channel count " + std::to_string(frequencies) + ", sample rate " +
                             std::to_string(static_cast<std::int64_t>(rate)) + " and filterbank_channel_count " + std::to_string(channels));
    const double width = 0.5 * rate / static_cast<double>(frequencies - 1), first = mel(low);
    const double spacing = (mel(high) - first) / static_cast<double>(channels + 1);
    const auto center = [&](std::int64_t k) { return first + spacing * static_cast<double>(k + 1); };
    is_too_short_ = !(high / width < static_cast<double>(frequencies));
    if (is_too_short_) return;
    begin_ = static_cast<std::int64_t>(1.5 + low / width);
    const auto end = static_cast<std::int64_t>(high / width);
    std::int64_t channel = 0;
    for (std::int64_t i = begin_; i <= end; ++i) {
      const double at = mel(static_cast<double>(i) * width);
      while (channel < channels && center(channel) < at) ++channel;
      const double below = channel > 0 ? center(channel - 1) : first;
      sides_.push_back({channel - 1, (center(channel) - at) / (center(channel) - below)});
    }
  }
  /// Whether the highest frequency is not among those given; then TensorFlow's coefficients are 0.
  bool is_too_short() const { return is_too_short_; }
  /// Sums of absolute values, from their squares.
  void operator()(const float* squares, std::vector<double>& sums) const {
    sums.assign(static_cast<std::size_t>(channels_), 0.0);
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const double value = std::sqrt(static_cast<double>(squares[begin_ + static_cast<std::int64_t>(i)]));
      const auto& [channel, weight] = sides_[i];
      const double falling = value * weight;
      if (channel >= 0) sums[static_cast<std::size_t>(channel)] += falling;
      if (channel + 1 < channels_) sums[static_cast<std::size_t>(channel + 1)] += value - falling;
    }
  }

 private:
  struct side {
    std::int64_t channel;
    double weight;
  };
  static double mel(double frequency) { return 1127 * std::log1p(frequency / 700); }
  std::int64_t channels_, begin_ = 0;
  bool is_too_short_ = false;
  std::vector<side> sides_;
};

inline void run_mfcc(kernel_context& c) {
  const tensor_value spectrogram = c.input(0);
  const shape& s = spectrogram.extent();
  if (s.rank != 3) throw invalid_argument("spectrogram must be 3-dimensional" + brackets(s));
  const std::int64_t rate = sample_rate(c, 1), channels = c.node.integer("filterbank_channel_count", 40);
  const std::int64_t count = c.node.integer("dct_coefficient_count", 13);
  const mel_bank bank(s[2], static_cast<double>(rate), channels,
                      static_cast<double>(c.node.attribute<float>("lower_frequency_limit", 20)),
                      static_cast<double>(c.node.attribute<float>("upper_frequency_limit", 4000)));
  if (count < 1 || count > channels)
    throw invalid_argument("Mfcc: dct_coefficient_count must be from 1 to filterbank_channel_count, got " + std::to_string(count) +
                           " and " + std::to_string(channels));
  tensor_value made(dtype::float32, {s[0], s[1], count});
  float* to = made.values<float>().data();
  if (bank.is_too_short() || made.elements() == 0) {
    std::fill_n(to, made.elements(), 0.0f);
    return c.set(0, std::move(made));
  }
  tensor_value cosines(dtype::float64, {count, channels});
  double* const factors = cosines.values<double>().data();
  const double norm = std::sqrt(2.0 / static_cast<double>(channels)), step = std::numbers::pi / static_cast<double>(channels);
  for (std::int64_t i = 0; i < count; ++i) {
    c.step.check();
    for (std::int64_t j = 0; j < channels; ++j)
      factors[i * channels + j] = norm * std::cos(static_cast<double>(i) * step * (static_cast<double>(j) + 0.5));
  }
  const float* from = spectrogram.values<float>().data();
  std::vector<double> sums;
  for (std::int64_t row = 0; row < s[0] * s[1]; ++row, from += s[2]) {
    if (row % 64 == 0) c.step.check();
    bank(from, sums);
    for (double& sum : sums) sum = std::log(sum < 1e-12 ? 1e-12 : sum);
    for (std::int64_t i = 0; i < count; ++i) {
      double coefficient = 0;
      for (std::int64_t j = 0; j < channels; ++j) coefficient += factors[i * channels + j] * sums[static_cast<std::size_t>(j)];
      *to++ = static_cast<float>(coefficient);
    }
  }
  c.set(0, std::move(made));
}

LEAT_FILL(fill_audio_kernels) {
  register_kernel("DecodeWav", run_decode_wav);
  register_kernel("EncodeWav", run_encode_wav);
  register_kernel("AudioSpectrogram", run_spectrogram);
  register_kernel("Mfcc", run_mfcc);
}

}  // namespace leat::runtime
