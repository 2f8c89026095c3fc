#pragma once
// Kernels of the gradients of cells of recurrent networks (cells.hpp). The gradients of an LSTM take its gates and cells, and the gradients
// of its cells and its outputs. As in TensorFlow, cells that were clipped pass their gradient as if they were not. Source: TensorFlow
// `LSTMBlockCellGrad`, `BlockLSTMGrad`, `BlockLSTMGradV2`, `GRUBlockCellGrad`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/cells.hpp>

#include <array>
#include <vector>

namespace leat::runtime {

/// An array of zeros.
template <class T>
tensor_value zero_array(dtype type, const shape& s) {
  tensor_value made(type, s);
  std::ranges::fill(made.values<T>(), T(0));
  return made;
}
inline shape matrix_of(std::int64_t rows, std::int64_t columns) {
  shape s;
  s.push(rows);
  s.push(columns);
  return s;
}
/// to [rows, inputs] and its_hidden [rows, cells] = the parts of gates [rows, columns] wᵀ.
template <class T>
void cell_product_back(std::int64_t rows, std::int64_t inputs, std::int64_t cells, std::int64_t columns, const T* gates, const T* w, T* to,
                       T* its_hidden) {
  if (rows * columns == 0) {
    std::fill_n(to, rows * inputs, T(0));
    std::fill_n(its_hidden, rows * cells, T(0));
    return;
  }
  if (inputs > 0) cpu::matmul<T>(false, true, rows, inputs, columns, T(1), gates, columns, w, columns, T(0), to, inputs);
  if (cells > 0)
    cpu::matmul<T>(false, true, rows, cells, columns, T(1), gates, columns, w + inputs * columns, columns, T(0), its_hidden, cells);
}

/// The inputs of the gradient of an LSTM behind its operands: of a step, or of all steps of a sequence.
struct lstm_slopes {
  tensor_value input_gate, cell, forget_gate, output_gate, new_cell, cell_output;
  tensor_value by_cell, by_hidden;

