#pragma once
// Implementation of names.hpp.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/names.hpp>

namespace leat {

LEAT_FUNCTION void name_index::grow() {
  slots_.assign(slots_.empty() ? 64 : 2 * slots_.size(), unused);
  mask_ = slots_.size() - 1;
  limit_ = slots_.size() / 2;
  for (std::size_t k = 0; k < entries_.size(); ++k) {
    std::size_t at = place(entries_[k].hash);
    while (slots_[at] != unused) at = (at + 1) & mask_;
    slots_[at] = static_cast<std::uint32_t>(k + 1);
  }
}

LEAT_FUNCTION void name_index::insert_entry(const entry& e) {
  if (entries_.size() >= limit_) grow();
  std::size_t at = place(e.hash);
  while (slots_[at] != unused) at = (at + 1) & mask_;
  put(at, e);
}

LEAT_FUNCTION void name_index::set_node_of_any(std::uint64_t h, int node) {
  if (entry* const found = find_entry(h, [](const entry& e) { return e.node == no_node; })) found->node = node;
  else insert_entry({h, 0, node});
}

LEAT_FUNCTION std::uint64_t name_table::put_unique(std::string& full, std::string_view name, bool mark) {
  if (scope_.empty()) {
    full.assign(name);
  } else {
    full.assign(scope_);
    full += '/';
    full += name;
  }
  const std::uint64_t key = hash(full);
  int* const times = mark ? reserve(key) : used_.find(key, is_taken);
  if (times == nullptr) return key;
  int number = *times;
  if (mark) *times = number + 1;
  const std::size_t length = full.size();
  std::uint64_t numbered = 0;
  do {
    full.resize(length);
    full += '_';
    full += std::to_string(number++);
    numbered = hash(full);
  } while (used_.find(numbered, is_taken) != nullptr);
  if (mark) reserve(numbered);
  return numbered;
}

LEAT_FUNCTION int* name_table::reserve_noted(std::uint64_t key) {
  if (int* const times = used_.find(key, is_taken)) return times;
  *used_.find(key, [](int times) { return times == 0; }) = 1;
  return nullptr;
}

namespace detail {
// For messages, the first character that a name may not have: `; character 1, ' ', does not`.
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

LEAT_FUNCTION std::uint64_t name_table::put_scope(std::string& full, std::string_view name) {
  full.clear();
  if (name.empty()) return hash(full);
  if (scope_.empty() && !is_valid_node_name(name))
    throw invalid_argument("'" + std::string(name) +
                           "' is not a valid root scope name. A root scope name has to match the following pattern: " +
                           std::string(detail::name_pattern) + detail::not_in_name(name, true));
  if (!scope_.empty() && !is_valid_scope_name(name))
    throw invalid_argument("'" + std::string(name) + "' is not a valid scope name. A scope name has to match the following pattern: " +
                           std::string(detail::scope_pattern) + detail::not_in_name(name, false));
  if (name.back() != '/') return put_unique(full, name);
  full += without_slash(name);
  return hash(full);
}

LEAT_FUNCTION std::uint64_t name_table::put_node_name(std::string& full, std::string_view name) {
  std::uint64_t key = 0;
  if (name.empty() || name.back() != '/') {
    key = put_unique(full, name);
  } else {
    full = without_slash(name);
    key = hash(full);
  }
  if (!is_valid_node_name(full))
    throw invalid_argument("`" + full + "` is not a valid node name. Accepted names conform to Regex /" +
                           std::string(detail::name_pattern) + "/" + detail::not_in_name(full, true));
  return key;
}

LEAT_FUNCTION void name_table::take(std::string_view full) {
  const std::uint64_t key = hash(full);
  static_cast<void>(reserve(key));
}

}  // namespace leat
