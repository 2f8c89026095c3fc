#pragma once
// The instructions of a fused cluster. A cluster is a loop nest over one shape. Each instruction is six integers: an operator's code (or
// one of the negative codes below), a destination, up to three operands, and its signature. Registers are given by number; their kinds are
// in the signature. A lane register has one element (or one SIMD batch) at each position of the innermost loop; a scalar register has one
// value per row. A cluster runs in phases:
//
//   once        scalars that are the same for all rows
//   for each row
//     row 0, lanes 0, row 1, lanes 1, …, row n   the lanes loop over the row; a row phase uses the reductions of the lanes before it
//   last        reductions over all elements

#include <leat/core/dtype.hpp>
#include <cstdint>

// A separate namespace, because its short names would conflict with those of a program that is `using namespace leat`.
namespace leat::instructions {

enum instruction_code : int {
  load = -1,           // destination, operand, inner stride class
  store = -2,          // operand, register, inner stride class
  immediate = -3,      // destination, bits
  position = -4,       // destination, loop
  reduce_lanes = -5,   // accumulator, register, operator
  finish_row = -6,     // destination, accumulator, operator
  reduce_array = -7,   // operand, register, operator: array[j] = combine(array[j], lanes)
  reduce_cell = -8,    // operand, register, operator: *cell = combine(*cell, scalar)
  finish_all = -9,     // operand, accumulator, operator
  spill = -10,         // row buffer, register
  reload = -11,        // destination, row buffer
  look_up = -12        // operand, register, length of its rows: the register has the index of the operand's row for this row of the loop
};

/// A register as one integer: its number, whether it is a scalar, and its dtype.
constexpr std::int64_t make_register(int number, bool scalar, dtype type) {
  return number | (scalar ? 1 << 20 : 0) | static_cast<std::int64_t>(type) << 24;
}
constexpr int register_number(std::int64_t r) { return static_cast<int>(r & 0xfffff); }
constexpr bool register_is_scalar(std::int64_t r) { return (r >> 20 & 1) != 0; }
constexpr dtype register_type(std::int64_t r) { return static_cast<dtype>(r >> 24 & 0xf); }

/// The index of the register file of a dtype.
constexpr int register_file(dtype d) {
  switch (d) {
    case dtype::float32: return 0;
    case dtype::float64: return 1;
    case dtype::int32: return 2;
    case dtype::int64: return 3;
    case dtype::uint8: return 4;
    default: return 5;
  }
}
inline constexpr int register_files = 6;

/// The header that precedes a cluster's instructions.
enum cluster_header : int {
  lane_width,          // bytes of the lanes' elements if all are of one size, else 0
  outer_loops,         // number of loops around the innermost one
  has_lanes,           // whether there is an innermost loop
  stages,              // number of times that the innermost loop runs over a row
  operand_total,
  accumulator_total,
  lane_registers,      // six counts, one per register file
  scalar_registers = lane_registers + register_files,
  spill_total = scalar_registers + register_files,
  accumulating_total,  // number of operands that are reduced into: triples (operand, operator, dtype) follow the phase lengths
  element_loop,        // whether all work is per element, so that the innermost loop may be cut into chunks
  of_models,           // whether the lanes are models, each of whose small arrays has a register for each element
  phase_lengths        // lengths of the phases: once, then row 0, lanes 0, …, row n, last
};
inline constexpr int words_per_instruction = 6;

/// The part of an instruction that selects code, packed into one integer, its sixth word: the operator and the kind of each register,
/// without the register's number. Instructions with equal signatures share their function, and one template argument names the function.
struct signature {
  std::int64_t op = 0;
  std::int64_t d = -1;  // kinds of registers, or -1; for codes below 0, `y` and `z` are the words themselves
  std::int64_t x = -1;
  std::int64_t y = -1;
  std::int64_t z = -1;
};

constexpr std::int64_t kind_of(std::int64_t r) { return r < 0 ? -1 : r & ~std::int64_t{0xfffff}; }
constexpr std::int64_t pack_kind(std::int64_t r) { return r < 0 ? 0 : 1 + ((r >> 20) & 1) + ((r >> 23) & 0x1e); }
constexpr std::int64_t unpack_kind(std::int64_t packed) {
  packed &= 31;
  return packed == 0 ? -1 : ((packed - 1) & 1) << 20 | ((packed - 1) >> 1) << 24;
}

/// Whether the first word of an instruction with a negative code is a register that it writes, or its second word a register that it reads.
constexpr bool makes_register(std::int64_t op) {
  return op == load || op == immediate || op == position || op == finish_row || op == reload;
}
constexpr bool takes_register(std::int64_t op) {
  return op == store || op == reduce_lanes || op == reduce_array || op == reduce_cell || op == spill || op == look_up;
}

/// Packs the signature of an instruction from its five words.
constexpr std::int64_t pack_signature(std::int64_t op, std::int64_t d, std::int64_t x, std::int64_t y, std::int64_t z) {
  if (op >= 0) return op << 20 | pack_kind(d) << 15 | pack_kind(x) << 10 | pack_kind(y) << 5 | pack_kind(z);
  return std::int64_t{1} << 62 | -op << 52 | (makes_register(op) ? pack_kind(d) : 0) << 47 | (takes_register(op) ? pack_kind(x) : 0) << 42 |
         ((z + 1) & 0xff) << 32 | ((y + 1) & 0x7fffffff);
}
constexpr signature unpack_signature(std::int64_t s) {
  if ((s >> 62) == 0) return {s >> 20, unpack_kind(s >> 15), unpack_kind(s >> 10), unpack_kind(s >> 5), unpack_kind(s)};
  return {-((s >> 52) & 0x3ff), unpack_kind(s >> 47), unpack_kind(s >> 42), (s & 0x7fffffff) - 1, ((s >> 32) & 0xff) - 1};
}

}  // namespace leat::instructions

// Lets writers and readers of instructions use their names without a prefix.
namespace leat::detail {
using namespace leat::instructions;
}
namespace leat::passes::detail {
using namespace leat::instructions;
}
namespace leat::kernels {
using namespace leat::instructions;
}
namespace leat::cpu {
using namespace leat::instructions;
}
namespace leat::on_thrust {
using namespace leat::instructions;
}
