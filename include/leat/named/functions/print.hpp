#pragma once
// Printing at run time. Source: TensorFlow `Print`.

#include <leat/named/functions/named_operand.hpp>
#include <leat/named/graph/named.hpp>

namespace leat {

/// Settings of `print`.
struct print_options {
  std::string message{};       // printed before the values
  std::int64_t first_n = -1;   // how many times it prints; -1: always
  std::int64_t summarize = 3;  // number of elements of each tensor; -1: all
  std::string_view name = "Print";
};

/// The tensor itself; whenever it is computed, these data are printed to the session's log, by default standard error. Gradients pass
/// through. Errors: invalid_argument for operands of another graph. Source: `Print`.
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
