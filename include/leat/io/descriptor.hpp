#pragma once
// A file of the operating system, closed with its owner. What the standard's streams cannot do needs it: syncing, truncating, errors
// with their reason.

#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

namespace leat::io::detail {

class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  ~descriptor() {
    if (number_ >= 0) ::close(number_);
  }

  int number() const { return number_; }
  explicit operator bool() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

/// The operating system's words for what went wrong last.
inline std::string system_reason() { return std::generic_category().message(errno); }

}  // namespace leat::io::detail
