#pragma once
// The library of a graph's functions, in the binary form in which files hold it and a graph keeps it: which functions nodes need, and a
// graph that calls one function. Source: TensorFlow function.proto.

#include <leat/core/function_bodies.hpp>
#include <leat/proto/node_def.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace leat::io {

/// The functions of a library that these nodes name, as their operators or in their attributes, and those that these functions need.
/// Errors: data_loss for a damaged library.
std::string needed_functions(std::string_view library, std::span<const node_def> nodes);

/// Both libraries as one. Errors: data_loss for a damaged one; invalid_argument if they have different functions of one name.
std::string merged_libraries(std::string_view kept, std::string_view more);

/// A graph of one call of a function.
struct function_call {
  graph_def graph;                     // with the library
  std::vector<std::string> arguments;  // names of the placeholders that are the function's arguments
  std::vector<std::string> results;    // names of the tensors that are its results
};

/// How many functions may need each other, one within the other.
inline constexpr int most_nested_functions = 16;

/// The graph that calls a function, to be imported. Errors: not_found if the library does not have the function; invalid_argument if the
/// function needs itself, or its attributes do not give the types of its arguments; resource_exhausted if functions are nested deeper than
/// `most_nested_functions`; data_loss for a damaged library.
function_call call_of_function(std::string_view library, const function_value& f);

}  // namespace leat::io

#if LEAT_WITH_BODIES
#include <leat/io/impl/library.hpp>
#endif
