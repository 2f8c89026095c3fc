#pragma once
// Layers of graphs with names. A function makes a layer and its output at once, `layers::dense(x, 64)`; without inputs it makes a layer
// that can be kept, called several times, which shares its variables, and asked for them:
//
//   const auto hidden = layers::dense(64, {.activation = layers::relu});
//   auto y = hidden(x);
//   auto kernel = hidden.variable("kernel");
//
// Variables are named as TensorFlow names them, "dense/kernel", "dense_1/bias", in the variable scope around the layer's first call, whose
// settings they inherit. train/layers.hpp has layers of typed expressions. Source: TensorFlow 1.x `tf.layers`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/variables/variable_scope.hpp>
#include <leat/train/layer_summary.hpp>

#include <functional>
#include <memory>
#include <variant>

namespace leat::layers {

/// What stands between a layer and the next: any function of tensors.
using activation_function = std::function<output(const output&)>;
/// Activations, for options. Source: TensorFlow `nn.relu`, ...
output relu(const output& x);
output relu6(const output& x);
output elu(const output& x);
output leaky_relu(const output& x);
output sigmoid(const output& x);
output softmax(const output& x);
output softplus(const output& x);
output tanh(const output& x);

/// A layer. Copies are the same layer.
class layer {
 public:
  /// What a layer keeps from call to call.
  struct state {
    std::string kind;  // "dense"
    std::string name;  // of its scope, once it was called; what was asked for before
    reuse_setting reuse{};
    std::function<output(state&, const output&)> call;
    std::optional<variable_scope_object> scope{};
    std::vector<output> variables{};
    shape result = shape::unknown();  // of the last call
  };
  explicit layer(std::shared_ptr<state> its) : state_(std::move(its)) {}

  /// The layer's output; the first call makes its variables. Errors: invalid_argument for inputs that it does not take.
  output operator()(const output& inputs, const std::source_location& where = std::source_location::current()) const;
  /// "dense", "dense_1": empty before the first call of a layer that was given no name.
  const std::string& name() const { return state_->name; }
  const std::string& kind() const { return state_->kind; }
  /// Its variables in order of creation; none before the first call.
  const std::vector<output>& variables() const { return state_->variables; }
  /// The variable of this name in the layer: "kernel". Errors: not_found.
  output variable(std::string_view name) const;
  /// The number of elements of its variables.
  std::int64_t parameter_count() const;
  /// The shape of the last call's result.
  const shape& result_shape() const { return state_->result; }

 private:
  std::shared_ptr<state> state_;
};

/// Settings of `dense`.
struct dense_options {
  activation_function activation{};  // none: linear
  bool use_bias = true;
  first_value kernel_initializer{};  // none: the scope's, then Glorot's
  first_value bias_initializer = zeros;
  variable_regularizer kernel_regularizer{};
  variable_regularizer bias_regularizer{};
  bool trainable = true;
  std::string name{};  // none: "dense", made unique
  reuse_setting reuse{};
};
/// activation(x kernel + bias), along the last axis. Variables: `kernel` [inputs, units], `bias` [units]. Shapes: x [..., inputs], where
/// `inputs` is known; result [..., units]. Dtypes: floating point. Errors: invalid_argument. Source: `dense`.
layer dense(std::int64_t units, const dense_options& options = {});
output dense(const output& x, std::int64_t units, const dense_options& options = {},
             const std::source_location& where = std::source_location::current());

/// Settings of `dropout`: whether it drops, a bool or a tensor of it, as for a placeholder that says whether a run trains.
struct dropout_options {
  std::variant<bool, output> training = false;
  std::uint64_t seed = 0;
  std::string name{};
};
/// Each element 0 with probability `rate`, otherwise x / (1 - rate), in training; x itself otherwise. Errors: invalid_argument for a rate
/// outside [0, 1). Source: `dropout`.
layer dropout(double rate = 0.5, const dropout_options& options = {});
output dropout(const output& x, double rate, const dropout_options& options = {},
               const std::source_location& where = std::source_location::current());

/// Settings of `embedding`.
struct embedding_options {
  first_value initializer = random_uniform(-0.05, 0.05);
  variable_regularizer regularizer{};
  bool trainable = true;
  std::string name{};
  reuse_setting reuse{};
};
/// Rows of a table by ids. Variables: `embeddings` [rows, units]. Shapes: ids [...]; result [..., units]. Dtypes: ids int32 or int64.
/// Errors in a run: invalid_argument for ids out of range. Source: `keras.layers.Embedding`.
layer embedding(std::int64_t rows, std::int64_t units, const embedding_options& options = {});
output embedding(const output& ids, std::int64_t rows, std::int64_t units, const embedding_options& options = {},
                 const std::source_location& where = std::source_location::current());

/// All dimensions but the first as one. Shapes: x [batch, ...]; result [batch, n]. Source: `flatten`.
layer flatten(std::string name = {});
output flatten(const output& x, std::string_view name = {}, const std::source_location& where = std::source_location::current());

/// A function as a layer. Source: `keras.layers.Activation`, `Lambda`.
layer activation(activation_function function, std::string name = {});

/// Layers one after the other. Source: `keras.Sequential`.
class sequential {
 public:
  sequential() = default;
  sequential(std::initializer_list<layer> layers) : layers_(layers) {}
  explicit sequential(std::vector<layer> layers) : layers_(std::move(layers)) {}
  void add(const layer& next) { layers_.push_back(next); }
  /// The output of the last. Errors: those of the layers.
  output operator()(const output& inputs, const std::source_location& where = std::source_location::current()) const;
  const std::vector<layer>& layers() const { return layers_; }
  std::vector<output> variables() const;
  std::int64_t parameter_count() const;

 private:
  std::vector<layer> layers_;
};

}  // namespace leat::layers

namespace leat {

/// The number of elements of a graph's trainable variables.
std::int64_t parameter_count(graph& g = default_graph());
/// A table of a graph's layers: name, shapes of the variables, parameters.
std::string summary_table(graph& g = default_graph());
/// A table of these layers: name, shape of the result, parameters; of layers that were called.
std::string summary_table(const layers::sequential& model);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/train/named_layers_bodies.hpp>
#endif
