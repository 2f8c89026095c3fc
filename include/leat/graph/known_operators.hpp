#pragma once
// Operators by TensorFlow's type name, for the import of files. `ops/known.hpp` registers the library's operators; programs register their
// own.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/operator_table.hpp>
#include <leat/core/text.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/graph/operator.hpp>

#include <vector>

namespace leat {

namespace detail {
struct deferred_row;

// What is known of an operator without graphs that have names.
struct known_operator {
  const op_info* of_files = nullptr;                     // known to imports
  const op_info* of_expressions = nullptr;               // occurs only in typed expressions, never in files
  int (*expand)(graph&, const deferred_row&) = nullptr;  // of rows that stand for others (passes/deferred.hpp)
};
using known_operator_table = operator_table<known_operator, std::string_view>;
inline known_operator_table& known_operators() {
  static auto& table = *new known_operator_table;
  return table;
}
LEAT_DECLARE_FILL(fill_library_operators);
// The table with the library's operators.
inline known_operator_table& operators() {
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_library_operators)});
  return known_operators();
}
}  // namespace detail

/// Makes an operator known to imports: `register_operator<root_sigmoid_op>()`. Thread-safe; of several operators with one type the first
/// stays.
template <class Op>
void register_operator() {
  detail::operators().enter(Op::type, &detail::known_operator::of_files, &info_of<Op>);
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
  detail::operators().enter(info.type, &detail::known_operator::of_files, &info);
}

namespace detail {
// Enters TensorFlow's older spellings of the operators that are in the table.
inline void register_older_spellings() {
  for (const older_spelling& s : older_spellings) {
    const op_info* const current = operators().find(s.current, &known_operator::of_files);
    if (current == nullptr) continue;
    auto& copy = *new op_info(*current);  // as long as the table
    copy.type = copy.call_name = s.older;
    operators().enter(copy.type, &known_operator::of_files, &copy);
  }
}
// Registers an operator that occurs only in typed expressions.
template <class Op>
void register_expression_operator() {
  operators().enter(Op::type, &known_operator::of_expressions, &info_of<Op>);
}
/// The types of all operators that occur only in typed expressions, in no particular order.
inline std::vector<std::string_view> types_of_expressions() { return operators().keys(&known_operator::of_expressions); }
}  // namespace detail

/// The operator of this type, or null. Thread-safe.
const op_info* find_operator(std::string_view type);

/// The types of all known operators, in no particular order.
std::vector<std::string_view> known_operator_types();

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/graph/impl/known_operators.hpp>
#endif
