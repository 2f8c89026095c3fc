#pragma once
// Layers of graphs with names. With inputs, a function makes a layer and returns its output, `layers::dense(x, 64)`. Without inputs it
// returns a layer, which can be called several times, always with the same variables, and inspected:
//
//   const auto hidden = layers::dense(64, {.activation = layers::relu});
//   auto y = hidden(x);
//   auto kernel = hidden.variable("kernel");
//
// Variables are named as in TensorFlow, "dense/kernel", "dense_1/bias", in the variable scope around the layer's first call, and inherit
// that scope's settings. train/layers.hpp has layers of typed expressions. Source: TensorFlow 1.x `tf.layers`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/layer_summary.hpp>

#include <functional>
#include <memory>
#include <variant>

namespace leat::layers {

/// A layer's activation: any function of a tensor.
using activation_function = std::function<output(const output&)>;
/// Activation functions for the options of layers. Source: TensorFlow `nn.relu`, ...
output relu(const output& x);
output relu6(const output& x);
output elu(const output& x);
output leaky_relu(const output& x);
output sigmoid(const output& x);
output softmax(const output& x);
output softplus(const output& x);
output tanh(const output& x);

/// A layer. Copies refer to the same layer and share its variables.
class layer {
 public:
  /// The state of a layer between calls.
  struct state {
    std::string kind;  // "dense"
    std::string name;  // of its scope after the first call; before that, the name that was given
    reuse_setting reuse{};
    std::function<output(state&, const output&)> call;
    std::optional<variable_scope_object> scope{};
    std::vector<output> variables{};
    shape result = shape::unknown();  // the shape of the last call's result
  };
  explicit layer(std::shared_ptr<state> its) : state_(std::move(its)) {}

  /// The layer's output for these inputs; the first call makes its variables. Errors: invalid_argument for inputs that the layer does not
  /// accept.
  output operator()(const output& inputs, const std::source_location& where = std::source_location::current()) const;
  /// The layer's name, "dense" or "dense_1"; empty before the first call of a layer without a given name.
  const std::string& name() const { return state_->name; }
  const std::string& kind() const { return state_->kind; }
  /// The layer's variables in order of creation; empty before the first call.
  const std::vector<output>& variables() const { return state_->variables; }
  /// The layer's variable with this name, such as "kernel". Errors: not_found.
  output variable(std::string_view name) const;
  /// The number of elements of all of the layer's variables.
  std::int64_t parameter_count() const;
  /// The shape of the last call's result.
  const shape& result_shape() const { return state_->result; }

 private:
  std::shared_ptr<state> state_;
};

/// Options of `dense`.
struct dense_options {
  activation_function activation{};  // empty: linear
  bool use_bias = true;
  first_value kernel_initializer{};  // empty: the scope's, or else Glorot's
  first_value bias_initializer = zeros;
  variable_regularizer kernel_regularizer{};
  variable_regularizer bias_regularizer{};
  bool trainable = true;
  std::string name{};  // empty: "dense", made unique
  reuse_setting reuse{};
};
/// A fully connected layer: activation(x kernel + bias), along the last axis. Variables: `kernel` [inputs, units], `bias` [units].
/// Shapes: x [..., inputs], where `inputs` is known; result [..., units]. Dtypes: floating point. Errors: invalid_argument.
/// Source: `dense`.
layer dense(std::int64_t units, const dense_options& options = {});
output dense(const output& x, std::int64_t units, const dense_options& options = {},
             const std::source_location& where = std::source_location::current());

/// Options of `dropout`. `training` is whether elements are dropped: a bool, or a bool tensor, such as a placeholder that is true in
/// training runs.
struct dropout_options {
  std::variant<bool, output> training = false;  // whether elements are dropped
  std::uint64_t seed = 0;                       // 0: other numbers in each session
  std::string name{};                           // empty: "dropout", made unique
};
/// Dropout: in training, each element becomes 0 with probability `rate`, and x / (1 - rate) otherwise; x itself when not training.
/// Shapes: result like x. Errors: invalid_argument for a rate outside [0, 1). Source: `dropout`.
layer dropout(double rate = 0.5, const dropout_options& options = {});
output dropout(const output& x, double rate, const dropout_options& options = {},
               const std::source_location& where = std::source_location::current());

/// Options of `embedding`.
struct embedding_options {
  first_value initializer = random_uniform(-0.05, 0.05);  // of the table
  variable_regularizer regularizer{};                     // of the table
  bool trainable = true;                                  // whether optimizers train the table by default
  std::string name{};                                     // of the variable scope; empty: "embedding", made unique
  reuse_setting reuse{};                                  // whether the variable of `name` is reused
};
/// An embedding: rows of a table by ids. Variables: `embeddings` [rows, units]. Shapes: ids [...]; result [..., units]. Dtypes: ids int32
/// or int64. Errors in a run: invalid_argument for ids out of range. Source: `keras.layers.Embedding`.
layer embedding(std::int64_t rows, std::int64_t units, const embedding_options& options = {});
output embedding(const output& ids, std::int64_t rows, std::int64_t units, const embedding_options& options = {},
                 const std::source_location& where = std::source_location::current());

/// Flattens all dimensions but the first to one. Shapes: x [batch, ...]; result [batch, n]. Source: `flatten`.
layer flatten(std::string name = {});
output flatten(const output& x, std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// A function as a layer. Source: `keras.layers.Activation`, `Lambda`.
layer activation(activation_function function, std::string name = {});

/// A sequence of layers, each applied to the result of the one before. Source: `keras.Sequential`.
class sequential {
 public:
  sequential() = default;
  sequential(std::initializer_list<layer> layers) : layers_(layers) {}
  explicit sequential(std::vector<layer> layers) : layers_(std::move(layers)) {}
  /// Adds a layer behind the others.
  void add(const layer& next) { layers_.push_back(next); }
  /// The output of the last layer. Errors: those of the layers.
  output operator()(const output& inputs, const std::source_location& where = std::source_location::current()) const;
  const std::vector<layer>& layers() const { return layers_; }
  std::vector<output> variables() const;
  std::int64_t parameter_count() const;

 private:
  std::vector<layer> layers_;
};

}  // namespace leat::layers

namespace leat {

/// The number of elements of all trainable variables of a graph.
std::int64_t parameter_count(graph& g = default_graph());
/// A table of a graph's layers: name, shapes of the variables, number of parameters.
std::string summary_table(graph& g = default_graph());
/// A table of these layers, as far as they have been called: name, shape of the result, number of parameters.
std::string summary_table(const layers::sequential& model);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/train/named/impl/layers.hpp>
#endif
