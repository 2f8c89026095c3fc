#pragma once
// tf.Example messages from JSON, in protobuf's mapping: {"features": {"feature": {"a": {"int64List": {"value": ["1", 2]}}}}}. As protobuf
// does, it takes names in snake_case, too, strings in single quotes, names without quotes, a comma behind the last element, and null for
// what is absent. Numbers may be strings; bytes are base64. The grammar has a fixed depth, so no text needs a deep stack. Source:
// TensorFlow `DecodeJSONExample`.

#include <leat/core/base64.hpp>
#include <leat/core/error.hpp>

#include <protozero/pbf_writer.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <set>
#include <string>
#include <string_view>

namespace leat::detail {

class json_example_reader {
 public:
  explicit json_example_reader(std::string_view text) : text_(text) {}

  std::string read() {
    std::string made;
    message([&](const std::string& name) {
      if (name != "features") fail("no such field: '" + name + "'");
      if (!take_null()) protozero::pbf_writer(made).add_message(1, features());
    });
    skip();
    if (at_ != text_.size()) throw invalid_argument("Error while parsing JSON: extraneous characters after end of JSON object");
    return made;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
    std::size_t line = 1, begin = 0;
    for (std::size_t i = 0; i < at && i < text_.size(); ++i)
      if (text_[i] == '\n') {
        ++line;
        begin = i + 1;
      }
    throw invalid_argument("Error while parsing JSON: near " + std::to_string(line) + ":" + std::to_string(at - begin + 1) + " (offset " +
                           std::to_string(at) + "): " + what);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\n' || text_[at_] == '\r')) ++at_;
  }
  char next() {
    skip();
    if (at_ == text_.size()) throw invalid_argument("Error while parsing JSON: unexpected EOF");
    return text_[at_];
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) fail(std::string("unexpected character: '") + text_[at_] + "'; expected '" + c + "'");
  }
  bool take_null() {
    next();
    if (!text_.substr(at_).starts_with("null")) return false;
    at_ += 4;
    return true;
  }
  bool is_quote(char c) const { return c == '"' || c == '\''; }

  // Calls `member` with the name of each member, behind its colon.
  template <class Member>
  void message(Member member) {
    expect('{');
    while (!take('}')) {
      const std::string name = is_quote(next()) ? string() : word();
      expect(':');
      member(name);
      if (!take(',')) {
        expect('}');
        return;
      }
    }
  }
  std::string word() {
    const std::size_t begin = at_;
    const auto is_part = [](char c) {
      return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
    };
    while (at_ < text_.size() && is_part(text_[at_])) ++at_;
    if (at_ == begin) fail(std::string("unexpected character: '") + text_[at_] + "'");
    return std::string(text_.substr(begin, at_ - begin));
  }
  std::uint32_t four_digits() {
    std::uint32_t value = 0;
    const char* const begin = text_.data() + at_;
    if (text_.size() - at_ < 4) throw invalid_argument("Error while parsing JSON: unexpected EOF");
    const auto [end, problem] = std::from_chars(begin, begin + 4, value, 16);
    if (problem != std::errc{} || end != begin + 4) fail("invalid Unicode escape");
    at_ += 4;
    return value;
  }
  static void append(std::string& to, std::uint32_t code) {
    const auto more = [&](int shift) { to += static_cast<char>(0x80 | (code >> shift & 0x3f)); };
    if (code < 0x80) {
      to += static_cast<char>(code);
    } else if (code < 0x800) {
      to += static_cast<char>(0xc0 | code >> 6), more(0);
    } else if (code < 0x10000) {
      to += static_cast<char>(0xe0 | code >> 12), more(6), more(0);
    } else {
      to += static_cast<char>(0xf0 | code >> 18), more(12), more(6), more(0);
    }
  }
  std::string string() {
    const char quote = next();
    if (!is_quote(quote)) fail(std::string("unexpected character: '") + quote + "'; expected '\"'");
    ++at_;
    std::string made;
    for (;; ++at_) {
      if (at_ == text_.size()) throw invalid_argument("Error while parsing JSON: unexpected EOF");
      const char c = text_[at_];
      if (c == quote) {
        ++at_;
        return made;
      }
      if (static_cast<unsigned char>(c) < 0x20) fail("invalid control character in string");
      if (c != '\\') {
        made += c;
        continue;
      }
      if (++at_ == text_.size()) throw invalid_argument("Error while parsing JSON: unexpected EOF");
      constexpr std::string_view names = "\"\\/bfnrt'", values = "\"\\/\b\f\n\r\t'";
      if (const std::size_t k = names.find(text_[at_]); k != names.npos) {
        made += values[k];
        continue;
      }
      if (text_[at_] != 'u') fail("invalid escape");
      ++at_;
      std::uint32_t code = four_digits();
      if (code >= 0xdc00 && code < 0xe000) fail("unpaired low surrogate");
      if (code >= 0xd800 && code < 0xdc00) {
        if (!text_.substr(at_).starts_with("\\u")) fail("unpaired high surrogate");
        at_ += 2;
        const std::uint32_t low = four_digits();
        if (low < 0xdc00 || low >= 0xe000) fail("invalid low surrogate");
        code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
      }
      append(made, code);
      --at_;
    }
  }
  std::string_view number() {
    const std::size_t begin = at_;
    while (at_ < text_.size() && std::string_view("+-.0123456789eE").find(text_[at_]) != std::string_view::npos) ++at_;
    if (at_ == begin) fail("expected number or string");
    return text_.substr(begin, at_ - begin);
  }

