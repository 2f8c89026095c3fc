#pragma once
// Runs a cluster's code: the phases of kernels/cluster.hpp, with each instruction over a block of the innermost loop.

#include <leat/core/function_bodies.hpp>
#include <leat/cpu/execute.hpp>
#include <leat/cpu/interpret/run_cluster.hpp>
#include <leat/cpu/interpret/run_tile.hpp>
#include <leat/cpu/strided_copy.hpp>

namespace leat::cpu {

namespace detail {

inline void* operand_address(const cluster_code& c, const workspace& w, const std::int64_t* plan, int operand) {
  const auto k = static_cast<std::size_t>(operand);
  auto* const buffer = static_cast<std::byte*>(w.buffers[c.operand_buffer[k]]);
  if (!c.operand_moves[k]) return buffer;
  return buffer + plan[plan_numbers + c.loops + c.operands * c.loops + operand] * c.operand_size[k];
}

// The state of one worker that runs a range of a cluster.
class cluster_run {
 public:
  cluster_run(const cluster_code& c, const kernels::cluster_arguments& a) : c_(c), a_(a) {
    const std::size_t rows = c.combines_rows ? 4 : 1;
    const auto slots = std::max(rows * static_cast<std::size_t>(c.slots * c.slot_bytes), static_cast<std::size_t>(c.tile.bytes()));
    const auto tables = rows * (static_cast<std::size_t>(c.addresses) + static_cast<std::size_t>(c.operands)) +
                        static_cast<std::size_t>(c.outer + c.operands);
    std::byte* memory = memory_of_thread(static_cast<std::size_t>(c.cell_bytes) + slots +
                                          sizeof(accumulator) * static_cast<std::size_t>(c.accumulators) + 8 * tables);
    cells_ = memory;
    memory += c.cell_bytes;
    slots_ = memory;
    memory += slots;
    accumulators_ = static_cast<accumulator*>(static_cast<void*>(memory));
    memory += sizeof(accumulator) * static_cast<std::size_t>(c.accumulators);
    table_ = static_cast<void**>(static_cast<void*>(memory));
    row_offset_ = static_cast<std::int64_t*>(static_cast<void*>(table_ + rows * static_cast<std::size_t>(c.addresses)));
    row_index_ = row_offset_ + rows * static_cast<std::size_t>(c.operands);
    base_ = static_cast<void**>(static_cast<void*>(row_index_ + c.outer));
    std::fill_n(row_offset_, rows * static_cast<std::size_t>(c.operands), 0);
    if (!c.has_inner) return;
    for (std::size_t u = 0; u < rows; ++u) {
      void** t = table_ + u * static_cast<std::size_t>(c.addresses);
      for (int offset : c.cell_addresses) *t++ = cells_ + offset;
      for (int s = 0; s < c.slots; ++s) *t++ = slots_ + static_cast<std::int64_t>(u) * c.slots * c.slot_bytes + s * c.slot_bytes;
    }
  }

  void place_operands(const workspace& w, const std::int64_t* plan) {
    for (int o = 0; o < c_.operands; ++o) base_[o] = operand_address(c_, w, plan, o);
  }
  void place_operand(int operand, void* at) { base_[operand] = at; }

  void run(const kernels::cluster_range& r) {
    run_scalars(c_.scalars.front());
    if (c_.has_inner) {
      for (const auto& l : c_.lanes)
        for (const auto& s : l.starts)
          if (!s.each_row) s.reduction->start(accumulators_[s.accumulator], c_.order);
      std::int64_t row = r.row_begin;
      if (const auto rows = rows_at_once(c_, a_, r); rows > 1) {
        tile_run(c_, a_, base_, cells_, slots_, accumulators_).run(r, rows);
        row = r.row_end;
      } else if (c_.combines_rows) {
        row = run_four_rows(r);
      }
      for (; row < r.row_end; ++row) {
        place_row(row);
        for (std::size_t t = 0; t < c_.lanes.size(); ++t) {
          run_scalars(c_.scalars[t + 1]);
          run_lanes(c_.lanes[t], r);
        }
        run_scalars(c_.scalars[c_.lanes.size() + 1]);
      }
    }
    std::fill_n(row_offset_, c_.operands, 0);
    run_scalars(c_.scalars.back());
  }

 private:
  std::byte* base(int operand, std::int64_t offset) const {
    return static_cast<std::byte*>(base_[operand]) + offset * c_.operand_size[static_cast<std::size_t>(operand)];
  }

