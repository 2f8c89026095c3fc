#pragma once
// Implementation of text.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/io/json/write.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/text.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/graph/named_part.hpp>

#include <ostream>

namespace leat::io::detail {

template <any_message M>
void append_text_message(std::string& out, const M& m, const place& at, int depth);

/// Writes the non-empty fields of one message, each on a line of its own.
class text_field_writer {
 public:
  text_field_writer(std::string& out, const place& at, int depth) : out_(out), at_(at), depth_(depth) {}

  void text(unsigned, std::string_view name, const std::string& value) {
    if (!value.empty()) line(name, value);
  }
  void bytes(unsigned number, std::string_view name, const std::string& value) { text(number, name, value); }
  template <class T>
  void value(unsigned, std::string_view name, const T& value) {
    if (value != T{}) line(name, value);
  }
  void texts(unsigned, std::string_view name, const std::vector<std::string>& list) { values(0, name, list); }
  void byte_strings(unsigned, std::string_view name, const std::vector<std::string>& list) { values(0, name, list); }
  template <class T>
  void values(unsigned, std::string_view name, const std::vector<T>& list) {
    for (const auto& v : list) line(name, static_cast<const T&>(v));
  }

  template <class M>
  void submessage(unsigned, std::string_view name, const M& m, bool always = false) {
    if (always || !(m == M{})) nested(name, m, {&at_, name});
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
    if (const T* held = std::get_if<T>(&variant)) line(name, text_of(*held));
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

  void opaque(unsigned, std::string_view, const std::string&) {}
  void dropped(unsigned, std::string_view) {}
  void refused(unsigned, std::string_view) {}

 private:
  void begin(std::string_view name) {
    out_.append(2 * static_cast<std::size_t>(depth_), ' ');
    out_ += name;
  }
  void open(std::string_view name) {
    begin(name);
    out_ += " {\n";
  }
  void close() {
    out_.append(2 * static_cast<std::size_t>(depth_), ' ');
    out_ += "}\n";
  }
  template <class T>
  void line(std::string_view name, const T& value) {
    begin(name);
    out_ += ": ";
    put(value);
    out_ += '\n';
  }
  template <class M>
  void nested(std::string_view name, const M& m, const place& at) {
    open(name);
    append_text_message(out_, m, at, depth_ + 1);
    close();
  }
  template <class T>
  void put(const T& value) {
    if constexpr (std::is_same_v<T, bool>) {
      out_ += value ? "true" : "false";
    } else if constexpr (std::is_same_v<T, data_type>) {
      out_ += name_of_data_type(value);
    } else if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(value)) out_ += "nan";
      else if (std::isinf(value)) out_ += value > 0 ? "inf" : "-inf";
      else append_number(out_, value);
    } else {
      append_number(out_, value);
    }
  }
  void put(const std::string& value) {
    out_ += '"';
    for (const char c : value) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '\n') out_ += "\\n";
      else if (c == '\r') out_ += "\\r";
      else if (c == '\t') out_ += "\\t";
      else if (c == '"' || c == '\'' || c == '\\') (out_ += '\\') += c;
      else if (byte >= 0x20 && byte < 0x7f) out_ += c;
      else
        for (const int shift : {6, 3, 0}) {
          if (shift == 6) out_ += '\\';
          out_ += static_cast<char>('0' + ((byte >> shift) & 7));
        }
    }
    out_ += '"';
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
}

template <any_message M>
std::string text_of_message(const M& m) {
  std::string text;
  append_text_message(text, m, place{}, 0);
  return text;
}

}  // namespace leat::io::detail

namespace leat {

namespace io {
LEAT_FUNCTION std::string write_text(const node_def& node) { return detail::text_of_message(node); }
LEAT_FUNCTION std::string write_text(const graph_def& graph) { return detail::text_of_message(graph); }
}  // namespace io

LEAT_FUNCTION std::string describe(const graph_operation& operation) {
  if (!operation) throw failed_precondition("describe: the handle refers to no operation");
  operation.owner().named().settle_names(operation.owner());
  return io::write_text(to_node_def(operation.owner(), operation.index()));
}

LEAT_FUNCTION std::ostream& operator<<(std::ostream& out, const graph_operation& operation) { return out << describe(operation); }
LEAT_FUNCTION std::ostream& operator<<(std::ostream& out, const output& tensor) { return out << describe(tensor); }

}  // namespace leat
