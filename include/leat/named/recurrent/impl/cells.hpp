#pragma once
// Implementation of cells.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/nn.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/known_value.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/recurrent/cells.hpp>
#include <leat/ops/cells.hpp>

#include <cmath>

namespace leat {

struct rnn_cell::shared {
  definition what;
  std::optional<variable_scope_object> scope{};   // of the cell, after its first call
  std::optional<variable_scope_object> around{};  // the scope in which a nested cell was first called
  std::vector<output> variables{};
};

namespace detail {

// The vector [batch, size] in two parts, as TensorFlow makes it.
LEAT_FUNCTION std::vector<output> batch_and_size(graph& g, const operand_value& batch, std::int64_t size) {
  output first;
  if (batch.tensor() == nullptr)
    first = g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(batch.literal()->number(0))}, "Const");
  else first = batch.tensor()->extent().rank == 1 ? *batch.tensor() : expand_dims(*batch.tensor(), 0);
  return {first, g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(size)}, "Const")};
}
LEAT_FUNCTION std::int64_t known_batch(const operand_value& batch) {
  if (batch.tensor() == nullptr) return static_cast<std::int64_t>(batch.literal()->number(0));
  const auto known = known_numbers(*batch.tensor());
  return known && known->size() == 1 && known->front() >= 0 ? known->front() : unknown_dimension;
}
// Zeros of the shape [batch, size].
LEAT_FUNCTION output zeros_of_batch(graph& g, const operand_value& batch, std::int64_t size, dtype type) {
  const output sizes = concat(batch_and_size(g, batch, size), 0);
  const name_scope scope(g, "zeros");
  const output zero = g.named().make_constant(g, {type, {}, 0}, "Const");
  return call_operator(g, "Fill", {sizes, zero}, {}, scope.text()).result();
}

LEAT_FUNCTION void check_units(std::string_view kind, std::int64_t units) {
  if (units < 1 || units > INT32_MAX) throw invalid_argument(std::string(kind) + ": units is " + std::to_string(units) + ", not 1 or more");
}
LEAT_FUNCTION output activated(const std::function<output(const output&)>& activation, const output& x) {
  if (!activation) return tanh(x, {});
  const output y = activation(x);
  if (!static_cast<bool>(y)) throw invalid_argument("the activation of a cell gives no tensor");
  return y;
}
// Inputs and state side by side, times a kernel, plus a bias.
LEAT_FUNCTION output weighted(const output& x, const output& h, const output& kernel, const output& bias) {
  return bias_add(matmul(concat({x, h}, 1), kernel), bias);
}
inline std::int64_t width_of(const output& x) { return x.extent()[1]; }

LEAT_FUNCTION rnn_result basic_rnn_step(std::int64_t units, const basic_rnn_cell_options& options, const output& x,
                                        const rnn_state& state) {
  const output kernel = get_variable("kernel", {width_of(x) + units, units}, {.type = x.type()});
  const output bias = get_variable("bias", {units}, {.type = x.type(), .initializer = zeros});
  const output y = activated(options.activation, weighted(x, state[0], kernel, bias));
  return {y, {y}};
}

// The operators of the cells' formulas, whose nodes have TensorFlow's names.
struct named_cell_math {
  static output add(const output& a, const output& b) { return leat::add(a, b, "add"); }
  static output multiply(const output& a, const output& b) { return leat::multiply(a, b, "mul"); }
  static output rest_of(const output& u) { return subtract(tensor_literal(u.type(), {}, 1), u, "sub"); }
};
// Those of `BasicLSTMCell`, which has other names, and the factors of some products in another order.
struct basic_lstm_math {
  output forget_bias;
  const std::function<output(const output&)>& activation;

  output forget_gate(const output& f, const output&) const { return sigmoid(add(f, forget_bias), {}); }
  output keep(const output& forget, const output& c) const { return multiply(c, forget); }
  output input_gate(const output& i, const output&) const { return sigmoid(i, {}); }
  output output_gate(const output& o, const output&) const { return sigmoid(o, {}); }
  output activated(const output& x) const { return detail::activated(activation, x); }
  static output limited(const output& c) { return c; }
  static output add(const output& a, const output& b) { return leat::add(a, b); }
  static output multiply(const output& a, const output& b) { return leat::multiply(a, b); }
  template <class Gate, class Activated>
  static output show(Gate gate, Activated its_activated) {
    const output shown = its_activated();
    return multiply(shown, gate());
  }
};
// Those of `LSTMCell`, whose gates may see c, and c be limited.
struct named_lstm_math : named_cell_math {
  const lstm_cell_options& options;
  output see_f, see_i, see_o;
  output (*limit)(const output&, const std::optional<double>&);

