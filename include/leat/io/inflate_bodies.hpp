#pragma once
// Implementation of inflate.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/inflate.hpp>

#include <algorithm>

#if defined(LEAT_USE_ZLIB)
#include <zlib.h>
#endif

namespace leat::io {

namespace detail {

#if defined(LEAT_USE_ZLIB)
// `window`: zlib's windowBits, which say what stands around the stream.
LEAT_FUNCTION std::string inflated(std::string_view bytes, int window, std::size_t limit, const char* what) {
  struct closing {
    z_stream of{};
    ~closing() { ::inflateEnd(&of); }
  } stream;
  if (::inflateInit2(&stream.of, window) != Z_OK) throw data_loss(std::string(what) + ": zlib cannot begin");
  std::string result;
  std::size_t filled = 0;
  int state = Z_OK;
  constexpr std::size_t part = std::size_t{1} << 30;  // lengths are unsigned int
  while (state == Z_OK || state == Z_BUF_ERROR) {
    if (stream.of.avail_in == 0) {
      if (bytes.empty() && state == Z_BUF_ERROR) throw data_loss(std::string(what) + ": the compressed bytes are cut off");
      stream.of.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.of.avail_in = static_cast<uInt>(std::min(bytes.size(), part));
      bytes.remove_prefix(stream.of.avail_in);
    }
    if (filled == result.size()) {
      if (filled > limit) break;
      // At least a byte more than allowed, so that too much is noticed.
      result.resize(std::min(std::max<std::size_t>(2 * filled, 1 << 16), limit + 1));
    }
    stream.of.next_out = reinterpret_cast<Bytef*>(result.data() + filled);
    const std::size_t room = std::min(result.size() - filled, part);
    stream.of.avail_out = static_cast<uInt>(room);
    state = ::inflate(&stream.of, Z_NO_FLUSH);
    filled += room - stream.of.avail_out;
    if (state == Z_BUF_ERROR && stream.of.avail_in == 0 && bytes.empty())
      throw data_loss(std::string(what) + ": the compressed bytes are cut off");
    if (state != Z_OK && state != Z_STREAM_END && state != Z_BUF_ERROR)
      throw data_loss(std::string(what) + ": the compressed bytes are damaged" +
                      (stream.of.msg != nullptr ? ": " + std::string(stream.of.msg) : ""));
    // gzip files may hold several members.
    if (state == Z_STREAM_END && window > 15 && (stream.of.avail_in > 0 || !bytes.empty()) && filled <= limit) {
      if (::inflateReset(&stream.of) != Z_OK) throw data_loss(std::string(what) + ": zlib cannot go on");
      state = Z_OK;
    }
  }
  if (filled > limit) throw invalid_argument(std::string(what) + ": holds more than " + std::to_string(limit) + " bytes");
  if (stream.of.avail_in > 0 || !bytes.empty()) throw data_loss(std::string(what) + ": bytes behind the end");
  result.resize(filled);
  return result;
}
#else
LEAT_FUNCTION std::string inflated(std::string_view, int, std::size_t, const char* what) {
  throw unimplemented(std::string(what) + ": reading compressed bytes needs zlib: compile with LEAT_USE_ZLIB and link it");
}
#endif

}  // namespace detail

LEAT_FUNCTION std::uint32_t crc32(std::string_view bytes) {
  return ~detail::crc_by_tables<0xedb88320u>(std::as_bytes(std::span(bytes)), ~std::uint32_t{0});
}

LEAT_FUNCTION std::string inflate(std::string_view bytes, std::size_t length) {
  std::string result;
  try {
    result = detail::inflated(bytes, -15, length, "deflate");
  } catch (const invalid_argument&) {
    throw data_loss("deflate: more than the " + std::to_string(length) + " bytes that are expected");
  }
  if (result.size() != length)
    throw data_loss("deflate: " + std::to_string(result.size()) + " bytes where " + std::to_string(length) + " are expected");
  return result;
}
LEAT_FUNCTION std::string gunzip(std::string_view bytes, std::size_t limit) { return detail::inflated(bytes, 15 + 16, limit, "gzip"); }

}  // namespace leat::io
