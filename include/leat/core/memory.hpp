#pragma once
// A limit on the bytes that a session's arrays hold at the same time. A session with a limit has a meter, which is the current meter of
// every thread that runs for it. An array takes its bytes from that meter when it is allocated and returns them when it is freed,
// which may be after the end of the session.

#include <leat/core/error.hpp>
#include <leat/core/text.hpp>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>
#include <string>

namespace leat {

/// Counts the bytes of arrays against a limit. Thread-safe; reference-counted by its holders.
class memory_meter {
 public:
  /// A new meter with one holder, the caller. It deletes itself when the last holder, the caller or an array, calls `let_go`.
  static memory_meter* make(std::int64_t limit) { return new memory_meter(limit); }

  /// Adds and removes a holder.
  void hold() { holders_.fetch_add(1, std::memory_order_relaxed); }
  void let_go() {
    if (holders_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Counts bytes as taken. Errors: resource_exhausted if that exceeds the limit; then none are taken.
  void take(std::size_t bytes) {
    const auto wanted = static_cast<std::int64_t>(bytes);
    const std::int64_t before = used_.fetch_add(wanted, std::memory_order_relaxed);
    if (before <= limit_ - wanted) return;
    used_.fetch_sub(wanted, std::memory_order_relaxed);
    LEAT_THROW(resource_exhausted("an array of " + std::to_string(bytes) + " bytes: of the limit of " + std::to_string(limit_) +
                             " bytes (memory_limit_in_bytes) " + std::to_string(before) + " are taken"));
  }
  /// Returns bytes. `used()` is the number of bytes taken now, at most `limit()`.
  void give(std::size_t bytes) { used_.fetch_sub(static_cast<std::int64_t>(bytes), std::memory_order_relaxed); }
  std::int64_t used() const { return used_.load(std::memory_order_relaxed); }
  std::int64_t limit() const { return limit_; }

  /// The calling thread's meter; null if there is no limit.
  static memory_meter*& current() {
    thread_local constinit memory_meter* meter = nullptr;
    return meter;
  }

 private:
  explicit memory_meter(std::int64_t limit) : limit_(limit) {}
  ~memory_meter() = default;

  std::atomic<std::int64_t> used_{0};
  std::int64_t limit_;
  std::atomic<int> holders_{1};
};

/// Makes `meter` the calling thread's meter (null for none) while in scope, and restores the previous one afterwards.
class memory_scope {
 public:
  explicit memory_scope(memory_meter* meter) : before_(memory_meter::current()) { memory_meter::current() = meter; }
  memory_scope(const memory_scope&) = delete;
  memory_scope& operator=(const memory_scope&) = delete;
  ~memory_scope() { memory_meter::current() = before_; }

 private:
  memory_meter* before_;
};

/// Bytes taken from the thread's current meter; the destructor returns them.
class metered_bytes {
 public:
  metered_bytes() = default;
  metered_bytes(const metered_bytes&) = delete;
  metered_bytes& operator=(const metered_bytes&) = delete;
  ~metered_bytes() { give_back(); }

  /// Returns the bytes taken before, then takes `bytes`. Errors: resource_exhausted; then no bytes are taken.
  void take(std::size_t bytes) {
    give_back();
    memory_meter* const current = memory_meter::current();
    if (current == nullptr) return;
    current->take(bytes);
    current->hold();
    meter_ = current;
    bytes_ = bytes;
  }
  void give_back() {
    if (meter_ == nullptr) return;
    meter_->give(bytes_);
    meter_->let_go();
    meter_ = nullptr;
  }

 private:
  memory_meter* meter_ = nullptr;
  std::size_t bytes_ = 0;
};

/// Memory aligned to 64 bytes. Errors: resource_exhausted if the system has none.
inline void* allocate_aligned(std::size_t bytes) {
  void* const made = ::operator new(bytes, std::align_val_t{64}, std::nothrow);
  if (made == nullptr) [[unlikely]] {
    message size;
    size << static_cast<unsigned long long>(bytes);
    LEAT_THROW(resource_exhausted(detail::joined({"an array of ", size.view(), " bytes: the system has no such memory"})));
  }
  return made;
}

}  // namespace leat
