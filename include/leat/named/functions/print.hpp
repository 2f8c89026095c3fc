#pragma once
// Printing at run time. Source: TensorFlow `Print`.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

namespace leat {

/// Options of `print`.
struct print_options {
  std::string message{};       // printed before the values
  std::int64_t first_n = -1;   // how many times the node prints; -1: always
  std::int64_t summarize = 3;  // number of elements printed of each tensor; -1: all
  std::string_view name = "Print";
};

/// x itself, which prints the values of `data` to the session's log, by default standard error, whenever it is computed. Gradients pass
/// through. Shapes and dtypes: result like x. Errors: invalid_argument for operands of another graph. Source: `Print`.
output print(const output& x, const std::vector<operand_value>& data, const print_options& options = {},
             const std::source_location& where = std::source_location::current());

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/print.hpp>
#endif
