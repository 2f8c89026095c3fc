#pragma once
// Runs a program without a C++ compiler, from the program of `passes::compile` as data. It runs the same steps as execute.hpp, in the same
// chunks, with the same kernels of whole arrays. A fused cluster runs instruction by instruction over blocks of its innermost loop that
// stay in the first-level cache, so that fusion is worthwhile here, too.
//
// An `interpreter` is constructed once per program: it checks and packs the program, and resolves its instructions to functions. It is
// immutable afterwards, and threads may share it. A `bound_program` has the state of one run at a time: addresses of the buffers, sizes of
// the named dimensions, the plan and the arena.
//
//   const cpu::interpreter code(passes::compile(g, targets));
//   cpu::bound_program step(code);
//   for (int b = 0; b < code.view().buffers(); ++b) …   // bind a feed, variable or number by code.view().buffer_at(b).id
//   step.set_size(0, 64);                               // the size of code.view().name(0)
//   step.bind(code.view().fetch(0), result);            // a fetch is written there; it is -1 for an operation without a value
//   step.run();
//
// Elements are contiguous, row-major, and aligned for their type. Feeds and numbers are read; variables are read and written. A fetch must
// not overlap any other bound buffer. A warm run (with the same sizes) allocates nothing.
//
// Results are equal to those of the compiled session bit for bit, for any number of threads, because the operators' own functions run over
// the same batches, and reductions add in the same order. There is one exception. Where the compiler contracts a b + c into one instruction
// that rounds once (g++ does so on processors that have it, unless -ffp-contract=off), it does so throughout a compiled cluster, but here
// only between operators that are one function (interpret/fused_pairs.hpp, interpret/update_loops.hpp).

#include <leat/core/function_bodies.hpp>
#ifdef LEAT_SEPARATE_COMPILATION
#include <leat/cpu/interpret/registry.hpp>
#else
#include <leat/cpu/interpret/library.hpp>
#endif
#include <leat/cpu/interpret/direct.hpp>
#include <leat/cpu/interpret/run_cluster.hpp>
#include <leat/passes/lower.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace leat::cpu {

/// The observer of a run that is not observed: both calls are empty.
struct no_observer {
  void before(int) {}
  void after(int) {}
};

/// A program that is ready to run any number of times. Errors: invalid_argument if the compiler found a problem in the graph (two unordered
/// writes) or the program is malformed; unimplemented if an operator has no function for its dtypes.
class interpreter {
 public:
  explicit interpreter(const program& p) : interpreter(packed(p)) {}
  /// Constructs it from the integers of `pack`. Errors: as above.
  explicit interpreter(leat::detail::list<std::int64_t> data);
  interpreter(const interpreter&) = delete;
  interpreter& operator=(const interpreter&) = delete;

  /// The program's buffers, names and fetches.
  program_view view() const { return program_view(data_.data()); }
  /// The packed program, as `make_plan` takes it.
  const std::int64_t* data() const { return data_.data(); }

  /// Approximate size in bytes: the program, and its resolved instructions, which take a few times as much memory.
  std::int64_t bytes() const { return static_cast<std::int64_t>(data_.size() * sizeof(std::int64_t)) * 4; }

  /// Runs all steps. The workspace has the address of every buffer, the numbers of a plan by `make_plan` with `cpu::device::chunks`, and
  /// the plan's arena, aligned to 64 bytes. Errors: invalid_argument (an index out of range); no variable has been written then.
  void run(const workspace& w) const {
    const flush_denormals mode;
    run_in_mode(w);
  }
  /// `run` for a caller that has set the floating-point mode already.
  void run_in_mode(const workspace& w) const {
    for (const step& s : steps_) run_step(s, w);
  }
  /// `run_in_mode` with the calls that `direct` resolved for the workspace's plan.
  void run_direct(const workspace& w, direct_program& calls) const {
    calls.run(w.buffers, [&](int k) { run_step(steps_[static_cast<std::size_t>(k)], w); });
  }
  /// `run` with resolved calls that also calls `observer.before(k)` and `observer.after(k)` around the k-th step.
  template <class Observer>
  void run_direct(const workspace& w, direct_program& calls, Observer& observer) const {
    const flush_denormals mode;
    calls.run(w.buffers, [&](int k) { run_step(steps_[static_cast<std::size_t>(k)], w); }, observer);
  }
  /// The program's calls, with those of small clusters resolved for one plan, or nothing if the program has no small cluster. `numbers` are
  /// those of the plan.
  std::optional<direct_program> direct(const std::int64_t* numbers) const;
  /// `run` that also calls `observer.before(k)` and `observer.after(k)` around the k-th step.
  template <class Observer>
  void run(const workspace& w, Observer& observer) const {
    const flush_denormals mode;
    for (std::size_t k = 0; k < steps_.size(); ++k) {
      observer.before(static_cast<int>(k));
      run_step(steps_[k], w);
      observer.after(static_cast<int>(k));
    }
  }

 private:
  static leat::detail::list<std::int64_t> packed(const program& p) {
    if (p.problem.size > 0) throw invalid_argument(std::string(p.problem.view()));
    return pack(p);
  }
  struct step {
    program_view::step info;
    int plan_begin;
    std::optional<cluster_code> cluster;
    kernel_function kernel;
    std::vector<int> buffers;
  };

