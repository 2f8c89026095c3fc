#pragma once
// Reads messages from protobuf's canonical JSON through nlohmann::json's SAX interface: no document is built; each value is stored as soon
// as it is parsed. As in protobuf, these are accepted: names as in the .proto files or in camelCase, 64-bit integers as strings or numbers,
// whole numbers with a point or exponent, "NaN" and "Infinity", names or numbers of enumerations, null for absent values. Unknown names,
// and repeated fields and attributes, are refused.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/json/slot.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>

#include <nlohmann/json.hpp>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat::io::detail {

/// The event handler; its members are those of nlohmann's SAX interface.
class json_reader {
 public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  template <class M>
  explicit json_reader(M& root) : frames_(max_json_depth + 2) {
    slot& s = frames_[0].current;
    s.kind = slot_kind::message;
    s.may_be_null = false;
    s.ops = &ops_of<M>();
    s.target = &root;
    s.open = itself<M>;
  }
  /// The fields of the outermost object that were present, as bits.
  std::uint32_t root_fields() const { return root_fields_; }

  bool null() {
    if (skipping()) return true;
    const slot& s = next();
    if (top().is_array || !s.may_be_null) fail_here("is null");
    return true;
  }
  bool boolean(bool v) {
    if (skipping()) return skipped_value();
    const slot& s = next_value("a truth value");
    if (s.kind == slot_kind::skip) return true;
    if (s.kind != slot_kind::boolean) wrong_kind(s, "a truth value");
    put(s, v);
    return true;
  }
  bool number_integer(number_integer_t v) {
    if (skipping()) return skipped_value();
    integer(next_value("a number"), v);
    return true;
  }
  bool number_unsigned(number_unsigned_t v) {
    if (skipping()) return skipped_value();
    integer(next_value("a number"), v);
    return true;
  }
  bool number_float(number_float_t v, const string_t& text) {
    if (skipping()) return skipped_value();
    floating(next_value("a number"), v, text);
    return true;
  }
  bool string(string_t& text) {
    if (skipping()) return skipped_value();
    const slot& s = next_value("a text");
    switch (s.kind) {
      case slot_kind::skip: break;
      case slot_kind::empty:
        if (!text.empty()) wrong_kind(s, "a text");
        break;
      case slot_kind::text:
        if (s.count == slot_count::one) *static_cast<std::string*>(s.target) = std::move(text);
        else static_cast<std::vector<std::string>*>(s.target)->push_back(std::move(text));
        break;
      case slot_kind::bytes: {
        std::string& bytes = s.count == slot_count::one
                                 ? *static_cast<std::string*>(s.target)
                                 : static_cast<std::vector<std::string>*>(s.target)->emplace_back();
        if (!from_base64(text, bytes)) {
          bytes.clear();
          fail_here<data_loss>("is not base64: " + in_quotes(text));
        }
        break;
      }
      case slot_kind::type: {
        const auto type = data_type_by_name(text);
        if (!type) fail_here("no element type is called " + in_quotes(text));
        put(s, *type);
        break;
      }
      case slot_kind::named: {
        for (std::size_t i = 0; i < s.names.size(); ++i) {
          if (s.names[i] != text) continue;
          put(s, static_cast<std::int32_t>(i));
          return true;
        }
        fail_here("no value is called " + in_quotes(text));
      }
      case slot_kind::int32:
      case slot_kind::int64:
      case slot_kind::uint32:
      case slot_kind::uint64: integer_text(s, text); break;
      case slot_kind::float32:
      case slot_kind::float64: floating_text(s, text); break;
      default: wrong_kind(s, "a text");
    }
    return true;
  }
  bool binary(binary_t&) { fail_here("holds binary data"); }

  bool start_object(std::size_t) {
    if (skipping()) return deeper();
    const slot s = next();
    if (passes(s)) return skip(s);
    if (s.kind != slot_kind::message) wrong_kind(s, "an object");
    if (s.count == slot_count::many && !top().is_array) wrong_kind(s, "an object");
    if (!s.ops->is_map && ++messages_ > max_message_depth)
      fail_here("messages are nested deeper than " + std::to_string(max_message_depth));
    void* message = s.open(s.target);
    push();
    top().ops = s.ops;
    top().message = message;
    return true;
  }
  bool key(string_t& name) {
    if (skipping()) return skipped_value();
    frame& f = top();
    if (f.ops->is_map) {
      f.key = std::move(name);
      f.ops->find(f.message, f.key, f.current);
    } else {
      int field = f.ops->find(f.message, name, f.current);
      if (field < 0) field = f.ops->find(f.message, snake_case(name), f.current);
      if (field < 0) {
        f.current.field = {};
        fail_here(std::string(f.ops->name) + " has no field " + in_quotes(name));
      }
      if (f.seen >> field & 1) fail_here("is there twice");
      f.seen |= std::uint32_t{1} << field;
    }
    if (f.current.problem != nullptr) fail_here(f.current.problem);
    return true;
  }
  bool end_object() {
    if (skipping()) return higher();
    frame& f = top();
    f.current.field = {};
    if (auto problem = f.ops->finish(f.message); !problem.empty()) fail_here(problem);
    if (!f.ops->is_map) --messages_;
    if (depth_ == 1) root_fields_ = f.seen;
    --depth_;
    return true;
  }
  bool start_array(std::size_t) {
    if (skipping()) return deeper();
    const slot s = next();
    if (passes(s)) return skip(s);
    if (s.count == slot_count::one || top().is_array) wrong_kind(s, "a list");
    push();
    top().is_array = true;
    top().current = s;
    return true;
  }
  bool end_array() {
    if (skipping()) return higher();
    --depth_;
    return true;
  }

