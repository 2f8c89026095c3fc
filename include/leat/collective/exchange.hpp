#pragma once
// How `to_graph` writes typed collectives: by the functions of graphs with names. Including this header registers them.

#include <leat/collective/named_collective.hpp>
#include <leat/collective/operators.hpp>
#include <leat/named/exchange/graph_writer.hpp>
#include <leat/named/functions/array.hpp>

namespace leat::detail {

inline std::string name_of_collective(graph_writer& writer, const node& n) {
  std::vector<std::int64_t> words;
  for (int k = 1; k < n.attribute_count; ++k) words.push_back(writer.number(n, k));
  const auto text = text_in(words.data());
  return {text.begin(), text.end()};
}
inline output write_all_reduce(graph_writer& writer, const node& n) {
  const all_reduce_options options{static_cast<reduce_by>(writer.number(n, 0)), name_of_collective(writer, n)};
  if (n.input_count == 1) return all_reduce(writer.input(n, 0), options);
  std::vector<output> inputs, parts;
  for (int k = 0; k < n.input_count; ++k) inputs.push_back(writer.input(n, k));
  for (const output& sum : all_reduce(inputs, options)) parts.push_back(reshape(sum, {-1}));
  return concat(parts, 0);
}
// A typed gather accepts scalars, too; the graph's operator gets them as one row.
inline output write_all_gather(graph_writer& writer, const node& n) {
  const output x = writer.input(n, 0);
  return all_gather(writer.number(n, 0) < 0 ? expand_dims(x, 0) : x, name_of_collective(writer, n));
}
inline output write_all_gather_gradient(graph_writer& writer, const node& n) {
  const output all = writer.input(n, 0);
  const bool is_scalar = writer.number(n, 0) < 0;
  shape own = is_scalar ? shape{} : n.result.extent;
  if (is_scalar) own.push(1);
  if (!own.is_static()) throw unimplemented("to_graph: the gradient of an all_gather of a shape with named dimensions");
  const output like = zeros_of(own, all.type());
  const output rows = call_operator(writer.to(), "AllgatherGrad", {all, like}).result();
  return is_scalar ? squeeze(rows, {0}) : rows;
}
inline output write_broadcast(graph_writer& writer, const node& n) {
  return broadcast(writer.input(n, 0), static_cast<int>(writer.number(n, 0)), name_of_collective(writer, n));
}
inline output write_broadcast_gradient(graph_writer& writer, const node& n) {
  return call_operator(writer.to(), "BroadcastGrad", {writer.input(n, 0)}, {{"root_rank", writer.number(n, 0)}}).result();
}
LEAT_EARLY inline const filled_early collectives_written{[] {
  enter_deferred_writer(all_reduce_op::type, write_all_reduce);
  enter_deferred_writer(all_gather_op::type, write_all_gather);
  enter_deferred_writer(sum_to_rows_op::type, write_all_gather_gradient);
  enter_deferred_writer(broadcast_op::type, write_broadcast);
  enter_deferred_writer(sum_to_root_op::type, write_broadcast_gradient);
}};

}  // namespace leat::detail
