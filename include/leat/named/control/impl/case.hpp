#pragma once
// Implementation of case.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/case.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/shape.hpp>

namespace leat::detail {

LEAT_FUNCTION graph_operation at_most_true(const std::vector<output>& predicates, std::int32_t most, const std::string& message) {
  const output all = stack(predicates, 0, "preds_c");
  const output count = reduce_sum(cast(all, dtype::int32), all_axes, keep_dims::no, "num_true_conds");
  const output few = less_equal(count, constant(most, "n_true_conds"));
  std::string names;
  for (const output& p : predicates) names += (names.empty() ? "" : ", ") + p.name();
  const std::string text = message + ": more than " + std::to_string(most) + " conditions (" + names + ") evaluated as True:";
  return check(few, {text, all}, {.summarize = static_cast<std::int64_t>(predicates.size())});
}

LEAT_FUNCTION std::vector<output> build_case(const std::vector<case_branch>& branches, std::size_t at, const branch_function& otherwise) {
  return build_cond(
      branches[at].predicate, branches[at].make,
      [&] {
        if (at + 1 == branches.size()) return otherwise();
        return as_branch_result(build_case(branches, at + 1, otherwise));
      },
      "cond");
}

LEAT_FUNCTION graph& graph_of_cases(const std::vector<case_branch>& branches) {
  if (branches.empty()) throw invalid_argument("case_of: at least one pair of a predicate and a function");
  for (const case_branch& b : branches) {
    if (!static_cast<bool>(b.predicate)) throw invalid_argument("case_of: a predicate that is no node of a graph");
    if (b.predicate.type() != dtype::boolean) throw invalid_argument("pred must be of type bool: " + describe(b.predicate));
  }
  return branches.front().predicate.owner();
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::vector<output> case_of(const std::vector<case_branch>& branches, const case_options& options,
                                          const std::source_location& where) {
  graph& g = detail::graph_of_cases(branches);
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, options.name);
  // Without a default the last branch takes its place, with a check that its predicate holds.
  const case_branch last = branches.back();
  const std::vector<case_branch> others(branches.begin(), branches.end() - 1);
  const auto all = detail::predicates_of(branches);
  const detail::branch_function otherwise = [&] {
    std::vector<control_input> checks;
    if (!others.empty())
      checks.emplace_back(detail::at_most_true(detail::predicates_of(others), 0,
                                               "Implementation error: selected default action #" + std::to_string(others.size()) +
                                                   " was called, but some of other predicates are True: "));
    checks.emplace_back(check(last.predicate, {"Input error: None of conditions evaluate as True:", stack(all, 0, "preds_c")}));
    const control_dependencies first(checks);
    return last.make();
  };
  std::vector<control_input> checks;
  if (options.exclusive && !others.empty())
    checks.emplace_back(detail::at_most_true(detail::predicates_of(others), 1, "Input error: exclusive=True"));
  const control_dependencies first(checks);
  if (others.empty()) {
    const detail::branch_result given = otherwise();
    std::vector<output> list;
    for (const auto& item : given.items) {
      if (const auto* operation = std::get_if<graph_operation>(&item))
        throw invalid_argument("case_of: the operation '" + operation->name() + "' where a tensor is wanted");
      list.push_back(detail::as_tensor(g, std::get<operand_value>(item)));
    }
    return list;
  }
  return detail::build_case(others, 0, otherwise);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION std::vector<output> predicates_of(const std::vector<case_branch>& branches) {
  std::vector<output> list;
  for (const case_branch& b : branches) list.push_back(b.predicate);
  return list;
}

}  // namespace leat::detail
