#pragma once
// Implementation of control_flow.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/control_flow.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/proto/operator_names.hpp>

namespace leat::detail {

LEAT_FUNCTION graph_operation switch_where(const output& data, const output& predicate, std::string_view name) {
  named_part& nodes = data.owner().named();
  std::vector<int> outer{data.index()};
  outer.swap(nodes.colocations);
  const struct back {
    named_part& nodes;
    std::vector<int>& outer;
    ~back() { nodes.colocations.swap(outer); }
  } restore{nodes, outer};
  const bool is_reference = is_reference_result(*data.owner().at(data.index()).op, data.port());
  return call_operator(data.owner(), is_reference ? "RefSwitch" : "Switch", {data, predicate}, {}, name);
}

LEAT_FUNCTION bool is_loop_constant(graph& g, int index) {
  if (!is_enter(g.at(index).op->type)) return false;
  const auto* a = nodes_of(g).record(index).attributes.find("is_constant");
  const auto* value = a != nullptr ? a->get_if<bool>() : nullptr;
  return value != nullptr && *value;
}

LEAT_FUNCTION output cond_context::bring_in(const output& o)  {
  if (known_.contains(key(o))) {
    const auto at = brought_in_.find(key(o));
    return at == brought_in_.end() ? o : at->second;
  }
  know(o);
  const output from = bring_into_outer(o);
  output made;
  {
    const outside_contexts free(*nodes_);
    made = switch_where(from, predicate_).result(branch_);
  }
  nodes_->record(made.index()).fetchable = false;
  nodes_->record(made.index()).context = this;
  for (flow_context* c = this; c != nullptr; c = c->outer()) c->know(made);
  brought_in_[key(o)] = made;
  return made;
}

LEAT_FUNCTION output cond_context::result(const output& o) {
  if (known_.contains(key(o))) {
    const auto at = brought_in_.find(key(o));
    return at == brought_in_.end() ? o : at->second;
  }
  know(o);
  const output made = switch_where(bring_into_outer(o), predicate_).result(branch_);
  brought_in_[key(o)] = made;
  return made;
}

LEAT_FUNCTION void cond_context::admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls)  {
  if (inputs.empty()) {
    take_external(controls);
    bool waits_inside = false;
    for (int c : controls)
      for (flow_context* its = context_of(*g_, c); its != nullptr; its = its->outer()) waits_inside = waits_inside || its == this;
    if (!waits_inside) controls.push_back(pivot_.index());
    return;
  }
  for (std::size_t k = 0; k < inputs.size(); ++k)
    if (k >= 64 || (request.open_inputs >> k & 1) == 0) inputs[k] = bring_in(inputs[k]);
  take_external(controls);
}

LEAT_FUNCTION void cond_context::note(int index)  {
  node_record& r = nodes_->record(index);
  for (int port = 0; port < r.results; ++port)
    for (flow_context* c = this; c != nullptr; c = c->outer()) c->know({*g_, index, port});
  if (outer_ != nullptr || !is_exit(g_->at(index).op->type)) r.fetchable = r.feedable = false;
}

LEAT_FUNCTION output while_context::enter(const output& o, bool is_constant, std::string_view enter_name) {
  const bool is_reference = is_reference_result(*g_->at(o.index()).op, o.port());
  const output made =
      call_operator(*g_, is_reference ? "RefEnter" : "Enter", {o},
                    {{"frame_name", name_}, {"is_constant", is_constant}, {"parallel_iterations", settings.parallel_iterations}},
                    enter_name)
          .result();
  nodes_->record(made.index()).feedable = false;
  return made;
}

LEAT_FUNCTION void while_context::adopt(const output& enter) {
  const output from = nodes_->input(*g_, enter.index(), 0);
  for (int c : nodes_->waits_for(std::span(&from, 1))) {
    flow_context* const its = result_context(*g_, c);
    while_context* const outer_loop = outer_ == nullptr ? nullptr : outer_->loop();
    flow_context* around = outer_;
    bool keeps = true;
    while (around != its && keeps) {
      keeps = around != nullptr && around != outer_loop;
      if (keeps) around = around->outer();
    }
    if (keeps) nodes_->add_control(*g_, enter.index(), c);
  }
  nodes_->record(enter.index()).context = this;
  nodes_->note_waiting(enter.index());
}

LEAT_FUNCTION output while_context::bring_in(const output& o)  {
  if (known_.contains(key(o)) || nodes_->record(o.index()).context == this) {
    const auto at = brought_in_.find(key(o));
    return at == brought_in_.end() ? o : at->second;
  }
  know(o);
  auto* const current = static_cast<flow_context*>(nodes_->context);
  while_context* const backward = current == nullptr ? nullptr : current->loop();
  if (backward != nullptr && backward->gradient) {
    flow_context* const its = result_context(*g_, o.index());
    if (its != nullptr && its->loop() == backward->gradient->forward()) {
      const output kept = backward->gradient->kept_value(o);
      brought_in_[key(o)] = kept;
      return kept;
    }
  }
  const output from = outer_ == nullptr ? o : outer_->bring_in(o);
  output made;
  {
    const outside_contexts free(*nodes_);
    made = enter(from, true);
  }
  adopt(made);
  know(made);
  brought_in_[key(o)] = made;
  return made;
}

LEAT_FUNCTION control_flow_context* while_context::home_of(const node_request& request)  {
  if (gradient == nullptr || request.inputs.empty()) return this;
  const std::string_view type = request.op->type;
  if (type != "Shape" && type != "Size" && type != "Rank") return this;
  flow_context* const its = context_of(*g_, request.inputs[0].index());
  if (its == nullptr || its->loop() != gradient->forward()) return this;
  return result_context(*g_, request.inputs[0].index()) == its ? its : this;
}

LEAT_FUNCTION void while_context::admit(const node_request& request, std::vector<output>& inputs, std::vector<int>& controls)  {
  std::vector<int> external;
  if (inputs.empty()) {
    external = take_external(controls);
    if (controls.empty()) controls.push_back(control_pivot().index());
  } else {
    bool is_free = true;  // depends on no iteration, and so would run without one
    for (std::size_t k = 0; k < inputs.size(); ++k) {
      if (k < 64 && (request.open_inputs >> k & 1) != 0) {
        is_free = false;
        continue;
      }
      inputs[k] = bring_in(inputs[k]);
      is_free = is_free && is_loop_constant(*g_, inputs[k].index());
    }
    external = take_external(controls);
    if (is_free && controls.empty()) controls.push_back(control_pivot().index());
  }
  // External control inputs are brought in as values.
  for (int c : external) {
    if (nodes_->record(c).results == 0) continue;
    const outside_contexts free(*nodes_);
    const inside_context here(*nodes_, this);
    const output first[]{output(*g_, c)};
    controls.push_back(nodes_->build(*g_, info_of_identity(), first, {}, "Identity").index());
  }
}

LEAT_FUNCTION void while_context::note(int index)  {
  node_record& r = nodes_->record(index);
  for (int port = 0; port < r.results; ++port) know({*g_, index, port});
  if (outer_ != nullptr || !is_exit(g_->at(index).op->type)) r.fetchable = r.feedable = false;
}

LEAT_FUNCTION bool is_loop_switch(graph& g, int index) {
  if (!is_switch(g.at(index).op->type)) return false;
  flow_context* const its = context_of(g, index);
  if (its == nullptr || its->branch() != nullptr) return false;
  const output by = g.named().input(g, index, 1);
  return static_cast<bool>(its->loop()->pivot) && by.index() == its->loop()->pivot.index();
}

}  // namespace leat::detail
