#pragma once
// Implementation of print.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/functions/print.hpp>
#include <leat/named/graph/call.hpp>

namespace leat {

LEAT_FUNCTION output print(const output& x, const std::vector<operand_value>& data, const print_options& options,
                           const std::source_location& where) {
  if (!static_cast<bool>(x)) throw invalid_argument("print: an operand that is no node of a graph");
  graph& g = x.owner();
  const source_scope line(g, where);
  std::vector<number_argument> inputs{x};
  for (const operand_value& v : data) {
    if (v.tensor() != nullptr) inputs.emplace_back(*v.tensor());
    else inputs.emplace_back(*v.literal());
  }
  return call_operator(g, "Print", inputs, {{"message", options.message}, {"first_n", options.first_n}, {"summarize", options.summarize}},
                       options.name)
      .result();
}

}  // namespace leat
