#pragma once
// Operations as TensorFlow prints them, in protobuf's text format.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>

#include <iosfwd>
#include <string>

namespace leat {

/// An operation as TensorFlow prints it, ending with a newline: name, op, inputs, device and attributes in protobuf's text format.
/// Errors: failed_precondition for a handle that refers to no node. Source: TensorFlow `Operation.__str__`.
std::string describe(const graph_operation& operation);

/// Prints the result of `describe`: `std::cout << operation`, `std::cout << tensor`.
std::ostream& operator<<(std::ostream& out, const graph_operation& operation);
std::ostream& operator<<(std::ostream& out, const output& tensor);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/io/impl/describe.hpp>
#endif
