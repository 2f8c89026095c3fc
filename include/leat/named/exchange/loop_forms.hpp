#pragma once
// The loops among the rows of typed expressions, as they are written to a graph with names: which of them are branches, which two branches
// are the sides of one choice, and which rows nothing needs that is written.

#include <leat/ops/comparison.hpp>
#include <leat/passes/loops.hpp>

#include <map>
#include <span>
#include <vector>

namespace leat::detail {

/// How a loop among rows is written.
struct loop_form {
  passes::loop_body body;
  bool is_branch = false;   // one step or none, which neither reads nor gives sequences
  int predicate = -1;       // of a branch: the row of bool that says whether it is taken, if there is one
  bool is_negated = false;  // whether it is taken where that does not hold
  int otherwise = -1;       // of a branch: the row of the one that is taken where this is not

  int inputs() const { return static_cast<int>(body.states.size() + body.xs.size() + body.invariants.size()); }
  /// Whether the steps go on as long as a condition of the states holds. The number of steps is then no input.
  bool has_condition() const { return body.holds >= 0; }
};
/// Whether the rows have derivatives that graphs with names do not make of loops: derivatives along directions, and those of derivatives.
inline bool derives_loops_twice(const graph& g) {
  struct history {
    bool has_loop = false, is_derived = false;
  };
  std::vector<history> before(static_cast<std::size_t>(g.size()));
  for (int i = 0; i < g.size(); ++i) {
    const node& n = g.at(i);
    history& its = before[static_cast<std::size_t>(i)];
    its.has_loop = n.op->body != nullptr;
    for (int k = 0; k < n.input_count; ++k) {
      const history& from = before[static_cast<std::size_t>(g.input(n, k))];
      its.has_loop = its.has_loop || from.has_loop;
      its.is_derived = its.is_derived || from.is_derived;
    }
    if (!is_operator<deferred_gradient_op>(*n.op)) continue;
    const bool is_tangent = g.attribute(n, 2) == static_cast<std::int64_t>(passes::derivative_kind::tangent);
    if (its.has_loop && (its.is_derived || is_tangent)) return true;
    its.is_derived = true;
  }
  return false;
}

class loop_forms {
 public:
  explicit loop_forms(const graph& from) : from_(from) {
    for (int i = 0; i < from.size(); ++i)
      if (from.at(i).op->body != nullptr) forms.emplace(i, form_of(from.at(i)));
    for (auto& [row, form] : forms) form.otherwise = branch_before(row, form);
  }
  std::map<int, loop_form> forms;  // by row

  /// Which rows these need.
  std::vector<char> needed(std::span<const int> targets) const {
    std::vector<char> live(static_cast<std::size_t>(from_.size()), 0);
    for (const int t : targets) live[static_cast<std::size_t>(t)] = 1;
    for (int i = from_.size(); i-- > 0;)
      if (live[static_cast<std::size_t>(i)] != 0)
        for (const int k : inputs_of(i)) live[static_cast<std::size_t>(k)] = 1;
    return live;
  }

 private:
  loop_form form_of(const node& n) const {
    loop_form made;
    const std::span numbers(from_.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    made.body = n.op->body(numbers.subspan(passes::loop_recipe));
    made.is_branch = made.body.is_limited && made.body.go < 0 && numbers[passes::loop_length] == 1 && made.body.xs.empty() &&
                     made.body.outs.empty() && numbers[passes::loop_tape] == 0;
    if (!made.is_branch) return made;
    const node& limit = from_.at(from_.input(n, made.inputs()));
    if (!is_operator<cast_op>(*limit.op) || from_.at(from_.input(limit, 0)).result.type != dtype::boolean) return made;
    made.predicate = from_.input(limit, 0);
    if (const node& p = from_.at(made.predicate); is_operator<logical_not_op>(*p.op)) {
      made.predicate = from_.input(p, 0);
      made.is_negated = true;
    }
    return made;
  }
  // The branch whose results are the states of this one, which is taken where this is not, and which nothing else reads; -1 if there is
  // none.
  int branch_before(int row, const loop_form& form) const {
    if (!form.is_branch || form.predicate < 0) return -1;
    const node& n = from_.at(row);
    int first = -1;
    for (int k = 0; k < static_cast<int>(form.body.states.size()); ++k) {
      const node& state = from_.at(from_.input(n, k));
      if (!is_result_of(state, first) || from_.attribute(state, 0) != k) return -1;
      first = from_.input(state, 1);
    }
    const auto before = forms.find(first);
    if (before == forms.end() || !before->second.is_branch || before->second.predicate != form.predicate ||
        before->second.is_negated == form.is_negated || before->second.body.states.size() != form.body.states.size())
      return -1;
    for (int i = first + 1; i < from_.size(); ++i) {
      const node& user = from_.at(i);
      if (i == row || is_operator<passes::loop_memory_op>(*user.op)) continue;
      for (int k = 0; k < user.input_count; ++k)
        if (is_result_of(from_.at(from_.input(user, k)), first)) return -1;
    }
    return first;
  }
  // `loop`: -1 for any.
  bool is_result_of(const node& n, int loop) const {
    return is_operator<passes::loop_result_op>(*n.op) && (loop < 0 || from_.input(n, 1) == loop);
  }
  // The rows of which a row is written.
  std::vector<int> inputs_of(int index) const {
    const node& n = from_.at(index);
    if (is_operator<passes::loop_memory_op>(*n.op)) return {};
    if (is_operator<passes::loop_result_op>(*n.op)) return {from_.input(n, 1)};
    std::vector<int> list;
    const auto loop = forms.find(index);
    if (loop == forms.end()) {
      for (int k = 0; k < n.input_count; ++k) list.push_back(from_.input(n, k));
      for (int k = 0; k < n.control_count; ++k) list.push_back(from_.control(n, k));
      return list;
    }
    const loop_form& form = loop->second;
    const int states = static_cast<int>(form.body.states.size());
    for (int k = form.otherwise < 0 ? 0 : states; k < form.inputs(); ++k) list.push_back(from_.input(n, k));
    if (form.otherwise >= 0) {
      const loop_form& other = forms.at(form.otherwise);
      for (int k = states; k < other.inputs(); ++k) list.push_back(from_.input(from_.at(form.otherwise), k));
    }
    if (form.predicate >= 0) list.push_back(form.predicate);
    else if (form.body.is_limited && !form.has_condition()) list.push_back(from_.input(n, form.inputs()));
    return list;
  }

  const graph& from_;
};

}  // namespace leat::detail
