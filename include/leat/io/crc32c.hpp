#pragma once
// CRC-32C, the checksum of TensorFlow's checkpoints: the remainder of the bytes as a polynomial over GF(2), divided by Castagnoli's
// polynomial 0x1EDC6F41, bits reflected. It detects every burst error of up to 32 bits. It is computed for eight bytes at a time, by the
// processor's instruction if there is one, otherwise by eight tables.
// Source: RFC 3720, appendix B.4; Kounavis and Berry 2005 for the tables; TensorFlow's record files for the mask.

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#if defined(__x86_64__) && defined(__GNUC__)
#include <nmmintrin.h>
#endif

namespace leat::io {

namespace detail {
/// The tables for a polynomial, bits reflected.
template <std::uint32_t Polynomial>
inline constexpr auto crc_tables = [] {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t rest = byte;
    for (int bit = 0; bit < 8; ++bit) rest = (rest >> 1) ^ ((rest & 1) != 0 ? Polynomial : 0u);
    tables[0][byte] = rest;
  }
  for (std::size_t byte = 0; byte < 256; ++byte)
    for (std::size_t k = 1; k < 8; ++k) tables[k][byte] = (tables[k - 1][byte] >> 8) ^ tables[0][tables[k - 1][byte] & 0xff];
  return tables;
}();

// The remainder after `bytes`, starting from the remainder `rest`.
template <std::uint32_t Polynomial>
std::uint32_t crc_by_tables(std::span<const std::byte> bytes, std::uint32_t rest) {
  const auto& t = crc_tables<Polynomial>;
  const auto at = [&](std::size_t i) { return static_cast<std::uint32_t>(bytes[i]); };
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    const std::uint32_t low = rest ^ (at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24);
    rest = t[7][low & 0xff] ^ t[6][low >> 8 & 0xff] ^ t[5][low >> 16 & 0xff] ^ t[4][low >> 24] ^ t[3][at(4)] ^ t[2][at(5)] ^ t[1][at(6)] ^
           t[0][at(7)];
  }
  for (const std::byte b : bytes) rest = (rest >> 8) ^ t[0][(rest ^ static_cast<std::uint32_t>(b)) & 0xff];
  return rest;
}

inline std::uint32_t crc32c_by_tables(std::span<const std::byte> bytes, std::uint32_t rest) {
  return crc_by_tables<0x82f63b78u>(bytes, rest);
}

#if defined(__x86_64__) && defined(__GNUC__)
// Tables that map a remainder to the remainder after `lane_bytes` further zero bytes, which is a linear function of it: one table for each
// of its four bytes.
inline constexpr std::ptrdiff_t lane_bytes = 512;
using lane_tables = std::array<std::array<std::uint32_t, 256>, 4>;
inline const lane_tables& crc32c_lane_tables() {
  static const lane_tables tables = [] {
    lane_tables made{};
    for (std::size_t bit = 0; bit < 32; ++bit) {
      std::uint32_t rest = std::uint32_t{1} << bit;
      for (std::ptrdiff_t k = 0; k < lane_bytes; ++k) rest = (rest >> 8) ^ crc_tables<0x82f63b78u>[0][rest & 0xff];
      for (std::size_t byte = 0; byte < 256; ++byte)
        if ((byte >> bit % 8 & 1) != 0) made[bit / 8][byte] ^= rest;
    }
    return made;
  }();
  return tables;
}

[[gnu::target("sse4.2")]] inline std::uint32_t crc32c_by_instruction(std::span<const std::byte> bytes, std::uint32_t rest) {
  const std::byte* at = bytes.data();
  const std::byte* const end = at + bytes.size();
  const auto word = [](const std::byte* from) {
    std::uint64_t eight;
    std::memcpy(&eight, from, 8);
    return eight;
  };
  // The instruction has a latency of three cycles and a throughput of one per cycle, so three pieces are computed at once.
  if (end - at >= 3 * lane_bytes) {
    const lane_tables& t = crc32c_lane_tables();
    const auto behind_lane = [&](std::uint32_t r) { return t[0][r & 0xff] ^ t[1][r >> 8 & 0xff] ^ t[2][r >> 16 & 0xff] ^ t[3][r >> 24]; };
    for (; end - at >= 3 * lane_bytes; at += 3 * lane_bytes) {
      std::uint64_t first = rest, second = 0, third = 0;
      for (std::ptrdiff_t k = 0; k < lane_bytes; k += 8) {
        first = _mm_crc32_u64(first, word(at + k));
        second = _mm_crc32_u64(second, word(at + lane_bytes + k));
        third = _mm_crc32_u64(third, word(at + 2 * lane_bytes + k));
      }
      rest = behind_lane(behind_lane(static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second)) ^
             static_cast<std::uint32_t>(third);
    }
  }
  std::uint64_t wide = rest;
  for (; end - at >= 8; at += 8) wide = _mm_crc32_u64(wide, word(at));
  rest = static_cast<std::uint32_t>(wide);
  for (; at != end; ++at) rest = _mm_crc32_u8(rest, static_cast<std::uint8_t>(*at));
  return rest;
}
inline bool has_crc32c_instruction() {
  static const bool has = __builtin_cpu_supports("sse4.2") != 0;
  return has;
}
#else
inline std::uint32_t crc32c_by_instruction(std::span<const std::byte> bytes, std::uint32_t rest) { return crc32c_by_tables(bytes, rest); }
inline bool has_crc32c_instruction() { return false; }
#endif
}  // namespace detail

/// The checksum of `bytes`; with the checksum `before` of the preceding bytes, the checksum of both together.
inline std::uint32_t crc32c(std::span<const std::byte> bytes, std::uint32_t before = 0) {
  return ~(detail::has_crc32c_instruction() ? detail::crc32c_by_instruction(bytes, ~before) : detail::crc32c_by_tables(bytes, ~before));
}
inline std::uint32_t crc32c(std::string_view text, std::uint32_t before = 0) { return crc32c(std::as_bytes(std::span(text)), before); }

/// A checksum as TensorFlow's files store it: rotated and shifted, because the plain checksum of bytes that end with their own checksum is
/// the same for all bytes.
constexpr std::uint32_t masked(std::uint32_t checksum) { return ((checksum >> 15) | (checksum << 17)) + 0xa282ead8u; }
/// The checksum from its masked form.
constexpr std::uint32_t unmasked(std::uint32_t checksum) {
  const std::uint32_t turned = checksum - 0xa282ead8u;
  return (turned >> 17) | (turned << 15);
}

/// The checksum as eight hexadecimal digits, such as "e3069283".
inline std::string checksum_text(std::uint32_t checksum) {
  std::string text(8, '0');
  for (std::size_t i = 8; i-- > 0; checksum >>= 4) text[i] = "0123456789abcdef"[checksum & 15];
  return text;
}

}  // namespace leat::io
