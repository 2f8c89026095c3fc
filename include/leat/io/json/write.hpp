#pragma once
// Writes messages as protobuf's canonical JSON, with names as in the .proto files: 64-bit integers are strings, bytes are base64, floats
// have the shortest digits that read back equal. Empty fields are left out. Each node is on a line of its own.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <array>
#include <charconv>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace leat::io::detail {

/// Appends UTF-8 as a JSON string.
inline void append_json_text(std::string& out, std::string_view text) {
  constexpr std::string_view digits = "0123456789abcdef";
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\' && c != 0x7f) continue;
    out.append(text, done, i - done);
    done = i + 1;
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        out += "\\u00";
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[c & 15];
    }
  }
  out.append(text, done);
  out += '"';
}

template <class T>
void append_number(std::string& out, T v) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), v).ptr;
  const std::string_view text(digits.data(), static_cast<std::size_t>(end - digits.data()));
  out += text;
  if (std::is_floating_point_v<T> && text.find_first_of(".e") == text.npos) out += ".0";
}

/// Appends a number or bool as canonical JSON.
template <class T>
void append_json_value(std::string& out, T v) {
  if constexpr (std::is_same_v<T, bool>) {
    out += v ? "true" : "false";
  } else if constexpr (std::is_same_v<T, data_type>) {
    if (is_known(v)) out.append("\"").append(name_of_data_type(v)).append("\"");
    else append_number(out, static_cast<std::int32_t>(v));
  } else if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(v)) out += "\"NaN\"";
    else if (std::isinf(v)) out += v > 0 ? "\"Infinity\"" : "\"-Infinity\"";
    else append_number(out, v);
  } else if constexpr (sizeof(T) == 8) {
    out += '"';
    append_number(out, v);
    out += '"';
  } else {
    append_number(out, v);
  }
}

template <any_message M>
void append_json_message(std::string& out, const M& m, const place& at, int depth);

/// Writes the non-empty fields of one message.
class json_field_writer {
 public:
  json_field_writer(std::string& out, const place& at, int depth) : out_(out), at_(at), depth_(depth) {}

  void text(unsigned, std::string_view name, const std::string& value) {
    if (value.empty()) return;
    begin(name);
    put_text(name, value);
  }
  void bytes(unsigned, std::string_view name, const std::string& value) {
    if (value.empty()) return;
    begin(name);
    put_bytes(value);
  }
  template <class T>
  void value(unsigned, std::string_view name, const T& value) {
    if constexpr (std::is_same_v<T, float>) {
      if (leat::detail::same_bits(value, 0.0f)) return;
    } else {
      if (value == T{}) return;
    }
    begin(name);
    append_json_value(out_, value);
  }
  void named(unsigned, std::string_view name, std::int32_t value, std::span<const std::string_view> names) {
    if (value == 0) return;
    begin(name);
    if (value > 0 && static_cast<std::size_t>(value) < names.size())
      append_json_text(out_, names[static_cast<std::size_t>(value)]);
    else append_number(out_, value);
  }

  void texts(unsigned, std::string_view name, const std::vector<std::string>& list) {
    put_list(name, list, [&](const std::string& v) { put_text(name, v); });
  }
  void byte_strings(unsigned, std::string_view name, const std::vector<std::string>& list) {
    put_list(name, list, [&](const std::string& v) { put_bytes(v); });
  }
  template <class T>
  void values(unsigned, std::string_view name, const std::vector<T>& list) {
    put_list(name, list, [&](T v) { append_json_value(out_, v); });
  }

  template <class M>
  void submessage(unsigned, std::string_view name, const M& m, bool always = false) {
    if (!always && m == M{}) return;
    begin(name);
    append_json_message(out_, m, {&at_, name}, depth_ + 1);
  }
  template <class M>
  void optional_message(unsigned, std::string_view name, const std::optional<M>& m) {
    if (!m) return;
    begin(name);
    append_json_message(out_, *m, {&at_, name}, depth_ + 1);
  }
  template <class M>
  void submessages(unsigned, std::string_view name, const std::vector<M>& list) {
    constexpr bool lines = std::is_same_v<M, node_def>;
    std::int64_t index = 0;
    put_list(
        name, list,
        [&](const M& m) {
          place here{&at_, name, nullptr, index++};
          if constexpr (lines) here.node_name = &m.name;
          append_json_message(out_, m, here, depth_ + 1);
        },
        lines ? "[\n  " : "[", lines ? ",\n  " : ", ", lines ? "\n]" : "]");
  }
  template <class Map>
  void map(unsigned, std::string_view name, const Map& entries) {
    if (entries.empty()) return;
    begin(name);
    bool more = false;
    out_ += '{';
    for (const auto& [key, value] : entries) {
      const place here{&at_, name, &key};
      if (more) out_ += ", ";
      more = true;
      if (!is_utf8(key)) fail<invalid_argument>(here, "the name is not UTF-8");
      append_json_text(out_, key);
      out_ += ": ";
      append_json_message(out_, value, here, depth_ + 1);
    }
    out_ += '}';
  }

