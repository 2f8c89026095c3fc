#pragma once
// A choice among several branches, made of nested calls of `cond`. Source: TensorFlow `case`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>

namespace leat {

/// A predicate and the function of its branch.
class case_branch {
 public:
  template <class F>
    requires std::is_invocable_v<F&>
  case_branch(const output& condition, F function)
      : predicate(condition), make([function]() mutable { return detail::call_branch(function); }) {}
  output predicate;
  detail::branch_function make;
};
/// Options of `case_of`.
struct case_options {
  bool exclusive = false;  // at most one predicate may hold: checked at run time
  std::string_view name = "case";
};

namespace detail {

// An operation that fails at run time if more than `most` of these predicates hold.
graph_operation at_most_true(const std::vector<output>& predicates, std::int32_t most, const std::string& message);

std::vector<output> build_case(const std::vector<case_branch>& branches, std::size_t at, const branch_function& otherwise);
graph& graph_of_cases(const std::vector<case_branch>& branches);
std::vector<output> predicates_of(const std::vector<case_branch>& branches);

}  // namespace detail

/// The results of the function of the first predicate that holds, or of the default function: `case_of({{k == 0, f}, {k < 3, g}}, h)`. The
/// result has the type of the default function's result. Errors: as for `cond`, and invalid_argument for an empty list.
/// Source: TensorFlow `case`.
template <class Default>
  requires std::is_invocable_v<Default&>
auto case_of(const std::vector<case_branch>& branches, Default otherwise, const case_options& options = {},
             const std::source_location& where = std::source_location::current()) {
  using result = std::remove_cvref_t<std::invoke_result_t<Default&>>;
  graph& g = detail::graph_of_cases(branches);
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, options.name);
  std::vector<control_input> checks;
  if (options.exclusive) checks.emplace_back(detail::at_most_true(detail::predicates_of(branches), 1, "Input error: exclusive=True"));
  const control_dependencies first(checks);
  return detail::in_form_of<result>(detail::build_case(branches, 0, [&] { return detail::call_branch(otherwise); }));
}
/// `case_of` without a default: one of the predicates must hold, which is checked at run time. Returns the tensors of its branch.
std::vector<output> case_of(const std::vector<case_branch>& branches, const case_options& options = {},
                            const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/control/impl/case.hpp>
#endif
