#pragma once
// Translates the integers of a program's step into a cluster's code, see cluster_code.hpp: fuses neighboring operators, allocates
// registers, and resolves the functions of instructions.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/interpret/ready_loops.hpp>
#include <leat/cpu/interpret/tile_writer.hpp>
#include <leat/passes/simplify.hpp>

#include <algorithm>
#include <vector>

namespace leat::cpu {

namespace detail {

/// Writes the code of one cluster.
class cluster_writer {
 public:
  cluster_writer(cluster_code& to, const program_view& p, const std::int64_t* data, int step)
      : to_(to), info_(p.step_at(step)), code_(data + info_.instructions), cells_(to, code_), lives_(numbers_, to.operand_buffer) {
    to_.operands = info_.operand_count;
    to_.loops = info_.loop_count;
    to_.outer = static_cast<int>(code_[outer_loops]);
    to_.has_inner = code_[has_lanes] != 0;
    to_.accumulators = static_cast<int>(code_[accumulator_total]);
    to_.spills = static_cast<int>(code_[spill_total]);
    stages_ = static_cast<int>(code_[stages]);
    if (code_[operand_total] != info_.operand_count || stages_ < 1) damaged_program("a cluster's header does not fit its step");
    if (to_.has_inner && to_.loops != to_.outer + 1) damaged_program("a cluster's loops do not fit its step");
    for (int o = 0; o < to_.operands; ++o) {
      const int buffer = info_.operand_buffer(o);
      to_.operand_buffer.push_back(buffer);
      to_.operand_size.push_back(size_of(p.buffer_at(buffer).type));
      to_.operand_moves.push_back(info_.operand_offset(o).factor != 0);
    }
    read_phases();
    may_stream_ = leat::detail::may_stream(info_, code_);
  }

  void write() {
    find_copy();
    choose_order();
    for (int k = 0; k < register_files; ++k) numbers_.counts[k] = code_[lane_registers + k];
    for (int t = 0; t < stages_; ++t) {
      auto& lanes = phases_[static_cast<std::size_t>(2 + 2 * t)];
      if (to_.outer == 0) join_loops(lanes, numbers_);
      fuse_neighbors(lanes, numbers_);
    }
    tile_writer tile(to_, cells_, info_, code_, phases_);
    for (int t = 0; t < stages_; ++t) cells_.note(phase(2 + 2 * t));
    cells_.note(tile.instructions());
    cells_.place();
    for (int k = 0; k < static_cast<int>(code_[accumulating_total]); ++k) write_combined(k);
    to_.scalars.resize(static_cast<std::size_t>(stages_) + 3);
    for (const auto& i : phases_[0]) write_scalar(i, to_.scalars[0]);
    to_.lanes.resize(static_cast<std::size_t>(stages_));
    int moving = 0;
    for (int t = 0; t < stages_; ++t) {
      for (const auto& i : phase(1 + 2 * t)) write_scalar(i, to_.scalars[static_cast<std::size_t>(t) + 1]);
      moving = std::max(moving, write_lanes(phase(2 + 2 * t), to_.lanes[static_cast<std::size_t>(t)]));
    }
    for (const auto& i : phase(1 + 2 * stages_)) write_scalar(i, to_.scalars[static_cast<std::size_t>(stages_) + 1]);
    for (const auto& i : phase(2 + 2 * stages_)) write_scalar(i, to_.scalars[static_cast<std::size_t>(stages_) + 2]);
    tile.write();
    // In the address table, slots and moving addresses follow the cells.
    const int cells = static_cast<int>(to_.cell_addresses.size());
    const auto settle = [&](int& a) {
      if (a >= moving_base) a = a - moving_base + cells + to_.slots;
      else if (a >= slot_base) a = a - slot_base + cells;
    };
    for (auto& l : to_.lanes) {
      for (auto& s : l.steps) {
        settle(s.d);
        settle(s.x);
        settle(s.y);
        settle(s.z);
      }
      for (auto& m : l.moving) {
        settle(m.at);
        settle(m.slot);
      }
      for (auto& call : l.calls)
        for (int& o : call.operands) settle(o);
    }
    to_.addresses = cells + to_.slots + moving;
    to_.cell_bytes = leat::detail::divide_up(to_.cell_bytes, 64) * 64;
    choose_block();
  }

 private:
  static constexpr int slot_base = 1 << 20;
  static constexpr int moving_base = 1 << 24;

