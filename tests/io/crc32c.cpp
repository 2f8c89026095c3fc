#include <leat/io/crc32c.hpp>

#include <doctest/doctest.h>

#include <random>

using namespace leat;

TEST_CASE("checksums of the standard") {
  CHECK(io::crc32c("123456789") == 0xe3069283u);
  CHECK(io::crc32c("") == 0);
  CHECK(io::crc32c(std::string(32, '\0')) == 0x8a9136aau);  // RFC 3720, B.4
  CHECK(io::crc32c(std::string(32, '\xff')) == 0x62a8ab43u);
  CHECK(io::checksum_text(0xe3069283u) == "e3069283");
  CHECK(io::checksum_text(1) == "00000001");
}

TEST_CASE("parts have the checksum of the whole, and every change of a bit is seen") {
  std::string text(1000, '\0');
  std::mt19937 random(1);
  for (char& c : text) c = static_cast<char>(random());
  const auto whole = io::crc32c(text);
  for (std::size_t at = 0; at <= 40; ++at)
    CHECK(io::crc32c(std::string_view(text).substr(at), io::crc32c(std::string_view(text).substr(0, at))) == whole);
  for (std::size_t at = 0; at < 8 * text.size(); ++at) {
    std::string changed = text;
    changed[at / 8] = static_cast<char>(changed[at / 8] ^ (1 << at % 8));
    CHECK(io::crc32c(changed) != whole);
  }
}
