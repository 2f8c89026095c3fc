#pragma once
// Lines of a text file, without their ends ("\n" or "\r\n"). Memory grows with the longest line.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/io/regular_file.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>

namespace leat::io {

/// Reads the lines of a file.
class line_reader {
 public:
  /// Opens a file. Errors: not_found if it cannot be opened; failed_precondition for a pipe.
  explicit line_reader(const std::filesystem::path& path, std::size_t buffer_bytes = std::size_t{1} << 18);

  /// The next line, which is valid until the next call; nothing at the end. A last line without a line end counts.
  /// Errors: data_loss, naming the file, if it cannot be read.
  std::optional<std::string_view> next();

  /// The position of the next line, in bytes, and its number, from 1, for `seek`.
  std::uint64_t offset() const { return offset_ + begin_; }
  std::uint64_t next_line() const { return line_; }
  /// Continues at a position that `offset` and `next_line` returned. Errors: out_of_range beyond the end of the file.
  void seek(std::uint64_t offset, std::uint64_t next_line);
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  descriptor file_;
  std::unique_ptr<char[]> buffer_;  // the bytes from `offset_` on
  std::size_t capacity_ = 0, begin_ = 0, filled_ = 0;
  std::uint64_t offset_ = 0, line_ = 1;
};

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/lines.hpp>
#endif
