#pragma once
// Strings that a graph stores for its nodes: names and devices. They are stored one after another in large blocks of memory, each preceded
// by its length, so that a string costs its characters and four bytes, and a reference to it is one pointer.

#include <leat/core/error.hpp>

#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace leat {

/// A string owned by a graph, and valid as long as the graph. It converts to `std::string` and concatenates with strings.
class kept_text {
 public:
  constexpr kept_text() = default;
  std::string_view view() const {
    return length_ == nullptr ? std::string_view{} : std::string_view(length_ + sizeof(std::uint32_t), size());
  }
  std::size_t size() const {
    std::uint32_t n = 0;
    if (length_ != nullptr) std::memcpy(&n, length_, sizeof(n));
    return n;
  }
  bool empty() const { return size() == 0; }
  operator std::string_view() const { return view(); }
  operator std::string() const { return std::string(view()); }

  friend bool operator==(const kept_text& a, const kept_text& b) { return a.view() == b.view(); }
  friend bool operator==(const kept_text& a, std::string_view b) { return a.view() == b; }
  friend std::string operator+(const kept_text& a, std::string_view b) { return std::string(a.view()).append(b); }
  friend std::string operator+(std::string_view a, const kept_text& b) { return std::string(a).append(b.view()); }

 private:
  friend class text_store;
  explicit kept_text(const char* length) : length_(length) {}
  const char* length_ = nullptr;  // points to the length, which the characters follow
};

/// Owns the characters that `kept_text` refers to, in large blocks of memory.
class text_store {
 public:
  /// Stores a copy. Errors: invalid_argument for a string of 2^32 characters or more.
  kept_text keep(std::string_view text) {
    if (text.size() > UINT32_MAX) throw invalid_argument("a name of 2^32 characters or more");
    const auto length = static_cast<std::uint32_t>(text.size());
    const std::size_t wanted = sizeof(length) + text.size();
    if (wanted > left_) make_room(wanted);
    char* const at = next_;
    std::memcpy(at, &length, sizeof(length));
    if (length > 0) std::memcpy(at + sizeof(length), text.data(), text.size());
    next_ += wanted;
    left_ -= wanted;
    return kept_text(at);
  }

 private:
  // Allocates a block. Blocks grow with the amount stored, so that a small graph uses little memory and a large one few blocks.
  void make_room(std::size_t wanted) {
    const std::size_t usual = pieces_.empty() ? 256 : pieces_.size() < 8 ? std::size_t{256} << pieces_.size() : std::size_t{1} << 16;
    const std::size_t size = wanted > usual ? wanted : usual;
    pieces_.push_back(std::unique_ptr<char[]>(new char[size]));
    next_ = pieces_.back().get();
    left_ = size;
  }

  std::vector<std::unique_ptr<char[]>> pieces_;
  char* next_ = nullptr;
  std::size_t left_ = 0;
};

}  // namespace leat
