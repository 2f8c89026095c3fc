#pragma once
// Tables that map keys to values, which a session keeps between runs. A static table gets its contents once; a mutable one changes.
// Thread-safe. Source: TensorFlow's `HashTable` and `MutableHashTable`.

#include <leat/core/memory.hpp>
#include <leat/runtime/kernels/walk.hpp>
#include <leat/runtime/state/tensor_value.hpp>

#include <cstring>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

namespace leat::runtime {

class lookup_table final : public resource {
 public:
  lookup_table(std::string name, dtype keys, dtype values, bool is_mutable)
      : name_(std::move(name)), keys_(keys), values_(values), is_mutable_(is_mutable) {
    if (keys != text_dtype && keys != dtype::int32 && keys != dtype::int64) throw unimplemented("a table with keys of " + dtype_name(keys));
    if (values != text_dtype && size_of(values) == 0) throw unimplemented("a table with values of " + dtype_name(values));
  }
  const std::string& name() const { return name_; }
  dtype keys() const { return keys_; }
  dtype values() const { return values_; }
  bool is_mutable() const { return is_mutable_; }

  /// Gives a static table its contents; the same contents again change nothing. Errors: failed_precondition for other contents, or for two
  /// values of one key.
  void initialize(const tensor_value& keys, const tensor_value& values) {
    if (is_mutable_) throw invalid_argument("Table " + name_ + " is not initializable");
    contents made;
    fill(made, keys, values, true);
    const std::lock_guard lock(guard_);
    if (is_initialized_) {
      if (made.texts != held_.texts || made.wholes != held_.wholes)
        throw failed_precondition("Table was already initialized with different data.");
      return;
    }
    replace(std::move(made));
    is_initialized_ = true;
  }
  /// Adds entries, or replaces them. Errors: unimplemented for a static table.
  void insert(const tensor_value& keys, const tensor_value& values) {
    if (!is_mutable_) throw unimplemented("Insert not supported by InitializableLookupTable implementations");
    const std::lock_guard lock(guard_);
    // Room for all, as if no key were known, is taken before anything changes.
    taken_.take(static_cast<std::size_t>(held_.size() + keys.elements()) * entry_bytes);
    fill(held_, keys, values, false);
    measure();
  }
  /// Replaces all entries.
  void import(const tensor_value& keys, const tensor_value& values) {
    if (!is_mutable_) return initialize(keys, values);
    contents made;
    fill(made, keys, values, false);
    const std::lock_guard lock(guard_);
    replace(std::move(made));
  }
  void remove(const tensor_value& keys) {
    if (!is_mutable_) throw unimplemented("Remove not supported by InitializableLookupTable implementations");
    const std::lock_guard lock(guard_);
    for (std::int64_t i = 0; i < keys.elements(); ++i)
      if (keys_ == text_dtype) held_.texts.erase(keys.texts()[static_cast<std::size_t>(i)]);
      else held_.wholes.erase(whole(keys, i));
    measure();
  }
  std::int64_t size() const {
    const std::lock_guard lock(guard_);
    return held_.size();
  }
  /// The values of keys, in their shape; a key that the table lacks has the default: the first one, or in a mutable table the one at its
  /// place, if there are several. Errors: failed_precondition for a static table without contents.
  tensor_value find(const tensor_value& keys, const tensor_value& otherwise) const {
    tensor_value made(values_, keys.extent());
    const std::lock_guard lock(guard_);
    if (!is_mutable_ && !is_initialized_) throw failed_precondition("Table not initialized.");
    const bool has_one_default = !is_mutable_ || otherwise.elements() == 1;
    for (std::int64_t i = 0; i < keys.elements(); ++i)
      if (const cell* const found = find(keys, i)) put(made, i, *found);
      else put(made, i, cell_of(otherwise, has_one_default ? 0 : i));
    return made;
  }
  /// All keys and all values, in an order of their own.
  std::pair<tensor_value, tensor_value> all() const {
    const std::lock_guard lock(guard_);
    if (!is_mutable_ && !is_initialized_) throw aborted("HashTable is not initialized.");
    tensor_value keys(keys_, {held_.size()}), values(values_, {held_.size()});
    std::int64_t at = 0;
    for (const auto& [key, value] : held_.texts) {
      keys.texts()[static_cast<std::size_t>(at)] = key;
      put(values, at++, value);
    }
    for (const auto& [key, value] : held_.wholes) {
      if (keys_ == dtype::int32) keys.values<std::int32_t>()[static_cast<std::size_t>(at)] = static_cast<std::int32_t>(key);
      else keys.values<std::int64_t>()[static_cast<std::size_t>(at)] = key;
      put(values, at++, value);
    }
    return {std::move(keys), std::move(values)};
  }

