#pragma once
// Branches of named graphs, in TensorFlow 1.x's form: `Switch` and `Merge`. Nodes made by a branch's function belong to the branch;
// nodes made before run whichever branch is taken.
//
//   auto y = cond(x < 0.0f, [&] { return -x; }, [&] { return x; });

#include <leat/named/control/control_flow.hpp>
#include <leat/named/functions/named_operand.hpp>
#include <leat/named/graph/lookup.hpp>

#include <array>
#include <tuple>

namespace leat {

namespace detail {

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

// Tensors in the function's return type: one, an operation, a tuple, an array, a list.
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

inline output as_tensor(graph& g, const operand_value& value, std::string_view name = "Const") {
  return value.tensor() != nullptr ? g.named().value_of(*value.tensor()) : g.named().make_constant(g, *value.literal(), name);
}

// The tensor itself, after these control inputs.
inline output with_dependencies(const std::vector<control_input>& waits, const output& tensor) {
  graph& g = tensor.owner();
  const default_graph_scope here(g);
  const name_scope scope(g, "control_dependency");
  const colocate_with there{control_input(tensor)};
  const control_dependencies first(waits);
  return g.named().build(g, info_of<identity_op>, std::array{tensor}, {}, scope.text());
}

// The nodes made in this context from `first` on that no node in it uses; a branch without results runs for them.
inline std::vector<control_input> unused_in(flow_context& context, int first) {
  graph& g = context.owner();
  named_part& nodes = g.named();
  std::set<int> used;
  for (int i = first; i < g.size(); ++i) {
    for (int k = 0; k < nodes.input_count(g, i); ++k) used.insert(nodes.input(g, i, k).index());
    for (int k = 0; k < g.at(i).control_count; ++k) used.insert(g.control(g.at(i), k));
  }
  std::vector<control_input> list;
  for (int i = first; i < g.size(); ++i)
    if (result_context(g, i) == &context && !used.contains(i)) list.emplace_back(graph_operation(g, i));
  return list;
}

inline std::vector<output> build_branch(cond_context& context, const branch_function& function) {
  graph& g = context.owner();
  const inside_context inside(g.named(), &context);
  const int first = g.size();
  const branch_result given = function();
  std::vector<output> results;
  if (given.returns_nothing) {
    results.push_back(with_dependencies(unused_in(context, first), context.pivot()));
  } else {
    for (const auto& item : given.items) {
      if (const auto* operation = std::get_if<graph_operation>(&item)) {
        if (&operation->owner() != &g) throw invalid_argument("Operation '" + operation->name() + "' is not an element of this graph.");
        results.push_back(with_dependencies({*operation}, context.pivot()));
      } else {
        const output tensor = as_tensor(g, std::get<operand_value>(item));
        if (!static_cast<bool>(tensor)) throw invalid_argument("cond: a branch gives an operand that is no node of a graph");
        if (&tensor.owner() != &g) throw invalid_argument(describe(tensor) + " is not an element of this graph.");
        g.named().settle_names(g);
        results.push_back(context.result(tensor));
      }
    }
  }
  context.hand_out(results);
  return results;
}

inline std::vector<output> build_cond(const output& predicate, const branch_function& true_function, const branch_function& false_function,
                                      std::string_view name) {
  graph& g = predicate.owner();
  named_part& nodes = g.named();
  const name_scope scope(g, name);
  nodes.name_number(g, predicate, "pred");
  const output p = nodes.value_of(predicate);
  const graph_operation sides = call_operator(g, "Switch", {p, p});
  const auto identity_of = [&](const output& o, std::string_view its_name) {
    return nodes.build(g, info_of<identity_op>, std::array{o}, {}, its_name);
  };
  const output pivot_true = identity_of(sides.result(1), "switch_t");
  const output pivot_false = identity_of(sides.result(0), "switch_f");
  const output id = identity_of(p, "pred_id");
  for (int index : {sides.index(), pivot_true.index(), pivot_false.index(), id.index()}) nodes.record(index).fetchable = false;

  const bool is_nested = nodes.context != nullptr;
  auto& context_true = nodes.keep(std::make_unique<cond_context>(g, id, pivot_true, 1));
  const std::vector<output> of_true = build_branch(context_true, true_function);
  auto& context_false = nodes.keep(std::make_unique<cond_context>(g, id, pivot_false, 0));
  const std::vector<output> of_false = build_branch(context_false, false_function);
  if (of_true.size() != of_false.size())
    throw invalid_argument("Incompatible return types of true_fn and false_fn: " + std::to_string(of_true.size()) + " and " +
                           std::to_string(of_false.size()) + " results" + nodes.place(without_slash(scope.text())));
  if (of_true.empty())
    throw invalid_argument("true_fn and false_fn must return at least one result." + nodes.place(without_slash(scope.text())));
  for (std::size_t k = 0; k < of_true.size(); ++k)
    if (base_of(to_data_type(of_true[k].type())) != base_of(to_data_type(of_false[k].type())))
      throw invalid_argument("Outputs of true_fn and false_fn must have the same type: " + describe(of_true[k]) + " and " +
                             describe(of_false[k]) + nodes.place(without_slash(scope.text())));
  std::vector<output> merged;
  for (std::size_t k = 0; k < of_true.size(); ++k) {
    const bool both_references = is_reference_result(*g.at(of_true[k].index()).op, of_true[k].port()) &&
                                 is_reference_result(*g.at(of_false[k].index()).op, of_false[k].port());
    merged.push_back(call_operator(g, both_references ? "RefMerge" : "Merge", {of_false[k], of_true[k]}, {}, "Merge").result());
  }
  if (!is_nested)
    for (cond_context* c : {&context_true, &context_false}) nodes.cond_contexts.push_back(c);
  return merged;
}

template <class R>
constexpr int form_number() {
  if constexpr (std::is_void_v<R> || std::is_same_v<R, graph_operation>) return 0;
  else if constexpr (is_single<R>) return 1;
  else return 2;
}

}  // namespace detail

/// The results of one of two functions, chosen by a predicate at run time. Both are called at once, in this order, and make the nodes
/// of their branches. Each returns a tensor (or a value, which becomes a constant of the branch), several of them in a vector, an array
/// or a tuple, an operation, or nothing: then all nodes made in the branch run. The result has the type of the true function's: a
/// tensor, an array or a vector of tensors, an operation.
/// Shapes: predicate []; results as far as both branches agree. Dtypes: those of both branches.
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
