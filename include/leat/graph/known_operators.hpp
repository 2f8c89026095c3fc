#pragma once
// Operators by TensorFlow's type name, for the import of files. `ops/known.hpp` registers the library's operators; programs register their
// own.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/text.hpp>
#include <leat/graph/older_spellings.hpp>
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
LEAT_DECLARE_FILL(fill_library_operators);
inline table_fills& fills_of_operators() {
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_library_operators)});
  return fills;
}
inline operator_table& operators() {
  static auto& table = *new operator_table;
  fills_of_operators();
  return table;
}
}  // namespace detail

/// Makes an operator known to imports: `register_operator<root_sigmoid_op>()`. Thread-safe; of several operators with one type the first
/// stays.
template <class Op>
void register_operator() {
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(Op::type, &info_of<Op>);
}

/// Makes an operator of a program known to imports by an older spelling, too: `register_alias<root_sigmoid_op, "OldSigmoid">()`. Nodes keep
/// the spelling with which they were imported. TensorFlow's older spellings are a table of their own (older_spellings.hpp).
template <class Op, fixed_string Older>
void register_alias() {
  static constexpr op_info info = [] {
    op_info made = info_of<Op>;
    made.type = made.call_name = Older.view();
    return made;
  }();
  auto& table = detail::operators();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(info.type, &info);
}

namespace detail {
// Enters TensorFlow's older spellings of the operators that are in the table.
inline void register_older_spellings() {
  auto& table = operators();
  const std::lock_guard lock(table.guard);
  for (const older_spelling& s : older_spellings) {
    const auto current = table.by_type.find(s.current);
    if (current == table.by_type.end()) continue;
    auto& copy = *new op_info(*current->second);  // as long as the table
    copy.type = copy.call_name = s.older;
    table.by_type.try_emplace(copy.type, &copy);
  }
}
// Operators that occur only in typed expressions, never in files, by code.
inline std::unordered_map<int, const op_info*>& operators_of_expressions() {
  static auto& table = *new std::unordered_map<int, const op_info*>;
  fills_of_operators();
  return table;
}
// Not thread-safe: called only before main, or while the table is filled, which happens under a lock.
template <class Op>
void register_expression_operator() {
  operators_of_expressions().try_emplace(operator_record<Op>::code, &info_of<Op>);
}
}  // namespace detail

/// The operator of this type, or null. Thread-safe.
const op_info* find_operator(std::string_view type);

/// The types of all known operators, in no particular order.
std::vector<std::string_view> known_operator_types();

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/graph/impl/known_operators.hpp>
#endif
