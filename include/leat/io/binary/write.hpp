#pragma once
// Writes messages in protobuf's binary form with protozero: fields in the order of `messages.hpp`, attributes by name, so that equal
// messages have equal bytes.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <protozero/pbf_writer.hpp>

#include <span>
#include <string>
#include <string_view>

namespace leat::io::detail {

template <any_message M>
void write_message(protozero::pbf_writer& out, const std::string& buffer, const M& m, const place& at, int depth);

/// Writes the non-empty fields of one message.
class binary_field_writer {
 public:
  binary_field_writer(protozero::pbf_writer& out, const std::string& buffer, const place& at, int depth)
      : out_(out), buffer_(buffer), at_(at), depth_(depth) {}

  void text(unsigned number, std::string_view name, const std::string& value) {
    if (!value.empty()) put_text(number, name, value);
  }
  void bytes(unsigned number, std::string_view name, const std::string& value) {
    if (!value.empty()) put_bytes(number, name, value);
  }
  template <class T>
  void value(unsigned number, std::string_view, const T& value) {
    if constexpr (std::is_same_v<T, float>) {
      if (!same_bits(value, 0.0f)) put(number, value);
    } else {
      if (value != T{}) put(number, value);
    }
  }
  void named(unsigned number, std::string_view name, std::int32_t v, std::span<const std::string_view>) {
    value(number, name, v);
  }

  void texts(unsigned number, std::string_view name, const std::vector<std::string>& list) {
    for (const auto& value : list) put_text(number, name, value);
  }
  void byte_strings(unsigned number, std::string_view name, const std::vector<std::string>& list) {
    for (const auto& value : list) put_bytes(number, name, value);
  }
  template <class T>
  void values(unsigned number, std::string_view name, const std::vector<T>& list) {
    if (list.size() > max_file_bytes / 10) too_large(name);
    if constexpr (std::is_same_v<T, float>) {
      out_.add_packed_float(number, list.begin(), list.end());
    } else if constexpr (std::is_same_v<T, double>) {
      out_.add_packed_double(number, list.begin(), list.end());
    } else if (!list.empty()) {
      protozero::packed_field_int64 packed{out_, number};
      for (const auto v : list) packed.add_element(static_cast<std::int64_t>(v));
    }
  }

  template <class M>
  void submessage(unsigned number, std::string_view name, const M& m, bool always = false) {
    if (always || !(m == M{})) put_message(number, m, {&at_, name});
  }
  template <class M>
  void optional_message(unsigned number, std::string_view name, const std::optional<M>& m) {
    if (m) put_message(number, *m, {&at_, name});
  }
  template <class M>
  void submessages(unsigned number, std::string_view name, const std::vector<M>& list) {
    std::int64_t index = 0;
    for (const auto& m : list) {
      place here{&at_, name, nullptr, index++};
      if constexpr (std::is_same_v<M, node_def>) here.node_name = &m.name;
      put_message(number, m, here);
    }
  }
  template <class Map>
  void map(unsigned number, std::string_view name, const Map& entries) {
    for (const auto& [key, value] : entries) {
      const place here{&at_, name, &key};
      if (!is_utf8(key)) fail<invalid_argument>(here, "the name is not UTF-8");
      protozero::pbf_writer entry{out_, number};
      entry.add_string(1, key);
      put_into(entry, 2, value, here);
    }
  }

  template <class T, class Variant>
  void choice(unsigned number, std::string_view name, const Variant& variant) {
    const T* held = std::get_if<T>(&variant);
    if (held == nullptr) return;
    if constexpr (is_vector<T>) {
      write_list(*this, number, name, *held);
    } else if constexpr (std::is_same_v<T, std::string>) {
      put_bytes(number, name, *held);
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      put(number, *held);
    } else {
      put_message(number, unboxed(*held), {&at_, name});
    }
  }
  template <class T, class Variant>
  void choice_text(unsigned number, std::string_view name, const Variant& variant) {
    if (const T* held = std::get_if<T>(&variant)) put_text(number, name, text_of(*held));
  }

  template <class T>
  void elements(unsigned number, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field != field || t.bytes.empty()) return;
    if (t.bytes.size() % sizeof(T) != 0) fail<invalid_argument>({&at_, name}, "ends in half a value");
    if constexpr (std::is_floating_point_v<T>) {
      put_bytes(number, name, t.bytes);  // is already packed
    } else {
      if (t.bytes.size() > max_file_bytes / 10) too_large(name);
      protozero::packed_field_int64 packed{out_, number};
      using stored = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;
      for (std::size_t i = 0; i < t.bytes.size() / sizeof(stored); ++i) {
        const auto v = leat::detail::value_at<stored>(t.bytes, i);
        packed.add_element(std::is_same_v<T, bool> ? std::int64_t{v != 0} : static_cast<std::int64_t>(v));
      }
    }
  }
  void element_bytes(unsigned number, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field == field) bytes(number, name, t.bytes);
  }
  void element_texts(unsigned number, std::string_view name, const tensor_proto& t) {
    if (t.field == tensor_field::string_val) byte_strings(number, name, t.strings);
  }

  template <class Schema>
  void opaque(unsigned number, std::string_view name, const std::string& message) { bytes(number, name, message); }
  template <class Schema>
  void opaque_messages(unsigned number, std::string_view name, const std::vector<std::string>& list) {
    byte_strings(number, name, list);
  }
  void dropped(unsigned, std::string_view) {}
  void refused(unsigned, std::string_view) {}

 private:
  static bool same_bits(float a, float b) { return leat::detail::same_bits(a, b); }

  [[noreturn]] void too_large(std::string_view name) const {
    fail<invalid_argument>({&at_, name}, "the file would be larger than the 2 GB of protobuf's files");
  }
  void put_text(unsigned number, std::string_view name, const std::string& value) {
    if (!is_utf8(value)) fail<invalid_argument>({&at_, name}, "is not UTF-8: " + in_quotes(value));
    put_bytes(number, name, value);
  }
  void put_bytes(unsigned number, std::string_view name, const std::string& value) {
    if (value.size() > max_file_bytes) too_large(name);
    out_.add_bytes(number, value);
  }
  template <class T>
  void put(unsigned number, T v) {
    if constexpr (std::is_same_v<T, float>) out_.add_float(number, v);
    else if constexpr (std::is_same_v<T, double>) out_.add_double(number, v);
    else out_.add_int64(number, static_cast<std::int64_t>(v));
  }
  template <class M>
  void put_message(unsigned number, const M& m, const place& here) {
    put_into(out_, number, m, here);
  }
  template <class M>
  void put_into(protozero::pbf_writer& out, unsigned number, const M& m, const place& here) {
    const std::size_t before = buffer_.size();
    {
      protozero::pbf_writer sub{out, number};
      write_message(sub, buffer_, m, here, depth_ + 1);
    }
    // protozero drops an empty message; but its presence can have a meaning, for example the shape of a scalar.
    if (buffer_.size() == before) out.add_bytes(number, "", 0);
  }

  protozero::pbf_writer& out_;
  const std::string& buffer_;
  const place& at_;
  int depth_;
};

template <any_message M>
void write_message(protozero::pbf_writer& out, const std::string& buffer, const M& m, const place& at, int depth) {
  if (depth > max_message_depth)
    fail<invalid_argument>(at, "messages are nested deeper than " + std::to_string(max_message_depth));
  binary_field_writer writer(out, buffer, at, depth);
  message_fields<M>::fields(writer, m);
  if (buffer.size() > max_file_bytes)
    fail<invalid_argument>(at, "the file would be larger than the 2 GB of protobuf's files");
}

}  // namespace leat::io::detail
