#pragma once
// Cells of recurrent networks on graphs with names: what one step computes from the inputs and the state before it.
//
//   const auto cell = basic_lstm_cell(128);
//   auto [outputs, last] = dynamic_rnn(cell, x);            // named/recurrent/recurrent.hpp
//   auto [y, next] = cell(one, cell.zero_state(16));        // or a single step
//
// Variables are named as in TensorFlow, "basic_lstm_cell/kernel", in the variable scope around the cell's first call. Later calls use the
// same variables. Source: TensorFlow 1.x `nn.rnn_cell`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/variable_scope.hpp>

#include <functional>
#include <memory>

namespace leat {

/// The state of a cell between two steps: its tensors, each [batch, size], in the order of `rnn_cell::state_parts`. Those of an LSTM cell
/// are c and h; a `multi_cell` has the tensors of its cells, one cell after the other.
using rnn_state = std::vector<output>;

/// What a step, or a whole network, gives: outputs and the state after it.
struct rnn_result {
  output outputs;
  rnn_state state;
};

/// A cell. Copies refer to the same cell and share its variables.
class rnn_cell {
 public:
  /// A tensor of a cell's state.
  struct state_part {
    std::string name;  // "c"; empty if the state is one tensor
    std::int64_t size = 0;
    bool may_drop = true;  // whether `dropout_cell` drops elements of it
    std::optional<dtype> type{};  // empty: that of the inputs
  };
  /// The scopes that a call opens, which determine the names of variables and nodes.
  enum class scopes {
    own,     // one that is called like the cell
    nested,  // that one, inside of a name scope for the scope around the call: TensorFlow's cells that are made of others
    none,
  };
  /// A cell as a value. A cell of a program's own is `rnn_cell(definition)`.
  struct definition {
    std::string kind;        // "basic_lstm_cell": the name of the scope, made unique, if `name` is empty
    std::string class_name;  // "BasicLSTMCell": in the name scope of `zero_state`
    std::string name{};      // of the scope; after the first call the full name
    reuse_setting reuse{};   // whether the first call finds existing variables; needs a name
    std::int64_t output_size = 0;
    std::vector<state_part> state_parts{};
    std::function<rnn_result(const output& inputs, const rnn_state& state)> step;  // makes its variables by `get_variable`
    scopes opens = scopes::nested;
    std::vector<rnn_cell> cells{};  // those that this one is made of; then their states are its state
    bool joins_states = false;      // whether they are one tensor instead, side by side
  };
  /// Errors: invalid_argument for a definition without a step, or with sizes below 1.
  explicit rnn_cell(definition given);

  /// One step. Shapes: inputs [batch, n], where n is known; outputs [batch, output_size]. Dtypes: floating point, the same for inputs and
  /// state. Errors: invalid_argument for inputs or a state that the cell does not accept.
  rnn_result operator()(const output& inputs, const rnn_state& state,
                        const std::source_location& where = std::source_location::current()) const;
  /// A state of zeros; `batch` is a number, or an int32 tensor with one. Errors: invalid_argument for a negative number.
  rnn_state zero_state(const operand_value& batch, dtype type = dtype::float32,
                       const std::source_location& where = std::source_location::current()) const;

  /// The number of elements of an output.
  std::int64_t output_size() const;
  /// The tensors of a state: their names and sizes.
  const std::vector<state_part>& state_parts() const;
  /// The full name of the cell's scope, "rnn/basic_lstm_cell"; before the first call the name that was given.
  const std::string& name() const;
  /// The cell's type, such as "basic_lstm_cell".
  const std::string& kind() const;
  /// The cell's variables in order of creation; empty before the first call.
  std::vector<output> variables() const;
  /// Fails unless these tensors can be the cell's state, with inputs of this dtype. Errors: invalid_argument.
  void check_state(const rnn_state& state, dtype type) const;

