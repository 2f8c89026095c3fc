#pragma once
// The interpreter's registry of operators, by code. `library.hpp` registers the library's operators, and programs register their own.

#include <leat/core/fill.hpp>
#include <leat/core/operator_table.hpp>
#include <leat/cpu/execute.hpp>
#include <leat/cpu/interpret/reduction.hpp>
#include <leat/graph/known_operators.hpp>
#include <leat/kernels/whole_array.hpp>

#include <optional>

namespace leat::cpu {

/// A kernel of whole arrays. Its arguments are the operands, the step's numbers, and the number of operands including the result.
using kernel_function = void (*)(void* const* operands, const kernels::step_numbers& numbers, int count);

/// The functions of an operator.
struct operator_functions {
  element_functions (*element)(dtype result, const dtype* in, int count) = nullptr;
  const reduction_functions* (*reduction)(dtype type) = nullptr;
  kernel_function (*kernel)(const dtype* operands, int count) = nullptr;
};

namespace detail {
struct interpreted_operator {
  std::optional<operator_functions> functions;
};
LEAT_DECLARE_FILL(fill_library_functions);
// By code, which is all that a program has of an operator.
inline auto& functions() {
  static auto& table = *new leat::detail::operator_table<interpreted_operator, int>;
  static constinit leat::detail::table_fills fills;
  fills.run({LEAT_FILLS(fill_library_functions)});
  return table;
}
inline void enter_functions(int code, const operator_functions& f) {
  functions().enter(code, &interpreted_operator::functions, f);
}

template <class Op, class T, class Index>
void call_kernel(void* const* p, const kernels::step_numbers& n, int count) {
  run_kernel<Op, T, Index>(p, n, count - 1);
}
// The kernel of an operator for a dtype of its first operand. One that only moves elements works on any type of the same size.
template <class Op, class Index>
kernel_function kernel_by_first(dtype first) {
  if constexpr (kernels::only_moves<Op>()) {
    switch (size_of(first)) {
      case 1: return &call_kernel<Op, std::uint8_t, Index>;
      case 4: return &call_kernel<Op, std::int32_t, Index>;
      default: return &call_kernel<Op, std::int64_t, Index>;
    }
  } else {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      using its = kernels::kernel_of<Op>;
      kernel_function found = nullptr;
      ((found = first == its::takes[I] ? &call_kernel<Op, element_of<its::takes[I]>, Index> : found), ...);
      return found;
    }(std::make_index_sequence<std::size(kernels::kernel_of<Op>::takes)>{});
  }
}
template <class Op>
kernel_function find_kernel(const dtype* operands, int) {
  if constexpr (kernels::kernel_of<Op>::has_indices) {
    const dtype index = operands[kernels::index_operand_of<Op>()];
    return index == dtype::int32   ? kernel_by_first<Op, std::int32_t>(operands[0])
           : index == dtype::int64 ? kernel_by_first<Op, std::int64_t>(operands[0])
                                   : nullptr;
  } else {
    return kernel_by_first<Op, void>(operands[0]);
  }
}

// Whether the class defines how its result is computed: element by element, by a reduction, or by `kernels::kernel_of`.
template <class Op>
concept has_functions = Op::kind == op_kind::element || Op::kind == op_kind::reduction || kernels::has_kernel<Op>;
}  // namespace detail

/// Registers an operator with the interpreter: `register_kernel<root_sigmoid_op>()`. For an element-wise operator or a reduction it
/// instantiates the functions for the dtypes that its rule accepts; for any other operator, its kernel (`kernels::kernel_of`) for the
/// dtypes that the kernel accepts. Thread-safe; if a type is registered twice, the first registration remains.
template <class Op>
void register_kernel() {
  static_assert(detail::has_functions<Op>, "the class has no element function, no reduction and no kernel_of");
  constexpr int code = operator_record<Op>::code;
  if constexpr (Op::kind == op_kind::element) {
    detail::enter_functions(code, {&detail::find_element<Op>, nullptr, nullptr});
  } else if constexpr (Op::kind == op_kind::reduction) {
    detail::enter_functions(code, {nullptr, &detail::find_reduction<Op>, nullptr});
  } else {
    detail::enter_functions(code, {nullptr, nullptr, &detail::find_kernel<Op>});
  }
}

/// The functions of the operator with this code; empty if it is not registered.
inline operator_functions functions_of(int code) {
  return detail::functions().find(code, &detail::interpreted_operator::functions).value_or(operator_functions{});
}

}  // namespace leat::cpu