 private:
  // One value: a text, or the bytes of a number.
  struct cell {
    std::uint64_t bits = 0;
    std::string text;
    bool operator==(const cell&) const = default;
  };
  struct contents {
    std::unordered_map<std::string, cell> texts;
    std::unordered_map<std::int64_t, cell> wholes;
    std::int64_t size() const { return static_cast<std::int64_t>(texts.size() + wholes.size()); }
  };
  static constexpr std::size_t entry_bytes = 128;  // about what an entry takes beside the bytes of long texts

  static std::int64_t whole(const tensor_value& keys, std::int64_t at) {
    const auto i = static_cast<std::size_t>(at);
    return keys.type() == dtype::int32 ? keys.values<std::int32_t>()[i] : keys.values<std::int64_t>()[i];
  }
  static cell cell_of(const tensor_value& from, std::int64_t at) {
    cell made;
    if (from.type() == text_dtype) made.text = from.texts()[static_cast<std::size_t>(at)];
    else std::memcpy(&made.bits, from.data() + at * size_of(from.type()), static_cast<std::size_t>(size_of(from.type())));
    return made;
  }
  static void put(tensor_value& to, std::int64_t at, const cell& from) {
    if (to.type() == text_dtype) to.texts()[static_cast<std::size_t>(at)] = from.text;
    else std::memcpy(to.data() + at * size_of(to.type()), &from.bits, static_cast<std::size_t>(size_of(to.type())));
  }
  const cell* find(const tensor_value& keys, std::int64_t at) const {
    if (keys_ == text_dtype) {
      const auto found = held_.texts.find(keys.texts()[static_cast<std::size_t>(at)]);
      return found == held_.texts.end() ? nullptr : &found->second;
    }
    const auto found = held_.wholes.find(whole(keys, at));
    return found == held_.wholes.end() ? nullptr : &found->second;
  }
  void fill(contents& to, const tensor_value& keys, const tensor_value& values, bool is_final) {
    for (std::int64_t i = 0; i < keys.elements(); ++i) {
      const cell value = cell_of(values, i);
      const auto add = [&](auto& map, const auto& key, const std::string& words) {
        const auto [known, is_new] = map.try_emplace(key, value);
        if (!is_new && is_final && !(known->second == value))
          throw failed_precondition("HashTable has different value for same key. Key " + words + " has " + text_of(known->second) +
                                    " and trying to add value " + text_of(value));
        known->second = value;
      };
      if (keys_ == text_dtype) add(to.texts, keys.texts()[static_cast<std::size_t>(i)], keys.texts()[static_cast<std::size_t>(i)]);
      else add(to.wholes, whole(keys, i), std::to_string(whole(keys, i)));
    }
  }
  std::string text_of(const cell& value) const {
    if (values_ == text_dtype) return value.text;
    tensor_value one(values_, shape{});
    put(one, 0, value);
    return summary_text(one);
  }
  void replace(contents made) {
    taken_.take(static_cast<std::size_t>(made.size()) * entry_bytes);
    held_ = std::move(made);
  }
  void measure() { taken_.take(static_cast<std::size_t>(held_.size()) * entry_bytes); }

  const std::string name_;
  const dtype keys_, values_;
  const bool is_mutable_;
  mutable std::mutex guard_;
  contents held_;
  metered_bytes taken_;
  bool is_initialized_ = false;
};

}  // namespace leat::runtime
