#pragma once
// Recurrent networks on graphs with names: a cell (named/recurrent/cells.hpp) that runs over sequences, in a loop or unrolled.
//
//   auto [outputs, last] = dynamic_rnn(gru_cell(64), x, {.sequence_length = lengths});
//
// The nodes and their names are TensorFlow's. Source: TensorFlow 1.x `nn.dynamic_rnn`, `nn.bidirectional_dynamic_rnn`, `nn.static_rnn`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/recurrent/cells.hpp>

#include <variant>

namespace leat {

/// The variable scope of a recurrent network: a name, or a scope that it re-enters.
using rnn_scope = std::variant<std::string, variable_scope_object>;

/// Options of `dynamic_rnn`.
struct dynamic_rnn_options {
  std::optional<operand_value> sequence_length{};  // integers [batch]; empty: all sequences are as long as the inputs
  rnn_state initial_state{};                       // empty: zeros
  std::optional<dtype> type{};                     // of zeros as the initial state; empty: that of the inputs
  bool time_major = false;                         // whether inputs and outputs are [time, batch, ...], which saves two transpositions
  std::int64_t parallel_iterations = 32;           // how many steps of the loop may run at once
  bool swap_memory = false;                        // written into the graph for TensorFlow; has no effect here
  rnn_scope scope = "rnn";                         // the variable scope of the cell
};
/// A cell that runs over sequences in a loop, as many steps as the inputs, or the longest sequence, have. Beyond the end of a sequence its
/// outputs are zeros, and its state stays that after its last element. Gradients are supported.
/// Shapes: inputs [batch, time, n], where n is known; outputs [batch, time, output_size]. Dtypes: floating point.
/// Errors: invalid_argument for inputs, an initial state or a sequence_length of other shapes; in a run, for a sequence_length of another
/// size than the batch. Source: `dynamic_rnn`.
rnn_result dynamic_rnn(const rnn_cell& cell, const output& inputs, const dynamic_rnn_options& options = {},
                       const std::source_location& where = std::source_location::current());

/// Options of `bidirectional_dynamic_rnn`, as for `dynamic_rnn`.
struct bidirectional_rnn_options {
  std::optional<operand_value> sequence_length{};  // integers [batch]; empty: all sequences are as long as the inputs
  rnn_state initial_state_fw{};                    // of the forward cell; empty: zeros
  rnn_state initial_state_bw{};                    // of the backward cell; empty: zeros
  std::optional<dtype> type{};                     // of zeros as initial states; empty: that of the inputs
  bool time_major = false;                         // whether inputs and outputs are [time, batch, ...]
  std::int64_t parallel_iterations = 32;           // how many steps of the loop may run at once
  bool swap_memory = false;                        // written into the graph for TensorFlow; has no effect here
  rnn_scope scope = "bidirectional_rnn";
};
/// The results of both directions; `concat({forward.outputs, backward.outputs}, 2)` joins the outputs.
struct bidirectional_rnn_result {
  rnn_result forward;
  rnn_result backward;
};
/// Two cells, one of which runs over the sequences from their ends to their beginnings; its outputs are in the order of the inputs. The
/// variables are in the scopes "bidirectional_rnn/fw" and "bidirectional_rnn/bw". Shapes and errors: as for `dynamic_rnn`.
/// Source: `bidirectional_dynamic_rnn`.
bidirectional_rnn_result bidirectional_dynamic_rnn(const rnn_cell& forward, const rnn_cell& backward, const output& inputs,
                                                   const bidirectional_rnn_options& options = {},
                                                   const std::source_location& where = std::source_location::current());

/// Options of `static_rnn`, as for `dynamic_rnn`.
struct static_rnn_options {
  std::optional<operand_value> sequence_length{};  // integers [batch]; empty: all sequences are as long as the inputs
  rnn_state initial_state{};                       // empty: zeros
  std::optional<dtype> type{};                     // of zeros as the initial state; empty: that of the inputs
  rnn_scope scope = "rnn";                         // the variable scope of the cell
};
/// The outputs of each step, and the state after the last.
struct static_rnn_result {
  std::vector<output> outputs;
  rnn_state state;
};
/// A cell that runs over a given number of steps, without a loop: the graph has the nodes of each step. Shapes: inputs of each step [batch,
/// n], where n is known; outputs [batch, output_size]. Errors: invalid_argument without inputs, and as for `dynamic_rnn`.
/// Source: `static_rnn`.
static_rnn_result static_rnn(const rnn_cell& cell, const std::vector<output>& inputs, const static_rnn_options& options = {},
                             const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/recurrent/impl/recurrent.hpp>
#endif
