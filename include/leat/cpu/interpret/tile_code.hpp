#pragma once
// A fused cluster with short rows, computed for several rows at once, because the cost per row (function calls, addresses, row values
// computed one by one) would otherwise dominate. The rows of a tile are contiguous, in the operands themselves where possible. Each
// instruction of all phases runs over the whole tile before the next instruction runs:
//
//   lanes           all elements of all rows, rows x length
//   rows            one value per row: an array with a value for each row of the tile; reductions produce such arrays
//   spread          such an array as lanes: each value repeated for the length of its row
//
// Each row is reduced separately, in the same order as without tiles, and rows are combined into an array or a cell in order. Results are
// therefore equal to those of one row after another, bit for bit.

#include <leat/cpu/interpret/reduction.hpp>

#include <cstdint>
#include <vector>

namespace leat::cpu {

/// An instruction over a tile. Its registers are indices in the address table: cells, slots, row arrays, moving addresses.
struct tile_step {
  enum class kind : std::uint8_t {
    compute,       // lanes
    load,          // lanes, from an operand
    store,
    position,      // lanes: the position in the row
    compute_rows,  // one value per row
    load_rows,
    store_rows,
    position_rows,  // the position along an outer loop
    spread,        // lanes, from one value per row
    reduce_rows,   // one value per row, from lanes
    reduce_cell,   // one value per row, combined into memory
    reduce_array,  // lanes, combined into memory row by row
    reduce_all     // lanes, into an accumulator shared by all rows
  };
  kind what = kind::compute;
  std::uint8_t size = 0;  // bytes of the element
  bool once = false;      // whether the first tile's result is used for all tiles
  dtype type = dtype::invalid;
  unsigned rows = 0;  // bit mask of the operands of a block that have an element for each position
  int d = 0, x = 0, y = 0, z = 0;
  int slot = 0;      // where the lanes of a load or store are if not in the operand
  int operand = -1;  // an operand, or the loop that is counted
  int accumulator = -1;
  block_function block = nullptr;
  const reduction_functions* reduction = nullptr;
};

struct tile_code {
  static constexpr std::int64_t most_rows = 512;
  static constexpr std::int64_t row_bytes = most_rows * 8 + 64;  // bytes of a row array; not a power of two, to spread over cache sets

  bool exists = false;
  std::vector<tile_step> steps;
  /// An address that is in an operand if its rows are contiguous, and in a slot otherwise.
  struct home {
    int at;
    int operand;
    int slot;
  };
  std::vector<home> homes;
  int slots = 0;
  int row_arrays = 0;
  int addresses = 0;
  std::int64_t block = 0;  // the largest number of elements of a tile
  std::int64_t slot_bytes = 0;

  /// The size of a worker's memory, in whole cache lines.
  std::int64_t bytes() const { return (slots * slot_bytes + row_arrays * row_bytes + 8 * addresses + 63) / 64 * 64; }
};

}  // namespace leat::cpu
