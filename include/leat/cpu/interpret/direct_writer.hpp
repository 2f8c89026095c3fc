#pragma once
// Writes a program's calls (interpret/direct.hpp) for one plan.

#include <leat/cpu/interpret/cluster_run.hpp>
#include <leat/cpu/interpret/direct.hpp>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

namespace leat::cpu {

namespace detail {

// Writes a program's calls, cluster by cluster.
class direct_writer {
 public:
  void step_as_it_is(int number) {
    direct_call& c = add(direct_call::kind::step);
    c.number = number;
  }
  /// Writes a cluster's calls, if it has at most one row, in one block, for one thread; returns whether it does.
  bool cluster(const cluster_code& c, const program_view::step& info, const std::int64_t* plan) {
    const bool one_row = !c.has_inner || (plan[plan_rows] == 1 && plan[plan_inner] <= c.block);
    const bool streams = c.combined.empty() && plan[plan_stores] == stores_past_caches;
    std::size_t scalar_steps = 0;
    for (const auto& list : c.scalars) {
      scalar_steps += list.size();
      for (const scalar_step& step : list)
        if (step.what == scalar_step::kind::look_up) return false;  // its address differs from run to run
    }
    if (plan[plan_chunks] != 1 || !one_row || streams || scalar_steps > direct_program::most_scalars) return false;
    begin(c, plan);
    for (const auto& r : c.combined) {
      if (!r.starts) continue;
      direct_call& f = add(direct_call::kind::fill, place_of_operand(r.operand));
      f.reduction = r.reduction;
      f.n = combined_elements(c, r.operand, plan + plan_numbers, info);
    }
    scalars(c.scalars.front());
    if (c.has_inner) {
      for (const auto& l : c.lanes) starts(l, false);
      for (std::size_t t = 0; t < c.lanes.size(); ++t) {
        scalars(c.scalars[t + 1]);
        starts(c.lanes[t], true);
        lanes(c.lanes[t]);
      }
      scalars(c.scalars[c.lanes.size() + 1]);
    }
    scalars(c.scalars.back());
    return true;
  }
  direct_program finish() {
    made_.reserve(static_cast<std::size_t>(bytes_ + shared_bytes_));
    for (std::size_t k = 0; k < places_.size(); ++k)
      for (int o = 0; o < 4; ++o) {
        const place& p = places_[k][static_cast<std::size_t>(o)];
        if (p.buffer == own_memory || p.buffer == shared_memory) {
          made_.calls[k].at[o] = made_.memory() + (p.buffer == shared_memory ? bytes_ : 0) + p.offset;
        } else if (p.buffer >= 0) {
          auto b = std::find_if(made_.buffers.begin(), made_.buffers.end(), [&](const auto& at) { return at.number == p.buffer; });
          if (b == made_.buffers.end()) b = made_.buffers.insert(b, {p.buffer, nullptr, {}});
          b->addresses.push_back({static_cast<int>(k), o, p.offset});
        }
      }
    for (const auto& value : constants_) {
      std::memcpy(made_.memory() + value.at, &value.bits, sizeof value.bits);
      if (value.repeated) repeat(made_.memory() + value.at, value.size);
    }
    for (const auto& p : positions_) count_positions(p);
    return std::move(made_);
  }
  /// Begins the next step of the program.
  void begin_step() { made_.begins.push_back(made_.calls.size()); }
  /// Removes the calls after `mark`, if a cluster could not be written.
  std::size_t mark() const { return made_.calls.size(); }
  void back_to(std::size_t mark) {
    made_.calls.resize(mark);
    places_.resize(mark);
  }

 private:
  struct constant {
    std::int64_t at, bits;
    int size;
    bool repeated;
  };
  struct position_list {
    std::int64_t at, n, count;
    dtype type;
  };

  static constexpr int own_memory = -2, shared_memory = -3;
  struct place {
    int buffer;
    std::int64_t offset;
    bool operator==(const place&) const = default;
  };
  struct alias {
    int cell;
    place at;
  };

  static constexpr place nowhere() { return {-1, 0}; }
  direct_call& add(direct_call::kind what, place d = nowhere(), place x = nowhere(), place y = nowhere(), place z = nowhere()) {
    places_.push_back({d, x, y, z});
    direct_call& c = made_.calls.emplace_back();
    c.what = what;
    return c;
  }
  std::int64_t take_memory(std::int64_t bytes) {
    const std::int64_t at = bytes_;
    bytes_ += (bytes + 63) / 64 * 64;
    return at;
  }
  static place own(std::int64_t at) { return {own_memory, at}; }
  static place shared(std::int64_t at) { return {shared_memory, at}; }

