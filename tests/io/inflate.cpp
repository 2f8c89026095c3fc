#include <leat/io/inflate.hpp>

#include "support/hex.hpp"

#include <doctest/doctest.h>

using namespace leat;

TEST_CASE("the checksum of ZIP") {
  CHECK(io::crc32("123456789") == 0xcbf43926u);
  CHECK(io::crc32("") == 0);
}

#if defined(LEAT_USE_ZLIB)
TEST_CASE("gzip, of one and several members, cut off, damaged, too long") {
  // gzip.compress(b"\0\0\x08\x01\0\0\0\x03abc", mtime=0)
  const std::string packed = leat_test::from_hex("1f8b08000000000002036360e060646060604e4c4a0600542425c40b000000");
  const std::string plain(
      "\0\0\x08\x01\0\0\0\x03"
      "abc",
      11);
  CHECK(io::is_gzip(packed));
  CHECK(io::gunzip(packed) == plain);
  CHECK(io::gunzip(packed + packed) == plain + plain);
  CHECK(io::gunzip(packed, 11) == plain);
  CHECK_THROWS_AS(io::gunzip(packed, 10), invalid_argument);
  for (std::size_t size = 0; size < packed.size(); ++size) CHECK_THROWS_AS(io::gunzip(packed.substr(0, size)), data_loss);
  CHECK_THROWS_AS(io::gunzip(packed + "x"), data_loss);
  for (std::size_t at = 10; at < packed.size(); ++at) {
    std::string changed = packed;
    changed[at] = static_cast<char>(changed[at] ^ 0x10);
    std::string got = plain;  // also where the bit only fills up a byte
    try {
      got = io::gunzip(changed);
    } catch (const data_loss&) {
    }
    CHECK(got == plain);
  }
  const std::string_view stream = std::string_view(packed).substr(10, packed.size() - 18);
  CHECK(io::inflate(stream, 11) == plain);
  CHECK_THROWS_AS(io::inflate(stream, 10), data_loss);
  CHECK_THROWS_AS(io::inflate(stream, 12), data_loss);
  CHECK_THROWS_AS(io::inflate("", 0), data_loss);
}
#else
TEST_CASE("without zlib compressed bytes are refused") {
  CHECK_THROWS_AS(io::gunzip("\x1f\x8b"), unimplemented);
  CHECK_THROWS_AS(io::inflate("", 0), unimplemented);
}
#endif
