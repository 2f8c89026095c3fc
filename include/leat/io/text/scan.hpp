#pragma once
// The tokens of protobuf's text format: names, punctuation, numbers and string literals, separated by white space and comments. Source:
// protobuf's TextFormat and io::Tokenizer (C++), text_format.Parse (Python). If these two differ, anything that one of them accepts is
// accepted.

#include <leat/core/error.hpp>
#include <leat/io/place.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

namespace leat::io::detail {

/// A position in a text, always at the first character of a token, or at the end.
class text_scanner {
 public:
  explicit text_scanner(std::string_view text) : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {
    constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
    if (text.starts_with(byte_order_mark)) at_ += byte_order_mark.size();
    skip_space();
  }

  const char* at() const { return at_; }
  bool is_at_end() const { return at_ == end_; }
  bool is_at(char c) const { return at_ != end_ && *at_ == c; }
  bool take(char c) {
    if (!is_at(c)) return false;
    ++at_;
    skip_space();
    return true;
  }
  void expect(char c, const place& where) {
    if (!take(c)) fail<data_loss>(at_, where, std::string("expected '") + c + "', got " + token());
  }

  /// Reads a name; returns an empty string if no name begins here.
  std::string_view identifier() {
    const char* const first = at_;
    if (at_ == end_ || !begins_name(*at_)) return {};
    while (at_ != end_ && continues_name(*at_)) ++at_;
    const std::string_view name(first, static_cast<std::size_t>(at_ - first));
    skip_space();
    return name;
  }

  /// Appends the contents of consecutive string literals. Errors: data_loss for malformed literals; invalid_argument if none begins here.
  void append_string(std::string& out, const place& where) {
    if (!is_at('"') && !is_at('\'')) fail<invalid_argument>(at_, where, "should be a text in quotes, and is " + token());
    while (is_at('"') || is_at('\'')) {
      const char* const first = at_;
      const char quote = *at_++;
      for (;;) {
        const char* const run = at_;
        while (at_ != end_ && *at_ != quote && *at_ != '\\') ++at_;
        out.append(run, at_);
        if (at_ == end_) fail<data_loss>(first, where, "a text without its last quote");
        if (*at_++ == quote) break;
        append_escape(out, where);
      }
      skip_space();
    }
  }

  /// Reads an integer within the range of T: decimal, 0x and hexadecimal digits, or 0 and octal digits.
  template <class T>
  T integer(const place& where) {
    const char* const first = at_;
    const bool is_negative = take('-');
    const std::string_view digits = number();
    int base = 10;
    std::string_view rest = digits;
    if (digits.starts_with("0x") || digits.starts_with("0X")) base = 16, rest.remove_prefix(2);
    else if (digits.size() > 1 && digits[0] == '0') base = 8, rest.remove_prefix(1);
    std::uint64_t magnitude = 0;
    const auto read = std::from_chars(rest.data(), rest.data() + rest.size(), magnitude, base);
    if (rest.empty() || read.ec == std::errc::invalid_argument || read.ptr != rest.data() + rest.size())
      fail<invalid_argument>(first, where, "should be an integer, and is " + token_from(first));
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<T>::max());
    const std::uint64_t limit = !is_negative ? most : std::is_signed_v<T> ? most + 1 : 0;
    if (read.ec != std::errc{} || magnitude > limit)
      fail<invalid_argument>(
          first, where,
          token_from(first) + " is out of the range of " + (std::is_signed_v<T> ? "int" : "uint") + std::to_string(8 * sizeof(T)));
    return static_cast<T>(is_negative ? 0 - magnitude : magnitude);
  }

