#pragma once
// Runs graphs with branches and loops in the plainest way, for tests: a node's results are asked for by node and iteration, and are
// dead where a branch is not taken. Stacks and variables are kept, and control inputs are done first, so that a wrong order shows.
// What an operator computes is said in evaluate.hpp.

#include "support/evaluate.hpp"

#include <set>

namespace leat_test {

/// Which iteration of which loops within each other.
using iteration = std::vector<std::pair<std::string, int>>;

class flow_run {
 public:
  explicit flow_run(std::map<std::string, array> given = {}, std::map<std::string, array> kept = {})
      : variables(std::move(kept)), given_(std::move(given)), kernels_({}) {}

  std::map<std::string, array> variables;
  int steps = 0;

  array operator()(const leat::output& o) {
    const value v = results(o.operation(), {})[static_cast<std::size_t>(o.port())];
    if (!v.alive) throw std::runtime_error(o.name() + " is dead");
    return read(v);
  }
  bool is_dead(const leat::output& o) { return !results(o.operation(), {})[static_cast<std::size_t>(o.port())].alive; }
  void operator()(const leat::graph_operation& o) { results(o, {}); }

 private:
  struct value {
    bool alive = true;
    array a{};
    std::string variable{};
  };
  using values = std::vector<value>;

  array read(const value& v) const {
    if (v.variable.empty()) return v.a;
    const auto at = variables.find(v.variable);
    if (at == variables.end()) throw std::runtime_error("Attempting to use uninitialized value " + v.variable);
    return at->second;
  }
  static std::string text(const leat::graph_operation& op, std::string_view name) { return *op.attribute(name).get_if<std::string>(); }
  values dead(const leat::graph_operation& op) const { return values(std::max<std::size_t>(1, op.outputs().size()), value{false, {}, {}}); }

  const values& results(const leat::graph_operation& op, const iteration& at) {
    const auto key = std::pair(op.index(), at);
    const auto known = known_.find(key);
    if (known != known_.end()) return known->second;
    if (!open_.insert(key).second) throw std::runtime_error("a cycle at " + op.name());
    values made = compute(op, at);
    open_.erase(key);
    return known_[key] = std::move(made);
  }
  value input(const leat::graph_operation& op, int k, const iteration& at) {
    const leat::output in = op.inputs()[static_cast<std::size_t>(k)];
    return results(in.operation(), at)[static_cast<std::size_t>(in.port())];
  }

  values compute(const leat::graph_operation& op, const iteration& at) {
    if (++steps > 100000) throw std::runtime_error("a loop without end");
    const std::string type(op.type());
    if (const auto fed = given_.find(op.name()); fed != given_.end()) return {value{true, fed->second, {}}};
    bool alive = true;
    if (type == "Enter" || type == "RefEnter") {
      if (at.empty() || at.back().first != text(op, "frame_name")) throw std::runtime_error(op.name() + " is used outside of its loop");
      const iteration outside(at.begin(), at.end() - 1);
      for (const auto& c : op.control_inputs()) alive = results(c, outside)[0].alive && alive;
      if (!alive || (at.back().second > 0 && !*op.attribute("is_constant").get_if<bool>())) return dead(op);
      return {input(op, 0, outside)};
    }
    if (type == "Exit" || type == "RefExit") return leave(op, at);
    if (type == "NextIteration" || type == "RefNextIteration") {
      iteration before = at;
      if (before.empty()) throw std::runtime_error(op.name() + " is used outside of its loop");
      if (before.back().second-- == 0) return dead(op);
      for (const auto& c : op.control_inputs()) alive = results(c, before)[0].alive && alive;
      const value v = input(op, 0, before);
      return alive ? values{v} : dead(op);
    }
    for (const auto& c : op.control_inputs()) alive = results(c, at)[0].alive && alive;
    if (type == "ControlTrigger") return {value{}};
    if (type == "Merge" || type == "RefMerge") {
      for (int k = 0; k < static_cast<int>(op.inputs().size()); ++k)
        if (const value v = input(op, k, at); v.alive) return {v, value{true, array{{}, {static_cast<double>(k)}}, {}}};
      return dead(op);
    }
    values in;
    for (int k = 0; k < static_cast<int>(op.inputs().size()); ++k) {
      in.push_back(input(op, k, at));
      alive = alive && in.back().alive;
    }
    if (!alive) return dead(op);
    return run(op, type, in);
  }
  // The result of the first iteration in which the loop ends; dead, if it did not begin.
  values leave(const leat::graph_operation& op, const iteration& at) {
    const leat::graph_operation by = op.inputs()[0].operation();
    const leat::graph_operation merge = by.inputs()[0].operation();
    const std::string frame = text(merge.inputs()[0].operation(), "frame_name");
    iteration inside = at;
    for (inside.emplace_back(frame, 0);; ++inside.back().second) {
      const value v = input(op, 0, inside);
      if (v.alive) return {v};
      if (!input(by, 1, inside).alive) return dead(op);
    }
  }

  values run(const leat::graph_operation& op, const std::string& type, const values& in) {
    if (type == "VariableV2") return {value{true, {}, op.name()}};
    if (type == "IsVariableInitialized") return {value{true, array{{}, {variables.contains(in[0].variable) ? 1.0 : 0.0}}, {}}};
    if (type == "Switch" || type == "RefSwitch") {
      const bool holds = read(in[1]).at[0] != 0;
      values both{in[0], in[0]};
      both[holds ? 0 : 1] = value{false, {}, {}};
      return both;
    }
    if (type == "RefIdentity" || type == "LoopCond") return {in[0]};
    if (type == "NoOp" || type == "Assert") {
      if (type == "Assert" && read(in[0]).at[0] == 0) throw std::runtime_error("assertion failed: " + op.name());
      return {value{}};
    }
    if (type.starts_with("Assign")) {
      array next = read(in[1]);
      if (type != "Assign") {
        const array before = read(in[0]);
        for (std::size_t i = 0; i < next.at.size(); ++i) next.at[i] = before.at[i] + (type == "AssignAdd" ? next.at[i] : -next.at[i]);
      }
      variables[in[0].variable] = next;
      return {in[0]};
    }
    if (type == "StackV2") {
      stacks_.emplace_back();
      return {value{true, array{{}, {static_cast<double>(stacks_.size() - 1)}}, {}}};
    }
    if (type == "StackPushV2") {
      stacks_[static_cast<std::size_t>(in[0].a.at[0])].push_back(read(in[1]));
      return {in[1]};
    }
    if (type == "StackPopV2") {
      auto& stack = stacks_[static_cast<std::size_t>(in[0].a.at[0])];
      if (stack.empty()) throw std::runtime_error(op.name() + ": the stack is empty");
      const array top = stack.back();
      stack.pop_back();
      return {value{true, top, {}}};
    }
    if (type == "Const") return {value{true, constant_of(*op.attribute("value").get_if<leat::tensor_proto>()), {}}};
    std::vector<array> x;
    for (const value& v : in) x.push_back(read(v));
    values made;
    for (array& a : kernels_.apply(op, x)) made.push_back(value{true, std::move(a), {}});
    return made;
  }

  std::map<std::string, array> given_;
  evaluator kernels_;
  std::vector<std::vector<array>> stacks_;
  std::map<std::pair<int, iteration>, values> known_;
  std::set<std::pair<int, iteration>> open_;
};

inline array scalar_of(double v) { return {{}, {v}}; }

}  // namespace leat_test
