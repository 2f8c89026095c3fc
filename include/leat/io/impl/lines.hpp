#pragma once
// Implementation of lines.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/lines.hpp>

#include <algorithm>
#include <cstring>

namespace leat::io {

LEAT_FUNCTION line_reader::line_reader(const std::filesystem::path& path, std::size_t buffer_bytes)
    : path_(path), file_(detail::open_to_read(path)), capacity_(std::max<std::size_t>(buffer_bytes, 16)) {
  buffer_ = std::make_unique_for_overwrite<char[]>(capacity_);
}

LEAT_FUNCTION std::optional<std::string_view> line_reader::next() {
  const auto line = [&](std::size_t end, std::size_t behind) {
    std::string_view text(buffer_.get() + begin_, end - begin_);
    if (behind > end && text.ends_with('\r')) text.remove_suffix(1);
    begin_ = behind;
    ++line_;
    return text;
  };
  for (std::size_t seen = begin_;;) {
    if (const void* found = std::memchr(buffer_.get() + seen, '\n', filled_ - seen)) {
      const auto end = static_cast<std::size_t>(static_cast<const char*>(found) - buffer_.get());
      return line(end, end + 1);
    }
    seen = filled_ - begin_;
    std::memmove(buffer_.get(), buffer_.get() + begin_, seen);
    offset_ += std::exchange(begin_, 0);
    filled_ = seen;
    if (filled_ == capacity_) {  // a line that fills the buffer
      auto larger = std::make_unique_for_overwrite<char[]>(2 * capacity_);
      std::memcpy(larger.get(), buffer_.get(), filled_);
      buffer_ = std::move(larger);
      capacity_ *= 2;
    }
    const std::size_t count = detail::read_at(file_, path_, std::span(buffer_.get() + filled_, capacity_ - filled_), offset_ + filled_);
    filled_ += count;
    if (count > 0) continue;
    if (filled_ == 0) return std::nullopt;
    return line(filled_, filled_);
  }
}

LEAT_FUNCTION void line_reader::seek(std::uint64_t offset, std::uint64_t next_line) {
  struct stat status;
  if (::fstat(file_.get(), &status) != 0 || offset > static_cast<std::uint64_t>(status.st_size))
    throw out_of_range(path_.string() + ": has no byte " + std::to_string(offset));
  offset_ = offset;
  begin_ = filled_ = 0;
  line_ = next_line;
}

}  // namespace leat::io
