#pragma once
// Reads messages from protobuf's binary form with protozero. As in protobuf, unknown fields and fields with another wire type are skipped,
// a repeated message is merged, and the last alternative of a oneof is kept. A repeated key of a map is refused.

#include <leat/core/error.hpp>
#include <leat/io/encoding.hpp>
#include <leat/io/messages.hpp>
#include <leat/io/options.hpp>
#include <leat/io/place.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <protozero/pbf_reader.hpp>

#include <span>
#include <string>
#include <string_view>

namespace leat::io::detail {

template <any_message M>
void read_message(protozero::pbf_reader in, M& m, const place& at, int depth);

/// Reads one field if its number matches.
class binary_field_reader {
 public:
  binary_field_reader(protozero::pbf_reader& in, const place& at, int depth) : in_(in), at_(at), depth_(depth) {}
  bool done() const { return done_; }

  void text(unsigned number, std::string_view name, std::string& value) {
    if (is(number, wire::length_delimited)) take_text(name, -1, value);
  }
  void bytes(unsigned number, std::string_view, std::string& value) {
    if (is(number, wire::length_delimited)) take_bytes(value);
  }
  template <class T>
  void value(unsigned number, std::string_view, T& value) {
    if (is(number, wire_of<T>)) value = single<T>();
  }
  void named(unsigned number, std::string_view name, std::int32_t& v, std::span<const std::string_view>) {
    value(number, name, v);
  }

  void texts(unsigned number, std::string_view name, std::vector<std::string>& list) {
    if (is(number, wire::length_delimited)) {
      list.emplace_back();
      take_text(name, static_cast<std::int64_t>(list.size()) - 1, list.back());
    }
  }
  void byte_strings(unsigned number, std::string_view, std::vector<std::string>& list) {
    if (is(number, wire::length_delimited)) take_bytes(list.emplace_back());
  }
  template <class T>
  void values(unsigned number, std::string_view, std::vector<T>& list) {
    each<T>(number, [&](T v) { list.push_back(v); });
  }

  template <class M>
  void submessage(unsigned number, std::string_view name, M& m, bool = false) {
    if (is(number, wire::length_delimited)) read_message(in_.get_message(), m, {&at_, name}, depth_ + 1);
  }
  template <class M>
  void optional_message(unsigned number, std::string_view name, std::optional<M>& m) {
    if (!is(number, wire::length_delimited)) return;
    if (!m) m.emplace();
    read_message(in_.get_message(), *m, {&at_, name}, depth_ + 1);
  }
  template <class M>
  void submessages(unsigned number, std::string_view name, std::vector<M>& list) {
    if (!is(number, wire::length_delimited)) return;
    const auto index = static_cast<std::int64_t>(list.size());
    M& m = list.emplace_back();
    place here{&at_, name, nullptr, index};
    if constexpr (std::is_same_v<M, node_def>) here.node_name = &m.name;
    read_message(in_.get_message(), m, here, depth_ + 1);
  }
  template <class Map>
  void map(unsigned number, std::string_view name, Map& entries) {
    if (!is(number, wire::length_delimited)) return;
    // An entry is a message with a key and a value, in any order.
    std::string key;
    typename map_value<Map>::type value;
    const place here{&at_, name, &key};
    protozero::pbf_reader entry = in_.get_message();
    while (entry.next()) {
      if (entry.tag() == 1 && entry.wire_type() == wire::length_delimited) {
        const auto view = entry.get_view();
        key.assign(view.data(), view.size());
        if (!is_utf8(key)) fail<data_loss>(at_, "a name in " + std::string(name) + " is not UTF-8: " + in_quotes(key));
      } else if (entry.tag() == 2 && entry.wire_type() == wire::length_delimited) {
        read_message(entry.get_message(), value, here, depth_ + 1);
      } else {
        entry.skip();
      }
    }
    if constexpr (std::is_same_v<Map, attribute_map>) {
      entries.append(std::move(key)) = std::move(value);  // sorted at the end of the message
    } else {
      if (entries.contains(key)) fail<invalid_argument>(here, "is there twice");
      entries.emplace(std::move(key), std::move(value));
    }
  }

  template <class T, class Variant>
  void choice(unsigned number, std::string_view name, Variant& variant) {
    if constexpr (is_vector<T>) {
      // A list with several kinds of values is refused, since all kinds but one would be lost.
      if (done_ || in_.tag() != number) return;
      if (!std::holds_alternative<T>(variant)) {
        if (variant.index() != 0)
          fail<invalid_argument>(at_, std::string(name) + " beside values of another kind in one list");
        variant.template emplace<T>();
      }
      T& list = std::get<T>(variant);
      using element = typename T::value_type;
      if constexpr (any_message<element>) submessages(number, name, list);
      else if constexpr (std::is_same_v<element, std::string>) byte_strings(number, name, list);
      else values(number, name, list);
      if (list.empty()) variant = std::monostate{};
    } else if constexpr (std::is_same_v<T, std::string>) {
      if (is(number, wire::length_delimited)) take_bytes(variant.template emplace<T>());
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      if (is(number, wire_of<T>)) variant = single<T>();
    } else {
      if (!is(number, wire::length_delimited)) return;
      if (!std::holds_alternative<T>(variant)) variant.template emplace<T>();
      read_message(in_.get_message(), unboxed(std::get<T>(variant)), {&at_, name}, depth_ + 1);
    }
  }
  template <class T, class Variant>
  void choice_text(unsigned number, std::string_view name, Variant& variant) {
    if (is(number, wire::length_delimited)) take_text(name, -1, text_of(variant.template emplace<T>()));
  }

