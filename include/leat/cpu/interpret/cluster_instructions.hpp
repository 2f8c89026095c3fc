#pragma once
// A cluster's instructions during their translation from a program to code: the registers they access, and peephole fusion. A sum,
// difference or product that only one operator reads is computed together with that operator.

#include <leat/cpu/interpret/cluster_code.hpp>
#include <leat/cpu/interpret/fused_pairs.hpp>
#include <leat/cpu/interpret/lookup.hpp>
#include <leat/passes/instruction.hpp>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace leat::cpu::detail {

/// A register that is loaded from an operand, or stored to it.
struct passed_register {
  int operand;
  std::int64_t kind, number;
};
/// A loop that was compiled ahead of time, as an instruction of a cluster: the registers that it reads and writes.
struct joined_loop {
  loop_function run = nullptr;
  int operands = 0;
  std::vector<passed_register> loads, stores;
};

struct instruction {
  int op;
  std::int64_t d, x, y, z;
  signature kinds;
  block_function fused = nullptr;             // the function of several operators; then `op` is 0
  std::shared_ptr<const joined_loop> loop{};  // the compiled loop; then `op` is `run_loop`
};
// The register kind of constants, which are cells that no instruction of the program names.
inline constexpr std::int64_t constant_kind = std::int64_t{1} << 40;
inline bool is_constant(std::int64_t kind) { return kind >= constant_kind; }
inline bool is_lane(std::int64_t kind) { return kind >= 0 && !is_constant(kind) && !register_is_scalar(kind); }
inline bool is_scalar(std::int64_t kind) { return kind >= 0 && !is_constant(kind) && register_is_scalar(kind); }
// Instructions that only tiles have, and programs do not: see tile_writer.hpp.
inline constexpr int spread_rows = -1001;  // destination, row value
inline constexpr int reduce_rows = -1002;  // row value, register, operator
// A call of a loop that was compiled ahead of time: see ready_loops.hpp.
inline constexpr int run_loop = -1003;
// Whether an instruction writes a register, its `d`.
inline bool defines(const instruction& i) {
  return i.op >= 0 || i.op == instruction_code::load || i.op == position || i.op == reload || i.op == spread_rows || i.op == reduce_rows;
}
// The dtypes of an operator's operands.
inline int operand_types(const instruction& i, dtype (&in)[3]) {
  int count = 0;
  for (const std::int64_t kind : {i.kinds.x, i.kinds.y, i.kinds.z})
    if (kind >= 0) in[count++] = register_type(kind);
  return count;
}

/// Numbers the lane registers of all files consecutively.
struct lane_numbers {
  std::int64_t counts[register_files]{};  // registers of each file

  std::size_t operator()(std::int64_t kind, std::int64_t r) const {
    std::size_t at = 0;
    const int file = register_file(register_type(kind));
    for (int k = 0; k < file; ++k) at += static_cast<std::size_t>(counts[k]);
    if (r < 0 || r >= counts[file]) damaged_program("an instruction names a register that is not there");
    return at + static_cast<std::size_t>(r);
  }
  std::size_t size() const {
    std::size_t count = 0;
    for (int k = 0; k < register_files; ++k) count += static_cast<std::size_t>(counts[k]);
    return count;
  }
  /// Calls `f` with the number of each lane register that an instruction reads.
  template <class F>
  void each_use(const instruction& i, F f) const {
    if (i.op >= 0) {
      if (is_lane(i.kinds.x)) f((*this)(i.kinds.x, i.x));
      if (is_lane(i.kinds.y)) f((*this)(i.kinds.y, i.y));
      if (is_lane(i.kinds.z)) f((*this)(i.kinds.z, i.z));
    } else if (i.op == instruction_code::store || i.op == reduce_lanes || i.op == reduce_array || i.op == reduce_cell || i.op == spill ||
               i.op == spread_rows || i.op == reduce_rows) {
      f((*this)(i.kinds.x, i.x));
    } else if (i.loop != nullptr) {
      for (const auto& p : i.loop->loads)
        if (is_lane(p.kind)) f((*this)(p.kind, p.number));
    }
  }
  /// Calls `f` with the kind and the number of each lane register that an instruction writes.
  template <class F>
  void each_result(const instruction& i, F f) const {
    if (defines(i)) f(i.kinds.d, i.d);
    else if (i.loop != nullptr)
      for (const auto& p : i.loop->stores) f(p.kind, p.number);
  }
};

