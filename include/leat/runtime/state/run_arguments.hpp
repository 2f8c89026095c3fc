#pragma once
// Arguments of a run besides fetches and feeds: host functions, and cancellation.

#include <leat/runtime/state/tensor_value.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

namespace leat {

/// A host function that a session supplies for a node of a graph. Host functions that a graph was built with belong to the graph.
using session_function = std::function<std::vector<tensor_value>(std::span<const tensor_value>)>;

/// Stops runs: `cancel()`, from any thread, makes every run that it was passed to fail with `cancelled`.
class cancellation {
 public:
  cancellation() = default;
  /// Also counts as cancelled if one of these is cancelled. They must outlive it.
  explicit cancellation(const cancellation* other, const cancellation* another = nullptr) : others_{other, another} {}
  void cancel() { cancelled_.store(true, std::memory_order_relaxed); }
  bool is_cancelled() const {
    const auto with = [](const cancellation* other) { return other != nullptr && other->is_cancelled(); };
    return cancelled_.load(std::memory_order_relaxed) || with(others_[0]) || with(others_[1]);
  }

 private:
  const cancellation* others_[2]{};
  std::atomic<bool> cancelled_{false};
};

/// The position of a node in its sequence of random numbers.
struct random_position {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
  bool operator==(const random_position&) const = default;
};
/// By node name.
using random_positions = std::map<std::string, random_position, std::less<>>;

}  // namespace leat
