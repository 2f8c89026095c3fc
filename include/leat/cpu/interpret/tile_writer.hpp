#pragma once
// Translates the phases of a cluster into the code of a tile, see tile_code.hpp. All phases are joined into one list in which every
// register is written once and none is a scalar. Scalars become row arrays; lanes that read a scalar read its spread array. A value that a
// stage keeps for a later one (spill, reload) is simply the same register.

#include <leat/cpu/interpret/lane_places.hpp>

#include <algorithm>
#include <utility>
#include <vector>

namespace leat::cpu::detail {

class tile_writer {
 public:
  /// `phases` are those after peephole fusion. The cells that `instructions()` reads must be placed before `write()`.
  tile_writer(cluster_code& to, cell_places& cells, const program_view::step& info, const std::int64_t* code,
              const std::vector<std::vector<instruction>>& phases)
      : to_(to),
        cells_(cells),
        info_(info),
        code_(code),
        phases_(phases),
        stages_(static_cast<int>(code[stages])),
        lives_(numbers_, to.operand_buffer) {
    for (int k = 0; k < register_files; ++k) numbers_.counts[k] = lanes_of(k) + 2 * code_[scalar_registers + k];
    if (to_.has_inner && to_.outer > 0 && to_.outer <= max_rank && !join()) list_.clear();
  }

  /// Empty if the rows of this cluster can only be computed one by one.
  const std::vector<instruction>& instructions() const { return list_; }

  void write() {
    if (list_.empty()) return;
    // Values that are the same in all tiles come first, in slots of their own.
    std::vector<instruction> first, others;
    for (const auto& i : list_) (is_same_in_all_rows(i) ? first : others).push_back(i);
    list_ = std::move(first);
    list_.insert(list_.end(), others.begin(), others.end());
    lives_.find_lives(list_, false);
    for (const auto& i : list_) {
      if (!defines(i)) continue;
      auto& r = lives_.of(i.kinds.d, i.d);
      r.per_row = is_row(i.kinds.d, i.d);
      if (is_same_in_all_rows(i)) r.last_use = static_cast<int>(list_.size());  // is used by the next tile, too
    }
    lives_.choose_places(list_, true);
    lives_.free_slots(0);
    for (std::size_t k = 0; k < list_.size(); ++k) write_instruction(list_[k], static_cast<int>(k));
    to_.tile.exists = true;
    to_.tile.slots = lives_.slots();
    settle();
    const std::int64_t unit = cluster_code::block_unit;
    const std::int64_t fits = cluster_code::cache_bytes / (std::max(1, to_.tile.slots) * widest_);
    to_.tile.block = std::clamp(fits / unit * unit, unit, cluster_code::longest_block);
    to_.tile.slot_bytes = to_.tile.block * widest_ + unit;  // plus a unit, because spreading writes whole batches
  }

 private:
  // Base numbers of each kind of address, until their final positions in the address table are known.
  static constexpr int slot_base = 1 << 20;
  static constexpr int row_base = 1 << 22;
  static constexpr int home_base = 1 << 24;

  // ---- registers: lanes of each stage, then row values, then spread ones -----------------------------------------------

  std::int64_t lanes_of(int file) const { return stages_ * code_[lane_registers + file]; }
  static int file_of(std::int64_t kind) { return register_file(register_type(kind)); }
  static std::int64_t lane_kind(std::int64_t kind) { return kind & ~(std::int64_t{1} << 20); }
  bool is_row(std::int64_t kind, std::int64_t r) const {
    const int file = file_of(kind);
    return r >= lanes_of(file) && r < lanes_of(file) + code_[scalar_registers + file];
  }
  std::int64_t row_number(std::int64_t kind, std::int64_t r) const {
    cells_.number(kind, r);  // checks that the register exists
    return lanes_of(file_of(kind)) + r;
  }
  std::int64_t lane_number(std::int64_t kind, std::int64_t r, int stage) const {
    const int file = file_of(kind);
    if (r < 0 || r >= code_[lane_registers + file]) damaged_program("an instruction names a register that is not there");
    const std::int64_t own = stage * code_[lane_registers + file] + r;
    for (const auto& a : reloaded_)
      if (a.file == file && a.own == own) return a.kept;
    return own;
  }
  bool is_of_rows(std::int64_t kind, std::int64_t r) const {
    return is_scalar(kind) && of_rows_[static_cast<std::size_t>(cells_.number(kind, r))];
  }