  void place_row(std::int64_t row) {
    if (c_.outer == 0) return;
    std::int64_t rest = row;
    for (int l = c_.outer - 1; l >= 0; --l) {
      row_index_[l] = l == 0 ? rest : rest % a_.extents[l];
      if (l > 0) rest /= a_.extents[l];
    }
    for (int k = 0; k < c_.operands; ++k) {
      std::int64_t offset = 0;
      for (int l = 0; l < c_.outer; ++l) offset += row_index_[l] * a_.strides[k * c_.loops + l];
      row_offset_[k] = offset;
    }
  }

  void run_scalars(const std::vector<scalar_step>& steps) {
    using kind = scalar_step::kind;
    for (const auto& s : steps) {
      std::byte* const d = cells_ + s.d;
      switch (s.what) {
        case kind::compute: s.single(d, cells_ + s.x, cells_ + s.y, cells_ + s.z); break;
        case kind::load: copy_value(d, base(s.x, row_offset_[s.x]), s.size); break;
        case kind::store: copy_value(base(s.d, row_offset_[s.d]), cells_ + s.x, s.size); break;
        case kind::immediate: copy_value(d, &s.bits, s.size); break;
        case kind::position:
          with_element(s.type, [&]<class T>(T) {
            const T v = static_cast<T>(row_index_[s.x]);
            std::memcpy(d, &v, sizeof v);
          });
          break;
        case kind::finish_row: s.reduction->finish(accumulators_[s.x], c_.order, d); break;
        case kind::finish_all: s.reduction->finish(accumulators_[s.x], c_.order, base(s.d, row_offset_[s.d])); break;
        case kind::reduce_cell: s.reduction->into(base(s.d, row_offset_[s.d]), cells_ + s.x, 1, 1); break;
        case kind::look_up:
          with_element(s.type, [&]<class T>(T index) {
            std::memcpy(&index, cells_ + s.x, sizeof index);
            row_offset_[s.d] += static_cast<std::int64_t>(index) * s.bits;
          });
          break;
      }
      if (s.repeated) repeat(d, s.size);
    }
  }

  void place_addresses(const lane_phase& l, void** table, const std::int64_t* offsets, std::int64_t begin) const {
    for (const auto& m : l.moving) {
      if (a_.stream && m.slot >= 0)
        table[m.at] = table[m.slot];
      else if (m.operand >= 0)
        table[m.at] = base(m.operand, offsets[m.operand] + begin);
      else
        table[m.at] = a_.scratch + m.spill * a_.scratch_row;
    }
  }
  void advance(const lane_phase& l, void** table) const {
    for (const auto& m : l.moving)
      if (!(a_.stream && m.slot >= 0)) table[m.at] = static_cast<std::byte*>(table[m.at]) + c_.block * m.size;
  }

  void run_lanes(const lane_phase& l, const kernels::cluster_range& r) {
    for (const auto& s : l.starts)
      if (s.each_row) s.reduction->start(accumulators_[s.accumulator], c_.order);
    if (l.steps.empty()) return;
    place_addresses(l, table_, row_offset_, r.begin);
    for (std::int64_t j = r.begin; j < r.end; j += c_.block) {
      const std::int64_t n = std::min(c_.block, r.end - j);
      const bool more = j + c_.block < r.end;
      if (more && c_.block * 8 < r.end - r.begin) {
        const std::int64_t next = std::min(c_.block, r.end - j - c_.block);
        const auto parts = static_cast<std::int64_t>(l.steps.size());
        std::int64_t part = 0;
        for (const auto& s : l.steps) {
          for (const auto& m : l.moving) fetch_ahead(m, table_, next * part / parts, next * (part + 1) / parts);
          ++part;
          run_step(l, s, table_, row_offset_, j, n, -1);
        }
      } else {
        for (const auto& s : l.steps) run_step(l, s, table_, row_offset_, j, n, -1);
      }
      if (more) advance(l, table_);
    }
  }

  // Prefetches the memory of the next block while this one is computed.
  void fetch_ahead(const moving_address& m, void* const* table, std::int64_t from, std::int64_t to) const {
    if (m.operand < 0 || (a_.stream && m.slot >= 0)) return;
    const std::byte* next = static_cast<const std::byte*>(table[m.at]) + c_.block * m.size;
    for (std::int64_t b = from * m.size; b < to * m.size; b += 64) __builtin_prefetch(next + b);
  }

  [[gnu::always_inline]] void run_step(const lane_phase& l, const lane_step& s, void* const* table, const std::int64_t* offsets,
                                       std::int64_t j, std::int64_t n, int part) {
    if (s.what == lane_step::kind::compute) [[likely]]
      s.block(table[s.d], table[s.x], table[s.y], table[s.z], n, s.rows);
    else if (s.what == lane_step::kind::loop)
      run_call(l.calls[static_cast<std::size_t>(s.loop)], table, n);
    else
      run_other(s, table, offsets, j, n, part);
  }

