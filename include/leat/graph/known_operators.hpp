#pragma once
// Operators by TensorFlow's name of their type: what an import finds a file's operators in. `ops/known.hpp` enters those of
// the library; a program enters its own.

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

/// Makes an operator known to imports: `register_operator<softsign_op>()`. Safe from any thread; the first of a type stays.
template <class Op>
void register_operator() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(Op::type, &info_of<Op>);
}

/// The operator with this type, or null.
inline const op_info* find_operator(std::string_view type) {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(type);
  return at == table.by_type.end() ? nullptr : at->second;
}

/// The types of all known operators, sorted by nothing in particular.
inline std::vector<std::string_view> known_operator_types() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  std::vector<std::string_view> types;
  for (const auto& [type, info] : table.by_type) types.push_back(type);
  return types;
}

}  // namespace leat
