#pragma once
// Unique names of nodes and scopes, by TensorFlow 1.x's rules. Nodes and scopes share one table that ignores case: a name that is
// taken gets "_1", "_2", ... A scope is a path; a name that ends in "/" denotes exactly that path.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace leat {

namespace detail {
constexpr bool is_letter_or_digit(char c) { return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
constexpr bool is_name_character(char c) {
  return is_letter_or_digit(c) || c == '_' || c == '.' || c == '\\' || c == '/' || c == '>' || c == '-';
}
// The result of `is_name_character` for each byte, because every character of every name is checked.
struct character_table {
  bool fits[256]{};
  constexpr character_table() {
    for (int c = 0; c < 256; ++c) fits[c] = is_name_character(static_cast<char>(static_cast<unsigned char>(c)));
  }
};
inline constexpr character_table name_characters{};
inline constexpr std::string_view name_pattern = "^[A-Za-z0-9.][A-Za-z0-9_.\\\\/>-]*$";
inline constexpr std::string_view scope_pattern = "^[A-Za-z0-9_.\\\\/>-]*$";
}  // namespace detail

/// Whether a nested scope may have this name: letters, digits and "_.\/>-".
constexpr bool is_valid_scope_name(std::string_view name) {
  bool fits = true;
  for (const char c : name) fits = fits & detail::name_characters.fits[static_cast<unsigned char>(c)];
  return fits;
}
/// Whether a node, or a scope at the root, may have this name: the first character is a letter, a digit or ".".
constexpr bool is_valid_node_name(std::string_view name) {
  return !name.empty() && (detail::is_letter_or_digit(name[0]) || name[0] == '.') && is_valid_scope_name(name);
}

/// A scope without its slash: "foo" of "foo/".
constexpr std::string_view without_slash(std::string_view scope) {
  return !scope.empty() && scope.back() == '/' ? scope.substr(0, scope.size() - 1) : scope;
}

/// Maps the 64-bit hash of a name to numbers; the caller compares the names that the numbers stand for. An entry may hold a node as well as
/// a number. Entries are stored in order of insertion; the search uses a table of their positions (open addressing), which is small enough
/// to stay in the cache.
class name_index {
 public:
  /// The hash of a name, optionally ignoring case.
  static std::uint64_t hash(std::string_view text, bool ignore_case) { return ignore_case ? hash_of<true>(text) : hash_of<false>(text); }

  /// The number with this hash that `is` accepts, or null.
  template <class Is>
  int* find(std::uint64_t h, Is is) {
    entry* const found = find_entry(h, [&](const entry& e) { return is(e.value); });
    return found == nullptr ? nullptr : &found->value;
  }
  template <class Is>
  const int* find(std::uint64_t h, Is is) const {
    return const_cast<name_index*>(this)->find(h, is);
  }
  /// The node with this hash that `is` accepts, or -1.
  template <class Is>
  int find_node(std::uint64_t h, Is is) const {
    const entry* const found = const_cast<name_index*>(this)->find_entry(h, [&](const entry& e) { return e.node >= 0 && is(e.node); });
    return found == nullptr ? -1 : found->node;
  }
  /// Inserts a number and returns null if no entry has this hash; returns that entry's number if one has.
  int* find_or_insert(std::uint64_t h, int value) {
    if (entries_.size() >= limit_) grow();
    std::size_t at = place(h);
    for (; slots_[at] != unused; at = (at + 1) & mask_)
      if (entry& e = entries_[slots_[at] - 1]; e.hash == h) return &e.value;
    put(at, {h, value, no_node});
    return nullptr;
  }
  void insert(std::uint64_t h, int value) { insert_entry({h, value, no_node}); }
  /// Assigns a node to an entry with this hash that has none; if there is no such entry, makes one with the number 0.
  void set_node(std::uint64_t h, int node) {
    if (!entries_.empty() && entries_.back().hash == h && entries_.back().node == no_node) entries_.back().node = node;
    else set_node_of_any(h, node);
  }

