// Sound: WAV files, spectrograms and mel-frequency cepstral coefficients with TensorFlow 2.21's values, and files that are refused.

#include "support/recorded_nodes.hpp"

#include <cmath>
#include <string>

using namespace leat;
using namespace recorded_nodes;
using namespace std::string_literals;

namespace audio_test {

const std::vector<recorded>& recordings() {
  // clang-format off
  static const std::vector<recorded> list{
      {"DecodeWav", {text({}, {"RIFF0\000\000\000WAVEfmt \020\000\000\000\001\000\002\000@\037\000\000\000}\000\000\004\000\020"
       "\000data\014\000\000\000\001\000\377\377\377\177\000\200d\000\371\377"s})}, {}, {f32({3, 2}, {3.0517578e-05, -3.0517578e-05,
       0.9999695, -1, 0.0030517578, -0.00021362305}), i32({}, {8000})}},
      {"DecodeWav", {text({}, {"RIFF0\000\000\000WAVEfmt \020\000\000\000\001\000\002\000@\037\000\000\000}\000\000\004\000\020"
       "\000data\014\000\000\000\001\000\377\377\377\177\000\200d\000\371\377"s})}, {{"desired_channels", std::int64_t{1}}}, {f32({3, 1},
       {3.0517578e-05, 0.9999695, 0.0030517578}), i32({}, {8000})}},
      {"DecodeWav", {text({}, {"RIFF0\000\000\000WAVEfmt \020\000\000\000\001\000\002\000@\037\000\000\000}\000\000\004\000\020"
       "\000data\014\000\000\000\001\000\377\377\377\177\000\200d\000\371\377"s})}, {{"desired_channels", std::int64_t{3}},
       {"desired_samples", std::int64_t{4}}}, {f32({4, 3}, {3.0517578e-05, -3.0517578e-05, -3.0517578e-05, 0.9999695, -1, -1,
       0.0030517578, -0.00021362305, -0.00021362305, 0, 0, 0}), i32({}, {8000})}},
      {"DecodeWav", {text({}, {"RIFF*\000\000\000WAVEJUNK\004\000\000\000abcdfmt \022\000\000\000\001\000\001\000D\254\000\000"
       "\210X\001\000\002\000\020\000\000\000LIST\002\000\000\000xxdata\006\000\000\000\005\000\006\000" "\007\000"s})},
       {{"desired_samples", std::int64_t{2}}}, {f32({2, 1}, {0.00015258789, 0.00018310547}), i32({}, {44100})}},
      {"EncodeWav", {f32({4, 2}, {0.5, -0.5, 1, -1, 1e-05, 2, NAN, 0.123}), i32({}, {16000})}, {}, {text({},
       {"RIFF4\000\000\000WAVEfmt \020\000\000\000\001\000\002\000\200>\000\000\000\372\000\000\004\000"
       "\020\000data\020\000\000\000\000@\000\300\377\177\000\200\000\000\377\177\000\000\276\017"s})}},
      {"AudioSpectrogram", {f32({9, 2}, {1.7886285, 0.43650985, 0.09649747, -1.8634927, -0.27738822, -0.35475898, -0.082741484,
       -0.6270007, -0.04381817, -0.47721803, -1.3138647, 0.8846224, 0.88131803, 1.709573, 0.050033644, -0.40467742, -0.54535997,
       -1.5464773})}, {{"window_size", std::int64_t{5}}, {"stride", std::int64_t{3}}}, {f32({2, 2, 5}, {0.30754012, 0.2948464, 0.2593957,
       0.2298929, 0.22453748, 0.38909474, 0.8682406, 1.4537923, 1.8283159, 1.9531364, 1.6967056, 1.1823407, 0.17383987, 0.5784865,
       0.72519106, 2.0417845, 2.0743575, 1.9523642, 1.3613267, 0.72111267})}},
      {"AudioSpectrogram", {f32({9, 2}, {1.7886285, 0.43650985, 0.09649747, -1.8634927, -0.27738822, -0.35475898, -0.082741484,
       -0.6270007, -0.04381817, -0.47721803, -1.3138647, 0.8846224, 0.88131803, 1.709573, 0.050033644, -0.40467742, -0.54535997,
       -1.5464773})}, {{"window_size", std::int64_t{8}}, {"stride", std::int64_t{1}}, {"magnitude_squared", true}}, {f32({2, 2, 5},
       {0.83260554, 0.84185135, 1.209554, 2.42455, 2.0413713, 0.5414847, 0.8794221, 2.370604, 3.84278, 3.7040112, 0.007729407, 4.3989844,
       2.4922533, 0.75367683, 0.09763184, 1.3046997, 5.0415163, 6.127243, 1.1809678, 0.16375606})}},
      {"AudioSpectrogram", {f32({4, 1}, {1.7886285, 0.09649747, -0.27738822, -0.082741484})}, {{"window_size", std::int64_t{2}},
       {"stride", std::int64_t{2}}}, {f32({1, 2, 2}, {0.09649747, 0.09649747, 0.082741484, 0.082741484})}},
      {"AudioSpectrogram", {f32({4, 2}, {1.7886285, 0.43650985, 0.09649747, -1.8634927, -0.27738822, -0.35475898, -0.082741484,
       -0.6270007})}, {{"window_size", std::int64_t{5}}, {"stride", std::int64_t{2}}}, {f32({2, 0, 5}, {})}},
      {"Mfcc", {f32({1, 2, 9}, {2.8352509, 6.9313793, 4.404537, 1.5686774, 5.4464903, 7.803148, 3.0636353, 2.2195787, 3.8797126, 9.363836,
       9.759954, 6.723837, 9.028341, 8.457509, 3.7799404, 0.9221701, 6.534109, 5.578408}), i32({}, {8000})}, {{"filterbank_channel_count",
       std::int64_t{6}}, {"dct_coefficient_count", std::int64_t{4}}}, {f32({1, 2, 4}, {1.7790639, -1.6832111, -0.53583854, -0.95222294,
       2.4365406, -1.5158896, -1.006394, -0.6217273})}},
      {"Mfcc", {f32({1, 2, 9}, {2.8352509, 6.9313793, 4.404537, 1.5686774, 5.4464903, 7.803148, 3.0636353, 2.2195787, 3.8797126, 9.363836,
       9.759954, 6.723837, 9.028341, 8.457509, 3.7799404, 0.9221701, 6.534109, 5.578408}), i32({}, {16000})},
       {{"filterbank_channel_count", std::int64_t{40}}, {"dct_coefficient_count", std::int64_t{5}}, {"upper_frequency_limit", 7000.0f},
       {"lower_frequency_limit", 100.0f}}, {f32({1, 2, 5}, {-173.83006, -35.089092, 1.7890649, -6.9612103, -4.607267, -173.59973,
       -34.933212, 1.1491513, -6.277552, -5.096456})}},
      {"Mfcc", {f32({1, 2, 9}, {2.8352509, 6.9313793, 4.404537, 1.5686774, 5.4464903, 7.803148, 3.0636353, 2.2195787, 3.8797126, 9.363836,
       9.759954, 6.723837, 9.028341, 8.457509, 3.7799404, 0.9221701, 6.534109, 5.578408}), i32({}, {4000})}, {{"dct_coefficient_count",
       std::int64_t{3}}}, {f32({1, 2, 3}, {0, 0, 0, 0, 0, 0})}},
  };
  // clang-format on
  return list;
}

std::string number(std::uint64_t v, int size) {
  std::string made;
  for (int k = 0; k < size; ++k) made += static_cast<char>(v >> (8 * k) & 0xff);
  return made;
}
/// A file whose header says what it is told.
struct wav_file {
  std::uint32_t format_size = 16, format = 1, channels = 1, rate = 8000, each_second = 16000, each_sample = 2, bits = 16, data_size = 4;
  std::string text() const {
    return "RIFF" + number(40, 4) + "WAVEfmt " + number(format_size, 4) + number(format, 2) + number(channels, 2) + number(rate, 4) +
           number(each_second, 4) + number(each_sample, 2) + number(bits, 2) + "data" + number(data_size, 4) + "\1\2\3\4";
  }
};
bool refuses_wav(const std::string& file, std::string_view words) { return refuses("DecodeWav", {text({}, {file})}, {}, words); }

TEST_CASE("sound is read, written and analyzed as in TensorFlow") { check_recorded(recordings()); }

TEST_CASE("a spectrogram has the frequencies of a long window, also of many rows") {
  constexpr std::int64_t window = 480, count = 4000;
  std::vector<double> wave;
  for (std::int64_t i = 0; i < count; ++i) wave.push_back(std::sin(0.3 * static_cast<double>(i)) + (i % 7 == 0 ? 0.5 : 0));
  const auto made = run_on("AudioSpectrogram", {f32({count, 1}, wave)},
                           {{"window_size", window}, {"stride", std::int64_t{100}}, {"magnitude_squared", true}})[0];
  REQUIRE(brackets(made.extent()) == "[1,36,257]");
  for (const std::int64_t row : {0, 17, 35})
    for (const std::int64_t k : {0, 1, 24, 100, 255, 256}) {
      double real = 0, imaginary = 0;
      for (std::int64_t i = 0; i < window; ++i) {
        const double pi = std::acos(-1.0), angle = 2 * pi * static_cast<double>(k * i) / 512;
        const double x = static_cast<double>(static_cast<float>(wave[static_cast<std::size_t>(100 * row + i)])) *
                         (0.5 - 0.5 * std::cos(2 * pi * static_cast<double>(i) / static_cast<double>(window)));
        real += x * std::cos(angle);
        imaginary -= x * std::sin(angle);
      }
      const double power = real * real + imaginary * imaginary;
      CHECK(made.values<float>()[static_cast<std::size_t>(row * 257 + k)] == doctest::Approx(power).epsilon(1e-5).scale(1));
    }
}

TEST_CASE("files that are no WAV files of 16 bits are refused, also within a small limit of memory") {
  const std::string good = wav_file{}.text();
  CHECK(run_on("DecodeWav", {text({}, {good})}, {})[0].elements() == 2);
  for (std::size_t size = 0; size < good.size(); ++size)
    CHECK(refuses_wav(good.substr(0, size), size == 36 ? "No data chunk found in WAV" : "Data too short when trying to read string"));
  CHECK(refuses_wav("RIFX" + good.substr(4), "Header mismatch: Expected RIFF but found RIFX"));
  CHECK(refuses_wav(good.substr(0, 8) + "AVI " + good.substr(12), "Header mismatch: Expected WAVE but found AVI"));
  CHECK(refuses_wav(good.substr(0, 12) + "LIST" + good.substr(16), "Unexpected field LIST"));
  CHECK(refuses_wav(good.substr(0, 12) + "JUNK\xff\xff\xff\xff" + good.substr(12), "Data too short"));
  CHECK(refuses_wav(wav_file{.format_size = 40}.text(), "Bad format chunk size for WAV"));
  CHECK(refuses_wav(wav_file{.format = 3}.text(), "Expected 1 (PCM), but got3"));
  CHECK(refuses_wav(wav_file{.channels = 0}.text(), "Bad number of channels"));
  CHECK(refuses_wav(wav_file{.bits = 8}.text(), "Can only read 16-bit WAV files, but received 8"));
  CHECK(refuses_wav(wav_file{.each_sample = 3}.text(), "Bad bytes per sample in WAV header: Expected 2 but got 3"));
  CHECK(refuses_wav(wav_file{.each_second = 3}.text(), "Bad bytes per second in WAV header: Expected 16000 but got 3"));
  CHECK(refuses_wav(wav_file{.data_size = 0x7fffffff}.text(), "Data too short"));
  CHECK(refuses_wav(wav_file{.data_size = 0xffffffff}.text(), "is too large"));
  CHECK(refuses_wav(good + good.substr(36), "More than one data chunk found in WAV"));
  CHECK(refuses("DecodeWav", {text({1}, {good})}, {}, "contents must be scalar"));
  CHECK(leat_test::says(leat_test::message_of<invalid_argument>(
                            [&] { run_on("DecodeWav", {text({}, {good})}, {{"desired_channels", std::int64_t{-2}}}); }),
                        "desired_channels must be"));
  session_options small;
  small.memory_limit_in_bytes = 1 << 20;
  CHECK(leat_test::says(leat_test::message_of<resource_exhausted>([&] {
          run_on("DecodeWav", {text({}, {good})}, {{"desired_samples", std::int64_t{INT32_MAX}}}, false, small);
        }),
                        "memory_limit_in_bytes"));
}

TEST_CASE("sound of wrong shapes and settings out of range are refused") {
  const auto audio = f32({3, 1}, {0.1, 0.2, 0.3}), rate = i32({}, {8000}), spectrogram = f32({1, 1, 3}, {1, 2, 3});
  CHECK(refuses("EncodeWav", {f32({3}, {1, 2, 3}), rate}, {}, "audio must be 2-dimensional"));
  CHECK(refuses("EncodeWav", {audio, i32({1}, {8000})}, {}, "sample_rate should be a scalar"));
  CHECK(refuses("EncodeWav", {audio, i32({}, {0})}, {}, "sample_rate must be in (0, 2^32), got: 0"));
  CHECK(refuses("EncodeWav", {f32({3, 0}, {}), rate}, {}, "num_channels must be in (0, 2^16), got: 0"));
  CHECK(run_on("EncodeWav", {f32({0, 1}, {}), rate}, {})[0].texts()[0].size() == 44);
  const auto windows = [](std::int64_t size, std::int64_t stride) { return attribute_map{{"window_size", size}, {"stride", stride}}; };
  CHECK(refuses("AudioSpectrogram", {f32({3}, {1, 2, 3})}, windows(2, 1), "input must be 2-dimensional"));
  CHECK(refuses("AudioSpectrogram", {audio}, windows(1, 1), "window_size must be > 1, got 1"));
  CHECK(refuses("AudioSpectrogram", {audio}, windows(2, 0), "stride must be > 0, got 0"));
  CHECK(run_on("AudioSpectrogram", {audio}, windows(INT32_MAX, 1))[0].elements() == 0);
  const auto bank = [](std::int64_t channels, std::int64_t coefficients, float low = 20, float high = 4000) {
    return attribute_map{{"filterbank_channel_count", channels},
                         {"dct_coefficient_count", coefficients},
                         {"lower_frequency_limit", low},
                         {"upper_frequency_limit", high}};
  };
  CHECK(refuses("Mfcc", {audio, rate}, {}, "spectrogram must be 3-dimensional"));
  CHECK(refuses("Mfcc", {spectrogram, i32({2}, {1, 2})}, {}, "sample_rate should be a scalar"));
  CHECK(refuses("Mfcc", {spectrogram, i32({}, {0})}, {}, "initialization failed"));
  CHECK(refuses("Mfcc", {f32({1, 1, 1}, {1}), rate}, {}, "initialization failed"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(0, 1), "initialization failed"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(4, 5), "from 1 to filterbank_channel_count"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(4, 0), "from 1 to filterbank_channel_count"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(4, 2, -1), "initialization failed"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(4, 2, 50, 50), "initialization failed"));
  CHECK(refuses("Mfcc", {spectrogram, rate}, bank(4, 2, NAN, 50), "initialization failed"));
  CHECK(run_on("Mfcc", {spectrogram, rate}, bank(4, 2, 20, 3e38f))[0].values<float>()[0] == 0);
}

}  // namespace audio_test
