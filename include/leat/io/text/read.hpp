#pragma once
// Reads messages from protobuf's text format, as TensorFlow writes graph.pbtxt. As in protobuf, these are accepted: repeated fields one by
// one or as a list, names or numbers of enumerations, fields in any order; and these are refused: unknown names, fields that occur twice,
// two alternatives of a oneof. A repeated key of a map is refused, too; protobuf keeps the last.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>
#include <leat/io/text/scan.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace leat::io::detail {

/// Reads fields up to a closing bracket, or '\0' for the end of the text; returns which fields were present, as bits.
template <any_message M>
std::uint32_t read_text_fields(text_scanner& in, M& m, const place& at, int depth, char closing);

/// Reads messages that graphs carry in binary form, and converts them to that form; `text/opaque.hpp` defines it.
template <class Schema>
void read_opaque_text(text_scanner& in, std::string& message, const place& at, int depth, char closing);

/// Reads the value after a field's name, if the message has this field.
class text_field_reader {
 public:
  text_field_reader(text_scanner& in, std::string_view key, const char* position, std::uint32_t& seen, const place& at, int depth)
      : in_(in), key_(key), position_(position), seen_(seen), at_(at), depth_(depth) {}
  bool done() const { return done_; }

  void text(unsigned, std::string_view name, std::string& value) {
    if (is_once(name)) colon(), take_text(name, -1, value);
  }
  void bytes(unsigned, std::string_view name, std::string& value) {
    if (is_once(name)) colon(), take_bytes(name, value);
  }
  template <class T>
  void value(unsigned, std::string_view name, T& value) {
    if (is_once(name)) colon(), value = single<T>(name);
  }
  void named(unsigned, std::string_view name, std::int32_t& v, std::span<const std::string_view> names) {
    if (!is_once(name)) return;
    colon();
    if (!in_.is_at_name()) {
      v = in_.integer<std::int32_t>({&at_, name});
      return;
    }
    const char* const first = in_.at();
    const std::string_view word = in_.identifier();
    for (std::size_t i = 0; i < names.size(); ++i)
      if (names[i] == word) {
        v = static_cast<std::int32_t>(i);
        return;
      }
    in_.fail<invalid_argument>(first, {&at_, name}, "no value is called " + in_quotes(word));
  }

  void texts(unsigned, std::string_view name, std::vector<std::string>& list) {
    if (is(name))
      each_value([&] {
        list.emplace_back();
        take_text(name, static_cast<std::int64_t>(list.size()) - 1, list.back());
      });
  }
  void byte_strings(unsigned, std::string_view name, std::vector<std::string>& list) {
    if (is(name)) each_value([&] { take_bytes(name, list.emplace_back()); });
  }
  template <class T>
  void values(unsigned, std::string_view name, std::vector<T>& list) {
    if (is(name)) each_value([&] { list.push_back(single<T>(name)); });
  }

  template <class M>
  void submessage(unsigned, std::string_view name, M& m, bool = false) {
    if (is_once(name)) one_message([&](char closing) { read_text_fields(in_, m, {&at_, name}, depth_ + 1, closing); });
  }
  template <class M>
  void optional_message(unsigned number, std::string_view name, std::optional<M>& m) {
    if (is_next(name)) submessage(number, name, m.emplace());
    else skip_ordinal();
  }
  template <class M>
  void submessages(unsigned, std::string_view name, std::vector<M>& list) {
    if (!is(name)) return;
    each_message([&](char closing) {
      const auto index = static_cast<std::int64_t>(list.size());
      M& m = list.emplace_back();
      place here{&at_, name, nullptr, index};
      if constexpr (std::is_same_v<M, node_def>) here.node_name = &m.name;
      read_text_fields(in_, m, here, depth_ + 1, closing);
    });
  }
  template <class Map>
  void map(unsigned, std::string_view name, Map& entries) {
    if (is(name)) each_message([&](char closing) { take_entry(name, entries, closing); });
  }

