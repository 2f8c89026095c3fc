#pragma once
// Implementation of derivatives.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/control/loop.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/slice.hpp>
#include <leat/named/functions/tensor_array.hpp>
#include <leat/named/gradients/derivatives.hpp>

namespace leat::detail {

// The gradient that must be there, in messages of `function`.
inline output needed_gradient(const output& y, const output& x, const std::vector<output>& grad_ys, std::string_view function,
                              const std::source_location& where) {
  const output dx = gradients({y}, {x}, {.grad_ys = grad_ys}, where).front();
  if (!static_cast<bool>(dx))
    throw invalid_argument(std::string(function) + ": no gradient flows from " + describe(y) + " to " + describe(x));
  return dx;
}

// Jacobians by a gradient for each element of y, or, in a batch, for each element of y's entries.
inline output jacobian_by_rows(const output& y, const output& x, bool in_batch, std::string_view function,
                               const std::source_location& where) {
  if (!static_cast<bool>(y) || !static_cast<bool>(x))
    throw invalid_argument(std::string(function) + ": an operand that is no node of a graph");
  graph& g = y.owner();
  named_part& nodes = g.named();
  nodes.check_graph(g, std::array{y, x});
  const output value = nodes.value_of(y), by = nodes.value_of(x);
  if (!value.extent().has_rank() || !by.extent().has_rank())
    throw invalid_argument(std::string(function) + ": " + describe(y) + " by " + describe(x) + ": their ranks must be known");
  if (in_batch && (value.extent().rank == 0 || by.extent().rank == 0))
    throw invalid_argument(std::string(function) + ": " + describe(y) + " by " + describe(x) + ": the first axis is that of the batch");
  if (!is_floating(value.type()) || !is_floating(by.type()))
    throw invalid_argument(std::string(function) + ": " + describe(y) + " by " + describe(x) + ": only of floating-point tensors");
  const source_scope line(g, where);
  const name_scope scope(g, function);
  const output y_shape = shape_of(value, "Shape", where), x_shape = shape_of(by, "Shape_1", where);
  const std::int32_t from = in_batch ? 1 : 0;
  const auto all_behind = [&](const output& sizes) { return index(sizes, {along::from(from)}); };
  const output batch = in_batch ? index(y_shape, {along::until(1)}) : output{};
  // y as [elements], or as [elements of an entry, batch].
  const output count = reduce_prod(all_behind(y_shape));
  const output flat = in_batch ? transpose(reshape(value, concat({batch, expand_dims(count, 0)}, 0)), {1, 0}) : reshape(value, {-1});
  const tensor_array rows(by.type(), count);
  const auto looped = while_loop([&](const output& k, const output&) { return k < count; },
                                 [&](const output& k, const output& flow) {
                                   const output row = gather(flat, k);
                                   const output dx = needed_gradient(row, x, {}, function, where);
                                   return std::array{k + 1, rows.with_flow(flow).write(k, dx).flow()};
                                 },
                                 {0, rows.flow()});
  const output stacked = rows.with_flow(looped.back()).stack();  // [elements, x]
  output made = stacked;
  if (in_batch) {  // [batch, elements, x of an entry]
    std::vector<std::int32_t> order{1, 0};
    for (std::int32_t k = 2; k <= by.extent().rank; ++k) order.push_back(k);
    made = transpose(stacked, order);
  }
  made = reshape(made, concat({y_shape, all_behind(x_shape)}, 0));
  return made.type() == value.type() ? made : cast(made, value.type());
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION std::vector<output> vjp(const std::vector<output>& ys, const std::vector<output>& weights, const std::vector<output>& xs,
                                      const std::source_location& where) {
  if (weights.size() != ys.size())
    throw invalid_argument("vjp: " + std::to_string(weights.size()) + " weights for " + std::to_string(ys.size()) + " results");
  return gradients(ys, xs, {.grad_ys = weights}, where);
}

LEAT_FUNCTION std::vector<output> jvp(const std::vector<output>& ys, const std::vector<output>& xs, const std::vector<output>& along,
                                      const std::source_location& where) {
  if (along.size() != xs.size())
    throw invalid_argument("jvp: " + std::to_string(along.size()) + " directions for " + std::to_string(xs.size()) + " operands");
  if (ys.empty() || !static_cast<bool>(ys.front())) throw invalid_argument("jvp: of at least one tensor");
  graph& g = ys.front().owner();
  const source_scope line(g, where);
  const name_scope scope(g, "jvp");
  std::vector<output> weights, moved, by;
  for (const output& y : ys) weights.push_back(ones_like(y, "weight", where));  // its value has no effect: gradients are linear in it
  const auto slopes = gradients(ys, xs, {.grad_ys = weights}, where);
  for (std::size_t k = 0; k < xs.size(); ++k) {
    if (!static_cast<bool>(slopes[k])) continue;
    moved.push_back(slopes[k]);
    by.push_back(along[k]);
  }
  if (moved.empty()) return std::vector<output>(ys.size());
  return gradients(moved, weights, {.grad_ys = by}, where);
}

LEAT_FUNCTION std::vector<output> hvp(const output& y, const std::vector<output>& xs, const std::vector<output>& along,
                                      const std::source_location& where) {
  const auto slopes = gradients({y}, xs, {}, where);
  for (std::size_t k = 0; k < xs.size(); ++k)
    if (!static_cast<bool>(slopes[k])) throw invalid_argument("hvp: no gradient flows from " + describe(y) + " to " + describe(xs[k]));
  return jvp(slopes, xs, along, where);
}

LEAT_FUNCTION output jacobian(const output& y, const output& x, const std::source_location& where) {
  return detail::jacobian_by_rows(y, x, false, "jacobian", where);
}
LEAT_FUNCTION output batch_jacobian(const output& y, const output& x, const std::source_location& where) {
  return detail::jacobian_by_rows(y, x, true, "batch_jacobian", where);
}
LEAT_FUNCTION output hessian(const output& y, const output& x, const std::source_location& where) {
  return jacobian(detail::needed_gradient(y, x, {}, "hessian", where), x, where);
}

}  // namespace leat
