#pragma once
// The cells of a cluster, which store its per-row values. A cell that lanes read is broadcast to a batch and has an entry in the address
// table; other cells are single values.

#include <leat/cpu/interpret/cluster_instructions.hpp>

#include <bit>
#include <vector>

namespace leat::cpu::detail {

class cell_places {
 public:
  /// `code`: the integers of the cluster.
  cell_places(cluster_code& to, const std::int64_t* code) : to_(to), code_(code) {}

  /// Records the scalars that lanes read, because their cells will be broadcast.
  void note(const std::vector<instruction>& code) {
    if (at_.empty()) {
      int count = 0;
      for (int k = 0; k < register_files; ++k) count += static_cast<int>(code_[scalar_registers + k]);
      at_.assign(static_cast<std::size_t>(count) + 1, -1);
      address_.assign(static_cast<std::size_t>(count) + 1, -1);
    }
    for (const auto& i : code) {
      if (i.loop != nullptr)
        for (const auto& p : i.loop->loads)
          if (is_scalar(p.kind)) read_by_lanes(p.kind, p.number);
      if (i.op < 0) continue;
      if (is_scalar(i.kinds.x)) read_by_lanes(i.kinds.x, i.x);
      if (is_scalar(i.kinds.y)) read_by_lanes(i.kinds.y, i.y);
      if (is_scalar(i.kinds.z)) read_by_lanes(i.kinds.z, i.z);
    }
  }
  /// Places the remaining cells, once all instructions have been noted.
  void place() {
    for (int& c : at_)
      if (c < 0) {
        c = static_cast<int>(to_.cell_bytes);
        to_.cell_bytes += 8;
      }
    to_.cell_bytes = leat::detail::divide_up(to_.cell_bytes, 64) * 64;
  }

  int number(std::int64_t kind, std::int64_t r) const {
    int at = 0;
    const int file = register_file(register_type(kind));
    for (int k = 0; k < file; ++k) at += static_cast<int>(code_[scalar_registers + k]);
    if (r < 0 || r >= code_[scalar_registers + file]) damaged_program("an instruction names a register that is not there");
    return at + static_cast<int>(r);
  }
  /// The offset of a cell in bytes.
  int cell(std::int64_t kind, std::int64_t r) const { return at_[static_cast<std::size_t>(number(kind, r))]; }
  bool is_repeated(std::int64_t kind, std::int64_t r) const { return address(kind, r) >= 0; }
  /// The cell's entry in the address table, or -1.
  int address(std::int64_t kind, std::int64_t r) const { return address_[static_cast<std::size_t>(number(kind, r))]; }

  /// The address of the constant 1 or -0 of a floating-point dtype, in a cell that lanes read.
  int constant_address(std::int64_t kind, dtype type) {
    const bool one = kind == constant_kind + 1;
    for (const auto& c : constants_)
      if (c.one == one && c.type == type) return c.address;
    scalar_step s;
    s.what = scalar_step::kind::immediate;
    s.type = type;
    s.size = static_cast<std::uint8_t>(size_of(type));
    s.repeated = true;
    s.bits = immediate_bits(type, std::bit_cast<std::int64_t>(one ? 1.0 : -0.0));
    s.d = static_cast<int>(to_.cell_bytes);
    to_.cell_bytes += static_cast<std::int64_t>(repeated_bytes);
    constants_.push_back({one, type, static_cast<int>(to_.cell_addresses.size())});
    to_.cell_addresses.push_back(s.d);
    to_.scalars[0].push_back(s);
    return constants_.back().address;
  }

 private:
  void read_by_lanes(std::int64_t kind, std::int64_t r) {
    const auto k = static_cast<std::size_t>(number(kind, r));
    if (at_[k] >= 0) return;
    at_[k] = static_cast<int>(to_.cell_bytes);
    address_[k] = static_cast<int>(to_.cell_addresses.size());
    to_.cell_addresses.push_back(at_[k]);
    to_.cell_bytes += static_cast<std::int64_t>(repeated_bytes);
  }

  struct known_constant {
    bool one;
    dtype type;
    int address;
  };
  cluster_code& to_;
  const std::int64_t* code_;
  std::vector<int> at_, address_;  // indexed by register
  std::vector<known_constant> constants_;
};

inline int checked_operand(const cluster_code& c, std::int64_t o) {
  if (o < 0 || o >= c.operands) damaged_program("an instruction names an operand that is not there");
  return static_cast<int>(o);
}
inline int checked_accumulator(const cluster_code& c, std::int64_t a) {
  if (a < 0 || a >= c.accumulators) damaged_program("an instruction names an accumulator that is not there");
  return static_cast<int>(a);
}

}  // namespace leat::cpu::detail