  static void run_call(const loop_call& call, void* const* table, std::int64_t n) {
    void* operands[loop_call::most_operands];
    for (std::size_t k = 0; k < call.operands.size(); ++k) operands[k] = table[call.operands[k]];
    call.run(operands, n);
  }
  [[gnu::noinline]] void run_other(const lane_step& s, void* const* table, const std::int64_t* offsets, std::int64_t j, std::int64_t n,
                                   int part) {
    using kind = lane_step::kind;
    switch (s.what) {
      case kind::compute:
      case kind::loop: break;
      case kind::copy:
        if (table[s.d] != table[s.x]) std::memcpy(table[s.d], table[s.x], static_cast<std::size_t>(n * s.size));
        break;
      case kind::gather: {
        const std::int64_t stride = stride_of(s.operand);
        const std::byte* from = base(s.operand, offsets[s.operand] + j * stride);
        if (stride == 1) {
          std::memcpy(table[s.d], from, static_cast<std::size_t>(n * s.size));
          break;
        }
        with_bytes(s.size, [&]<class T>(T) {
          const T* x = static_cast<const T*>(static_cast<const void*>(from));
          T* to = static_cast<T*>(table[s.d]);
          for (std::int64_t i = 0; i < n; ++i) to[i] = x[i * stride];
        });
        break;
      }
      case kind::scatter: {
        const std::int64_t stride = stride_of(s.operand);
        std::byte* to = base(s.operand, offsets[s.operand] + j * stride);
        if (stride == 1) {
          copy_out(to, table[s.x], n * s.size);
          break;
        }
        with_bytes(s.size, [&]<class T>(T) {
          const T* x = static_cast<const T*>(table[s.x]);
          T* out = static_cast<T*>(static_cast<void*>(to));
          for (std::int64_t i = 0; i < n; ++i) out[i * stride] = x[i];
        });
        break;
      }
      case kind::position: {
        // Counts positions in batches, as the compiled cluster does, so that results are equal.
        const std::int64_t count = c_.order == reduction_order::single ? 1 : static_cast<std::int64_t>(batch_bytes) / s.size;
        with_element(s.type, [&]<class T>(T) {
          if constexpr (!std::is_same_v<T, bool>) {
            T* to = static_cast<T*>(table[s.d]);
            for (std::int64_t i = 0; i < n; ++i)
              to[i] = kernels::scalar_math<T>::add(static_cast<T>(i % count), static_cast<T>(j + i - i % count));
          }
        });
        break;
      }
      case kind::reduce: s.reduction->take(accumulators_[s.accumulator], c_.order, table[s.x], n, part); break;
      case kind::reduce_into: {
        const std::int64_t stride = stride_of(s.operand);
        s.reduction->into(base(s.operand, offsets[s.operand] + j * stride), table[s.x], n, stride);
        break;
      }
      case kind::stream:
        if (a_.stream) copy_out(base(s.operand, offsets[s.operand] + j), table[s.x], n * s.size);
        break;
    }
  }
  std::int64_t stride_of(int operand) const { return a_.strides[operand * c_.loops + c_.outer]; }
  void copy_out(std::byte* to, const void* from, std::int64_t bytes) const {
    if (a_.stream)
      stream_bytes(to, static_cast<const std::byte*>(from), bytes);
    else if (to != from)
      std::memcpy(to, from, static_cast<std::size_t>(bytes));
  }

  // Sums over rows: four rows are combined before the array is accessed. Returns the first row that remains.
  std::int64_t run_four_rows(const kernels::cluster_range& r) {
    const lane_phase& l = c_.lanes.front();
    std::int64_t row = r.row_begin;
    for (; row + 4 <= r.row_end; row += 4) {
      for (int u = 0; u < 4; ++u) {
        for (int k = 0; k < c_.operands; ++k) offsets(u)[k] = (row + u) * a_.strides[k * c_.loops];
        place_addresses(l, table(u), offsets(u), r.begin);
      }
      for (std::int64_t j = r.begin; j < r.end; j += c_.block) {
        const std::int64_t n = std::min(c_.block, r.end - j);
        for (int u = 0; u < 4; ++u)
          for (const auto& s : l.steps)
            if (s.what != lane_step::kind::reduce_into) run_step(l, s, table(u), offsets(u), j, n, u);
        for (const auto& s : l.steps) {
          if (s.what != lane_step::kind::reduce_into) continue;
          const void* const x[]{table(0)[s.x], table(1)[s.x], table(2)[s.x], table(3)[s.x]};
          s.reduction->four_rows(base(s.operand, offsets(0)[s.operand] + j), x, n);
        }
        if (j + c_.block < r.end)
          for (int u = 0; u < 4; ++u) advance(l, table(u));
      }
    }
    return row;
  }
  void** table(int u) const { return table_ + u * c_.addresses; }
  std::int64_t* offsets(int u) const { return row_offset_ + u * c_.operands; }