  std::string features() {
    std::string made;
    message([&](const std::string& name) {
      if (name != "feature") fail("no such field: '" + name + "'");
      if (take_null()) return;
      std::set<std::string> seen;
      message([&](const std::string& key) {
        if (!seen.insert(key).second) fail("got unexpectedly-repeated repeated map key: '" + key + "'");
        std::string entry;
        protozero::pbf_writer out(entry);
        out.add_string(1, key);
        if (!take_null()) out.add_message(2, feature());
        protozero::pbf_writer(made).add_message(1, entry);
      });
    });
    return made;
  }
  std::string feature() {
    std::string made;
    message([&](const std::string& name) {
      constexpr std::string_view lists[][2]{{"bytesList", "bytes_list"}, {"floatList", "float_list"}, {"int64List", "int64_list"}};
      std::uint32_t field = 0;
      for (std::uint32_t k = 0; k < 3; ++k)
        if (name == lists[k][0] || name == lists[k][1]) field = k + 1;
      if (field == 0) fail("no such field: '" + name + "'");
      if (take_null()) return;
      if (!made.empty()) fail("'" + name + "' has already been set (either directly or as part of a oneof)");
      protozero::pbf_writer(made).add_message(field, list(field));
    });
    return made;
  }
  std::string list(std::uint32_t field) {
    std::string made;
    protozero::pbf_writer out(made);
    const auto one = [&] {
      const bool is_absent = take_null();
      if (field == 1) out.add_bytes(1, is_absent ? std::string() : bytes());
      else if (field == 2) out.add_float(1, is_absent ? 0.0f : real());
      else out.add_int64(1, is_absent ? 0 : integer());
    };
    message([&](const std::string& name) {
      if (name != "value") fail("no such field: '" + name + "'");
      if (take_null()) return;
      if (!take('[')) return one();
      while (!take(']')) {
        one();
        if (!take(',')) {
          expect(']');
          return;
        }
      }
    });
    return made;
  }
  std::string bytes() {
    next();
    const std::size_t begin = at_;
    std::string made;
    if (!from_base64(string(), made)) fail_at(begin, "corrupt base64");
    return made;
  }
  // The whole text as a number; nothing may follow it.
  template <class T>
  static bool reads(std::string_view text, T& value) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    return problem == std::errc{} && end == text.data() + text.size();
  }
  float real() {
    const bool is_text = is_quote(next());
    const std::size_t begin = at_;
    const std::string text = is_text ? string() : std::string(number());
    if (is_text && text == "NaN") return std::numeric_limits<float>::quiet_NaN();
    if (is_text && (text == "Infinity" || text == "-Infinity"))
      return text[0] == '-' ? -std::numeric_limits<float>::infinity() : std::numeric_limits<float>::infinity();
    double value = 0;
    if (!reads(text, value)) fail_at(begin, is_text ? "non-number characters in quoted number" : "invalid number: '" + text + "'");
    if (!std::isfinite(value) || std::abs(value) > static_cast<double>(std::numeric_limits<float>::max()))
      fail_at(begin, "float out of range");
    return static_cast<float>(value);
  }
  std::int64_t integer() {
    const bool is_text = is_quote(next());
    const std::size_t begin = at_;
    const std::string text = is_text ? string() : std::string(number());
    std::int64_t value = 0;
    if (reads(text, value)) return value;
    double real = 0;
    if (!reads(text, real)) fail_at(begin, "invalid number: '" + text + "'");
    if (!(std::abs(real) < 0x1p63)) fail_at(begin, "JSON number out of range for int");
    if (std::trunc(real) != real) fail_at(begin, "expected integer, but JSON number had fractional part");
    return static_cast<std::int64_t>(real);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// The message of an example in JSON. Errors: invalid_argument, with the place in the text.
inline std::string example_of_json(std::string_view text) { return json_example_reader(text).read(); }

}  // namespace leat::detail
