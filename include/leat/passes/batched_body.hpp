#pragma once
// The body of a loop as that of one loop for many models (`vmap`). Inputs that differ between models, and all that depends on them, have an
// axis of models; the rest stays one for all, such as a counter. If models take different numbers of steps, the loop runs as long as any of
// them does, and a state stays as it is from the last step of its model on. Source: JAX's rules for `scan` and `while_loop`.

#include <leat/core/list.hpp>
#include <leat/ops/comparison.hpp>
#include <leat/ops/reduction.hpp>
#include <leat/passes/batching.hpp>
#include <leat/passes/loop_body.hpp>

namespace leat::passes {

/// How a loop becomes one of many models; its numbers are attributes of the loop.
struct batching_of_body {
  std::int64_t models;                  // their number
  std::int64_t states, xs, invariants;  // the inputs that differ between models; of states at least these
  std::int64_t how;                     // a sum of `batching_way`
};
enum batching_way : std::int64_t {
  limit_differs = 1,  // each model has a number of steps of its own
  models_last = 2,    // models are along the last axis of arrays in the loop, not along the first
  at_most_once = 4    // the loop has one step or none
};

/// The body for many models. After the states of one model it has, if models end by themselves, whether each goes on and how many steps it
/// has made; if each has a number of steps, the number of the step, and the numbers of steps as the last invariant.
struct batched_body {
  loop_body body;
  std::int64_t states = 0, outs = 0, kept = 0;  // which differ between models; kept products have the models first
  bool ends_apart = false;            // whether models take different numbers of steps
  message problem;
};

class body_batcher {
 public:
  constexpr body_batcher(const loop_body& b, const batching_of_body& by) : b_(b), by_(by), states_(by.states) {
    if (has(limit_differs)) part();
  }
  constexpr batched_body run() {
    batched_body made;
    while (!writes(made)) made = {};
    return made;
  }

 private:
  static constexpr std::int64_t most_repeated = 16;  // elements of an input that models share, which are repeated for each

  constexpr bool has(batching_way way) const { return (by_.how & way) != 0; }
  constexpr int axis(int rank) const { return has(models_last) ? rank : 0; }
  constexpr shape with_models(const shape& one) const {
    shape all;
    for (int a = 0; a <= one.rank; ++a) {
      if (a == axis(one.rank)) all.push(by_.models);
      if (a < one.rank) all.push(one[a]);
    }
    return all;
  }
  // From now on models end apart: then all states differ.
  constexpr void part() {
    apart_ = true;
    for (std::size_t k = 0; k < b_.states.size(); ++k) states_ |= std::int64_t{1} << k;
  }
  constexpr void add(loop_body& to, list<int>& list_of, loop_role role, const tensor_info& info) const {
    list_of.push_back(add_loop_input(to.g, role, list_of.size(), info));
  }

  constexpr void enter(const list<int>& from, loop_body& to, list<int>& list_of, loop_role role, std::int64_t differ) const {
    for (std::size_t k = 0; k < from.size(); ++k) {
      tensor_info info = b_.g.at(from[k]).result;
      if (in_set(differ, k)) info.extent = with_models(info.extent);
      add(to, list_of, role, info);
    }
  }
  // Gives the step its inputs. Where models end apart, gradients flow through inputs of those alone that make the step: a function that has
  // none where another model has ended would make NaN of the zero that it is given.
  constexpr void give(const list<int>& from, const list<int>& to, std::int64_t differ, const output& goes, batcher& all) const {
    for (std::size_t k = 0; k < from.size(); ++k) {
      const tensor_info& info = b_.g.at(from[k]).result;
      output x(all.to(), to[k]);
      const bool is_small = info.extent.is_static() && info.extent.elements() <= most_repeated;
      const bool is_guarded = apart_ && is_floating(info.type) && (in_set(differ, k) || is_small);
      if (is_guarded) {
        if (!in_set(differ, k)) x = broadcast_to(x, with_models(info.extent));
        x = chosen(goes, x, make_node<stop_gradient_op>({}, x));
      }
      if (is_guarded || in_set(differ, k)) all.put(from[k], x, axis(info.extent.rank));
      else all.put_shared(from[k], x);
    }
  }