  // ---- joining --------------------------------------------------------------------------------------------------------

  bool join() {
    std::size_t scalars = 1;
    for (int k = 0; k < register_files; ++k) scalars += static_cast<std::size_t>(code_[scalar_registers + k]);
    of_rows_.assign(scalars, false);
    spread_.assign(scalars, false);
    finished_.assign(static_cast<std::size_t>(to_.accumulators), {-1, -1});
    for (int t = 0; t <= stages_; ++t)
      for (const auto& i : phase(1 + 2 * t)) {
        if (i.op == finish_row || defines(i)) {
          if (!is_scalar(i.kinds.d)) return false;
          of_rows_[static_cast<std::size_t>(cells_.number(i.kinds.d, i.d))] = true;
        }
        if (i.op == finish_row) finished_[static_cast<std::size_t>(checked_accumulator(to_, i.x))] = {i.kinds.d, i.d};
      }
    for (int t = 0; t <= stages_; ++t) {
      for (const auto& i : phase(1 + 2 * t))
        if (!join_row(i)) return false;
      if (t == stages_) break;
      for (const auto& i : phase(2 + 2 * t))
        if (!join_lanes(i, t)) return false;
    }
    return true;
  }
  const std::vector<instruction>& phase(int p) const { return phases_[static_cast<std::size_t>(p)]; }

  bool join_row(instruction i) {
    if (i.op == finish_row) return true;  // it is computed at the end of the lanes
    const auto input = [&](std::int64_t& kind, std::int64_t& r) {
      if (!is_of_rows(kind, r)) return false;
      r = row_number(kind, r);
      kind = lane_kind(kind);
      return true;
    };
    if (i.op == instruction_code::store || i.op == reduce_cell) {
      if (!input(i.kinds.x, i.x)) return false;
    } else if (i.op >= 0) {
      input(i.kinds.x, i.x);
      input(i.kinds.y, i.y);
      input(i.kinds.z, i.z);
    } else if (i.op != instruction_code::load && i.op != position) {
      return false;
    }
    if (defines(i)) {
      i.d = row_number(i.kinds.d, i.d);
      i.kinds.d = lane_kind(i.kinds.d);
    }
    list_.push_back(i);
    return true;
  }

  bool join_lanes(instruction i, int stage) {
    const auto input = [&](std::int64_t& kind, std::int64_t& r) {
      if (is_lane(kind)) {
        r = lane_number(kind, r, stage);
      } else if (is_of_rows(kind, r)) {
        r = spread(kind, r);
        kind = lane_kind(kind);
      }
    };
    switch (i.op) {
      case instruction_code::load:
      case position: break;
      case reload: {
        for (const auto& s : spilled_)
          if (s.buffer == i.x && s.kind == i.kinds.d) {
            reloaded_.push_back({file_of(s.kind), stage * code_[lane_registers + file_of(s.kind)] + i.d, s.number});
            return true;
          }
        return false;
      }
      case instruction_code::store:
      case reduce_lanes:
      case reduce_array:
      case spill:
        if (!is_lane(i.kinds.x)) return false;
        input(i.kinds.x, i.x);
        if (i.op == spill) {
          spilled_.push_back({i.d, i.kinds.x, i.x});
          return true;
        }
        if (i.op == reduce_lanes && i.z == 1) {
          const auto& [kind, r] = finished_[static_cast<std::size_t>(checked_accumulator(to_, i.d))];
          if (kind < 0 || lane_kind(kind) != i.kinds.x) return false;
          i = {reduce_rows, row_number(kind, r), i.x, i.y, 0, {0, lane_kind(kind), i.kinds.x, -1, -1}};
          list_.push_back(i);
          return true;
        }
        break;
      default:
        if (i.op < 0) return false;
        input(i.kinds.x, i.x);
        input(i.kinds.y, i.y);
        input(i.kinds.z, i.z);
    }
    if (defines(i)) {
      if (!is_lane(i.kinds.d)) return false;
      i.d = lane_number(i.kinds.d, i.d, stage);
    }
    list_.push_back(i);
    return true;
  }
  // The lanes of a per-row value, spread on first use.
  std::int64_t spread(std::int64_t kind, std::int64_t r) {
    const std::int64_t from = row_number(kind, r);
    const std::int64_t lanes = from + code_[scalar_registers + file_of(kind)];
    const auto known = static_cast<std::size_t>(cells_.number(kind, r));
    if (!spread_[known]) list_.push_back({spread_rows, lanes, from, 0, 0, {0, lane_kind(kind), lane_kind(kind), -1, -1}});
    spread_[known] = true;
    return lanes;
  }