  template <class Exception>
  bool parse_error(std::size_t position, const std::string&, const Exception& e) {
    constexpr int number_overflow = 406;
    std::string_view what = e.what();  // "[json.exception.parse_error.101] parse error at ..."
    if (const auto end = what.find("] "); what.starts_with('[') && end != what.npos) what.remove_prefix(end + 2);
    std::string text = in_quotes(what, 300);
    text = text.substr(1, text.size() - 2);
    if (e.id == number_overflow) fail_here("a number is out of range: " + text);
    fail_here<data_loss>("not JSON at byte " + std::to_string(position) + ": " + text);
  }

 private:
  struct frame {
    const message_ops* ops = nullptr;
    void* message = nullptr;
    slot current;
    std::uint32_t seen = 0;
    bool is_array = false;
    std::int64_t index = -1;  // for a value of an array
    std::string key;          // for an entry of a map
  };

  frame& top() { return frames_[depth_]; }
  void push() {
    if (depth_ + 1 > max_json_depth) too_deep();
    ++depth_;
    frame& f = top();
    f.seen = 0;
    f.is_array = false;
    f.index = -1;
    f.current = {};
  }
  [[noreturn]] void too_deep() { fail_here("is nested deeper than " + std::to_string(max_json_depth)); }

  /// The slot of the value that begins at this position.
  const slot& next() {
    frame& f = top();
    if (f.is_array) ++f.index;
    return f.current;
  }
  const slot& next_value(std::string_view got) {
    const slot& s = next();
    if (s.count != slot_count::one && !top().is_array && s.kind != slot_kind::empty) wrong_kind(s, got);
    return s;
  }

  // Handles values that are not kept, or that are refused unless they are empty.
  bool skipping() const { return skipped_ > 0; }
  static bool passes(const slot& s) {
    return s.kind == slot_kind::skip || s.kind == slot_kind::refuse || s.kind == slot_kind::empty;
  }
  bool skip(const slot& s) {
    skipped_kind_ = s.kind;
    skipped_ = 1;
    return true;
  }
  bool skipped_value() {
    if (skipped_kind_ != slot_kind::skip) refuse(skipped_kind_);
    return true;
  }
  [[noreturn]] void refuse(slot_kind kind) {
    if (kind == slot_kind::empty) fail_here("holds values beside those of another field");
    fail_here<unimplemented>("cannot be read from JSON");
  }
  bool deeper() {
    skipped_value();
    if (static_cast<int>(depth_) + ++skipped_ > max_json_depth) too_deep();
    return true;
  }
  bool higher() {
    --skipped_;
    return true;
  }

  template <class T>
  static void put(const slot& s, T v) {
    switch (s.count) {
      case slot_count::one: *static_cast<T*>(s.target) = v; break;
      case slot_count::many: static_cast<std::vector<T>*>(s.target)->push_back(v); break;
      case slot_count::packed:
        static_cast<std::string*>(s.target)->append(reinterpret_cast<const char*>(&v), sizeof(T));
        static_assert(sizeof(bool) == 1);
        break;
    }
  }

