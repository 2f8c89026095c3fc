#pragma once
// Implementation of recurrent.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/impl/slice.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/lookup.hpp>
#include <leat/named/recurrent/impl/cells.hpp>
#include <leat/named/recurrent/recurrent.hpp>

namespace leat::detail {

LEAT_FUNCTION void open_rnn_scope(std::optional<variable_scope>& to, const rnn_scope& scope, std::string_view default_name) {
  if (const auto* object = std::get_if<variable_scope_object>(&scope)) static_cast<void>(to.emplace(*object));
  else if (const auto& name = std::get<std::string>(scope); name.empty()) static_cast<void>(to.emplace(default_name));
  else static_cast<void>(to.emplace(name));
}

// x with its first two dimensions exchanged.
LEAT_FUNCTION output with_time_and_batch_exchanged(const output& x) {
  graph& g = x.owner();
  named_part& nodes = g.named();
  const output rank = rank_of(x);
  output rest;
  {
    const name_scope scope(g, "range");
    const output start = nodes.make_constant(g, std::int32_t{2}, "start");
    const output delta = nodes.make_constant(g, std::int32_t{1}, "delta");
    rest = call_operator(g, "Range", {start, rank, delta}, {}, scope.text()).result();
  }
  output order;
  {
    const name_scope scope(g, "concat");
    const output all[]{nodes.make_constant(g, std::vector<std::int32_t>{1, 0}, "values_0"), rest};
    const std::int64_t numbers[]{0};
    order = nodes.build(g, info_of<concat_op>, all, numbers, scope.text());
  }
  const output made = transpose(x, order);
  shape extent = x.extent();
  std::swap(extent.dim[0], extent.dim[1]);
  set_shape(made, extent);
  return made;
}

// The batch of tensors with the batch along an axis: a number if it is known.
LEAT_FUNCTION operand_value batch_of(const output& x, int axis) {
  if (x.extent()[axis] >= 0) return static_cast<std::int32_t>(x.extent()[axis]);
  return index(shape_of(x), {axis});
}

LEAT_FUNCTION void check_lengths(const operand_value& lengths) {
  const shape& extent = lengths.tensor() != nullptr ? lengths.tensor()->extent() : lengths.literal()->extent();
  if (!may_equal(extent, shape_value({unknown_dimension})))
    throw invalid_argument("Argument sequence_length must be a vector of length batch_size, but it has the shape " +
                           leat::shape_text(extent));
}

// The lengths of the sequences, once they are known to be as many as the batch.
LEAT_FUNCTION output checked_lengths(graph& g, const output& lengths, const operand_value& batch) {
  const output sizes = shape_of(lengths);
  const output wanted = batch.tensor() != nullptr
                            ? stack({*batch.tensor()})
                            : g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(known_batch(batch))}, "stack");
  const output fits = reduce_all(equal(sizes, wanted), all_axes, keep_dims::no, "All");
  const control_dependencies after{
      check(fits, {"Expected shape for Tensor " + lengths.name() + " is ", wanted, " but saw shape: ", sizes})};
  return identity(lengths, "CheckSeqLen");
}

// What a step does at the ends of sequences.
struct sequence_ends {
  output lengths;
  output least;
  output most;
  output no_outputs;  // zeros
};

// The results of a step, but zeros and the state before it where the sequence has ended.
LEAT_FUNCTION std::vector<output> where_not_ended(const output& ended, const output& no_outputs, const rnn_state& before,
                                                  const rnn_result& made) {
  const auto choice = [&](const output& old, const output& fresh) {
    const colocate_with with{control_input(fresh)};
    return choose(ended, old, fresh);
  };
  std::vector<output> all{choice(no_outputs, made.outputs)};
  for (std::size_t k = 0; k < before.size(); ++k) all.push_back(choice(before[k], made.state[k]));
  return all;
}
LEAT_FUNCTION rnn_result as_step_result(const std::vector<output>& all, const output& no_outputs, const rnn_state& before) {
  set_shape(all[0], no_outputs.extent());
  for (std::size_t k = 0; k < before.size(); ++k) set_shape(all[k + 1], before[k].extent());
  return {all[0], rnn_state(all.begin() + 1, all.end())};
}

LEAT_FUNCTION std::vector<output> together(const rnn_result& made) {
  std::vector<output> all{made.outputs};
  all.insert(all.end(), made.state.begin(), made.state.end());
  return all;
}

// The step `time` of an unrolled network: nothing is computed when all sequences have ended, and nothing is chosen while none has.
LEAT_FUNCTION rnn_result unrolled_step(const rnn_cell& cell, const output& x, const rnn_state& before, std::int32_t time,
                                       const sequence_ends& ends) {
  const output ended = less_equal(ends.lengths, time);
  const auto step = [&] {
    const rnn_result made = cell(x, before);
    return cond(
        greater(ends.least, time), [&] { return together(made); }, [&] { return where_not_ended(ended, ends.no_outputs, before, made); });
  };
  const auto skip = [&] { return together({ends.no_outputs, before}); };
  return as_step_result(cond(less_equal(ends.most, time), skip, step), ends.no_outputs, before);
}

