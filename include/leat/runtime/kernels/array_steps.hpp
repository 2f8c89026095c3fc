#pragma once
// Applies element-wise operators to an array, one after the other: bias and activation of a layer, normalization. Each step calls the block
// function that a program made of the operator's class calls (cpu/interpret/element.hpp). All steps run on one tile of the array before the
// next, so that its elements stay in the cache; threads share the tiles.

#include <leat/cpu/float_mode.hpp>
#include <leat/cpu/interpret/element.hpp>
#include <leat/cpu/parallel.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

namespace leat::runtime {

/// Steps on an array of `rows` rows of `columns` elements.
template <class T>
class array_steps {
 public:
  /// What a step takes in addition to the array. It holds no elements, except for `value`.
  class operand {
   private:
    friend array_steps;
    enum class kind : unsigned char { elements, by_column, by_row, value };
    operand(kind its_kind, const T* at) : kind_(its_kind), at_(at) {}
    kind kind_;
    const T* at_;
    std::int64_t period_ = 0;  // by_row: number of rows after which the values repeat
    T value_{};
  };

  array_steps(std::int64_t rows, std::int64_t columns) : count_(rows * columns), columns_(columns), rows_(rows) {
    const std::int64_t repeats = columns == 0 ? 1 : std::clamp<std::int64_t>(shortest_piece / columns, 1, std::max<std::int64_t>(rows, 1));
    piece_ = columns * repeats;
    steps_.reserve(4);
  }

  /// One element for each of the array.
  static operand elements(const T* at) { return {operand::kind::elements, at}; }
  /// One element for each column.
  static operand by_column(const T* at) { return {operand::kind::by_column, at}; }
  /// One element for each row; row r takes element r % period.
  static operand by_row(const T* at, std::int64_t period) {
    operand made{operand::kind::by_row, at};
    made.period_ = period;
    return made;
  }
  /// The same value for all elements.
  static operand value(T v) {
    operand made{operand::kind::value, nullptr};
    made.value_ = v;
    return made;
  }

  /// Adds the step x = Op(x, operands...). The operands must live until the steps have run.
  template <class Op, class... Operand>
  void add(const Operand&... operands) {
    static_assert(cpu::detail::operands_of<Op>() == 1 + sizeof...(Operand));
    step made{cpu::block_function_of<Op, T>()};
    (add(made, operands), ...);
    steps_.push_back(made);
  }
  /// Runs the steps, of which there is at least one, on the array `from`; the results go to `to`, which may be the same array.
  void run(const T* from, T* to) const {
    const std::int64_t piece = has_rows_ ? columns_ : has_columns_ ? piece_ : count_;
    if (count_ == 0) return;
    const cpu::flush_denormals mode;
    if (count_ <= elements_of_tile) return run_tile(from, to, 0, count_, piece, 0);
    const std::int64_t tile = piece < elements_of_tile ? elements_of_tile / piece * piece : elements_of_tile;
    cpu::parallel_for((count_ + tile - 1) / tile, [&](std::int64_t k) {
      run_tile(from, to, k * tile, std::min(count_, (k + 1) * tile), piece, k * tile % piece);
    });
  }

 private:
  static constexpr std::int64_t elements_of_tile = 1 << 13;
  static constexpr std::int64_t shortest_piece = 512;  // a call for fewer elements costs more than their arithmetic
  static constexpr auto repeated = static_cast<std::int64_t>(cpu::repeated_bytes / sizeof(T));

  struct step {
    cpu::block_function function;
    typename operand::kind kinds[2]{};
    const T* first[2]{};
    std::int64_t period[2]{};
    unsigned rows = 1;  // bit k: operand k has one element for each result
    int count = 0;

    const T* at(int k, std::int64_t element, std::int64_t in_piece, std::int64_t columns) const {
      if (k >= count) return nullptr;
      switch (kinds[k]) {
        case operand::kind::elements: return first[k] + element;
        case operand::kind::by_column: return first[k] + in_piece;
        case operand::kind::by_row: return first[k] + element / columns % period[k] * repeated;
        default: return first[k];
      }
    }
  };

  // `first` is the place of the element `begin` in its piece.
  void run_tile(const T* from, T* to, std::int64_t begin, std::int64_t end, std::int64_t piece, std::int64_t first) const {
    for (const step& s : steps_) {
      for (std::int64_t at = begin, place = first; at < end; place = 0) {
        const std::int64_t n = std::min(piece - place, end - at);
        s.function(to + at, from + at, s.at(0, at, place, columns_), s.at(1, at, place, columns_), n, s.rows);
        at += n;
      }
      from = to;
    }
  }
  void add(step& s, const operand& o) {
    using kind = typename operand::kind;
    const int k = s.count++;
    s.kinds[k] = o.kind_;
    s.first[k] = o.at_;
    if (o.kind_ == kind::elements || o.kind_ == kind::by_column) s.rows |= 2u << k;
    if (o.kind_ == kind::value) {
      T* const all = allocate(repeated);
      std::fill_n(all, repeated, o.value_);
      s.first[k] = all;
    }
    if (o.kind_ == kind::by_column) {
      has_columns_ = true;
      if (piece_ > columns_) {
        T* const all = allocate(piece_);
        for (std::int64_t at = 0; at < piece_; at += columns_) std::copy_n(o.at_, columns_, all + at);
        s.first[k] = all;
      }
    }
    if (o.kind_ == kind::by_row) {
      has_rows_ = true;
      s.period[k] = std::max<std::int64_t>(std::min(o.period_, rows_), 1);
      T* const all = allocate(s.period[k] * repeated);
      for (std::int64_t r = 0; r < std::min(o.period_, rows_); ++r) std::fill_n(all + r * repeated, repeated, o.at_[r]);
      s.first[k] = all;
    }
  }
  T* allocate(std::int64_t n) { return static_cast<T*>(pool_.allocate(static_cast<std::size_t>(n) * sizeof(T), alignof(T))); }

  std::int64_t count_, columns_, rows_, piece_;
  bool has_columns_ = false, has_rows_ = false;
  alignas(64) std::byte few_bytes_[2048];  // small layers take no memory from the heap
  std::pmr::monotonic_buffer_resource pool_{few_bytes_, sizeof few_bytes_};
  std::pmr::vector<step> steps_{&pool_};
};

}  // namespace leat::runtime