  void begin(const cluster_code& c, const std::int64_t* plan) {
    c_ = &c;
    plan_ = plan;
    n_ = c.has_inner ? plan[plan_inner] : 0;
    cells_ = take_memory(c.cell_bytes + static_cast<std::int64_t>(repeated_bytes));
    // Memory that clusters need only while they run is shared by all of them.
    std::int64_t shared_end = 0;
    const auto share = [&](std::int64_t bytes) { return std::exchange(shared_end, shared_end + (bytes + 63) / 64 * 64); };
    accumulators_ = share(static_cast<std::int64_t>(sizeof(accumulator)) * c.accumulators);
    slots_ = share(c.slots * c.slot_bytes);
    spills_ = share(c.spills > 0 ? c.spills * plan[plan_scratch_row] : 0);
    shared_bytes_ = std::max(shared_bytes_, shared_end);
    find_aliases();
  }
  place cell(int offset) const {
    for (const alias& a : aliases_)
      if (a.cell == offset) return a.at;
    return own(cells_ + offset);
  }
  // A per-row value need not be copied out of the buffer that it is loaded from if the cluster does not write there, nor into the buffer
  // that it is stored to if the cluster does not read there. A value that many calls read is copied nevertheless, because a feed has
  // another address in each run, and `place` would have to update all of these calls.
  void find_aliases() {
    aliases_.clear();
    std::vector<int> reads, writes;
    const auto buffer_of = [&](int operand) { return c_->operand_buffer[static_cast<std::size_t>(operand)]; };
    for (const auto& r : c_->combined) writes.push_back(buffer_of(r.operand)), reads.push_back(buffer_of(r.operand));
    for (const lane_phase& l : c_->lanes) {
      for (const lane_step& step : l.steps) {
        if (step.operand >= 0) (step.what == lane_step::kind::gather ? reads : writes).push_back(buffer_of(step.operand));
        for (const moving_address& m : l.moving) {
          if (m.operand < 0) continue;
          if (step.what == lane_step::kind::loop) {
            const auto& its = l.calls[static_cast<std::size_t>(step.loop)].operands;
            if (std::find(its.begin(), its.end(), m.at) == its.end()) continue;
            reads.push_back(buffer_of(m.operand));
            writes.push_back(buffer_of(m.operand));
            continue;
          }
          if (m.at == step.d) writes.push_back(buffer_of(m.operand));
          if (m.at == step.x || m.at == step.y || m.at == step.z) reads.push_back(buffer_of(m.operand));
        }
      }
    }
    for_each_scalar([&](const scalar_step& step) {
      if (step.what == scalar_step::kind::load) reads.push_back(buffer_of(step.x));
      else if (goes_out(step)) writes.push_back(buffer_of(step.d));
    });
    for_each_scalar([&](const scalar_step& step) {
      if (step.what == scalar_step::kind::load && !step.repeated && writers_of(step.d) == 1 && readers_of(step.d) <= 2 &&
          count_of(writes, buffer_of(step.x)) == 0)
        aliases_.push_back({step.d, place_of_operand(step.x)});
    });
    for_each_scalar([&](const scalar_step& step) {
      if (step.what != scalar_step::kind::store || !is_computed_alone(step.x)) return;
      const int buffer = buffer_of(step.d);
      if (count_of(reads, buffer) == 0 && count_of(writes, buffer) == 1) aliases_.push_back({step.x, place_of_operand(step.d)});
    });
  }
  template <class F>
  void for_each_scalar(F f) const {
    for (const auto& list : c_->scalars)
      for (const scalar_step& step : list) f(step);
  }
  static int count_of(const std::vector<int>& all, int one) { return static_cast<int>(std::count(all.begin(), all.end(), one)); }
  static bool goes_out(const scalar_step& s) {
    using kind = scalar_step::kind;
    return s.what == kind::store || s.what == kind::finish_all || s.what == kind::reduce_cell || s.what == kind::look_up;
  }
  // Whether a single function writes the cell, no lane reads it, and it is not an alias already.
  bool is_computed_alone(int offset) const {
    bool computed = false;
    for_each_scalar([&](const scalar_step& step) {
      if (!goes_out(step) && step.d == offset)
        computed = (step.what == scalar_step::kind::compute || step.what == scalar_step::kind::finish_row) && !step.repeated;
    });
    return computed && writers_of(offset) == 1 && cell(offset).buffer == own_memory;
  }
  place accumulator_place(int k) const { return shared(accumulators_ + static_cast<std::int64_t>(sizeof(accumulator)) * k); }
  place place_of_operand(int operand) const {
    const auto k = static_cast<std::size_t>(operand);
    std::int64_t offset = 0;
    if (c_->operand_moves[k]) offset = plan_[plan_numbers + c_->loops + c_->operands * c_->loops + operand] * c_->operand_size[k];
    return {c_->operand_buffer[k], offset};
  }
  std::int64_t stride_of(int operand) const { return plan_[plan_numbers + c_->loops + operand * c_->loops + c_->outer]; }

