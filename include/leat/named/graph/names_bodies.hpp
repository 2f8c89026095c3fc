#pragma once
// Implementation of names.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/names.hpp>

namespace leat {

LEAT_FUNCTION void name_index::put(const entry& e) {
  std::size_t at = place(e.hash);
  while (slots_[at].node != unused) at = (at + 1) & (slots_.size() - 1);
  slots_[at] = e;
}

LEAT_FUNCTION void name_index::grow() {
  std::vector<entry> old(slots_.empty() ? 64 : 2 * slots_.size());
  old.swap(slots_);
  for (const entry& e : old)
    if (e.node != unused) put(e);
}

LEAT_FUNCTION void name_index::insert_entry(const entry& e) {
  if (2 * (size_ + 1) > slots_.size()) grow();
  put(e);
  ++size_;
}

LEAT_FUNCTION void name_index::set_node(std::uint64_t h, int node) {
  if (entry* const found = find_entry(h, [](const entry& e) { return e.node == no_node; })) found->node = node;
  else insert_entry({h, 0, node});
}

LEAT_FUNCTION std::string name_table::unique_name(std::string_view name, bool mark) {
  std::string full;
  full.reserve(scope_.size() + name.size() + 8);
  if (!scope_.empty()) {
    full += scope_;
    full += '/';
  }
  full += name;
  const std::uint64_t key = name_index::hash(full, true);
  int* const times = used_.find(key, is_taken);
  if (times == nullptr) {
    if (mark) reserve(key);
    return full;
  }
  int number = *times;
  if (mark) *times = number + 1;
  const std::size_t length = full.size();
  std::uint64_t numbered = 0;
  do {
    full.resize(length);
    full += '_';
    full += std::to_string(number++);
    numbered = name_index::hash(full, true);
  } while (used_.find(numbered, is_taken) != nullptr);
  if (mark) reserve(numbered);
  return full;
}

LEAT_FUNCTION void name_table::reserve(std::uint64_t key) {
  if (int* const noted = used_.find(key, [](int times) { return times == 0; })) *noted = 1;
  else used_.insert(key, 1);
}

namespace detail {
// `; character 1, ' ', does not`: the first character that a name may not have.
inline std::string not_in_name(std::string_view name, bool begins) {
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (is_name_character(c) && !(begins && i == 0 && !is_letter_or_digit(c) && c != '.')) continue;
    const bool prints = c >= 0x20 && c < 0x7f;
    return "; character " + std::to_string(i + 1) + (prints ? std::string(", '") + c + "'," : ",") + " does not";
  }
  return {};
}
}  // namespace detail

LEAT_FUNCTION std::string name_table::open_scope(std::string_view name) {
  if (name.empty()) return {};
  if (scope_.empty() && !is_valid_node_name(name))
    throw invalid_argument("'" + std::string(name) +
                           "' is not a valid root scope name. A root scope name has to match the following pattern: " +
                           std::string(detail::name_pattern) + detail::not_in_name(name, true));
  if (!is_valid_scope_name(name))
    throw invalid_argument("'" + std::string(name) + "' is not a valid scope name. A scope name has to match the following pattern: " +
                           std::string(detail::scope_pattern) + detail::not_in_name(name, false));
  if (name.back() == '/') return std::string(without_slash(name));
  return unique_name(name);
}

LEAT_FUNCTION std::string name_table::node_name(std::string_view name) {
  std::string full = !name.empty() && name.back() == '/' ? std::string(without_slash(name)) : unique_name(name);
  if (!is_valid_node_name(full))
    throw invalid_argument("`" + full + "` is not a valid node name. Accepted names conform to Regex /" +
                           std::string(detail::name_pattern) + "/" + detail::not_in_name(full, true));
  return full;
}

LEAT_FUNCTION void name_table::take(std::string_view full) {
  const std::uint64_t key = name_index::hash(full, true);
  if (used_.find(key, is_taken) == nullptr) reserve(key);
}

}  // namespace leat
