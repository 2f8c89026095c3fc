#pragma once
// Operators by TensorFlow's type name, for the import of files. `ops/known.hpp` registers the library's; programs register their
// own.

#include <leat/graph/operator.hpp>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace leat {

namespace detail {
struct operator_table {
  std::mutex guard;
  std::unordered_map<std::string_view, const op_info*> by_type;
};
inline operator_table& operators() {
  static operator_table table;
  return table;
}
}  // namespace detail

/// Makes an operator known to imports: `register_operator<softsign_op>()`. Thread-safe; the first one of a type stays.
template <class Op>
void register_operator() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(Op::type, &info_of<Op>);
}

/// The operator of this type, or null.
inline const op_info* find_operator(std::string_view type) {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(type);
  return at == table.by_type.end() ? nullptr : at->second;
}

/// The types of all known operators, in no particular order.
inline std::vector<std::string_view> known_operator_types() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  std::vector<std::string_view> types;
  for (const auto& [type, info] : table.by_type) types.push_back(type);
  return types;
}

}  // namespace leat
