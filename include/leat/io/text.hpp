#pragma once
// Graphs, nodes and operations in protobuf's text form, as TensorFlow prints them: a field in a line, two spaces a level. For people to
// read; files are binary or JSON. Source: protobuf's TextFormat, as Python prints messages.

#include <leat/core/function_bodies.hpp>
#include <leat/named/graph/graph_operation.hpp>
#include <leat/proto/node_def.hpp>

#include <iosfwd>
#include <string>

namespace leat {

namespace io {

/// A node or a graph as text, ending with a newline. Attributes are sorted by name; a number has the fewest digits that tell it apart;
/// bytes beyond printable ASCII are octal (`\001`). A graph's function library is left out.
/// Errors: invalid_argument naming node and field for messages that are nested too deeply, or half a value at the end of a tensor.
std::string write_text(const node_def& node);
std::string write_text(const graph_def& graph);

}  // namespace io

/// An operation as TensorFlow prints it, ending with a newline: name, op, inputs, device and attributes in protobuf's text form.
/// Errors: failed_precondition for a handle that refers to no node. Source: TensorFlow `Operation.__str__`.
std::string describe(const graph_operation& operation);

/// `std::cout << operation`, `std::cout << tensor`: what `describe` gives.
std::ostream& operator<<(std::ostream& out, const graph_operation& operation);
std::ostream& operator<<(std::ostream& out, const output& tensor);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/io/text_bodies.hpp>
#endif
