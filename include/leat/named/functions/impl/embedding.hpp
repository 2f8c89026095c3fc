#pragma once
// Implementation of named_embedding.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/embedding.hpp>
#include <leat/named/functions/handle.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>

namespace leat::detail {

LEAT_FUNCTION shard_rows rows_by_mod(const output& ids, std::int32_t shards) {
  graph& g = ids.owner();
  const auto count = [&] { return g.named().make_literal(g, tensor_literal(shards).as(ids.type())); };
  const output shard = floor_mod(ids, count());
  return {shard, floor_divide(ids, count())};
}

LEAT_FUNCTION shard_rows rows_by_div(const std::vector<output>& tables, const output& ids) {
  graph& g = ids.owner();
  std::int64_t rows = 0;
  for (const output& t : tables) {
    if (!t.extent().has_rank() || t.extent().rank == 0 || t.extent()[0] < 0)
      throw invalid_argument("embedding_lookup by div: the number of rows of " + describe(t) + " is not known");
    rows += t.extent()[0];
  }
  const auto shards = static_cast<std::int64_t>(tables.size());
  const std::int64_t each = rows / shards;
  const std::int64_t more = rows % shards;  // the first `more` shards have one row more
  const auto number = [&](std::int64_t n) {
    return g.named().make_literal(g, tensor_literal(static_cast<std::int64_t>(n)).as(ids.type()));
  };
  const output shard = maximum(floor_divide(ids, number(each + 1)), floor_divide(ids - number(more), number(each)));
  const output row = choose(shard < number(more), floor_mod(ids, number(each + 1)), floor_mod(ids - number(more), number(each)));
  return {shard, row};
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output embedding_lookup(const std::vector<output>& tables, const operand_value& ids, partition_strategy strategy,
                                      std::string_view name, const std::source_location& where) {
  if (tables.empty()) throw invalid_argument("embedding_lookup: Need at least one param");
  graph& g = tables.front().owner();
  named_part& nodes = g.named();
  const source_scope line(g, where);
  const name_scope scope(g, name);
  const output at = ids.tensor() != nullptr ? nodes.value_of(*ids.tensor()) : nodes.make_constant(g, *ids.literal(), "ids");
  if (at.type() != dtype::int32 && at.type() != dtype::int64)
    throw invalid_argument("embedding_lookup: ids are int32 or int64: " + describe(at));
  if (tables.size() == 1) {
    output rows;
    {
      const colocate_with there(tables.front());
      rows = gather(tables.front(), at, scope.text(), where);
    }
    return identity(rows, "Identity", where);
  }
  const auto shards = static_cast<std::int32_t>(tables.size());
  const output flat = reshape(at, index_list{std::vector<std::int32_t>{-1}}, "Reshape", where);
  const output count = element_count_of(flat, "Size", where);
  output places;
  {
    const name_scope part(g, "range");
    const output start = nodes.make_constant(g, std::int32_t{0}, "start");
    const output delta = nodes.make_constant(g, std::int32_t{1}, "delta");
    places = call_operator(g, "Range", {start, count, delta}, {}, part.text()).result();
  }
  detail::shard_rows found = strategy == partition_strategy::mod ? detail::rows_by_mod(flat, shards) : detail::rows_by_div(tables, flat);
  found.shard = cast(found.shard, dtype::int32, {}, where);
  const auto rows = call_operator(g, "DynamicPartition", {found.row, found.shard}, {{"num_partitions", shards}}).outputs();
  const auto positions = call_operator(g, "DynamicPartition", {places, found.shard}, {{"num_partitions", shards}}).outputs();
  std::vector<number_argument> parts(positions.begin(), positions.end());
  for (std::size_t k = 0; k < tables.size(); ++k) {
    const colocate_with there(tables[k]);
    parts.push_back(gather(tables[k], rows[k], "GatherV2", where));
  }
  const output together = call_operator(g, "ParallelDynamicStitch", parts, {}, scope.text()).result();
  shape row_extent = tables.front().extent();
  if (!row_extent.has_rank() || row_extent.rank == 0)
    throw invalid_argument("embedding_lookup: the shape of " + describe(tables.front()) + " is not known");
  const output outer = shape_of(at, "Shape", where);
  std::vector<std::int32_t> inner;
  for (int i = 1; i < row_extent.rank; ++i) inner.push_back(static_cast<std::int32_t>(row_extent[i]));
  output whole;
  {
    const name_scope part(g, "concat");
    const output rest = nodes.make_constant(g, inner, "values_1");
    const output both[]{outer, rest};
    const std::int64_t numbers[]{0};
    whole = nodes.build(g, info_of<concat_op>, both, numbers, part.text());
  }
  return reshape(together, whole, "Reshape", where);
}

LEAT_FUNCTION output embedding_lookup(const output& table, const operand_value& ids, std::string_view name,
                                      const std::source_location& where) {
  return embedding_lookup(std::vector<output>{table}, ids, partition_strategy::mod, name, where);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION output scattered(const std::string& type, const output& variable, const operand_value& indices, const operand_value& updates,
                               std::string_view name, const std::source_location& where) {
  const source_scope line(variable.owner(), where);
  const auto argument = [](const operand_value& v) {
    return v.tensor() != nullptr ? number_argument(*v.tensor()) : number_argument(*v.literal());
  };
  const bool by_handle = is_handle(variable);
  const graph_operation made = call_operator(variable.owner(), by_handle ? "Resource" + type : type,
                                             {variable, argument(indices), argument(updates)}, {}, by_handle && name == type ? "" : name);
  return by_handle ? read_after(variable, made) : made.result();
}

}  // namespace leat::detail

namespace leat {

#define LEAT_NAMED_SCATTER(function, type)                                                                                                 \
  LEAT_FUNCTION output function(const output& variable, const operand_value& indices, const operand_value& updates, std::string_view name, \
                                const std::source_location& where) {                                                                       \
    return detail::scattered(type, variable, indices, updates, name, where);                                                               \
  }
LEAT_NAMED_SCATTER(scatter_update, "ScatterUpdate")
LEAT_NAMED_SCATTER(scatter_add, "ScatterAdd")
LEAT_NAMED_SCATTER(scatter_sub, "ScatterSub")
LEAT_NAMED_SCATTER(scatter_mul, "ScatterMul")
LEAT_NAMED_SCATTER(scatter_div, "ScatterDiv")
LEAT_NAMED_SCATTER(scatter_min, "ScatterMin")
LEAT_NAMED_SCATTER(scatter_max, "ScatterMax")
#undef LEAT_NAMED_SCATTER

}  // namespace leat
