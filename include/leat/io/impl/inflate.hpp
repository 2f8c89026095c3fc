#pragma once
// Implementation of inflate.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/crc32c.hpp>
#include <leat/io/inflate.hpp>

#include <algorithm>
#include <utility>

#if defined(LEAT_USE_ZLIB)
#include <zlib.h>
#endif

namespace leat::io {

#if defined(LEAT_USE_ZLIB)

namespace detail {
/// zlib's windowBits, which select the format around the stream.
constexpr int window_bits(compression kind) { return kind == compression::deflate ? -15 : kind == compression::zlib ? 15 : 15 + 16; }
inline constexpr std::size_t most_for_zlib = std::size_t{1} << 30;  // zlib's lengths are unsigned int
}  // namespace detail

struct inflating_stream::state {
  z_stream of{};
  std::function<std::string_view()> more;
  std::string what;
  std::string_view rest{};  // bytes from the last call of `more` that are not yet in `of`
  bool may_hold_several = false;
  bool is_between = false;  // nothing was read of the next stream
  bool is_done = false, is_whole = false;
  ~state() { ::inflateEnd(&of); }

  [[noreturn]] void fail(const std::string& why) const { throw data_loss(what + ": " + why); }
  /// Whether there are compressed bytes to read; calls `more` if needed.
  bool has_input() {
    if (of.avail_in > 0) return true;
    if (rest.empty()) rest = more();
    const std::string_view next = rest.substr(0, detail::most_for_zlib);
    of.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
    of.avail_in = static_cast<uInt>(next.size());
    rest.remove_prefix(next.size());
    return !next.empty();
  }
};

LEAT_FUNCTION inflating_stream::inflating_stream(compression kind, std::function<std::string_view()> more, std::string what)
    : state_(std::make_unique<state>()) {
  state_->more = std::move(more);
  state_->what = std::move(what);
  state_->may_hold_several = kind == compression::gzip;
  if (::inflateInit2(&state_->of, detail::window_bits(kind)) != Z_OK) state_->fail("zlib cannot begin");
}
LEAT_FUNCTION inflating_stream::~inflating_stream() = default;

LEAT_FUNCTION std::size_t inflating_stream::read(std::span<char> to) {
  state& s = *state_;
  while (!s.is_done && !to.empty()) {
    if (!s.has_input()) {
      s.is_done = true;
      s.is_whole = s.is_between;
      break;
    }
    const std::size_t room = std::min(to.size(), detail::most_for_zlib);
    s.of.next_out = reinterpret_cast<Bytef*>(to.data());
    s.of.avail_out = static_cast<uInt>(room);
    const int result = ::inflate(&s.of, Z_NO_FLUSH);
    s.is_between = false;
    if (result == Z_STREAM_END) {
      if (!s.may_hold_several) {
        s.is_done = s.is_whole = true;
      } else {
        if (::inflateReset(&s.of) != Z_OK) s.fail("zlib cannot go on");
        s.is_between = true;
      }
    } else if (result != Z_OK && result != Z_BUF_ERROR) {
      s.fail("the compressed bytes are damaged" + (s.of.msg != nullptr ? ": " + std::string(s.of.msg) : std::string()));
    }
    if (const std::size_t count = room - s.of.avail_out; count > 0) return count;
  }
  return 0;
}
LEAT_FUNCTION bool inflating_stream::is_whole() const { return state_->is_whole; }
LEAT_FUNCTION bool inflating_stream::has_more_bytes() { return state_->has_input(); }

struct deflating_stream::state {
  z_stream of{};
  ~state() { ::deflateEnd(&of); }
};

LEAT_FUNCTION deflating_stream::deflating_stream(compression kind, int level) : state_(std::make_unique<state>()) {
  if (level < -1 || level > 9) throw invalid_argument("compression of level " + std::to_string(level) + "; levels are 0 to 9, or -1");
  constexpr int usual_memory = 8;
  if (::deflateInit2(&state_->of, level, Z_DEFLATED, detail::window_bits(kind), usual_memory, Z_DEFAULT_STRATEGY) != Z_OK)
    throw resource_exhausted("compression: zlib cannot begin");
}
LEAT_FUNCTION deflating_stream::~deflating_stream() = default;

LEAT_FUNCTION void deflating_stream::add(std::string_view bytes, std::string& to, bool is_last) {
  z_stream& of = state_->of;
  char part[1 << 14];
  do {
    const std::string_view next = bytes.substr(0, detail::most_for_zlib);
    bytes.remove_prefix(next.size());
    of.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(next.data()));
    of.avail_in = static_cast<uInt>(next.size());
    const int flush = !bytes.empty() ? Z_NO_FLUSH : is_last ? Z_FINISH : Z_SYNC_FLUSH;
    do {
      of.next_out = reinterpret_cast<Bytef*>(part);
      of.avail_out = sizeof part;
      ::deflate(&of, flush);
      to.append(part, sizeof part - of.avail_out);
    } while (of.avail_out == 0);
  } while (!bytes.empty());
}

