#pragma once
// A recurrent network whose steps a program's function controls: what the cell gets next, which state it goes on with, what is kept of its
// outputs, and when a sequence ends. It is the general form of `dynamic_rnn`: a decoder feeds its own outputs back, for example.
//
//   auto made = raw_rnn(cell, [&](const output& time, const raw_rnn_before& before) {
//     const rnn_state state = before.is_first() ? cell.zero_state(16) : before.state;
//     return raw_rnn_step{.finished = greater_equal(time, lengths), .next_input = inputs, .next_state = state, .emit = before.outputs};
//   });
//   auto outputs = made.outputs.stack();   // [time, batch, output_size]

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/recurrent/recurrent.hpp>

namespace leat {

/// What the cell gave in the step before; nothing at first.
struct raw_rnn_before {
  output outputs{};
  rnn_state state{};
  std::vector<output> loop_state{};
  /// Whether no step has run yet.
  bool is_first() const { return !static_cast<bool>(outputs); }
};
/// What the function of `raw_rnn` decides.
struct raw_rnn_step {
  output finished{};                 // bool [batch]: which sequences have ended
  output next_input{};               // [batch, n]
  rnn_state next_state{};            // at first: the initial state
  output emit{};                     // [batch, ...]; at first: zeros in the shape of one element, or empty for [output_size]
  std::vector<output> loop_state{};  // tensors of the program's own; none: they stay as they are
};
using raw_rnn_function = std::function<raw_rnn_step(const output& time, const raw_rnn_before& before)>;

/// Options of `raw_rnn`.
struct raw_rnn_options {
  std::int64_t parallel_iterations = 32;  // how many steps of the loop may run at once
  bool swap_memory = false;               // written into the graph for TensorFlow; has no effect here
  rnn_scope scope = "rnn";                // the variable scope of the cell
};
/// What a network gives: what was emitted, an element for each step; the state after the last one, and the program's own tensors.
struct raw_rnn_result {
  tensor_array outputs;
  rnn_state state;
  std::vector<output> loop_state;
};
/// Runs a cell until all sequences have ended. The function is called twice, both times immediately: for what comes before the first step,
/// with the time 0, and in the loop. Of a sequence that has ended zeros are emitted, and its state stays. Gradients are supported.
/// Shapes: as in `raw_rnn_step`; the input keeps its shape. Errors: invalid_argument for a function that leaves out what the cell needs, or
/// gives other shapes and dtypes in the loop than at first. A run whose sequences never end stops at its deadline.
/// Source: TensorFlow 1.x `nn.raw_rnn`.
raw_rnn_result raw_rnn(const rnn_cell& cell, const raw_rnn_function& function, const raw_rnn_options& options = {},
                       const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/recurrent/impl/raw_rnn.hpp>
#endif
