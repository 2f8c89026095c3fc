#pragma once
// Kernels of cells of recurrent networks as one operator each: a step of an LSTM, a sequence of its steps, a step of a GRU. Source:
// TensorFlow `LSTMBlockCell`, `BlockLSTM`, `BlockLSTMV2`, `GRUBlockCell`; Hochreiter and Schmidhuber, "Long short-term memory"; Cho and
// others, "Learning phrase representations using RNN encoder-decoder".

#include <leat/core/fill.hpp>
#include <leat/cpu/matmul.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <array>
#include <cmath>

namespace leat::runtime {

/// Checks an operand of a cell. Errors: invalid_argument.
inline void want_operand(const tensor_value& v, std::initializer_list<std::int64_t> sizes, std::string_view what) {
  shape wanted;
  for (const std::int64_t n : sizes) wanted.push(n);
  if (!(v.extent() == wanted))
    throw invalid_argument(std::string(what) + " has the shape " + brackets(v.extent()) + ", where " + brackets(wanted) + " is expected");
}
template <class T>
T logistic(T x) {
  return 1 / (1 + std::exp(-x));
}
/// to [rows, columns] = bias + [x, h] w, where w is [inputs + cells, columns].
template <class T>
void cell_product(std::int64_t rows, std::int64_t inputs, std::int64_t cells, std::int64_t columns, const T* x, const T* h, const T* w,
                  const T* bias, T* to) {
  for (std::int64_t r = 0; r < rows; ++r) std::copy_n(bias, columns, to + r * columns);
  if (rows * columns == 0) return;
  if (inputs > 0) cpu::matmul<T>(false, false, rows, columns, inputs, T(1), x, inputs, w, columns, T(1), to, columns);
  if (cells > 0) cpu::matmul<T>(false, false, rows, columns, cells, T(1), h, cells, w + inputs * columns, columns, T(1), to, columns);
}

/// Where the columns of w and b stand that belong to the gates and to the new cells, in quarters of all columns.
struct lstm_columns {
  std::int64_t input_gate, new_cell, forget_gate, output_gate;
};
inline constexpr lstm_columns cells_second{0, 1, 2, 3};  // `LSTMBlockCell` and `BlockLSTM`
inline constexpr lstm_columns cells_third{0, 2, 1, 3};   // `BlockLSTMV2`

/// The operands of an LSTM and its results.
struct lstm {
  // Results, in the order of the node's.
  enum { input_gate, cell, forget_gate, output_gate, new_cell, cell_output, hidden, result_count };

  std::int64_t rows, inputs, cells;
  lstm_columns columns;
  float forget_bias, cell_clip;
  bool has_peephole;
  tensor_value cell_before, hidden_before, weights, by_input, by_forget, by_output, bias;

