#pragma once
// Unique names of nodes and scopes, by TensorFlow 1.x's rules. Nodes and scopes share one table that ignores case: a name that is
// taken gets "_1", "_2", ... A scope is a path; a name that ends in "/" denotes exactly that path.

#include <leat/core/function_bodies.hpp>

#include <cstdint>
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
/// for.
class name_index {
 public:
  static constexpr std::uint64_t seed = 0xcbf29ce484222325;
  /// Continues a hash with more text, optionally ignoring case.
  static constexpr std::uint64_t hash(std::string_view text, bool ignore_case, std::uint64_t h = seed) {
    for (char c : text) {
      if (ignore_case && c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    }
    return h;
  }

  /// The number with this hash that `is` accepts, or null.
  template <class Is>
  int* find(std::uint64_t h, Is is) {
    if (slots_.empty()) return nullptr;
    for (std::size_t at = place(h);; at = (at + 1) & (slots_.size() - 1)) {
      if (!slots_[at].used) return nullptr;
      if (slots_[at].hash == h && is(slots_[at].value)) return &slots_[at].value;
    }
  }
  template <class Is>
  const int* find(std::uint64_t h, Is is) const {
    return const_cast<name_index*>(this)->find(h, is);
  }
  void insert(std::uint64_t h, int value);

 private:
  struct slot {
    std::uint64_t hash = 0;
    int value = 0;
    bool used = false;
  };
  // Mixes the upper bits in: those of short names differ less in the lower ones.
  std::size_t place(std::uint64_t h) const;
  void put(const slot& s);
  void grow();

  std::vector<slot> slots_;
  std::size_t size_ = 0;
};

/// The names of one graph, and the scope that new ones go to.
class name_table {
 public:
  /// The current scope without its slash; empty at the root.
  const std::string& scope() const { return scope_; }
  void set_scope(std::string scope) { scope_ = std::move(scope); }

  /// `name` in the current scope, with a number if it is taken. Reserves it unless `mark` is false.
  std::string unique_name(std::string_view name, bool mark = true);

  /// The path that `name_scope(name)` opens, without its slash: unique, or exact if the name ends in "/".
  /// Errors: invalid_argument for a name that TensorFlow does not accept.
  std::string open_scope(std::string_view name);

  /// The name of a new node: unique in the current scope, or exact if it ends in "/".
  std::string node_name(std::string_view name);

  /// Reserves a name, such as one in an imported file.
  void take(std::string_view full);

 private:
  static bool any(int) { return true; }

  std::string scope_;
  // How often a name was requested, by hash alone: a collision only costs the second name its plain form.
  name_index used_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/graph/names_bodies.hpp>
#endif
