#pragma once
// Writes fields of protobuf messages into memory of sufficient size. Used for the events of each step: a general writer, which inserts the
// lengths of nested messages afterwards, takes longer than everything else. Source: protobuf's "Encoding".

#include <protozero/types.hpp>
#include <protozero/varint.hpp>

#include <bit>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace leat::summary::detail {

static_assert(std::endian::native == std::endian::little, "numbers of fixed size are little endian");

/// Appends fields to a string. The constructor gets the maximal number of bytes; the destructor cuts the string to the bytes written.
class field_writer {
 public:
  /// Maximal number of bytes of a field besides its string: field number and type, and an integer or length.
  static constexpr std::size_t most = 5 + 10;

  field_writer(std::string& to, std::size_t bytes) : to_(to), begin_(to.size()) {
    to_.resize(begin_ + bytes);
    at_ = to_.data() + begin_;
  }
  field_writer(const field_writer&) = delete;
  field_writer& operator=(const field_writer&) = delete;
  ~field_writer() { to_.resize(static_cast<std::size_t>(at_ - to_.data())); }

  void number(unsigned field, std::uint64_t v) {
    type(field, protozero::pbf_wire_type::varint);
    varint(v);
  }
  template <class T>
    requires(sizeof(T) == 4 || sizeof(T) == 8)
  void fixed(unsigned field, T v) {
    type(field, sizeof(T) == 4 ? protozero::pbf_wire_type::fixed32 : protozero::pbf_wire_type::fixed64);
    std::memcpy(at_, &v, sizeof v);
    at_ += sizeof v;
  }
  void bytes(unsigned field, std::string_view v) {
    begin_message(field, v.size());
    std::memcpy(at_, v.data(), v.size());
    at_ += v.size();
  }
  /// Begins a message in this field; the next `length` bytes are its contents.
  void begin_message(unsigned field, std::size_t length) {
    type(field, protozero::pbf_wire_type::length_delimited);
    varint(length);
  }

 private:
  void type(unsigned field, protozero::pbf_wire_type is) { varint(field << 3 | static_cast<unsigned>(is)); }
  void varint(std::uint64_t v) { at_ += protozero::add_varint_to_buffer(at_, v); }

  std::string& to_;
  std::size_t begin_;
  char* at_;
};

/// The encoded length of an integer in a message.
inline std::size_t varint_bytes(std::uint64_t v) { return static_cast<std::size_t>(protozero::length_of_varint(v)); }

}  // namespace leat::summary::detail
