#pragma once
// The destination of the next JSON value: looked up by a field's name in `messages.hpp`, then filled by the reader's events, which are
// untyped. A slot is a pointer and the type of its target.

#include <leat/io/messages.hpp>
#include <leat/proto/tensor_contents.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace leat::io::detail {

enum class slot_kind : std::uint8_t {
  text,
  bytes,
  int32,
  int64,
  uint32,
  uint64,
  float32,
  float64,
  boolean,
  type,
  named,
  message,
  skip,
  refuse,
  empty
};
enum class slot_count : std::uint8_t { one, many, packed };

struct message_ops;

/// The destination of a value. `one`: the target is a value; `many`: a vector of such values; `packed`: a string to which the bytes of each
/// value are appended. `skip` accepts anything, `refuse` only empty containers, `empty` only empty containers and an empty string.
struct slot {
  slot_kind kind = slot_kind::skip;
  slot_count count = slot_count::one;
  bool may_be_null = true;
  void* target = nullptr;
  const message_ops* ops = nullptr;
  void* (*open)(void* target) = nullptr;  // returns the message to fill, allocating it if needed
  std::span<const std::string_view> names{};
  std::string_view field{};
  const char* problem = nullptr;
};

/// The values that a slot accepts, as text for error messages.
inline std::string_view kind_text(const slot& s) {
  switch (s.kind) {
    case slot_kind::text: return "a text";
    case slot_kind::bytes: return "a text in base64";
    case slot_kind::int32:
    case slot_kind::int64:
    case slot_kind::uint32:
    case slot_kind::uint64: return "an integer";
    case slot_kind::float32:
    case slot_kind::float64: return "a number";
    case slot_kind::boolean: return "true or false";
    case slot_kind::type: return "the name of an element type";
    case slot_kind::named: return "a name";
    case slot_kind::message: return "an object";
    case slot_kind::skip:
    case slot_kind::refuse:
    case slot_kind::empty: break;
  }
  return "nothing";
}

/// A field's name in the .proto file, given its camelCase name in JSON.
inline std::string snake_case(std::string_view camel) {
  std::string snake;
  for (char c : camel) {
    if (c >= 'A' && c <= 'Z') {
      snake += '_';
      snake += static_cast<char>(c - 'A' + 'a');
    } else {
      snake += c;
    }
  }
  return snake;
}

/// Operations on a message type, or a map of messages.
struct message_ops {
  std::string_view name;
  /// Finds the slot of a key. Returns the field's number in the order of the description, -1 if there is none. In maps every key is a
  /// field.
  int (*find)(void* message, std::string_view key, slot&);
  std::string (*finish)(void* message);
  const std::string* (*node_name)(const void* message);  // for a NodeDef; null for other messages
  bool is_map;
};

template <class M>
void* itself(void* target) {
  return target;
}
template <class M>
const message_ops& ops_of();
template <class Map>
const message_ops& map_ops_of();

/// Finds the slot of the field named `key`.
class slot_finder {
 public:
  slot_finder(std::string_view key, slot& s) : key_(key), slot_(s) {}
  int found() const { return found_; }

  void text(unsigned, std::string_view name, std::string& v) {
    if (is(name)) set(slot_kind::text, slot_count::one, &v);
  }
  void bytes(unsigned, std::string_view name, std::string& v) {
    if (is(name)) set(slot_kind::bytes, slot_count::one, &v);
  }
  template <class T>
  void value(unsigned, std::string_view name, T& v) {
    if (is(name)) set(kind_of<T>, slot_count::one, &v);
  }
  void named(unsigned, std::string_view name, std::int32_t& v, std::span<const std::string_view> names) {
    if (!is(name)) return;
    set(slot_kind::named, slot_count::one, &v);
    slot_.names = names;
  }
  void texts(unsigned, std::string_view name, std::vector<std::string>& list) {
    if (is(name)) set(slot_kind::text, slot_count::many, &list);
  }
  void byte_strings(unsigned, std::string_view name, std::vector<std::string>& list) {
    if (is(name)) set(slot_kind::bytes, slot_count::many, &list);
  }
  template <class T>
  void values(unsigned, std::string_view name, std::vector<T>& list) {
    if (is(name)) set(kind_of<T>, slot_count::many, &list);
  }
  template <class M>
  void submessage(unsigned, std::string_view name, M& m, bool = false) {
    if (is(name)) set_message<M>(slot_count::one, &m, itself<M>);
  }
  template <class M>
  void optional_message(unsigned, std::string_view name, std::optional<M>& m) {
    if (is(name))
      set_message<M>(slot_count::one, &m,
                     [](void* target) -> void* { return &static_cast<std::optional<M>*>(target)->emplace(); });
  }
  template <class M>
  void submessages(unsigned, std::string_view name, std::vector<M>& list) {
    if (is(name)) set_messages(list);
  }
  template <class Map>
  void map(unsigned, std::string_view name, Map& entries) {
    if (!is(name)) return;
    set(slot_kind::message, slot_count::one, &entries);
    slot_.ops = &map_ops_of<Map>();
    slot_.open = itself<Map>;
  }

  template <class T, class Variant>
  void choice(unsigned, std::string_view name, Variant& variant) {
    if (!is(name)) return;
    T& held = chosen<T>(variant);
    if constexpr (is_vector<T>) {
      using element = typename T::value_type;
      if constexpr (any_message<element>) set_messages(held);
      else set(kind_of<element>, slot_count::many, &held);
      slot_.may_be_null = true;
    } else if constexpr (std::is_same_v<T, std::string> || std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      set(kind_of<T>, slot_count::one, &held);
      slot_.may_be_null = false;
    } else {
      auto& m = unboxed(held);
      set_message<std::remove_reference_t<decltype(m)>>(slot_count::one, &m, itself<void>);
      slot_.may_be_null = false;
    }
  }
  template <class T, class Variant>
  void choice_text(unsigned, std::string_view name, Variant& variant) {
    if (!is(name)) return;
    set(slot_kind::text, slot_count::one, &text_of(chosen<T>(variant)));
    slot_.may_be_null = false;
  }

