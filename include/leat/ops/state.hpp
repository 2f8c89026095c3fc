#pragma once
// Writes of variables, and ordering within a step. A variable that is an operand has its value from the start of the step. Writes happen
// after all such reads, except reads by nodes that `after` makes wait for the writes.

#include <leat/core/list.hpp>
#include <leat/ops/nn.hpp>

namespace leat {

namespace rule {
/// Rule of assignments. Inputs: the variable, the value. The result is the variable's new value.
template <takes T>
struct assignment {
  static constexpr op_kind kind = op_kind::assign;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != x.type(1)) return inference::wrong("dtypes differ (cast<T>(x) converts)");
    if (!fits(T, x.type(0))) return inference::wrong(refusal(T));
    if (!may_equal(x.extent(0), x.extent(1))) return inference::wrong("the value's shape is not the variable's");
    return {x.type(0), known_of(x.extent(0), x.extent(1))};
  }
};
}  // namespace rule

struct assign_op : rule::assignment<rule::takes::any> {
  static constexpr std::string_view type = "Assign";
  static constexpr facts what{.is = nature::effect, .narrow = narrow_rule::any, .written = {1}, .stops_gradient = true};
  static constexpr field form[]{{field_kind::reference, "ref"},
                                {field_kind::operand, "value"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_flag, "use_locking", 1},
                                {field_kind::fixed_flag, "validate_shape", 1}};
};
struct assign_add_op : rule::assignment<rule::takes::number> {
  static constexpr std::string_view type = "AssignAdd";
  static constexpr facts what{.is = nature::effect, .written = {1}, .adds = true, .stops_gradient = true};
  static constexpr field form[]{{field_kind::reference, "ref"},
                                {field_kind::operand, "value"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_flag, "use_locking", 0}};
};
struct assign_sub_op : rule::assignment<rule::takes::number> {
  static constexpr std::string_view type = "AssignSub";
  static constexpr facts what{.is = nature::effect, .written = {1}, .adds = true, .stops_gradient = true};
  static constexpr field form[]{{field_kind::reference, "ref"},
                                {field_kind::operand, "value"},
                                {field_kind::type_of, "T"},
                                {field_kind::fixed_flag, "use_locking", 0}};
};

namespace detail {
struct not_a_variable {
  static constexpr message text() { return message{} << "only a variable can be assigned to"; }
};
template <class V>
struct assignment_refusal {
  using problem = error_in_expression<problem_text<not_a_variable>(), operand_text<V>()>;
};
template <class V>
concept variable_expression = tensor_expression<V> && requires { structure_with<typename V::identity>::is_variable; };
}  // namespace detail
/// A variable, or a handle to one: the target of an assignment.
template <class V>
concept assignable = std::is_same_v<V, output> || detail::variable_expression<V>;

#define LEAT_TAKES_VARIABLE(function)                                                                                                  \
  LEAT_OTHERWISE(#function "(variable, value) takes a variable, then a tensor or a number; an array is assigned by "                    \
                           "session.assign(variable, array), or fed to a placeholder that is the value") function(...) LEAT_DELETED
/// variable = value; the result is the new value. A number may stand for a scalar value. Shapes and dtypes: value and result as the
/// variable. Source: TensorFlow `Assign`.
template <class V, class X>
  requires(assignable<V> && accepted<assign_op, V, X>)
constexpr made<assign_op, V, X> assign(const V& variable, const X& value) {
  return make<assign_op>(variable, value);
}
template <class V, class X>
  requires(assignable<V> && refused<assign_op, V, X>)
why<assign_op, V, X> assign(const V&, const X&) = delete;
template <class V, class X>
  requires(tensor_expression<V> && !assignable<V>)
typename detail::assignment_refusal<V>::problem assign(const V&, const X&) = delete;
template <class V, class X, LEAT_SITE>
  requires(assignable<V> && number_or_constant<X> && !operand_and_fraction<V, X>)
constexpr auto assign(const V& variable, const X& value) {
  return make<assign_op>(variable, detail::beside<Site>(variable, value));
}
template <class V, class X>
  requires(assignable<V> && operand_and_fraction<V, X>)
why_beside<V, X> assign(const V&, const X&) = delete;
LEAT_TAKES_VARIABLE(assign);

/// variable += value; the result is the new value. A number may stand for a scalar value. Shapes: value and result as the variable. Dtypes:
/// numbers. Source: TensorFlow `AssignAdd`.
template <class V, class X>
  requires(assignable<V> && accepted<assign_add_op, V, X>)
constexpr made<assign_add_op, V, X> assign_add(const V& variable, const X& value) {
  return make<assign_add_op>(variable, value);
}
template <class V, class X>
  requires(assignable<V> && refused<assign_add_op, V, X>)
why<assign_add_op, V, X> assign_add(const V&, const X&) = delete;
template <class V, class X>
  requires(tensor_expression<V> && !assignable<V>)
typename detail::assignment_refusal<V>::problem assign_add(const V&, const X&) = delete;
template <class V, class X, LEAT_SITE>
  requires(assignable<V> && number_or_constant<X> && !operand_and_fraction<V, X>)
