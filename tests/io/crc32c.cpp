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

TEST_CASE("the mask of TensorFlow's files, and back") {
  static_assert(io::masked(0) == 0xa282ead8u);
  static_assert(io::unmasked(io::masked(0xe3069283u)) == 0xe3069283u && io::masked(io::unmasked(1)) == 1);
}

TEST_CASE("the processor's instruction gives what the tables give") {
  std::string text(9000, '\0');
  std::mt19937 random(2);
  for (char& c : text) c = static_cast<char>(random());
  for (std::size_t from = 0; from < 9; ++from)
    for (std::size_t size = 0; size < 40; ++size) {
      const auto bytes = std::as_bytes(std::span(text)).subspan(from, size);
      CHECK(io::detail::crc32c_by_tables(bytes, 7) == io::detail::crc32c_by_instruction(bytes, 7));
    }
  for (std::size_t size = 1500; size < text.size(); size += 13) {
    const auto bytes = std::as_bytes(std::span(text)).first(size);
    CHECK(io::detail::crc32c_by_tables(bytes, 7) == io::detail::crc32c_by_instruction(bytes, 7));
  }
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
