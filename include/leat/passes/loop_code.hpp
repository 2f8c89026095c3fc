#pragma once
// A loop's attributes, from which its body is made of the one that it began with, and its code: the program of a step, with tables that say
// where its inputs and results lie.

#include <leat/core/list.hpp>
#include <leat/passes/batched_body.hpp>
#include <leat/passes/loop_body.hpp>
#include <leat/passes/lower.hpp>

namespace leat::passes {

// ---- attributes -----------------------------------------------------------------------------------------------------

/// The attributes of a loop: its length, the set of what it keeps on tape in each step, and then five numbers for each time that it
/// was differentiated: 1 and what `backward_of` takes; or 2 for a loop that begins at the end; or, for each time that it became one
/// of many models, 3 and the numbers of `batching_of_body`.
enum loop_attribute : int { loop_length, loop_tape, loop_recipe };
enum class loop_change : std::int64_t { backward = 1, reversed = 2, batched = 3 };

constexpr loop_body changed(loop_body b, std::span<const std::int64_t> recipe) {
  for (std::size_t k = 0; k < recipe.size();) {
    if (static_cast<loop_change>(recipe[k]) == loop_change::reversed) {
      b.is_reversed = !b.is_reversed;
      ++k;
    } else if (static_cast<loop_change>(recipe[k]) == loop_change::batched) {
      b = batched_of(b, {recipe[k + 1], recipe[k + 2], recipe[k + 3], recipe[k + 4], recipe[k + 5]}).body;
      k += 6;
    } else {
      b = backward_of(b, recipe[k + 1], recipe[k + 2], recipe[k + 3], static_cast<products_after>(recipe[k + 4])).body;
      k += 5;
    }
  }
  return b;
}

// ---- code -----------------------------------------------------------------------------------------------------------

/// A loop's program as integers: this header; then, for each state, sequence, invariant, and given sequence (those on tape last), its
/// buffer in the program of a step, or -1, and the bytes of an element; what is on tape; for each named dimension of the program an operand
/// and an axis; the program.
enum loop_code : int {
  code_states,
  code_xs,
  code_invariants,
  code_outs,   // without those on tape
  code_taped,
  code_tapes,  // of which those on tape are some
  code_reversed,
  code_limited,
  code_go,       // the buffer of whether there is another step, or -1
  code_program,  // where the program begins
  code_tables
};

/// The code of a loop. Operands of the loop are its initial states, sequences, invariants, the number of steps if it is limited, and memory
/// for the last states, the given sequences, each tape and, if its steps say whether there is another, their number.
constexpr list<std::int64_t> loop_code_of(const loop_body& b, std::int64_t tape, bool unrolled, std::int64_t in_place) {
  graph g;
  list<int> rows(b.g.nodes.size(), -1);
  const auto input = [&](const list<int>& from, loop_role role) {
    for (std::size_t k = 0; k < from.size(); ++k) rows[from[k]] = add_loop_input(g, role, k, b.g.at(from[k]).result);
  };
  input(b.states, loop_role::state);
  input(b.xs, loop_role::sequence);
  input(b.invariants, loop_role::invariant);
  copy_needed(b.g, g, rows, {b.next.data(), b.next.size()});
  copy_needed(b.g, g, rows, {b.outs.data(), b.outs.size()});
  list<int> writes, targets;
  for (std::size_t k = 0; k < b.states.size(); ++k) {
    if (b.next[k] == b.states[k]) continue;
    const int operands[]{rows[b.states[k]], rows[b.next[k]]};
    writes.push_back(g.add(b.adds[k] != 0 ? info_of<assign_add_op> : info_of<assign_op>, operands));
  }
  if (!writes.empty()) targets.push_back(g.add(info_of<group_op>, {}, {}, writes));
  const std::size_t first_out = targets.size();
  for (const int i : b.outs) targets.push_back(rows[i]);
  list<int> taped;
  for (std::size_t k = 0; k < b.tapes(); ++k)
    if (in_set(tape, k)) {
      const int i = b.on_tape(k);
      copy_needed(b.g, g, rows, {&i, 1});
      taped.push_back(static_cast<int>(k));
      targets.push_back(rows[i]);
    }
  const std::size_t go_at = targets.size();
  if (b.go >= 0) {
    copy_needed(b.g, g, rows, {&b.go, 1});
    targets.push_back(rows[b.go]);
  }
  program p;
  if (!targets.empty()) p = compile(g, targets, unrolled, in_place);
  const auto count = [](const list<int>& l) { return static_cast<std::int64_t>(l.size()); };
  list<std::int64_t> code(code_tables, 0);
  code[code_states] = count(b.states);
  code[code_xs] = count(b.xs);
  code[code_invariants] = count(b.invariants);
  code[code_outs] = count(b.outs);
  code[code_taped] = count(taped);
  code[code_tapes] = static_cast<std::int64_t>(b.tapes());
  code[code_reversed] = b.is_reversed ? 1 : 0;
  code[code_limited] = b.is_limited ? 1 : 0;
  code[code_go] = b.go >= 0 ? p.fetches[go_at] : -1;
  const auto put_inputs = [&](const list<int>& inputs, loop_role role) {
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      std::int64_t found = -1;
      for (std::size_t at = 0; at < p.buffers.size(); ++at) {
        const program_buffer& buffer = p.buffers[at];
        const bool is_input = buffer.where == storage::feed || buffer.where == storage::variable;
        if (is_input && buffer.id == loop_input_id(role, k)) found = static_cast<std::int64_t>(at);
      }
      code.push_back(found);
      code.push_back(size_of(b.g.at(inputs[k]).result.type));
    }
  };
  put_inputs(b.states, loop_role::state);
  put_inputs(b.xs, loop_role::sequence);
  put_inputs(b.invariants, loop_role::invariant);
  for (std::size_t k = first_out; k < go_at; ++k) {
    code.push_back(p.fetches[k]);
    code.push_back(size_of(g.at(targets[k]).result.type));
  }
  for (const int k : taped) code.push_back(k);
  for (const std::int64_t name : p.names) {
    std::int64_t operand = -1, axis = -1, at = 0;
    const auto look = [&](const list<int>& inputs, int shift) {
      for (const int i : inputs) {
        const shape& extent = b.g.at(i).result.extent;
        for (int a = 0; a < extent.rank; ++a)
          if (extent[a] == name && operand < 0) {
            operand = at;
            axis = a + shift;
          }
        ++at;
      }
    };
    look(b.states, 0);
    look(b.xs, 1);
    look(b.invariants, 0);
    code.push_back(operand);
    code.push_back(axis);
  }
  code[code_program] = static_cast<std::int64_t>(code.size());
  for (const std::int64_t v : pack(p)) code.push_back(v);
  return code;
}

}  // namespace leat::passes