  static output gate(const output& from, const output& weight, const output& c) {
    return sigmoid(static_cast<bool>(weight) ? add(from, multiply(weight, c)) : from, {});
  }
  output forget_gate(const output& f, const output& c) const {
    return gate(add_number(f, options.forget_bias), see_f, c);
  }
  static output keep(const output& forget, const output& c) { return multiply(forget, c); }
  output input_gate(const output& i, const output& c) const { return gate(i, see_i, c); }
  output output_gate(const output& o, const output& c) const { return gate(o, see_o, c); }
  output activated(const output& x) const { return detail::activated(options.activation, x); }
  output limited(const output& c) const { return limit(c, options.cell_clip); }
  template <class Gate, class Activated>
  static output show(Gate gate, Activated its_activated) {
    const output leaving = gate();
    return multiply(leaving, its_activated());
  }

 private:
  static output add_number(const output& f, double number) { return leat::add(f, tensor_literal(f.type(), {}, number), "add"); }
};

LEAT_FUNCTION rnn_result gru_step(std::int64_t units, const gru_cell_options& options, const output& x, const rnn_state& state) {
  const output& h = state[0];
  const std::int64_t rows = width_of(x) + units;
  const first_value gate_bias_value = options.bias_initializer.given() ? options.bias_initializer : first_value(constant_initializer(1));
  const first_value bias_value = options.bias_initializer.given() ? options.bias_initializer : first_value(zeros);
  const output gates = get_variable("gates/kernel", {rows, 2 * units}, {.type = x.type(), .initializer = options.kernel_initializer});
  const output gate_bias = get_variable("gates/bias", {2 * units}, {.type = x.type(), .initializer = gate_bias_value});
  const output candidate = get_variable("candidate/kernel", {rows, units}, {.type = x.type(), .initializer = options.kernel_initializer});
  const output bias = get_variable("candidate/bias", {units}, {.type = x.type(), .initializer = bias_value});
  const std::vector<output> both = split(sigmoid(weighted(x, h, gates, gate_bias), {}), 2, 1);
  const output y = gru_formula(named_cell_math{}, both[0], both[1], h,
                               [&](const output& reset) { return activated(options.activation, weighted(x, reset, candidate, bias)); });
  return {y, {y}};
}

// The state of an LSTM cell, as two tensors or as one.
LEAT_FUNCTION rnn_state state_of_lstm(const output& c, const output& h, bool is_tuple) {
  if (is_tuple) return {c, h};
  return {concat({c, h}, 1)};
}
LEAT_FUNCTION std::vector<rnn_cell::state_part> lstm_parts(std::int64_t c, std::int64_t h, bool is_tuple) {
  if (is_tuple) return {{.name = "c", .size = c, .may_drop = false}, {.name = "h", .size = h}};
  return {{.name = "", .size = c + h}};
}
// Some columns of a state.
LEAT_FUNCTION output columns_of(const output& state, std::int64_t from, std::int64_t count) {
  return slice(state, {0, static_cast<std::int32_t>(from)}, {-1, static_cast<std::int32_t>(count)});
}
LEAT_FUNCTION rnn_result basic_lstm_step(std::int64_t units, const basic_lstm_cell_options& options, const output& x,
                                         const rnn_state& state) {
  graph& g = x.owner();
  const output kernel = get_variable("kernel", {width_of(x) + units, 4 * units}, {.type = x.type()});
  const output bias = get_variable("bias", {4 * units}, {.type = x.type(), .initializer = zeros});
  const output axis = g.named().make_constant(g, std::int32_t{1}, "Const");
  const auto parts = [&](const output& of, std::int64_t count) {
    return call_operator(g, "Split", {axis, of}, {{"num_split", count}}, "split").outputs();
  };
  const std::vector<output> before = options.state_is_tuple ? state : parts(state[0], 2);
  const output all = weighted(x, before[1], kernel, bias);
  const std::vector<output> ijfo = parts(all, 4);
  const output forget_bias = g.named().make_constant(g, {x.type(), {}, options.forget_bias}, "Const");
  const auto [c, h] = lstm_formula(basic_lstm_math{forget_bias, options.activation}, ijfo[0], ijfo[1], ijfo[2], ijfo[3], before[0]);
  return {h, state_of_lstm(c, h, options.state_is_tuple)};
}

