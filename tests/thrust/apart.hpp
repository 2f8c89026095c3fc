#pragma once
// A device like a GPU on any machine: its memory is apart, and out of the host's reach except while it copies or works.
// It is cut into work items as a GPU is. What it does not show is concurrency.

#include "compare.hpp"

#include <sys/mman.h>

#include <functional>
#include <vector>

namespace leat_test {

/// Memory that faults when the host touches it.
class apart_memory {
 public:
  static apart_memory& instance() {
    static apart_memory memory;
    return memory;
  }
  void* take(std::size_t bytes) {
    void* p = begin_ + used_;
    used_ += (bytes + 63) / 64 * 64 + 64;
    if (used_ > size) throw std::bad_alloc();
    return p;
  }
  void open(bool opened) { mprotect(begin_, size, opened ? PROT_READ | PROT_WRITE : PROT_NONE); }

 private:
  static constexpr std::size_t size = std::size_t{1} << 31;
  apart_memory()
      : begin_(static_cast<std::byte*>(
            mmap(nullptr, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))) {}
  std::byte* begin_;
  std::size_t used_ = 0;
};
struct opened_memory {
  opened_memory() { apart_memory::instance().open(true); }
  opened_memory(const opened_memory&) = delete;
  opened_memory& operator=(const opened_memory&) = delete;
  ~opened_memory() { apart_memory::instance().open(false); }
};

struct apart_device {
  static constexpr bool shares_memory = false;
  using workspace = leat::workspace;
  static constexpr chunk_limits chunks = on_thrust::device_chunks;

  static void* allocate(std::size_t bytes) { return apart_memory::instance().take(bytes); }
  static void release(void*) {}
  static void copy_in(void* to, const void* from, std::size_t bytes) {
    const opened_memory opened;
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  void copy_out(void* to, const void* from, std::size_t bytes) const {
    const auto copy = [=] {
      const opened_memory opened;
      if (bytes > 0) std::memcpy(to, from, bytes);
    };
    if (recorded_ != nullptr) recorded_->calls.push_back(copy);
    else copy();
  }
  static void finish() {}
  static void* allocate_on_host(std::size_t bytes) { return ::operator new(bytes); }
  static void release_on_host(void* p) { ::operator delete(p); }
  static void copy_in_kept(void* to, const void* from, std::size_t bytes) { copy_in(to, from, bytes); }
  static void wait_for_kept() {}

  /// The calls of a step with their arguments as they were.
  struct recording {
    std::vector<void*> addresses;
    std::vector<std::function<void()>> calls;
    bool recorded = false;
    void clear() { *this = {}; }
    bool is_ready() const { return recorded; }
  };
  template <class Program>
  static constexpr std::size_t recordings_of = on_thrust::recordings_of<Program>;
  template <class Program, class Last>
  void run_recorded(const workspace& w, void* const* on_host, recording* recordings, Last last) {
    on_thrust::run_recorded<Program>(*this, w, on_host, recordings, last);
  }
  template <class Steps>
  void repeat(recording& r, void* const* addresses, std::size_t count, Steps steps) {
    const std::vector<void*> now(addresses, addresses + count);
    if (r.addresses != now) {
      r.clear();
      r.addresses = now;
      steps();
      return;
    }
    if (!r.recorded) {
      recorded_ = &r;
      steps();
      recorded_ = nullptr;
      r.recorded = true;
    }
    for (const auto& call : r.calls) call();
  }
  template <class Call>
  void perform(const Call& call) {
    if (recorded_ != nullptr) recorded_->calls.push_back(call);
    else call();
  }

  template <class Item>
  void for_each(std::int64_t n, std::int64_t, const Item& item) {
    perform([n, item] {
      const opened_memory opened;
      for (std::int64_t k = n; k-- > 0;) item(k);  // in any order
    });
  }
  template <class Index>
  static std::int64_t find_out_of_range(const Index* indices, std::int64_t count, std::int64_t rows,
                                        bool passes_negative) {
    const opened_memory opened;
    return kernels::find_out_of_range(indices, count, rows, passes_negative);
  }
  template <class T>
  void multiply(bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k, T alpha, const T* scale,
                       const T* a, std::int64_t lda, const T* b, std::int64_t ldb, T beta, T* c, std::int64_t ldc) {
    for_each(m * n, k, on_thrust::detail::product_of(ta, tb, n, k, alpha, scale, a, lda, b, ldb, beta, c, ldc));
  }

 private:
  recording* recorded_ = nullptr;
};

}  // namespace leat_test
