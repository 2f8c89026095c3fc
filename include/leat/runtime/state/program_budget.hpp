#pragma once
// Limits the memory of all compiled programs that a session keeps, across plans. Each program records its bytes and its last use; when the
// sum exceeds the budget, the least recently used programs are dropped. Time is counted in programs made, so that a run only stores an
// integer.

#include <leat/core/function_bodies.hpp>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace leat {

/// A program's memory and last use.
struct budgeted_program {
  std::atomic<std::int64_t> bytes{0};    // of its code, constants and intermediate results
  std::atomic<std::uint64_t> used{0};    // `program_budget::now()` at the last use
};

class program_holder;

/// A snapshot of a program's accounting, with its holder. The program may be deleted while the snapshot exists: `program` is only compared.
struct program_use {
  std::uint64_t used;
  std::int64_t bytes;
  const budgeted_program* program;
  program_holder* holder;
};

/// Interface of an owner of programs, which the budget asks to list and drop them.
class program_holder {
 public:
  /// Appends all programs of this holder.
  virtual void list(std::vector<program_use>& all) = 0;
  /// Drops a program if the holder still has it.
  virtual void drop(const budgeted_program* p) = 0;

 protected:
  ~program_holder() = default;
};

/// Thread-safe. A holder must not call the budget while holding a lock that its `list` or `drop` takes: that would deadlock.
class program_budget {
 public:
  explicit program_budget(std::int64_t bytes = std::int64_t{256} << 20) : most_(bytes) {}

  void set(std::int64_t bytes) { most_.store(bytes, std::memory_order_relaxed); }
  std::int64_t most() const { return most_.load(std::memory_order_relaxed); }
  std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  /// Called when a program is made; advances `now`.
  void tick() { now_.fetch_add(1, std::memory_order_relaxed); }

  void enter(program_holder& h) {
    const std::lock_guard lock(guard_);
    holders_.push_back(&h);
  }
  void leave(program_holder& h) {
    const std::lock_guard lock(guard_);
    std::erase(holders_, &h);
  }
  /// Drops the least recently used programs until the rest fit the budget; never drops `newest`.
  void trim(const budgeted_program* newest);
  /// The memory of all programs, in bytes.
  std::int64_t held();

 private:
  std::vector<program_use> uses();

  std::atomic<std::int64_t> most_;
  std::atomic<std::uint64_t> now_{1};
  std::mutex guard_;
  std::vector<program_holder*> holders_;
};

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/runtime/state/impl/program_budget.hpp>
#endif