  lstm_slopes(kernel_context& c, int first, bool has_hidden, const shape& s)
      : input_gate(c.input(first)),
        cell(c.input(first + 1)),
        forget_gate(c.input(first + 2)),
        output_gate(c.input(first + 3)),
        new_cell(c.input(first + 4)),
        cell_output(c.input(first + 5)),
        by_cell(c.input(first + (has_hidden ? 7 : 6))),
        by_hidden(c.input(first + (has_hidden ? 8 : 7))) {
    want(input_gate, s, "i");
    want(cell, s, "cs");
    want(forget_gate, s, "f");
    want(output_gate, s, "o");
    want(new_cell, s, "ci");
    want(cell_output, s, "co");
    if (has_hidden) want(c.input(first + 6), s, "h");
    want(by_cell, s, "cs_grad");
    want(by_hidden, s, "h_grad");
  }
  static void want(const tensor_value& v, const shape& s, std::string_view what) {
    if (!(v.extent() == s))
      throw invalid_argument(std::string(what) + " has the shape " + brackets(v.extent()) + ", where " + brackets(s) + " is expected");
  }
};
/// The sums that all steps of an LSTM add to: the gradients of the peepholes.
template <class T>
struct peephole_sums {
  tensor_value input, forget, output;
  peephole_sums(const lstm& cell, dtype type)
      : input(zero_array<T>(type, cell.by_input.extent())),
        forget(zero_array<T>(type, cell.by_forget.extent())),
        output(zero_array<T>(type, cell.by_output.extent())) {}
};
/// One step back: from the gradients of its cells and of its outputs to those of its gates, before their functions, and of the cells before
/// it. `at`: where the step's elements begin in the arrays of `of`. The arrays may be the same.
template <class T>
void lstm_step_back(const lstm& cell, const lstm_slopes& of, std::int64_t at, const T* cells_before, const T* by_cell, const T* by_hidden,
                    T* gates, T* by_cells_before, peephole_sums<T>& sums) {
  const auto element = [&](const tensor_value& v, std::int64_t k) { return v.values<T>()[static_cast<std::size_t>(at + k)]; };
  const auto weight = [](const tensor_value& v, std::int64_t k) -> T { return v.values<T>()[static_cast<std::size_t>(k)]; };
  const auto add = [](tensor_value& v, std::int64_t k, T value) { v.values<T>()[static_cast<std::size_t>(k)] += value; };
  for (std::int64_t r = 0; r < cell.rows; ++r)
    for (std::int64_t k = 0; k < cell.cells; ++k) {
      const std::int64_t e = r * cell.cells + k;
      const T i = element(of.input_gate, e), f = element(of.forget_gate, e), o = element(of.output_gate, e);
      const T made = element(of.new_cell, e), seen = element(of.cell_output, e), before = cells_before[e];
      const T by_output = o * (1 - o) * by_hidden[e] * seen;
      T by_state = (1 - seen * seen) * by_hidden[e] * o + by_cell[e];
      if (cell.has_peephole) by_state += by_output * weight(cell.by_output, k);
      const T by_made = (1 - made * made) * by_state * i;
      const T by_forget = f * (1 - f) * by_state * before;
      const T by_input = i * (1 - i) * by_state * made;
      T* const gate = gates + r * 4 * cell.cells + k;
      gate[cell.columns.input_gate * cell.cells] = by_input;
      gate[cell.columns.new_cell * cell.cells] = by_made;
      gate[cell.columns.forget_gate * cell.cells] = by_forget;
      gate[cell.columns.output_gate * cell.cells] = by_output;
      by_cells_before[e] = by_state * f;
      if (!cell.has_peephole) continue;
      by_cells_before[e] += by_input * weight(cell.by_input, k) + by_forget * weight(cell.by_forget, k);
      add(sums.input, k, by_input * before);
      add(sums.forget, k, by_forget * before);
      add(sums.output, k, by_output * element(of.cell, e));
    }
}

inline void run_lstm_cell_gradient(kernel_context& c) {
  const tensor_value x = c.input(0);
  if (x.extent().rank != 2) throw invalid_argument("x must be a matrix, not " + brackets(x.extent()));
  const lstm cell(c, 0);
  const lstm_slopes of(c, 8, false, cell.cell_before.extent());
  with_fraction(x.type(), [&]<class T>(T) {
    tensor_value before(x.type(), cell.cell_before.extent()), gates(x.type(), matrix_of(cell.rows, 4 * cell.cells));
    peephole_sums<T> sums(cell, x.type());
    lstm_step_back<T>(cell, of, 0, cell.cell_before.values<T>().data(), of.by_cell.values<T>().data(), of.by_hidden.values<T>().data(),
                      gates.values<T>().data(), before.values<T>().data(), sums);
    c.set(0, std::move(before));
    c.set(1, std::move(gates));
    c.set(2, std::move(sums.input));
    c.set(3, std::move(sums.forget));
    c.set(4, std::move(sums.output));
  });
}

/// From the last step of a sequence to the first. Steps beyond `seq_len_max` have zeros as gradients.
inline void run_sequence_gradient(kernel_context& c, const lstm_columns& columns) {
  const tensor_value x = c.input(1);
  if (x.extent().rank != 3) throw invalid_argument("x must be 3D, not " + brackets(x.extent()));
  const std::int64_t time = x.extent()[0], steps = steps_of(c, time);
  const lstm cell(c, 1, columns);
  shape s;
  for (const std::int64_t n : {time, cell.rows, cell.cells}) s.push(n);
  const lstm_slopes of(c, 9, true, s);
  const tensor_value hidden = c.input(15);
  with_fraction(x.type(), [&]<class T>(T) {
    const std::int64_t width = cell.rows * cell.cells, its_inputs = cell.rows * cell.inputs, gate_count = 4 * cell.cells;
    tensor_value by_x(x.type(), x.extent()), by_cells = zero_array<T>(x.type(), cell.cell_before.extent());
    tensor_value by_before = zero_array<T>(x.type(), cell.cell_before.extent());
    tensor_value by_weights = zero_array<T>(x.type(), cell.weights.extent()), by_bias = zero_array<T>(x.type(), cell.bias.extent());
    peephole_sums<T> sums(cell, x.type());
    const auto count = static_cast<std::size_t>(width);
    std::vector<T> cell_slopes(count), hidden_slopes(count), gates(static_cast<std::size_t>(cell.rows * gate_count));
    T *const to_cells = by_cells.values<T>().data(), *const to_before = by_before.values<T>().data(), *const to_x = by_x.values<T>().data();
    T *const to_weights = by_weights.values<T>().data(), *const to_bias = by_bias.values<T>().data();
    std::fill_n(to_x + steps * its_inputs, (time - steps) * its_inputs, T(0));
    for (std::int64_t t = steps - 1; t >= 0; --t) {
      c.step.check();
      const std::int64_t at = t * width;
      for (std::size_t e = 0; e < count; ++e) {
        cell_slopes[e] = of.by_cell.values<T>()[static_cast<std::size_t>(at) + e] + to_cells[e];
        hidden_slopes[e] = of.by_hidden.values<T>()[static_cast<std::size_t>(at) + e] + to_before[e];
      }
      const T* const cells_before = t > 0 ? of.cell.values<T>().data() + at - width : cell.cell_before.values<T>().data();
      const T* const before = t > 0 ? hidden.values<T>().data() + at - width : cell.hidden_before.values<T>().data();
      const T* const its_x = x.values<T>().data() + t * its_inputs;
      lstm_step_back<T>(cell, of, at, cells_before, cell_slopes.data(), hidden_slopes.data(), gates.data(), to_cells, sums);
      cell_product_back(cell.rows, cell.inputs, cell.cells, gate_count, gates.data(), cell.weights.values<T>().data(),
                        to_x + t * its_inputs, to_before);
      if (cell.rows * gate_count == 0) continue;
      if (cell.inputs > 0)
        cpu::matmul<T>(true, false, cell.inputs, gate_count, cell.rows, T(1), its_x, cell.inputs, gates.data(), gate_count, T(1),
                       to_weights, gate_count);
      cpu::matmul<T>(true, false, cell.cells, gate_count, cell.rows, T(1), before, cell.cells, gates.data(), gate_count, T(1),
                     to_weights + cell.inputs * gate_count, gate_count);
      for (std::int64_t r = 0; r < cell.rows; ++r)
        for (std::int64_t k = 0; k < gate_count; ++k) to_bias[k] += gates[static_cast<std::size_t>(r * gate_count + k)];
    }
    c.set(0, std::move(by_x));
    c.set(1, std::move(by_cells));
    c.set(2, std::move(by_before));
    c.set(3, std::move(by_weights));
    c.set(4, std::move(sums.input));
    c.set(5, std::move(sums.forget));
    c.set(6, std::move(sums.output));
    c.set(7, std::move(by_bias));
  });
}

/// The gradient of a step of a GRU: of x, of h before it, of the candidate and of both gates before their functions.
inline void run_gru_cell_gradient(kernel_context& c) {
  const tensor_value x = c.input(0), before = c.input(1), gate_weights = c.input(2), weights = c.input(3);
  const tensor_value reset = c.input(6), update = c.input(7), fresh = c.input(8), by_hidden = c.input(9);
  const gru_sizes is(c);
  want_operand(reset, {is.rows, is.cells}, "r");
  want_operand(update, {is.rows, is.cells}, "u");
  want_operand(fresh, {is.rows, is.cells}, "c");
  want_operand(by_hidden, {is.rows, is.cells}, "d_h");
  with_fraction(x.type(), [&]<class T>(T) {
    tensor_value by_x(x.type(), x.extent()), by_before(x.type(), before.extent()), by_fresh(x.type(), before.extent());
    tensor_value by_gates(x.type(), matrix_of(is.rows, 2 * is.cells));
    T *const to_x = by_x.values<T>().data(), *const to_before = by_before.values<T>().data();
    T *const to_fresh = by_fresh.values<T>().data(), *const to_gates = by_gates.values<T>().data();
    const T *const r = reset.values<T>().data(), *const u = update.values<T>().data(), *const made = fresh.values<T>().data();
    const T *const h = before.values<T>().data(), *const dh = by_hidden.values<T>().data();
    const auto width = static_cast<std::size_t>(is.rows * is.cells);
    for (std::size_t e = 0; e < width; ++e) to_fresh[e] = dh[e] * (1 - u[e]) * (1 - made[e] * made[e]);
    std::vector<T> more_x(static_cast<std::size_t>(is.rows * is.inputs)), kept(width);  // by the candidate
    cell_product_back(is.rows, is.inputs, is.cells, is.cells, to_fresh, weights.values<T>().data(), more_x.data(), kept.data());
    for (std::int64_t row = 0; row < is.rows; ++row)
      for (std::int64_t k = 0; k < is.cells; ++k) {
        const auto e = static_cast<std::size_t>(row * is.cells + k);
        T* const gate = to_gates + row * 2 * is.cells + k;
        gate[0] = kept[e] * h[e] * r[e] * (1 - r[e]);
        gate[is.cells] = dh[e] * (h[e] - made[e]) * u[e] * (1 - u[e]);
      }
    cell_product_back(is.rows, is.inputs, is.cells, 2 * is.cells, to_gates, gate_weights.values<T>().data(), to_x, to_before);
    for (std::size_t e = 0; e < more_x.size(); ++e) to_x[e] += more_x[e];
    for (std::size_t e = 0; e < width; ++e) to_before[e] += kept[e] * r[e] + dh[e] * u[e];
    c.set(0, std::move(by_x));
    c.set(1, std::move(by_before));
    c.set(2, std::move(by_fresh));
    c.set(3, std::move(by_gates));
  });
}

LEAT_FILL(fill_cell_gradient_kernels) {
  register_kernel("LSTMBlockCellGrad", run_lstm_cell_gradient);
  register_kernel("BlockLSTMGrad", [](kernel_context& c) { run_sequence_gradient(c, cells_second); });
  register_kernel("BlockLSTMGradV2", [](kernel_context& c) { run_sequence_gradient(c, cells_third); });
  register_kernel("GRUBlockCellGrad", run_gru_cell_gradient);
}

}  // namespace leat::runtime