  template <class T>
  void elements(unsigned, std::string_view name, tensor_field field, tensor_proto& t) {
    if (is(name)) set_elements(kind_of<T>, slot_count::packed, &t.bytes, field, t);
  }
  void element_bytes(unsigned, std::string_view name, tensor_field field, tensor_proto& t) {
    if (is(name)) set_elements(slot_kind::bytes, slot_count::one, &t.bytes, field, t);
  }
  void element_texts(unsigned, std::string_view name, tensor_proto& t) {
    if (is(name)) set_elements(slot_kind::bytes, slot_count::many, &t.strings, tensor_field::string_val, t);
  }

  template <class Schema>
  void opaque(unsigned, std::string_view name, std::string& message) {
    refused(0, name);
    if (is(library_in_json)) set(slot_kind::bytes, slot_count::one, &message);
  }
  template <class Schema>
  void opaque_messages(unsigned, std::string_view name, std::vector<std::string>&) { refused(0, name); }
  void dropped(unsigned, std::string_view name) {
    if (is(name)) set(slot_kind::skip, slot_count::one, nullptr);
  }
  void refused(unsigned, std::string_view name) {
    if (is(name)) set(slot_kind::refuse, slot_count::one, nullptr);
  }

 private:
  template <class T>
  static constexpr slot_kind kind_of = std::is_same_v<T, std::string>     ? slot_kind::bytes
                                       : std::is_same_v<T, std::int32_t>  ? slot_kind::int32
                                       : std::is_same_v<T, std::int64_t>  ? slot_kind::int64
                                       : std::is_same_v<T, std::uint32_t> ? slot_kind::uint32
                                       : std::is_same_v<T, std::uint64_t> ? slot_kind::uint64
                                       : std::is_same_v<T, float>         ? slot_kind::float32
                                       : std::is_same_v<T, double>        ? slot_kind::float64
                                       : std::is_same_v<T, data_type>     ? slot_kind::type
                                                                          : slot_kind::boolean;

  bool is(std::string_view name) {
    ++ordinal_;
    if (found_ >= 0 || name != key_) return false;
    found_ = ordinal_;
    slot_ = {};
    slot_.field = name;
    return true;
  }
  void set(slot_kind kind, slot_count count, void* target) {
    slot_.kind = kind;
    slot_.count = count;
    slot_.target = target;
  }
  template <class M>
  void set_message(slot_count count, void* target, void* (*open)(void*)) {
    set(slot_kind::message, count, target);
    slot_.ops = &ops_of<M>();
    slot_.open = open;
  }
  template <class M>
  void set_messages(std::vector<M>& list) {
    set_message<M>(slot_count::many, &list,
                   [](void* target) -> void* { return &static_cast<std::vector<M>*>(target)->emplace_back(); });
  }
  template <class T, class Variant>
  T& chosen(Variant& variant) {
    const bool taken = std::visit(
        [](const auto& held) {
          if constexpr (is_vector<std::decay_t<decltype(held)>>) return !held.empty();
          else return !std::is_same_v<std::decay_t<decltype(held)>, std::monostate>;
        },
        variant);
    if (taken) slot_.problem = "is a second value beside another, and only one can be";
    return variant.template emplace<T>();
  }
  /// Elements of a tensor may be in one field only; other fields may be present but empty, as in files that list all defaults.
  void set_elements(slot_kind kind, slot_count count, void* target, tensor_field field, tensor_proto& t) {
    const bool taken = t.field != field && !(t.bytes.empty() && t.strings.empty());
    set(taken ? slot_kind::empty : kind, count, target);
    if (!taken) t.field = field;
  }

  std::string_view key_;
  slot& slot_;
  int ordinal_ = -1;
  int found_ = -1;
};

template <class M>
const message_ops& ops_of() {
  static constexpr message_ops ops{message_fields<M>::name,
                                   [](void* message, std::string_view key, slot& s) {
                                     slot_finder finder(key, s);
                                     message_fields<M>::fields(finder, *static_cast<M*>(message));
                                     return finder.found();
                                   },
                                   [](void* message) { return message_fields<M>::finish(*static_cast<M*>(message)); },
                                   [] {
                                     if constexpr (std::is_same_v<M, node_def>)
                                       return +[](const void* message) {
                                         return &static_cast<const node_def*>(message)->name;
                                       };
                                     else return static_cast<const std::string* (*)(const void*)>(nullptr);
                                   }(),
                                   false};
  return ops;
}

template <class Map>
const message_ops& map_ops_of() {
  using value_type = typename map_value<Map>::type;
  static constexpr message_ops ops{"map",
                                   [](void* message, std::string_view key, slot& s) {
                                     auto& entries = *static_cast<Map*>(message);
                                     s = {};
                                     s.kind = slot_kind::message;
                                     s.may_be_null = false;
                                     s.ops = &ops_of<value_type>();
                                     s.open = itself<value_type>;
                                     if constexpr (std::is_same_v<Map, attribute_map>) {
                                       s.target =
                                           &entries.append(std::string(key));  // its owner sorts, and detects duplicates
                                     } else {
                                       const auto [at, added] = entries.try_emplace(std::string(key));
                                       s.target = &at->second;
                                       if (!added) s.problem = "is there twice";
                                     }
                                     return 0;
                                   },
                                   [](void*) { return std::string(); }, nullptr, true};
  return ops;
}

}  // namespace leat::io::detail