// ---- peephole fusion ------------------------------------------------------------------------------------------------

struct register_use {
  int count = 0;
  int defined = -1;
};
inline std::vector<register_use> uses_of(const std::vector<instruction>& code, const lane_numbers& number) {
  std::vector<register_use> uses(number.size());
  for (std::size_t i = 0; i < code.size(); ++i) {
    number.each_use(code[i], [&](std::size_t r) { ++uses[r].count; });
    if (defines(code[i])) uses[number(code[i].kinds.d, code[i].d)].defined = static_cast<int>(i);
  }
  return uses;
}
// The instruction that computes an operand only for this use, if its operator is a sum, difference or product; else null.
inline instruction* only_for_this(std::vector<instruction>& code, const std::vector<register_use>& uses, const lane_numbers& number,
                                  std::int64_t kind, std::int64_t r) {
  if (!is_lane(kind)) return nullptr;
  const register_use& u = uses[number(kind, r)];
  if (u.count != 1 || u.defined < 0) return nullptr;
  instruction& i = code[static_cast<std::size_t>(u.defined)];
  const bool simple =
      i.op == operator_record<add_op>::code || i.op == operator_record<sub_op>::code || i.op == operator_record<mul_op>::code;
  return simple ? &i : nullptr;
}
inline constexpr int fused_away = -1000;  // the operator of an instruction that was fused into another one
inline void set_factors(instruction& made, const instruction& product) {
  made.x = product.x;
  made.y = product.y;
  made.kinds.x = product.kinds.x;
  made.kinds.y = product.kinds.y;
}

/// Fuses operands into the only operator that reads them, if there is a function for both.
inline void fuse_neighbors(std::vector<instruction>& code, const lane_numbers& number) {
  auto uses = uses_of(code, number);
  const auto alone = [&](std::int64_t kind, std::int64_t r) { return only_for_this(code, uses, number, kind, r); };
  for (auto& c : code) {
    if (c.op <= 0 || c.kinds.y >= 0) continue;
    instruction* const t = alone(c.kinds.x, c.x);
    if (t == nullptr) continue;
    const bool minus = t->op == operator_record<sub_op>::code;
    const auto f = find_fused(c.op, -1, minus, register_type(c.kinds.d));
    if (f == nullptr) continue;
    instruction made{0, c.d, t->x, 0, t->y, {0, c.kinds.d, t->kinds.x, constant_kind + 1, t->kinds.y}, f};
    instruction* product = nullptr;
    if (t->op == operator_record<mul_op>::code) {
      made.y = t->y;
      made.kinds.y = t->kinds.y;
      made.kinds.z = constant_kind;
    } else if (product = alone(t->kinds.x, t->x); product != nullptr && product->op == operator_record<mul_op>::code) {
      set_factors(made, *product);
    } else if (product = alone(t->kinds.y, t->y); !minus && product != nullptr && product->op == operator_record<mul_op>::code) {
      made.z = t->x;
      made.kinds.z = t->kinds.x;
      set_factors(made, *product);
    } else {
      product = nullptr;
    }
    if (product != nullptr && t->op != operator_record<mul_op>::code) product->op = fused_away;
    t->op = fused_away;
    c = made;
  }
  std::erase_if(code, [](const instruction& i) { return i.op == fused_away; });
  uses = uses_of(code, number);
  for (auto& c : code) {
    if (c.op <= 0 || c.kinds.z >= 0) continue;
    for (const bool first : {true, false}) {
      if (!first && c.kinds.y < 0) break;
      instruction* const t = first ? alone(c.kinds.x, c.x) : alone(c.kinds.y, c.y);
      if (t == nullptr) continue;
      const auto f = find_fused(c.op, t->op, first, register_type(c.kinds.d));
      if (f == nullptr) continue;
      const signature kinds{0, c.kinds.d, t->kinds.x, t->kinds.y, first ? c.kinds.y : c.kinds.x};
      const instruction made{0, c.d, t->x, t->y, first ? c.y : c.x, kinds, f};
      t->op = fused_away;
      c = made;
      break;
    }
  }
  std::erase_if(code, [](const instruction& i) { return i.op == fused_away; });
}

}  // namespace leat::cpu::detail
