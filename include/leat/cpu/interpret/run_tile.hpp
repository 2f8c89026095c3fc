#pragma once
// Runs several short rows of a cluster at once, see tile_code.hpp.

#include <leat/cpu/interpret/cluster_code.hpp>
#include <leat/cpu/interpret/values.hpp>
#include <leat/kernels/cluster/lanes.hpp>

#include <algorithm>
#include <cstring>

namespace leat::cpu::detail {

// ---- filling lanes ----------------------------------------------------------------------------------------------------

// A store may extend into the next row, whose own store overwrites it. Short stores are used where they suffice, because they seldom cross
// a cache line.
template <std::size_t Bytes, class T>
void spread_by(T* to, const T* from, std::int64_t rows, std::int64_t length) {
  using vector = typename vector_of<T, Bytes>::type;
  constexpr auto count = static_cast<std::int64_t>(Bytes / sizeof(T));
  if (length <= count) {
    for (const T* const end = from + rows; from != end; ++from, to += length) {
      const vector v = vector{} + *from;
      std::memcpy(to, &v, Bytes);
    }
    return;
  }
  for (const T* const end = from + rows; from != end; ++from, to += length) {
    const vector v = vector{} + *from;
    for (std::int64_t i = 0; i + count < length; i += count) std::memcpy(to + i, &v, Bytes);
    std::memcpy(to + length - count, &v, Bytes);
  }
}
/// Writes each value `length` times. Writes up to a batch past the end.
template <class T>
void spread_values(T* to, const T* from, std::int64_t rows, std::int64_t length) {
  const auto bytes = static_cast<std::size_t>(length) * sizeof(T);
  if constexpr (sizeof(T) == 1) {
    for (std::int64_t k = 0; k < rows; ++k) std::memset(to + k * length, static_cast<int>(from[k]), bytes);
  } else if (bytes <= 16) {
    spread_by<16>(to, from, rows, length);
  } else if (bytes <= 32 && batch_bytes >= 32) {
    spread_by<32>(to, from, rows, length);
  } else {
    spread_by<batch_bytes>(to, from, rows, length);
  }
}
/// Writes the elements of a row `rows` times. Writes up to a batch past the end.
template <class T>
void repeat_row(T* to, const T* row, std::int64_t rows, std::int64_t length) {
  const std::int64_t all = rows * length;
  if constexpr (sizeof(T) != 1) {
    constexpr std::int64_t count = lanes<T>;
    if (length < count) {
      T several[static_cast<std::size_t>(2 * count)];
      const batch<T> one = load_partial(row, static_cast<int>(length));
      std::int64_t period = 0;  // length of as many whole rows as fill a batch
      for (; period < count; period += length) store(several + period, one);
      if (period > count) period -= length;
      const batch<T> v = load(several);
      for (std::int64_t i = 0; i < all; i += period) store(to + i, v);
      return;
    }
  }
  if (to != row) std::copy_n(row, length, to);
  for (std::int64_t done = length; done < all;) {
    const std::int64_t more = std::min(done, all - done);
    std::memcpy(to + done, to, static_cast<std::size_t>(more) * sizeof(T));
    done += more;
  }
}

// ---- tiles ------------------------------------------------------------------------------------------------------------

/// The number of rows of this range that are computed at once; 1 or less if they are computed one by one.
inline std::int64_t rows_at_once(const cluster_code& c, const kernels::cluster_arguments& a, const kernels::cluster_range& r) {
  if (!c.tile.exists || r.begin != 0 || r.end <= 0 || r.end > cluster_code::longest_short_row || r.end != a.extents[c.outer]) return 1;
  const std::int64_t most = std::min({c.tile.block / r.end, tile_code::most_rows, r.row_end - r.row_begin});
  return c.combines_rows ? most / 4 * 4 : most;
}

class tile_run {
 public:
  /// `base` is indexed by operand; `memory` has `tile_code::bytes` bytes.
  tile_run(const cluster_code& c, const kernels::cluster_arguments& a, void* const* base, std::byte* cells, std::byte* memory,
           accumulator* accumulators)
      : c_(c), a_(a), base_(base), accumulators_(accumulators) {
    const tile_code& t = c.tile;
    table_ = static_cast<void**>(static_cast<void*>(memory + t.slots * t.slot_bytes + t.row_arrays * tile_code::row_bytes));
    void** at = table_;
    for (const int offset : c.cell_addresses) *at++ = cells + offset;
    for (int s = 0; s < t.slots; ++s, memory += t.slot_bytes) *at++ = memory;
    for (int s = 0; s < t.row_arrays; ++s, memory += tile_code::row_bytes) *at++ = memory;
  }

