#pragma once
// Loops of many operators that are compiled ahead of time, as functions over blocks, so that their intermediate results never leave the
// registers. A cluster that contains the operators of such a loop calls it in their place, whatever else is fused around them.
//
// A loop is identified by the instructions from which it was compiled, those of a cluster with one phase. `join_loops` searches a cluster's
// instructions for them, from the last operator back. The registers that the loop loads may be any registers of the same kind; its results
// are stored to registers again.

#include <leat/core/fill.hpp>
#include <leat/cpu/interpret/cluster_instructions.hpp>

#include <algorithm>
#include <memory>
#include <mutex>
#include <vector>

namespace leat::cpu {

namespace detail {

/// The instructions of a compiled loop, sorted by their role: operators, loads, and stores.
struct ready_loop {
  loop_function run = nullptr;
  int operands = 0;
  std::vector<instruction> operators;  // the result of the last one is not read by the others
  std::vector<passed_register> loads, stores;
};

// Reads the integers of a cluster: its loads, its stores, and all other instructions.
inline ready_loop read_loop(const std::int64_t* code, loop_function run) {
  ready_loop made{run, static_cast<int>(code[operand_total]), {}, {}, {}};
  const int phases = 2 * static_cast<int>(code[stages]) + 3;
  std::int64_t count = 0;
  for (int p = 0; p < phases; ++p) count += code[phase_lengths + p];
  const std::int64_t* w = code + phase_lengths + phases;
  for (; count-- > 0; w += words_per_instruction) {
    const instruction i{static_cast<int>(w[0]), w[1], w[2], w[3], w[4], unpack_signature(w[5])};
    if (i.op == instruction_code::load) made.loads.push_back({static_cast<int>(i.x), i.kinds.d, i.d});
    else if (i.op == instruction_code::store) made.stores.push_back({static_cast<int>(i.d), i.kinds.x, i.x});
    else made.operators.push_back(i);
  }
  return made;
}

struct loop_table {
  std::mutex guard;
  std::vector<std::shared_ptr<const ready_loop>> loops;
};
LEAT_DECLARE_FILL(fill_ready_loops);
inline loop_table& known_loops() {
  static auto& table = *new loop_table;
  static constinit leat::detail::table_fills fills;
  fills.run({LEAT_FILLS(fill_ready_loops)});
  return table;
}
/// Registers a loop. Longer loops are searched for first.
inline void enter_loop(ready_loop made) {
  auto& table = known_loops();
  const std::lock_guard lock(table.guard);
  const auto at = std::find_if(table.loops.begin(), table.loops.end(),
                               [&](const auto& other) { return other->operators.size() < made.operators.size(); });
  table.loops.insert(at, std::make_shared<const ready_loop>(std::move(made)));
}

// Searches for one loop in a list of instructions in which every register is written only once.
class loop_finder {
 public:
  loop_finder(const std::vector<instruction>& code, const std::vector<register_use>& uses, const lane_numbers& number,
              const ready_loop& loop)
      : code_(code), uses_(uses), number_(number), loop_(loop) {}

  /// Whether the loop occurs with its last operator at `last`.
  bool ends_at(int last) {
    bound_.clear();
    members_.clear();
    const instruction& end = loop_.operators.back();
    return is_same(end.kinds.d, end.d, code_[static_cast<std::size_t>(last)].kinds.d, code_[static_cast<std::size_t>(last)].d) &&
           members_.size() == loop_.operators.size() && is_whole(last);
  }
  /// The indices of the operators that belong to the loop.
  const std::vector<int>& members() const { return members_; }
  std::shared_ptr<const joined_loop> joined() const {
    auto made = std::make_shared<joined_loop>();
    made->run = loop_.run;
    made->operands = loop_.operands;
    for (const auto& p : loop_.loads) {
      const binding* b = find(p.kind, p.number);
      made->loads.push_back({p.operand, b->kind, b->number});
    }
    for (const auto& p : loop_.stores) {
      const binding* b = find(p.kind, p.number);
      made->stores.push_back({p.operand, b->kind, b->number});
    }
    return made;
  }

