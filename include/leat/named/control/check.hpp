#pragma once
// Assertions at run time: `check(condition, data)` fails and shows these data if the condition does not hold; `check_equal`, `check_less`
// and the others compare tensors. A check is an operation: nodes that rely on it wait for it through `control_dependencies`.
// Source: TensorFlow `Assert`, `assert_equal`, ...

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/math.hpp>

namespace leat {

/// Options of checks. The error shows `summarize` elements of each tensor.
struct check_options {
  std::int64_t summarize = 3;
  std::string_view name{};
};

namespace detail {

graph_operation assert_node(const output& condition, const std::vector<output>& data, std::int64_t summarize, std::string_view name);

}  // namespace detail

/// An operation that fails at run time if the condition does not hold; the error shows the data. If all data are strings or int32, the
/// check is a single node; other data are fetched only in a branch that runs if the condition does not hold.
/// Shapes: condition []. Dtypes: bool. Errors: invalid_argument for a condition of another shape or dtype. Source: `Assert`.
graph_operation check(const output& condition, const std::vector<operand_value>& data, const check_options& options = {},
                      const std::source_location& where = std::source_location::current());

#define LEAT_CHECK_PAIR(function)                                                                             \
  graph_operation function(const operand_value& x, const operand_value& y, const check_options& options = {}, \
                           const std::source_location& where = std::source_location::current());

/// An operation that fails at run time if the comparison does not hold for all pairs of elements; the error shows both tensors, which
/// broadcast.
/// Errors: invalid_argument. Source: `assert_equal`, `assert_none_equal`, `assert_less`, `assert_less_equal`, `assert_greater`,
/// `assert_greater_equal`.
LEAT_CHECK_PAIR(check_equal)
LEAT_CHECK_PAIR(check_not_equal)
LEAT_CHECK_PAIR(check_less)
LEAT_CHECK_PAIR(check_less_equal)
LEAT_CHECK_PAIR(check_greater)
LEAT_CHECK_PAIR(check_greater_equal)
#undef LEAT_CHECK_PAIR

/// An operation that fails at run time if an element is not > 0. Errors: invalid_argument. Source: `assert_positive`.
graph_operation check_positive(const output& x, const check_options& options = {},
                               const std::source_location& where = std::source_location::current());
/// An operation that fails at run time if an element is not < 0. Errors: invalid_argument. Source: `assert_negative`.
graph_operation check_negative(const output& x, const check_options& options = {},
                               const std::source_location& where = std::source_location::current());
/// An operation that fails at run time if an element is not ≥ 0. Errors: invalid_argument. Source: `assert_non_negative`.
graph_operation check_non_negative(const output& x, const check_options& options = {},
                                   const std::source_location& where = std::source_location::current());
/// An operation that fails at run time if an element is not ≤ 0. Errors: invalid_argument. Source: `assert_non_positive`.
graph_operation check_non_positive(const output& x, const check_options& options = {},
                                   const std::source_location& where = std::source_location::current());

/// An operation that fails if a tensor does not have this rank: here if the rank is known, at run time if not.
/// Errors: invalid_argument. Source: `assert_rank`.
graph_operation check_rank(const output& x_given, std::int32_t rank, const check_options& options = {},
                           const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/control/impl/check.hpp>
#endif
