#pragma once
// Writes messages in protobuf's text format, as Python's text_format.MessageToString does: one field per line, indented by two spaces per
// level, entries of maps sorted by key. Strings are escaped as in C++ (CEscape), so that the text is ASCII.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <variant>
#include <vector>

namespace leat::io::detail {

/// Appends a string as a literal.
inline void append_text_literal(std::string& out, std::string_view value) {
  out += '"';
  std::size_t done = 0;
  for (std::size_t i = 0; i < value.size(); ++i) {
    const char c = value[i];
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7f && c != '"' && c != '\'' && c != '\\') continue;
    out.append(value, done, i - done);
    done = i + 1;
    const char letter = c == '\n' ? 'n' : c == '\r' ? 'r' : c == '\t' ? 't' : byte >= 0x20 && byte < 0x7f ? c : '\0';
    const auto digit = [&](int shift) { return static_cast<char>('0' + ((byte >> shift) & 7)); };
    const char escape[4]{'\\', letter != '\0' ? letter : digit(6), digit(3), digit(0)};
    out.append(escape, letter != '\0' ? 2 : 4);
  }
  out.append(value, done);
  out += '"';
}

/// Appends a number as Python's `str` of a float does: digits with a point from 1e-4 to 1e16, otherwise with an exponent of at least two
/// digits. A float has the first precision of 6 to 9 digits that reads back equal, a double the fewest digits that do.
template <class T>
  requires std::is_floating_point_v<T>
void append_text_number(std::string& out, T value) {
  if (std::isnan(value)) return void(out += "nan");
  if (std::isinf(value)) return void(out += value > 0 ? "inf" : "-inf");
  if (std::signbit(value)) out += '-', value = -value;
  std::array<char, 32> text;
  std::string_view digits;
  const auto keep = [&](std::to_chars_result made) { digits = {text.data(), static_cast<std::size_t>(made.ptr - text.data())}; };
  if constexpr (std::is_same_v<T, float>) {
    for (int precision = 5;; ++precision) {  // digits after the point
      keep(std::to_chars(text.data(), text.data() + text.size(), double{value}, std::chars_format::scientific, precision));
      double back = 0;
      std::from_chars(digits.data(), digits.data() + digits.size(), back);
      if (static_cast<float>(back) == value || precision == 8) break;
    }
  } else {
    keep(std::to_chars(text.data(), text.data() + text.size(), value, std::chars_format::scientific));
  }
  const auto e = digits.find('e');
  int exponent = 0;
  std::from_chars(digits.data() + e + (digits[e + 1] == '+' ? 2 : 1), digits.data() + digits.size(), exponent);
  std::array<char, 24> significant;  // the digits without point and trailing zeros
  std::size_t count = 0;
  for (const char c : digits.substr(0, e))
    if (c != '.') significant[count++] = c;
  while (count > 1 && significant[count - 1] == '0') --count;
  const std::string_view kept(significant.data(), count);
  if (exponent < -4 || exponent >= 16) {
    out += kept[0];
    if (count > 1) (out += '.') += kept.substr(1);
    out += exponent < 0 ? "e-" : "e+";
    const int magnitude = exponent < 0 ? -exponent : exponent;
    if (magnitude < 10) out += '0';
    out += std::to_string(magnitude);
  } else if (exponent < 0) {
    out += "0.";
    out.append(static_cast<std::size_t>(-exponent - 1), '0');
    out += kept;
  } else {
    const auto whole = static_cast<std::size_t>(exponent) + 1;
    out += kept.substr(0, whole);
    if (count < whole) out.append(whole - count, '0');
    out += '.';
    if (count > whole) out += kept.substr(whole);
    else out += '0';
  }
}
template <class T>
  requires std::is_integral_v<T>
void append_text_number(std::string& out, T value) {
  std::array<char, 24> digits;
  out.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr);
}

template <any_message M>
void append_text_message(std::string& out, const M& m, const place& at, int depth);

/// Writes messages that graphs carry in binary form; `text/opaque.hpp` defines it.
template <class Schema>
void append_opaque_text(std::string& out, const std::string& message, const place& at, int depth);

/// Writes the non-empty fields of one message, each on a line of its own.
class text_field_writer {
 public:
  text_field_writer(std::string& out, const place& at, int depth) : out_(out), at_(at), depth_(depth) {}

  void text(unsigned, std::string_view name, const std::string& value) {
    if (!value.empty()) text_line(name, value);
  }
  void bytes(unsigned, std::string_view name, const std::string& value) {
    if (!value.empty()) line(name, value);
  }
  template <class T>
  void value(unsigned, std::string_view name, const T& value) {
    if constexpr (std::is_floating_point_v<T>) {
      if (value == T{} && !std::signbit(value)) return;
    } else {
      if (value == T{}) return;
    }
    line(name, value);
  }
  void named(unsigned number, std::string_view name, std::int32_t v, std::span<const std::string_view> names) {
    if (v <= 0 || static_cast<std::size_t>(v) >= names.size()) return value(number, name, v);
    begin(name, ": ");
    (out_ += names[static_cast<std::size_t>(v)]) += '\n';
  }
  void texts(unsigned, std::string_view name, const std::vector<std::string>& list) {
    for (const std::string& v : list) text_line(name, v);
  }
  void byte_strings(unsigned, std::string_view name, const std::vector<std::string>& list) {
    for (const std::string& v : list) line(name, v);
  }
  template <class T>
  void values(unsigned, std::string_view name, const std::vector<T>& list) {
    for (const auto& v : list) line(name, static_cast<const T&>(v));
  }

