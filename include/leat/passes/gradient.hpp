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

constexpr void add_gradients(const op_info& op, graph& g, int index, gradient_scope& scope);

/// The gradients of the sum of `ys`, each weighed by `weights`, with respect to each of `xs`, as node indices; -1 if no y depends on x
/// through operators that have a gradient. A weight has its y's dtype and shape; -1 stands for ones.
constexpr list<int> gradients(graph& g, std::span<const int> ys, std::span<const int> weights, std::span<const int> xs) {
  int last = ys[0];
  for (int y : ys) last = y > last ? y : last;
  const auto count = static_cast<std::size_t>(last) + 1;
  list<char> wanted(count, 0);
  for (int x : xs)
    if (x <= last) wanted[x] = 1;
  for (std::size_t i = 0; i < count; ++i) {
    const node& n = g.nodes[i];
    if (wanted[i] != 0 || !passes_gradient(n)) continue;
    for (int k = 0; k < n.input_count; ++k)
      if (wanted[g.input(n, k)] != 0) wanted[i] = 1;
  }
  list<int> slot(count, -1);
  for (std::size_t k = 0; k < ys.size(); ++k) {
    if (wanted[ys[k]] == 0) continue;
    const tensor_info seed = g.at(ys[k]).result;
    const output weight = weights[k] < 0 ? constant(g, seed.type, seed.extent, 1) : output(g, weights[k]);
    int& sum = slot[ys[k]];
    sum = sum < 0 ? weight.index() : (output(g, sum) + weight).index();
  }
  for (int i = last; i >= 0; --i) {
    const auto at = static_cast<std::size_t>(i);
    const op_info* op = g.nodes[at].op;
    if (slot[at] < 0 || wanted[at] == 0 || !passes_gradient(g.nodes[at])) continue;
    gradient_scope scope(g, i, output(g, slot[at]), &slot, &wanted);
    add_gradients(*op, g, i, scope);
  }
  list<int> result;
  for (int x : xs) result.push_back(x <= last ? slot[x] : -1);
  return result;
}
/// Adds the gradients of the operands of node `index`: by its class, or, for a composite whose class has no `gradient`, by the operators
/// that it stands for. Those take stand-ins of the operands, since one operand may depend on another.
constexpr void add_gradients(const op_info& op, graph& g, int index, gradient_scope& scope) {
  if (op.gradient != nullptr) {
    op.gradient(scope);
    return;
  }
  list<int> stand_ins;
  list<std::int64_t> numbers;
  for (int k = 0; k < scope.input_count(); ++k) stand_ins.push_back(make_node<identity_op>({}, scope.input(k)).index());
  for (int k = 0; k < g.at(index).attribute_count; ++k) numbers.push_back(g.attribute(g.at(index), k));
  gradient_scope inner(g, g.add(op, stand_ins, numbers), {}, nullptr, nullptr);
  const int made = op.expand(inner).index(), weight = scope.dy().index();
  const list<int> gradient = gradients(g, {&made, 1}, {&weight, 1}, stand_ins);
  for (int k = 0; k < scope.input_count(); ++k) {
    bool is_first = true;  // equal operands may share a stand-in, which has the gradient of both
    for (int j = 0; j < k; ++j) is_first = is_first && stand_ins[j] != stand_ins[k];
    if (is_first && scope.wants(k) && gradient[k] >= 0) give(scope, k, output(g, gradient[k]));
  }
}

/// The gradients of `y` (summed, if it is not a scalar).
constexpr list<int> gradients(graph& g, int y, std::span<const int> xs) {
  const int ones = -1;
  return gradients(g, {&y, 1}, {&ones, 1}, xs);
}