LEAT_FUNCTION rnn_result lstm_step(std::int64_t units, const lstm_cell_options& options, const output& x, const rnn_state& state) {
  const variable_settings weights{.type = x.type(), .initializer = options.initializer};
  const std::int64_t width = options.num_proj > 0 ? options.num_proj : units;
  const output kernel = get_variable("kernel", {width_of(x) + width, 4 * units}, weights);
  const output bias = get_variable("bias", {4 * units}, {.type = x.type(), .initializer = zeros});
  output see_f, see_i, see_o, projection;
  if (options.use_peepholes) {
    see_f = get_variable("w_f_diag", {units}, weights);
    see_i = get_variable("w_i_diag", {units}, weights);
    see_o = get_variable("w_o_diag", {units}, weights);
  }
  if (options.num_proj > 0) projection = get_variable("projection/kernel", {units, options.num_proj}, weights);
  const bool is_tuple = options.state_is_tuple;
  const output before = is_tuple ? state[0] : columns_of(state[0], 0, units);
  const output shown = is_tuple ? state[1] : columns_of(state[0], units, width);
  const std::vector<output> ijfo = split(weighted(x, shown, kernel, bias), 4, 1);
  const auto limited = [](const output& y, const std::optional<double>& most) {
    if (!most) return y;
    return clip_by_value(y, tensor_literal(y.type(), {}, -*most), tensor_literal(y.type(), {}, *most));
  };
  const named_lstm_math math{{}, options, see_f, see_i, see_o, limited};
  auto [c, h] = lstm_formula(math, ijfo[0], ijfo[1], ijfo[2], ijfo[3], before);
  if (static_cast<bool>(projection)) h = limited(matmul(h, projection), options.proj_clip);
  return {h, state_of_lstm(c, h, is_tuple)};
}

// The part of a state that belongs to one of several cells.
LEAT_FUNCTION rnn_state state_of(const rnn_cell& cell, const rnn_state& all, std::size_t& from) {
  const auto begin = all.begin() + static_cast<std::ptrdiff_t>(from);
  from += cell.state_parts().size();
  return {begin, all.begin() + static_cast<std::ptrdiff_t>(from)};
}
LEAT_FUNCTION rnn_result multi_step(const std::vector<rnn_cell>& cells, bool is_tuple, const output& x, const rnn_state& state) {
  rnn_result made{x, {}};
  std::size_t from = 0;
  std::int64_t column = 0;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const variable_scope names("cell_" + std::to_string(k));
    rnn_state before;
    if (is_tuple) {
      before = state_of(cells[k], state, from);
    } else {
      const std::int64_t size = cells[k].state_parts().front().size;
      before = {columns_of(state[0], column, size)};
      column += size;
    }
    rnn_result next = cells[k](made.outputs, before);
    made.outputs = next.outputs;
    made.state.insert(made.state.end(), next.state.begin(), next.state.end());
  }
  if (!is_tuple) made.state = {concat(made.state, 1)};
  return made;
}
LEAT_FUNCTION rnn_result residual_step(const rnn_cell& cell, const residual_cell_options& options, const output& x,
                                       const rnn_state& state) {
  rnn_result made = cell(x, state);
  if (!options.combine && !may_equal(x.extent(), made.outputs.extent()))
    throw invalid_argument("residual_cell: the inputs " + describe(x) + " and the outputs " + describe(made.outputs) +
                           " are of two shapes: `combine` makes one of them");
  made.outputs = options.combine ? options.combine(x, made.outputs) : add(x, made.outputs, "add");
  if (!static_cast<bool>(made.outputs)) throw invalid_argument("residual_cell: `combine` gives no tensor");
  return made;
}

LEAT_FUNCTION rnn_result dropout_step(const rnn_cell& cell, const dropout_cell_options& options, const output& x, const rnn_state& state) {
  const auto dropped = [&](const output& y, double keep, std::uint64_t salt) {
    return keep < 1 ? dropout(y, 1 - keep, options.seed == 0 ? 0 : mix(options.seed, salt)) : y;
  };
  rnn_result made = cell(dropped(x, options.input_keep_prob, 0), state);
  const output whole = made.outputs;
  for (std::size_t k = 0; k < made.state.size(); ++k)
    if (cell.state_parts()[k].may_drop) made.state[k] = dropped(made.state[k], options.state_keep_prob, 2 + k);
  made.outputs = dropped(whole, options.output_keep_prob, 1);
  return made;
}

}  // namespace detail

