#pragma once
// Implementation of saver_nodes.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/io/saver_nodes.hpp>
#include <leat/named/graph/operator_definition.hpp>
#include <leat/ops/array_shape.hpp>
#include <leat/proto/tensor_contents.hpp>

namespace leat::io {

LEAT_FUNCTION std::map<std::string, std::string, std::less<>> names_in_checkpoint(graph& g, const saver_def& saver) {
  std::map<std::string, std::string, std::less<>> names;
  const named_part& nodes = g.named();
  const int last = g.named().find(saver.restore_op_name.substr(0, saver.restore_op_name.find(':')));
  const operator_definition* const restores = find_definition("RestoreV2");
  const operator_definition* const restores_one[]{find_definition("Restore"), find_definition("RestoreSlice")};
  if (last < 0 || restores == nullptr) return names;
  const auto is = [&](int node, const operator_definition* d) { return d != nullptr && g.at(node).op->code == d->info.code; };
  // The name that a constant of names has at a position.
  const auto name_at = [&](const output& o, int k) -> std::string {
    const tensor_proto* const held = o.port() == 0 ? nodes.contents_of(g, o.index()) : nullptr;
    if (held == nullptr || held->dtype != data_type::string || !problem_of(*held).empty()) return {};
    const auto texts = contents<std::string>(*held);
    return static_cast<std::size_t>(k) < texts.size() ? texts[static_cast<std::size_t>(k)] : std::string{};
  };
  std::vector<int> open{last};
  std::vector<char> met(static_cast<std::size_t>(g.size()), 0);
  met[static_cast<std::size_t>(last)] = 1;
  while (!open.empty()) {
    const int at = open.back();
    open.pop_back();
    const auto meet = [&](int from) {
      if (std::exchange(met[static_cast<std::size_t>(from)], 1) == 0) open.push_back(from);
    };
    const int inputs = nodes.input_count(g, at);
    for (int k = 0; k < inputs; ++k) meet(nodes.input(g, at, k).index());
    const node& row = g.at(at);
    for (int k = 0; k < row.control_count; ++k) meet(g.control(row, k));
    if (inputs < 2 || !row.op->what.written.contains(0)) continue;
    const output variable = nodes.input(g, at, 0);
    output value = nodes.input(g, at, 1);
    if (g.at(variable.index()).op->kind != op_kind::variable) continue;
    // A value may be cast to another shape or copied on its way.
    for (int steps = 0; steps < 16; ++steps) {
      const op_info& op = *g.at(value.index()).op;
      if (!op.what.passes_on() && !is_operator<identity_op>(op) && !op.what.reshapes && !is_operator<reshape_op>(op)) break;
      value = nodes.input(g, value.index(), 0);
    }
    const bool is_one = is(value.index(), restores_one[0]) || is(value.index(), restores_one[1]);
    if (!is_one && !is(value.index(), restores)) continue;
    if (std::string name = name_at(nodes.input(g, value.index(), 1), is_one ? 0 : value.port()); !name.empty())
      names.emplace(variable.operation().name(), std::move(name));
  }
  return names;
}

}  // namespace leat::io
