#pragma once
// Groups of operators that several layers distinguish by TensorFlow's names alone: control flow, each also for references to variables,
// the operators that make a variable, and summaries.

#include <string_view>

namespace leat::detail {

constexpr bool is_enter(std::string_view type) { return type == "Enter" || type == "RefEnter"; }
constexpr bool is_exit(std::string_view type) { return type == "Exit" || type == "RefExit"; }
constexpr bool is_merge(std::string_view type) { return type == "Merge" || type == "RefMerge"; }
constexpr bool is_next_iteration(std::string_view type) { return type == "NextIteration" || type == "RefNextIteration"; }
constexpr bool is_switch(std::string_view type) { return type == "Switch" || type == "RefSwitch"; }

// The stacks of loops, also in the form of TensorFlow before 1.4, whose handles are references.
constexpr bool is_stack(std::string_view type) { return type == "StackV2" || type == "Stack"; }
constexpr bool is_stack_push(std::string_view type) { return type == "StackPushV2" || type == "StackPush"; }
constexpr bool is_stack_pop(std::string_view type) { return type == "StackPopV2" || type == "StackPop"; }

/// Whether it asks for the shape, rank or size of its one input.
constexpr bool is_shape_query(std::string_view type) { return type == "Shape" || type == "Rank" || type == "Size"; }

/// Whether the node represents a variable that a session keeps and its result is a reference to it. `Variable` is the operator of
/// TensorFlow up to 1.0.
inline constexpr std::string_view kept_variables[]{"Variable", "VariableV2"};
constexpr bool is_kept_variable(std::string_view type) {
  for (const std::string_view known : kept_variables)
    if (type == known) return true;
  return false;
}
/// The same, or a variable that only a run has.
constexpr bool makes_variable(std::string_view type) { return is_kept_variable(type) || type == "TemporaryVariable"; }

/// Whether its result is a text about its inputs, for an event file.
constexpr bool is_summary(std::string_view type) { return type.ends_with("Summary") || type.ends_with("SummaryV2"); }

}  // namespace leat::detail