  /// Reads a floating-point number: decimal, optionally followed by f; or "inf", "infinity" or "nan" in any case. A number beyond the range
  /// is infinite.
  double floating(const place& where) {
    const char* const first = at_;
    const bool is_negative = take('-');
    double value = 0;
    if (at_ != end_ && begins_name(*at_)) {
      std::string word(identifier());
      for (char& c : word)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
      if (word == "inf" || word == "inff" || word == "infinity" || word == "infinityf") value = std::numeric_limits<double>::infinity();
      else if (word == "nan" || word == "nanf") value = std::numeric_limits<double>::quiet_NaN();
      else fail<invalid_argument>(first, where, "should be a number, and is " + token_from(first));
    } else {
      std::string_view digits = number();
      const bool is_octal = digits.size() > 1 && digits[0] == '0' && digits[1] >= '0' && digits[1] <= '9';
      if (digits.ends_with('f') || digits.ends_with('F')) digits.remove_suffix(1);
      const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value);
      if (digits.empty() || is_octal || read.ec == std::errc::invalid_argument || read.ptr != digits.data() + digits.size())
        fail<invalid_argument>(first, where, "should be a decimal number, and is " + token_from(first));
      if (read.ec == std::errc::result_out_of_range) value = std::strtod(std::string(digits).c_str(), nullptr);  // infinite, or rounds to 0
    }
    return is_negative ? -value : value;
  }

  bool boolean(const place& where) {
    const char* const first = at_;
    if (at_ != end_ && begins_name(*at_)) {
      const std::string_view word = identifier();
      if (word == "true" || word == "t" || word == "True") return true;
      if (word == "false" || word == "f" || word == "False") return false;
    } else if (const std::string_view digits = number(); digits == "0" || digits == "1") {
      return digits == "1";
    }
    fail<invalid_argument>(first, where, "should be true or false, and is " + token_from(first));
  }

  bool is_at_name() const { return at_ != end_ && begins_name(*at_); }

  /// Skips the contents of a field that is not kept, after its name, with at most `levels` nested levels.
  void skip_contents(const place& where, int levels) {
    const bool has_colon = take(':');
    if (has_colon && !is_at('{') && !is_at('<')) skip_value(where, levels);
    else if (!has_colon && is_at('[')) skip_value(where, levels);
    else skip_message(where, levels);
  }

  /// Throws an error that names the line and column of a position, and the field.
  template <class Error>
  [[noreturn]] void fail(const char* position, const place& where, std::string_view what) const {
    std::size_t line = 1;
    const char* line_start = begin_;
    for (const char* c = begin_; c != position; ++c)
      if (*c == '\n') ++line, line_start = c + 1;
    const std::string field = to_text(where);
    throw Error("line " + std::to_string(line) + ", column " + std::to_string(position - line_start + 1) + ": " +
                (field.empty() ? "" : field + ": ") + std::string(what));
  }

  /// The token that begins here, for error messages.
  std::string token() const { return token_from(at_); }

 private:
  static bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool continues_name(char c) { return begins_name(c) || is_digit(c); }
  static bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

  void skip_space() {
    while (at_ != end_) {
      if (is_space(*at_)) {
        ++at_;
      } else if (*at_ == '#') {
        while (at_ != end_ && *at_ != '\n') ++at_;
      } else {
        return;
      }
    }
  }

  /// Reads the characters of a number without its sign; returns an empty string if no number begins here.
  std::string_view number() {
    const char* const first = at_;
    if (at_ == end_ || !(is_digit(*at_) || *at_ == '.')) return {};
    while (at_ != end_) {
      const bool is_exponent_sign = (*at_ == '+' || *at_ == '-') && at_ != first && (at_[-1] == 'e' || at_[-1] == 'E');
      if (!continues_name(*at_) && *at_ != '.' && !is_exponent_sign) break;
      ++at_;
    }
    const std::string_view text(first, static_cast<std::size_t>(at_ - first));
    skip_space();
    return text;
  }

  std::string token_from(const char* first) const {
    if (first == end_) return "the end of the text";
    const char* last = first;
    if (*last == '-') ++last;
    while (last != end_ && (continues_name(*last) || *last == '.')) ++last;
    if (last == first) ++last;
    return in_quotes({first, static_cast<std::size_t>(last - first)});
  }

  /// Reads from `fewest` to `most` digits; returns their value. Errors: data_loss.
  std::uint32_t digits_of(unsigned base, int fewest, int most, const char* escape, const place& where) {
    std::uint32_t value = 0;
    int count = 0;
    for (; count < most && at_ != end_; ++count, ++at_) {
      const char c = *at_;
      const unsigned digit = is_digit(c)            ? static_cast<unsigned>(c - '0')
                             : c >= 'a' && c <= 'f' ? static_cast<unsigned>(c - 'a') + 10
                             : c >= 'A' && c <= 'F' ? static_cast<unsigned>(c - 'A') + 10
                                                    : 99;
      if (digit >= base) break;
      value = value * base + digit;
    }
    if (count < fewest) fail<data_loss>(escape, where, "a text with an escape that has too few digits");
    return value;
  }

  /// Reads the escape after a backslash and appends its character.
  void append_escape(std::string& out, const place& where) {
    const char* const escape = at_ - 1;
    if (at_ == end_) fail<data_loss>(escape, where, "a text without its last quote");
    const char c = *at_;
    if (c >= '0' && c <= '7') {
      const std::uint32_t value = digits_of(8, 1, 3, escape, where);
      if (value > 0xff) fail<data_loss>(escape, where, "a text with an octal escape beyond \\377");
      out += static_cast<char>(value);
      return;
    }
    ++at_;
    if (c == 'x' || c == 'X') {
      out += static_cast<char>(digits_of(16, 1, 2, escape, where));
      return;
    }
    if (c == 'u' || c == 'U') {
      std::uint32_t point = digits_of(16, c == 'u' ? 4 : 8, c == 'u' ? 4 : 8, escape, where);
      const auto is_between = [](std::uint32_t v, std::uint32_t low, std::uint32_t high) { return v >= low && v <= high; };
      // Two escapes may be the surrogate pair of one UTF-16 character.
      if (is_between(point, 0xd800, 0xdbff) && end_ - at_ >= 6 && at_[0] == '\\' && at_[1] == 'u') {
        at_ += 2;
        const std::uint32_t low = digits_of(16, 4, 4, escape, where);
        point = is_between(low, 0xdc00, 0xdfff) ? 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00) : 0xd800;
      }
      if (point > 0x10ffff || is_between(point, 0xd800, 0xdfff))
        fail<data_loss>(escape, where, "a text with an escape that is no character");
      append_utf8(out, point);
      return;
    }
    constexpr std::string_view letters = "abfnrtv\\'\"?", meant = "\a\b\f\n\r\t\v\\'\"?";
    const auto found = letters.find(c);
    if (found == letters.npos) fail<data_loss>(escape, where, "a text with an unknown escape: " + in_quotes({escape, 2}));
    out += meant[found];
  }
  static void append_utf8(std::string& out, std::uint32_t point) {
    const auto put = [&](std::uint32_t byte) { out += static_cast<char>(byte); };
    if (point < 0x80) return put(point);
    if (point < 0x800) return put(0xc0 | point >> 6), put(0x80 | (point & 0x3f));
    if (point < 0x10000) return put(0xe0 | point >> 12), put(0x80 | (point >> 6 & 0x3f)), put(0x80 | (point & 0x3f));
    put(0xf0 | point >> 18), put(0x80 | (point >> 12 & 0x3f)), put(0x80 | (point >> 6 & 0x3f)), put(0x80 | (point & 0x3f));
  }

  void skip_value(const place& where, int levels) {
    if (levels <= 0) fail<invalid_argument>(at_, where, "is nested too deeply");
    if (take('[')) {
      if (take(']')) return;
      do {
        skip_value(where, levels - 1);
      } while (take(','));
      return expect(']', where);
    }
    if (is_at('{') || is_at('<')) return skip_message(where, levels - 1);
    if (is_at('"') || is_at('\'')) {
      std::string ignored;
      return append_string(ignored, where);
    }
    const bool has_sign = take('-');
    if (!identifier().empty() || !number().empty()) return;
    fail<data_loss>(at_, where, std::string("expected a ") + (has_sign ? "number" : "value") + ", got " + token());
  }
  void skip_message(const place& where, int levels) {
    if (levels <= 0) fail<invalid_argument>(at_, where, "is nested too deeply");
    const char closing = is_at('<') ? '>' : '}';
    if (!take('<')) expect('{', where);
    while (!take(closing)) {
      if (take('[')) {  // an extension, or the name of a type
        while (at_ != end_ && *at_ != ']' && *at_ != '{' && *at_ != '\n') ++at_;
        expect(']', where);
      } else if (identifier().empty()) {
        fail<data_loss>(at_, where, "expected a field's name, got " + token());
      }
      skip_contents(where, levels - 1);
      if (!take(',')) take(';');
    }
  }

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace leat::io::detail
