#pragma once
// Jacobians and Hessians as expressions. All directions (or all weights, in reverse mode) pass through the graph together, as an axis of
// models (`passes/batching.hpp`); where each entry of a batch depends on its own entry alone, one pass serves the whole batch.

#include <leat/passes/batching.hpp>
#include <leat/passes/derivatives.hpp>
#include <leat/passes/separable.hpp>

namespace leat {

/// How a Jacobian is computed: in as many passes as `x` has elements (forward) or as `y` has (reverse); `fewest` takes the fewer.
enum class jacobian_mode { fewest, forward, reverse };

namespace passes {

/// The shapes of a Jacobian whose operands have their first `shared` axes in common.
struct jacobian_shapes {
  shape y, x;
  int shared = 0;

  static constexpr shape from(const shape& of, int first) {
    shape rest;
    for (int k = first; k < of.rank; ++k) rest.push(of[k]);
    return rest;
  }
  static constexpr void add(shape& to, const shape& more) {
    for (int k = 0; k < more.rank; ++k) to.push(more[k]);
  }
  constexpr shape y_part() const { return from(y, shared); }
  constexpr shape x_part() const { return from(x, shared); }
  constexpr shape common() const {
    shape first = y;
    first.rank = shared;
    return first;
  }
  /// The shape of each entry's Jacobian, along the shared axes: [shared, y, x].
  constexpr shape blocks() const {
    shape all = y;
    add(all, x_part());
    return all;
  }
};

/// Whether a Jacobian of these shapes is computed forward, and the problem if it cannot be computed.
constexpr bool goes_forward(const jacobian_shapes& s, jacobian_mode mode) {
  if (mode != jacobian_mode::fewest) return mode == jacobian_mode::forward;
  if (!s.x_part().is_static() || !s.y_part().is_static()) return s.x_part().is_static();
  return s.x_part().elements() <= s.y_part().elements();
}

/// Positions along one axis, in an array of `rank` dimensions whose others are 1.
constexpr output positions_along(graph& g, std::int64_t size, int axis, int rank, bool of_directions = false) {
  shape line, wide;
  line.push(size);
  for (int k = 0; k < rank; ++k) wide.push(k == axis ? size : 1);
  return reshape_to(index_along(g, dtype::int64, line, 0, of_directions && !g.is_written), wide);
}

/// The arrays that are 1 at one element and 0 elsewhere, for all elements of `part`: [elements, 1..., part...], where `ones` sizes of 1
/// stand for the shared axes.
constexpr output unit_arrays(graph& g, dtype type, const shape& part, int ones) {
  const std::int64_t count = part.elements();
  shape all;
  all.push(count);
  for (int k = 0; k < ones; ++k) all.push(1);
  jacobian_shapes::add(all, part);
  return reshape_to(cast_to(equal(positions_along(g, count, 0, 2, true), positions_along(g, count, 1, 2, true)), type), all);
}

/// One Jacobian: of node `y` of `one` by node `x` of it. The nodes that it needs are written to `g`.
class jacobian_writer {
 public:
  constexpr jacobian_writer(graph& one, int y, int x, const jacobian_shapes& s, bool forward, graph& g)
      : one_(one), y_(y), x_(x), s_(s), forward_(forward), g_(g), moved_(one.at(forward ? x : y).result),
        part_(forward ? s.x_part() : s.y_part()) {}

  /// Its blocks (`jacobian_shapes::blocks`), of all passes together; -1, and the problem, if an operator is unknown to `vmap`.
  constexpr int together(message& problem) {
    const int leaf = one_.add_leaf(info_of<model_op>, moved_, {}, 0);
    const int found = one_pass(leaf);
    const std::int64_t passes = part_.elements();
    batcher all(one_, g_, passes);
    shape models;
    models.push(passes);
    jacobian_shapes::add(models, moved_.extent);
    all.put(leaf, broadcast_to(unit_arrays(g_, moved_.type, part_, s_.shared), models), 0);
    const output made = all.all(found, forward_ ? s_.y.rank : s_.shared);
    problem = all.problem();
    return problem.size > 0 ? -1 : blocks(made);
  }

