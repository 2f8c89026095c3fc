#pragma once
// Reverse-mode differentiation of a graph. From the last node to the first, each operator adds the gradients of its inputs, as new nodes
// made of the library's own operators. A gradient is therefore an expression like any other, and can be differentiated again. Source:
// Griewank and Walther, "Evaluating Derivatives"; TensorFlow's `gradients`.

#include <leat/core/list.hpp>
#include <leat/ops/state.hpp>
#include <tuple>

namespace leat {

namespace passes {

using leat::detail::list;

/// Whether a gradient flows through a node to its operands; none flows through integers and bool.
constexpr bool passes_gradient(const node& n) {
  return n.op->has_gradient && is_floating(n.result.type) && !is_operator<stop_gradient_op>(*n.op);
}

/// The gradients of `y` (summed, if it is not a scalar) with respect to each of `xs`, as node indices; -1 if `y` does not depend on x
/// through operators that have a gradient.
constexpr list<int> gradients(graph& g, int y, std::span<const int> xs) {
  const auto count = static_cast<std::size_t>(y) + 1;
  list<char> wanted(count, 0);
  for (int x : xs)
    if (x <= y) wanted[x] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const node& n = g.nodes[i];
    if (wanted[i] != 0 || !passes_gradient(n)) continue;
    for (int k = 0; k < n.input_count; ++k)
      if (wanted[g.input(n, k)] != 0) wanted[i] = 1;
  }
  list<int> slot(count, -1);
  if (wanted[count - 1] != 0) {
    const tensor_info seed = g.at(y).result;
    slot[count - 1] = constant(g, seed.type, seed.extent, 1).index();
  }
  list<char> is_target(count, 0);
  for (int x : xs)
    if (x <= y) is_target[x] = 1;
  for (int i = y; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const op_info* op = g.nodes[at].op;
    if (slot[at] < 0 || wanted[at] == 0 || !passes_gradient(g.nodes[at])) continue;
    gradient_scope scope(g, i, output(g, slot[at]), &slot, &wanted);
    op->gradient(scope);
  }
  list<int> result;
  for (int x : xs) result.push_back(x <= y ? slot[x] : -1);
  return result;
}

/// All trainable floating-point variables on which node `y` depends through operators that have a gradient.
constexpr list<int> trainable_variables(const graph& g, int y) {
  list<char> reached(static_cast<std::size_t>(y) + 1, 0);
  reached[y] = 1;
  list<int> found;
  for (int i = y; i >= 0; --i) {
    const node& n = g.at(i);
    if (reached[i] == 0) continue;
    if (n.op->kind == op_kind::variable && g.attribute(n, 1) != 0 && is_floating(n.result.type)) found.push_back(i);
    if (!passes_gradient(n)) continue;
    for (int k = 0; k < n.input_count; ++k) reached[g.input(n, k)] = 1;
  }
  for (std::size_t i = 0, j = found.size(); i + 1 < j; ++i) {  // in order of creation
    --j;
    const int t = found[i];
    found[i] = found[j];
    found[j] = t;
  }
  return found;
}

/// The reason why no gradient flows from `y` to `x`; empty if one does.
constexpr message obstacle(const graph& g, int y, int x) {
  list<char> reached(static_cast<std::size_t>(y) + 1, 0);
  list<char> open(static_cast<std::size_t>(y) + 1, 0);
  reached[y] = open[y] = 1;
  std::string_view wall;
  for (int i = y; i >= 0 && x <= y; --i) {
    const node& n = g.at(i);
    const auto at = static_cast<std::size_t>(i);
    if (reached[at] == 0) continue;
    const bool passes = open[at] != 0 && passes_gradient(n);
    if (open[at] != 0 && !passes && n.input_count > 0 && wall.empty()) wall = n.op->type;
    for (int k = 0; k < n.input_count; ++k) {
      const auto to = static_cast<std::size_t>(g.input(n, k));
      reached[to] = 1;
      if (passes) open[to] = 1;
    }
  }
  message m;
  if (x <= y && open[x] != 0) return m;
  if (x > y || reached[x] == 0)
    m << "the first does not depend on the second";
  else
    m << "no gradient passes " << wall;
  return m;
}

}  // namespace passes