 private:
  struct binding {
    std::int64_t of_kind, of_number;  // in the loop
    std::int64_t kind, number;        // in the cluster
  };
  const binding* find(std::int64_t kind, std::int64_t number) const {
    for (const auto& b : bound_)
      if (b.of_kind == kind && b.of_number == number) return &b;
    return nullptr;
  }
  // Whether a register of the cluster corresponds to this register of the loop, with everything that it is computed from.
  bool is_same(std::int64_t of_kind, std::int64_t of_number, std::int64_t kind, std::int64_t number) {
    if (kind != of_kind) return false;
    if (const binding* b = find(of_kind, of_number)) return b->kind == kind && b->number == number;
    const auto made = std::find_if(loop_.operators.begin(), loop_.operators.end(),
                                   [&](const instruction& i) { return i.kinds.d == of_kind && i.d == of_number; });
    if (made != loop_.operators.end()) {
      if (!is_lane(kind)) return false;
      const int at = uses_[number_(kind, number)].defined;
      if (at < 0) return false;
      const instruction& i = code_[static_cast<std::size_t>(at)];
      if (i.op != made->op || i.kinds.x != made->kinds.x || i.kinds.y != made->kinds.y || i.kinds.z != made->kinds.z) return false;
      if (!is_same(made->kinds.x, made->x, i.kinds.x, i.x)) return false;
      if (made->kinds.y >= 0 && !is_same(made->kinds.y, made->y, i.kinds.y, i.y)) return false;
      if (made->kinds.z >= 0 && !is_same(made->kinds.z, made->z, i.kinds.z, i.z)) return false;
      members_.push_back(at);
    }
    bound_.push_back({of_kind, of_number, kind, number});
    return true;
  }
  // Whether no other instruction reads a register that is internal to the loop, or a result of the loop before the loop ends.
  bool is_whole(int last) const {
    for (std::size_t k = 0; k < code_.size(); ++k) {
      if (std::find(members_.begin(), members_.end(), static_cast<int>(k)) != members_.end()) continue;
      bool fits = true;
      number_.each_use(code_[k], [&](std::size_t r) {
        for (const int m : members_) {
          const instruction& i = code_[static_cast<std::size_t>(m)];
          if (number_(i.kinds.d, i.d) != r) continue;
          bool given = false;
          for (const auto& p : loop_.stores) {
            const binding* b = find(p.kind, p.number);
            given = given || (b->kind == i.kinds.d && b->number == i.d);
          }
          fits = fits && given && static_cast<int>(k) > last;
        }
      });
      if (!fits) return false;
    }
    return true;
  }

  const std::vector<instruction>& code_;
  const std::vector<register_use>& uses_;
  const lane_numbers& number_;
  const ready_loop& loop_;
  std::vector<binding> bound_;
  std::vector<int> members_;
};

/// Replaces the operators of known loops by calls of these loops.
inline void join_loops(std::vector<instruction>& code, const lane_numbers& number) {
  auto& table = known_loops();
  const std::lock_guard lock(table.guard);
  std::vector<register_use> uses;
  bool found = false;
  for (const auto& loop : table.loops) {
    if (loop->operators.size() > code.size()) continue;
    loop_finder finder(code, uses, number, *loop);
    for (std::size_t k = code.size(); k-- > 0;) {
      if (code[k].op != loop->operators.back().op) continue;
      if (uses.empty()) uses = uses_of(code, number);
      if (!finder.ends_at(static_cast<int>(k))) continue;
      const instruction call{run_loop, 0, 0, 0, 0, {}, nullptr, finder.joined()};
      for (const int m : finder.members()) code[static_cast<std::size_t>(m)].op = fused_away;
      code[k] = call;
      found = true;
    }
  }
  if (found) std::erase_if(code, [](const instruction& i) { return i.op == fused_away; });
}

}  // namespace detail

}  // namespace leat::cpu