  void run(const kernels::cluster_range& r, std::int64_t at_once) {
    length_ = r.end;
    const std::int64_t grouped_end = c_.combines_rows ? r.row_begin + (r.row_end - r.row_begin) / 4 * 4 : r.row_begin;
    for (row_ = r.row_begin; row_ < r.row_end; row_ += rows_) {
      rows_ = std::min(at_once, r.row_end - row_);
      grouped_ = std::clamp(grouped_end - row_, std::int64_t{0}, rows_);
      for (const auto& h : c_.tile.homes)
        table_[h.at] = is_contiguous(h.operand) ? static_cast<void*>(address(h.operand, row_ * length_)) : table_[h.slot];
      for (const auto& s : c_.tile.steps) {
        if (s.what == tile_step::kind::compute) [[likely]]
          s.block(table_[s.d], table_[s.x], table_[s.y], table_[s.z], rows_ * length_, s.rows);
        else if (!s.once || row_ == r.row_begin)
          run_other(s);
      }
    }
  }

 private:
  std::byte* address(int operand, std::int64_t offset) const {
    return static_cast<std::byte*>(base_[operand]) + offset * c_.operand_size[static_cast<std::size_t>(operand)];
  }
  const std::int64_t* strides(int operand) const { return a_.strides + operand * c_.loops; }
  std::int64_t stride(int operand) const { return strides(operand)[c_.outer]; }

  // Whether an operand's rows are contiguous.
  bool is_contiguous(int operand) const {
    const std::int64_t* s = strides(operand);
    std::int64_t whole = 1;
    for (int l = c_.outer; l >= 0; --l) {
      if (s[l] != whole && a_.extents[l] != 1) return false;
      whole *= a_.extents[l];
    }
    return true;
  }
  // Whether all rows of an operand are the same memory.
  bool is_shared(int operand) const {
    const std::int64_t* s = strides(operand);
    for (int l = 0; l < c_.outer; ++l)
      if (s[l] != 0 && a_.extents[l] != 1) return false;
    return true;
  }
  // Calls f(k, offset) for each row of the tile, where offset is that of the row in the operand.
  template <class F>
  void each_row(int operand, F f) const {
    const std::int64_t* s = strides(operand);
    if (c_.outer == 1) {
      for (std::int64_t k = 0; k < rows_; ++k) f(k, (row_ + k) * s[0]);
      return;
    }
    std::int64_t index[max_rank + 1];
    std::int64_t offset = 0, rest = row_;
    for (int l = c_.outer - 1; l >= 0; --l) {
      index[l] = l == 0 ? rest : rest % a_.extents[l];
      if (l > 0) rest /= a_.extents[l];
      offset += index[l] * s[l];
    }
    for (std::int64_t k = 0; k < rows_; ++k) {
      f(k, offset);
      int l = c_.outer - 1;
      for (offset += s[l], ++index[l]; l > 0 && index[l] == a_.extents[l]; ++index[--l], offset += s[l]) {
        offset -= index[l] * s[l];
        index[l] = 0;
      }
    }
  }

