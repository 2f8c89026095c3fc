#pragma once
// Gradients of cells of recurrent networks in graphs with names, as TensorFlow writes them: an operator for the gates, products for the
// weights. There the gradients of an LSTM's cells and outputs count, and those of its gates are lost; here they are refused. Source:
// TensorFlow's rnn_grad, and those of contrib's lstm_ops and gru_ops.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/gradients/nodes.hpp>

#include <vector>

namespace leat::detail {

/// The gradients of weights and biases from the gradient of what they give: xᵀ gates, and the sums of the gates' columns.
inline output weight_gradient(const output& x, const output& gates) { return matmul(x, gates, {.transpose_a = true}); }
inline output bias_gradient(const output& gates, const output& bias) {
  return gradient_node("BiasAddGrad", {gates}, {{"T", gates.type()}, {"data_format", "NHWC"}}, info_like(bias));
}

inline void refuse_others(const gradient_call& c, std::initializer_list<int> results, const char* differentiable) {
  for (const int k : results)
    if (c.is_given(k))
      refuse_gradient(c.owner(), c.operation().index(),
                      "a gradient of result " + std::to_string(k) + ", and only " + differentiable +
                          " pass one: make what depends on its gates of them, "
                          "or of operators of their own");
}

inline gradient_list gradient_of_lstm_cell(const gradient_call& c) {
  refuse_others(c, {0, 2, 3, 4, 5}, "cs and h");
  const output x = c.input(0), cells = c.input(1), before = c.input(2), w = c.input(3);
  const auto columns = [&](const output& o, const char* what) {
    const shape& s = o.extent();
    if (!s.has_rank() || s.rank != 2 || s[1] < 0)
      refuse_gradient(c.owner(), c.operation().index(), std::string(what) + " must be statically inferred.");
    return static_cast<std::int32_t>(s[1]);
  };
  const std::int32_t inputs = columns(x, "input_size from `x`"), width = columns(cells, "cell_size from `cs_prev`");
  const std::int32_t rows = x.extent()[0] < 0 ? -1 : static_cast<std::int32_t>(x.extent()[0]);
  std::vector<output> operands;
  for (int k = 0; k < 8; ++k) operands.push_back(c.input(k));
  for (int k = 0; k < 6; ++k) operands.push_back(c.result(k));
  operands.push_back(c.dy(1));
  operands.push_back(c.dy(6));
  const graph_operation made = c.owner().named().raw(c.owner(), "LSTMBlockCellGrad", operands, c.attributes({"T", "use_peephole"}),
                                                     {info_like(cells),
                                                      {cells.type(), shapes::times_wider(cells.extent(), 4)},
                                                      info_like(c.input(4)),
                                                      info_like(c.input(5)),
                                                      info_like(c.input(6))});
  const output gates = made.result(1);
  const output both = matmul(gates, w, {.transpose_b = true});
  const output by_x = slice(both, {0, 0}, {rows, inputs});
  const output by_before = slice(both, {0, inputs}, {rows, width});
  const output by_weights = weight_gradient(concat_node({x, before}, tensor_literal(std::int32_t{1})), gates);
  return {by_x, made.result(0), by_before, by_weights, made.result(2), made.result(3), made.result(4), bias_gradient(gates, c.input(7))};
}

inline gradient_list sequence_gradient(const gradient_call& c, std::string_view type) {
  refuse_others(c, {0, 2, 3, 4, 5}, "cs and h");
  std::vector<output> operands;
  std::vector<tensor_info> results;
  for (int k = 0; k < 9; ++k) operands.push_back(c.input(k));
  for (int k = 0; k < 7; ++k) operands.push_back(c.result(k));
  operands.push_back(c.dy(1));
  operands.push_back(c.dy(6));
  for (int k = 1; k < 9; ++k) results.push_back(info_like(c.input(k)));
  const graph_operation made = c.owner().named().raw(c.owner(), type, operands, c.attributes({"T", "use_peephole"}), std::move(results));
  gradient_list all{{}};
  for (int k = 0; k < 8; ++k) all.emplace_back(made.result(k));
  return all;
}

inline gradient_list gradient_of_gru_cell(const gradient_call& c) {
  refuse_others(c, {0, 1, 2}, "h");
  const output x = c.input(0), before = c.input(1), reset = c.result(0);
  std::vector<output> operands;
  for (int k = 0; k < 6; ++k) operands.push_back(c.input(k));
  for (int k = 0; k < 3; ++k) operands.push_back(c.result(k));
  operands.push_back(c.dy(3));
  const graph_operation made =
      c.owner().named().raw(c.owner(), "GRUBlockCellGrad", operands, c.attributes({"T"}),
                            {info_like(x), info_like(before), info_like(before), {before.type(), shapes::times_wider(before.extent(), 2)}});
  const number_argument last = tensor_literal(std::int32_t{1});
  const output gates = made.result(3), fresh = made.result(2);
  const output by_gate_weights = weight_gradient(concat_node({x, before}, last), gates);
  const output by_gate_bias = bias_gradient(gates, c.input(4));
  const output by_weights = weight_gradient(concat_node({x, before * reset}, last), fresh);
  return {made.result(0), made.result(1), by_gate_weights, by_weights, by_gate_bias, bias_gradient(fresh, c.input(5))};
}

LEAT_FILL(fill_cell_gradients) {
  enter_gradients({
      {"LSTMBlockCell", gradient_of_lstm_cell},
      {"BlockLSTM", [](const gradient_call& c) { return sequence_gradient(c, "BlockLSTMGrad"); }},
      {"BlockLSTMV2", [](const gradient_call& c) { return sequence_gradient(c, "BlockLSTMGradV2"); }},
      {"GRUBlockCell", gradient_of_gru_cell},
  });
}

}  // namespace leat::detail
