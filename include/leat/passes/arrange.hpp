#pragma once
// The last rewrite before fusion: fixes the order of execution, and inserts copies where an array must be stored separately. Values are
// computed as early as their operands allow. Everything that does not depend on a write comes before the first write, so that a variable
// read without `after` has its value from the start of the step. Two unordered writes to one variable are an error.

#include <leat/core/list.hpp>
#include <leat/passes/rows.hpp>
#include <leat/passes/simplify.hpp>

#include <utility>

namespace leat::passes {

/// Whether a reshape only adds or removes dimensions of size 1, which makes no difference to element-wise work.
constexpr bool is_alias(const graph& g, const node& n) {
  return is_operator<reshape_op>(*n.op) && g.at(g.input(n, 0)).result.extent.squeezed() == n.result.extent.squeezed();
}
/// The node whose result an alias reads.
constexpr int source_of(const graph& g, int i) {
  while (is_alias(g, g.at(i))) i = g.input(g.at(i), 0);
  return i;
}
/// Whether a node writes rows of a variable, which is a kernel of its own. Other writes join clusters.
constexpr bool writes_rows(const node& n) { return is_operator<write_rows_op>(*n.op); }
constexpr bool is_compute(const node& n) {
  return n.op->kind == op_kind::element || n.op->kind == op_kind::reduction || (n.op->kind == op_kind::assign && !writes_rows(n));
}
constexpr bool is_strided_view(const graph& g, int i) {
  const node& n = g.at(i);
  if (is_operator<reshape_op>(*n.op)) return is_strided_view(g, g.input(n, 0));
  return n.op->kind == op_kind::view;
}

namespace detail {

/// The number of writes before each node, along the path with the most writes.
constexpr list<int> write_depths(const graph& g) {
  list<int> depth(g.nodes.size(), 0);
  for (std::size_t i = 0; i < depth.size(); ++i) {
    const node& n = g.nodes[i];
    const auto after = [&](int d) {
      const auto at = static_cast<std::size_t>(d);
      const int behind = depth[at] + (g.nodes[at].op->kind == op_kind::assign ? 1 : 0);
      if (behind > depth[i]) depth[i] = behind;
    };
    for (int k = 0; k < n.input_count; ++k) after(g.input(n, k));
    for (int k = 0; k < n.control_count; ++k) after(g.control(n, k));
  }
  return depth;
}

}  // namespace detail

/// The error if two writes to one variable are unordered; empty if there is none.
constexpr message unordered_writes(const graph& g) {
  message m;
  // Operands precede their users in the table, so the writes of a variable are ordered if each depends on the one before it.
  list<int> last(g.nodes.size(), -1);  // indexed by variable
  list<int> met(g.nodes.size(), -1);   // the last write whose search reached the node
  list<int> open;
  for (int i = 0; i < g.size(); ++i) {
    if (g.at(i).op->kind != op_kind::assign) continue;
    const int variable = g.input(g.at(i), 0);
    const int before = std::exchange(last[variable], i);
    if (before < 0) continue;
    open.assign(1, i);
    while (!open.empty() && open.back() != before) {
      const node& n = g.at(open.back());
      open.pop_back();
      const auto meet = [&](int from) {
        if (from >= before && std::exchange(met[from], i) != i) open.push_back(from);
      };
      for (int k = 0; k < n.input_count; ++k) meet(g.input(n, k));
      for (int k = 0; k < n.control_count; ++k) meet(g.control(n, k));
    }
    if (!open.empty()) continue;
    m << "two writes to variable \"" << g.at(variable).name << "\" in one step without an order: " << g.at(before).op->type << " and "
      << g.at(i).op->type << "; order them with after(second, first)";
    return m;
  }
  return m;
}

/// The graph in order of execution, with copies inserted. `targets` are renumbered, and each becomes a distinct node whose result can be
/// returned.
constexpr graph arrange(const graph& from, list<int>& targets) {
  list<char> live(from.nodes.size(), 0);  // simplification leaves unused nodes in the table
  for (int t : targets) live[t] = 1;
  for (std::size_t i = from.nodes.size(); i-- > 0;) {
    if (live[i] == 0) continue;
    for (int k = 0; k < from.nodes[i].input_count; ++k) live[from.input(from.nodes[i], k)] = 1;
    for (int k = 0; k < from.nodes[i].control_count; ++k) live[from.control(from.nodes[i], k)] = 1;
  }
  const auto depth = detail::write_depths(from);
  constexpr int never = 1 << 30;
  list<int> first_write(from.nodes.size(), never);  // indexed by variable
  int deepest = 0;
  bool writes = false;
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    if (depth[i] > deepest) deepest = depth[i];
    if (from.nodes[i].op->kind != op_kind::assign) continue;
    writes = true;
    int& first = first_write[from.input(from.nodes[i], 0)];
    if (depth[i] < first) first = depth[i];
  }
  graph to;
  to.nodes.reserve(from.nodes.size() + 16);
  to.edges.reserve(from.edges.size() + 32);
  to.dimension_names = from.dimension_names;
  list<int> map(from.nodes.size(), -1);
  list<int> kept(from.nodes.size(), -1);  // for a write that another write of its variable follows: a copy of its result
  list<int> writers(from.nodes.size(), 0);
  list<char> is_used(from.nodes.size(), 0);
  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    if (live[i] == 0) continue;
    if (from.nodes[i].op->kind == op_kind::assign) ++writers[from.input(from.nodes[i], 0)];
    for (int k = 0; k < from.nodes[i].input_count; ++k) is_used[from.input(from.nodes[i], k)] = 1;
  }
  for (int t : targets) is_used[t] = 1;
  list<int> old_value(from.nodes.size(), -1);  // a copy of a variable's initial value, for reads after its first write
  list<char> reads_old(from.nodes.size(), 0);
  list<int> copied;

  auto copy = [&](int i) {
    const shape extent = to.at(i).result.extent;
    const int in[]{i};
    return to.add(info_of<copy_op>, in, {extent.dim, static_cast<std::size_t>(extent.rank)});
  };
  auto copy_once = [&](int i) {
    copied.resize(to.nodes.size(), -1);
    if (copied[i] < 0) {
      const int made = copy(i);
      copied.resize(to.nodes.size(), -1);
      copied[i] = made;
    }
    return copied[i];
  };
  // An array that a kernel can use: a strided view, or one value for all elements, is copied first.
  auto standing = [&](int i) {
    const op_kind kind = to.at(source_of(to, i)).op->kind;
    if (is_strided_view(to, i) || kind == op_kind::constant || kind == op_kind::index) return copy_once(i);
    return i;
  };

  // Whether a node's result is the variable's own memory, whose rows a write of rows would change while it reads them.
  auto shows = [&](int i, int variable) {
    while (to.at(i).op->kind == op_kind::view || to.at(i).op->kind == op_kind::assign) i = to.input(to.at(i), 0);
    return i == variable;
  };

  // The variable whose unchanged value a node has, directly or through views, and the innermost of these views, which reads it.
  struct seen {
    int variable = -1, reader = -1;
  };
  auto seen_through = [&](int i) {
    seen s{i};
    for (; from.at(s.variable).op->kind == op_kind::view; s.variable = from.input(from.at(s.variable), 0)) s.reader = s.variable;
    if (from.at(s.variable).op->kind != op_kind::variable) s.variable = -1;
    return s;
  };
  // Variables come first: the initial value of a variable is copied if something reads it after a write.
  if (writes)
    for (std::size_t i = 0; i < from.nodes.size(); ++i) {
      const node& n = from.nodes[i];
      if (live[i] == 0) continue;
      const bool assigns = n.op->kind == op_kind::assign;
      const bool views = n.op->kind == op_kind::view;  // the readers of a view count, not the view
      const bool waits = is_operator<identity_op>(*n.op) && n.control_count > 0;
      for (int k = assigns || views ? 1 : 0; k < n.input_count; ++k) {
        const seen s = seen_through(from.input(n, k));
        if (s.variable < 0 || (waits && s.reader < 0)) continue;
        // A write reads each element of its variable before it writes it, and comes after the other reads of its level.
        const int first = first_write[s.variable];
        const bool itself = assigns && s.reader < 0 && s.variable == from.input(n, 0);
        if (views ? first == never : depth[i] < first || (depth[i] == first && (itself || !assigns))) continue;
        old_value[s.variable] = -2;
        reads_old[s.reader < 0 ? i : static_cast<std::size_t>(s.reader)] = 1;
      }
    }
  for (const int t : targets) {
    const seen s = seen_through(t);
    if (s.reader < 0 || s.variable < 0 || depth[t] <= first_write[s.variable]) continue;
    old_value[s.variable] = -2;
    reads_old[s.reader] = 1;
  }

  auto move = [&](std::size_t i) {
    const node& n = from.nodes[i];
    list<int> inputs(static_cast<std::size_t>(n.input_count), -1);
    list<int> controls;
    for (int k = 0; k < n.control_count; ++k) controls.push_back(map[from.control(n, k)]);
    const list_view<std::int64_t> attributes(from.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count));
    const bool waits = is_operator<identity_op>(*n.op) && n.control_count > 0;
    for (int k = 0; k < n.input_count; ++k) {
      const auto at = static_cast<std::size_t>(from.input(n, k));
      inputs[k] = kept[at] >= 0 ? kept[at] : map[at];
      if (reads_old[i] != 0 && old_value[at] >= 0 && !waits && !(n.op->kind == op_kind::assign && k == 0)) inputs[k] = old_value[at];
      if (n.op->kind == op_kind::kernel || (writes_rows(n) && k > 0) ||
          (is_operator<reshape_op>(*n.op) && is_strided_view(to, inputs[k]) &&
           to.at(inputs[k]).result.extent.squeezed() != n.result.extent.squeezed()))
        inputs[k] = standing(inputs[k]);
      if (writes_rows(n) && k > 0 && shows(inputs[k], inputs[0])) inputs[k] = copy_once(inputs[k]);
    }
    const list_view<int> operands = inputs;
    if (waits)  // a read that waits becomes a copy, made at that time
      map[i] = to.add(info_of<copy_op>, operands, {n.result.extent.dim, static_cast<std::size_t>(n.result.extent.rank)}, controls);
    else map[i] = to.add_known(*n.op, n.result, operands, attributes, controls);
    if (n.op->kind == op_kind::assign && is_used[i] != 0 && writers[from.input(n, 0)] > 1) kept[i] = copy(map[i]);
  };

  for (std::size_t i = 0; i < from.nodes.size(); ++i) {
    const node& n = from.nodes[i];
    if (live[i] == 0 || n.input_count > 0 || n.op->kind == op_kind::group) continue;
    map[i] = to.add_leaf(*n.op, n.result, n.name, n.id,
                         {from.numbers.data() + n.attributes, static_cast<std::size_t>(n.attribute_count)});
  }
  for (std::size_t i = 0; i < from.nodes.size(); ++i)
    if (old_value[i] == -2) old_value[i] = copy(map[i]);
  list<int> early(targets.size(), -1);  // copies of targets that are variables, or views of variables, made before later writes
  list<std::size_t> begin(static_cast<std::size_t>(deepest) + 2, 0), of_depth(from.nodes.size(), 0);  // nodes by depth
  for (const int d : depth) ++begin[d + 1];
  for (std::size_t d = 1; d < begin.size(); ++d) begin[d] += begin[d - 1];
  list<std::size_t> filled = begin;
  for (std::size_t i = 0; i < from.nodes.size(); ++i) of_depth[filled[depth[i]]++] = i;
  for (int d = 0; d <= deepest; ++d) {
    const list_view<std::size_t> level(of_depth.data() + begin[d], begin[d + 1] - begin[d]);
    for (const std::size_t i : level)
      if (live[i] != 0 && map[i] < 0 && from.nodes[i].op->kind != op_kind::assign) move(i);
    for (std::size_t k = 0; writes && k < targets.size(); ++k) {
      const auto t = static_cast<std::size_t>(targets[k]);
      if (depth[t] != d) continue;
      const int v = seen_through(targets[k]).variable;
      if (v >= 0 && first_write[v] != never) early[k] = copy(map[t]);
    }
    if (writes)
      for (const std::size_t i : level)
        if (live[i] != 0 && map[i] < 0) move(i);
  }

  // Each target gets an array of its own: targets that are leaves, views or writes, or that occur twice, are copied.
  list<int> given;
  for (std::size_t k = 0; k < targets.size(); ++k) {
    int& t = targets[k];
    const auto at = static_cast<std::size_t>(t);
    t = early[k] >= 0 ? early[k] : kept[at] >= 0 ? kept[at] : map[at];
    const node& n = to.at(t);
    if (n.op->kind == op_kind::group) continue;
    bool own = (n.op->kind == op_kind::element || n.op->kind == op_kind::reduction || n.op->kind == op_kind::kernel);
    for (int other : given) own = own && other != t;
    if (!own) t = copy(t);
    given.push_back(t);
  }
  return to;
}

}  // namespace leat::passes
