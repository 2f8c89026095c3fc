#pragma once
// Implementation of input_file.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/input_file.hpp>

#include <sys/mman.h>
#include <sys/stat.h>

namespace leat::io {

LEAT_FUNCTION file_mapping::~file_mapping() {
  if (size_ > 0) ::munmap(bytes_, size_);
}

LEAT_FUNCTION input_file::input_file(std::filesystem::path path) : path_(std::move(path)), file_(detail::open_to_read(path_)) {
  struct stat its{};
  if (::fstat(file_.get(), &its) != 0) throw not_found(path_.string() + ": cannot be opened: " + detail::system_reason());
  size_ = static_cast<std::uint64_t>(its.st_size);
}

LEAT_FUNCTION bool input_file::has_its_name() const {
  struct stat mine{}, now{};
  return ::fstat(file_.get(), &mine) == 0 && ::stat(path_.c_str(), &now) == 0 && mine.st_dev == now.st_dev && mine.st_ino == now.st_ino;
}

LEAT_FUNCTION double input_file::time() const {
  struct stat its{};
  if (::fstat(file_.get(), &its) != 0) return 0;
  return static_cast<double>(its.st_mtim.tv_sec) + 1e-9 * static_cast<double>(its.st_mtim.tv_nsec);
}

LEAT_FUNCTION void input_file::read(std::uint64_t position, std::span<std::byte> bytes) const {
  while (!bytes.empty()) {
    const std::span<char> part(reinterpret_cast<char*>(bytes.data()), std::min<std::size_t>(bytes.size(), std::size_t{1} << 30));
    const std::size_t count = detail::read_at(file_, path_, part, position);
    if (count == 0) throw data_loss(path_.string() + ": byte " + std::to_string(position) + " cannot be read: the file ends before");
    position += count;
    bytes = bytes.subspan(count);
  }
}

LEAT_FUNCTION std::string input_file::text(std::size_t limit) const {
  if (size_ > limit) throw invalid_argument(path_.string() + ": longer than " + std::to_string(limit) + " bytes");
  std::string all(static_cast<std::size_t>(size_), '\0');
  read(0, std::as_writable_bytes(std::span(all)));
  return all;
}

LEAT_FUNCTION std::shared_ptr<file_mapping> input_file::mapped() const {
  const std::lock_guard lock(guard_);
  if (mapping_ != nullptr) return mapping_;
  void* at = nullptr;
  if (size_ > 0) {
    at = ::mmap(nullptr, static_cast<std::size_t>(size_), PROT_READ | PROT_WRITE, MAP_PRIVATE, file_.get(), 0);
    if (at == MAP_FAILED) throw failed_precondition(path_.string() + ": cannot be mapped into memory: " + detail::system_reason());
  }
  mapping_ = std::make_shared<file_mapping>(static_cast<std::byte*>(at), static_cast<std::size_t>(size_));
  return mapping_;
}

}  // namespace leat::io
