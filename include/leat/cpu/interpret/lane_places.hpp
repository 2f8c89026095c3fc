#pragma once
// Register allocation for lanes. A register is stored in a slot of the worker's memory, in an operand (where it was loaded from, or where
// it will be stored), or in a row buffer.

#include <leat/cpu/interpret/cell_places.hpp>

#include <algorithm>
#include <vector>

namespace leat::cpu::detail {

enum class lane_place { slot, loaded, stored, kept };  // storage of a register; `kept`: in a row buffer
struct lane_register {
  int defined = -1;
  int last_use = -1;
  int size = 0;
  lane_place where = lane_place::slot;
  bool per_row = false;  // whether it is, in a tile, an array of one value per row
  int operand = -1;      // the operand that it is loaded from or stored to
  int spill = -1;
  int address = -1;
  int slot = -1;
};

class lane_places {
 public:
  /// `buffers`: indexed by operand.
  lane_places(const lane_numbers& number, const std::vector<int>& buffers) : number_(number), buffers_(buffers) {}

  lane_register& of(std::int64_t kind, std::int64_t r) { return lives_[number_(kind, r)]; }
  const lane_register& of(std::int64_t kind, std::int64_t r) const { return lives_[number_(kind, r)]; }
  lane_register& operator[](std::size_t number) { return lives_[number]; }

  /// Finds each register's live range. Registers from which rows are combined live to the end.
  void find_lives(const std::vector<instruction>& code, bool combines_rows) {
    lives_.assign(number_.size(), {});
    const int end = static_cast<int>(code.size());
    for (int i = 0; i < end; ++i) {
      const auto& c = code[static_cast<std::size_t>(i)];
      number_.each_use(c, [&](std::size_t r) {
        if (lives_[r].defined < 0) damaged_program("an instruction reads a register that nothing wrote");
        lives_[r].last_use = std::max(lives_[r].last_use, combines_rows && c.op == reduce_array ? end : i);
      });
      number_.each_result(c, [&](std::int64_t kind, std::int64_t number) {
        auto& r = of(kind, number);
        r.defined = i;
        r.last_use = i;
        r.size = size_of(register_type(kind));
      });
    }
  }
  /// Chooses the storage of each lane register. In a tile, loads and stores of any stride may use the operand itself.
  void choose_places(const std::vector<instruction>& code, bool tiled) {
    find_touches(code);
    for (const auto& c : code) {
      if (c.op != spill) continue;
      auto& r = of(c.kinds.x, c.x);
      if (!computes(code[static_cast<std::size_t>(r.defined)])) continue;
      r.where = lane_place::kept;
      r.spill = static_cast<int>(c.d);
    }
    for (const auto& c : code) {
      if (c.op != instruction_code::store || (c.y != 1 && !tiled)) continue;
      auto& r = of(c.kinds.x, c.x);
      const auto& made = code[static_cast<std::size_t>(r.defined)];
      if (r.per_row || r.where != lane_place::slot || !computes(made) || !may_store_early(code, r.defined, static_cast<int>(c.d))) continue;
      r.where = lane_place::stored;
      r.operand = static_cast<int>(c.d);
    }
    for (std::size_t i = 0; i < code.size(); ++i) {
      const auto& c = code[i];
      if (c.op == instruction_code::load && (c.y == 1 || tiled) && !of(c.kinds.d, c.d).per_row && stays(code, static_cast<int>(i))) {
        auto& r = of(c.kinds.d, c.d);
        r.where = lane_place::loaded;
        r.operand = static_cast<int>(c.x);
      } else if (c.op == reload) {
        auto& r = of(c.kinds.d, c.d);
        r.where = lane_place::kept;
        r.spill = static_cast<int>(c.x);
      }
    }
  }

  /// Frees the first `slots` slots. Allocating more than these increases `slots()`.
  void free_slots(int slots) {
    slots_ = slots;
    free_.clear();
    for (int s = slots_; s-- > 0;) free_.push_back(s);
  }
  int slots() const { return slots_; }
  int take_slot() {
    if (!free_.empty()) {
      const int s = free_.back();
      free_.pop_back();
      return s;
    }
    return slots_++;
  }
  void release(lane_register& r) {
    if (r.slot < 0) return;
    free_.push_back(r.slot);
    r.slot = -1;
  }

 private:
  static bool computes(const instruction& i) { return i.op >= 0 || i.loop != nullptr; }
  int buffer_of(std::int64_t operand) const {
    if (operand < 0 || operand >= static_cast<std::int64_t>(buffers_.size()))
      damaged_program("an instruction names an operand that is not there");
    return buffers_[static_cast<std::size_t>(operand)];
  }
  // An instruction that loads from or stores to a buffer; sorted by buffer.
  struct touch {
    int buffer;
    int at;
    auto operator<=>(const touch&) const = default;
  };
  void find_touches(const std::vector<instruction>& code) {
    touches_.clear();
    for (std::size_t k = 0; k < code.size(); ++k) {
      const auto& c = code[k];
      if (c.op == instruction_code::load) touches_.push_back({buffer_of(c.x), static_cast<int>(k)});
      if (c.op == instruction_code::store) touches_.push_back({buffer_of(c.d), static_cast<int>(k)});
    }
    std::ranges::sort(touches_);
  }
  auto touches_of(std::int64_t operand) const { return std::ranges::equal_range(touches_, buffer_of(operand), {}, &touch::buffer); }
  // Whether a register computed at `i` may be written directly to operand `o`.
  bool may_store_early(const std::vector<instruction>& code, int i, int o) const {
    return std::ranges::all_of(touches_of(o), [&](const touch& t) {
      const auto& c = code[static_cast<std::size_t>(t.at)];
      if (c.op == instruction_code::store) return c.d == o;
      const auto& r = of(c.kinds.d, c.d);
      return t.at <= i && r.last_use <= i && (r.last_use != i || c.x == o);
    });
  }
  // Whether the elements loaded at `i` stay unchanged in memory until their last use.
  bool stays(const std::vector<instruction>& code, int i) const {
    const auto& c = code[static_cast<std::size_t>(i)];
    const auto& r = of(c.kinds.d, c.d);
    return std::ranges::all_of(touches_of(c.x), [&](const touch& t) {
      const auto& s = code[static_cast<std::size_t>(t.at)];
      if (s.op != instruction_code::store) return true;
      const auto& from = of(s.kinds.x, s.x);
      const int written = from.where == lane_place::stored && from.operand == s.d ? from.defined : t.at;
      return r.last_use < written || (r.last_use == written && s.d == c.x);
    });
  }

  const lane_numbers& number_;
  const std::vector<int>& buffers_;
  std::vector<lane_register> lives_;
  std::vector<touch> touches_;
  std::vector<int> free_;
  int slots_ = 0;
};

}  // namespace leat::cpu::detail