 private:
  static constexpr int no_node = -1;
  static constexpr std::uint32_t unused = 0;
  struct entry {
    std::uint64_t hash;
    int value;
    int node;
  };
  template <bool IgnoreCase>
  static std::uint64_t hash_of(std::string_view text) {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t h = 0xcbf29ce484222325 ^ left, word = 0;
    const auto take = [&] { h = mixed(h, IgnoreCase ? lower(word) : word); };
    if (left < 8) {
      for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
      take();
      return h;
    }
    for (; left > 8; left -= 8, at += 8) {
      std::memcpy(&word, at, 8);
      take();
    }
    std::memcpy(&word, text.data() + text.size() - 8, 8);  // the last eight characters, some of which were hashed already
    take();
    return h;
  }
  static std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
  }
  // Converts eight characters at once: sets the lowercase bit of those from 'A' to 'Z'.
  static std::uint64_t lower(std::uint64_t word) {
    constexpr std::uint64_t each = 0x0101010101010101;
    const std::uint64_t low = word & (each * 0x7f);
    const std::uint64_t is_upper = (low + each * (0x80 - 'A')) & ~(low + each * (0x7f - 'Z')) & ~word & (each * 0x80);
    return word | is_upper >> 2;
  }
  template <class Is>
  entry* find_entry(std::uint64_t h, Is is) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = place(h);; at = (at + 1) & mask_) {
      if (slots_[at] == unused) return nullptr;
      if (entry& e = entries_[slots_[at] - 1]; e.hash == h && is(e)) return &e;
    }
  }
  std::size_t place(std::uint64_t h) const { return static_cast<std::size_t>(h ^ h >> 32) & mask_; }
  void put(std::size_t slot, const entry& e) {
    entries_.push_back(e);
    slots_[slot] = static_cast<std::uint32_t>(entries_.size());
  }
  void insert_entry(const entry& e);
  void set_node_of_any(std::uint64_t h, int node);
  void grow();

  std::vector<entry> entries_;
  std::vector<std::uint32_t> slots_;  // positions of entries, counted from 1; their number is a power of two
  std::size_t mask_ = 0, limit_ = 0;
};

/// The names of one graph, and the scope in which new names are made.
class name_table {
 public:
  /// The current scope without its slash; empty at the root.
  const std::string& scope() const { return scope_; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }
  /// Exchanges the current scope for another.
  void swap_scope(std::string& scope) { scope_.swap(scope); }

  /// `name` in the current scope, with a number appended if it is taken. It is reserved unless `mark` is false.
  std::string unique_name(std::string_view name, bool mark = true) {
    std::string full;
    put_unique(full, name, mark);
    return full;
  }

  /// The path that `name_scope(name)` opens, without its slash: unique, or exact if the name ends in "/".
  /// Errors: invalid_argument for a name that TensorFlow does not accept.
  std::string open_scope(std::string_view name) {
    std::string full;
    put_scope(full, name);
    return full;
  }

  /// The name of a new node: unique in the current scope, or exact if it ends in "/".
  std::string node_name(std::string_view name) {
    std::string full;
    put_node_name(full, name);
    return full;
  }

  /// `unique_name`, `open_scope` and `node_name` with the result in a string whose memory is reused. They return the name's hash, for
  /// `note`.
  std::uint64_t put_unique(std::string& full, std::string_view name, bool mark = true);
  std::uint64_t put_scope(std::string& full, std::string_view name);
  std::uint64_t put_node_name(std::string& full, std::string_view name);

  /// Reserves a full name, such as one in an imported file.
  void take(std::string_view full);

  /// Records which node has a name; the name need not be reserved. `hash` is the name's hash.
  void note(std::string_view full, int node) { note(hash(full), node); }
  void note(std::uint64_t hash, int node) { used_.set_node(hash, node); }
  static std::uint64_t hash(std::string_view full) { return name_index::hash(full, true); }
  /// The node with this name that `is` accepts, or -1. Nodes whose names differ only in case are candidates, too.
  template <class Is>
  int find(std::string_view full, Is is) const {
    return used_.find_node(hash(full), is);
  }

 private:
  static bool is_taken(int times) { return times > 0; }
  // Reserves a name and returns null; if it is reserved already, returns how many times it was requested.
  int* reserve(std::uint64_t key) {
    int* const known = used_.find_or_insert(key, 1);
    return known == nullptr || *known > 0 ? known : reserve_noted(key);
  }
  int* reserve_noted(std::uint64_t key);

  std::string scope_;
  // How many times a name was requested, by hash alone: a collision only means that the second name gets a number. 0 means that a node has
  // the name, but it was not requested.
  name_index used_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/impl/names.hpp>
#endif
