#pragma once
// What is wrong with a file, and what of it runs cannot take: runs are asked, node by node.

#include "graph_file.hpp"

#include <map>
#include <string>
#include <vector>

namespace tool {

struct check_report {
  /// What is wrong, a line each: nodes, inputs, values, devices, signatures.
  std::vector<std::string> problems{};
  /// What the library cannot run or load, a line each; anything else of the file can be.
  std::vector<std::string> lacking{};
  /// Every node that runs cannot take, with the reason.
  std::map<std::string, std::string, std::less<>> refused{};
  /// Operators of TensorFlow's saver that leat does not know, and how often they are there: leat's saver stands for them.
  std::map<std::string, int, std::less<>> saver_operators{};
};

/// "MatMul (2), Mul (1)".
std::string counted(const std::map<std::string, int, std::less<>>& operators);

/// Looks at a file that `load` has read. On any device: devices of other machines are let pass.
check_report check(const graph_file& file, const std::filesystem::path& path, const std::vector<std::string>& tags, bool on_any_device);

}  // namespace tool
