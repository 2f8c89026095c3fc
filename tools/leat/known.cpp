#include "known.hpp"

#include <leat/ops/known.hpp>
#include <leat/runtime/kernels/kernel.hpp>

#include <algorithm>

namespace tool {

std::vector<std::string> known_operators() {
  std::vector<std::string> types;
  for (auto type : leat::known_operator_types()) types.emplace_back(type);
  for (auto& type : leat::kernel_types()) types.push_back(std::move(type));
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  return types;
}

}  // namespace tool