LEAT_FUNCTION void check_rnn_inputs(const output& inputs) {
  if (!static_cast<bool>(inputs)) throw invalid_argument("dynamic_rnn: inputs that are no tensor: an empty output");
  const shape& extent = inputs.extent();
  if (extent.has_rank() && extent.rank < 3) throw invalid_argument("Shape " + leat::shape_text(extent) + " must have rank at least 3");
  if (!extent.has_rank() || extent.rank > 3 || extent[2] < 0)
    throw invalid_argument(
        "Input size (depth of inputs) must be accessible via shape inference: inputs are [batch, time, n], where n is known, and these "
        "are " +
        describe(inputs));
}

// The dtype of the outputs: the given one, or that of the state. Source: TensorFlow's `_infer_state_dtype`.
LEAT_FUNCTION dtype output_type(const rnn_state& state, const std::optional<dtype>& given, dtype of_inputs) {
  if (given) return *given;
  for (const output& part : state)
    if (part.type() != state.front().type())
      throw invalid_argument(
          "State has tensors of different inferred_dtypes. Unable to infer a single representative dtype: `type` says it.");
  return state.empty() ? of_inputs : state.front().type();
}

// The loop over inputs [time, batch, n].
LEAT_FUNCTION rnn_result rnn_loop(const rnn_cell& cell, const output& inputs, const rnn_state& initial, const output& lengths,
                                  const dynamic_rnn_options& options) {
  graph& g = inputs.owner();
  const shape extent = inputs.extent();
  const dtype type = output_type(initial, options.type, inputs.type());
  const std::int64_t units = cell.output_size();
  const output steps = index(shape_of(inputs), {0});
  const operand_value batch = batch_of(inputs, 1);
  sequence_ends ends{.lengths = lengths, .least = {}, .most = steps, .no_outputs = zeros_of_batch(g, batch, units, type)};
  if (static_cast<bool>(lengths)) {
    ends.least = reduce_min(lengths, all_axes, keep_dims::no, "Min");
    ends.most = reduce_max(lengths, all_axes, keep_dims::no, "Max");
  }
  const output time = g.named().make_constant(g, std::int32_t{0}, "time");
  const std::string base = name_scope(g, "dynamic_rnn").text();
  const tensor_array made(type, steps, {.element_shape = shape_value({extent[1], units}), .tensor_array_name = base + "output_0"});
  const tensor_array given =
      tensor_array(inputs.type(), steps, {.element_shape = shape_value({extent[1], extent[2]}), .tensor_array_name = base + "input_0"})
          .unstack(inputs);
  const output most = maximum(std::int32_t{1}, ends.most);
  const output bound = minimum(steps, most);

  const auto body = [&](const std::vector<output>& v) {
    const rnn_state before(v.begin() + 2, v.end());
    const tensor_array written = made.with_flow(v[1]);
    const output x = given.read(v[0]);
    set_shape(x, {extent[1], extent[2]});
    output ended;
    if (static_cast<bool>(lengths)) ended = greater_equal(v[0], lengths);
    rnn_result next = cell(x, before);
    if (static_cast<bool>(ended)) next = as_step_result(where_not_ended(ended, ends.no_outputs, before, next), ends.no_outputs, before);
    const output flow = written.write(v[0], next.outputs).flow();
    std::vector<output> all{add(v[0], std::int32_t{1}, "add"), flow};
    all.insert(all.end(), next.state.begin(), next.state.end());
    return all;
  };
  std::vector<operand_value> variables{time, made.flow()};
  variables.insert(variables.end(), initial.begin(), initial.end());
  const std::vector<output> last =
      while_loop([&](const std::vector<output>& v) { return less(v[0], bound); }, body, variables,
                 {.parallel_iterations = options.parallel_iterations, .swap_memory = options.swap_memory, .maximum_iterations = steps});
  const output outputs = made.with_flow(last[1]).stack();
  if (extent[0] >= 0 && extent[1] >= 0)  // TensorFlow makes these nodes for the shape that it knows
    g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(extent[0]), static_cast<std::int32_t>(extent[1])},
                            "Const");
  g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(units)}, "Const");
  set_shape(outputs, {extent[0], extent[1], units});
  return {outputs, rnn_state(last.begin() + 2, last.end())};
}