  template <class T, class Variant>
  void choice(unsigned number, std::string_view name, Variant& variant) {
    if constexpr (is_vector<T>) {
      // A list with several kinds of values is refused, since all kinds but one would be lost.
      if (!is_next(name)) return skip_ordinal();
      if (!std::holds_alternative<T>(variant)) {
        if (variant.index() != 0)
          in_.fail<invalid_argument>(position_, at_, std::string(name) + " beside values of another kind in one list");
        variant.template emplace<T>();
      }
      T& list = std::get<T>(variant);
      using element = typename T::value_type;
      if constexpr (any_message<element>) submessages(number, name, list);
      else if constexpr (std::is_same_v<element, std::string>) byte_strings(number, name, list);
      else values(number, name, list);
      if (list.empty()) variant = std::monostate{};
    } else {
      if (!is_next(name)) return skip_ordinal();
      T& held = chosen<T>(name, variant);
      if constexpr (std::is_same_v<T, std::string>) bytes(number, name, held);
      else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) value(number, name, held);
      else submessage(number, name, unboxed(held));
    }
  }
  template <class T, class Variant>
  void choice_text(unsigned number, std::string_view name, Variant& variant) {
    if (is_next(name)) text(number, name, text_of(chosen<T>(name, variant)));
    else skip_ordinal();
  }

  template <class T>
  void elements(unsigned, std::string_view name, tensor_field field, tensor_proto& t) {
    if (!is(name)) return;
    each_value([&] {
      claim(field, t);
      const T v = single<T>(name);
      t.bytes.append(reinterpret_cast<const char*>(&v), sizeof(v));
      static_assert(sizeof(bool) == 1);
    });
  }
  void element_bytes(unsigned, std::string_view name, tensor_field field, tensor_proto& t) {
    if (!is_once(name)) return;
    colon();
    std::string bytes;
    take_bytes(name, bytes);
    if (bytes.empty()) return;
    claim(field, t);
    t.bytes = std::move(bytes);
  }
  void element_texts(unsigned, std::string_view name, tensor_proto& t) {
    if (!is(name)) return;
    each_value([&] {
      claim(tensor_field::string_val, t);
      take_bytes(name, t.strings.emplace_back());
    });
  }

  template <class Schema>
  void opaque(unsigned, std::string_view name, std::string& message) {
    if (is_once(name)) one_message([&](char closing) { read_opaque_text<Schema>(in_, message, {&at_, name}, depth_ + 1, closing); });
  }
  template <class Schema>
  void opaque_messages(unsigned, std::string_view name, std::vector<std::string>& list) {
    if (!is(name)) return;
    each_message([&](char closing) {
      const place here{&at_, name, nullptr, static_cast<std::int64_t>(list.size())};
      read_opaque_text<Schema>(in_, list.emplace_back(), here, depth_ + 1, closing);
    });
  }
  void dropped(unsigned, std::string_view name) {
    if (is(name)) in_.skip_contents({&at_, name}, max_json_depth - depth_);
  }
  void refused(unsigned, std::string_view name) {
    if (is(name)) in_.fail<unimplemented>(position_, at_, std::string(name) + " cannot be read");
  }

 private:
  // `is_next`: whether the field that is described next is the one in the text. `is` also records that the field is present, and `is_once`
  // refuses it if it occurs twice.
  bool is_next(std::string_view name) const { return !done_ && name == key_; }
  void skip_ordinal() { ++ordinal_; }
  bool is(std::string_view name) {
    const int ordinal = ordinal_++;
    if (!is_next(name)) return false;
    done_ = true;
    was_seen_ = (seen_ >> ordinal & 1) != 0;
    seen_ |= std::uint32_t{1} << ordinal;
    return true;
  }
  bool is_once(std::string_view name) {
    if (!is(name)) return false;
    if (was_seen_) in_.fail<invalid_argument>(position_, {&at_, name}, "is there twice");
    return true;
  }

  void colon() { in_.expect(':', {&at_, key_}); }
  template <class F>
  void one_message(F read) {
    in_.take(':');
    read(opened());
  }
  /// Opens a message; returns the bracket that closes it.
  char opened() {
    if (in_.take('<')) return '>';
    in_.expect('{', {&at_, key_});
    return '}';
  }
  template <class F>
  void each_in_list(F read) {
    if (in_.take(']')) return;
    do {
      read();
    } while (in_.take(','));
    in_.expect(']', {&at_, key_});
  }
  template <class F>
  void each_value(F read) {
    colon();
    if (in_.take('[')) each_in_list(read);
    else read();
  }
  template <class F>
  void each_message(F read) {
    in_.take(':');
    if (in_.take('[')) each_in_list([&] { read(opened()); });
    else read(opened());
  }

  template <class T>
  T single(std::string_view name) {
    const place here{&at_, name};
    if constexpr (std::is_same_v<T, bool>) {
      return in_.boolean(here);
    } else if constexpr (std::is_same_v<T, data_type>) {
      if (!in_.is_at_name()) return static_cast<data_type>(in_.integer<std::int32_t>(here));
      const char* const first = in_.at();
      const std::string_view word = in_.identifier();
      const auto type = data_type_by_name(word);
      if (!type) in_.fail<invalid_argument>(first, here, "no element type is called " + in_quotes(word));
      return *type;
    } else if constexpr (std::is_floating_point_v<T>) {
      return static_cast<T>(in_.floating(here));  // a float is rounded from a double, as protobuf does it
    } else {
      return in_.integer<T>(here);
    }
  }
  void take_bytes(std::string_view name, std::string& value) { in_.append_string(value, {&at_, name}); }
  void take_text(std::string_view name, std::int64_t index, std::string& value) {
    const char* const first = in_.at();
    take_bytes(name, value);
    if (is_utf8(value)) return;
    const std::string bad = std::exchange(value, {});  // so that the error message does not use it as a node's name
    in_.fail<data_loss>(first, place{&at_, name, nullptr, index}, "is not UTF-8: " + in_quotes(bad));
  }

  /// An entry is a message with a key and a value, in any order.
  template <class Map>
  void take_entry(std::string_view name, Map& entries, char closing) {
    std::string key;
    typename map_value<Map>::type value{};
    const char* const first = in_.at();
    const place here{&at_, name, &key};
    bool has_key = false, has_value = false;
    while (!in_.take(closing)) {
      const char* const position = in_.at();
      const std::string_view field = in_.identifier();
      bool* const is_there = field == "key" ? &has_key : field == "value" ? &has_value : nullptr;
      if (field.empty()) in_.fail<data_loss>(position, here, "expected a field's name, got " + in_.token());
      if (is_there == nullptr) in_.fail<invalid_argument>(position, here, "an entry has no field " + in_quotes(field));
      if (std::exchange(*is_there, true)) in_.fail<invalid_argument>(position, {&here, field}, "is there twice");
      if (is_there == &has_key) {
        in_.expect(':', here);
        const char* const text = in_.at();
        in_.append_string(key, here);
        if (!is_utf8(key)) {
          const std::string bad = std::exchange(key, {});
          in_.fail<data_loss>(text, at_, "a name in " + std::string(name) + " is not UTF-8: " + in_quotes(bad));
        }
      } else {
        one_message([&](char bracket) { read_text_fields(in_, value, here, depth_ + 1, bracket); });
      }
      if (!in_.take(',')) in_.take(';');
    }
    if constexpr (std::is_same_v<Map, attribute_map>) {
      entries.append(std::move(key)) = std::move(value);  // sorted at the end of the message
    } else {
      if (entries.contains(key)) in_.fail<invalid_argument>(first, here, "is there twice");
      entries.emplace(std::move(key), std::move(value));
    }
  }

  template <class T, class Variant>
  T& chosen(std::string_view name, Variant& variant) {
    if (!std::holds_alternative<std::monostate>(variant))
      in_.fail<invalid_argument>(position_, {&at_, name}, "is a second value beside another, and only one can be");
    return variant.template emplace<T>();
  }
  /// Records the field with a tensor's elements; a second field with elements is an error.
  void claim(tensor_field field, tensor_proto& t) {
    if (t.field != field && t.field != tensor_field::none)
      in_.fail<invalid_argument>(position_, at_,
                                 std::string(name_of_field(field)) + " beside values in " + std::string(name_of_field(t.field)));
    t.field = field;
  }

  text_scanner& in_;
  std::string_view key_;
  const char* position_;  // of the field's name
  std::uint32_t& seen_;
  const place& at_;
  int depth_;
  int ordinal_ = 0;
  bool done_ = false, was_seen_ = false;
};

