#pragma once
// Printing when a graph runs. Source: TensorFlow `Print`.

#include <leat/graph/named.hpp>
#include <leat/ops/named.hpp>

namespace leat {

/// Settings of `print`.
struct print_options {
  std::string message{};       // before the values
  std::int64_t first_n = -1;   // how often it prints; -1: each time
  std::int64_t summarize = 3;  // how many elements of each tensor; -1: all
  std::string_view name = "Print";
};

/// The tensor itself; each time it is computed, these data are printed to the standard error. A gradient passes it.
/// Errors: invalid_argument for operands of another graph. Source: `Print`.
inline output print(const output& x, const std::vector<operand_value>& data, const print_options& options = {},
                    const std::source_location& where = std::source_location::current()) {
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
