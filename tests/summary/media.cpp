#include <leat/core/error.hpp>
#include <leat/summary/media.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace leat;
using summary::write_png;
using summary::write_wav;

namespace {

std::uint32_t big_endian(const std::string& bytes, std::size_t at) {
  std::uint32_t v = 0;
  for (std::size_t i = 0; i < 4; ++i) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
  return v;
}
std::uint32_t little_endian(const std::string& bytes, std::size_t at, std::size_t count) {
  std::uint32_t v = 0;
  for (std::size_t i = count; i-- > 0;) v = v << 8 | static_cast<unsigned char>(bytes[at + i]);
  return v;
}

}  // namespace

TEST_CASE("a picture of one gray pixel is the PNG file that others write") {
  const std::uint8_t gray[]{7};
  const std::string file = write_png(gray, 1, 1, 1);
  CHECK(file.substr(0, 8) == std::string("\x89PNG\r\n\x1a\n", 8));
  CHECK(big_endian(file, 16) == 1);
  CHECK(file[24] == 8);
  CHECK(file[25] == 0);
  // Checksums as Python's zlib computes them: of the header, and of the row "\0\7".
  CHECK(big_endian(file, 29) == 0x3a7e9b55);
  const std::size_t data = 33 + 8;
  CHECK(big_endian(file, data + 2 + 5 + 2) == 0x00090008);
  CHECK(big_endian(file, file.size() - 4) == 0xae426082);  // of an empty IEND
}

TEST_CASE("pictures of more than one block of deflate, and all numbers of channels") {
  for (const int channels : {1, 2, 3, 4}) {
    const std::vector<std::uint8_t> pixels(static_cast<std::size_t>(200 * 300 * channels), 9);
    const std::string file = write_png(pixels, 200, 300, channels);
    CHECK(big_endian(file, 16) == 300);
    CHECK(big_endian(file, 20) == 200);
    const std::size_t rows = 200 * (300 * static_cast<std::size_t>(channels) + 1);
    const std::size_t blocks = (rows + 65534) / 65535;
    CHECK(big_endian(file, 33) == 2 + 5 * blocks + rows + 4);
    CHECK(file.size() == 33 + 12 + 2 + 5 * blocks + rows + 4 + 12);
  }
}

TEST_CASE("pictures and sounds that cannot be are refused") {
  const std::vector<std::uint8_t> pixels(12);
  CHECK_THROWS_AS(write_png(pixels, 2, 2, 1), invalid_argument);
  CHECK_THROWS_AS(write_png(pixels, 0, 2, 3), invalid_argument);
  CHECK_THROWS_AS(write_png(pixels, 2, 2, 5), invalid_argument);
  CHECK_THROWS_AS(write_png(pixels, 1, std::int64_t{1} << 40, 1), invalid_argument);
  const std::vector<float> samples(6);
  CHECK_THROWS_AS(write_wav(samples, 0, 8000), invalid_argument);
  CHECK_THROWS_AS(write_wav(samples, 4, 8000), invalid_argument);
  CHECK_THROWS_AS(write_wav(samples, 2, 0), invalid_argument);
  CHECK_THROWS_AS(write_wav(std::vector<float>{NAN}, 1, 8000), invalid_argument);
}

TEST_CASE("a sound is a WAV file of 16 bits, cut off at the extremes") {
  const std::string file = write_wav(std::vector<float>{0, 0.5f, 1, -1, 2, -INFINITY}, 2, 8000);
  CHECK(file.size() == 44 + 12);
  CHECK(file.substr(0, 4) == "RIFF");
  CHECK(little_endian(file, 4, 4) == 48);
  CHECK(file.substr(8, 8) == "WAVEfmt ");
  CHECK(little_endian(file, 22, 2) == 2);
  CHECK(little_endian(file, 24, 4) == 8000);
  CHECK(little_endian(file, 28, 4) == 32000);
  CHECK(little_endian(file, 32, 2) == 4);
  CHECK(little_endian(file, 40, 4) == 12);
  const auto sample = [&](std::size_t i) { return static_cast<std::int16_t>(little_endian(file, 44 + 2 * i, 2)); };
  CHECK(sample(0) == 0);
  CHECK(sample(1) == 16384);
  CHECK(sample(2) == 32767);
  CHECK(sample(3) == -32768);
  CHECK(sample(4) == 32767);
  CHECK(sample(5) == -32768);
}
