#pragma once
// Small records within a part of a message: 8-byte numbers and strings with their length, in an order that both sides know.

#include <leat/cluster/transport/frame.hpp>
#include <leat/core/error.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leat::transport {

class field_writer {
 public:
  field_writer& number(std::uint64_t n) {
    bytes_.append(reinterpret_cast<const char*>(&n), sizeof n);
    return *this;
  }
  field_writer& text(std::string_view t) {
    number(t.size());
    bytes_ += t;
    return *this;
  }
  frame done() { return frame::copy_of(std::string_view(bytes_)); }

 private:
  std::string bytes_;
};

/// Reads the output of `field_writer`. Errors: data_loss if the input is too short or too long.
class field_reader {
 public:
  explicit field_reader(frame f) : frame_(std::move(f)), rest_(frame_.text()) {}
  std::uint64_t number() {
    std::uint64_t n = 0;
    if (rest_.size() < sizeof n) throw data_loss("a record of a message is cut off");
    std::memcpy(&n, rest_.data(), sizeof n);
    rest_.remove_prefix(sizeof n);
    return n;
  }
  std::string text(std::size_t limit = 65536) {
    const std::uint64_t size = number();
    if (size > rest_.size() || size > limit) throw data_loss("a text in a message is cut off, or too long");
    std::string t(rest_.substr(0, static_cast<std::size_t>(size)));
    rest_.remove_prefix(static_cast<std::size_t>(size));
    return t;
  }
  void end() const {
    if (!rest_.empty()) throw data_loss("a record of a message is longer than expected");
  }

 private:
  frame frame_;
  std::string_view rest_;
};

}  // namespace leat::transport
