#include "known.hpp"

#include <leat/ops/known.hpp>

#include <algorithm>

namespace tool {

std::vector<std::string> known_operators() {
  std::vector<std::string> types;
  for (auto type : leat::known_operator_types()) types.emplace_back(type);
  std::sort(types.begin(), types.end());
  return types;
}

}  // namespace tool