  /// The same, where each pass has nodes of its own, at most `graph::max_operands` of them.
  constexpr int one_by_one() {
    const output units = unit_arrays(one_, moved_.type, part_, s_.shared);
    const std::int64_t passes = part_.elements();
    const int axis = forward_ ? s_.y.rank : s_.shared;
    if (passes == 0) return constant(g_, one_.at(y_).result.type, s_.blocks(), 0).index();
    list<int> found;
    for (std::int64_t k = 0; k < passes; ++k) {
      std::int64_t place[2 * max_rank]{};  // begins and sizes of the part
      const int rank = units.extent().rank;
      for (int a = 1; a < rank; ++a) place[rank + a] = units.extent()[a];
      place[0] = k;
      place[rank] = 1;
      const output row = make_node<slice_op>({place, static_cast<std::size_t>(2 * rank)}, units);
      shape own;
      for (int a = 1; a < rank; ++a) own.push(units.extent()[a]);
      const int pass = one_pass(broadcast_to(reshape_to(row, own), moved_.extent).index());
      shape with_axis = one_.at(pass).result.extent;
      with_axis.push(1);
      for (int a = with_axis.rank - 1; a > axis; --a) {
        with_axis.dim[a] = with_axis.dim[a - 1];
        with_axis.dim[a - 1] = 1;
      }
      found.push_back(reshape_to(output(one_, pass), with_axis).index());
    }
    const std::int64_t along[]{axis};
    const int whole = passes == 1 ? found[0] : one_.add(info_of<concat_op>, found, along);
    batcher copy(one_, g_, 1);
    return blocks(copy.shared(whole));
  }

 private:
  // The derivative for one direction, or one weight.
  constexpr int one_pass(int unit) {
    const int ys[]{y_}, xs[]{x_}, units[]{unit};
    return forward_ ? tangents(one_, ys, xs, units)[0] : gradients(one_, ys, units, xs)[0];
  }

  // The results of all passes in the shape of the blocks. Reverse mode gives them in x's dtype.
  constexpr int blocks(const output& found) const { return cast_to(reshape_to(found, s_.blocks()), one_.at(y_).result.type).index(); }

  graph& one_;
  int y_, x_;
  jacobian_shapes s_;
  bool forward_;
  graph& g_;
  tensor_info moved_;  // the tensor that is moved or weighed, and the part of it without shared axes
  shape part_;
};

/// The whole Jacobian [y, x] of one whose blocks are the Jacobians of entries along shared axes, with zeros between different entries.
constexpr int spread_blocks(graph& g, int blocks, const jacobian_shapes& s) {
  const output all(g, blocks);
  const int rank = s.y.rank + s.x.rank;
  shape wide = s.y;  // [shared, y, 1..., x]
  for (int k = 0; k < s.shared; ++k) wide.push(1);
  jacobian_shapes::add(wide, s.x_part());
  output same{};
  for (int k = 0; k < s.shared; ++k) {
    const output here = equal(positions_along(g, s.y[k], k, rank), positions_along(g, s.y[k], s.y.rank + k, rank));
    same = static_cast<bool>(same) ? logical_and(same, here) : here;
  }
  return select(same, reshape_to(all, wide), constant_like(all, 0)).index();
}

}  // namespace passes

namespace detail {

template <class Shape, std::size_t... I>
auto dims_of_shape(std::index_sequence<I...>) -> dims<Shape::value[static_cast<int>(I)]...>;

/// One Jacobian. `InBatch`: the first axis is that of a batch, as the user says; otherwise shared axes are found.
template <bool InBatch, jacobian_mode Mode, class Y, class X>
struct jacobian_call {
  static constexpr std::string_view word = InBatch ? "batch_jacobian" : "jacobian";

