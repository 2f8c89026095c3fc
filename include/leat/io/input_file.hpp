#pragma once
// A file that is read in pieces, or mapped into memory. It stays readable if its name is removed or given to another file.

#include <leat/core/function_bodies.hpp>
#include <leat/io/file.hpp>
#include <leat/io/regular_file.hpp>

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>

namespace leat::io {

/// Pages of a file in memory, which stay mapped until the last owner is destroyed. Writes to them are visible to this process only.
class file_mapping {
 public:
  file_mapping(std::byte* bytes, std::size_t size) : bytes_(bytes), size_(size) {}
  file_mapping(const file_mapping&) = delete;
  file_mapping& operator=(const file_mapping&) = delete;
  ~file_mapping();
  std::span<std::byte> bytes() const { return {bytes_, size_}; }

 private:
  std::byte* bytes_;
  std::size_t size_;
};

/// An open file. Thread-safe.
class input_file {
 public:
  /// Opens a file. Errors: not_found if it cannot be opened; failed_precondition for a pipe, socket or device.
  explicit input_file(std::filesystem::path path);
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  /// Whether its name still refers to this file: the file was neither removed nor replaced.
  bool has_its_name() const;
  /// The time of its last modification, in seconds since 1970.
  double time() const;
  /// Fills `bytes` from a position on. Errors: data_loss, naming file and position, if the file ends before.
  void read(std::uint64_t position, std::span<std::byte> bytes) const;
  /// The whole file as a string. Errors: invalid_argument if it is longer than `limit`; those of `read`.
  std::string text(std::size_t limit = max_file_bytes) const;
  /// The whole file in memory, mapped at the first call. If another process truncates the file, reading the pages that were cut off ends
  /// this process by SIGBUS. Errors: failed_precondition if it cannot be mapped.
  std::shared_ptr<file_mapping> mapped() const;

 private:
  std::filesystem::path path_;
  descriptor file_;
  std::uint64_t size_ = 0;
  mutable std::mutex guard_;
  mutable std::shared_ptr<file_mapping> mapping_;
};

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/input_file.hpp>
#endif
