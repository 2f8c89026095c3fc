#pragma once
// Implementation of named_layers.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/functions/embedding.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/variables/partitioned_variables.hpp>
#include <leat/train/named/layers.hpp>

namespace leat::layers {

LEAT_FUNCTION output relu(const output& x) { return leat::relu(x, {}); }
LEAT_FUNCTION output relu6(const output& x) { return leat::relu6(x, {}); }
LEAT_FUNCTION output elu(const output& x) { return leat::elu(x, {}); }
LEAT_FUNCTION output leaky_relu(const output& x) { return leat::leaky_relu(x); }
LEAT_FUNCTION output sigmoid(const output& x) { return leat::sigmoid(x, {}); }
LEAT_FUNCTION output softmax(const output& x) { return leat::softmax(x, {}); }
LEAT_FUNCTION output softplus(const output& x) { return leat::softplus(x, {}); }
LEAT_FUNCTION output tanh(const output& x) { return leat::tanh(x, {}); }

namespace detail {

LEAT_FUNCTION layer made(std::string kind, std::string name, reuse_setting reuse,
                         std::function<output(layer::state&, const output&)> call) {
  auto its = std::make_shared<layer::state>();
  its->kind = std::move(kind);
  its->name = std::move(name);
  its->reuse = reuse;
  its->call = std::move(call);
  return layer(std::move(its));
}

// Makes a variable of the layer, or finds it in later calls. If the variable is partitioned, the layer lists its slices as variables and
// computes with its value.
LEAT_FUNCTION output variable_of(layer::state& its, std::string_view name, const shape& extent, const variable_settings& settings) {
  const auto add = [&](const output& v) {
    for (const output& known : its.variables)
      if (known.index() == v.index()) return;
    its.variables.push_back(v);
  };
  if (leat::detail::is_partitioned_here(name, extent, settings)) {
    const auto whole =
        leat::detail::find_or_make_partitioned(name, extent, settings, get_variable_scope().partitioner(), std::source_location::current());
    for (const output& part : whole) add(part);
    return whole.as_tensor();
  }
  const output v = get_variable(name, extent, settings);
  add(v);
  return v;
}

LEAT_FUNCTION output call_dense(layer::state& its, const output& x, std::int64_t units, const dense_options& options) {
  if (!is_floating(x.type())) throw invalid_argument("dense: inputs are floating point, not " + describe(x));
  if (!x.extent().has_rank() || x.extent().rank < 2)
    throw invalid_argument("dense: inputs have rank 2 or more, [..., inputs]: " + describe(x));
  const int last = x.extent().rank - 1;
  const std::int64_t inputs = x.extent()[last];
  if (inputs < 0) throw invalid_argument("The last dimension of the inputs to `Dense` should be defined. Found `None`: " + describe(x));
  const output kernel = variable_of(its, "kernel", shape_value({inputs, units}),
                                    {.type = x.type(),
                                     .initializer = options.kernel_initializer,
                                     .regularizer = options.kernel_regularizer,
                                     .trainable = options.trainable});
  output bias;
  if (options.use_bias)
    bias = variable_of(its, "bias", shape_value({units}),
                       {.type = x.type(),
                        .initializer = options.bias_initializer,
                        .regularizer = options.bias_regularizer,
                        .trainable = options.trainable});
  output y;
  if (last == 1) {
    y = matmul(x, kernel);
  } else {
    const output rows = reshape(x, index_list{std::vector<std::int32_t>{-1, static_cast<std::int32_t>(inputs)}});
    const output product = matmul(rows, kernel);
    const output outer = index(shape_of(x), {along::until(-1)});
    const output width = x.owner().named().make_constant(x.owner(), std::vector<std::int32_t>{static_cast<std::int32_t>(units)}, "units");
    y = reshape(product, concat({outer, width}, 0));
    shape known = x.extent();
    known.dim[last] = units;
    set_shape(y, known);
  }
  if (options.use_bias) y = bias_add(y, bias);
  return options.activation ? options.activation(y) : y;
}

LEAT_FUNCTION output call_flatten(const output& x) {
  const shape& from = x.extent();
  if (!from.has_rank() || from.rank < 1) throw invalid_argument("flatten: inputs have rank 1 or more: " + describe(x));
  if (from.rank == 1) return expand_dims(x, -1);
  std::int64_t width = 1;
  for (int k = 1; k < from.rank; ++k) width = width < 0 || from[k] < 0 ? -1 : width * from[k];
  if (width >= 0) {
    const auto batch = from[0] < 0 ? std::int64_t{-1} : from[0];
    const output y = reshape(x, index_list{std::vector<std::int32_t>{static_cast<std::int32_t>(batch), static_cast<std::int32_t>(width)}});
    set_shape(y, shape_value({from[0], width}));
    return y;
  }
  const output sizes = shape_of(x);
  const output batch = index(sizes, {0});
  const output rest = x.owner().named().make_constant(x.owner(), std::int32_t{-1}, "Const");
  const output y = reshape(x, stack({batch, rest}));
  set_shape(y, shape_value({from[0], -1}));
  return y;
}

}  // namespace detail

LEAT_FUNCTION output layer::operator()(const output& inputs, const std::source_location& where) const {
  state& its = *state_;
  if (!static_cast<bool>(inputs)) throw invalid_argument(its.kind + ": inputs that are no tensor: an empty output");
  graph& g = inputs.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  if (!its.variables.empty() && &its.variables.front().owner() != &g)
    throw invalid_argument(its.kind + ": the layer \"" + its.name + "\" has its variables in another graph");
  const output x = g.named().value_of(inputs);
  const variable_scope names = [&] {
    if (its.scope) return variable_scope(*its.scope, {.reuse = true});
    if (!its.name.empty()) return variable_scope(its.name, {.reuse = its.reuse});
    return variable_scope(nullptr, {.default_name = its.kind});
  }();
  const output y = [&] {
    try {
      return its.call(its, x);
    } catch (...) {
      if (!its.scope) its.variables.clear();  // left by a first call that failed
      throw;
    }
  }();
  its.scope = names.object();
  its.name = names.name();
  its.result = y.extent();
  return y;
}

LEAT_FUNCTION output layer::variable(std::string_view name) const {
  for (const output& v : state_->variables)
    if (v.name() == state_->name + "/" + std::string(name) + ":0") return v;
  std::string known;
  for (const output& v : state_->variables) known += (known.empty() ? "" : ", ") + v.name();
  throw not_found("the layer \"" + (state_->name.empty() ? state_->kind : state_->name) + "\" has no variable \"" + std::string(name) +
                  "\"; " + (known.empty() ? "it has none, or was not called yet" : "it has " + known));
}

LEAT_FUNCTION std::int64_t layer::parameter_count() const {
  std::int64_t count = 0;
  for (const output& v : state_->variables) count += v.extent().elements();
  return count;
}

LEAT_FUNCTION layer dense(std::int64_t units, const dense_options& options) {
  if (units < 1 || units > INT32_MAX) throw invalid_argument("dense: units is " + std::to_string(units) + ", not 1 or more");
  return detail::made("dense", options.name, options.reuse,
                      [units, options](layer::state& its, const output& x) { return detail::call_dense(its, x, units, options); });
}
LEAT_FUNCTION output dense(const output& x, std::int64_t units, const dense_options& options, const std::source_location& where) {
  return dense(units, options)(x, where);
}

LEAT_FUNCTION layer dropout(double rate, const dropout_options& options) {
  if (!(rate >= 0 && rate < 1)) throw invalid_argument("dropout: rate is " + std::to_string(rate) + ", not in [0, 1)");
  return detail::made("dropout", options.name, {}, [rate, options](layer::state&, const output& x) {
    const auto drop = [&] { return leat::dropout(x, rate, options.seed); };
    if (const bool* fixed = std::get_if<bool>(&options.training)) return *fixed ? drop() : identity(x, "Identity");
    const output& training = std::get<output>(options.training);
    if (!static_cast<bool>(training) || training.type() != dtype::boolean)
      throw invalid_argument("dropout: whether it trains is a bool, or a tensor of it");
    return cond(training, drop, [&] { return identity(x, "Identity"); });
  });
}
LEAT_FUNCTION output dropout(const output& x, double rate, const dropout_options& options, const std::source_location& where) {
  return dropout(rate, options)(x, where);
}

LEAT_FUNCTION layer embedding(std::int64_t rows, std::int64_t units, const embedding_options& options) {
  if (rows < 1 || units < 1) throw invalid_argument("embedding: a table [" + std::to_string(rows) + ", " + std::to_string(units) + "]");
  return detail::made("embedding", options.name, options.reuse, [rows, units, options](layer::state& its, const output& ids) {
    if (ids.type() != dtype::int32 && ids.type() != dtype::int64)
      throw invalid_argument("embedding: ids are int32 or int64, not " + describe(ids));
    const output table = detail::variable_of(
        its, "embeddings", shape_value({rows, units}),
        {.type = dtype::float32, .initializer = options.initializer, .regularizer = options.regularizer, .trainable = options.trainable});
    return embedding_lookup(table, ids);
  });
}
LEAT_FUNCTION output embedding(const output& ids, std::int64_t rows, std::int64_t units, const embedding_options& options,
                               const std::source_location& where) {
  return embedding(rows, units, options)(ids, where);
}

LEAT_FUNCTION layer flatten(std::string name) {
  return detail::made("flatten", std::move(name), {}, [](layer::state&, const output& x) { return detail::call_flatten(x); });
}
LEAT_FUNCTION output flatten(const output& x, std::string_view name, const std::source_location& where) {
  return flatten(std::string(name))(x, where);
}

LEAT_FUNCTION layer activation(activation_function function, std::string name) {
  if (!function) throw invalid_argument("activation: no function");
  return detail::made("activation", std::move(name), {}, [function](layer::state&, const output& x) {
    const output y = function(x);
    if (!static_cast<bool>(y)) throw invalid_argument("activation: the function gives no tensor");
    return y;
  });
}

LEAT_FUNCTION output sequential::operator()(const output& inputs, const std::source_location& where) const {
  output x = inputs;
  for (const layer& each : layers_) x = each(x, where);
  return x;
}
LEAT_FUNCTION std::vector<output> sequential::variables() const {
  std::vector<output> all;
  for (const layer& each : layers_) all.insert(all.end(), each.variables().begin(), each.variables().end());
  return all;
}
LEAT_FUNCTION std::int64_t sequential::parameter_count() const {
  std::int64_t count = 0;
  for (const layer& each : layers_) count += each.parameter_count();
  return count;
}

}  // namespace leat::layers