  template <class T>
  void elements(unsigned number, std::string_view, tensor_field field, tensor_proto& t) {
    bool claimed = false;
    each<T>(number, [&](T v) {
      if (!claimed) claim(field, t);
      claimed = true;
      if constexpr (std::is_same_v<T, bool>) t.bytes += static_cast<char>(v);
      else t.bytes.append(reinterpret_cast<const char*>(&v), sizeof(v));
    });
  }
  void element_bytes(unsigned number, std::string_view, tensor_field field, tensor_proto& t) {
    if (!is(number, wire::length_delimited)) return;
    const auto view = in_.get_view();
    if (view.size() == 0) return;
    claim(field, t);
    t.bytes.assign(view.data(), view.size());
  }
  void element_texts(unsigned number, std::string_view, tensor_proto& t) {
    if (!is(number, wire::length_delimited)) return;
    claim(tensor_field::string_val, t);
    take_bytes(t.strings.emplace_back());
  }

  template <class Schema>
  void opaque(unsigned number, std::string_view, std::string& message) {
    if (!is(number, wire::length_delimited)) return;
    const auto view = in_.get_view();
    message.append(view.data(), view.size());  // two messages, concatenated, are merged
  }
  template <class Schema>
  void opaque_messages(unsigned number, std::string_view name, std::vector<std::string>& list) {
    byte_strings(number, name, list);
  }
  void dropped(unsigned, std::string_view) {}
  void refused(unsigned number, std::string_view name) {
    if (!done_ && in_.tag() == number) fail<unimplemented>(at_, std::string(name) + " cannot be read");
  }

 private:
  using wire = protozero::pbf_wire_type;

  template <class T>
  static constexpr wire wire_of = std::is_same_v<T, float>    ? wire::fixed32
                                  : std::is_same_v<T, double> ? wire::fixed64
                                                              : wire::varint;

  bool is(unsigned number, wire type) {
    if (done_ || in_.tag() != number || in_.wire_type() != type) return false;
    done_ = true;
    return true;
  }

  // Does not use get_bool, which reads only the first byte of a number.
  template <class T>
  T single() {
    if constexpr (std::is_same_v<T, bool>) return in_.get_uint64() != 0;
    else if constexpr (std::is_same_v<T, float>) return in_.get_float();
    else if constexpr (std::is_same_v<T, double>) return in_.get_double();
    else return static_cast<T>(in_.get_uint64());
  }

  /// Calls `take` for each number of a field: packed into one field, or repeated one by one.
  template <class T, class F>
  void each(unsigned number, F take) {
    if (is(number, wire_of<T>)) {
      take(single<T>());
    } else if (is(number, wire::length_delimited)) {
      if constexpr (std::is_same_v<T, float>) {
        for (float v : in_.get_packed_float()) take(v);
      } else if constexpr (std::is_same_v<T, double>) {
        for (double v : in_.get_packed_double()) take(v);
      } else {
        for (std::uint64_t v : in_.get_packed_uint64()) {
          if constexpr (std::is_same_v<T, bool>) take(v != 0);
          else take(static_cast<T>(v));
        }
      }
    }
  }

  void take_bytes(std::string& value) {
    const auto view = in_.get_view();
    value.assign(view.data(), view.size());
  }
  void take_text(std::string_view name, std::int64_t index, std::string& value) {
    take_bytes(value);
    if (is_utf8(value)) return;
    const std::string bad = std::exchange(value, {});  // so that the error message does not use it as a node's name
    fail<data_loss>(place{&at_, name, nullptr, index}, "is not UTF-8: " + in_quotes(bad));
  }
  /// Records the field with a tensor's elements; a second field with elements is an error.
  void claim(tensor_field field, tensor_proto& t) {
    if (t.field != field && t.field != tensor_field::none)
      fail<invalid_argument>(
          at_, std::string(name_of_field(field)) + " beside values in " + std::string(name_of_field(t.field)));
    t.field = field;
  }

  protozero::pbf_reader& in_;
  const place& at_;
  int depth_;
  bool done_ = false;
};

template <any_message M>
void read_message(protozero::pbf_reader in, M& m, const place& at, int depth) {
  if (depth > max_message_depth)
    fail<invalid_argument>(at, "messages are nested deeper than " + std::to_string(max_message_depth));
  try {
    while (in.next()) {
      binary_field_reader reader(in, at, depth);
      message_fields<M>::fields(reader, m);
      if (!reader.done()) in.skip();
    }
  } catch (const protozero::end_of_buffer_exception&) {
    fail<data_loss>(at, std::string(message_fields<M>::name) + " is cut off");
  } catch (const protozero::exception& e) {
    fail<data_loss>(at, std::string(message_fields<M>::name) + " is not in protobuf's binary form: " + e.what());
  }
  if (auto problem = message_fields<M>::finish(m); !problem.empty()) fail<invalid_argument>(at, problem);
}

}  // namespace leat::io::detail