LEAT_FUNCTION rnn_cell::rnn_cell(definition given) : its_(std::make_shared<shared>(shared{.what = std::move(given)})) {
  const definition& what = its_->what;
  if (!what.step) throw invalid_argument(what.kind + ": a cell without a step");
  if (what.kind.empty() && what.opens != scopes::none) throw invalid_argument("a cell without a kind, of which its scope is called");
  detail::check_units(what.kind, what.output_size);
  for (const state_part& part : what.state_parts) detail::check_units(what.kind, part.size);
}

LEAT_FUNCTION std::int64_t rnn_cell::output_size() const { return its_->what.output_size; }
LEAT_FUNCTION const std::vector<rnn_cell::state_part>& rnn_cell::state_parts() const { return its_->what.state_parts; }
LEAT_FUNCTION const std::string& rnn_cell::name() const { return its_->what.name; }
LEAT_FUNCTION const std::string& rnn_cell::kind() const { return its_->what.kind; }
LEAT_FUNCTION std::vector<output> rnn_cell::variables() const {
  std::vector<output> all = its_->variables;
  for (const rnn_cell& cell : its_->what.cells) {
    const std::vector<output> more = cell.variables();
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

LEAT_FUNCTION void rnn_cell::check_state(const rnn_state& state, dtype type) const {
  const definition& what = its_->what;
  const auto text = [](const state_part& part) {
    return (part.name.empty() ? "" : part.name + " ") + "[batch, " + std::to_string(part.size) + "]";
  };
  if (state.size() != what.state_parts.size()) {
    std::string parts;
    for (const state_part& part : what.state_parts) parts += (parts.empty() ? "" : ", ") + text(part);
    throw invalid_argument(what.kind + ": a state of " + std::to_string(state.size()) + " tensors, and that of this cell has " +
                           std::to_string(what.state_parts.size()) + ": " + parts);
  }
  for (std::size_t k = 0; k < state.size(); ++k) {
    if (!static_cast<bool>(state[k])) throw invalid_argument(what.kind + ": a state that is no node of a graph");
    const std::optional<dtype>& own = what.state_parts[k].type;
    if (state[k].type() != own.value_or(type))
      throw invalid_argument(what.kind + ": a state of another dtype than " + std::string(name_of_dtype(own.value_or(type))) +
                             (own ? ": " : ", that of the inputs: ") + describe(state[k]));
    if (!may_equal(state[k].extent(), shape_value({unknown_dimension, what.state_parts[k].size})))
      throw invalid_argument(what.kind + ": the state is " + text(what.state_parts[k]) + ", and this is " + describe(state[k]));
  }
}

LEAT_FUNCTION rnn_result rnn_cell::operator()(const output& inputs, const rnn_state& state, const std::source_location& where) const {
  shared& its = *its_;
  definition& what = its.what;
  if (!static_cast<bool>(inputs)) throw invalid_argument(what.kind + ": inputs that are no tensor: an empty output");
  graph& g = inputs.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  if (!its.variables.empty() && &its.variables.front().owner() != &g)
    throw invalid_argument(what.kind + ": the cell \"" + what.name + "\" has its variables in another graph");
  const output x = g.named().value_of(inputs);
  if (!is_floating(x.type())) throw invalid_argument("RNN cell only supports floating point inputs, but saw dtype: " + dtype_text(x));
  if (!may_equal(x.extent(), shape_value({unknown_dimension, unknown_dimension})))
    throw invalid_argument("Input 0 of layer " + what.kind + " is incompatible with the layer: expected ndim=2, found ndim=" +
                           std::to_string(x.extent().rank) + ". Full shape received: " + leat::shape_text(x.extent()));
  if (!x.extent().has_rank() || x.extent()[1] < 0)
    throw invalid_argument("Expected inputs.shape[-1] to be known, saw shape: " + leat::shape_text(x.extent()));
  check_state(state, x.type());
  const auto step = [&] {
    rnn_result made = what.step(x, state);
    check_state(made.state, x.type());
    return made;
  };
  if (what.opens == scopes::none) return step();

  std::optional<variable_scope> around;
  if (what.opens == scopes::nested) {
    static_cast<void>(around.emplace(its.around ? *its.around : get_variable_scope()));
    if (!its.around) its.around = around->object();
  }
  if (its.scope) {
    const variable_scope names(*its.scope, {.reuse = true, .auxiliary_name_scope = false});
    const name_scope nodes(g, its.scope->original_name_scope());
    return step();
  }
  std::optional<variable_scope> names;
  if (what.name.empty()) static_cast<void>(names.emplace(nullptr, variable_scope_options{.default_name = what.kind}));
  else static_cast<void>(names.emplace(what.name, variable_scope_options{.reuse = what.reuse}));
  const std::size_t known = global_variables().size();
  rnn_result made = step();
  its.scope = names->object();
  what.name = names->name();
  if (what.cells.empty()) {
    const std::vector<output> all = global_variables();
    if (all.size() > known) its.variables.assign(all.begin() + static_cast<std::ptrdiff_t>(known), all.end());
    else its.variables = global_variables(what.name + "/");
  }
  return made;
}

LEAT_FUNCTION rnn_state rnn_cell::zero_state(const operand_value& batch, dtype type, const std::source_location& where) const {
  const definition& what = its_->what;
  if (!is_floating(type))
    throw invalid_argument("RNN cell only supports floating point inputs, but saw dtype: " + std::string(name_of_dtype(type)));
  if (batch.tensor() != nullptr && !static_cast<bool>(*batch.tensor()))
    throw invalid_argument(what.kind + ": a batch that is no node of a graph");
  graph& g = batch.tensor() != nullptr ? batch.tensor()->owner() : default_graph();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const shape& extent = batch.tensor() != nullptr ? batch.tensor()->extent() : batch.literal()->extent();
  if (extent.has_rank() && extent.rank > 1)
    throw invalid_argument("prefix tensor must be either a scalar or vector, but saw tensor: " + leat::shape_text(extent));
  const auto is_batch = [](double n) { return n >= 0 && n <= INT32_MAX && n == std::floor(n); };
  if (batch.literal() != nullptr && (extent.elements() != 1 || !is_batch(batch.literal()->number(0))))
    throw invalid_argument(what.kind + ": a batch is one whole number, 0 or more");
  const name_scope scope(g, what.class_name + "ZeroState");
  rnn_state all;
  for (const rnn_cell& cell : what.joins_states ? std::vector<rnn_cell>{} : what.cells) {
    const rnn_state more = cell.zero_state(batch, type, where);
    all.insert(all.end(), more.begin(), more.end());
  }
  if (!what.cells.empty() && !what.joins_states) return all;
  if (what.joins_states) all.clear();
  std::optional<name_scope> joined;  // TensorFlow opens the scope twice
  if (what.joins_states) static_cast<void>(joined.emplace(g, what.class_name + "ZeroState"));
  for (const state_part& part : what.state_parts) {
    all.push_back(detail::zeros_of_batch(g, batch, part.size, part.type.value_or(type)));
    static_cast<void>(detail::batch_and_size(g, batch, part.size));  // TensorFlow makes these nodes again for the shape that it knows
    set_shape(all.back(), {detail::known_batch(batch), part.size});
  }
  return all;
}

LEAT_FUNCTION rnn_cell basic_rnn_cell(std::int64_t units, const basic_rnn_cell_options& options) {
  return rnn_cell({.kind = "basic_rnn_cell",
                   .class_name = "BasicRNNCell",
                   .name = options.name,
                   .reuse = options.reuse,
                   .output_size = units,
                   .state_parts = {{.name = "", .size = units}},
                   .step = [units, options](const output& x, const rnn_state& h) { return detail::basic_rnn_step(units, options, x, h); },
                   .opens = rnn_cell::scopes::own});
}
LEAT_FUNCTION rnn_cell gru_cell(std::int64_t units, const gru_cell_options& options) {
  return rnn_cell({.kind = "gru_cell",
                   .class_name = "GRUCell",
                   .name = options.name,
                   .reuse = options.reuse,
                   .output_size = units,
                   .state_parts = {{.name = "", .size = units}},
                   .step = [units, options](const output& x, const rnn_state& h) { return detail::gru_step(units, options, x, h); },
                   .opens = rnn_cell::scopes::own});
}
LEAT_FUNCTION rnn_cell basic_lstm_cell(std::int64_t units, const basic_lstm_cell_options& options) {
  return rnn_cell({.kind = "basic_lstm_cell",
                   .class_name = "BasicLSTMCell",
                   .name = options.name,
                   .reuse = options.reuse,
                   .output_size = units,
                   .state_parts = detail::lstm_parts(units, units, options.state_is_tuple),
                   .step = [units, options](const output& x, const rnn_state& s) { return detail::basic_lstm_step(units, options, x, s); },
                   .opens = rnn_cell::scopes::own});
}
LEAT_FUNCTION rnn_cell lstm_cell(std::int64_t units, const lstm_cell_options& options) {
  if (options.num_proj < 0) throw invalid_argument("lstm_cell: num_proj is " + std::to_string(options.num_proj) + ", not 0 or more");
  const std::int64_t width = options.num_proj > 0 ? options.num_proj : units;
  return rnn_cell({.kind = "lstm_cell",
                   .class_name = "LSTMCell",
                   .name = options.name,
                   .reuse = options.reuse,
                   .output_size = width,
                   .state_parts = detail::lstm_parts(units, width, options.state_is_tuple),
                   .step = [units, options](const output& x, const rnn_state& s) { return detail::lstm_step(units, options, x, s); },
                   .opens = rnn_cell::scopes::own});
}
LEAT_FUNCTION rnn_cell multi_cell(const std::vector<rnn_cell>& cells, const multi_cell_options& options) {
  if (cells.empty()) throw invalid_argument("Must specify at least one cell for MultiRNNCell.");
  std::vector<rnn_cell::state_part> parts;
  for (std::size_t k = 0; k < cells.size(); ++k)
    for (rnn_cell::state_part part : cells[k].state_parts()) {
      part.name = "cell_" + std::to_string(k) + (part.name.empty() ? "" : " " + part.name);
      parts.push_back(std::move(part));
    }
  if (!options.state_is_tuple) {
    std::int64_t size = 0;
    for (const rnn_cell& cell : cells) {
      if (cell.state_parts().size() != 1)
        throw invalid_argument("Some cells return tuples of states, but the flag state_is_tuple is not set: " + cell.kind() + " has " +
                               std::to_string(cell.state_parts().size()) + " tensors; its own state_is_tuple = false makes one of them");
      size += cell.state_parts().front().size;
    }
    parts = {{.name = "", .size = size}};
  }
  return rnn_cell({.kind = "multi_rnn_cell",
                   .class_name = "MultiRNNCell",
                   .name = options.name,
                   .reuse = options.reuse,
                   .output_size = cells.back().output_size(),
                   .state_parts = std::move(parts),
                   .step = [cells, is_tuple = options.state_is_tuple](
                               const output& x, const rnn_state& s) { return detail::multi_step(cells, is_tuple, x, s); },
                   .opens = rnn_cell::scopes::nested,
                   .cells = cells,
                   .joins_states = !options.state_is_tuple});
}
LEAT_FUNCTION rnn_cell dropout_cell(const rnn_cell& cell, const dropout_cell_options& options) {
  const auto check_keep = [](std::string_view name, double keep) {
    if (!(keep > 0 && keep <= 1))
      throw invalid_argument("Parameter " + std::string(name) + " must be between 0 and 1, and above 0: " + std::to_string(keep));
  };
  check_keep("input_keep_prob", options.input_keep_prob);
  check_keep("state_keep_prob", options.state_keep_prob);
  check_keep("output_keep_prob", options.output_keep_prob);
  return rnn_cell({.kind = cell.kind(),
                   .class_name = "DropoutWrapper",
                   .output_size = cell.output_size(),
                   .state_parts = cell.state_parts(),
                   .step = [cell, options](const output& x, const rnn_state& s) { return detail::dropout_step(cell, options, x, s); },
                   .opens = rnn_cell::scopes::none,
                   .cells = {cell}});
}

LEAT_FUNCTION rnn_cell residual_cell(const rnn_cell& cell, const residual_cell_options& options) {
  return rnn_cell({.kind = cell.kind(),
                   .class_name = "ResidualWrapper",
                   .output_size = cell.output_size(),
                   .state_parts = cell.state_parts(),
                   .step = [cell, options](const output& x, const rnn_state& s) { return detail::residual_step(cell, options, x, s); },
                   .opens = rnn_cell::scopes::none,
                   .cells = {cell}});
}

}  // namespace leat
