#pragma once
// What the tests of passes share: typed expressions entered into a graph at run time, and what a program holds.

#include <leat/leat.hpp>

#include "passes.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace leat_test {

/// A graph of typed expressions, and which nodes they became.
struct entered {
  leat::graph g;
  leat::detail::list<int> targets;
};
template <class... Es>
constexpr entered enter(const Es&...) {
  entered e;
  (e.targets.push_back(leat::flatten<Es>(e.g)), ...);
  return e;
}

/// How many nodes of an operator a graph has.
constexpr int count(const leat::graph& g, std::string_view type) {
  int n = 0;
  for (const auto& node : g.nodes) n += node.op->type == type ? 1 : 0;
  return n;
}

/// What remains of a graph after simplification, without what nothing uses.
template <class... Es>
entered simplified(const Es&... es) {
  entered e = enter(es...);
  e.g = at_run_time::simplify(e.g, e.targets);
  e.g = at_run_time::arrange(e.g, e.targets);
  return e;
}

/// The program of typed expressions, compiled at run time.
template <class... Es>
leat::program program_of(const Es&... es) {
  const entered e = enter(es...);
  return at_run_time::compile(e.g, e.targets);
}

/// The steps of a program as text: "cluster" or the operator's type, in order.
inline std::string steps_of(const leat::program& p) {
  std::string text;
  for (const auto& s : p.steps) {
    if (!text.empty()) text += ' ';
    if (s.is_cluster)
      text += "cluster";
    else if (s.code == leat::info_of<leat::matmul_op>.code)
      text += "product";
    else if (s.code == leat::info_of<leat::passes::matmul_update_op>.code)
      text += "update";
    else
      text += "kernel";
  }
  return text;
}

/// How many buffers of the arena a program has.
inline int stored(const leat::program& p) {
  int n = 0;
  for (const auto& b : p.buffers) n += b.where == leat::storage::arena ? 1 : 0;
  return n;
}

/// A packed graph to compare: operators, inputs, controls, attributes, dtypes and shapes.
inline std::string text_of(const leat::graph& g) {
  std::string text;
  for (const auto& n : g.nodes) {
    text += std::string(n.op->type) + " " + std::string(n.name) + " " + std::string(leat::describe(n.result, g).view()) + "(";
    for (int k = 0; k < n.input_count; ++k) text += std::to_string(g.input(n, k)) + ",";
    for (int k = 0; k < n.control_count; ++k) text += "^" + std::to_string(g.control(n, k)) + ",";
    for (int k = 0; k < n.attribute_count; ++k) text += "#" + std::to_string(g.attribute(n, k)) + ",";
    text += ")\n";
  }
  return text;
}

}  // namespace leat_test