namespace leat {

namespace detail {
LEAT_FUNCTION list<parameter_row> parameters_of_graph(graph& g) {
  list<parameter_row> all;
  for (const output& v : get_tensors(g, collection::trainable_variables)) {
    if (!v.extent().is_static()) throw invalid_argument("a variable whose shape is not known: " + describe(v));
    all.push_back({v.operation().name(), {v.type(), v.extent()}});
  }
  return all;
}
}  // namespace detail

LEAT_FUNCTION std::int64_t parameter_count(graph& g) { return detail::count_of(detail::parameters_of_graph(g)); }
LEAT_FUNCTION std::string summary_table(graph& g) {
  const auto all = detail::parameters_of_graph(g);
  return detail::table_text(detail::layers_of(all), detail::bytes_of(all));
}
LEAT_FUNCTION std::string summary_table(const layers::sequential& model) {
  detail::list<layer_row> rows;
  std::int64_t bytes = 0;
  for (const layers::layer& each : model.layers()) {
    const std::string name = each.name().empty() ? each.kind() : each.name();
    rows.push_back({name, shape_text(each.result_shape()), each.parameter_count()});
    for (const output& v : each.variables()) bytes += v.extent().elements() * size_of(v.type());
  }
  return detail::table_text(rows, bytes);
}

}  // namespace leat
