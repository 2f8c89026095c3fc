#pragma once
// Compressed bytes (deflate, zlib, gzip), by zlib if LEAT_USE_ZLIB is defined; without it they are refused. A compressed file of a few
// bytes can expand to much memory, so results have limits. CRC-32, the checksum of these formats, needs no library.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/options.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace leat::io {

/// The format around a deflate stream.
enum class compression { deflate, zlib, gzip };

/// Decompresses bytes piece by piece. It does not keep the decompressed bytes, so its memory does not grow with them.
class inflating_stream {
 public:
  /// `more` returns the next compressed bytes, which must stay valid until its next call; an empty string at the end. `what` names the
  /// bytes in error messages. Errors: unimplemented without zlib.
  inflating_stream(compression kind, std::function<std::string_view()> more, std::string what);
  ~inflating_stream();
  inflating_stream(const inflating_stream&) = delete;
  inflating_stream& operator=(const inflating_stream&) = delete;

  /// Reads the next decompressed bytes; returns their number, 0 at the end. Errors: data_loss if the compressed bytes are damaged.
  std::size_t read(std::span<char> to);
  /// At the end: whether the stream is complete, not truncated.
  bool is_whole() const;
  /// At the end of a complete stream: whether more bytes follow it. A gzip file may contain several streams.
  bool has_more_bytes();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Compresses bytes piece by piece.
class deflating_stream {
 public:
  /// `level`: from 0 (no compression) to 9 (smallest result); -1 for zlib's default. Errors: unimplemented without zlib; invalid_argument
  /// for another level.
  explicit deflating_stream(compression kind, int level = -1);
  ~deflating_stream();
  deflating_stream(const deflating_stream&) = delete;
  deflating_stream& operator=(const deflating_stream&) = delete;

  /// Compresses `bytes` and appends the result to `to`, flushed, so that all bytes added so far can be decompressed; `is_last` ends the
  /// stream.
  void add(std::string_view bytes, std::string& to, bool is_last = false);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The checksum of ZIP and gzip (IEEE 802.3).
std::uint32_t crc32(std::string_view bytes);

/// Decompresses a deflate stream to a known length. Errors: data_loss if it is damaged or has another length; unimplemented without zlib.
std::string inflate(std::string_view bytes, std::size_t length);

/// Whether bytes begin with the signature of a gzip file.
inline bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }
/// Decompresses a gzip file. Errors: data_loss if it is damaged or truncated; invalid_argument if the contents are longer than `limit`;
/// unimplemented without zlib.
std::string gunzip(std::string_view bytes, std::size_t limit = max_file_bytes);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/inflate.hpp>
#endif