  void read_phases() {
    const int count = 2 * stages_ + 3;
    std::int64_t at = phase_lengths + count + 3 * code_[accumulating_total];
    for (int p = 0; p < count; ++p) {
      auto& list = phases_.emplace_back();
      for (std::int64_t k = 0; k < code_[phase_lengths + p]; ++k, at += words_per_instruction) {
        if (at + words_per_instruction > info_.instruction_count) damaged_program("a cluster's instructions are cut off");
        const std::int64_t* w = code_ + at;
        list.push_back({static_cast<int>(w[0]), w[1], w[2], w[3], w[4], unpack_signature(w[5])});
      }
    }
  }
  const std::vector<instruction>& phase(int p) const { return phases_[static_cast<std::size_t>(p)]; }

  // Whether all that the cluster does is load each element, copy it, and store it.
  void find_copy() {
    if (stages_ != 1 || !to_.has_inner) return;
    for (std::size_t p = 0; p < phases_.size(); ++p)
      if (p != 2 && !phases_[p].empty()) return;
    const auto& lanes = phase(2);
    if (lanes.size() < 2 || lanes.front().op != instruction_code::load || lanes.back().op != instruction_code::store) return;
    std::pair value(lanes.front().kinds.d, lanes.front().d);
    for (std::size_t k = 1; k < lanes.size(); ++k) {
      const instruction& i = lanes[k];
      if (std::pair(i.kinds.x, i.x) != value || (k + 1 < lanes.size() && i.op != operator_record<passes::copy_op>::code)) return;
      value = {i.kinds.d, i.d};
    }
    to_.copied_from = checked_operand(to_, lanes.front().x);
    to_.copied_to = checked_operand(to_, lanes.back().d);
  }

  // Chooses the summation order of the compiled cluster, see kernels/cluster.hpp.
  void choose_order() {
    std::size_t longest = 0;
    bool reduces = false;
    for (int t = 0; t < stages_; ++t) {
      longest = std::max(longest, phase(2 + 2 * t).size());
      for (const auto& i : phase(2 + 2 * t)) reduces = reduces || i.op == reduce_lanes;
    }
    const bool batches = code_[lane_width] == 4 || code_[lane_width] == 8;
    to_.order = !batches ? reduction_order::single : reduces && longest <= 24 ? reduction_order::four : reduction_order::batch;
    if (batches && stages_ == 1 && to_.outer == 1 && phase(1).empty() && phase(3).empty() && phase(2).size() <= 24)
      for (const auto& i : phase(2)) to_.combines_rows = to_.combines_rows || (i.op == reduce_array && i.z == 1);
  }

  // ---- scalars --------------------------------------------------------------------------------------------------------

  void write_scalar(const instruction& i, std::vector<scalar_step>& to) {
    using kind = scalar_step::kind;
    scalar_step s;
    const auto result = [&] {
      s.type = register_type(i.kinds.d);
      s.size = static_cast<std::uint8_t>(size_of(s.type));
      s.d = cells_.cell(i.kinds.d, i.d);
      s.repeated = cells_.is_repeated(i.kinds.d, i.d);
    };
    switch (i.op) {
      case instruction_code::load:
        s.what = kind::load;
        result();
        s.x = checked_operand(to_, i.x);
        break;
      case instruction_code::store:
        s.what = kind::store;
        s.type = register_type(i.kinds.x);
        s.size = static_cast<std::uint8_t>(size_of(s.type));
        s.d = checked_operand(to_, i.d);
        s.x = cells_.cell(i.kinds.x, i.x);
        break;
      case immediate:
        s.what = kind::immediate;
        result();
        s.bits = immediate_bits(s.type, i.x);
        break;
      case position:
        s.what = kind::position;
        result();
        if (i.x < 0 || i.x >= to_.outer) damaged_program("an instruction names a loop that is not there");
        s.x = static_cast<int>(i.x);
        break;
      case finish_row:
        s.what = kind::finish_row;
        result();
        s.x = checked_accumulator(to_, i.x);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case finish_all:
        s.what = kind::finish_all;
        s.type = static_cast<dtype>(i.z);
        s.size = static_cast<std::uint8_t>(size_of(s.type));
        s.d = checked_operand(to_, i.d);
        s.x = checked_accumulator(to_, i.x);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case reduce_cell:
        s.what = kind::reduce_cell;
        s.type = register_type(i.kinds.x);
        s.size = static_cast<std::uint8_t>(size_of(s.type));
        s.d = checked_operand(to_, i.d);
        s.x = cells_.cell(i.kinds.x, i.x);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case look_up:
        s.what = kind::look_up;
        s.type = register_type(i.kinds.x);
        s.d = checked_operand(to_, i.d);
        s.x = cells_.cell(i.kinds.x, i.x);
        s.bits = i.y;
        break;
      default: {
        if (i.op < 0) damaged_program("an instruction stands in the wrong phase");
        result();
        dtype in[3]{};
        const int count = operand_types(i, in);
        s.single = element_of_code(i.op, s.type, in, count).single;
        s.x = cells_.cell(i.kinds.x, i.x);
        if (count > 1) s.y = cells_.cell(i.kinds.y, i.y);
        if (count > 2) s.z = cells_.cell(i.kinds.z, i.z);
      }
    }
    to.push_back(s);
  }
  void write_combined(int k) {
    const std::int64_t* row = code_ + phase_lengths + 2 * stages_ + 3 + 3 * k;
    const int operand = checked_operand(to_, row[0]);
    const dtype type = static_cast<dtype>(row[2]);
    bool finishes = false;
    for (const auto& i : phase(2 + 2 * stages_)) finishes = finishes || (i.op == finish_all && i.d == operand);
    to_.combined.push_back({operand, !finishes, size_of(type), reduction_of_code(static_cast<int>(row[1]), type)});
  }

