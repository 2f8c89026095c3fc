#pragma once
// A graph of about so many nodes, none like another: a tree of products over the sums of a placeholder "a" with 1/(k + 1), n + 1 at a = 1.

#include <leat/graphs.hpp>

#include <string>
#include <vector>

namespace bench {

/// The root, "root"; `a` is fed, a scalar.
inline leat::output product_of_sums(leat::graph& g, int nodes) {
  const auto scope = g.as_default();
  const leat::output a = leat::placeholder(leat::dtype::float32, {}, "a");
  std::vector<leat::output> level;
  for (int k = 0; k < nodes / 3; ++k) level.push_back(a + 1.0f / static_cast<float>(k + 1));
  while (level.size() > 1) {
    std::vector<leat::output> next;
    for (std::size_t k = 0; k + 1 < level.size(); k += 2) next.push_back(level[k] * level[k + 1]);
    if (level.size() % 2 != 0) next.push_back(level.back());
    level = std::move(next);
  }
  return leat::identity(level[0], "root");
}

}  // namespace bench