// x with the order of each sequence reversed, up to its length.
LEAT_FUNCTION output reversed_sequences(const output& x, const std::optional<operand_value>& lengths, bool time_major) {
  const std::int64_t time = time_major ? 0 : 1;
  if (!lengths) return reverse(x, index_list{static_cast<std::int32_t>(time)});
  return call_operator(x.owner(), "ReverseSequence", {x, argument_of(*lengths)}, {{"seq_dim", time}, {"batch_dim", 1 - time}},
                       "ReverseSequence")
      .result();
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION rnn_result dynamic_rnn(const rnn_cell& cell, const output& inputs, const dynamic_rnn_options& options,
                                     const std::source_location& where) {
  detail::check_rnn_inputs(inputs);
  if (options.sequence_length) detail::check_lengths(*options.sequence_length);
  graph& g = inputs.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  if (!options.initial_state.empty()) cell.check_state(options.initial_state, inputs.type());
  std::optional<variable_scope> scope;
  detail::open_rnn_scope(scope, options.scope, "rnn");
  output x = g.named().value_of(inputs);
  if (!options.time_major) x = detail::with_time_and_batch_exchanged(x);
  output lengths;
  if (options.sequence_length) lengths = identity(cast(*options.sequence_length, dtype::int32), "sequence_length");
  const operand_value batch = detail::batch_of(x, 1);
  const rnn_state initial =
      options.initial_state.empty() ? cell.zero_state(batch, options.type.value_or(inputs.type()), where) : options.initial_state;
  if (static_cast<bool>(lengths)) lengths = detail::checked_lengths(g, lengths, batch);
  rnn_result made = detail::rnn_loop(cell, x, initial, lengths, options);
  if (!options.time_major) made.outputs = detail::with_time_and_batch_exchanged(made.outputs);
  return made;
}

LEAT_FUNCTION bidirectional_rnn_result bidirectional_dynamic_rnn(const rnn_cell& forward, const rnn_cell& backward, const output& inputs,
                                                                 const bidirectional_rnn_options& options,
                                                                 const std::source_location& where) {
  detail::check_rnn_inputs(inputs);
  if (options.sequence_length) detail::check_lengths(*options.sequence_length);
  graph& g = inputs.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const auto run = [&](const rnn_cell& cell, const output& x, const rnn_state& initial, const variable_scope& scope) {
    return dynamic_rnn(cell, x,
                       {.sequence_length = options.sequence_length,
                        .initial_state = initial,
                        .type = options.type,
                        .time_major = options.time_major,
                        .parallel_iterations = options.parallel_iterations,
                        .swap_memory = options.swap_memory,
                        .scope = scope.object()},
                       where);
  };
  bidirectional_rnn_result made;
  {
    std::optional<variable_scope> scope;
    detail::open_rnn_scope(scope, options.scope, "bidirectional_rnn");
    {
      const variable_scope names("fw");
      made.forward = run(forward, inputs, options.initial_state_fw, names);
    }
    const variable_scope names("bw");
    const output x = detail::reversed_sequences(g.named().value_of(inputs), options.sequence_length, options.time_major);
    made.backward = run(backward, x, options.initial_state_bw, names);
  }
  made.backward.outputs = detail::reversed_sequences(made.backward.outputs, options.sequence_length, options.time_major);
  return made;
}

LEAT_FUNCTION static_rnn_result static_rnn(const rnn_cell& cell, const std::vector<output>& inputs, const static_rnn_options& options,
                                           const std::source_location& where) {
  if (inputs.empty()) throw invalid_argument("inputs must not be empty");
  for (const output& x : inputs) {
    if (!static_cast<bool>(x)) throw invalid_argument("static_rnn: inputs that are no tensor: an empty output");
    if (!x.extent().has_rank() || x.extent().rank != 2 || x.extent()[1] < 0)
      throw invalid_argument("static_rnn: the inputs of a step are [batch, n], where n is known, and these are " + describe(x));
    if (!may_equal(x.extent()[0], inputs[0].extent()[0]))
      throw invalid_argument("static_rnn: the batch differs: " + describe(inputs[0]) + " and " + describe(x));
  }
  if (options.sequence_length) detail::check_lengths(*options.sequence_length);
  graph& g = inputs[0].owner();
  g.named().check_graph(g, inputs);
  const default_graph_scope here(g);
  const source_scope line(g, where);
  if (!options.initial_state.empty()) cell.check_state(options.initial_state, inputs[0].type());
  std::optional<variable_scope> scope;
  detail::open_rnn_scope(scope, options.scope, "rnn");
  const operand_value batch = detail::batch_of(g.named().value_of(inputs[0]), 0);
  static_rnn_result made{
      {}, options.initial_state.empty() ? cell.zero_state(batch, options.type.value_or(inputs[0].type()), where) : options.initial_state};
  detail::sequence_ends ends;
  if (options.sequence_length) {
    const output lengths = detail::as_tensor(g, *options.sequence_length, "sequence_length");
    ends.no_outputs = detail::zeros_of_batch(g, batch, cell.output_size(), made.state.empty() ? inputs[0].type() : made.state[0].type());
    if (batch.tensor() == nullptr) static_cast<void>(detail::batch_and_size(g, batch, cell.output_size()));
    else g.named().make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(cell.output_size())}, "Const");
    ends.lengths = cast(lengths, dtype::int32);
    ends.least = reduce_min(ends.lengths, all_axes, keep_dims::no, "Min");
    ends.most = reduce_max(ends.lengths, all_axes, keep_dims::no, "Max");
  }
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    if (k > 0) scope->reuse_variables();
    rnn_result next = options.sequence_length ? detail::unrolled_step(cell, inputs[k], made.state, static_cast<std::int32_t>(k), ends)
                                              : cell(inputs[k], made.state, where);
    made.outputs.push_back(next.outputs);
    made.state = std::move(next.state);
  }
  return made;
}

}  // namespace leat