namespace detail {

template <class Y, class... Xs>
struct gradient_problem {
  static constexpr message text() {
    message m;
    if constexpr (!is_floating(Y::type)) return m << "gradients: only of floating-point expressions";
    graph g;
    const int y = flatten<Y>(g);
    const int xs[]{flatten<Xs>(g)...};
    for (int x : xs) {
      const message o = passes::obstacle(g, y, x);
      if (o.size > 0) return m << "gradients: " << o.view();
    }
    return m;
  }
  static constexpr bool none = text().size == 0;
};
template <class Y, class... Xs>
struct gradient_refusal {};  // for non-tensors, because clang instantiates the return type before it checks constraints
template <tensor_expression Y, tensor_expression X, tensor_expression... Xs>
struct gradient_refusal<Y, X, Xs...> {
  using problem =
      error_in_expression<problem_text<gradient_problem<Y, X, Xs...>>(), operand_text<Y>(), operand_text<X>(), operand_text<Xs>()...>;
};

template <std::uint64_t Base>
constexpr std::uint64_t gradient_hash(std::size_t k) {
  return mix(Base, k + 1);
}

// One of several gradients, in tables that defer them. Operands: y, then the xs. Attributes: the index of x, and an id shared by the
// gradients of one call.
struct deferred_gradient_op {
  static constexpr std::string_view type = "leat.Gradients";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const int k = static_cast<int>(x.attribute(0)) + 1;
    return {x.type(k), x.extent(k)};
  }
};

// The structure of one of several gradients. All are computed when the first of them enters the graph.
template <std::uint64_t Base, std::size_t I, class Y, class... Xs>
struct gradient_structure : numbers_of<Y, Xs...> {
  template <class E>
  static constexpr int enter(graph& g) {
    if (const int known = g.find(mix(Base, I + 1000)); known >= 0) return known;
    if (g.defers) {
      const int inputs[]{flatten<Y>(g), flatten<Xs>(g)...};
      const std::int64_t numbers[]{static_cast<std::int64_t>(I), static_cast<std::int64_t>(Base)};
      const int made = g.add(info_of<deferred_gradient_op>, inputs, numbers);
      g.remember(mix(Base, I + 1000), made);
      return made;
    }
    const int xs[]{flatten<Xs>(g)...};
    const auto made = passes::gradients(g, flatten<Y>(g), xs);
    for (std::size_t k = 0; k < made.size(); ++k) g.remember(mix(Base, k + 1000), made[k]);
    return made[I];
  }
};

template <class Y, class... Xs, std::size_t... I>
constexpr auto make_gradients(std::index_sequence<I...>, const Y& y, const Xs&... xs) {
  constexpr std::uint64_t base = expressions_hash<301, Y, Xs...>;
  return std::tuple<typename record<id<gradient_hash<base>(I)>, gradient_structure<base, I, Y, Xs...>>::template tensor<
      typename Xs::element, typename Xs::extents>...>{
      carry_all<typename record<id<gradient_hash<base>(I)>, gradient_structure<base, I, Y, Xs...>>::template tensor<
          typename Xs::element, typename Xs::extents>>(y, xs...)...};
}

}  // namespace detail

/// The gradients of `y` with respect to each of `xs`, as a tuple of expressions: `auto [dw, db] = gradients(loss, w, b)`. Shapes: each as
/// its x; a y that is not a scalar is summed. Dtypes: floating point. Errors (at compile time): y does not depend on an x, or no gradient
/// flows between them. Source: TensorFlow `gradients`.
template <tensor_expression Y, tensor_expression... Xs>
  requires(sizeof...(Xs) > 0 && detail::gradient_problem<Y, Xs...>::none)
[[nodiscard("gradients are expressions: fetch them, or make a training step of them")]]
constexpr auto gradients(const Y& y, const Xs&... xs) {
  return detail::make_gradients(std::index_sequence_for<Xs...>{}, y, xs...);
}
template <tensor_expression Y, tensor_expression... Xs>
  requires(sizeof...(Xs) > 0 && !detail::gradient_problem<Y, Xs...>::none)
typename detail::gradient_refusal<Y, Xs...>::problem gradients(const Y&, const Xs&...) = delete;
LEAT_OTHERWISE("gradients(y, x1, x2, ...) takes the tensor to differentiate, then those to differentiate by; " LEAT_TENSORS)
gradients(...) LEAT_DELETED;

}  // namespace leat
