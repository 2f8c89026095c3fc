#pragma once
// What a file holds, as text for people.

#include "graph_file.hpp"

#include <string>

namespace tool {

struct show_options {
  bool nodes = false;   // every node with its inputs
  bool shapes = false;  // and what its attributes say of its results' shapes
};

/// A summary: how many nodes of which operators, placeholders, variables, signatures, collections. Text from the file is made
/// printable.
std::string show(const graph_file& file, const show_options& options);

/// Text without control characters, which a terminal would obey.
std::string printable(std::string_view text);
/// The same of a message of several lines; all but the first are indented, so that none passes for another message.
std::string printable_lines(std::string_view text);

}  // namespace tool
