#pragma once
// Implementation of check.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/graph/call.hpp>

namespace leat::detail {

struct comparison_words {
  std::string_view symbol;
  std::string_view name;
};
using comparison_function = output (*)(const operand_value&, const operand_value&, std::string_view, const std::source_location&);

LEAT_FUNCTION graph_operation assert_node(const output& condition, const std::vector<output>& data, std::int64_t summarize,
                                          std::string_view name) {
  std::vector<number_argument> inputs{condition};
  inputs.insert(inputs.end(), data.begin(), data.end());
  return call_operator(condition.owner(), "Assert", inputs, {{"summarize", summarize}}, name);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_operation check(const output& condition, const std::vector<operand_value>& data, const check_options& options,
                                    const std::source_location& where) {
  if (!static_cast<bool>(condition)) throw invalid_argument("check: a condition that is no node of a graph");
  graph& g = condition.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, options.name.empty() ? "Assert" : options.name);
  g.named().name_number(g, condition, "condition");
  const output holds = g.named().value_of(condition);
  const auto is_text = [](const operand_value& v) {
    const data_type type = v.tensor() != nullptr ? to_data_type(v.tensor()->type()) : v.literal()->type();
    return base_of(type) == data_type::string || base_of(type) == data_type::int32;
  };
  for (const operand_value& v : data)  // made before the form is chosen, as in TensorFlow
    if (v.literal() != nullptr) g.named().make_constant(g, *v.literal(), "Const");
  const bool plain = std::all_of(data.begin(), data.end(), is_text);
  const auto make = [&] {
    const name_scope inner(g, "Assert");
    std::vector<output> tensors;
    for (std::size_t k = 0; k < data.size(); ++k) tensors.push_back(detail::as_tensor(g, data[k], "data_" + std::to_string(k)));
    return detail::assert_node(holds, tensors, options.summarize, inner.text());
  };
  if (plain) return make();
  return cond(holds, [] { return no_op(); }, make, "AssertGuard", where);
}

}  // namespace leat

namespace leat::detail {

LEAT_FUNCTION graph_operation check_pair(const comparison_words& words, comparison_function compare, std::string_view compare_name,
                                         const operand_value& x_given, const operand_value& y_given, const std::vector<operand_value>& data,
                                         const check_options& options, const std::source_location& where) {
  graph& g = graph_of(std::array{x_given, y_given});
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, options.name.empty() ? words.name : options.name);
  const auto beside = [](const operand_value& v, const operand_value& other) {
    if (v.literal() == nullptr || other.tensor() == nullptr || !is_number(other.tensor()->type()) ||
        v.literal()->type() == data_type::string)
      return v;
    return operand_value(v.literal()->as(other.tensor()->type()));
  };
  const output x = as_tensor(g, beside(x_given, y_given), "x");
  const output y = as_tensor(g, beside(y_given, x_given), "y");
  std::vector<operand_value> shown = data;
  if (shown.empty())
    shown = {"",
             "Condition x " + std::string(words.symbol) + " y did not hold element-wise:",
             "x (" + x.name() + ") = ",
             x,
             "y (" + y.name() + ") = ",
             y};
  const output holds = compare(x, y, compare_name, where);
  return check(reduce_all(holds, all_axes, keep_dims::no, "All"), shown, {.summarize = options.summarize}, where);
}

LEAT_FUNCTION graph_operation check_sign(const output& x_given, std::string_view symbol, std::string_view name, bool zero_first,
                                         const comparison_words& words, comparison_function compare, std::string_view compare_name,
                                         const check_options& options, const std::source_location& where) {
  graph& g = x_given.owner();
  const default_graph_scope here(g);
  const name_scope scope(g, options.name.empty() ? name : options.name);
  const output x = g.named().value_of(x_given);
  const std::vector<operand_value> shown{
      "", "Condition x " + std::string(symbol) + " 0 did not hold element-wise:", "x (" + x.name() + ") = ", x};
  const output zero = g.named().make_constant(g, {x.type(), {}, 0}, "Const");
  return check_pair(words, compare, compare_name, zero_first ? zero : x, zero_first ? x : zero, shown, {.summarize = options.summarize},
                    where);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_operation check_rank(const output& x_given, std::int32_t rank, const check_options& options,
                                         const std::source_location& where) {
  graph& g = x_given.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, options.name.empty() ? "assert_rank" : options.name);
  const output x = g.named().value_of(x_given);
  const output wanted = constant(rank, "rank");
  if (x.extent().has_rank()) {
    if (x.extent().rank != rank)
      throw invalid_argument(std::string(without_slash(scope.text())) + ".  Tensor " + x.name() + " must have rank " +
                             std::to_string(rank) + ".  Received rank " + std::to_string(x.extent().rank) + ", shape " +
                             leat::shape_text(x.extent()));
    const control_dependencies free(nullptr);
    return no_op("static_checks_determined_all_ok");
  }
  const output shown = shape_of(x);
  const output is = rank_of(x);
  return check(equal(is, wanted), {"", "Tensor " + x.name() + " must have rank", wanted, "Received shape: ", shown},
               {.summarize = options.summarize}, where);
}

LEAT_FUNCTION graph_operation check_positive(const output& x, const check_options& options, const std::source_location& where) {
  return detail::check_sign(x, ">", "assert_positive", true, {"<", "assert_less"}, less, "Less", options, where);
}

LEAT_FUNCTION graph_operation check_negative(const output& x, const check_options& options, const std::source_location& where) {
  return detail::check_sign(x, "<", "assert_negative", false, {"<", "assert_less"}, less, "Less", options, where);
}

LEAT_FUNCTION graph_operation check_non_negative(const output& x, const check_options& options, const std::source_location& where) {
  return detail::check_sign(x, ">=", "assert_non_negative", true, {"<=", "assert_less_equal"}, less_equal, "LessEqual", options, where);
}

LEAT_FUNCTION graph_operation check_non_positive(const output& x, const check_options& options, const std::source_location& where) {
  return detail::check_sign(x, "<=", "assert_non_positive", false, {"<=", "assert_less_equal"}, less_equal, "LessEqual", options, where);
}

#define LEAT_CHECK_PAIR(function, symbol, scope_name, comparison, node_name)                                           \
  LEAT_FUNCTION graph_operation function(const operand_value& x, const operand_value& y, const check_options& options, \
                                         const std::source_location& where) {                                          \
    return detail::check_pair({symbol, scope_name}, comparison, node_name, x, y, {}, options, where);                  \
  }
LEAT_CHECK_PAIR(check_equal, "==", "assert_equal", equal, "Equal")
LEAT_CHECK_PAIR(check_not_equal, "!=", "assert_none_equal", not_equal, "NotEqual")
LEAT_CHECK_PAIR(check_less, "<", "assert_less", less, "Less")
LEAT_CHECK_PAIR(check_less_equal, "<=", "assert_less_equal", less_equal, "LessEqual")
LEAT_CHECK_PAIR(check_greater, ">", "assert_greater", greater, "Greater")
LEAT_CHECK_PAIR(check_greater_equal, ">=", "assert_greater_equal", greater_equal, "GreaterEqual")
#undef LEAT_CHECK_PAIR

}  // namespace leat