template <any_message M>
std::uint32_t read_text_fields(text_scanner& in, M& m, const place& at, int depth, char closing) {
  if (depth > max_message_depth)
    in.fail<invalid_argument>(in.at(), at, "messages are nested deeper than " + std::to_string(max_message_depth));
  const char* const first = in.at();
  std::uint32_t seen = 0;
  while (closing == '\0' ? !in.is_at_end() : !in.take(closing)) {
    const char* const position = in.at();
    const std::string_view key = in.identifier();
    if (key.empty()) {
      if (in.is_at('['))
        in.fail<unimplemented>(position, at,
                               std::string(message_fields<M>::name) + " with an extension, or a message in the form of its type");
      in.fail<data_loss>(position, at, "expected a field's name, got " + in.token());
    }
    text_field_reader reader(in, key, position, seen, at, depth);
    message_fields<M>::fields(reader, m);
    if (!reader.done()) in.fail<invalid_argument>(position, at, std::string(message_fields<M>::name) + " has no field " + in_quotes(key));
    if (!in.take(',')) in.take(';');
  }
  if (auto problem = message_fields<M>::finish(m); !problem.empty()) in.fail<invalid_argument>(first, at, problem);
  return seen;
}

/// Reads a whole text into a message; returns which of its fields were present, as bits.
template <any_message M>
std::uint32_t read_text_message(std::string_view text, M& m) {
  if (text.size() > max_file_bytes) throw invalid_argument("longer than 2 GB, which is protobuf's limit");
  text_scanner in(text);
  return read_text_fields(in, m, place{}, 1, '\0');
}

}  // namespace leat::io::detail
