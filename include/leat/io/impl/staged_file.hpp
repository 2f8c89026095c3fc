#pragma once
// Implementation of staged_file.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/staged_file.hpp>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <random>
#include <system_error>
#include <thread>

namespace leat::io {

LEAT_FUNCTION std::string unique_digits() {
  static std::atomic<std::uint64_t> calls{0};
  static const std::uint64_t drawn = [] {
    std::random_device device;
    return std::uint64_t{device()} << 32 | device();
  }();
  // A forked process has its parent's random number and count, but a process id of its own.
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  std::uint64_t mixed = drawn;
  for (const std::uint64_t part : {static_cast<std::uint64_t>(::getpid()), static_cast<std::uint64_t>(now.tv_sec),
                                   static_cast<std::uint64_t>(now.tv_nsec), calls.fetch_add(1)}) {
    mixed = (mixed ^ part) * 0xff51afd7ed558ccdull;
    mixed ^= mixed >> 32;
  }
  std::string text(16, '0');
  for (std::size_t i = 16; i-- > 0; mixed >>= 4) text[i] = "0123456789abcdef"[mixed & 15];
  return text;
}

LEAT_FUNCTION std::string_view digits_before(std::string_view name, std::string_view ending) {
  if (!name.ends_with(ending)) return {};
  name.remove_suffix(ending.size());
  if (name.size() < 18 || name[name.size() - 17] != '.') return {};
  const std::string_view digits = name.substr(name.size() - 16);
  return digits.find_first_not_of("0123456789abcdef") == digits.npos ? digits : std::string_view{};
}

LEAT_FUNCTION std::string_view staged_name(std::string_view name) {
  constexpr std::string_view ending = ".0123456789abcdef.part";
  return digits_before(name, ".part").empty() ? name : name.substr(0, name.size() - ending.size());
}

LEAT_FUNCTION staged_file::staged_file(std::filesystem::path path) : path_(std::move(path)) {
  struct stat there{};
  const std::string& name = path_.native();
  const auto stands_for_open_file = [&] {
    return name == "/dev/stdout" || name == "/dev/stderr" || name.starts_with("/dev/fd/") || name.starts_with("/proc/");
  };
  if (::stat(name.c_str(), &there) == 0 && !S_ISDIR(there.st_mode) && (!S_ISREG(there.st_mode) || stands_for_open_file())) {
    is_written_as_it_is_ = true;
    part_ = path_;
    number_ = ::open(name.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
    if (number_ < 0) fail("cannot be written");
    return;
  }
  for (;;) {
    part_ = path_;
    part_ += "." + unique_digits() + ".part";
    number_ = ::open(part_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (number_ < 0 && errno == EEXIST) continue;
    if (number_ < 0) fail("cannot be written");
    struct stat its{};
    // Between the two calls another process may have locked and removed the file as an abandoned one.
    if (::flock(number_, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
      if (::fstat(number_, &its) == 0 && its.st_nlink > 0) return;
    ::close(number_);
  }
}

LEAT_FUNCTION staged_file::staged_file(made_elsewhere, std::filesystem::path part)
    : path_(part), part_(std::move(part)), is_made_elsewhere_(true) {
  if (digits_before(part_.filename().string(), ".part").empty()) throw failed_precondition(part_.string() + ": is no temporary file");
  number_ = ::open(part_.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (number_ < 0 && errno == ENOENT) throw not_found(part_.string() + ": is not there");
  if (number_ < 0) fail("cannot be written");
  struct stat its{};
  if (::fstat(number_, &its) == 0 && S_ISREG(its.st_mode) && its.st_size == 0) return;
  ::close(number_);
  throw failed_precondition(part_.string() + ": is no empty file");
}

LEAT_FUNCTION staged_file::~staged_file() {
  if (number_ < 0) return;
  if (!in_place_ && !is_made_elsewhere_ && !is_written_as_it_is_) ::unlink(part_.c_str());
  ::close(number_);
}

LEAT_FUNCTION void staged_file::fail(const char* what) const {
  const int reason = errno;
  const std::string text = path_.string() + ": " + what + ": " + std::generic_category().message(reason);
  if (reason == ENOSPC || reason == EDQUOT || reason == EFBIG) throw resource_exhausted(text);
  throw failed_precondition(text);
}

LEAT_FUNCTION void staged_file::write(std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(number_, bytes.data(), std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail("cannot be written");
    size_ += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
#ifdef SYNC_FILE_RANGE_WRITE
    // The disk starts to write while the next bytes are produced; `sync` waits for the rest, and reports errors.
    constexpr std::uint64_t part = std::uint64_t{8} << 20;
    if (size_ - begun_ >= part) {
      static_cast<void>(::sync_file_range(number_, static_cast<off_t>(begun_), static_cast<off_t>(size_ - begun_), SYNC_FILE_RANGE_WRITE));
      begun_ = size_;
    }
#endif
  }
}

LEAT_FUNCTION void staged_file::sync() {
  if (::fsync(number_) != 0 && !is_written_as_it_is_) fail("cannot be synced");
}

LEAT_FUNCTION void staged_file::put_in_place() {
  // If a file is not synced, some file systems report a full disk only when a descriptor is closed; a copy is closed, because the file's
  // own descriptor is kept for the lock.
  if (const int copy = ::dup(number_); copy >= 0 && ::close(copy) != 0 && errno != EINTR) fail("cannot be written");
  if (is_written_as_it_is_) return;
  if (::rename(part_.c_str(), path_.c_str()) != 0) fail("cannot be put in its place");
  in_place_ = true;
}

LEAT_FUNCTION void staged_file::remove() {
  if (in_place_ && !is_written_as_it_is_) ::unlink(path_.c_str());
}

LEAT_FUNCTION std::string staged_file::identity() const { return identity_of(in_place_ ? path_ : part_); }

LEAT_FUNCTION std::string identity_of(const std::filesystem::path& path) {
  struct stat its{};
  if (::stat(path.c_str(), &its) != 0) return {};
  return std::to_string(its.st_dev) + ":" + std::to_string(its.st_ino);
}

LEAT_FUNCTION folder_lock::folder_lock(const std::filesystem::path& folder, std::int64_t timeout_in_ms)
    : folder_(folder.empty() ? "." : folder), number_(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
  if (number_ < 0) throw failed_precondition(folder_.string() + ": cannot be opened: " + std::generic_category().message(errno));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout_in_ms);
  while (::flock(number_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return;  // the file system has no locks
    if (std::chrono::steady_clock::now() >= deadline) {
      ::close(number_);
      throw deadline_exceeded(folder_.string() + ": another process has held it locked for " + std::to_string(timeout_in_ms / 1000) + " s");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

LEAT_FUNCTION folder_lock::~folder_lock() { ::close(number_); }

LEAT_FUNCTION void folder_lock::sync() const {
  if (::fsync(number_) != 0) throw failed_precondition(folder_.string() + ": cannot be synced: " + std::generic_category().message(errno));
}

LEAT_FUNCTION void remove_abandoned(const std::filesystem::path& path, const std::function<bool()>& is_needed) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (number < 0) return;
  // Without locks it is unknown whether the file is being written, so it stays.
  if (::flock(number, LOCK_EX | LOCK_NB) == 0 && !(is_needed && is_needed())) ::unlink(path.c_str());
  ::close(number);
}

LEAT_FUNCTION void remove_abandoned_parts(const std::filesystem::path& folder) {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder.empty() ? "." : folder, ignored)) {
    const std::string name = entry.path().filename().string();
    if (!digits_before(name, ".part").empty()) remove_abandoned(entry.path());
  }
}

}  // namespace leat::io
