#pragma once
// Files that appear completely or not at all, even if several processes write into one folder and any of them may be killed at any moment.
// A file is written under a temporary name of its own, "NAME.<16 hexadecimal digits>.part", and its writer keeps it locked (flock); so a
// process that can lock such a file knows that the writer is gone, and may remove the file. On file systems without locks, files of killed
// writers remain.

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

/// A file that is being written. Without `put_in_place`, its destructor removes the file. A device, a pipe, a socket, or a name for an open
/// file (/dev/stdout) is written to directly, because a file that replaces it would be something else.
class staged_file {
 public:
  /// Creates the temporary file. Errors: failed_precondition, naming the file, if its folder cannot be written to.
  explicit staged_file(std::filesystem::path path);
  /// Opens the temporary file of another process's staged_file, to be filled by this process: it is written and synced here, renamed or
  /// removed there. Errors: not_found if there is no such file; failed_precondition if it is not an empty temporary file, or cannot be
  /// written.
  struct made_elsewhere {};
  staged_file(made_elsewhere, std::filesystem::path part);
  staged_file(const staged_file&) = delete;
  staged_file& operator=(const staged_file&) = delete;
  ~staged_file();

  /// Appends bytes. Errors: resource_exhausted for a full disk or a file that is too large; failed_precondition for other problems.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text) { write(std::as_bytes(std::span(text))); }
  /// Waits until the bytes are on the disk. Errors: as `write`.
  void sync();
  /// Renames the file to its path, replacing an existing file. The lock is kept until this object is destroyed. Errors:
  /// failed_precondition.
  void put_in_place();

  /// Removes the file again if it was put in place.
  void remove();
  /// Text that identifies the file among all files, independent of its name.
  std::string identity() const;

  const std::filesystem::path& path() const { return path_; }
  /// The path of the temporary file.
  const std::filesystem::path& part() const { return part_; }
  /// The number of bytes written.
  std::uint64_t size() const { return size_; }

 private:
  [[noreturn]] void fail(const char* what) const;

  std::filesystem::path path_, part_;
  int number_ = -1;
  std::uint64_t size_ = 0;
  std::uint64_t begun_ = 0;  // bytes that the disk was asked to write
  bool in_place_ = false;
  bool is_made_elsewhere_ = false;
  bool is_written_as_it_is_ = false;
};

/// Locks a folder against other processes and threads that lock it. If the file system has no locks, nothing is locked.
class folder_lock {
 public:
  /// Waits for the lock. Errors: failed_precondition if there is no such folder; deadline_exceeded after `timeout_in_ms`.
  explicit folder_lock(const std::filesystem::path& folder, std::int64_t timeout_in_ms = 60'000);
  folder_lock(const folder_lock&) = delete;
  folder_lock& operator=(const folder_lock&) = delete;
  ~folder_lock();
  /// Waits until renames and removals of files are on the disk. Errors: failed_precondition.
  void sync() const;

 private:
  std::filesystem::path folder_;
  int number_;
};

/// Text that identifies a file among all files; empty if the file does not exist.
std::string identity_of(const std::filesystem::path& path);

/// 16 hexadecimal digits that no other call returns, in any process.
std::string unique_digits();

/// Returns the 16 hexadecimal digits of a name like "model.0123456789abcdef.part", between dots before `ending`; an empty string for any
/// other name.
std::string_view digits_before(std::string_view name, std::string_view ending);

/// The final name of a temporary file: "model" for "model.0123456789abcdef.part"; any other name unchanged.
std::string_view staged_name(std::string_view name);

/// Removes a file unless its writer has it locked, or `is_needed`, which is called while it is locked, returns true.
void remove_abandoned(const std::filesystem::path& path, const std::function<bool()>& is_needed = {});

/// Removes from a folder the temporary files whose writers are gone.
void remove_abandoned_parts(const std::filesystem::path& folder);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/staged_file.hpp>
#endif