#else

namespace detail {
[[noreturn]] inline void fail_without_zlib(const std::string& what) {
  throw unimplemented(what + ": compressed bytes need zlib: compile with LEAT_USE_ZLIB and link it");
}
}  // namespace detail
struct inflating_stream::state {};
LEAT_FUNCTION inflating_stream::inflating_stream(compression, std::function<std::string_view()>, std::string what) {
  detail::fail_without_zlib(what);
}
LEAT_FUNCTION inflating_stream::~inflating_stream() = default;
LEAT_FUNCTION std::size_t inflating_stream::read(std::span<char>) { return 0; }
LEAT_FUNCTION bool inflating_stream::is_whole() const { return false; }
LEAT_FUNCTION bool inflating_stream::has_more_bytes() { return false; }
struct deflating_stream::state {};
LEAT_FUNCTION deflating_stream::deflating_stream(compression, int) { detail::fail_without_zlib("compression"); }
LEAT_FUNCTION deflating_stream::~deflating_stream() = default;
LEAT_FUNCTION void deflating_stream::add(std::string_view, std::string&, bool) {}

#endif

namespace detail {

LEAT_FUNCTION std::string inflated(std::string_view bytes, compression kind, std::size_t limit, const char* what) {
  inflating_stream stream(kind, [&bytes] { return std::exchange(bytes, {}); }, what);
  std::string result;
  std::size_t filled = 0;
  for (;;) {
    if (filled > limit) throw invalid_argument(std::string(what) + ": holds more than " + std::to_string(limit) + " bytes");
    // Room for at least one byte more than allowed, so that exceeding the limit is detected.
    if (filled == result.size()) result.resize(std::min(std::max<std::size_t>(2 * filled, 1 << 16), limit + 1));
    const std::size_t count = stream.read(std::span(result).subspan(filled));
    if (count == 0) break;
    filled += count;
  }
  if (!stream.is_whole()) throw data_loss(std::string(what) + ": the compressed bytes are cut off");
  if (stream.has_more_bytes()) throw data_loss(std::string(what) + ": bytes behind the end");
  result.resize(filled);
  return result;
}

}  // namespace detail

LEAT_FUNCTION std::uint32_t crc32(std::string_view bytes) {
  return ~detail::crc_by_tables<0xedb88320u>(std::as_bytes(std::span(bytes)), ~std::uint32_t{0});
}

LEAT_FUNCTION std::string inflate(std::string_view bytes, std::size_t length) {
  std::string result;
  try {
    result = detail::inflated(bytes, compression::deflate, length, "deflate");
  } catch (const invalid_argument&) {
    throw data_loss("deflate: more than the " + std::to_string(length) + " bytes that are expected");
  }
  if (result.size() != length)
    throw data_loss("deflate: " + std::to_string(result.size()) + " bytes where " + std::to_string(length) + " are expected");
  return result;
}
LEAT_FUNCTION std::string gunzip(std::string_view bytes, std::size_t limit) {
  return detail::inflated(bytes, compression::gzip, limit, "gzip");
}

}  // namespace leat::io
