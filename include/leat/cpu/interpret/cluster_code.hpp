#pragma once
// A fused cluster in the interpreter's form: its instructions with the addresses of their functions, and storage for every register. It is
// made once, from the integers of a program's step.
//
// A register of the innermost loop holds a block of elements. If possible, it is allocated where its elements come from or go to, so that
// nothing is copied: in the operand that it is loaded from or stored to, or in the row buffer that keeps it for a later stage. Other
// registers get slots, which are rows of a scratch area; a slot is taken when a register is written, and released after its last use. The
// block is as long as it can be while all simultaneously used slots stay in the first-level cache. A register of the row is a cell; a cell
// that lanes read is broadcast to a batch.
//
// A register in the operand that it is stored to is written earlier than in the compiled cluster, which stores last. This is allowed only
// if nothing of the same buffer is read afterwards. A register can stay in the operand that it is loaded from only until that buffer is
// written.

#include <leat/cpu/interpret/tile_code.hpp>
#include <leat/kernels/program_plan.hpp>

#include <vector>

namespace leat::cpu {

/// An instruction outside the innermost loop. Its registers are given as offsets of their cells in bytes.
struct scalar_step {
  enum class kind : std::uint8_t { compute, load, store, immediate, position, finish_row, finish_all, reduce_cell, look_up };
  kind what = kind::compute;
  std::uint8_t size = 0;   // bytes of the element
  bool repeated = false;   // whether lanes read the result
  dtype type = dtype::invalid;
  int d = 0, x = 0, y = 0, z = 0;
  single_function single = nullptr;
  const reduction_functions* reduction = nullptr;
  std::int64_t bits = 0;
};

/// A loop of many operators that was compiled ahead of time (ready_loops.hpp), as a function of the address of a block, or of a scalar, for
/// each operand, and of the length of the block. At each position everything is loaded before anything is stored, so results may alias
/// operands.
using loop_function = void (*)(void* const* operands, std::int64_t n);

/// An instruction of the innermost loop. Its registers are given as indices in the address table, see `cluster_code::addresses`.
struct lane_step {
  enum class kind : std::uint8_t { compute, copy, gather, scatter, position, reduce, reduce_into, stream, loop };
  kind what = kind::compute;
  std::uint8_t size = 0;
  dtype type = dtype::invalid;
  unsigned rows = 0;  // bit mask of the operands that have an element for each position
  int d = 0, x = 0, y = 0, z = 0;
  int operand = -1;
  int accumulator = -1;
  int loop = -1;  // index among the phase's `calls`
  block_function block = nullptr;
  const reduction_functions* reduction = nullptr;
};

/// A call of a loop that was compiled ahead of time: for each operand, an index in the address table.
struct loop_call {
  static constexpr int most_operands = 16;
  loop_function run = nullptr;
  std::vector<int> operands;
};

/// An address that advances with the row, of an operand or a row buffer.
struct moving_address {
  int at;       // index in the address table
  int operand;  // or -1
  int spill;    // row buffer, or -1
  int size;
  int slot;     // the slot of the register if results bypass the caches, or -1
};

struct lane_phase {
  std::vector<lane_step> steps;
  std::vector<moving_address> moving;
  std::vector<loop_call> calls;
  struct start {
    const reduction_functions* reduction;
    int accumulator;
    bool each_row;
  };
  std::vector<start> starts;
};

/// A result that is combined over rows or chunks.
struct combined_operand {
  int operand;
  bool starts;  // whether it must be initialized before the first row
  int size;
  const reduction_functions* reduction;
};

struct cluster_code {
  static constexpr std::int64_t cache_bytes = 24 * 1024;
  static constexpr std::int64_t longest_block = 2048;
  static constexpr std::int64_t whole_row = std::int64_t{1} << 40;  // the block of a cluster that needs no storage between instructions
  static constexpr std::int64_t block_unit = batch_bytes < 64 ? 64 : static_cast<std::int64_t>(batch_bytes);

  int operands = 0;
  int loops = 0;
  int outer = 0;
  bool has_inner = false;
  bool combines_rows = false;  // whether rows are combined four at a time, as in the compiled cluster
  reduction_order order = reduction_order::single;
  int accumulators = 0;
  int spills = 0;
  std::vector<int> operand_buffer, operand_size;
  std::vector<bool> operand_moves;         // whether it begins at an offset in its buffer
  std::vector<combined_operand> combined;
  std::vector<std::vector<scalar_step>> scalars;  // phases: once, row 0, …, row n, last
  std::vector<lane_phase> lanes;

  // The address table: cells that lanes read, slots, then moving addresses.
  std::vector<int> cell_addresses;  // offsets of these cells
  int slots = 0;
  int addresses = 0;
  std::int64_t cell_bytes = 0;
  std::int64_t slot_bytes = 0;
  std::int64_t block = block_unit;  // elements

  /// The operands of a cluster that only copies elements from one to the other, as a transposition does; -1 otherwise.
  int copied_from = -1, copied_to = -1;

  static constexpr std::int64_t longest_short_row = 512;
  tile_code tile;  // the same cluster, for several short rows at once

  cluster_code(const program_view& p, const std::int64_t* data, int step);
};

}  // namespace leat::cpu