  [[gnu::always_inline]] static void run_step(const step& s, const workspace& w) {
    const std::int64_t* plan = w.numbers + s.plan_begin;
    if (s.cluster) {
      run_cluster(*s.cluster, s.info, w, plan);
    } else {
      void* operands[graph::max_operands + 2];
      for (std::size_t k = 0; k < s.buffers.size(); ++k) operands[k] = w.buffers[s.buffers[k]];
      s.kernel(operands, kernels::step_numbers(plan + plan_numbers), static_cast<int>(s.buffers.size()));
    }
  }

  leat::detail::list<std::int64_t> data_;
  std::vector<step> steps_;
};

/// A program with its arrays: addresses, sizes of named dimensions, plan and arena. Only one run at a time. It borrows the interpreter,
/// which must outlive it.
class bound_program {
 public:
  explicit bound_program(const interpreter& code);
  ~bound_program() { release(); }
  bound_program(const bound_program&) = delete;
  bound_program& operator=(const bound_program&) = delete;

  /// Sets the size of the k-th named dimension, `view().name(k)`. Errors: invalid_argument for an unknown dimension or a negative size.
  void set_size(int k, std::int64_t size) {
    if (k < 0 || k >= code_.view().names() || size < 0) throw invalid_argument("a named dimension of the program cannot have that size");
    auto& have = sizes_[static_cast<std::size_t>(k)];
    planned_ = planned_ && have == size;
    ready_ = ready_ && planned_;
    have = size;
  }
  /// Sets the address of a feed, variable, number or fetch. Errors: invalid_argument for any other buffer.
  void bind(int buffer, void* elements) {
    const auto at = static_cast<std::size_t>(buffer);
    if (buffer < 0 || at >= bound_.size() || (!bound_[at] && is_own(buffer)))
      throw invalid_argument("the program has no such buffer to bind");
    buffers_[at] = elements;
    if (!bound_[at]) {
      bound_[at] = true;
      complete_ = false;
    }
  }
  /// The number of elements of a buffer, for the current sizes.
  std::int64_t elements(int buffer) const {
    const auto v = code_.view();
    return v.elements(v.buffer_at(buffer).extent, sizes_.data());
  }

  /// Runs the program. Errors: failed_precondition if a buffer is not bound or a size is not set; errors of the kernels.
  void run() {
    make_ready();
    const workspace w{buffers_.data(), plan_.numbers.data(), arena_};
    const flush_denormals mode;
    if (direct_) code_.run_direct(w, *direct_);
    else code_.run_in_mode(w);
  }
  /// `run` that also calls the observer before and after each step, see `interpreter::run`.
  template <class Observer>
  void run(Observer& observer) {
    make_ready();
    const workspace w{buffers_.data(), plan_.numbers.data(), arena_};
    if (direct_) code_.run_direct(w, *direct_, observer);
    else code_.run(w, observer);
  }
  /// Whether a run needs neither planning nor allocation.
  bool is_ready() const { return ready_; }
  /// The bytes of intermediate results, for the current sizes; makes a plan if there is none.
  std::int64_t needed_bytes() {
    if (!planned_) make_own_plan();
    return plan_.arena_bytes;
  }
  /// The bytes of memory that it has allocated for intermediate results.
  std::int64_t arena_bytes() const { return arena_bytes_; }
  /// Takes over the memory of a program that is not running, if that is larger than its own memory.
  void take_memory(bound_program& from) {
    if (from.arena_bytes_ <= arena_bytes_) return;
    release();
    arena_ = std::exchange(from.arena_, nullptr);
    arena_bytes_ = std::exchange(from.arena_bytes_, 0);
    ready_ = from.ready_ = false;
  }
  /// Frees its memory; the next run allocates what it needs.
  void release_memory() {
    release();
    ready_ = false;
  }
  /// Plans and allocates, as a run would.
  void reserve() {
    if (!ready_) place();
  }
  /// The calls of a small program that is ready; null otherwise.
  const direct_program* direct() const { return ready_ && direct_ ? &*direct_ : nullptr; }
  /// The plan of the last run; `sizes()` are the sizes for which it was made.
  const program_plan& plan() const { return plan_; }
  const std::int64_t* sizes() const { return sizes_.data(); }

 private:
  void make_ready() {
    if (!complete_) [[unlikely]]
      check();
    if (!ready_) [[unlikely]]
      place();
  }
  bool is_own(int buffer) const {
    const auto where = code_.view().buffer_at(buffer).where;
    return where == storage::arena || where == storage::extent;
  }
  void check();
  void make_own_plan();
  // Assigns addresses to the buffers that it owns.
  void place();
  void release() {
    if (arena_ != nullptr) device::release(arena_);
    arena_taken_.give_back();
    arena_ = nullptr;
    arena_bytes_ = 0;
  }

  const interpreter& code_;
  std::vector<void*> buffers_;
  std::vector<std::int64_t> sizes_;
  std::vector<bool> bound_;
  program_plan plan_;
  std::byte* arena_ = nullptr;
  metered_bytes arena_taken_;
  std::int64_t arena_bytes_ = 0;
  bool planned_ = false;
  bool ready_ = false;  // whether it is planned, and its buffers have addresses
  bool complete_ = false;
  std::optional<direct_program> direct_;  // set if the program has small clusters
};

}  // namespace leat::cpu

#if LEAT_WITH_BODIES
#include <leat/cpu/impl/interpret.hpp>
#endif
