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
inline constexpr std::string_view name_pattern = "^[A-Za-z0-9.][A-Za-z0-9_.\\\\/>-]*$";
inline constexpr std::string_view scope_pattern = "^[A-Za-z0-9_.\\\\/>-]*$";
}  // namespace detail

/// Whether a nested scope may have this name: letters, digits and "_.\/>-".
constexpr bool is_valid_scope_name(std::string_view name) {
  for (char c : name)
    if (!detail::is_name_character(c)) return false;
  return true;
}
/// Whether a node, or a scope at the root, may have this name: the first character is a letter, a digit or ".".
constexpr bool is_valid_node_name(std::string_view name) {
  return !name.empty() && (detail::is_letter_or_digit(name[0]) || name[0] == '.') && is_valid_scope_name(name);
}

/// "foo" of "foo/".
constexpr std::string_view without_slash(std::string_view scope) {
  return !scope.empty() && scope.back() == '/' ? scope.substr(0, scope.size() - 1) : scope;
}

/// Numbers by the 64-bit hash of a name: open addressing, one allocation. The caller compares the names that the numbers stand
/// for. Beside its number an entry may have a node.
class name_index {
 public:
  /// The hash of a name, optionally ignoring case.
  static std::uint64_t hash(std::string_view text, bool ignore_case) {
    const char* at = text.data();
    std::size_t left = text.size();
    std::uint64_t h = 0xcbf29ce484222325 ^ left, word = 0;
    const auto take = [&] { h = mixed(h, ignore_case ? lower(word) : word); };
    if (left < 8) {
      for (const char c : text) word = word << 8 | static_cast<unsigned char>(c);
      take();
      return h;
    }
    for (; left > 8; left -= 8, at += 8) {
      std::memcpy(&word, at, 8);
      take();
    }
    std::memcpy(&word, text.data() + text.size() - 8, 8);  // the last ones, some of them again
    take();
    return h;
  }

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
  void insert(std::uint64_t h, int value) { insert_entry({h, value, no_node}); }
  /// Gives an entry with this hash a node; makes one of the number 0 if each of them has one already.
  void set_node(std::uint64_t h, int node);

 private:
  static constexpr int no_node = -1, unused = -2;
  struct entry {
    std::uint64_t hash = 0;
    int value = 0;
    int node = unused;
  };
  static std::uint64_t mixed(std::uint64_t h, std::uint64_t word) {
    h = (h ^ word) * 0x9e3779b97f4a7c15;
    return h ^ h >> 29;
  }
  // Eight characters at once: those from 'A' to 'Z' get the bit of small letters.
  static std::uint64_t lower(std::uint64_t word) {
    constexpr std::uint64_t each = 0x0101010101010101;
    const std::uint64_t low = word & (each * 0x7f);
    const std::uint64_t is_upper = (low + each * (0x80 - 'A')) & ~(low + each * (0x7f - 'Z')) & ~word & (each * 0x80);
    return word | is_upper >> 2;
  }
  template <class Is>
  entry* find_entry(std::uint64_t h, Is is) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = place(h);; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].node == unused) return nullptr;
      if (slots_[at].hash == h && is(slots_[at])) return &slots_[at];
    }
  }
  std::size_t place(std::uint64_t h) const { return static_cast<std::size_t>((h ^ h >> 32) & (slots_.size() - 1)); }
  void insert_entry(const entry& e);
  void put(const entry& e);
  void grow();

  std::vector<entry> slots_;
  std::size_t size_ = 0;
};

/// The names of one graph, and the scope that new ones go to.
class name_table {
 public:
  /// The current scope without its slash; empty at the root.
  const std::string& scope() const { return scope_; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }
  /// Exchanges the current scope for another.
  void swap_scope(std::string& scope) { scope_.swap(scope); }

  /// `name` in the current scope, with a number if it is taken. Reserves it unless `mark` is false.
  std::string unique_name(std::string_view name, bool mark = true);

  /// The path that `name_scope(name)` opens, without its slash: unique, or exact if the name ends in "/".
  /// Errors: invalid_argument for a name that TensorFlow does not accept.
  std::string open_scope(std::string_view name);

  /// The name of a new node: unique in the current scope, or exact if it ends in "/".
  std::string node_name(std::string_view name);

  /// Reserves a name, such as one in an imported file.
  void take(std::string_view full);

  /// Notes which node has a name, which need not be reserved.
  void note(std::string_view full, int node) { used_.set_node(name_index::hash(full, true), node); }
  /// The node with this name, or -1: of those noted under it, whatever the case of its letters, the one that `is` accepts.
  template <class Is>
  int find(std::string_view full, Is is) const {
    return used_.find_node(name_index::hash(full, true), is);
  }

 private:
  static bool is_taken(int times) { return times > 0; }
  void reserve(std::uint64_t key);

  std::string scope_;
  // How often a name was requested, by hash alone: a collision only costs the second name its plain form. 0: a node has it, but it was
  // not requested.
  name_index used_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/names_bodies.hpp>
#endif