/// The tangents of `ys`, that is, how they move where each of `xs` moves along its entry of `along`, as node indices; -1 if no x moves y.
/// A gradient by reverse mode is linear in the weights of the ys. The gradient of that, by the weights, is forward mode: the rules of
/// reverse mode are the only ones that operators need, and the weights, here unknown constants, do not occur in the result. Source:
/// Townsend, "A new trick for calculating Jacobian vector products" (2017); Radul et al., "You Only Linearize Once" (2023).
constexpr list<int> tangents(graph& g, std::span<const int> ys, std::span<const int> xs, std::span<const int> along) {
  list<int> weights;
  const std::int64_t any[]{0};
  for (int y : ys) weights.push_back(g.add_leaf(info_of<constant_op>, g.at(y).result, {}, 0, any));
  const list<int> gradient = gradients(g, ys, {weights.data(), weights.size()}, xs);
  list<int> moved, by;
  for (std::size_t k = 0; k < gradient.size(); ++k)
    if (gradient[k] >= 0) {
      moved.push_back(gradient[k]);
      by.push_back(along[k]);
    }
  if (moved.empty()) return list<int>(ys.size(), -1);
  return gradients(g, {moved.data(), moved.size()}, {by.data(), by.size()}, {weights.data(), weights.size()});
}

/// Kinds of derivatives that are computed together: gradients of sums, gradients of weighed sums (vjp), tangents (jvp).
enum class derivative_kind : std::int64_t { gradient, weighed_gradient, tangent };

/// The derivatives of one call: for each x, or, of tangents, for each y. `operands` are the ys, the xs, and what goes with the kind: a
/// weight for each y, or for each x the direction in which it moves.
constexpr list<int> derivatives(graph& g, derivative_kind kind, std::span<const int> operands, std::size_t y_count) {
  const auto ys = operands.first(y_count);
  const auto rest = operands.subspan(y_count);
  if (kind == derivative_kind::tangent) return tangents(g, ys, rest.first(rest.size() / 2), rest.subspan(rest.size() / 2));
  if (kind == derivative_kind::weighed_gradient) {
    const auto x_count = rest.size() - y_count;
    return gradients(g, ys, rest.subspan(x_count), rest.first(x_count));
  }
  const list<int> ones(y_count, -1);
  return gradients(g, ys, {ones.data(), ones.size()}, rest);
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

// One of several derivatives of one call, in tables that defer them. Operands: as `passes::derivatives` takes them. Attributes: which one,
// an id shared by all of the call, the kind, and the number of ys.
struct deferred_gradient_op {
  static constexpr std::string_view type = "leat.Gradients";
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    const bool is_tangent = x.attribute(2) == static_cast<std::int64_t>(passes::derivative_kind::tangent);
    const int k = static_cast<int>(x.attribute(0) + (is_tangent ? 0 : x.attribute(3)));
    return {x.type(k), x.extent(k)};
  }
};

// Enters derivative I of a call. All of them are computed when the first of them enters the graph.
template <std::uint64_t Base>
constexpr int enter_derivative(graph& g, std::size_t i, passes::derivative_kind kind, std::span<const int> operands, std::size_t y_count) {
  if (g.defers) {
    const std::int64_t numbers[]{static_cast<std::int64_t>(i), static_cast<std::int64_t>(Base), static_cast<std::int64_t>(kind),
                                 static_cast<std::int64_t>(y_count)};
    const int made = g.add(info_of<deferred_gradient_op>, {operands.data(), operands.size()}, numbers);
    g.remember(mix(Base, i + 1000), made);
    return made;
  }
  const auto made = passes::derivatives(g, kind, operands, y_count);
  for (std::size_t k = 0; k < made.size(); ++k) g.remember(mix(Base, k + 1000), made[k]);
  return made[i];
}

// The structure of one of several gradients.
template <std::uint64_t Base, std::size_t I, class Y, class... Xs>
struct gradient_structure : numbers_of<Y, Xs...> {
  template <class E>
  static constexpr int enter(graph& g) {
    if (const int known = g.find(mix(Base, I + 1000)); known >= 0) return known;
    const int operands[]{flatten<Y>(g), flatten<Xs>(g)...};
    return enter_derivative<Base>(g, I, passes::derivative_kind::gradient, operands, 1);
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
