#pragma once
// The memory that a session's programs may keep, those of all its plans together. Each is entered with what it holds and when it
// was used last; when they hold more than the budget, the least recently used are dropped. Use is told apart by the programs that
// were made in between: a run itself only writes a number.

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

namespace leat {

/// What a program says of itself.
struct budgeted_program {
  std::atomic<std::int64_t> bytes{0};    // that it holds, as far as it is worth counting
  std::atomic<std::uint64_t> used{0};    // `program_budget::now()` of the last use
};

class program_holder;

/// The same in a list: the program may be gone by then.
struct program_use {
  std::uint64_t used;
  std::int64_t bytes;
  const budgeted_program* program;
  program_holder* holder;
};

/// Who keeps programs.
class program_holder {
 public:
  /// Enters all programs into a list.
  virtual void list(std::vector<program_use>& all) = 0;
  /// Forgets a program, if it still has it.
  virtual void drop(const budgeted_program* p) = 0;

 protected:
  ~program_holder() = default;
};

/// Safe from any thread. A holder calls nothing here while it holds a lock of its own that `list` and `drop` take.
class program_budget {
 public:
  explicit program_budget(std::int64_t bytes = std::int64_t{256} << 20) : most_(bytes) {}

  void set(std::int64_t bytes) { most_.store(bytes, std::memory_order_relaxed); }
  std::int64_t most() const { return most_.load(std::memory_order_relaxed); }
  std::uint64_t now() const { return now_.load(std::memory_order_relaxed); }
  /// A program is made.
  void tick() { now_.fetch_add(1, std::memory_order_relaxed); }

  void enter(program_holder& h) {
    const std::lock_guard lock(guard_);
    holders_.push_back(&h);
  }
  void leave(program_holder& h) {
    const std::lock_guard lock(guard_);
    std::erase(holders_, &h);
  }
  /// Drops what was not used for longest until the rest fits, but not `newest`.
  void trim(const budgeted_program* newest) {
    const std::lock_guard lock(guard_);
    std::vector<program_use> all = uses();
    std::int64_t held = 0;
    for (const program_use& u : all) held += u.bytes;
    const std::int64_t most = most_.load(std::memory_order_relaxed);
    if (held <= most) return;
    std::sort(all.begin(), all.end(), [](const program_use& a, const program_use& b) { return a.used < b.used; });
    for (const program_use& u : all) {
      if (held <= most) break;
      if (u.program == newest) continue;
      u.holder->drop(u.program);
      held -= u.bytes;
    }
  }
  /// Bytes that all programs hold now.
  std::int64_t held() {
    const std::lock_guard lock(guard_);
    std::int64_t bytes = 0;
    for (const program_use& u : uses()) bytes += u.bytes;
    return bytes;
  }

 private:
  std::vector<program_use> uses() {
    std::vector<program_use> all;
    for (program_holder* h : holders_) h->list(all);
    return all;
  }

  std::atomic<std::int64_t> most_;
  std::atomic<std::uint64_t> now_{1};
  std::mutex guard_;
  std::vector<program_holder*> holders_;
};

}  // namespace leat
