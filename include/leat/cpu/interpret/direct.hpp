#pragma once
// A small program as one list of function calls with the addresses of their operands. `run_cluster` computes the address of each register
// in each run, which takes longer than computing a few numbers; here the addresses are computed once for a plan. The calls are those that
// `run_cluster` makes, in the same order, so the results are the same bytes.

#include <leat/cpu/interpret/cluster_code.hpp>
#include <leat/cpu/interpret/values.hpp>

#include <cstring>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace leat::cpu {

/// One call: of a function over a block or over single values, of a reduction, or a copy; or a step that the interpreter runs as usual.
struct direct_call {
  enum class kind : std::uint8_t { block, single, copy, copy_bytes, gather, scatter, start, take, finish, into, fill, step, loop, more };
  kind what = kind::copy;
  std::uint8_t size = 0;  // bytes of an element
  bool repeated = false;  // whether lanes read the result
  reduction_order order = reduction_order::single;
  unsigned rows = 0;
  std::int64_t n = 0;
  std::byte* at[4]{};  // the result, then operands; a loop's operands continue in the calls of kind `more` that follow it
  union {
    block_function block = nullptr;
    loop_function loop;
    single_function single;
    const reduction_functions* reduction;
  };
  std::int64_t stride = 0;
  int number = 0;  // the index of a step that runs as usual, or the number of a loop's operands
};

/// The calls of one program for one plan. Only one run at a time, because the calls hold the addresses of the last run's buffers.
class direct_program {
 public:
  /// Clusters with more work than this, in elements times instructions, gain nothing.
  static constexpr std::int64_t most_work = 1 << 15;
  /// Clusters with more per-row values than this gain nothing either: so many calls do not fit the first-level cache, whereas a cluster's
  /// own steps do.
  static constexpr std::size_t most_scalars = 256;

  struct address {
    int call;
    int operand;
    std::int64_t offset;
  };
  struct buffer {
    int number;
    std::byte* last = nullptr;
    std::vector<address> addresses;
  };
  std::vector<direct_call> calls;
  std::vector<std::size_t> begins;  // by step of the program: the index of its first call
  std::vector<buffer> buffers;

  std::byte* memory() const { return memory_.get(); }
  void reserve(std::size_t bytes) {
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
    std::memset(memory_.get(), 0, bytes);
  }

  /// Runs the calls; `run_step(k)` runs step k as usual.
  template <class RunStep>
  [[gnu::always_inline]] void run(void* const* given, RunStep run_step) {
    place(given);
    run_calls(calls, run_step);
  }
  /// `run` that also calls `observer.before(k)` and `observer.after(k)` around the calls of the k-th step.
  template <class RunStep, class Observer>
  void run(void* const* given, RunStep run_step, Observer& observer) {
    place(given);
    for (std::size_t k = 0; k < begins.size(); ++k) {
      const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : calls.size();
      observer.before(static_cast<int>(k));
      run_calls({calls.data() + begins[k], end - begins[k]}, run_step);
      observer.after(static_cast<int>(k));
    }
  }

 private:
  [[gnu::always_inline]] void place(void* const* given) {
    for (buffer& b : buffers)
      if (auto* const now = static_cast<std::byte*>(given[b.number]); now != b.last) [[unlikely]]
        place(b, now);
  }
  template <class RunStep>
  [[gnu::always_inline]] static void run_calls(std::span<const direct_call> list, RunStep run_step) {
    using kind = direct_call::kind;
    for (const direct_call& c : list) {
      std::byte* const d = c.at[0];
      switch (c.what) {
        case kind::block: c.block(d, c.at[1], c.at[2], c.at[3], c.n, c.rows); break;
        case kind::single:
          c.single(d, c.at[1], c.at[2], c.at[3]);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::copy:
          detail::copy_value(d, c.at[1], c.size);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::copy_bytes:
          if (d != c.at[1]) std::memcpy(d, c.at[1], static_cast<std::size_t>(c.n));
          break;
        case kind::gather: move(c, 1, c.stride); break;
        case kind::scatter: move(c, c.stride, 1); break;
        case kind::start: c.reduction->start(accumulator_at(d), c.order); break;
        case kind::take: c.reduction->take(accumulator_at(d), c.order, c.at[1], c.n, -1); break;
        case kind::finish:
          c.reduction->finish(accumulator_at(c.at[1]), c.order, d);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::into: c.reduction->into(d, c.at[1], c.n, c.stride); break;
        case kind::fill: c.reduction->fill(d, c.n); break;
        case kind::loop: {
          void* operands[loop_call::most_operands];
          for (int k = 0; k < c.number; ++k) operands[k] = (&c)[k / 4].at[k % 4];
          c.loop(operands, c.n);
          break;
        }
        case kind::more: break;
        case kind::step: run_step(c.number); break;
      }
    }
  }

  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  static accumulator& accumulator_at(std::byte* p) { return *static_cast<accumulator*>(static_cast<void*>(p)); }
  [[gnu::noinline]] void place(buffer& b, std::byte* now) {
    for (const address& a : b.addresses) calls[static_cast<std::size_t>(a.call)].at[a.operand] = now + a.offset;
    b.last = now;
  }
  static void move(const direct_call& c, std::int64_t to_stride, std::int64_t from_stride) {
    detail::with_bytes(c.size, [&]<class T>(T) {
      const T* x = static_cast<const T*>(static_cast<const void*>(c.at[1]));
      T* out = static_cast<T*>(static_cast<void*>(c.at[0]));
      for (std::int64_t i = 0; i < c.n; ++i) out[i * to_stride] = x[i * from_stride];
    });
  }
  std::unique_ptr<std::byte, release> memory_;
};

}  // namespace leat::cpu
