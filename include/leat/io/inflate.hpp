#pragma once
// Compressed bytes (deflate, gzip), by zlib where LEAT_USE_ZLIB is defined; without it they are refused. A compressed file of a few bytes
// can ask for much memory: results have limits. CRC-32, their checksum, needs no library.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/options.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace leat::io {

/// The checksum of ZIP and gzip (IEEE 802.3).
std::uint32_t crc32(std::string_view bytes);

/// What a deflate stream of known length holds. Errors: data_loss if it is damaged or has another length; unimplemented without zlib.
std::string inflate(std::string_view bytes, std::size_t length);

/// Whether bytes begin as a gzip file does.
inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
/// The contents of a gzip file. Errors: data_loss if it is damaged or cut off; invalid_argument if they are longer than `limit`;
/// unimplemented without zlib.
std::string gunzip(std::string_view bytes, std::size_t limit = max_file_bytes);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/inflate_bodies.hpp>
#endif
