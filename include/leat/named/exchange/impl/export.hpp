#pragma once
// Implementation of export.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/older_spellings.hpp>
#include <leat/named/exchange/export.hpp>
#include <leat/named/exchange/import_options.hpp>
#include <leat/named/graph/part.hpp>
#include <leat/proto/node_def.hpp>
#include <leat/proto/producer.hpp>

#include <algorithm>

namespace leat {

LEAT_FUNCTION node_def to_node_def(graph& g, int index) {
  const named_part& nodes = g.named();
  const node_record& r = nodes.record(index);
  node_def def;
  def.name = r.name;
  def.op = std::string(g.at(index).op->type);
  def.device = r.device;
  def.attributes = r.attributes;
  const int inputs = nodes.input_count(g, index);
  def.inputs.reserve(static_cast<std::size_t>(inputs + g.at(index).control_count));
  for (int k = 0; k < inputs; ++k) {
    const output in = nodes.input(g, index, k);
    def.inputs.push_back(nodes.record(in.index()).name);
    if (in.port() != 0) def.inputs.back() += ":" + std::to_string(in.port());
  }
  if (const older_spelling* const s = find_older_spelling(def.op); s != nullptr && s->number_first && !def.inputs.empty())
    std::rotate(def.inputs.begin(), def.inputs.end() - 1, def.inputs.end());
  for (int k = 0; k < g.at(index).control_count; ++k) def.inputs.push_back("^" + nodes.record(g.control(g.at(index), k)).name);
  std::sort(def.inputs.begin() + inputs, def.inputs.end());
  return def;
}

LEAT_FUNCTION std::vector<char> needed_for(graph& g, std::span<const int> targets) {
  const named_part& nodes = g.named();
  std::vector<char> needed(static_cast<std::size_t>(g.size()), 0);
  std::vector<int> open(targets.begin(), targets.end());
  while (!open.empty()) {
    const int index = open.back();
    open.pop_back();
    if (needed[static_cast<std::size_t>(index)] != 0) continue;
    needed[static_cast<std::size_t>(index)] = 1;
    for (int k = 0; k < nodes.input_count(g, index); ++k) open.push_back(nodes.input(g, index, k).index());
    for (int k = 0; k < g.at(index).control_count; ++k) open.push_back(g.control(g.at(index), k));
  }
  return needed;
}

LEAT_FUNCTION std::string library_for(const named_part& nodes, std::span<const node_def> of) {
  if (nodes.library.empty()) return {};
  const auto needed = detail::inliner_of_functions().needed;
  return needed != nullptr ? needed(nodes.library, of) : nodes.library;
}

LEAT_FUNCTION graph_def export_graph(graph& g, std::span<const int> only) {
  named_part& nodes = g.named();
  nodes.settle_names(g);
  const std::vector<char> needed = only.empty() ? std::vector<char>(static_cast<std::size_t>(g.size()), 1) : needed_for(g, only);
  std::vector<int> order;
  order.reserve(static_cast<std::size_t>(g.size()));
  for (int i = 0; i < g.size(); ++i)
    if (needed[static_cast<std::size_t>(i)] != 0) order.push_back(i);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::pair(nodes.record(a).order, a) < std::pair(nodes.record(b).order, b); });
  graph_def def;
  def.nodes.reserve(order.size());
  for (int i : order) def.nodes.push_back(to_node_def(g, i));
  def.versions = versions_to_write(def.nodes, nodes.versions);
  def.library = library_for(nodes, def.nodes);
  return def;
}

}  // namespace leat
