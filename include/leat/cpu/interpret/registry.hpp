#pragma once
// The interpreter's registry of operators, by code. `library.hpp` registers the library's, programs their own.

#include <leat/core/fill.hpp>
#include <leat/cpu/interpret/reduction.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/kernels/whole_array.hpp>

#include <mutex>
#include <unordered_map>

namespace leat::cpu {

/// A kernel of whole arrays: the operands, the step's numbers, and the number of operands, the result included.
using kernel_function = void (*)(void* const* operands, const kernels::step_numbers& numbers, int count);

/// The functions of an operator.
struct operator_functions {
  element_functions (*element)(dtype result, const dtype* in, int count) = nullptr;
  const reduction_functions* (*reduction)(dtype type) = nullptr;
  kernel_function (*kernel)(const dtype* operands, int count) = nullptr;
};

namespace detail {
struct function_table {
  std::mutex guard;
  std::unordered_map<int, operator_functions> by_code;
};
LEAT_DECLARE_FILL(fill_library_functions);
inline function_table& functions() {
  static auto& table = *new function_table;
  static constinit leat::detail::table_fills fills;
  fills.run({LEAT_FILLS(fill_library_functions)});
  return table;
}
inline void enter_functions(int code, const operator_functions& f) {
  auto& table = functions();
  const std::lock_guard lock(table.guard);
  table.by_code.try_emplace(code, f);
}
}  // namespace detail

/// Registers a user-defined element-wise operator or reduction with the interpreter: `register_kernel<root_sigmoid_op>()`. Its functions
/// are instantiated for the dtypes that its rule accepts. Thread-safe; the first of a type stays.
template <class Op>
void register_kernel() {
  static_assert(Op::kind == op_kind::element || Op::kind == op_kind::reduction, "only these are functions of elements");
  if constexpr (Op::kind == op_kind::element)
    detail::enter_functions(operator_record<Op>::code, {&detail::find_element<Op>, nullptr, nullptr});
  else
    detail::enter_functions(operator_record<Op>::code, {nullptr, &detail::find_reduction<Op>, nullptr});
}

/// The functions of the operator with this code; empty if it is not registered.
inline operator_functions functions_of(int code) {
  auto& table = detail::functions();
  const std::lock_guard lock(table.guard);
  const auto at = table.by_code.find(code);
  return at == table.by_code.end() ? operator_functions{} : at->second;
}

}  // namespace leat::cpu