  static constexpr passes::jacobian_shapes shapes() {
    if (InBatch) return {Y::extent, X::extent, 1};
    graph g;
    const int y = flatten<Y>(g), x = flatten<X>(g);
    return {Y::extent, X::extent, passes::separable_axes_of(g, y, x)};
  }
  static constexpr message text() {
    message m;
    if constexpr (!gradient_problem<Y, X>::none) {
      return retold(word, "", gradient_problem<Y, X>::text().view());
    } else if constexpr (InBatch && (Y::rank == 0 || X::rank == 0)) {
      return m << word << ": both tensors have the axis of the batch first, and a scalar has none";
    } else {
      if (InBatch && Y::extent[0] != X::extent[0]) return m << word << ": the first axes, that of the batch, differ";
      const auto s = shapes();
      const bool forward = passes::goes_forward(s, Mode);
      const int rank = s.y.rank + s.x.rank - (InBatch ? 1 : 0);
      if (rank > max_rank) return m << word << ": a result of more than 8 dimensions";
      if (!(forward ? s.x_part() : s.y_part()).is_static()) {
        m << word << ": in " << (forward ? "forward" : "reverse") << " mode there is a pass for each element of the "
          << (forward ? "second" : "first") << " tensor, so the compiler must know their number";
        return m;
      }
      const message& unknown = unknown_operator<X>;
      const auto passes = (forward ? s.x_part() : s.y_part()).elements();
      if (unknown.size == 0 || passes <= static_cast<std::int64_t>(graph::max_operands)) return m;
      return m << word << ": of more than 64 passes, which go together: " << unknown.view();
    }
  }
  static constexpr bool none = text().size == 0;

  // The problem of a Jacobian whose passes go together; the compiler finds it once.
  template <class Operand>
  static constexpr message unknown_operator = [] {
    message problem;
    const auto s = shapes();
    const bool forward = passes::goes_forward(s, Mode);
    if ((InBatch && Y::extent[0] != X::extent[0]) || s.y.rank + s.x.rank - (InBatch ? 1 : 0) > max_rank ||
        !(forward ? s.x_part() : s.y_part()).is_static())
      return problem;  // `text` has said so
    graph one, g;
    const int y = flatten<Y>(one), x = flatten<Operand>(one);
    passes::jacobian_writer(one, y, x, s, forward, g).together(problem);
    return problem;
  }();