  template <class T, class Variant>
  void choice(unsigned number, std::string_view name, const Variant& variant) {
    const T* held = std::get_if<T>(&variant);
    if (held == nullptr) return;
    if constexpr (is_vector<T>) {
      write_list(*this, number, name, *held);
    } else {
      begin(name);
      if constexpr (std::is_same_v<T, std::string>) put_bytes(*held);
      else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) append_json_value(out_, *held);
      else append_json_message(out_, unboxed(*held), {&at_, name}, depth_ + 1);
    }
  }
  template <class T, class Variant>
  void choice_text(unsigned, std::string_view name, const Variant& variant) {
    const T* held = std::get_if<T>(&variant);
    if (held == nullptr) return;
    begin(name);
    put_text(name, text_of(*held));
  }

  template <class T>
  void elements(unsigned, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field != field || t.bytes.empty()) return;
    if (t.bytes.size() % sizeof(T) != 0) fail<invalid_argument>({&at_, name}, "ends in half a value");
    begin(name);
    out_ += '[';
    for (std::size_t i = 0; i < t.bytes.size() / sizeof(T); ++i) {
      if (i > 0) out_ += ", ";
      if constexpr (std::is_same_v<T, bool>) append_json_value(out_, t.bytes[i] != 0);
      else append_json_value(out_, leat::detail::value_at<T>(t.bytes, i));
    }
    out_ += ']';
  }
  void element_bytes(unsigned number, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field == field) bytes(number, name, t.bytes);
  }
  void element_texts(unsigned number, std::string_view name, const tensor_proto& t) {
    if (t.field == tensor_field::string_val) byte_strings(number, name, t.strings);
  }

  template <class Schema>
  void opaque(unsigned number, std::string_view, const std::string& message) {
    bytes(number, library_in_json, message);
  }
  template <class Schema>
  void opaque_messages(unsigned, std::string_view name, const std::vector<std::string>& list) {
    if (!list.empty()) fail<unimplemented>({&at_, name}, "cannot be written as JSON; binary files and texts (.pbtxt) can hold it");
  }
  void dropped(unsigned, std::string_view) {}
  void refused(unsigned, std::string_view) {}

 private:
  void begin(std::string_view name) {
    if (more_) out_ += ", ";
    more_ = true;
    out_ += '"';
    out_ += name;
    out_ += "\": ";
  }
  void put_text(std::string_view name, const std::string& value) {
    if (!is_utf8(value)) fail<invalid_argument>({&at_, name}, "is not UTF-8: " + in_quotes(value));
    append_json_text(out_, value);
  }
  void put_bytes(const std::string& value) {
    out_ += '"';
    append_base64(out_, value);
    out_ += '"';
  }
  template <class List, class F>
  void put_list(std::string_view name, const List& list, F put, std::string_view open = "[",
                std::string_view comma = ", ", std::string_view close = "]") {
    if (list.empty()) return;
    begin(name);
    out_ += open;
    bool more = false;
    for (const auto& v : list) {
      if (more) out_ += comma;
      more = true;
      put(v);
    }
    out_ += close;
  }

  std::string& out_;
  const place& at_;
  int depth_;
  bool more_ = false;
};

template <any_message M>
void append_json_message(std::string& out, const M& m, const place& at, int depth) {
  if (depth > max_message_depth)
    fail<invalid_argument>(at, "messages are nested deeper than " + std::to_string(max_message_depth));
  out += '{';
  json_field_writer writer(out, at, depth);
  message_fields<M>::fields(writer, m);
  out += '}';
  if (out.size() > max_file_bytes)
    fail<invalid_argument>(at, "the text would be larger than 2 GB, which is protobuf's limit");
}

}  // namespace leat::io::detail