  template <class T, class V>
  void put_in_range(const slot& s, V v) {
    if (!std::in_range<T>(v)) out_of_range(s, std::to_string(v));
    put(s, static_cast<T>(v));
  }
  template <class V>
  void integer(const slot& s, V v) {
    switch (s.kind) {
      case slot_kind::skip: break;
      case slot_kind::int32:
      case slot_kind::named: put_in_range<std::int32_t>(s, v); break;
      case slot_kind::int64: put_in_range<std::int64_t>(s, v); break;
      case slot_kind::uint32: put_in_range<std::uint32_t>(s, v); break;
      case slot_kind::uint64: put_in_range<std::uint64_t>(s, v); break;
      case slot_kind::float32: put(s, static_cast<float>(v)); break;
      case slot_kind::float64: put(s, static_cast<double>(v)); break;
      case slot_kind::type:
        if (!std::in_range<std::int32_t>(v)) out_of_range(s, std::to_string(v));
        put(s, static_cast<data_type>(v));
        break;
      default: wrong_kind(s, "a number");
    }
  }
  /// Parsed from the text, because rounding to double first might result in another float.
  void floating(const slot& s, double v, std::string_view text) {
    if (s.kind == slot_kind::float64) {
      put(s, v);
    } else if (s.kind == slot_kind::float32) {
      float f = 0;
      const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), f);
      if (problem != std::errc{} || end != text.data() + text.size()) f = static_cast<float>(v);
      if (std::isinf(f)) out_of_range(s, text);
      put(s, f);
    } else {
      // A whole number such as 1e3 is accepted as an integer; 0.5 is not.
      constexpr double limit = 9223372036854775808.0;
      if (v != std::floor(v) || v < -limit || v >= 2 * limit) {
        if (is_integer(s.kind)) out_of_range(s, text);
        wrong_kind(s, "a number with a fraction");
      }
      if (v < limit) integer(s, static_cast<std::int64_t>(v));
      else integer(s, static_cast<std::uint64_t>(v));
    }
  }
  static bool is_integer(slot_kind kind) {
    return kind == slot_kind::int32 || kind == slot_kind::int64 || kind == slot_kind::uint32 ||
           kind == slot_kind::uint64;
  }

  void integer_text(const slot& s, std::string_view text) {
    const char* const end = text.data() + text.size();
    std::int64_t v = 0;
    const auto got = std::from_chars(text.data(), end, v);
    if (got.ec == std::errc{} && got.ptr == end) return integer(s, v);
    std::uint64_t large = 0;
    const auto again = std::from_chars(text.data(), end, large);
    if (again.ec == std::errc{} && again.ptr == end) return integer(s, large);
    if (got.ec == std::errc::result_out_of_range && got.ptr == end) out_of_range(s, text);
    fail_here("is not an integer: " + in_quotes(text));
  }
  void floating_text(const slot& s, std::string_view text) {
    double v = 0;
    if (text == "NaN") {
      v = std::numeric_limits<double>::quiet_NaN();
    } else if (text == "Infinity") {
      v = std::numeric_limits<double>::infinity();
    } else if (text == "-Infinity") {
      v = -std::numeric_limits<double>::infinity();
    } else {
      // Digits only: from_chars would also accept "inf" and "nan".
      const char* const end = text.data() + text.size();
      const auto got = std::from_chars(text.data(), end, v);
      const bool digits = !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos;
      if (!digits || got.ptr != end || got.ec == std::errc::invalid_argument)
        fail_here("is not a number: " + in_quotes(text));
      if (got.ec == std::errc::result_out_of_range) {
        v = std::strtod(std::string(text).c_str(), nullptr);  // overflows, or rounds to 0
        if (std::isinf(v)) out_of_range(s, text);
      }
      return floating(s, v, text);
    }
    if (s.kind == slot_kind::float32) put(s, static_cast<float>(v));
    else put(s, v);
  }

  // ---- errors

  [[noreturn]] void wrong_kind(const slot& s, std::string_view got) {
    if (s.kind == slot_kind::refuse || s.kind == slot_kind::empty) refuse(s.kind);
    const bool list = s.count != slot_count::one && !top().is_array;
    fail_here("is " + std::string(got) + ", and should be " + (list ? "a list" : std::string(kind_text(s))));
  }
  [[noreturn]] void out_of_range(const slot& s, std::string_view number) {
    static constexpr std::string_view names[]{"int32", "int64", "uint32", "uint64", "float", "double"};
    const int k = static_cast<int>(s.kind) - static_cast<int>(slot_kind::int32);
    fail_here(in_quotes(number) + " is not a number of " + std::string(k >= 0 && k < 6 ? names[k] : "int32"));
  }
  template <class Error = invalid_argument>
  [[noreturn]] void fail_here(std::string_view what) const {
    std::string node, path;
    std::int64_t index = -1;  // index of the next frame in its array
    for (std::size_t i = 0; i <= depth_; ++i) {
      const frame& f = frames_[i];
      if (f.is_array) {
        index = f.index;
        append_step(node, path, {.index = index});
        continue;
      }
      if (f.ops != nullptr && f.ops->node_name != nullptr)
        append_step(node, path, {.index = index, .node_name = f.ops->node_name(f.message)});
      if (f.ops != nullptr && f.ops->is_map) append_step(node, path, {.key = &f.key});
      else append_step(node, path, {.field = f.current.field});
    }
    const std::string where = joined(node, path);
    throw Error(where.empty() ? std::string(what) : where + ": " + std::string(what));
  }

  std::vector<frame> frames_;
  std::size_t depth_ = 0;
  int messages_ = 0;  // frames that are messages, not lists or maps
  int skipped_ = 0;   // depth within a skipped value
  slot_kind skipped_kind_ = slot_kind::skip;
  std::uint32_t root_fields_ = 0;
};

/// Reads a whole text into a message; returns which of its fields were present, as bits.
template <class M>
std::uint32_t read_json_message(std::string_view text, M& m) {
  if (text.size() > max_file_bytes) throw invalid_argument("longer than 2 GB, which is protobuf's limit");
  json_reader reader(m);
  nlohmann::json::sax_parse(text.data(), text.data() + text.size(), &reader);
  return reader.root_fields();
}

}  // namespace leat::io::detail