  static constexpr std::uint64_t hash = mix(expressions_hash<304, Y, X>, static_cast<std::uint64_t>(Mode) * 2 + (InBatch ? 1 : 0));
  struct structure : numbers_of<Y, X> {
    template <class E>
    static constexpr int enter(graph& g) {
      const auto s = shapes();
      graph one;
      one.is_written = g.is_written;
      const int y = flatten<Y>(one), x = flatten<X>(one);
      passes::jacobian_writer writer(one, y, x, s, passes::goes_forward(s, Mode), g);
      message no_problem;
      const int blocks = unknown_operator<X>.size == 0 ? writer.together(no_problem) : writer.one_by_one();
      return InBatch || s.shared == 0 ? blocks : passes::spread_blocks(g, blocks, s);
    }
  };
  struct extents_of_result {
    static constexpr shape value = passes::jacobian_shapes{Y::extent, X::extent, InBatch ? 1 : 0}.blocks();
  };
  using extents =
      decltype(dims_of_shape<extents_of_result>(std::make_index_sequence<static_cast<std::size_t>(extents_of_result::value.rank)>{}));
  using result = typename record<id<hash>, structure>::template tensor<typename Y::element, extents>;
};

template <bool InBatch, jacobian_mode Mode, class Y, class X>
struct jacobian_refusal {};  // for what are no tensors, because clang instantiates the return type before it checks constraints
template <bool InBatch, jacobian_mode Mode, tensor_expression Y, tensor_expression X>
struct jacobian_refusal<InBatch, Mode, Y, X> {
  using problem = error_in_expression<problem_text<jacobian_call<InBatch, Mode, Y, X>>(), operand_text<Y>(), operand_text<X>()>;
};

template <jacobian_mode Mode, class Y, class X>
struct hessian_problem {
  template <class S = Y>
  using of_slope = jacobian_call<false, Mode, std::tuple_element_t<0, slopes_of<S, X>>, X>;
  static constexpr message text() {
    if constexpr (!gradient_problem<Y, X>::none) return retold("hessian", "", gradient_problem<Y, X>::text().view());
    else return retold("hessian", ": of the gradient", of_slope<>::text().view());
  }
  static constexpr bool derives() {
    if constexpr (gradient_problem<Y, X>::none) return of_slope<>::none;
    else return false;
  }
  static constexpr bool none = derives();
};
template <jacobian_mode Mode, class Y, class X>
struct hessian_refusal {};
template <jacobian_mode Mode, tensor_expression Y, tensor_expression X>
struct hessian_refusal<Mode, Y, X> {
  using problem = error_in_expression<problem_text<hessian_problem<Mode, Y, X>>(), operand_text<Y>(), operand_text<X>()>;
};

}  // namespace detail

/// The Jacobian of y by x: element [i..., j...] is the derivative of y[i...] by x[j...]. Shape: y's, then x's; dtype: y's, floating point.
/// Mode: the number of passes is the number of elements of x (forward) or of y (reverse), whichever is fewer, or as `jacobian<
/// jacobian_mode::forward>(y, x)` asks. Along leading axes on which each entry of y depends on x's entry of the same place alone, such as
/// that of a batch, all entries share their passes, so that the Jacobian of an element-wise function takes one. Errors (at compile time): y
/// does not depend on x, or no gradient flows between them; a number of elements that the compiler does not know, in both modes; more than
/// 8 dimensions. Source: Griewank and Walther, "Evaluating Derivatives"; TensorFlow's `jacobian`.
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires detail::jacobian_call<false, Mode, Y, X>::none
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto jacobian(const Y& y, const X& x) {
  return detail::carry_all<typename detail::jacobian_call<false, Mode, Y, X>::result>(y, x);
}
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires(!detail::jacobian_call<false, Mode, Y, X>::none)
typename detail::jacobian_refusal<false, Mode, Y, X>::problem jacobian(const Y&, const X&) = delete;
LEAT_OTHERWISE("jacobian(y, x) takes two tensors; " LEAT_TENSORS) jacobian(...) LEAT_DELETED;

/// The Jacobian of each entry of a batch: element [b, i..., j...] is the derivative of y[b, i...] by x[b, j...], where each entry of y
/// depends on its own entry of x alone; otherwise the result is the sum over the entries, of forward or of reverse mode. Shape: y's, then
/// x's without its first axis. Errors: as of `jacobian`; first axes that differ. Source: TensorFlow `batch_jacobian`.
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires detail::jacobian_call<true, Mode, Y, X>::none
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto batch_jacobian(const Y& y, const X& x) {
  return detail::carry_all<typename detail::jacobian_call<true, Mode, Y, X>::result>(y, x);
}
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires(!detail::jacobian_call<true, Mode, Y, X>::none)
typename detail::jacobian_refusal<true, Mode, Y, X>::problem batch_jacobian(const Y&, const X&) = delete;
LEAT_OTHERWISE("batch_jacobian(y, x) takes two tensors; " LEAT_TENSORS) batch_jacobian(...) LEAT_DELETED;

/// The Hessian of y (summed, if it is not a scalar) by x: element [i..., j...] is the second derivative by x[i...] and x[j...]. Shape: x's
/// twice; dtype: floating point. The mode and the zeros that are known are those of the `jacobian` of the gradient. Errors: as of
/// `gradients` and `jacobian`; a gradient that does not depend on x, because y is linear. Source: Griewank and Walther.
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires(detail::hessian_problem<Mode, Y, X>::none)
[[nodiscard("derivatives are expressions: fetch them, or compute with them")]] constexpr auto hessian(const Y& y, const X& x) {
  return jacobian<Mode>(std::get<0>(gradients(y, x)), x);
}
template <jacobian_mode Mode = jacobian_mode::fewest, tensor_expression Y, tensor_expression X>
  requires(!detail::hessian_problem<Mode, Y, X>::none)
typename detail::hessian_refusal<Mode, Y, X>::problem hessian(const Y&, const X&) = delete;
LEAT_OTHERWISE("hessian(y, x) takes two tensors; " LEAT_TENSORS) hessian(...) LEAT_DELETED;

}  // namespace leat