constexpr auto assign_add(const V& variable, const X& value) {
  return make<assign_add_op>(variable, detail::beside<Site>(variable, value));
}
template <class V, class X>
  requires(assignable<V> && operand_and_fraction<V, X>)
why_beside<V, X> assign_add(const V&, const X&) = delete;
LEAT_TAKES_VARIABLE(assign_add);

/// variable -= value; the result is the new value. A number may stand for a scalar value. Shapes: value and result as the variable. Dtypes:
/// numbers. Source: TensorFlow `AssignSub`.
template <class V, class X>
  requires(assignable<V> && accepted<assign_sub_op, V, X>)
constexpr made<assign_sub_op, V, X> assign_sub(const V& variable, const X& value) {
  return make<assign_sub_op>(variable, value);
}
template <class V, class X>
  requires(assignable<V> && refused<assign_sub_op, V, X>)
why<assign_sub_op, V, X> assign_sub(const V&, const X&) = delete;
template <class V, class X>
  requires(tensor_expression<V> && !assignable<V>)
typename detail::assignment_refusal<V>::problem assign_sub(const V&, const X&) = delete;
template <class V, class X, LEAT_SITE>
  requires(assignable<V> && number_or_constant<X> && !operand_and_fraction<V, X>)
constexpr auto assign_sub(const V& variable, const X& value) {
  return make<assign_sub_op>(variable, detail::beside<Site>(variable, value));
}
template <class V, class X>
  requires(assignable<V> && operand_and_fraction<V, X>)
why_beside<V, X> assign_sub(const V&, const X&) = delete;
LEAT_TAKES_VARIABLE(assign_sub);
#undef LEAT_TAKES_VARIABLE

/// An operation that has only control inputs. Source: TensorFlow `NoOp`, as `group` builds it.
struct group_op {
  static constexpr std::string_view type = "NoOp";
  static constexpr op_kind kind = op_kind::group;
  static constexpr inference infer(const operand_list&) { return {}; }
};

namespace detail {

template <class... Es>
struct group_structure : numbers_of<Es...> {
  template <class E>
  static constexpr int enter(graph& g) {
    const int controls[]{flatten<Es>(g)...};
    return g.add(info_of<group_op>, {}, {}, controls);
  }
};

// Adds a node like `index` that also waits for `controls`: for a group, a group of such nodes; for an assignment, or a row without a value
// such as a deferred training step, a copy; for any other node, its identity.
constexpr int copy_after(graph& g, int index, std::span<const int> controls) {
  const node n = g.at(index);
  detail::list<int> inputs;
  detail::list<int> waits;
  for (int k = 0; k < n.control_count; ++k) waits.push_back(g.control(n, k));
  if (n.op->kind == op_kind::group) {
    for (int& w : waits) w = copy_after(g, w, controls);
    return g.add(info_of<group_op>, {}, {}, waits);
  }
  for (int c : controls) waits.push_back(c);
  if (n.op->kind != op_kind::assign && n.result.type != dtype::invalid) {
    inputs.push_back(index);
    return g.add(info_of<identity_op>, inputs, {}, waits);
  }
  for (int k = 0; k < n.input_count; ++k) inputs.push_back(g.input(n, k));
  detail::list<std::int64_t> numbers;
  for (int k = 0; k < n.attribute_count; ++k) numbers.push_back(g.attribute(n, k));
  return g.add(*n.op, inputs, numbers, waits);
}

template <class X, class... Updates>
struct after_structure : numbers_of<X, Updates...> {
  template <class E>
  static constexpr int enter(graph& g) {
    const int controls[]{flatten<Updates>(g)...};
    return copy_after(g, flatten<X>(g), controls);
  }
};

template <std::uint64_t Salt, class... Es>
inline constexpr std::uint64_t expressions_hash = [] {
  auto h = mix(Salt, sizeof...(Es));
  ((h = mix(h, Es::identity::hash)), ...);
  return h;
}();

}  // namespace detail

/// An operation that runs all of its arguments. Source: TensorFlow `group`.
template <expression... Es>
constexpr auto group(const Es&... es) {
  using result = typename detail::record<id<detail::expressions_hash<201, Es...>>, detail::group_structure<Es...>>::operation;
  return detail::carry_all<result>(es...);
}
LEAT_OTHERWISE("group(a, b, ...) takes expressions: assignments, training steps, tensors") group(...) LEAT_DELETED;

/// `x`, after `updates`. If x is an update (an assignment or a training step), it writes after them. If x is a variable, it is read after
/// them, so that the result is its new value. Any other expression keeps the value computed from the start of the step. Shapes and dtypes:
/// any; result as x. Source: TensorFlow `control_dependencies` with `identity`.
template <expression X, expression... Updates>
constexpr auto after(const X& x, const Updates&... updates) {
  using structure = detail::after_structure<X, Updates...>;
  using record = detail::record<id<detail::expressions_hash<202, X, Updates...>>, structure>;
  if constexpr (tensor_expression<X>)
    return detail::carry_all<typename record::template tensor<typename X::element, typename X::extents>>(x, updates...);
  else
    return detail::carry_all<typename record::operation>(x, updates...);
}
LEAT_OTHERWISE("after(x, updates...) takes an expression and those that come before it; " LEAT_TENSORS) after(...) LEAT_DELETED;

}  // namespace leat
