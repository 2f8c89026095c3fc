#pragma once
// The two seeds of a node that draws random numbers. They depend on the seed of its graph and on the one that its function is given.
// Source: TensorFlow `set_random_seed`, `get_seed`.

#include <cstdint>
#include <optional>
#include <utility>

namespace leat {

/// The seeds of a graph's nodes.
class node_seeds {
 public:
  /// Sets the graph's seed.
  void set(std::uint64_t seed) { of_graph_ = within(seed); }
  /// The attributes `seed` and `seed2` of a new node. `of_node` is the seed that its function was given, 0 for none. Both are 0, which
  /// means different numbers in each session, if neither the graph nor the node has a seed. Without a seed of its own, a node of a graph
  /// that has one gets the next number as its second seed.
  std::pair<std::int64_t, std::int64_t> next(std::uint64_t of_node) {
    if (of_node == 0 && !of_graph_) return {0, 0};
    const std::int64_t first = of_graph_.value_or(usual), second = of_node != 0 ? within(of_node) : made_++;
    return {first, first == 0 && second == 0 ? most : second};
  }

 private:
  static constexpr std::int64_t most = 2147483647, usual = 87654321;
  static std::int64_t within(std::uint64_t seed) { return static_cast<std::int64_t>(seed % static_cast<std::uint64_t>(most)); }

  std::optional<std::int64_t> of_graph_;
  std::int64_t made_ = 0;
};

}  // namespace leat
