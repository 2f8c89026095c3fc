#pragma once
// Rewrites of operators that only graphs at run time have to those that the passes know: a table by type, for fused programs and for
// nodes by themselves. canonical_gradients.hpp fills it for the operators of gradients.

#include <leat/core/fill.hpp>
#include <leat/graph/operator.hpp>

#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace leat {

/// An update of one of a node's variables, by its number among the references: its new value, or what is subtracted from it.
struct canonical_update {
  int variable = 0;
  output value;
  bool subtract = false;
};

/// The same in other operators. `operands` are the inputs used as tensors; the others hold numeric attributes, which `make` reads
/// from the node. `make` returns a node of the plain table, or none if attributes or sizes are unknown. An optimizer's step has
/// `updates` instead: its operands begin with the old values of its variables; the first update is that of the first.
struct canonical_rewrite {
  std::vector<int> operands;
  std::function<output(graph& table, std::span<const output> operands, const graph_operation& node)> make{};
  bool writes = false;  // a variable: the returned row stands for all that it writes
  std::function<std::vector<canonical_update>(std::span<const output> operands, const graph_operation& node)> updates{};
};

namespace detail {
struct canonical_rewrite_table {
  std::mutex guard;
  std::map<std::string, canonical_rewrite, std::less<>> by_type;
};
LEAT_DECLARE_FILL(fill_canonical_rewrites);
inline canonical_rewrite_table& canonical_rewrites() {
  static auto& table = *new canonical_rewrite_table;
  static constinit table_fills fills;
  fills.run({LEAT_FILLS(fill_canonical_rewrites)});
  return table;
}
/// The rewrite of a type, or null.
inline const canonical_rewrite* find_rewrite(std::string_view type) {
  auto& table = canonical_rewrites();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(type);
  return at == table.by_type.end() ? nullptr : &at->second;
}
/// Whether it is a function of its inputs that is rewritten to operators with a definition.
inline bool is_rewritten(std::string_view type) {
  const canonical_rewrite* rewrite = find_rewrite(type);
  return rewrite != nullptr && !rewrite->writes;
}
/// The rewrite of a further result of a type, or null.
inline const canonical_rewrite* find_rewrite(std::string_view type, int port) {
  return find_rewrite(std::string(type) + ":" + std::to_string(port));
}
}  // namespace detail

/// Registers how an operator without a class is compiled, or, as "Type:1", a further result of one. Thread-safe; the first registration
/// of a type stays.
inline void register_canonical(std::string_view type, canonical_rewrite rewrite) {
  auto& table = detail::canonical_rewrites();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(std::string(type), std::move(rewrite));
}

}  // namespace leat
