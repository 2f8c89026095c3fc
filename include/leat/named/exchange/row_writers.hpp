#pragma once
// How `to_graph` writes rows whose operators have no form: TensorFlow's node takes numbers before operands, or has several results, each of
// which is a row here.

#include <leat/core/fill.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/exchange/graph_writer.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/blocks.hpp>
#include <leat/ops/converged.hpp>
#include <leat/ops/random.hpp>
#include <leat/ops/top_k.hpp>

namespace leat::detail {

// Random numbers of a seed: the shape comes first.
inline output write_random(graph_writer& w, const node& n) {
  return call_operator(w.to(), n.op->type, {w.sizes_from(n, 1), w.input(n, 0)}, {{"dtype", n.result.type}}).result();
}
inline output write_random_integers(graph_writer& w, const node& n) {
  const auto limit = [&](int k) { return tensor_literal(n.result.type, {}, kept_number{w.number(n, k)}); };
  return call_operator(w.to(), n.op->type, {w.sizes_from(n, 3), w.input(n, 0), limit(1), limit(2)}).result();
}
inline output write_multinomial(graph_writer& w, const node& n) {
  return call_operator(w.to(), n.op->type, {w.input(n, 0), tensor_literal(as_int32(w.number(n, 0))), w.input(n, 1)},
                       {{"output_dtype", n.result.type}})
      .result();
}
// The node has two results. The row of the values has that of the positions as its second operand.
inline output write_top_places(graph_writer& w, const node& n) {
  return call_operator(w.to(), n.op->type, {w.input(n, 0), tensor_literal(as_int32(w.number(n, 0)))}).result(1);
}
inline output write_top_values(graph_writer& w, const node& n) { return w.input(n, 1).operation().result(0); }
// The node has the indices first.
inline output write_stitch(graph_writer& w, const node& n) {
  const int arrays = n.input_count / 2;
  std::vector<number_argument> inputs;
  for (int k = 0; k < n.input_count; ++k) inputs.emplace_back(w.input(n, k < arrays ? arrays + k : k - arrays));
  return call_operator(w.to(), n.op->type, inputs, {{"N", std::int64_t{arrays}}}).result();
}
// Two lists of numbers: the sizes of a block, and pairs of paddings or crops.
inline output write_batch_exchange(graph_writer& w, const node& n) {
  const int axes = n.attribute_count / 3;
  std::vector<std::int32_t> blocks, pairs;
  for (int k = 0; k < axes; ++k) {
    blocks.push_back(as_int32(w.number(n, k)));
    for (const int part : {1, 2}) pairs.push_back(as_int32(w.number(n, part * axes + k)));
  }
  shape extent;
  extent.push(axes);
  extent.push(2);
  return call_operator(w.to(), n.op->type, {w.input(n, 0), tensor_literal(blocks), tensor_literal(extent, pairs)}).result();
}
// An assertion, for which the first operand waits.
inline output write_check_converged(graph_writer& w, const node& n) {
  const output residual = w.input(n, 1);
  const auto most = static_cast<std::int64_t>(bits_of(residual.type(), std::bit_cast<double>(w.number(n, 0))));
  const output is_near = less_equal(residual, operand_value(tensor_literal(residual.type(), {}, kept_number{most})));
  const std::string text = std::string(method_of(static_cast<approach>(w.number(n, 2)))) + ": " + std::to_string(w.number(n, 1)) +
                           " steps are too few; what is left:";
  return with_dependencies({check(is_near, {text, residual})}, w.input(n, 0));
}
inline output refuse_row(graph_writer&, const node& n) {
  throw unimplemented("to_graph: a " + std::string(n.op->type) + ", which TensorFlow has no node for");
}

template <class... Ops>
void enter_row_writer(output (*write)(graph_writer&, const node&)) {
  (expression_writers().enter(Ops::type, &operator_entry::writer, {write}), ...);
}
LEAT_FILL(fill_row_writers) {
  enter_row_writer<stateless_uniform_op, stateless_normal_op, stateless_truncated_normal_op>(write_random);
  enter_row_writer<stateless_integers_op>(write_random_integers);
  enter_row_writer<stateless_multinomial_op>(write_multinomial);
  enter_row_writer<stateless_order_op>(refuse_row);
  enter_row_writer<top_places_op>(write_top_places);
  enter_row_writer<top_values_op>(write_top_values);
  enter_row_writer<dynamic_stitch_op>(write_stitch);
  enter_row_writer<check_converged_op>(write_check_converged);
  enter_row_writer<batch_exchange_op<true>, batch_exchange_op<false>>(write_batch_exchange);
}

}  // namespace leat::detail