  // ---- lanes ----------------------------------------------------------------------------------------------------------

  // Writes one traversal of a row; returns the number of moving addresses.
  int write_lanes(const std::vector<instruction>& code, lane_phase& to) {
    if (code.empty()) return 0;
    lives_.find_lives(code, to_.combines_rows);
    lives_.choose_places(code, false);
    lives_.free_slots(to_.slots);
    for (std::size_t k = 0; k < code.size(); ++k) {
      const auto& c = code[k];
      const int i = static_cast<int>(k);
      numbers_.each_use(c, [&](std::size_t r) { touched_.push_back(r); });
      numbers_.each_result(c, [&](std::int64_t kind, std::int64_t number) {
        lane_register& d = lives_.of(kind, number);
        results_.push_back(&d);
        widest_ = std::max(widest_, d.size);
        for (std::size_t r : touched_)
          if (lives_[r].last_use == i && lives_[r].size == d.size && lives_[r].slot >= 0 && lives_[r].where == lane_place::slot &&
              c.op >= 0)
            lives_.release(lives_[r]);
        const bool other_place = d.where == lane_place::stored && may_stream_;
        if (d.where == lane_place::slot || other_place) d.slot = lives_.take_slot();
        if (d.where == lane_place::slot) d.address = slot_base + d.slot;
        else d.address = move(to, d, other_place ? slot_base + d.slot : -1);
        if (d.where == lane_place::stored && may_stream_) d.last_use = static_cast<int>(code.size());  // until it is streamed
      });
      if (c.loop != nullptr) write_loop(*c.loop, to);
      else write_lane(c, to, results_.empty() ? nullptr : results_.front());
      for (std::size_t r : touched_)
        if (lives_[r].last_use == i) lives_.release(lives_[r]);
      for (lane_register* const d : results_)
        if (d->last_use == i) lives_.release(*d);
      touched_.clear();
      results_.clear();
    }
    to_.slots = lives_.slots();
    return static_cast<int>(to.moving.size());
  }
  int move(lane_phase& to, const lane_register& r, int slot) {
    const int at = moving_base + static_cast<int>(to.moving.size());
    to.moving.push_back({at, r.where == lane_place::kept ? -1 : r.operand, r.where == lane_place::kept ? r.spill : -1, r.size, slot});
    homes_ = std::max(homes_, static_cast<int>(to.moving.size()));
    return at;
  }

  int address(std::int64_t kind, std::int64_t r, dtype type) {
    if (is_constant(kind)) return cells_.constant_address(kind, type);
    return address(kind, r);
  }
  int address(std::int64_t kind, std::int64_t r) const {
    if (register_is_scalar(kind)) return cells_.address(kind, r);
    return lives_.of(kind, r).address;
  }

