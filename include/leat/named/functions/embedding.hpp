#pragma once
// Lookups in tables that may be sharded, and updates of rows of variables, in named graphs.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/call.hpp>

namespace leat {

/// Maps row i of a table to one of n shards: `mod` to shard i mod n, `div` to shards of consecutive rows.
enum class partition_strategy { mod, div };

namespace detail {

// The shard of each id, and its row in that shard.
struct shard_rows {
  output shard;
  output row;
};
shard_rows rows_by_mod(const output& ids, std::int32_t shards);
shard_rows rows_by_div(const std::vector<output>& tables, const output& ids);

}  // namespace detail

/// The rows of a table at ids. The table may be given in shards. Shapes: table [rows, d…], ids [i…]; result [i…, d…]. Dtypes: ids int32 or
/// int64.
/// Errors: invalid_argument without a table, for ids of another dtype, and for `div` if a shard's number of rows is unknown.
/// Source: `embedding_lookup`.
output embedding_lookup(const std::vector<output>& tables, const operand_value& ids, partition_strategy strategy = partition_strategy::mod,
                        std::string_view name = "embedding_lookup", const std::source_location& where = std::source_location::current());
output embedding_lookup(const output& table, const operand_value& ids, std::string_view name = "embedding_lookup",
                        const std::source_location& where = std::source_location::current());

#define LEAT_NAMED_SCATTER(function, type)                                                                                          \
  output function(const output& variable, const operand_value& indices, const operand_value& updates, std::string_view name = type, \
                  const std::source_location& where = std::source_location::current());
/// Updates the rows of a variable at `indices` with the rows of `updates`: sets them, adds to them, and so on, as the name says. An index
/// that occurs several times is applied each time. Shapes: variable [rows, d…], indices [i…], updates [i…, d…], or a scalar for all; result
/// the variable. Dtypes: indices int32 or int64; updates like the variable. Errors in a run: invalid_argument for an index outside of the
/// rows. Source: TensorFlow functions of the same names.
LEAT_NAMED_SCATTER(scatter_update, "ScatterUpdate")
LEAT_NAMED_SCATTER(scatter_add, "ScatterAdd")
LEAT_NAMED_SCATTER(scatter_sub, "ScatterSub")
LEAT_NAMED_SCATTER(scatter_mul, "ScatterMul")
LEAT_NAMED_SCATTER(scatter_div, "ScatterDiv")
LEAT_NAMED_SCATTER(scatter_min, "ScatterMin")
LEAT_NAMED_SCATTER(scatter_max, "ScatterMax")
#undef LEAT_NAMED_SCATTER

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/embedding.hpp>
#endif