  // ---- writing --------------------------------------------------------------------------------------------------------

  void write_instruction(const instruction& c, int i) {
    lane_register* const d = defines(c) ? &lives_.of(c.kinds.d, c.d) : nullptr;
    ending_.clear();  // the registers with their last use here
    numbers_.each_use(c, [&](std::size_t r) {
      if (lives_[r].last_use == i && std::find(ending_.begin(), ending_.end(), r) == ending_.end()) ending_.push_back(r);
    });
    if (d != nullptr) {
      widest_ = std::max(widest_, static_cast<std::int64_t>(d->size));
      if (c.op >= 0)  // the result reuses the slot of an operand
        std::erase_if(ending_, [&](std::size_t r) {
          const bool there = lives_[r].size == d->size && lives_[r].where == lane_place::slot;
          if (there) release(lives_[r]);
          return there;
        });
      place(*d);
    }
    put(c, d);
    for (const std::size_t r : ending_) release(lives_[r]);
    if (d != nullptr && d->last_use == i) release(*d);
  }
  // Whether a load or position has the same lanes in all rows, and the cluster does not write them.
  bool is_same_in_all_rows(const instruction& i) const {
    if (i.op != instruction_code::load && i.op != position) return false;
    if (is_row(i.kinds.d, i.d)) return false;
    if (i.op == position) return true;
    const int operand = checked_operand(to_, i.x);
    for (int l = 0; l < to_.outer; ++l)
      if (info_.operand_stride(operand, l).factor != 0) return false;
    const auto buffer = [&](std::int64_t o) { return to_.operand_buffer[static_cast<std::size_t>(checked_operand(to_, o))]; };
    for (const auto& c : list_)
      if ((c.op == instruction_code::store || c.op == reduce_cell || c.op == reduce_array) && buffer(c.d) == buffer(operand)) return false;
    return true;
  }
  void release(lane_register& r) {
    if (r.per_row) free_rows_.push_back(r.address);
    else lives_.release(r);
  }
  void place(lane_register& d) {
    if (d.per_row && free_rows_.empty()) free_rows_.push_back(row_base + to_.tile.row_arrays++);
    if (d.per_row) {
      d.address = free_rows_.back();
      free_rows_.pop_back();
      return;
    }
    d.slot = lives_.take_slot();
    d.address = slot_base + d.slot;
    if (d.where == lane_place::slot) return;
    d.address = home_base + static_cast<int>(to_.tile.homes.size());
    to_.tile.homes.push_back({d.address, d.operand, slot_base + d.slot});
  }
  int address(std::int64_t kind, std::int64_t r, dtype type) {
    if (is_constant(kind)) return cells_.constant_address(kind, type);
    return is_scalar(kind) ? cells_.address(kind, r) : lives_.of(kind, r).address;
  }

