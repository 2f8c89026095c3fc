#pragma once
// Loops of named graphs, in TensorFlow 1.x's form: each variable goes through `Enter`, `Merge`, `Switch` and `NextIteration`, and leaves
// the loop through `Exit`.
//
//   auto [i, sum] = while_loop([&](output i, output) { return i <= n; },
//                              [](output i, output sum) { return std::array{i + 1, sum + i}; }, {1, 0});

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>

namespace leat {

/// Options of `while_loop`.
struct while_options {
  std::vector<shape_value> shape_invariants{};  // per variable: the shape that holds in all iterations, if the shape changes
  std::int64_t parallel_iterations = 10;        // how many iterations may run concurrently
  bool back_prop = true;                        // whether gradients are supported
  bool swap_memory = false;
  std::optional<operand_value> maximum_iterations{};
  std::string_view name = "while";
};

namespace detail {

using loop_function = std::function<branch_result(const std::vector<output>&)>;

// A loop's function takes all variables, either as separate arguments, at most 16, or as one vector.
template <class F, std::size_t... I>
constexpr bool takes_outputs(std::index_sequence<I...>) {
  return std::is_invocable_v<F&, decltype((void(I), std::declval<const output&>()))...>;
}
template <class F, std::size_t N = 0>
constexpr int variables_of() {
  if constexpr (takes_outputs<F>(std::make_index_sequence<N>{})) return static_cast<int>(N);
  else if constexpr (N < 16) return variables_of<F, N + 1>();
  else return -1;
}
template <class F>
constexpr bool takes_all_variables = std::is_invocable_v<F&, const std::vector<output>&>;
template <class F, std::size_t... I>
decltype(auto) call_with_each(F& function, const std::vector<output>& variables, std::index_sequence<I...>) {
  return function(variables[I]...);
}
template <class F>
decltype(auto) call_with(F& function, const std::vector<output>& variables) {
  if constexpr (takes_all_variables<F>) {
    return function(variables);
  } else {
    constexpr int count = variables_of<F>();
    static_assert(count >= 0, "while_loop: a function takes each variable as an output, at most 16 of them, or all as a vector");
    if (static_cast<std::size_t>(count) != variables.size())
      throw invalid_argument("while_loop: a function of " + std::to_string(count) + " variables, and there are " +
                             std::to_string(variables.size()));
    return call_with_each(function, variables, std::make_index_sequence<static_cast<std::size_t>(count)>{});
  }
}

// Whether the shape `one` is at least as specific as `wide`.
bool shape_within(const shape& one, const shape& wide);

output reference_or_plain(const output& o, std::string_view type, std::string_view reference_type);
output merge_of(const output& a, std::string_view name = "Merge");
// The back edge of a loop: the second input of `Merge`.
output next_iteration(const output& merge, const output& value);

void check_one_iteration(named_part& nodes, const output& merge, const output& next, std::string_view scope);

std::vector<output> build_loop(while_context& context, const loop_function& condition, const loop_function& body,
                               const std::vector<output>& variables, const std::vector<shape_value>& invariants, std::string_view scope);

std::vector<output> make_loop(loop_function condition, loop_function body, const std::vector<operand_value>& variables,
                              const while_options& options, const std::source_location& where);

}  // namespace detail

/// Repeats a body while a condition holds. Both are functions of the loop's variables, either as separate `output` arguments or in one
/// vector; each is called once, immediately. The condition returns a bool, the body the variables' next values: one tensor, an array, a
/// tuple or a vector, which is also the type of the result. A variable's initial value is a tensor or a plain value.
/// Shapes: a variable keeps its shape, or that of `shape_invariants`. Dtypes: a variable keeps its dtype.
/// Errors: invalid_argument if the body returns another number of tensors, or another shape or dtype; if the condition is not a bool
/// scalar. Source: TensorFlow `while_loop`.
template <class Condition, class Body>
auto while_loop(Condition condition, Body body, const std::vector<operand_value>& loop_variables, const while_options& options = {},
                const std::source_location& where = std::source_location::current()) {
  using result = std::remove_cvref_t<decltype(detail::call_with(body, std::declval<const std::vector<output>&>()))>;
  static_assert(!std::is_void_v<result>, "while_loop: the body gives the next values of the variables");
  return detail::in_form_of<result>(detail::make_loop(
      [condition](const std::vector<output>& v) mutable { return detail::as_branch_result(detail::call_with(condition, v)); },
      [body](const std::vector<output>& v) mutable { return detail::as_branch_result(detail::call_with(body, v)); }, loop_variables,
      options, where));
}

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/control/impl/loop.hpp>
#endif
