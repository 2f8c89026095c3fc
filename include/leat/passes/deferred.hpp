#pragma once
// Rows of a graph that stand for many: gradients, and training steps, in tables that defer them (`graph::defers`). They are replaced
// by what they stand for when a session plans its programs; who defines such a row enters how.

#include <leat/core/early.hpp>
#include <leat/graph/graph.hpp>

#include <map>
#include <span>

namespace leat::detail {

/// A deferred row whose operands have been entered into a graph.
struct deferred_row {
  std::span<const int> inputs;
  std::span<const std::int64_t> attributes;
};
/// Enters what a row stands for; gives the node of its result.
using deferred_expander = int (*)(graph& g, const deferred_row& row);

inline std::map<int, deferred_expander>& deferred_expanders() {
  static std::map<int, deferred_expander> by_code;
  return by_code;
}

}  // namespace leat::detail