  const cluster_code& c_;
  const kernels::cluster_arguments& a_;
  std::byte* cells_ = nullptr;
  std::byte* slots_ = nullptr;
  accumulator* accumulators_ = nullptr;
  void** table_ = nullptr;
  std::int64_t* row_offset_ = nullptr;
  std::int64_t* row_index_ = nullptr;
  void** base_ = nullptr;
};

// The number of elements of a combined result: the product of the loop sizes along which its strides are not 0.
inline std::int64_t combined_elements(const cluster_code& c, int operand, const std::int64_t* extents, const program_view::step& info) {
  std::int64_t n = 1;
  for (int l = 0; l < c.loops; ++l)
    if (info.operand_stride(operand, l).factor != 0) n *= extents[l];
  return n;
}

// Runs a cluster that only copies, if its result is contiguous and its source is not; returns whether it has.
inline bool copies_strided(const cluster_code& c, const workspace& w, const std::int64_t* plan) {
  const std::int64_t* sizes = plan + plan_numbers;
  const auto strides_of = [&](int operand) { return sizes + c.loops + operand * c.loops; };
  const auto is_contiguous = [&](const std::int64_t* strides) {
    std::int64_t step = 1;
    for (int l = c.loops - 1; l >= 0; step *= sizes[l--])
      if (sizes[l] != 1 && strides[l] != step) return false;
    return true;
  };
  if (!is_contiguous(strides_of(c.copied_to)) || is_contiguous(strides_of(c.copied_from))) return false;
  void* const to = operand_address(c, w, plan, c.copied_to);
  const void* const from = operand_address(c, w, plan, c.copied_from);
  with_bytes(c.operand_size[static_cast<std::size_t>(c.copied_to)], [&]<class T>(T) {
    copy_strided(static_cast<T*>(to), static_cast<const T*>(from), sizes, strides_of(c.copied_from), static_cast<std::size_t>(c.loops));
  });
  return true;
}

}  // namespace detail

LEAT_FUNCTION void run_cluster(const cluster_code& c, const program_view::step& info, const workspace& w, const std::int64_t* plan) {
  if (c.copied_from >= 0 && detail::copies_strided(c, w, plan)) return;
  const std::int64_t* extents = plan + plan_numbers;
  kernels::cluster_arguments a;
  a.extents = extents;
  a.strides = extents + c.loops;
  if (c.spills > 0) {
    a.scratch = w.arena + plan[plan_scratch];
    a.scratch_row = plan[plan_scratch_row];
  }
  if (c.combined.empty()) a.stream = plan[plan_stores] == stores_past_caches;
  if (plan[plan_chunks] == 1) {
    for (const auto& r : c.combined)
      if (r.starts)
        r.reduction->fill(detail::operand_address(c, w, plan, r.operand), detail::combined_elements(c, r.operand, extents, info));
    detail::cluster_run run(c, a);
    run.place_operands(w, plan);
    run.run({0, plan[plan_rows], 0, plan[plan_inner]});
    return;
  }
  const auto bytes_of = [&](const combined_operand& r) {
    return leat::detail::divide_up(detail::combined_elements(c, r.operand, extents, info) * r.size, 64) * 64;
  };
  std::int64_t partial = 0;
  for (const auto& r : c.combined) partial += bytes_of(r);
  parallel_for(plan[plan_chunks], [&](std::int64_t chunk) {
    kernels::cluster_arguments mine = a;
    if (c.spills > 0) mine.scratch = a.scratch + chunk * c.spills * a.scratch_row;
    detail::cluster_run run(c, mine);
    run.place_operands(w, plan);
    std::byte* at = w.arena + plan[plan_partials] + chunk * partial;
    for (const auto& r : c.combined) {
      run.place_operand(r.operand, at);
      if (r.starts) r.reduction->fill(at, detail::combined_elements(c, r.operand, extents, info));
      at += bytes_of(r);
    }
    run.run(detail::range_of_chunk(plan, chunk));
    if (mine.stream) stream_fence();
  });
  std::int64_t at = plan[plan_partials];
  for (const auto& r : c.combined) {
    r.reduction->chunks(detail::operand_address(c, w, plan, r.operand), w.arena + at,
                        detail::combined_elements(c, r.operand, extents, info), plan[plan_chunks], partial);
    at += bytes_of(r);
  }
}

}  // namespace leat::cpu
