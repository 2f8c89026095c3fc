#pragma once
// Rewrites of operators that exist only in graphs at run time to operators that the passes know: found by type, for fused programs
// and for single nodes. gradients.hpp enters those of the operators of gradients.

#include <leat/core/fill.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/graph/operator.hpp>
#include <leat/named/graph/operator_entry.hpp>

#include <functional>
#include <memory>
#include <vector>

namespace leat {

/// An update of a variable: its index among the node's references, and its new value or the value that is subtracted from it.
struct canonical_update {
  int variable = 0;
  output value;
  bool subtract = false;
};

/// The rewrite of an operator. `operands` are the inputs used as tensors; the other inputs hold numeric attributes, which `make` reads from
/// the node. `make` returns a node of the plain table, or none if attributes or sizes are unknown. An optimizer's step has `updates`
/// instead: its operands begin with the old values of its variables, and its first update belongs to the first variable.
struct canonical_rewrite {
  std::vector<int> operands;
  std::function<output(graph& table, std::span<const output> operands, const graph_operation& node)> make{};
  bool writes = false;  // writes a variable: the returned row stands for all that it writes
  std::function<std::vector<canonical_update>(std::span<const output> operands, const graph_operation& node)> updates{};
};

namespace detail {
LEAT_DECLARE_FILL(fill_canonical_rewrites);
// The table of operators with the rewrites.
inline operator_entry_table& canonical_rewrites() {
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_canonical_rewrites)});
  return operator_entries();
}
/// The rewrite of a type, or null.
inline const canonical_rewrite* find_rewrite(std::string_view type) {
  return find_by_spelling(canonical_rewrites(), type, &operator_entry::rewrite).get();  // as long as the table, as the first one stays
}
/// Whether a type is a function of its inputs that is rewritten to other operators.
inline bool is_rewritten(std::string_view type) {
  const canonical_rewrite* rewrite = find_rewrite(type);
  return rewrite != nullptr && !rewrite->writes;
}
}  // namespace detail

/// Registers how an operator without a class is compiled. Thread-safe; the first registration of a type stays.
inline void register_canonical(std::string_view type, canonical_rewrite rewrite) {
  detail::canonical_rewrites().enter(type, &detail::operator_entry::rewrite, std::make_shared<const canonical_rewrite>(std::move(rewrite)));
}

}  // namespace leat