  [[gnu::noinline]] void run_other(const tile_step& s) {
    using kind = tile_step::kind;
    switch (s.what) {
      case kind::compute: break;
      case kind::compute_rows: s.block(table_[s.d], table_[s.x], table_[s.y], table_[s.z], rows_, s.rows); break;
      case kind::load: with_bytes(s.size, [&]<class T>(T) { load<T>(s); }); break;
      case kind::store: with_bytes(s.size, [&]<class T>(T) { store<T>(s); }); break;
      case kind::load_rows:
        with_bytes(s.size, [&]<class T>(T) {
          const T* const from = elements<T>(s.operand);
          T* const to = static_cast<T*>(table_[s.d]);
          each_row(s.operand, [&](std::int64_t k, std::int64_t offset) { to[k] = from[offset]; });
        });
        break;
      case kind::store_rows:
        with_bytes(s.size, [&]<class T>(T) {
          T* const to = elements<T>(s.operand);
          const T* const from = static_cast<const T*>(table_[s.x]);
          each_row(s.operand, [&](std::int64_t k, std::int64_t offset) { to[offset] = from[k]; });
        });
        break;
      case kind::position:
        with_element(s.type, [&]<class T>(T) {
          T* const to = static_cast<T*>(table_[s.d]);
          for (std::int64_t i = 0; i < length_; ++i) to[i] = static_cast<T>(i);
          repeat_row(to, to, rows_, length_);
        });
        break;
      case kind::position_rows: with_element(s.type, [&]<class T>(T) { count_rows<T>(s); }); break;
      case kind::spread:
        with_bytes(s.size, [&]<class T>(T) {
          spread_values(static_cast<T*>(table_[s.d]), static_cast<const T*>(table_[s.x]), rows_, length_);
        });
        break;
      case kind::reduce_rows: s.reduction->each_row(table_[s.d], c_.order, table_[s.x], rows_, length_); break;
      case kind::reduce_cell: reduce_cell(s); break;
      case kind::reduce_array: reduce_array(s); break;
      case kind::reduce_all:
        for (std::int64_t k = 0; k < rows_; ++k)
          s.reduction->take(accumulators_[s.accumulator], c_.order, row_of(s, k), length_, k < grouped_ ? static_cast<int>(k % 4) : -1);
        break;
    }
  }
  const std::byte* row_of(const tile_step& s, std::int64_t k) const {
    return static_cast<const std::byte*>(table_[s.x]) + k * length_ * s.size;
  }

  template <class T>
  T* elements(int operand) const {
    return static_cast<T*>(base_[operand]);
  }
  template <class T>
  void load(const tile_step& s) const {
    if (table_[s.d] != table_[s.slot]) return;  // the operand is read in place
    const T* const from = elements<T>(s.operand);
    T* const to = static_cast<T*>(table_[s.d]);
    const std::int64_t step = stride(s.operand);
    const auto row = [&](std::int64_t k, std::int64_t offset) {
      T* const part = to + k * length_;
      if (step == 1)
        std::copy_n(from + offset, length_, part);
      else
        for (std::int64_t i = 0; i < length_; ++i) part[i] = from[offset + i * step];
    };
    if (!is_shared(s.operand)) return each_row(s.operand, row);
    if (step != 1) row(0, 0);
    repeat_row(to, step == 1 ? from : to, rows_, length_);
  }
  template <class T>
  void store(const tile_step& s) const {
    if (table_[s.x] != table_[s.slot]) return;  // the operand was written in place
    T* const to = elements<T>(s.operand);
    const T* const from = static_cast<const T*>(table_[s.x]);
    const std::int64_t step = stride(s.operand);
    each_row(s.operand, [&](std::int64_t k, std::int64_t offset) {
      const T* const part = from + k * length_;
      for (std::int64_t i = 0; i < length_; ++i) to[offset + i * step] = part[i];
    });
  }
  template <class T>
  void count_rows(const tile_step& s) const {
    T* const to = static_cast<T*>(table_[s.d]);
    for (std::int64_t k = 0; k < rows_; ++k) {
      std::int64_t rest = row_ + k;
      for (int l = c_.outer - 1; l > s.operand; --l) rest /= a_.extents[l];
      to[k] = static_cast<T>(s.operand > 0 ? rest % a_.extents[s.operand] : rest);
    }
  }
  void reduce_cell(const tile_step& s) const {
    const std::byte* const from = static_cast<const std::byte*>(table_[s.x]);
    if (is_shared(s.operand)) return s.reduction->into(address(s.operand, 0), from, rows_, 0);
    each_row(s.operand, [&](std::int64_t k, std::int64_t offset) {
      s.reduction->into(address(s.operand, offset), from + k * s.size, 1, 1);
    });
  }
  void reduce_array(const tile_step& s) const {
    if (is_shared(s.operand))
      return s.reduction->rows_into(address(s.operand, 0), table_[s.x], rows_, length_, stride(s.operand), grouped_);
    each_row(s.operand, [&](std::int64_t k, std::int64_t offset) {
      s.reduction->into(address(s.operand, offset), row_of(s, k), length_, stride(s.operand));
    });
  }

  const cluster_code& c_;
  const kernels::cluster_arguments& a_;
  void* const* base_;
  accumulator* accumulators_;
  void** table_ = nullptr;
  std::int64_t length_ = 0;
  std::int64_t row_ = 0, rows_ = 0;  // first row and number of rows of the tile
  std::int64_t grouped_ = 0;         // the number of these that are combined in fours
};

}  // namespace leat::cpu::detail
