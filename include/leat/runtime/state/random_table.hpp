#pragma once
// The positions of random nodes in their sequences, shared by sessions that run subgraphs of one graph: a node that occurs in several
// subgraphs continues where the last run of any of them stopped, as in a session that runs the whole graph.

#include <leat/runtime/state/run_arguments.hpp>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace leat {

/// Positions by node name. Thread-safe.
class random_table {
 public:
  /// Reserves `count` numbers, a multiple of 4, of a node's sequence. Returns the seed, and the position of the first number. Calls
  /// `seed()` for a node that is not known yet.
  template <class Seed>
  std::pair<std::uint64_t, std::uint64_t> draw(std::string_view node, std::uint64_t count, Seed seed) {
    const std::lock_guard lock(guard_);
    auto at = positions_.find(node);
    if (at == positions_.end()) at = positions_.emplace(node, random_position{seed(), 0}).first;
    const std::uint64_t begin = at->second.next;
    at->second.next += count;
    return {at->second.seed, begin};
  }

  random_positions positions() const {
    const std::lock_guard lock(guard_);
    return positions_;
  }
  /// Sets the positions of these nodes; others keep theirs.
  void set(const random_positions& positions) {
    const std::lock_guard lock(guard_);
    for (const auto& [node, at] : positions) positions_.insert_or_assign(node, at);
  }

 private:
  mutable std::mutex guard_;
  random_positions positions_;
};

}  // namespace leat
