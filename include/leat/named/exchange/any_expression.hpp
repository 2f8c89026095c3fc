#pragma once
// Type-erased typed expressions, for their export to a graph with names.

#include <leat/expr/tensor.hpp>

#include <functional>
#include <unordered_map>
#include <vector>

namespace leat {
struct variable_gradient;
}

namespace leat::detail {

/// A function that changes the gradients of a training step before the step is written.
using gradient_change = std::function<void(std::vector<variable_gradient>&)>;

/// The values that expressions carry, by id.
using carried_table = std::unordered_map<std::uint64_t, carried_value>;

template <class E>
void collect_carried(carried_table& all, const E& e) {
  using source = structure_with<typename E::identity>;
  if constexpr (source::carried_count > 0)
    for (int i = 0; i < source::carried_ids.size; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto [known, is_new] = all.emplace(source::carried_ids.id[at], e.carried[at]);
      if (!is_new && !(known->second == e.carried[at])) two_values_of(is_array(e.carried[at]));
    }
}

/// A type-erased typed expression, for its export.
struct any_expression {
  int (*flatten)(graph&) = nullptr;
  bool is_tensor = false;
  carried_table carried{};
};
/// The type-erased expression without the values that it carries.
template <expression E>
any_expression kind_of_expression() {
  return {[](graph& g) { return leat::flatten<E>(g); }, is_tensor<E>, {}};
}
template <expression E>
any_expression as_any_expression(const E& e) {
  any_expression any = kind_of_expression<E>();
  collect_carried(any.carried, e);
  return any;
}

}  // namespace leat::detail
