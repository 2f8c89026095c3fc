#pragma once
// A small program as one list of function calls with the addresses of their operands. `run_cluster` computes the address of each register
// in each run, which takes longer than computing a few numbers; here the addresses are computed once for a plan. The calls are those that
// `run_cluster` makes, in the same order, so the results are the same bytes.

#include <leat/cpu/interpret/run_cluster.hpp>

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <span>
#include <utility>
#include <vector>

namespace leat::cpu {

/// One call: of a function over a block or over single values, of a reduction, or a copy; or a step that the interpreter runs as usual.
struct direct_call {
  enum class kind : std::uint8_t { block, single, copy, copy_bytes, gather, scatter, start, take, finish, into, fill, step, loop, more };
  kind what = kind::copy;
  std::uint8_t size = 0;  // bytes of an element
  bool repeated = false;  // whether lanes read the result
  reduction_order order = reduction_order::single;
  unsigned rows = 0;
  std::int64_t n = 0;
  std::byte* at[4]{};  // the result, then operands; a loop's operands continue in the calls of kind `more` that follow it
  union {
    block_function block = nullptr;
    loop_function loop;
    single_function single;
    const reduction_functions* reduction;
  };
  std::int64_t stride = 0;
  int number = 0;  // the index of a step that runs as usual, or the number of a loop's operands
};

/// The calls of one program for one plan. Only one run at a time, because the calls hold the addresses of the last run's buffers.
class direct_program {
 public:
  /// Clusters with more work than this, in elements times instructions, gain nothing.
  static constexpr std::int64_t most_work = 1 << 15;
  /// Clusters with more per-row values than this gain nothing either: so many calls do not fit the first-level cache, whereas a cluster's
  /// own steps do.
  static constexpr std::size_t most_scalars = 256;

  struct address {
    int call;
    int operand;
    std::int64_t offset;
  };
  struct buffer {
    int number;
    std::byte* last = nullptr;
    std::vector<address> addresses;
  };
  std::vector<direct_call> calls;
  std::vector<std::size_t> begins;  // by step of the program: the index of its first call
  std::vector<buffer> buffers;

  std::byte* memory() const { return memory_.get(); }
  void reserve(std::size_t bytes) {
    memory_.reset(static_cast<std::byte*>(::operator new(bytes, std::align_val_t{64})));
    std::memset(memory_.get(), 0, bytes);
  }

  /// Runs the calls; `run_step(k)` runs step k as usual.
  template <class RunStep>
  [[gnu::always_inline]] void run(void* const* given, RunStep run_step) {
    place(given);
    run_calls(calls, run_step);
  }
  /// `run` that also calls `observer.before(k)` and `observer.after(k)` around the calls of the k-th step.
  template <class RunStep, class Observer>
  void run(void* const* given, RunStep run_step, Observer& observer) {
    place(given);
    for (std::size_t k = 0; k < begins.size(); ++k) {
      const std::size_t end = k + 1 < begins.size() ? begins[k + 1] : calls.size();
      observer.before(static_cast<int>(k));
      run_calls({calls.data() + begins[k], end - begins[k]}, run_step);
      observer.after(static_cast<int>(k));
    }
  }

 private:
  [[gnu::always_inline]] void place(void* const* given) {
    for (buffer& b : buffers)
      if (auto* const now = static_cast<std::byte*>(given[b.number]); now != b.last) [[unlikely]]
        place(b, now);
  }
  template <class RunStep>
  [[gnu::always_inline]] static void run_calls(std::span<const direct_call> list, RunStep run_step) {
    using kind = direct_call::kind;
    for (const direct_call& c : list) {
      std::byte* const d = c.at[0];
      switch (c.what) {
        case kind::block: c.block(d, c.at[1], c.at[2], c.at[3], c.n, c.rows); break;
        case kind::single:
          c.single(d, c.at[1], c.at[2], c.at[3]);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::copy:
          detail::copy_value(d, c.at[1], c.size);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::copy_bytes:
          if (d != c.at[1]) std::memcpy(d, c.at[1], static_cast<std::size_t>(c.n));
          break;
        case kind::gather: move(c, 1, c.stride); break;
        case kind::scatter: move(c, c.stride, 1); break;
        case kind::start: c.reduction->start(accumulator_at(d), c.order); break;
        case kind::take: c.reduction->take(accumulator_at(d), c.order, c.at[1], c.n, -1); break;
        case kind::finish:
          c.reduction->finish(accumulator_at(c.at[1]), c.order, d);
          if (c.repeated) detail::repeat(d, c.size);
          break;
        case kind::into: c.reduction->into(d, c.at[1], c.n, c.stride); break;
        case kind::fill: c.reduction->fill(d, c.n); break;
        case kind::loop: {
          void* operands[loop_call::most_operands];
          for (int k = 0; k < c.number; ++k) operands[k] = (&c)[k / 4].at[k % 4];
          c.loop(operands, c.n);
          break;
        }
        case kind::more: break;
        case kind::step: run_step(c.number); break;
      }
    }
  }

  struct release {
    void operator()(std::byte* p) const { ::operator delete(p, std::align_val_t{64}); }
  };
  static accumulator& accumulator_at(std::byte* p) { return *static_cast<accumulator*>(static_cast<void*>(p)); }
  [[gnu::noinline]] void place(buffer& b, std::byte* now) {
    for (const address& a : b.addresses) calls[static_cast<std::size_t>(a.call)].at[a.operand] = now + a.offset;
    b.last = now;
  }
  static void move(const direct_call& c, std::int64_t to_stride, std::int64_t from_stride) {
    detail::with_bytes(c.size, [&]<class T>(T) {
      const T* x = static_cast<const T*>(static_cast<const void*>(c.at[1]));
      T* out = static_cast<T*>(static_cast<void*>(c.at[0]));
      for (std::int64_t i = 0; i < c.n; ++i) out[i * to_stride] = x[i * from_stride];
    });
  }
  std::unique_ptr<std::byte, release> memory_;
};

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