 private:
  struct shared;
  std::shared_ptr<shared> its_;
};

/// Options of `basic_rnn_cell`.
struct basic_rnn_cell_options {
  std::function<output(const output&)> activation{};  // empty: tanh
  std::string name{};                                 // of the scope; empty: the cell's kind, made unique
  reuse_setting reuse{};
};
/// The simplest cell: outputs and state are activation([x, h] kernel + bias). Variables: `kernel` [inputs + units, units], `bias` [units].
/// Errors: invalid_argument for fewer than 1 unit. Source: `BasicRNNCell`.
rnn_cell basic_rnn_cell(std::int64_t units, const basic_rnn_cell_options& options = {});

/// Options of `gru_cell`.
struct gru_cell_options {
  std::function<output(const output&)> activation{};  // empty: tanh
  first_value kernel_initializer{};                   // of both kernels; empty: the scope's, or else Glorot's
  first_value bias_initializer{};                     // of both biases; empty: ones for the gates, zeros for the candidate
  std::string name{};
  reuse_setting reuse{};
};
/// A gated recurrent unit: u h + (1 - u) activation([x, r h] candidate), with the gates r and u, sigmoids of [x, h] gates. Variables:
/// `gates/kernel` [inputs + units, 2 units], `gates/bias`, `candidate/kernel` [inputs + units, units], `candidate/bias`.
/// Errors: invalid_argument for fewer than 1 unit. Source: `GRUCell`.
rnn_cell gru_cell(std::int64_t units, const gru_cell_options& options = {});

/// Options of `basic_lstm_cell`.
struct basic_lstm_cell_options {
  double forget_bias = 1;                             // is added to the forget gate
  std::function<output(const output&)> activation{};  // empty: tanh
  bool state_is_tuple = true;                         // false: the state is one tensor, c and h side by side
  std::string name{};
  reuse_setting reuse{};
};
/// A cell with long short-term memory: c' = σ(f + forget_bias) c + σ(i) activation(j), h' = activation(c') σ(o), where i, j, f and o are
/// the four parts of [x, h] kernel + bias. The state is c and h, the outputs are h'. Variables: `kernel` [inputs + units, 4 units], `bias`
/// [4 units]. Errors: invalid_argument for fewer than 1 unit. Source: `BasicLSTMCell`.
rnn_cell basic_lstm_cell(std::int64_t units, const basic_lstm_cell_options& options = {});

/// Options of `lstm_cell`.
struct lstm_cell_options {
  bool use_peepholes = false;         // whether the gates see c, each element by a weight of its own
  std::optional<double> cell_clip{};  // c' is limited to ±cell_clip
  first_value initializer{};          // of kernels and peepholes; empty: the scope's, or else Glorot's
  std::int64_t num_proj = 0;          // h' is projected to this many elements; 0: it is not projected
  std::optional<double> proj_clip{};  // the projection is limited to ±proj_clip
  double forget_bias = 1;
  std::function<output(const output&)> activation{};  // empty: tanh
  bool state_is_tuple = true;                         // false: the state is one tensor, c and h side by side
  std::string name{};
  reuse_setting reuse{};
};
/// `basic_lstm_cell` with peepholes, clipping and a projection, each if asked for. Variables: also `w_f_diag`, `w_i_diag`, `w_o_diag`
/// [units] for peepholes, `projection/kernel` [units, num_proj] for a projection. Errors: invalid_argument for fewer than 1 unit.
/// Source: `LSTMCell`.
rnn_cell lstm_cell(std::int64_t units, const lstm_cell_options& options = {});

/// Options of `multi_cell`.
struct multi_cell_options {
  bool state_is_tuple = true;  // false: the state is one tensor, those of the cells side by side
  std::string name{};
  reuse_setting reuse{};
};
/// Several cells, each of which gets the outputs of the one before as its inputs. Variables: those of the cells, in the scopes
/// "multi_rnn_cell/cell_0", "multi_rnn_cell/cell_1", ... Errors: invalid_argument without a cell, or if the state is to be one tensor and
/// that of a cell is several. Source: `MultiRNNCell`.
rnn_cell multi_cell(const std::vector<rnn_cell>& cells, const multi_cell_options& options = {});

/// Options of `dropout_cell`: probabilities to keep an element.
struct dropout_cell_options {
  double input_keep_prob = 1;   // of the inputs
  double output_keep_prob = 1;  // of the outputs
  double state_keep_prob = 1;   // of the state that goes to the next step, but for the c of LSTM cells
  std::uint64_t seed = 0;       // 0: other numbers in each session
};
/// A cell with dropout, drawn anew in each step, around another one. Errors: invalid_argument for a probability outside (0, 1].
/// Source: `DropoutWrapper`.
rnn_cell dropout_cell(const rnn_cell& cell, const dropout_cell_options& options = {});

/// Options of `residual_cell`.
struct residual_cell_options {
  std::function<output(const output& inputs, const output& outputs)> combine{};  // empty: their sum
};
/// A cell whose outputs are combined with its inputs, for deep networks. Errors: invalid_argument if the sum is of two shapes.
/// Source: `ResidualWrapper`.
rnn_cell residual_cell(const rnn_cell& cell, const residual_cell_options& options = {});

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/recurrent/impl/cells.hpp>
#endif