  template <class M>
  void submessage(unsigned, std::string_view name, const M& m, bool always = false) {
    if (always) return nested(name, m, {&at_, name});
    if (!(m == M{})) if_written(name, [&] { append_text_message(out_, m, {&at_, name}, depth_ + 1); });
  }
  template <class M>
  void optional_message(unsigned, std::string_view name, const std::optional<M>& m) {
    if (m) nested(name, *m, {&at_, name});
  }
  template <class M>
  void submessages(unsigned, std::string_view name, const std::vector<M>& list) {
    std::int64_t index = 0;
    for (const M& m : list) {
      place here{&at_, name, nullptr, index++};
      if constexpr (std::is_same_v<M, node_def>) here.node_name = &m.name;
      nested(name, m, here);
    }
  }
  template <class Map>
  void map(unsigned, std::string_view name, const Map& entries) {
    for (const auto& [key, value] : entries) {
      const place here{&at_, name, &key};
      if (!is_utf8(key)) fail<invalid_argument>(here, "the name is not UTF-8");
      open(name);
      text_field_writer entry(out_, here, depth_ + 1);
      entry.line("key", key);
      entry.nested("value", value, here);
      close();
    }
  }

  template <class T, class Variant>
  void choice(unsigned number, std::string_view name, const Variant& variant) {
    const T* held = std::get_if<T>(&variant);
    if (held == nullptr) return;
    if constexpr (is_vector<T>) write_list(*this, number, name, *held);
    else if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T> || std::is_enum_v<T>) line(name, *held);
    else nested(name, unboxed(*held), {&at_, name});
  }
  template <class T, class Variant>
  void choice_text(unsigned, std::string_view name, const Variant& variant) {
    if (const T* held = std::get_if<T>(&variant)) text_line(name, text_of(*held));
  }

  template <class T>
  void elements(unsigned, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field != field) return;
    if (t.bytes.size() % sizeof(T) != 0) fail<invalid_argument>({&at_, name}, "ends in half a value");
    for (std::size_t i = 0; i < t.bytes.size() / sizeof(T); ++i) {
      if constexpr (std::is_same_v<T, bool>) line(name, t.bytes[i] != 0);
      else line(name, leat::detail::value_at<T>(t.bytes, i));
    }
  }
  void element_bytes(unsigned number, std::string_view name, tensor_field field, const tensor_proto& t) {
    if (t.field == field) bytes(number, name, t.bytes);
  }
  void element_texts(unsigned number, std::string_view name, const tensor_proto& t) {
    if (t.field == tensor_field::string_val) byte_strings(number, name, t.strings);
  }

  template <class Schema>
  void opaque(unsigned, std::string_view name, const std::string& message) {
    if (!message.empty()) if_written(name, [&] { append_opaque_text<Schema>(out_, message, {&at_, name}, depth_ + 1); });
  }
  template <class Schema>
  void opaque_messages(unsigned, std::string_view name, const std::vector<std::string>& list) {
    std::int64_t index = 0;
    for (const std::string& message : list) {
      open(name);
      append_opaque_text<Schema>(out_, message, {&at_, name, nullptr, index++}, depth_ + 1);
      close();
    }
  }
  void dropped(unsigned, std::string_view) {}
  void refused(unsigned, std::string_view) {}

 private:
  /// Appends an indented line, or the beginning of one. It resizes the string only once, since resizing is most of the cost.
  void begin(std::string_view name, std::string_view rest) {
    const std::size_t indent = 2 * static_cast<std::size_t>(depth_ - 1), before = out_.size();
    out_.resize(before + indent + name.size() + rest.size());
    char* at = out_.data() + before;
    at = std::fill_n(at, indent, ' ');
    at = std::copy(name.begin(), name.end(), at);
    std::copy(rest.begin(), rest.end(), at);
  }
  void open(std::string_view name) { begin(name, " {\n"); }
  void close() { begin("}", "\n"); }
  template <class T>
  void line(std::string_view name, const T& value) {
    begin(name, ": ");
    put(value);
    out_ += '\n';
  }
  void text_line(std::string_view name, const std::string& value) {
    if (!is_utf8(value)) fail<invalid_argument>({&at_, name}, "is not UTF-8: " + in_quotes(value));
    line(name, value);
  }
  /// Writes a message if any of its fields is known: without one, what is read again would not have it.
  template <class Write>
  void if_written(std::string_view name, Write write) {
    const std::size_t before = out_.size();
    open(name);
    const std::size_t opened = out_.size();
    write();
    if (out_.size() == opened) out_.resize(before);
    else close();
  }
  template <class M>
  void nested(std::string_view name, const M& m, const place& at) {
    open(name);
    append_text_message(out_, m, at, depth_ + 1);
    close();
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      append_text_literal(out_, value);
    } else if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, data_type>) {
      if (is_known(value)) out_ += name_of_data_type(value);
      else append_text_number(out_, static_cast<std::int32_t>(value));
    } else {
      append_text_number(out_, value);
    }
  }

  std::string& out_;
  const place& at_;
  int depth_;
};

template <any_message M>
void append_text_message(std::string& out, const M& m, const place& at, int depth) {
  if (depth > max_message_depth) fail<invalid_argument>(at, "messages are nested deeper than " + std::to_string(max_message_depth));
  text_field_writer writer(out, at, depth);
  message_fields<M>::fields(writer, m);
  if (out.size() > max_file_bytes) fail<invalid_argument>(at, "the text would be larger than 2 GB, which is protobuf's limit");
}

template <any_message M>
std::string text_of_message(const M& m) {
  std::string text;
  append_text_message(text, m, place{}, 1);
  return text;
}

}  // namespace leat::io::detail
