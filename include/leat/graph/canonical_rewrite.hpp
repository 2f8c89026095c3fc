#pragma once
// How operators that only graphs at run time have are said in those that the passes know: a table by type, which `canonical` looks
// into. ops/canonical_gradients.hpp fills it for the operators that gradients are made of.

#include <functional>
#include <leat/graph/operator.hpp>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace leat {

/// What a step does to one of a node's variables, by its number among the references: its new value, or what is taken from it.
struct canonical_update {
  int variable = 0;
  output value;
  bool subtract = false;
};

/// The same in other operators. `operands` are the inputs that it takes; the others are numbers, which `make` finds in the node.
/// `make` gives a node of the plain table, or nothing where the numbers or sizes are not known. An optimizer's step has `updates`
/// in its place: its operands begin with its variables, as the values they have before it; the first update is that of the first.
struct canonical_rewrite {
  std::vector<int> operands;
  std::function<output(graph& table, std::span<const output> operands, const graph_operation& node)> make{};
  bool writes = false;  // a variable: the row that it gives stands for all that it writes
  std::function<std::vector<canonical_update>(std::span<const output> operands, const graph_operation& node)> updates{};
};

namespace detail {
struct canonical_rewrite_table {
  std::mutex guard;
  std::map<std::string, canonical_rewrite, std::less<>> by_type;
};
inline canonical_rewrite_table& canonical_rewrites() {
  static canonical_rewrite_table table;
  return table;
}
/// The rewrite of a type, or null.
inline const canonical_rewrite* find_rewrite(std::string_view type) {
  auto& table = canonical_rewrites();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_type.find(type);
  return at == table.by_type.end() ? nullptr : &at->second;
}
}  // namespace detail

/// Registers how an operator without a class is compiled, or, as "Type:1", a further result of one. Safe from any thread; the first
/// registration of a type stays.
inline void register_canonical(std::string_view type, canonical_rewrite rewrite) {
  auto& table = detail::canonical_rewrites();
  const std::lock_guard lock(table.guard);
  table.by_type.try_emplace(std::string(type), std::move(rewrite));
}

}  // namespace leat
