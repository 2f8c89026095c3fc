#pragma once
// A fused cluster whose rows are short, several rows at once: what a row costs apart from its elements (calls of functions,
// addresses, values of the row computed one by one) would be most of its time. The rows of a tile lie one after the other
// without gaps, in the operands themselves where they do so there. Each instruction of all phases runs over the whole tile before
// the next one does:
//
//   lanes           all elements of all rows, rows x length
//   rows            what is one value per row: an array of as many values as there are rows; reductions end in one
//   spread          such an array as lanes: each value as often as its row is long
//
// Each row is reduced by itself, in the order in which it is reduced alone, and rows are combined into an array or a cell in
// their order: results are the bytes that row after row gives.

#include <leat/cpu/interpret/reduction.hpp>

#include <cstdint>
#include <vector>

namespace leat::cpu {

/// An instruction over a tile. Registers are numbers in the table of addresses: cells, slots, arrays of rows, what moves.
struct tile_step {
  enum class kind : std::uint8_t {
    compute,       // lanes
    load,          // lanes, from an operand
    store,
    position,      // lanes: the place in the row
    compute_rows,  // one value per row
    load_rows,
    store_rows,
    position_rows,  // the place along an outer loop
    spread,        // lanes, of one value per row
    reduce_rows,   // one value per row, of lanes
    reduce_cell,   // one value per row, combined into memory
    reduce_array,  // lanes, combined into memory row by row
    reduce_all     // lanes, into an accumulator that all rows share
  };
  kind what = kind::compute;
  std::uint8_t size = 0;  // bytes of the element
  bool once = false;      // what the first tile has serves all
  dtype type = dtype::invalid;
  unsigned rows = 0;  // which operands of a block have an element for each position
  int d = 0, x = 0, y = 0, z = 0;
  int slot = 0;      // where a load or store has its lanes if not in the operand
  int operand = -1;  // or the loop that is counted
  int accumulator = -1;
  block_function block = nullptr;
  const reduction_functions* reduction = nullptr;
};

struct tile_code {
  static constexpr std::int64_t most_rows = 512;
  static constexpr std::int64_t row_bytes = most_rows * 8 + 64;  // of an array of rows; not a power of two, for the cache's sake

  bool exists = false;
  std::vector<tile_step> steps;
  /// An address in an operand, where its rows lie one after the other, and in a slot otherwise.
  struct home {
    int at;
    int operand;
    int slot;
  };
  std::vector<home> homes;
  int slots = 0;
  int row_arrays = 0;
  int addresses = 0;
  std::int64_t block = 0;  // elements of a tile at most
  std::int64_t slot_bytes = 0;

  /// What a worker needs, in whole lines of the cache.
  std::int64_t bytes() const { return (slots * slot_bytes + row_arrays * row_bytes + 8 * addresses + 63) / 64 * 64; }
};

}  // namespace leat::cpu
