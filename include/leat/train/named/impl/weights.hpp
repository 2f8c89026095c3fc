#pragma once
// Implementation of named_weights.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/branch.hpp>
#include <leat/named/control/check.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/train/named/weights.hpp>

namespace leat::detail {

LEAT_FUNCTION output as_float32(graph& g, const operand_value& x) {
  if (x.tensor() != nullptr) return cast(g.named().value_of(*x.tensor()), dtype::float32);
  const name_scope scope(g, "Cast");
  return g.named().make_constant(g, x.literal()->as(dtype::float32), "x");
}

LEAT_FUNCTION void check_compatible(const output& x, const output& y) {
  if (!may_equal(x.extent(), y.extent()))
    throw invalid_argument("Shapes " + leat::shape_text(x.extent()) + " and " + leat::shape_text(y.extent()) +
                           " are incompatible: " + describe(x) + " and " + describe(y));
}

LEAT_FUNCTION void check_tensors(std::string_view function, std::initializer_list<operand_value> operands) {
  const graph* owner = nullptr;
  for (const operand_value& o : operands) {
    if (o.literal() != nullptr) {
      if (!is_number(to_dtype(o.literal()->type())) && to_dtype(o.literal()->type()) != dtype::boolean)
        throw invalid_argument(std::string(function) + ": an operand of text");
      continue;
    }
    if (!static_cast<bool>(*o.tensor())) throw invalid_argument(std::string(function) + ": an operand that is no tensor: an empty output");
    if (owner != nullptr && owner != &o.tensor()->owner()) throw invalid_argument(std::string(function) + ": operands of different graphs");
    owner = &o.tensor()->owner();
    if (!is_number(o.tensor()->type()) && o.tensor()->type() != dtype::boolean)
      throw invalid_argument(std::string(function) + ": takes numbers, not " + describe(*o.tensor()));
  }
}

LEAT_FUNCTION output axes_from(const output& x, std::int32_t from) {
  graph& g = x.owner();
  const output rank = rank_of(x);
  const name_scope scope(g, "range");
  const output start = g.named().make_constant(g, from, "start");
  const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
  return call_operator(g, "Range", {start, rank, delta}, {}, scope.text()).result();
}

LEAT_FUNCTION output sum_of_all(const output& x, std::string_view name) {
  if (x.extent().has_rank() && x.extent().rank > 0) return reduce_sum(x, all_axes, keep_dims::no, name);
  const output axes = axes_from(x, 0);
  return reduce_sum(x, axes, keep_dims::no, name);
}

inline constexpr std::string_view not_broadcastable = "weights can not be broadcast to values.";

// Whether each dimension of the weights is 1 or equal to that of the values, in nodes: for shapes that are known only at run time.
LEAT_FUNCTION output sizes_broadcast(const output& weight_sizes, const output& value_sizes) {
  const output ones = ones_like(weight_sizes);
  const output one = equal(weight_sizes, ones);
  const output same = equal(weight_sizes, value_sizes);
  return reduce_all(logical_or(one, same), all_axes);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION graph_operation check_broadcastable(const operand_value& weights, const output& values, const std::source_location& where) {
  graph& g = values.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  named_part& nodes = g.named();
  const name_scope scope(g, "assert_broadcastable");
  output w, w_sizes, w_rank;
  {
    const name_scope part(g, "weights");
    w = weights.tensor() != nullptr ? nodes.value_of(*weights.tensor()) : nodes.make_constant(g, *weights.literal(), part.text());
    w_sizes = shape_of(w, "shape");
    w_rank = rank_of(w, "rank");
  }
  output v, v_sizes, v_rank;
  {
    const name_scope part(g, "values");
    v = nodes.value_of(values);
    v_sizes = shape_of(v, "shape");
    v_rank = rank_of(v, "rank");
  }
  const shape& from = w.extent();
  const shape& to = v.extent();
  const auto shapes = [&] {
    return " values.shape=" + leat::shape_text(to) + ". weights.shape=" + leat::shape_text(from) + ". Received weights=" + describe(w) +
           ", values=" + describe(v);
  };
  const bool ranks_known = from.has_rank() && to.has_rank();
  if (from.has_rank() && from.rank == 0 && to.has_rank()) return no_op("static_scalar_check_success", where);
  if (ranks_known) {
    if (from.rank != to.rank)
      throw invalid_argument(std::string(detail::not_broadcastable) + " values.rank=" + std::to_string(to.rank) +
                             ". weights.rank=" + std::to_string(from.rank) + "." + shapes());
    for (int i = 0; i < from.rank; ++i)
      if (from[i] != 1 && !may_equal(from[i], to[i]))
        throw invalid_argument(std::string(detail::not_broadcastable) + " Mismatch at dim " + std::to_string(i) + "." + shapes());
    if (from.is_static() && to.is_static()) return no_op("static_dims_check_success", where);
  }
  const std::vector<operand_value> data{
      std::string(detail::not_broadcastable), "weights.shape=", w.name(), w_sizes, "values.shape=", v.name(), v_sizes};
  if (ranks_known) return check(detail::sizes_broadcast(w_sizes, v_sizes), data, {.summarize = 8, .name = "AssertGuard"}, where);
  const output is_scalar = equal(w_rank, std::int32_t{0}, "is_scalar");
  const auto fits = [&] {
    const output same_rank = equal(w_rank, v_rank, "is_same_rank");
    return cond(
        same_rank, [&] { return detail::sizes_broadcast(w_sizes, v_sizes); }, [&] { return identity(same_rank, "Identity"); },
        "has_valid_nonscalar_shape", where);
  };
  const output holds = cond(is_scalar, [&] { return identity(is_scalar, "Identity"); }, fits, "is_valid_shape", where);
  return check(holds, data, {.summarize = 8, .name = "AssertGuard"}, where);
}

LEAT_FUNCTION output broadcast_weights(const output& weights, const output& values, const std::source_location& where) {
  graph& g = values.owner();
  const default_graph_scope here(g);
  const source_scope line(g, where);
  const name_scope scope(g, "broadcast_weights");
  const output v = g.named().value_of(values);
  const output w = g.named().value_of(weights);
  if (w.extent().is_static() && v.extent().is_static() && w.extent() == v.extent()) return w;
  const control_dependencies after({check_broadcastable(w, v, where)});
  return multiply(w, ones_like(v), scope.text(), where);
}

}  // namespace leat