  /// `first`: the input that holds x, whose last two axes are rows and inputs.
  /// The second version of the sequence has no bias of its own, and clips no cells unless it is told to.
  lstm(kernel_context& c, int first, const lstm_columns& its_columns = cells_second, bool is_second = false)
      : columns(its_columns),
        forget_bias(is_second ? 0 : c.node.attribute<float>("forget_bias", 1)),
        cell_clip(c.node.attribute<float>("cell_clip", is_second ? 0 : 3)),
        has_peephole(c.node.flag("use_peephole")),
        cell_before(c.input(first + 1)),
        hidden_before(c.input(first + 2)),
        weights(c.input(first + 3)),
        by_input(c.input(first + 4)),
        by_forget(c.input(first + 5)),
        by_output(c.input(first + 6)),
        bias(c.input(first + 7)) {
    const shape& x = c.extent(first);
    rows = x[x.rank - 2];
    inputs = x[x.rank - 1];
    if (cell_before.extent().rank != 2) throw invalid_argument("cs_prev must be a matrix, not " + brackets(cell_before.extent()));
    cells = cell_before.extent()[1];
    want_operand(cell_before, {rows, cells}, "cs_prev");
    want_operand(hidden_before, {rows, cells}, "h_prev");
    want_operand(weights, {inputs + cells, 4 * cells}, "w");
    want_operand(bias, {4 * cells}, "b");
    if (!has_peephole) return;
    want_operand(by_input, {cells}, "wci");
    want_operand(by_forget, {cells}, "wcf");
    want_operand(by_output, {cells}, "wco");
  }
  /// One step: from x and the cells and results before it to the seven results.
  template <class T>
  void step(const T* x, const T* its_cells, const T* its_hidden, const std::array<T*, result_count>& to) const {
    std::vector<T> gates(static_cast<std::size_t>(rows * 4 * cells));
    cell_product(rows, inputs, cells, 4 * cells, x, its_hidden, weights.values<T>().data(), bias.values<T>().data(), gates.data());
    const auto peephole = [&](const tensor_value& w, std::int64_t k, T value) {
      return has_peephole ? w.values<T>()[static_cast<std::size_t>(k)] * value : T(0);
    };
    const T clip = static_cast<T>(cell_clip);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < cells; ++k) {
        const T* const gate = gates.data() + r * 4 * cells + k;
        const std::int64_t at = r * cells + k;
        const T before = its_cells[at];
        const T input = logistic(gate[columns.input_gate * cells] + peephole(by_input, k, before));
        const T made = std::tanh(gate[columns.new_cell * cells]);
        const T forget = logistic(gate[columns.forget_gate * cells] + static_cast<T>(forget_bias) + peephole(by_forget, k, before));
        T state = made * input + before * forget;
        if (clip > 0) state = state < -clip ? -clip : state > clip ? clip : state;
        const T output = logistic(gate[columns.output_gate * cells] + peephole(by_output, k, state)), seen = std::tanh(state);
        const std::array<T, result_count> values{input, state, forget, output, made, seen, output * seen};
        for (std::size_t i = 0; i < values.size(); ++i) to[i][at] = values[i];
      }
  }
  /// Calls f(results) with seven arrays of this shape and sets them as the results.
  template <class T, class F>
  static void set_results(kernel_context& c, dtype type, const shape& s, F f) {
    std::vector<tensor_value> made;
    std::array<T*, result_count> to{};
    for (auto& place : to) {
      made.emplace_back(type, s);
      place = made.back().template values<T>().data();
    }
    f(to);
    for (int k = 0; k < result_count; ++k) c.set(k, std::move(made[static_cast<std::size_t>(k)]));
  }
};
inline void run_lstm_cell(kernel_context& c) {
  const tensor_value x = c.input(0);
  if (x.extent().rank != 2) throw invalid_argument("x must be a matrix, not " + brackets(x.extent()));
  const lstm cell(c, 0);
  with_fraction(x.type(), [&]<class T>(T) {
    lstm::set_results<T>(c, x.type(), cell.cell_before.extent(), [&](const auto& to) {
      cell.step(x.values<T>().data(), cell.cell_before.values<T>().data(), cell.hidden_before.values<T>().data(), to);
    });
  });
}
/// The number of steps of a sequence, the first input. Errors: invalid_argument.
inline std::int64_t steps_of(kernel_context& c, std::int64_t time) {
  if (c.extent(0).rank != 0) throw invalid_argument("seq_len_max must be a scalar, not " + brackets(c.extent(0)));
  const std::int64_t steps = c.number(0);
  if (steps < 0 || steps > time)
    throw invalid_argument("seq_len_max must be between 0 and " + std::to_string(time) + ", not " + std::to_string(steps));
  return steps;
}
/// The steps of a sequence x [time, rows, inputs], of which the results after `seq_len_max` steps are zeros.
inline void run_sequence(kernel_context& c, const lstm_columns& columns, bool is_second) {
  const tensor_value x = c.input(1);
  if (x.extent().rank != 3) throw invalid_argument("x must be 3D, not " + brackets(x.extent()));
  const std::int64_t steps = steps_of(c, x.extent()[0]), time = x.extent()[0];
  const lstm cell(c, 1, columns, is_second);
  shape s;
  for (const std::int64_t n : {time, cell.rows, cell.cells}) s.push(n);
  if (!s.is_countable()) throw invalid_argument("a result of more than 2^44 elements, which no memory holds");
  with_fraction(x.type(), [&]<class T>(T) {
    const std::int64_t width = cell.rows * cell.cells;
    lstm::set_results<T>(c, x.type(), s, [&](std::array<T*, lstm::result_count> to) {
      const T *before = cell.cell_before.values<T>().data(), *hidden = cell.hidden_before.values<T>().data();
      for (std::int64_t t = 0; t < steps; ++t) {
        c.step.check();
        cell.step(x.values<T>().data() + t * cell.rows * cell.inputs, before, hidden, to);
        before = to[lstm::cell];
        hidden = to[lstm::hidden];
        for (T*& place : to) place += width;
      }
      for (T* const place : to) std::fill_n(place, (time - steps) * width, T(0));
    });
  });
}

