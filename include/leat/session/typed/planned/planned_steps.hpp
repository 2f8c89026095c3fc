#pragma once
// Training steps of planned sessions: expands deferred steps. Including this header registers the expansion.

#include <leat/core/fill.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/list.hpp>
#include <leat/passes/deferred.hpp>
#include <leat/train/optimizer.hpp>
#if LEAT_WITH_BODIES
#include <leat/session/typed/planned/impl/session_plan.hpp>
#endif

namespace leat::detail {

template <class Rule>
int expand_step_by(graph& g, const deferred_row& row) {
  const auto count = static_cast<std::size_t>(row.attributes[1]);
  std::size_t next = count == 0 ? 1 : 2 * count;
  const int counter = row.attributes[2] != 0 ? row.inputs[next++] : -1;
  list<train::setting_source> settings;
  for (std::size_t k = 3; k < row.attributes.size(); k += 2) {
    const auto id = static_cast<std::uint64_t>(row.attributes[k + 1]);
    settings.push_back({id, row.attributes[k] != 0 ? -1 : row.inputs[next++]});
  }
  if (count == 0) return minimize_by_rule<Rule>(g, settings, row.inputs[0], counter);
  const list<int> gradients(row.inputs.data(), count), variables(row.inputs.data() + count, count);
  return apply_rule<Rule>(g, settings, variables, gradients, counter);
}
inline int expand_step(graph& g, const deferred_row& row) {
  int made = -1;
  const auto expand = [&]<class... Rules>(std::type_identity<std::tuple<Rules...>>) {
    return ((row.attributes[0] == static_cast<std::int64_t>(hash_text(Rules::name)) && (made = expand_step_by<Rules>(g, row), true)) ||
            ...);
  };
  if (!expand(std::type_identity<train::all_rules<std::tuple>>{}))
    throw invalid_argument("the rule of an optimizer that planned sessions do not know");
  return made;
}
LEAT_FILL(fill_step_expander) { enter_deferred_expander<deferred_step_op>(expand_step); }

}  // namespace leat::detail
