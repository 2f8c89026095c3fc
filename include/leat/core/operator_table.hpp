#pragma once
// Tables of what a layer knows of operators, by their types or by their codes. An operator has one entry, which has fields, such as its
// definition and its gradient in graphs with names. Fields are entered and found one by one, so that a source which looks for one of them
// compiles only the functions that fill this one (fill.hpp).
//
//   struct operator_entry {
//     std::shared_ptr<const operator_definition> definition;
//     std::shared_ptr<const named_gradient> gradient;
//   };
//   operator_table<operator_entry> table;
//   table.enter("Tanh", &operator_entry::gradient, std::move(its_gradient));

#include <algorithm>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

namespace leat::detail {

/// Hashes strings so that a table finds them by views. Not `noexcept`: libstdc++ then keeps the hash of each key.
struct hash_of_text {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
};

/// Entries by operator. `Key` is the operator's type (`std::string`; `std::string_view` if the strings live as long as the table) or its
/// code (`int`). An empty field (a null pointer or an empty optional) is one that the operator does not have. Fields are found by value, as
/// copies. Thread-safe.
template <class Entry, class Key = std::string>
class operator_table {
 public:
  using key_view = std::conditional_t<std::is_integral_v<Key>, Key, std::string_view>;

  /// Sets a field of an operator, unless the operator has it: the first one stays. Returns the one that the operator has now.
  template <class Field>
  Field enter(key_view key, Field Entry::* field, std::type_identity_t<Field> value) {
    const std::lock_guard lock(guard_);
    Field& its = entry_of(key).*field;
    if (!its) its = std::move(value);
    return its;
  }
  /// Sets a field of an operator, in place of any that it has.
  template <class Field>
  void replace(key_view key, Field Entry::* field, std::type_identity_t<Field> value) {
    const std::lock_guard lock(guard_);
    entry_of(key).*field = std::move(value);
  }
  /// A field of an operator; empty if the operator does not have it.
  template <class Field>
  Field find(key_view key, Field Entry::* field) const {
    const std::lock_guard lock(guard_);
    const auto at = entries_.find(key);
    return at == entries_.end() ? Field{} : at->second.*field;
  }
  /// All fields of an operator.
  Entry find(key_view key) const {
    const std::lock_guard lock(guard_);
    const auto at = entries_.find(key);
    return at == entries_.end() ? Entry{} : at->second;
  }
  /// The operators that have a field, in no particular order.
  template <class Field>
  std::vector<key_view> keys(Field Entry::* field) const {
    const std::lock_guard lock(guard_);
    std::vector<key_view> all;
    for (const auto& [key, entry] : entries_)
      if (entry.*field) all.push_back(key);
    return all;
  }
  /// Whether `condition` holds for a field that any of the operators has.
  template <class Field, class Condition>
  bool any_of(Field Entry::* field, Condition condition) const {
    const std::lock_guard lock(guard_);
    return std::any_of(entries_.begin(), entries_.end(), [&](const auto& e) { return e.second.*field && condition(e.second.*field); });
  }

 private:
  Entry& entry_of(key_view key) {
    const auto at = entries_.find(key);
    return at != entries_.end() ? at->second : entries_.try_emplace(Key(key)).first->second;
  }

  mutable std::mutex guard_;
  std::unordered_map<Key, Entry, std::conditional_t<std::is_integral_v<Key>, std::hash<Key>, hash_of_text>, std::equal_to<>> entries_;
};

}  // namespace leat::detail
