#pragma once
// Implementation of record.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/record.hpp>

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <bit>
#include <cstring>

namespace leat::io {

static_assert(std::endian::native == std::endian::little, "record files are little endian");

LEAT_FUNCTION void append_record(std::string& to, std::string_view record) {
  char header[record_header_bytes];
  const std::uint64_t length = record.size();
  std::memcpy(header, &length, 8);
  const std::uint32_t of_length = masked(crc32c(std::string_view(header, 8)));
  std::memcpy(header + 8, &of_length, 4);
  const std::uint32_t of_record = masked(crc32c(record));
  to.append(header, record_header_bytes);
  to.append(record);
  to.append(reinterpret_cast<const char*>(&of_record), 4);
}

// ---- writing --------------------------------------------------------------------------------------------------------

LEAT_FUNCTION record_writer::record_writer(const std::filesystem::path& path, record_opening opening, std::size_t buffer_bytes,
                                           record_compression compression, int level)
    : path_(path), limit_(buffer_bytes) {
  if (compression == record_compression::automatic)
    throw invalid_argument(path.string() + ": a writer has to be told how to compress: none, zlib or gzip");
  if (compression != record_compression::none)
    compressor_ =
        std::make_unique<deflating_stream>(compression == record_compression::zlib ? io::compression::zlib : io::compression::gzip, level);
  if (std::error_code ignored; opening == record_opening::append && std::filesystem::exists(path, ignored)) {
    if (compressor_ != nullptr && std::filesystem::file_size(path, ignored) > 0)
      throw unimplemented(path.string() + ": records cannot be appended to a compressed file");
    record_reader there(path, std::size_t{1} << 18, record_compression::none);
    while (there.next()) {
    }
    flushed_ = there.offset();
  }
  file_ = descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666));
  if (!file_ || ::ftruncate(file_.get(), static_cast<off_t>(flushed_)) != 0)
    throw failed_precondition(path.string() + ": cannot be opened for writing: " + detail::system_reason());
}

LEAT_FUNCTION record_writer::record_writer(record_writer&&) noexcept = default;
LEAT_FUNCTION record_writer& record_writer::operator=(record_writer&& other) noexcept {
  std::swap(path_, other.path_), std::swap(file_, other.file_), std::swap(buffer_, other.buffer_);
  std::swap(limit_, other.limit_), std::swap(flushed_, other.flushed_);
  std::swap(compressor_, other.compressor_), std::swap(packed_, other.packed_);
  std::swap(packed_bytes_, other.packed_bytes_), std::swap(is_ended_, other.is_ended_);
  return *this;
}
LEAT_FUNCTION record_writer::~record_writer() {
  try {
    close();
  } catch (const error&) {
  }
}

LEAT_FUNCTION void record_writer::must_be_open() const {
  if (!file_) throw failed_precondition(path_.string() + ": is closed: no record can be written");
}

LEAT_FUNCTION void record_writer::write(std::string_view record) {
  must_be_open();
  // Compressed bytes cannot be taken back, so a full buffer is written before the record is added.
  if (compressor_ != nullptr && buffer_.size() >= limit_) put_compressed(false);
  const std::size_t before = buffer_.size();
  append_record(buffer_, record);
  if (compressor_ != nullptr || buffer_.size() < limit_) return;
  try {
    flush();
  } catch (...) {
    buffer_.resize(before);
    throw;
  }
}

