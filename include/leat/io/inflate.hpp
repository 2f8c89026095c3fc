#pragma once
// Compressed bytes (deflate, zlib, gzip), by zlib where LEAT_USE_ZLIB is defined; without it they are refused. A compressed file of a few
// bytes can ask for much memory: results have limits. CRC-32, their checksum, needs no library.

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

/// What stands around a stream of deflate.
enum class compression { deflate, zlib, gzip };

/// Decompresses bytes piece by piece. What they hold is not kept, so memory does not grow with it.
class inflating_stream {
 public:
  /// `more` gives the next compressed bytes, which stay until its next call; none at their end. `what` names them in errors.
  /// Errors: unimplemented without zlib.
  inflating_stream(compression kind, std::function<std::string_view()> more, std::string what);
  ~inflating_stream();
  inflating_stream(const inflating_stream&) = delete;
  inflating_stream& operator=(const inflating_stream&) = delete;

  /// The next bytes; how many there are, 0 at the end. Errors: data_loss if the compressed bytes are damaged.
  std::size_t read(std::span<char> to);
  /// At the end: whether the stream is whole, or its bytes are cut off.
  bool is_whole() const;
  /// At the end of a whole stream: whether there are bytes behind it. gzip may hold several streams.
  bool has_more_bytes();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// Compresses bytes piece by piece.
class deflating_stream {
 public:
  /// `level`: from 0 (none) to 9 (smallest), -1 for zlib's own choice. Errors: unimplemented without zlib; invalid_argument for another
  /// level.
  explicit deflating_stream(compression kind, int level = -1);
  ~deflating_stream();
  deflating_stream(const deflating_stream&) = delete;
  deflating_stream& operator=(const deflating_stream&) = delete;

  /// Appends the compressed bytes to `to`, so that all of `bytes` can be read from what was appended so far; `is_last` ends the stream.
  void add(std::string_view bytes, std::string& to, bool is_last = false);

 private:
  struct state;
  std::unique_ptr<state> state_;
};

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
