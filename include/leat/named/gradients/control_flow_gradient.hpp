#pragma once
// The gradient functions of control flow operators; loop_gradient.hpp has the loops that they build.

#include <leat/core/fill.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/gradients/loop_gradient.hpp>

namespace leat::detail {

// A gradient as rows; a dense gradient becomes all of its rows. The indices are computed from the gradient, so that they are dead if it is.
inline gradient_value as_rows(const gradient_value& v) {
  if (v.is_sparse()) return v;
  graph& g = v.values.owner();
  const output extent = shape_at_run_time(v.values);
  const output count = index(extent, {0});
  const name_scope scope(g, "range");
  const output start = g.named().make_constant(g, std::int32_t{0}, "start");
  const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
  const shape rows = vector_of(v.values.extent().rank > 0 ? v.values.extent()[0] : unknown_dimension);
  const output all =
      g.named().raw(g, "Range", std::array{start, count, delta}, {{"Tidx", dtype::int32}}, {{dtype::int32, rows}}, scope.text()).result();
  return {v.values, all, extent};
}
// The gradient of a branch's operand, of which one side is live. It is sparse if one of the sides is, but not in a loop: loops sum dense
// tensors, and indices that are the same in all iterations would be used even if the branch is not taken.
inline gradient_value merged_sides(const gradient_call& c) {
  graph& g = c.owner();
  if (current_loop_gradient(g.named()) != nullptr || (!c.slices(0).is_sparse() && !c.slices(1).is_sparse()))
    return call_operator(g, "Merge", {c.dy(0), c.dy(1)}, {}, "cond_grad").result();
  const output extent = shape_of(c.input(0));
  const name_scope scope(g, "cond_grad");
  const std::array sides{as_rows(c.slices(0)), as_rows(c.slices(1))};
  std::array indices{sides[0].indices, sides[1].indices};
  if (indices[0].type() != indices[1].type())
    for (output& i : indices) i = cast(i, dtype::int64);
  const output rows = call_operator(g, "Merge", {sides[0].values, sides[1].values}, {}, scope.text()).result();
  return {rows, call_operator(g, "Merge", {indices[0], indices[1]}, {}, "indices").result(), extent};
}

inline gradient_list switch_gradient(const gradient_call& c) {
  graph& g = c.owner();
  const int index = c.operation().index();
  flow_context* const its = context_of(g, index);
  if (is_loop_switch(g, index)) {
    named_loop_gradient* const state = current_loop_gradient(g.named());
    if (state == nullptr || state->forward() != its->loop())
      refuse_gradient(g, index, "a gradient in a loop for the first value of the loop's variable, or what that is computed from");
    // Visited twice: for the value that leaves the loop, and for the one that stays in it.
    const auto known = state->merge_of_switch.find(index);
    if (known != state->merge_of_switch.end()) {
      if (static_cast<bool>(c.slices(1))) next_iteration(known->second, c.dy(1));
      return {};
    }
    if (!static_cast<bool>(c.slices(0))) return {};
    const output merged = merge_of(c.dy(0), "b_switch");
    state->merge_of_switch[index] = merged;
    return {merged};
  }
  if (its != nullptr && its->branch() != nullptr) {
    if (!static_cast<bool>(c.slices(0)) || !static_cast<bool>(c.slices(1))) return {};
    return {merged_sides(c)};
  }
  if (!static_cast<bool>(c.slices(0)) || !static_cast<bool>(c.slices(1))) return {};
  const output by = c.input(1);
  const output on_false = call_operator(g, "Switch", {c.dy(0), by}).result(0);
  const output on_true = call_operator(g, "Switch", {c.dy(1), by}).result(1);
  return {call_operator(g, "Merge", {on_false, on_true}).result()};
}

inline gradient_list merge_gradient(const gradient_call& c) {
  graph& g = c.owner();
  if (!static_cast<bool>(c.slices(0))) return {};
  flow_context* const its = result_context(g, c.input(0).index());
  named_loop_gradient* const state = current_loop_gradient(g.named());
  if (its != nullptr && its->branch() == nullptr) {
    if (state == nullptr) refuse_gradient(g, c.operation().index(), "a loop that this gradient does not run back through");
    const graph_operation sides = switch_where(c.dy(), state->backward().pivot);
    return {sides.result(0), sides.result(1)};
  }
  if (its != nullptr) {
    output predicate = its->branch()->predicate();
    if (state != nullptr) predicate = state->kept_predicate(predicate);
    const graph_operation sides = switch_where(c.dy(), predicate, "cond_grad");
    return {sides.result(0), sides.result(1)};
  }
  std::vector<output> taken;
  for (int k = 0; k < c.input_count(); ++k) taken.push_back(equal(c.result(1), k));
  gradient_list parts;
  for (const output& t : taken) parts.emplace_back(switch_where(c.dy(), t).result(1));
  return parts;
}

inline gradient_list exit_gradient(const gradient_call& c) {
  graph& g = c.owner();
  named_loop_gradient* const state = current_loop_gradient(g.named());
  flow_context* const its = context_of(g, c.operation().index());
  if (state == nullptr || its == nullptr)
    refuse_gradient(g, c.operation().index(), "a loop that was read from a file: it does not say what is in it");
  while_context& loop = state->backward();
  if (!loop.settings.back_prop) return {};
  if (its->loop()->gradient) refuse_gradient(g, c.operation().index(), no_second_order);
  const output dy = c.dy();
  loop.know(dy);
  loop.push();
  const output entered = loop.enter(dy, false, "b_exit");
  loop.enters.push_back(entered);
  loop.pop();
  return {entered};
}

inline gradient_list enter_gradient(const gradient_call& c) {
  graph& g = c.owner();
  auto* const current = static_cast<flow_context*>(g.named().context);
  while_context* const loop = current == nullptr ? nullptr : current->loop();
  named_loop_gradient* const state = current_loop_gradient(g.named());
  if (loop == nullptr || !loop->settings.back_prop || state == nullptr) return {c.slices(0)};
  if (c.flag("is_constant")) return {state->summed_up(c.operation(), c.dy())};
  const output left = call_operator(g, "Exit", {c.dy()}).result();
  loop->exits.push_back(left);
  loop->hand_out(std::array{left});
  return {left};
}

LEAT_FILL(fill_control_flow_gradients) {
  enter_gradients({
    {"Switch", switch_gradient},
    {"RefSwitch", switch_gradient},
    {"Merge", merge_gradient},
    {"RefMerge", merge_gradient},
    {"Exit", exit_gradient},
    {"RefExit", exit_gradient},
    {"Enter", enter_gradient},
    {"RefEnter", enter_gradient},
    {"NextIteration", [](const gradient_call& c) { return gradient_list{c.slices(0)}; }},
    {"RefNextIteration", [](const gradient_call& c) { return gradient_list{c.slices(0)}; }},
});
}

}  // namespace leat::detail