  void write_loop(const joined_loop& loop, lane_phase& to) {
    if (loop.operands > loop_call::most_operands) damaged_program("a loop has too many operands");
    lane_step s;
    s.what = lane_step::kind::loop;
    s.loop = static_cast<int>(to.calls.size());
    auto& call = to.calls.emplace_back(loop_call{loop.run, std::vector<int>(static_cast<std::size_t>(loop.operands))});
    for (const auto* list : {&loop.loads, &loop.stores})
      for (const auto& p : *list) call.operands[static_cast<std::size_t>(p.operand)] = address(p.kind, p.number);
    to.steps.push_back(s);
  }
  void write_lane(const instruction& i, lane_phase& to, const lane_register* d) {
    using kind = lane_step::kind;
    lane_step s;
    const auto element = [&](std::int64_t k) {
      s.type = register_type(k);
      s.size = static_cast<std::uint8_t>(size_of(s.type));
    };
    switch (i.op) {
      case instruction_code::load:
        if (d->where == lane_place::loaded) return;
        s.what = kind::gather;
        element(i.kinds.d);
        s.d = d->address;
        s.operand = checked_operand(to_, i.x);
        break;
      case instruction_code::store: {
        const auto& r = lives_.of(i.kinds.x, i.x);
        const bool there = r.where == lane_place::stored && r.operand == i.d;
        if (there && !may_stream_) return;
        s.what = there ? kind::stream : kind::scatter;
        element(i.kinds.x);
        s.x = r.address;
        s.operand = checked_operand(to_, i.d);
        break;
      }
      case position:
        s.what = kind::position;
        s.operand = static_cast<int>(i.x);
        element(i.kinds.d);
        s.d = d->address;
        break;
      case reduce_lanes:
        s.what = kind::reduce;
        element(i.kinds.x);
        s.x = address(i.kinds.x, i.x);
        s.accumulator = checked_accumulator(to_, i.d);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        to.starts.push_back({s.reduction, s.accumulator, i.z == 1});
        break;
      case reduce_array:
        s.what = kind::reduce_into;
        element(i.kinds.x);
        s.x = address(i.kinds.x, i.x);
        s.operand = checked_operand(to_, i.d);
        s.reduction = reduction_of_code(static_cast<int>(i.y), s.type);
        break;
      case spill: {
        const auto& r = lives_.of(i.kinds.x, i.x);
        if (r.where == lane_place::kept && r.spill == i.d) return;
        s.what = kind::copy;
        element(i.kinds.x);
        s.x = r.address;
        lane_register home;
        home.where = lane_place::kept;
        home.spill = static_cast<int>(i.d);
        home.size = s.size;
        s.d = move(to, home, -1);
        break;
      }
      case reload: return;
      default: {
        if (i.op < 0) damaged_program("an instruction stands in the wrong phase");
        element(i.kinds.d);
        s.block = i.fused;
        if (s.block == nullptr) {
          dtype in[3]{};
          const int count = operand_types(i, in);
          s.block = element_of_code(i.op, s.type, in, count).block;
        }
        s.d = d->address;
        s.x = address(i.kinds.x, i.x, s.type);
        if (i.kinds.y >= 0) s.y = address(i.kinds.y, i.y, s.type);
        if (i.kinds.z >= 0) s.z = address(i.kinds.z, i.z, s.type);
        s.rows = (is_lane(i.kinds.x) ? 1U : 0U) | (is_lane(i.kinds.y) ? 2U : 0U) | (is_lane(i.kinds.z) ? 4U : 0U);
      }
    }
    to.steps.push_back(s);
  }

  void choose_block() {
    const auto is_call = [](const lane_step& s) { return s.what == lane_step::kind::loop; };
    if (stages_ == 1 && to_.slots == 0 && !to_.lanes[0].steps.empty() && std::ranges::all_of(to_.lanes[0].steps, is_call)) {
      to_.block = cluster_code::whole_row;
      return;
    }
    const std::int64_t width = std::max(widest_, 1);
    const std::int64_t rows = (to_.combines_rows ? 4 : 1) * std::max(1, to_.slots + homes_);
    const std::int64_t fits = cluster_code::cache_bytes / (rows * width);
    const std::int64_t unit = cluster_code::block_unit;
    to_.block = std::clamp(fits / unit * unit, unit, cluster_code::longest_block);
    to_.slot_bytes = to_.block * width;
  }

  cluster_code& to_;
  program_view::step info_;
  const std::int64_t* code_;
  int stages_ = 0;
  std::vector<std::vector<instruction>> phases_;
  cell_places cells_;
  lane_numbers numbers_;
  lane_places lives_;
  std::vector<std::size_t> touched_;
  std::vector<lane_register*> results_;
  bool may_stream_ = false;
  int widest_ = 0;
  int homes_ = 0;
};

}  // namespace detail

LEAT_FUNCTION cluster_code::cluster_code(const program_view& p, const std::int64_t* data, int step) {
  detail::cluster_writer(*this, p, data, step).write();
}

}  // namespace leat::cpu