// Writes bytes at the end of the file; if that fails, none of them remain in the file.
LEAT_FUNCTION void record_writer::put(const std::string& bytes, std::uint64_t from) {
  std::uint64_t at = from;
  for (std::string_view rest = bytes; !rest.empty();) {
    const ssize_t count =
        ::pwrite(file_.get(), rest.data(), std::min<std::size_t>(rest.size(), std::size_t{1} << 30), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string reason = detail::system_reason();
      // Truncated, so that readers never see half of a write that is repeated later.
      if (::ftruncate(file_.get(), static_cast<off_t>(from)) != 0) errno = 0;
      throw failed_precondition(path_.string() + ": cannot be written at byte " + std::to_string(at) + ": " + reason);
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
}

LEAT_FUNCTION void record_writer::put_compressed(bool is_last) {
  if (!is_ended_ && (is_last || !buffer_.empty())) {
    compressor_->add(buffer_, packed_, is_last);
    flushed_ += buffer_.size();
    buffer_.clear();
    is_ended_ = is_last;
  }
  put(packed_, packed_bytes_);
  packed_bytes_ += packed_.size();
  packed_.clear();
}

LEAT_FUNCTION void record_writer::flush() {
  must_be_open();
  if (compressor_ != nullptr) return put_compressed(false);
  put(buffer_, flushed_);
  flushed_ += buffer_.size();
  buffer_.clear();
}

LEAT_FUNCTION void record_writer::sync() {
  flush();
  if (::fsync(file_.get()) != 0) throw failed_precondition(path_.string() + ": cannot be synced: " + detail::system_reason());
}

LEAT_FUNCTION void record_writer::close() {
  if (!file_) return;
  if (compressor_ != nullptr) put_compressed(true);
  else flush();
  file_ = descriptor();
}

// ---- reading --------------------------------------------------------------------------------------------------------

// The decompressed bytes of a file, read from its beginning.
struct record_reader::inflating {
  inflating(const descriptor& opened, std::filesystem::path name, compression kind)
      : file(::fcntl(opened.get(), F_DUPFD_CLOEXEC, 0)), path(std::move(name)), stream(kind, [this] { return next(); }, path.string()) {}
  std::string_view next() {
    const std::size_t count = detail::read_at(file, path, std::span(packed), at);
    at += count;
    return {packed, count};
  }
  descriptor file;  // its own descriptor, since the reader may be moved
  std::filesystem::path path;
  char packed[1 << 16];
  std::uint64_t at = 0;        // position in the file
  std::uint64_t position = 0;  // position in the decompressed bytes
  inflating_stream stream;
};

LEAT_FUNCTION record_reader::record_reader(const std::filesystem::path& path, std::size_t buffer_bytes, record_compression compression)
    : path_(path), compression_(compression) {
  file_ = detail::open_to_read(path);
  capacity_ = std::max(buffer_bytes, record_frame_bytes);
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
}

// Detects whether the file is compressed. An uncompressed file begins with a length and the matching checksum; no compressed file does.
LEAT_FUNCTION void record_reader::detect() {
  char first[record_header_bytes];
  const std::size_t count = detail::read_at(file_, path_, std::span(first), 0);
  if (count < 2) return;  // the file may still be written
  std::uint32_t checksum = 0;
  if (count == sizeof first) std::memcpy(&checksum, first + 8, 4);
  const auto byte = [&](int i) { return static_cast<unsigned>(static_cast<unsigned char>(first[i])); };
  constexpr unsigned deflate = 8;  // the method's number in zlib's header, which is a multiple of 31
  const auto is_empty_stream = [](std::string_view bytes) { return bytes.size() == 8 && bytes.ends_with(std::string_view("\0\0\0\1", 4)); };
  if (count == sizeof first && checksum == masked(crc32c(std::string_view(first, 8)))) compression_ = record_compression::none;
  else if (is_gzip({first, count})) compression_ = record_compression::gzip;
  else if ((byte(0) & 15) == deflate && (byte(0) << 8 | byte(1)) % 31 == 0 && (count == sizeof first || is_empty_stream({first, count})))
    compression_ = record_compression::zlib;
  else if (count == sizeof first) compression_ = record_compression::none;
}

// Reads the bytes from position `offset_` + `filled_` - `begin_` on; returns 0 at the end.
LEAT_FUNCTION std::size_t record_reader::read_on(std::span<char> to) {
  if (compression_ == record_compression::automatic) detect();
  const std::uint64_t position = offset_ + (filled_ - begin_);
  if (compression_ == record_compression::automatic || compression_ == record_compression::none)
    return detail::read_at(file_, path_, to, position);
  const io::compression kind = compression_ == record_compression::zlib ? io::compression::zlib : io::compression::gzip;
  if (inflating_ == nullptr || inflating_->position > position) inflating_ = std::make_shared<inflating>(file_, path_, kind);
  while (inflating_->position < position) {  // decompresses and skips
    const std::size_t skipped =
        inflating_->stream.read(to.first(static_cast<std::size_t>(std::min<std::uint64_t>(to.size(), position - inflating_->position))));
    if (skipped == 0) throw out_of_range(path_.string() + ": has no byte " + std::to_string(position));
    inflating_->position += skipped;
  }
  const std::size_t count = inflating_->stream.read(to);
  inflating_->position += count;
  return count;
}

// Reads until `wanted` bytes are in the buffer; returns false if the file ends before.
LEAT_FUNCTION bool record_reader::fill(std::size_t wanted) {
  if (filled_ - begin_ >= wanted) return true;
  std::memmove(buffer_.get(), buffer_.get() + begin_, filled_ - begin_);
  filled_ -= begin_;
  begin_ = 0;
  while (filled_ < wanted) {
    if (filled_ == capacity_) {  // a record longer than the buffer: grow with the bytes that have arrived
      const std::size_t larger = std::min(std::max(wanted, capacity_), 2 * capacity_);
      auto moved = std::make_unique_for_overwrite<char[]>(larger);
      std::memcpy(moved.get(), buffer_.get(), filled_);
      buffer_ = std::move(moved);
      capacity_ = larger;
    }
    const std::size_t count = read_on(std::span(buffer_.get() + filled_, capacity_ - filled_));
    if (count == 0) return false;
    filled_ += count;
  }
  return true;
}

// The stored checksum at an offset of the current record.
LEAT_FUNCTION std::uint32_t record_reader::checksum_at(std::size_t at) const {
  std::uint32_t checksum;
  std::memcpy(&checksum, buffer_.get() + begin_ + at, 4);
  return checksum;
}

// The length of the current record, whose header is in the buffer, if the checksum of the length matches.
LEAT_FUNCTION std::optional<std::uint64_t> record_reader::checked_length() const {
  if (checksum_at(8) != masked(crc32c(std::string_view(buffer_.get() + begin_, 8)))) return std::nullopt;
  std::uint64_t length;
  std::memcpy(&length, buffer_.get() + begin_, 8);
  return length;
}

LEAT_FUNCTION std::optional<std::string_view> record_reader::next() {
  const auto fail = [&](const std::string& what) -> void {
    throw data_loss(path_.string() + ": the record at byte " + std::to_string(offset_) + " " + what);
  };
  end_ = record_end::none;
  if (!fill(record_header_bytes)) {
    const bool is_cut_off = filled_ != begin_ || (inflating_ != nullptr && !inflating_->stream.is_whole());
    if (!is_cut_off && inflating_ != nullptr && inflating_->stream.has_more_bytes())
      throw data_loss(path_.string() + ": bytes behind the end of the compressed records");
    end_ = is_cut_off ? record_end::truncated : record_end::whole;
    return std::nullopt;
  }
  const auto length = checked_length();
  if (!length) fail("has a length whose checksum is another: it is corrupt, or the file is no file of records");
  if (inflating_ != nullptr && *length > longest_compressed_record)
    throw resource_exhausted(path_.string() + ": the record at byte " + std::to_string(offset_) + " has " + std::to_string(*length) +
                             " bytes, more than the " + std::to_string(longest_compressed_record) + " of one in a compressed file");
  // A length that no file can have counts as truncated, as every length beyond the end does.
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  if (*length > most || !fill(record_frame_bytes + static_cast<std::size_t>(*length))) {
    end_ = record_end::truncated;
    return std::nullopt;
  }
  const std::string_view record(buffer_.get() + begin_ + record_header_bytes, static_cast<std::size_t>(*length));
  if (checksum_at(record_header_bytes + record.size()) != masked(crc32c(record)))
    fail("of " + std::to_string(*length) + " bytes is corrupt: its checksum is another");
  begin_ += record_frame_bytes + record.size();
  offset_ += record_frame_bytes + record.size();
  return record;
}

LEAT_FUNCTION bool record_reader::pass_corrupt() {
  if (filled_ - begin_ < record_frame_bytes) return false;
  const auto length = checked_length();
  if (!length || *length > filled_ - begin_ - record_frame_bytes) return false;
  begin_ += record_frame_bytes + static_cast<std::size_t>(*length);
  offset_ += record_frame_bytes + *length;
  return true;
}

LEAT_FUNCTION void record_reader::seek(std::uint64_t offset) {
  if (compression_ == record_compression::automatic) detect();
  const bool is_compressed = compression_ == record_compression::zlib || compression_ == record_compression::gzip;
  struct stat status;
  if (!is_compressed && (::fstat(file_.get(), &status) != 0 || offset > static_cast<std::uint64_t>(status.st_size)))
    throw out_of_range(path_.string() + ": has no byte " + std::to_string(offset));
  offset_ = offset;
  begin_ = filled_ = 0;
  end_ = record_end::none;
}

}  // namespace leat::io