/// The sizes of a step of a GRU, whose operands are the first six inputs. Errors: invalid_argument.
struct gru_sizes {
  std::int64_t rows, inputs, cells;
  explicit gru_sizes(kernel_context& c) {
    const shape &x = c.extent(0), &before = c.extent(1);
    if (x.rank != 2) throw invalid_argument("x must be a matrix, not " + brackets(x));
    if (before.rank != 2) throw invalid_argument("h_prev must be a matrix, not " + brackets(before));
    rows = x[0];
    inputs = x[1];
    cells = before[1];
    want_operand(c.input(1), {rows, cells}, "h_prev");
    want_operand(c.input(2), {inputs + cells, 2 * cells}, "w_ru");
    want_operand(c.input(3), {inputs + cells, cells}, "w_c");
    want_operand(c.input(4), {2 * cells}, "b_ru");
    want_operand(c.input(5), {cells}, "b_c");
  }
};
inline void run_gru_cell(kernel_context& c) {
  const tensor_value x = c.input(0), before = c.input(1), gate_weights = c.input(2), weights = c.input(3);
  const tensor_value gate_bias = c.input(4), bias = c.input(5);
  const gru_sizes is(c);
  const std::int64_t rows = is.rows, inputs = is.inputs, cells = is.cells;
  with_fraction(x.type(), [&]<class T>(T) {
    const T* const from = before.values<T>().data();
    std::vector<T> gates(static_cast<std::size_t>(rows * 2 * cells)), kept(static_cast<std::size_t>(rows * cells));
    cell_product(rows, inputs, cells, 2 * cells, x.values<T>().data(), from, gate_weights.values<T>().data(), gate_bias.values<T>().data(),
                 gates.data());
    std::vector<tensor_value> made;
    for (int k = 0; k < 4; ++k) made.emplace_back(x.type(), before.extent());
    const auto place = [&](std::size_t k) { return made[k].template values<T>().data(); };
    T *const reset = place(0), *const update = place(1), *const fresh = place(2), *const hidden = place(3);
    for (std::int64_t r = 0; r < rows; ++r)
      for (std::int64_t k = 0; k < cells; ++k) {
        const std::int64_t at = r * cells + k;
        const T* const gate = gates.data() + r * 2 * cells + k;
        reset[at] = logistic(gate[0]);
        update[at] = logistic(gate[cells]);
        kept[static_cast<std::size_t>(at)] = from[at] * reset[at];
      }
    cell_product(rows, inputs, cells, cells, x.values<T>().data(), kept.data(), weights.values<T>().data(), bias.values<T>().data(), fresh);
    for (std::int64_t at = 0; at < rows * cells; ++at) {
      fresh[at] = std::tanh(fresh[at]);
      hidden[at] = update[at] * from[at] + (1 - update[at]) * fresh[at];
    }
    for (int k = 0; k < 4; ++k) c.set(k, std::move(made[static_cast<std::size_t>(k)]));
  });
}

LEAT_FILL(fill_cell_kernels) {
  register_kernel("LSTMBlockCell", run_lstm_cell);
  register_kernel("BlockLSTM", [](kernel_context& c) { run_sequence(c, cells_second, false); });
  register_kernel("BlockLSTMV2", [](kernel_context& c) { run_sequence(c, cells_third, true); });
  register_kernel("GRUBlockCell", run_gru_cell);
}

}  // namespace leat::runtime
