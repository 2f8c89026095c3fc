#pragma once
// Which operators the library knows: the tool asks this function, so that it can be built with another answer.

#include <string>
#include <vector>

namespace tool {

/// TensorFlow's types of the operators that leat runs, sorted.
std::vector<std::string> known_operators();

}  // namespace tool
