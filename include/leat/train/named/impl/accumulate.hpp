#pragma once
// Implementation of named_accumulate.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/gradients/gradient.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/named/accumulate.hpp>

namespace leat {

LEAT_FUNCTION accumulated_steps accumulate_gradients(const named_optimizer& optimizer, const std::vector<variable_gradient>& pairs,
                                                     const apply_options& options, std::string_view name,
                                                     const std::source_location& where) {
  graph* owner = nullptr;
  for (const auto& p : pairs)
    if (static_cast<bool>(p.gradient) && static_cast<bool>(p.variable)) {
      if (!p.variable.extent().is_static())
        throw invalid_argument("accumulate_gradients: the shape of " + describe(p.variable) + " is not known");
      owner = &p.variable.owner();
    }
  if (owner == nullptr) throw invalid_argument("accumulate_gradients: no gradients");
  graph& g = *owner;
  const default_graph_scope here(g);
  const source_scope line(g, where);
  accumulated_steps made;
  std::vector<variable_gradient> means;
  {
    const variable_scope scope(nullptr, {.default_name = std::string(name)});
    const auto zero_variable = [](std::string_view its_name, const shape& extent, dtype type) {
      return detail::find_or_make_variable(its_name, extent, {.type = type, .initializer = zeros, .trainable = false});
    };
    made.count = zero_variable("count", shape{}, dtype::float32);
    const output batches = maximum(value_of(made.count), 1.0f);
    std::vector<control_input> adds{assign_add(made.count, 1.0f)};
    for (const auto& p : pairs) {
      if (!static_cast<bool>(p.gradient)) {
        means.push_back({{}, p.variable});
        continue;
      }
      const colocate_with there(p.variable);
      const output sum = zero_variable(p.variable.operation().name(), p.variable.extent(), p.variable.type());
      adds.emplace_back(assign_add(sum, p.gradient.is_sparse() ? detail::densified(p.gradient) : p.gradient.values));
      means.push_back({gradient_value(value_of(sum) / cast(batches, sum.type())), p.variable});
      made.sums.push_back(sum);
    }
    made.add = group(adds, "add");
  }
  const graph_operation step = optimizer.apply_gradients(means, options, where);
  const control_dependencies wait({step});
  std::vector<control_input> resets{step, assign(made.count, 0.0f)};
  for (const output& sum : made.sums) resets.emplace_back(assign(sum, g.named().make_constant(g, {sum.type(), sum.extent(), 0}, "zeros")));
  made.apply = group(resets, std::string(name) + "/apply");
  return made;
}

}  // namespace leat