  // Writes the body; false if more of it differs than was known.
  constexpr bool writes(batched_body& made) {
    loop_body& to = made.body;
    graph& g = to.g;
    g.note_models(by_.models);
    batcher all(b_.g, g, by_.models);
    for (const list<int>* each : {&b_.states, &b_.outs})
      for (const int i : *each)
        if (b_.g.at(i).result.extent.rank + 2 > max_rank) {
          made.problem << "vmap: a loop whose states or results have more than " << max_rank - 2 << " dimensions";
          return true;
        }
    enter(b_.states, to, to.states, loop_role::state, states_);
    enter(b_.xs, to, to.xs, loop_role::sequence, by_.xs);
    enter(b_.invariants, to, to.invariants, loop_role::invariant, by_.invariants);
    const output goes = apart_ ? going(to) : output{};
    give(b_.states, to.states, states_, goes, all);
    give(b_.xs, to.xs, by_.xs, goes, all);
    give(b_.invariants, to.invariants, by_.invariants, goes, all);
    const bool knew = !finds_more(all);
    made.problem = all.problem();
    if (made.problem.size > 0) return true;
    if (!knew) return false;
    made.states = states_;
    made.ends_apart = apart_;
    to.is_reversed = b_.is_reversed;
    to.is_limited = b_.is_limited;
    to.adds = b_.adds;
    for (std::size_t k = 0; k < b_.states.size(); ++k) {
      const output state(g, to.states[k]);
      if (b_.next[k] == b_.states[k] && b_.adds[k] == 0) {
        to.next.push_back(state.index());
        continue;
      }
      output next = in_set(states_, k) ? all.all(b_.next[k], axis(b_.state(k).extent.rank)) : all.shared(b_.next[k]);
      if (apart_) next = chosen(goes, next, b_.adds[k] != 0 ? constant_like(next, 0) : state);
      to.next.push_back(next.index());
    }
    for (std::size_t k = 0; k < b_.outs.size(); ++k) {
      const bool differs = apart_ || all.differs(b_.outs[k]);
      output out = differs ? all.all(b_.outs[k], axis(b_.out(k).extent.rank)) : all.shared(b_.outs[k]);
      if (apart_) out = chosen(goes, out, constant_like(out, 0));
      if (differs) made.outs |= std::int64_t{1} << k;
      to.outs.push_back(out.index());
    }
    for (std::size_t k = 0; k < b_.kept.size(); ++k) {
      if (all.differs(b_.kept[k])) made.kept |= std::int64_t{1} << k;
      to.kept.push_back(all.shared(b_.kept[k]).index());
    }
    if (apart_) end(to, goes, all);
    else if (b_.go >= 0) {
      to.go = all.shared(b_.go).index();
      to.holds = all.shared(b_.holds).index();
    }
    made.problem = all.problem();
    return true;
  }
  // Adds the states that differ because their next values do, and whether models end apart; whether there are any.
  constexpr bool finds_more(batcher& all) {
    const std::int64_t known = states_;
    const bool were_apart = apart_;
    for (std::size_t k = 0; k < b_.states.size(); ++k)
      if (all.differs(b_.next[k])) states_ |= std::int64_t{1} << k;
    if (b_.go >= 0 && !apart_ && (all.differs(b_.go) || all.differs(b_.holds))) part();
    return states_ != known || apart_ != were_apart;
  }

  // ---- models that end apart -------------------------------------------------------------------------------------------------

  constexpr shape line() const {
    shape all;
    all.push(by_.models);
    return all;
  }
  // Whether each model makes this step.
  constexpr output going(loop_body& to) const {
    graph& g = to.g;
    if (b_.go >= 0) {
      add(to, to.states, loop_role::state, {dtype::boolean, line()});
      const output goes(g, to.states.back());
      add(to, to.states, loop_role::state, {dtype::int64, line()});
      return goes;
    }
    add(to, to.invariants, loop_role::invariant, {dtype::int64, line()});
    const output limits(g, to.invariants.back());
    if (has(at_most_once)) return less(constant_like(limits, 0), limits);
    add(to, to.states, loop_role::state, {dtype::int64, {}});
    return less(output(g, to.states.back()), limits);
  }
  // What follows the states of models: see `batched_body`.
  constexpr void end(loop_body& to, const output& goes, batcher& all) const {
    graph& g = to.g;
    if (b_.go >= 0) {
      const output still = logical_and(goes, all.all(b_.go, 0));
      const output steps = output(g, to.states.back()) + cast_to(goes, dtype::int64);
      to.next.push_back(still.index());
      to.next.push_back(steps.index());
      const std::int64_t whole[]{0, 0};
      to.go = make_node<any_op>(whole, still).index();
      to.holds = make_node<any_op>(whole, goes).index();
    } else if (!has(at_most_once)) {
      const output step(g, to.states.back());
      to.next.push_back((step + constant_like(step, b_.is_reversed ? -1 : 1)).index());
    }
    to.adds.resize(to.states.size(), 0);
  }
  // x for models that make the step, y for the others.
  constexpr output chosen(const output& goes, const output& x, const output& y) const {
    shape wide = line();
    if (!has(models_last))
      for (int a = 1; a < x.extent().rank; ++a) wide.push(1);
    return select(reshape_to(goes, wide), x, y);
  }

  const loop_body& b_;
  batching_of_body by_;
  std::int64_t states_;  // that differ
  bool apart_ = false;
};

constexpr batched_body batched_of(const loop_body& b, const batching_of_body& by) { return body_batcher(b, by).run(); }

}  // namespace leat::passes
