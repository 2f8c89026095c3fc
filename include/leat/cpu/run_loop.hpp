#pragma once
// Runs a loop (passes/loops.hpp) on the CPU, from its code: each step is a run of the body's program. The states are the program's
// variables, in the memory of the last states, so that a step's arithmetic writes them in place; sequences and results are read and written
// where they are. Compiled and planned sessions differ in how they run the program of a step.

#include <leat/core/list.hpp>
#include <leat/cpu/execute.hpp>
#include <leat/cpu/scratch.hpp>
#include <leat/passes/loops.hpp>

#include <algorithm>
#include <cstring>

namespace leat::cpu {

namespace detail {

/// What a thread keeps of a loop between runs: the plan of a step, for the sizes of its named dimensions.
struct loop_plan {
  leat::detail::list<std::int64_t> sizes;
  program_plan plan;
  bool is_made = false;
  std::uint64_t version = 0;  // of the plan

  /// Makes the plan, if the sizes have changed. Errors: failed_precondition for a dimension that no input of the loop has.
  [[gnu::always_inline]] void prepare(const std::int64_t* code, const std::int64_t* names, int count, const kernels::step_numbers& n) {
    bool same = is_made;
    for (int k = 0; same && k < count; ++k)
      same = names[2 * k] >= 0 && sizes[k] == n.size(static_cast<int>(names[2 * k]), static_cast<int>(names[2 * k + 1]));
    if (!same) [[unlikely]]
      make(code, names, count, n);
  }

 private:
  [[gnu::noinline, gnu::cold]] void make(const std::int64_t* code, const std::int64_t* names, int count, const kernels::step_numbers& n) {
    is_made = false;
    sizes.resize(static_cast<std::size_t>(count) + 1);
    for (int k = 0; k < count; ++k) {
      if (names[2 * k] < 0)
        throw failed_precondition("a loop: its step has a named dimension that no state, sequence or captured tensor has");
      sizes[k] = n.size(static_cast<int>(names[2 * k]), static_cast<int>(names[2 * k + 1]));
    }
    make_plan(code + code[passes::code_program], sizes.data(), device::chunks, plan);
    is_made = true;
    ++version;
  }
};

inline void write_extent(void* to, dtype type, std::int64_t value) {
  switch (type) {
    case dtype::float32: *static_cast<float*>(to) = static_cast<float>(value); break;
    case dtype::float64: *static_cast<double*>(to) = static_cast<double>(value); break;
    case dtype::int32: *static_cast<std::int32_t*>(to) = static_cast<std::int32_t>(value); break;
    case dtype::int64: *static_cast<std::int64_t*>(to) = value; break;
    default: *static_cast<std::uint8_t*>(to) = static_cast<std::uint8_t>(value); break;
  }
}

/// The table of a loop's code.
struct loop_tables {
  const std::int64_t* code;
  int states, xs, invariants, outs, taped, tapes;
  constexpr explicit loop_tables(const std::int64_t* c)
      : code(c), states(static_cast<int>(c[passes::code_states])), xs(static_cast<int>(c[passes::code_xs])),
        invariants(static_cast<int>(c[passes::code_invariants])), outs(static_cast<int>(c[passes::code_outs])),
        taped(static_cast<int>(c[passes::code_taped])), tapes(static_cast<int>(c[passes::code_tapes])) {}
  constexpr int inputs() const { return states + xs + invariants; }
  /// The first operand that is memory.
  constexpr int memory() const { return inputs() + static_cast<int>(code[passes::code_limited]); }
  constexpr int given() const { return outs + taped; }
  constexpr int buffer(int k) const { return static_cast<int>(code[passes::code_tables + 2 * k]); }
  constexpr std::int64_t bytes(int k) const { return code[passes::code_tables + 2 * k + 1]; }
  constexpr const std::int64_t* on_tape() const { return code + passes::code_tables + 2 * (inputs() + given()); }
  constexpr const std::int64_t* names() const { return on_tape() + taped; }
  /// The operand of the loop that the k-th given sequence is written to.
  constexpr int operand_of_given(int k) const {
    return memory() + states + (k < outs ? k : outs + static_cast<int>(on_tape()[k - outs]));
  }
};

/// Runs a loop. `buffers`: room for the addresses of the program's buffers, of which those of intermediate results are set; `moving`: room
/// for one entry for each sequence and given sequence. `step()` runs the program once.
struct moving_buffer {
  int buffer;
  std::int64_t stride;
};
template <class Step>
[[gnu::always_inline]] inline void run_steps(const loop_tables t, void* const* p, const kernels::step_numbers& n, void** buffers,
                                             moving_buffer* moving, Step step) {
  const int inputs = t.inputs();
  const int memory = t.memory();
  std::int64_t length = t.xs > 0 ? n.size(t.states, 0) : n.attribute(passes::loop_length);
  if (memory > inputs) length = std::clamp(*static_cast<const std::int64_t*>(p[inputs]), std::int64_t{0}, length);
  const int go_at = static_cast<int>(t.code[passes::code_go]);
  for (int k = 0; k < t.states; ++k) {
    const std::int64_t bytes = n.product(k, 0, n.rank(k)) * t.bytes(k);
    if (bytes > 0) std::memcpy(p[memory + k], p[k], static_cast<std::size_t>(bytes));
    if (t.buffer(k) >= 0) buffers[t.buffer(k)] = p[memory + k];
  }
  for (int k = t.states + t.xs; k < inputs; ++k)
    if (t.buffer(k) >= 0) buffers[t.buffer(k)] = p[k];
  const auto count_steps = [&](std::int64_t steps) {
    if (go_at >= 0) *static_cast<std::int64_t*>(p[memory + t.states + t.outs + t.tapes]) = steps;
  };
  if (length == 0) return count_steps(0);
  bool go = true;
  if (go_at >= 0) buffers[go_at] = &go;
  const bool reversed = t.code[passes::code_reversed] != 0;
  int count = 0;
  const auto moves = [&](int buffer, int operand, std::int64_t size) {
    if (buffer < 0) return;
    const std::int64_t stride = n.product(operand, 1, n.rank(operand)) * size;
    buffers[buffer] = static_cast<std::byte*>(p[operand]) + (reversed ? (length - 1) * stride : 0);
    moving[count++] = {buffer, reversed ? -stride : stride};
  };
  for (int k = t.states; k < t.states + t.xs; ++k) moves(t.buffer(k), k, t.bytes(k));
  for (int k = 0; k < t.given(); ++k) moves(t.buffer(inputs + k), t.operand_of_given(k), t.bytes(inputs + k));
  for (std::int64_t i = 0;;) {
    step();
    if (++i == length || !go) return count_steps(i);
    for (int m = 0; m < count; ++m) buffers[moving[m].buffer] = static_cast<std::byte*>(buffers[moving[m].buffer]) + moving[m].stride;
  }
}

/// Sets the addresses of the buffers that a program owns.
inline void place_buffers(const program_view& view, const loop_plan& plan, std::byte* arena, void** buffers) {
  for (int b = 0; b < view.buffers(); ++b) {
    const auto info = view.buffer_at(b);
    if (info.where != storage::arena && info.where != storage::extent) continue;
    buffers[b] = arena + plan.plan.offsets[static_cast<std::size_t>(b)];
    if (info.where == storage::extent) write_extent(buffers[b], info.type, view.elements(info.extent, plan.sizes.data()));
  }
}

}  // namespace detail

}  // namespace leat::cpu
