#pragma once
// Where the nodes of random numbers are in their sequences, for sessions that run parts of one graph: a node that several parts contain
// goes on where the last run of any of them left it, as in a session that runs the whole graph.

#include <leat/runtime/state/run_arguments.hpp>

#include <cstdint>
#include <mutex>
#include <string_view>
#include <utility>

namespace leat {

/// Positions by the names of nodes. Thread-safe.
class random_table {
 public:
  /// Reserves `count` numbers, a multiple of 4, of a node's sequence: the seed, and the position of the first. `seed()` is called for a node
  /// that is not known yet.
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
  /// These nodes go on from there; the others from where they are.
  void set(const random_positions& positions) {
    const std::lock_guard lock(guard_);
    for (const auto& [node, at] : positions) positions_.insert_or_assign(node, at);
  }

 private:
  mutable std::mutex guard_;
  random_positions positions_;
};

}  // namespace leat
