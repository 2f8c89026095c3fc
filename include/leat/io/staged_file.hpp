#pragma once
// Files that appear whole or not at all, when several processes write into one folder and any of them may be killed at any moment. A
// file is written under a temporary name of its own, "NAME.<16 hexadecimal digits>.part", which its writer holds locked (flock); so
// whoever can lock such a file knows that its writer is gone, and may remove it. File systems without locks keep what a killed
// writer left.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace leat::io {

/// A file that is being written. Without `put_in_place` its destructor removes what was written. What is a device, a pipe or a socket, or
/// stands for an open file (/dev/stdout), is written to as it is: a file in its place would be another thing.
class staged_file {
 public:
  /// Errors: failed_precondition, naming the file, if its folder cannot be written to.
  explicit staged_file(std::filesystem::path path);
  /// The temporary file of a staged_file of another process, to be filled by this one: it is written and synced here, renamed or removed
  /// there. Errors: not_found if there is no such file; failed_precondition if it is no empty temporary file, or cannot be written.
  struct made_elsewhere {};
  staged_file(made_elsewhere, std::filesystem::path part);
  staged_file(const staged_file&) = delete;
  staged_file& operator=(const staged_file&) = delete;
  ~staged_file();

  /// Appends bytes. Errors: resource_exhausted for a full disk or a file too large; failed_precondition otherwise.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Waits until the bytes are on the disk. Errors: as `write`.
  void sync();
  /// Renames it to its path, in place of what is there. Its lock stays until it is destroyed. Errors: failed_precondition.
  void put_in_place();

  /// Removes it again if it was put in its place.
  void remove();
  /// What tells it from any other file, whatever its name.
  std::string identity() const;

  const std::filesystem::path& path() const { return path_; }
  /// The temporary file.
  const std::filesystem::path& part() const { return part_; }
  /// How many bytes were written.
  std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_, part_;
  int number_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t begun_ = 0;  // how many the disk was asked to write
  bool in_place_ = false;
  bool is_made_elsewhere_ = false;
  bool is_written_as_it_is_ = false;
};

/// Holds a folder locked against other processes and threads that lock it; where the file system has no locks, nothing is locked.
class folder_lock {
 public:
  /// Waits for the lock. Errors: failed_precondition if there is no such folder; deadline_exceeded after `timeout_in_ms`.
  explicit folder_lock(const std::filesystem::path& folder, std::int64_t timeout_in_ms = 60'000);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();
  /// Waits until renamed and removed names are on the disk. Errors: failed_precondition.
  void sync() const;

 private:
  std::filesystem::path folder_;
  int number_;
};

/// What tells a file from any other; empty if there is none.
std::string identity_of(const std::filesystem::path& path);

/// 16 hexadecimal digits that no other call returns, in any process.
std::string unique_digits();

/// Whether a name ends in 16 hexadecimal digits between dots before `ending`: "model.0123456789abcdef.part". Gives the digits, or "".
std::string_view digits_before(std::string_view name, std::string_view ending);

/// The name that a temporary file is to get: "model" of "model.0123456789abcdef.part"; any other name as it is.
std::string_view staged_name(std::string_view name);

/// Removes a file unless its writer has it locked, or `is_needed` (called while it is locked) says otherwise.
void remove_abandoned(const std::filesystem::path& path, const std::function<bool()>& is_needed = {});

/// Removes the temporary files of writers that are gone from a folder.
void remove_abandoned_parts(const std::filesystem::path& folder);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/staged_file_bodies.hpp>
#endif
