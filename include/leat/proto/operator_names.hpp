#pragma once
// Groups of operators by TensorFlow's names alone, for files with operators that the library may not know: the operators of loops, which
// close a back edge, and those that create a variable. For the nodes of a graph, the operator's facts state the same (graph/facts.hpp).

#include <string_view>

namespace leat::detail {

constexpr bool is_merge(std::string_view type) { return type == "Merge" || type == "RefMerge"; }
constexpr bool is_next_iteration(std::string_view type) { return type == "NextIteration" || type == "RefNextIteration"; }

/// Whether the node represents a variable that a session keeps and its result is a reference to it. `Variable` is the operator of
/// TensorFlow up to 1.0.
inline constexpr std::string_view kept_variables[]{"Variable", "VariableV2"};
constexpr bool is_kept_variable(std::string_view type) {
  for (const std::string_view known : kept_variables)
    if (type == known) return true;
  return false;
}

}  // namespace leat::detail
