#pragma once
// Gradients of operators on ragged tensors in graphs with names, as TensorFlow makes them. Source: TensorFlow's gradients of the operators
// of the same names.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/ragged.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/gather.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

/// The rows of the values that each gathered row has get its gradient.
inline gradient_list gradient_of_ragged_gather(const gradient_call& c) {
  const int levels = c.input_count() - 2;
  gradient_list list(static_cast<std::size_t>(levels) + 2);
  const output dy = c.dy(static_cast<int>(c.integer("OUTPUT_RAGGED_RANK")));
  if (!static_cast<bool>(dy)) return list;
  const output values = c.input(levels), places = reshape(c.input(levels + 1), {-1});
  output bounds = c.input(0);
  for (int k = 1; k < levels; ++k) bounds = gather(c.input(k), bounds);
  const output begins = gather(bounds, places), ends = gather(slice(bounds, {1}, {-1}), places);
  const output one = c.owner().named().make_literal(c.owner(), {bounds.type(), {}, 1});
  const output rows = call_operator(c.owner(), "RaggedRange", {begins, ends, one}, {{"Tsplits", bounds.type()}}).result(1);
  list[static_cast<std::size_t>(levels)] = gradient_value(dy, rows, shape_of(values));
  return list;
}
inline gradient_list gradient_of_ragged_to_sparse(const gradient_call& c) {
  const int levels = c.input_count() - 1;
  gradient_list list(static_cast<std::size_t>(levels) + 1);
  if (const output dy = c.dy(1); static_cast<bool>(dy)) list[static_cast<std::size_t>(levels)] = reshape(dy, shape_of(c.input(levels)));
  return list;
}
/// The rank of a tensor without its leading dimensions of 1.
inline output rank_behind_ones(const output& x) {
  const shape& extent = x.extent();
  int first = 0;
  while (first < extent.rank && extent[first] == 1) ++first;
  graph& g = x.owner();
  if (extent.has_rank() && (first == extent.rank || extent[first] >= 0))
    return g.named().make_constant(g, std::int32_t{extent.rank - first}, "Const");
  const output leading = cumprod(cast(equal(shape_of(x), g.named().make_constant(g, std::int32_t{1}, "Const")), dtype::int32));
  return rank_of(x) - reduce_sum(leading, all_axes);
}
/// The elements that come from the values, and those of the default, which may have been broadcast. An array of the values' places, made in
/// the same way, says which is which.
inline gradient_list gradient_of_ragged_to_tensor(const gradient_call& c) {
  graph& g = c.owner();
  const output dy = c.dy(), values = c.input(1), otherwise = c.input(2);
  const auto partitions = row_partitions_of(c.operation().attributes().find("row_partition_types"));
  const int axes = 1 + (partitions ? ragged_rank_of(*partitions) : 0);
  const output sizes = shape_of(values);
  const auto constant = [&](std::int32_t value) { return g.named().make_constant(g, value, "Const"); };
  const output rows = index(sizes, {0});
  const output places = call_operator(g, "Range", {constant(0), rows, constant(1)}, {}, "range").result();
  std::vector<number_argument> arguments{slice(shape_of(dy), {0}, {axes}), places, constant(-1)};
  for (int k = 3; k < c.input_count(); ++k) arguments.emplace_back(c.input(k));
  const output at = call_operator(g, "RaggedTensorToTensor", arguments, c.attributes({"row_partition_types"})).result();
  const output mask = not_equal(at, constant(-1));
  gradient_list list(static_cast<std::size_t>(c.input_count()));
  list[1] = gradient_value(boolean_mask(dy, mask), boolean_mask(at, mask), sizes);
  const output rest = boolean_mask(dy, logical_not(mask));
  const output count = rank_of(rest) - rank_behind_ones(otherwise);
  const output reduced = call_operator(g, "Range", {constant(0), count, constant(1)}, {}, "range").result();
  list[2] = reshape(reduce_sum(rest, reduced), shape_of(otherwise));
  return list;
}
inline gradient_list gradient_of_filled_ragged_rows(const gradient_call& c) {
  const output dy = c.dy(1);
  if (!static_cast<bool>(dy)) return {};
  const graph_operation made = call_operator(c.owner(), "RaggedFillEmptyRowsGrad", {c.result(3), dy});
  return {{}, made.result(0), {}, made.result(1)};
}

LEAT_FILL(fill_ragged_gradients) {
  enter_gradients({
      {"RaggedGather", gradient_of_ragged_gather},
      {"RaggedTensorToSparse", gradient_of_ragged_to_sparse},
      {"RaggedTensorToTensor", gradient_of_ragged_to_tensor},
      {"RaggedFillEmptyRows", gradient_of_filled_ragged_rows},
  });
}

}  // namespace leat::detail
