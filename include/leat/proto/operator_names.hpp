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

/// Whether it asks for the shape, rank or size of its one input.
constexpr bool is_shape_query(std::string_view type) { return type == "Shape" || type == "Rank" || type == "Size"; }

/// Whether its result is a reference to a variable that the node itself represents.
constexpr bool makes_variable(std::string_view type) { return type == "VariableV2" || type == "Variable" || type == "TemporaryVariable"; }

/// Whether its result is a text about its inputs, for an event file.
constexpr bool is_summary(std::string_view type) { return type.ends_with("Summary") || type.ends_with("SummaryV2"); }

}  // namespace leat::detail
