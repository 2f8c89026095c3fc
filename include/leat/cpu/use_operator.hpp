#pragma once
// Makes an operator that a program defines available in graphs with names, files and planned sessions: its class (docs/architecture.md) and
// one call.

#include <leat/cpu/interpret/registry.hpp>
#include <leat/expr/tensor.hpp>
#include <leat/graph/known_operators.hpp>

namespace leat {

namespace detail {
/// The qualified name of a class, such as "my::root_sigmoid_op", as the compiler writes it.
template <class Op>
constexpr std::string_view class_name() {
  constexpr std::string_view text = __PRETTY_FUNCTION__;
  constexpr std::string_view key = "Op = ";
  constexpr std::size_t begin = text.find(key) + key.size();
  return text.substr(begin, text.find_first_of(";]", begin) - begin);
}
// Whether a class asks for state: of its kind, by its facts, or by a reference in its form.
template <class Op>
constexpr bool asks_for_state() {
  constexpr facts its = facts_of<Op>();
  if (Op::kind == op_kind::variable || Op::kind == op_kind::placeholder || Op::kind == op_kind::assign) return true;
  if (its.is != nature::pure || its.state != state_role::none || !its.written.empty()) return true;
  if constexpr (requires { Op::form; })
    for (const field& f : Op::form)
      if (f.kind == field_kind::reference) return true;
  return false;
}
template <class Op>
inline constexpr bool keeps_state = asks_for_state<Op>();
template <class Op>
struct state_refusal {
  static constexpr message text() {
    return message{} << Op::type << ": an operator of a program has no state and no effects. Take the state as an operand, return its "
                        "new value, and assign that to a variable: assign(v, next)";
  }
  using problem = error_in_expression<problem_text<state_refusal>()>;
};
}  // namespace detail

/// Registers the operator of a class under its TensorFlow type. Imports of graphs and files, sessions of graphs with names, which run it
/// fused and node by node, and planned sessions then know it. Compiled typed expressions need no such call. Call it before the first such
/// use; a second call does nothing. Thread-safe. Errors: invalid_argument if another operator has that type, of the library or of the
/// program.
template <class Op>
  requires(!detail::keeps_state<Op>)
void use_operator() {
  const op_info* const known = find_operator(Op::type);
  if (known != nullptr && known != &info_of<Op>)
    throw invalid_argument("use_operator: the type '" + std::string(Op::type) + "' of " + std::string(detail::class_name<Op>()) +
                           " is that of another operator, '" + std::string(known->type) +
                           "' of the library or registered before: give it a type of its own");
  register_operator<Op>();
  if constexpr (cpu::detail::has_functions<Op>) cpu::register_kernel<Op>();
}
template <class Op>
  requires detail::keeps_state<Op>
typename detail::state_refusal<Op>::problem use_operator() = delete;

}  // namespace leat
