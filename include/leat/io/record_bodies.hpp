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

LEAT_FUNCTION record_writer::record_writer(const std::filesystem::path& path, record_opening opening, std::size_t buffer_bytes)
    : path_(path), limit_(buffer_bytes) {
  if (std::error_code ignored; opening == record_opening::append && std::filesystem::exists(path, ignored)) {
    record_reader there(path);
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
  const std::size_t before = buffer_.size();
  append_record(buffer_, record);
  if (buffer_.size() < limit_) return;
  try {
    flush();
  } catch (...) {
    buffer_.resize(before);
    throw;
  }
}

LEAT_FUNCTION void record_writer::flush() {
  must_be_open();
  std::uint64_t at = flushed_;
  for (std::string_view rest = buffer_; !rest.empty();) {
    const ssize_t count =
        ::pwrite(file_.get(), rest.data(), std::min<std::size_t>(rest.size(), std::size_t{1} << 30), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const std::string reason = detail::system_reason();
      // Readers never see half of what is repeated later.
      if (::ftruncate(file_.get(), static_cast<off_t>(flushed_)) != 0) errno = 0;
      throw failed_precondition(path_.string() + ": cannot be written at byte " + std::to_string(at) + ": " + reason);
    }
    rest.remove_prefix(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
  flushed_ = at;
  buffer_.clear();
}

LEAT_FUNCTION void record_writer::sync() {
  flush();
  if (::fsync(file_.get()) != 0) throw failed_precondition(path_.string() + ": cannot be synced: " + detail::system_reason());
}

LEAT_FUNCTION void record_writer::close() {
  if (!file_) return;
  flush();
  file_ = descriptor();
}

// ---- reading --------------------------------------------------------------------------------------------------------

LEAT_FUNCTION record_reader::record_reader(const std::filesystem::path& path, std::size_t buffer_bytes) : path_(path) {
  file_ = detail::open_to_read(path);
  capacity_ = std::max(buffer_bytes, record_frame_bytes);
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
}

// Reads on until `wanted` bytes are there; false if the file ends before.
LEAT_FUNCTION bool record_reader::fill(std::size_t wanted) {
  if (filled_ - begin_ >= wanted) return true;
  std::memmove(buffer_.get(), buffer_.get() + begin_, filled_ - begin_);
  filled_ -= begin_;
  begin_ = 0;
  while (filled_ < wanted) {
    if (filled_ == capacity_) {  // a record longer than the buffer: grow with what has arrived
      const std::size_t larger = std::min(std::max(wanted, capacity_), 2 * capacity_);
      auto moved = std::make_unique_for_overwrite<char[]>(larger);
      std::memcpy(moved.get(), buffer_.get(), filled_);
      buffer_ = std::move(moved);
      capacity_ = larger;
    }
    const std::size_t count = detail::read_at(file_, path_, std::span(buffer_.get() + filled_, capacity_ - filled_), offset_ + filled_);
    if (count == 0) return false;
    filled_ += count;
  }
  return true;
}

// What is written at a place of the record in front.
LEAT_FUNCTION std::uint32_t record_reader::checksum_at(std::size_t at) const {
  std::uint32_t checksum;
  std::memcpy(&checksum, buffer_.get() + begin_ + at, 4);
  return checksum;
}

// The length of the record in front, whose header is in the buffer, if its checksum is right.
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
    end_ = filled_ == begin_ ? record_end::whole : record_end::truncated;
    return std::nullopt;
  }
  const auto length = checked_length();
  if (!length) fail("has a length whose checksum is another: it is corrupt, or the file is no file of records");
  // What no file can hold counts as truncated, as every length beyond the end does.
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
  struct stat status;
  if (::fstat(file_.get(), &status) != 0 || offset > static_cast<std::uint64_t>(status.st_size))
    throw out_of_range(path_.string() + ": has no byte " + std::to_string(offset));
  offset_ = offset;
  begin_ = filled_ = 0;
  end_ = record_end::none;
}

}  // namespace leat::io
