#pragma once
// Branches of named graphs, in TensorFlow 1.x's form: `Switch` and `Merge`. Nodes that a branch's function makes belong to the branch and
// run only if it is taken; nodes made earlier run in any case.
//
//   auto y = cond(x < 0.0f, [&] { return -x; }, [&] { return x; });

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/operand.hpp>

#include <array>
#include <tuple>

namespace leat {

namespace detail {

class flow_context;  // defined in named/control/control_flow.hpp
class cond_context;
class while_context;

// The results of a branch's function, whatever its return type.
struct branch_result {
  std::vector<std::variant<operand_value, graph_operation>> items;
  bool returns_nothing = false;
};

template <class T>
inline constexpr bool is_single = std::is_convertible_v<T, operand_value>;
template <class T>
concept tuple_of_operands = requires { std::tuple_size<T>::value; } && !is_single<T>;
template <class T>
concept list_of_operands = !is_single<T> && !tuple_of_operands<T> && requires(const T& t) {
  t.begin();
  t.end();
};

template <class T>
void add_item(branch_result& to, const T& item) {
  if constexpr (std::is_same_v<T, graph_operation>) to.items.emplace_back(item);
  else to.items.emplace_back(operand_value(item));
}
template <class T>
branch_result as_branch_result(const T& given) {
  branch_result result;
  if constexpr (std::is_same_v<T, branch_result>) return given;
  else if constexpr (std::is_same_v<T, graph_operation> || is_single<T>) add_item(result, given);
  else if constexpr (tuple_of_operands<T>) std::apply([&](const auto&... items) { (add_item(result, items), ...); }, given);
  else
    for (const auto& item : given) add_item(result, item);
  return result;
}
template <class F, class... Args>
branch_result call_branch(F& function, const Args&... args) {
  if constexpr (std::is_void_v<std::invoke_result_t<F&, const Args&...>>) {
    function(args...);
    branch_result nothing;
    nothing.returns_nothing = true;
    return nothing;
  } else {
    return as_branch_result(function(args...));
  }
}

// Converts the tensors to the function's return type: a tensor, an operation, a tuple, an array, or a vector.
template <class T>
auto in_form_of(const std::vector<output>& tensors) {
  if constexpr (std::is_void_v<T> || std::is_same_v<T, graph_operation>) {
    return tensors.at(0).operation();
  } else if constexpr (is_single<T>) {
    return tensors.at(0);
  } else if constexpr (tuple_of_operands<T>) {
    std::array<output, std::tuple_size<T>::value> made;
    if (made.size() != tensors.size())
      throw invalid_argument("Incompatible return types: " + std::to_string(made.size()) + " and " + std::to_string(tensors.size()) +
                             " results");
    std::copy(tensors.begin(), tensors.end(), made.begin());
    return made;
  } else {
    return tensors;
  }
}

using branch_function = std::function<branch_result()>;

output as_tensor(graph& g, const operand_value& value, std::string_view name = "Const");

// The tensor itself, available after these control inputs.
output with_dependencies(const std::vector<control_input>& waits, const output& tensor);

// The nodes made in this context, from row `first` on, that no other node uses. A branch without results runs for their sake.
std::vector<control_input> unused_in(flow_context& context, int first);

std::vector<output> build_branch(cond_context& context, const branch_function& function);

std::vector<output> build_cond(const output& predicate, const branch_function& true_function, const branch_function& false_function,
                               std::string_view name);

template <class R>
constexpr int form_number() {
  if constexpr (std::is_void_v<R> || std::is_same_v<R, graph_operation>) return 0;
  else if constexpr (is_single<R>) return 1;
  else return 2;
}

}  // namespace detail

/// The results of one of two functions, chosen by a predicate at run time. Both functions are called immediately, the true one first, and
/// make the nodes of their branches. Each returns a tensor (or a value, which becomes a constant of the branch), several of them in a
/// vector, an array or a tuple, an operation, or nothing: then all nodes made in the branch run. The result has the type of the true
/// function's result: a tensor, an array or a vector of tensors, an operation.
/// Shapes: predicate []; a result's dimensions are known where both branches agree. Dtypes: those of both branches.
/// Errors: invalid_argument if the predicate is not a bool scalar, or the branches differ in number or dtypes of results.
/// Source: TensorFlow `cond`.
template <class True, class False>
  requires std::is_invocable_v<True&> && std::is_invocable_v<False&>
auto cond(const output& predicate, True true_function, False false_function, std::string_view name = "cond",
          const std::source_location& where = std::source_location::current()) {
  using result = std::remove_cvref_t<std::invoke_result_t<True&>>;
  static_assert(detail::form_number<result>() == detail::form_number<std::remove_cvref_t<std::invoke_result_t<False&>>>(),
                "cond: both functions give one tensor, or both several, or both an operation or nothing");
  if (!static_cast<bool>(predicate)) throw invalid_argument("cond: a predicate that is no node of a graph");
  graph& g = predicate.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  return detail::in_form_of<result>(detail::build_cond(
      predicate, [&] { return detail::call_branch(true_function); }, [&] { return detail::call_branch(false_function); }, name));
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/control/impl/branch.hpp>
#endif
