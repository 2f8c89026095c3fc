#pragma once
// Implementation of handle.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/handle.hpp>

namespace leat::detail {

LEAT_FUNCTION bool is_handle(const output& variable) { return static_cast<bool>(variable) && variable.owner().named().is_handle(variable); }

LEAT_FUNCTION output read_after(const output& variable, const graph_operation& write) {
  return variable.owner().named().read_handle(variable.owner(), variable, {write.index()});
}

LEAT_FUNCTION graph_operation write_of(const output& written) {
  graph& g = written.owner();
  const named_part& nodes = g.named();
  if (nodes.input_count(g, written.index()) == 1)
    if (const output from = nodes.input(g, written.index(), 0); nodes.is_handle(from))
      for (const graph_operation& before : written.operation().control_inputs()) {
        const auto inputs = before.inputs();
        if (!inputs.empty() && inputs.front().index() == from.index() && before.outputs().empty()) return before;
      }
  return written.operation();
}

LEAT_FUNCTION void set_locking(const output& written, bool locks) {
  if (write_of(written) == written.operation()) written.owner().named().record(written.index()).attributes["use_locking"] = locks;
}

}  // namespace leat::detail
