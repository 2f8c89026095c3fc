#pragma once
// Files by their descriptors, for operations that the standard library's streams lack: syncing, truncating, errors with their reason.

#include <leat/core/descriptor.hpp>
#include <leat/core/error.hpp>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <system_error>

namespace leat::io::detail {

/// The operating system's message for its last error.
inline std::string system_reason() { return std::generic_category().message(errno); }

/// Opens a regular file. Errors: not_found if it cannot be opened; failed_precondition for a pipe, socket or device.
inline descriptor open_to_read(const std::filesystem::path& path) {
  // O_NONBLOCK, since opening a pipe would otherwise wait for its writer.
  descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0) throw not_found(path.string() + ": cannot be opened: " + system_reason());
  if (S_ISDIR(status.st_mode)) throw not_found(path.string() + ": is a folder, not a file");
  if (!S_ISREG(status.st_mode)) throw failed_precondition(path.string() + ": is a pipe, socket or device, not a file");
  return file;
}

/// Reads available bytes at an offset; returns their number, 0 at the end of the file. Errors: data_loss, naming file and offset.
inline std::size_t read_at(const descriptor& file, const std::filesystem::path& path, std::span<char> to, std::uint64_t offset) {
  for (;;) {
    const ssize_t count = ::pread(file.get(), to.data(), to.size(), static_cast<off_t>(offset));
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno != EINTR) throw data_loss(path.string() + ": cannot be read at byte " + std::to_string(offset) + ": " + system_reason());
  }
}

}  // namespace leat::io::detail
