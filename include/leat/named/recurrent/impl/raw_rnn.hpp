#pragma once
// Implementation of raw_rnn.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/recurrent/impl/recurrent.hpp>
#include <leat/named/recurrent/raw_rnn.hpp>

namespace leat::detail {

// Fails unless the function says what the cell needs.
LEAT_FUNCTION void check_raw_step(const rnn_cell& cell, const raw_rnn_step& step) {
  const auto need = [](const output& o, const char* what) {
    if (!static_cast<bool>(o)) throw invalid_argument("raw_rnn: the function gives no `" + std::string(what) + "`");
  };
  need(step.finished, "finished");
  need(step.next_input, "next_input");
  if (step.finished.type() != dtype::boolean || !may_equal(step.finished.extent(), shape_value({unknown_dimension})))
    throw invalid_argument("raw_rnn: `finished` is bool [batch], and this is " + describe(step.finished));
  const shape& extent = step.next_input.extent();
  if (!extent.has_rank() || extent.rank < 1)
    throw invalid_argument("raw_rnn: `next_input` is [batch, n], and this is " + describe(step.next_input));
  for (const output& o : step.loop_state) need(o, "loop_state");
  cell.check_state(step.next_state, step.next_input.type());
}

// The elements of a network's outputs: their dtype, their shape without the batch, and zeros.
struct emitted {
  dtype type;
  shape extent;
  output zeros;
};
LEAT_FUNCTION output zeros_of_element(graph& g, const operand_value& batch, const shape& extent, output sizes, dtype type) {
  named_part& nodes = g.named();
  const output rows = batch.tensor() != nullptr
                          ? expand_dims(*batch.tensor(), 0)
                          : nodes.make_constant(g, std::vector<std::int32_t>{static_cast<std::int32_t>(known_batch(batch))}, "Const");
  if (!static_cast<bool>(sizes)) {
    std::vector<std::int32_t> known;
    for (int i = 0; i < extent.rank; ++i) known.push_back(static_cast<std::int32_t>(extent[i]));
    sizes = nodes.make_constant(g, tensor_literal(known), "Const");
  }
  const output all = concat({rows, sizes}, 0);
  const name_scope scope(g, "zeros");
  const output zero = nodes.make_constant(g, {type, {}, 0}, "Const");
  return call_operator(g, "Fill", {all, zero}, {}, scope.text()).result();
}

// What a step gives, but what it was before where the sequence has ended; scalars have no sequences.
LEAT_FUNCTION output unless_finished(const output& finished, const output& old, const output& fresh) {
  if (old.extent().rank == 0) return fresh;
  const colocate_with with{control_input(fresh)};
  return choose(finished, old, fresh);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION raw_rnn_result raw_rnn(const rnn_cell& cell, const raw_rnn_function& function, const raw_rnn_options& options,
                                     const std::source_location& where) {
  if (!function) throw invalid_argument("Argument `loop_fn` must be a callable.");
  graph& g = default_graph();
  const source_scope line(g, where);
  std::optional<variable_scope> scope;
  detail::open_rnn_scope(scope, options.scope, "rnn");
  const output time = g.named().make_constant(g, std::int32_t{0}, "Const");
  const raw_rnn_step first = function(time, {});
  detail::check_raw_step(cell, first);
  g.named().check_graph(g, std::vector<output>{first.finished, first.next_input});
  const std::vector<output> own =
      first.loop_state.empty() ? std::vector<output>{g.named().make_constant(g, std::int32_t{0}, "Const")} : first.loop_state;
  const operand_value batch = detail::batch_of(first.next_input, 0);
  const bool has_own_outputs = static_cast<bool>(first.emit);
  detail::emitted of{
      .type = first.next_state.empty() ? first.next_input.type() : first.next_state.front().type(), .extent = {}, .zeros = {}};
  output open_sizes;
  if (has_own_outputs) {
    of.type = first.emit.type();
    of.extent = first.emit.extent();
    if (!of.extent.is_static()) open_sizes = shape_of(first.emit);
  } else {
    of.extent.push(cell.output_size());
  }
  shape element = shape::unknown();
  if (of.extent.has_rank() && of.extent.rank < max_rank) {
    element = shape{};
    element.push(first.next_input.extent()[0]);
    for (int i = 0; i < of.extent.rank; ++i) element.push(of.extent[i]);
  }
  const tensor_array array(of.type, std::int32_t{0}, {.dynamic_size = true, .element_shape = shape_value(element), .name = "rnn_output_0"});
  of.zeros = detail::zeros_of_element(g, batch, of.extent, open_sizes, of.type);

  const std::size_t parts = first.next_state.size();
  const auto condition = [](const std::vector<output>& v) { return logical_not(reduce_all(v[1], all_axes, keep_dims::no, "All")); };
  const auto body = [&](const std::vector<output>& v) {
    const auto states = v.begin() + 4;
    const rnn_state before(states, states + static_cast<std::ptrdiff_t>(parts));
    const std::vector<output> mine(states + static_cast<std::ptrdiff_t>(parts), v.end());
    const rnn_result made = cell(v[2], before);
    const output next_time = add(v[0], std::int32_t{1}, "add");
    raw_rnn_step next = function(
        next_time, {.outputs = made.outputs, .state = made.state, .loop_state = first.loop_state.empty() ? std::vector<output>{} : mine});
    detail::check_raw_step(cell, next);
    if (!static_cast<bool>(next.emit)) throw invalid_argument("raw_rnn: the function gives no `emit` in the loop");
    if (next.loop_state.empty()) next.loop_state = mine;
    if (next.loop_state.size() != mine.size())
      throw invalid_argument("raw_rnn: the function gives " + std::to_string(next.loop_state.size()) +
                             " tensors as `loop_state`, and at first gave " + std::to_string(first.loop_state.size()));
    if (next.emit.type() != of.type)
      throw invalid_argument("raw_rnn: `emit` is " + std::string(name_of_dtype(of.type)) + ", and this is " + describe(next.emit));
    const output emit = detail::unless_finished(v[1], of.zeros, next.emit);
    std::vector<output> state;
    for (std::size_t k = 0; k < parts; ++k) state.push_back(detail::unless_finished(v[1], before[k], next.next_state[k]));
    const output flow = array.with_flow(v[3]).write(v[0], emit).flow();
    std::vector<output> all{next_time, logical_or(v[1], next.finished), next.next_input, flow};
    all.insert(all.end(), state.begin(), state.end());
    all.insert(all.end(), next.loop_state.begin(), next.loop_state.end());
    return all;
  };
  std::vector<operand_value> variables{time, first.finished, first.next_input, array.flow()};
  variables.insert(variables.end(), first.next_state.begin(), first.next_state.end());
  variables.insert(variables.end(), own.begin(), own.end());
  const std::vector<output> last =
      while_loop(condition, body, variables, {.parallel_iterations = options.parallel_iterations, .swap_memory = options.swap_memory});
  const auto states = last.begin() + 4;
  const auto mine = states + static_cast<std::ptrdiff_t>(parts);
  return {array.with_flow(last[3]), rnn_state(states, mine),
          first.loop_state.empty() ? std::vector<output>{} : std::vector<output>(mine, last.end())};
}

}  // namespace leat