  void put(const instruction& i, const lane_register* d) {
    using kind = tile_step::kind;
    tile_step s;
    const auto element = [&](std::int64_t k) {
      s.type = register_type(k);
      s.size = static_cast<std::uint8_t>(size_of(s.type));
    };
    element(d != nullptr ? i.kinds.d : i.kinds.x);
    if (d != nullptr) s.d = d->address;
    if (i.op < 0 && i.op != instruction_code::load && i.op != position) s.x = lives_.of(i.kinds.x, i.x).address;
    switch (i.op) {
      case instruction_code::load:
        s.what = d->per_row ? kind::load_rows : kind::load;
        s.operand = checked_operand(to_, i.x);
        s.slot = slot_base + d->slot;
        s.once = is_same_in_all_rows(i);
        break;
      case instruction_code::store: {
        const auto& r = lives_.of(i.kinds.x, i.x);
        s.what = r.per_row ? kind::store_rows : kind::store;
        s.operand = checked_operand(to_, i.d);
        s.slot = r.where == lane_place::stored && r.operand == s.operand ? slot_base + r.slot : s.x;
        break;
      }
      case position:
        s.what = d->per_row ? kind::position_rows : kind::position;
        s.operand = static_cast<int>(i.x);
        s.once = !d->per_row;
        if (d->per_row && (i.x < 0 || i.x >= to_.outer)) damaged_program("an instruction names a loop that is not there");
        break;
      case spread_rows: s.what = kind::spread; break;
      case reduce_rows:
        s.what = kind::reduce_rows;
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case reduce_cell:
      case reduce_array:
        s.what = i.op == reduce_cell ? kind::reduce_cell : kind::reduce_array;
        s.operand = checked_operand(to_, i.d);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case reduce_lanes:
        s.what = kind::reduce_all;
        s.accumulator = checked_accumulator(to_, i.d);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      default:
        s.what = d->per_row ? kind::compute_rows : kind::compute;
        s.block = i.fused;
        if (s.block == nullptr) {
          dtype in[3]{};
          const int count = operand_types(i, in);
          s.block = element_of_code(i.op, s.type, in, count).block;
        }
        s.x = address(i.kinds.x, i.x, s.type);
        if (i.kinds.y >= 0) s.y = address(i.kinds.y, i.y, s.type);
        if (i.kinds.z >= 0) s.z = address(i.kinds.z, i.z, s.type);
        s.rows = (is_lane(i.kinds.x) ? 1U : 0U) | (is_lane(i.kinds.y) ? 2U : 0U) | (is_lane(i.kinds.z) ? 4U : 0U);
    }
    to_.tile.steps.push_back(s);
  }

  // Resolves addresses: cells come first, then slots, row arrays, and addresses that may be in an operand.
  void settle() {
    tile_code& tile = to_.tile;
    const int cells = static_cast<int>(to_.cell_addresses.size());
    const auto one = [&](int& a) {
      if (a >= home_base) a = a - home_base + cells + tile.slots + tile.row_arrays;
      else if (a >= row_base) a = a - row_base + cells + tile.slots;
      else if (a >= slot_base) a = a - slot_base + cells;
    };
    for (auto& s : tile.steps) {
      one(s.d);
      one(s.x);
      one(s.y);
      one(s.z);
      one(s.slot);
    }
    for (auto& h : tile.homes) {
      one(h.at);
      one(h.slot);
    }
    tile.addresses = cells + tile.slots + tile.row_arrays + static_cast<int>(tile.homes.size());
  }

  struct kept_register {
    std::int64_t buffer, kind, number;
  };
  struct reloaded_register {
    int file;
    std::int64_t own, kept;
  };
  cluster_code& to_;
  cell_places& cells_;
  const program_view::step& info_;
  const std::int64_t* code_;
  const std::vector<std::vector<instruction>>& phases_;
  int stages_;
  std::vector<bool> of_rows_, spread_;                           // both indexed by scalar
  std::vector<std::pair<std::int64_t, std::int64_t>> finished_;  // by accumulator: the row value that holds its result
  std::vector<kept_register> spilled_;
  std::vector<reloaded_register> reloaded_;
  std::vector<instruction> list_;
  lane_numbers numbers_;
  lane_places lives_;
  std::vector<int> free_rows_;
  std::vector<std::size_t> ending_;
  std::int64_t widest_ = 1;
};

}  // namespace leat::cpu::detail