  void scalars(const std::vector<scalar_step>& steps) {
    using kind = scalar_step::kind;
    for (const auto& s : steps) {
      switch (s.what) {
        case kind::compute: {
          direct_call& c = add(direct_call::kind::single, cell(s.d), cell(s.x), cell(s.y), cell(s.z));
          c.single = s.single;
          break;
        }
        case kind::load:
          if (cell(s.d) == place_of_operand(s.x)) continue;
          add(direct_call::kind::copy, cell(s.d), place_of_operand(s.x));
          break;
        case kind::store:
          if (cell(s.x) == place_of_operand(s.d)) continue;
          add(direct_call::kind::copy, place_of_operand(s.d), cell(s.x));
          break;
        case kind::immediate:
        case kind::position: {  // the position of the only row, 0
          const std::int64_t bits = s.what == kind::immediate ? s.bits : 0;
          if (writers_of(s.d) == 1) {
            constants_.push_back({cells_ + s.d, bits, s.size, s.repeated});
            continue;
          }
          const std::int64_t at = take_memory(static_cast<std::int64_t>(repeated_bytes));
          constants_.push_back({at, bits, s.size, false});
          add(direct_call::kind::copy, cell(s.d), own(at));
          break;
        }
        case kind::finish_row:
        case kind::finish_all: {
          const place to = s.what == kind::finish_row ? cell(s.d) : place_of_operand(s.d);
          direct_call& c = add(direct_call::kind::finish, to, accumulator_place(s.x));
          c.reduction = s.reduction;
          c.order = c_->order;
          break;
        }
        case kind::reduce_cell: {
          direct_call& c = add(direct_call::kind::into, place_of_operand(s.d), cell(s.x));
          c.reduction = s.reduction;
          c.n = c.stride = 1;
          break;
        }
        case kind::look_up: continue;  // clusters with lookups are not written, see cluster()
      }
      made_.calls.back().size = s.size;
      made_.calls.back().repeated = s.repeated;
    }
  }
  int writers_of(int cell_offset) const {
    int writers = 0;
    for_each_scalar([&](const scalar_step& step) { writers += !goes_out(step) && step.d == cell_offset ? 1 : 0; });
    return writers;
  }
  int readers_of(int cell_offset) const {
    using kind = scalar_step::kind;
    int readers = 0;
    for_each_scalar([&](const scalar_step& step) {
      if (step.what == kind::compute) readers += (step.x == cell_offset) + (step.y == cell_offset) + (step.z == cell_offset);
      if (step.what == kind::store || step.what == kind::reduce_cell) readers += step.x == cell_offset ? 1 : 0;
    });
    return readers;
  }
  void starts(const lane_phase& l, bool each_row) {
    for (const auto& s : l.starts) {
      if (s.each_row != each_row) continue;
      direct_call& c = add(direct_call::kind::start, accumulator_place(s.accumulator));
      c.reduction = s.reduction;
      c.order = c_->order;
    }
  }
  void lanes(const lane_phase& l) {
    std::vector<place> table(static_cast<std::size_t>(c_->addresses));
    std::size_t at = 0;
    for (const int offset : c_->cell_addresses) table[at++] = cell(offset);
    for (int s = 0; s < c_->slots; ++s) table[at++] = shared(slots_ + s * c_->slot_bytes);
    for (const auto& m : l.moving)
      table[static_cast<std::size_t>(m.at)] =
          m.operand >= 0 ? place_of_operand(m.operand) : shared(spills_ + m.spill * plan_[plan_scratch_row]);
    const auto place_of = [&](int k) { return table[static_cast<std::size_t>(k)]; };
    for (const auto& s : l.steps) lane(l, s, place_of);
  }
  template <class PlaceOf>
  void lane(const lane_phase& l, const lane_step& s, PlaceOf place_of) {
    using kind = lane_step::kind;
    switch (s.what) {
      case kind::compute: {
        direct_call& c = add(direct_call::kind::block, place_of(s.d), place_of(s.x), place_of(s.y), place_of(s.z));
        c.block = s.block;
        c.rows = s.rows;
        c.n = n_;
        break;
      }
      case kind::copy: copy_bytes(place_of(s.d), place_of(s.x), s.size); break;
      case kind::gather: move(direct_call::kind::gather, place_of(s.d), place_of_operand(s.operand), s); break;
      case kind::scatter: move(direct_call::kind::scatter, place_of_operand(s.operand), place_of(s.x), s); break;
      case kind::position: {
        const std::int64_t at = take_memory(n_ * s.size);
        positions_.push_back({at, n_, c_->order == reduction_order::single ? 1 : static_cast<std::int64_t>(batch_bytes) / s.size, s.type});
        copy_bytes(place_of(s.d), own(at), s.size);
        break;
      }
      case kind::reduce: {
        direct_call& c = add(direct_call::kind::take, accumulator_place(s.accumulator), place_of(s.x));
        c.reduction = s.reduction;
        c.order = c_->order;
        c.n = n_;
        break;
      }
      case kind::reduce_into: {
        direct_call& c = add(direct_call::kind::into, place_of_operand(s.operand), place_of(s.x));
        c.reduction = s.reduction;
        c.n = n_;
        c.stride = stride_of(s.operand);
        break;
      }
      case kind::loop: {
        const loop_call& call = l.calls[static_cast<std::size_t>(s.loop)];
        const auto operand = [&](std::size_t k) { return k < call.operands.size() ? place_of(call.operands[k]) : nowhere(); };
        for (std::size_t k = 0; k < call.operands.size(); k += 4) {
          direct_call& c =
              add(k == 0 ? direct_call::kind::loop : direct_call::kind::more, operand(k), operand(k + 1), operand(k + 2), operand(k + 3));
          if (k > 0) continue;
          c.loop = call.run;
          c.n = n_;
          c.number = static_cast<int>(call.operands.size());
        }
        return;
      }
      case kind::stream: return;  // results do not bypass the caches here
    }
    made_.calls.back().size = s.size;
  }
  // Copies from or to an operand, along its stride.
  void move(direct_call::kind what, place d, place x, const lane_step& s) {
    if (stride_of(s.operand) == 1) return copy_bytes(d, x, s.size);
    direct_call& c = add(what, d, x);
    c.n = n_;
    c.stride = stride_of(s.operand);
  }
  void copy_bytes(place d, place x, int size) {
    direct_call& c = add(direct_call::kind::copy_bytes, d, x);
    c.n = n_ * size;
  }
  // Counts positions in batches, as the compiled cluster does, so that results are equal.
  void count_positions(const position_list& p) {
    with_element(p.type, [&]<class T>(T) {
      if constexpr (!std::is_same_v<T, bool>) {
        T* to = static_cast<T*>(static_cast<void*>(made_.memory() + p.at));
        for (std::int64_t i = 0; i < p.n; ++i)
          to[i] = kernels::scalar_math<T>::add(static_cast<T>(i % p.count), static_cast<T>(i - i % p.count));
      }
    });
  }

  direct_program made_;
  std::vector<std::array<place, 4>> places_;  // the places of each call's operands
  std::int64_t bytes_ = 0, shared_bytes_ = 0;
  const cluster_code* c_ = nullptr;
  const std::int64_t* plan_ = nullptr;
  std::int64_t n_ = 0, cells_ = 0, accumulators_ = 0, slots_ = 0, spills_ = 0;
  std::vector<alias> aliases_;  // the aliased cells of the current cluster
  std::vector<constant> constants_;
  std::vector<position_list> positions_;
};

}  // namespace detail

}  // namespace leat::cpu
