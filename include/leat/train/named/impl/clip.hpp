#pragma once
// Implementation of named_clip.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/array.hpp>
#include <leat/named/functions/math.hpp>
#include <leat/named/gradients/nodes.hpp>
#include <leat/train/named/clip.hpp>

namespace leat {

LEAT_FUNCTION gradient_value clip_by_norm(const gradient_value& x, const operand_value& limit, const std::vector<std::int32_t>& axes,
                                          std::string_view name, const std::source_location& where) {
  graph& g = x.values.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "clip_by_norm" : name);
  const output values = g.named().value_of(x.values);
  const output squares = values * values;
  const output sum = axes.empty() ? reduce_sum(squares, all_axes, keep_dims::yes) : reduce_sum(squares, axes, keep_dims::yes);
  // The square root of 0 has no gradient, so that a sum of 0 is replaced by 1.
  const output some = greater(sum, 0.0f);
  const output safe = detail::select_rows(some, sum, detail::ones_like_nodes(sum));
  const output root = sqrt(safe, {});
  const output norm = detail::select_rows(some, root, sum);
  const output scaled = multiply(values, limit, "mul");
  if (!may_equal(scaled.extent(), values.extent()))
    throw invalid_argument("clip_by_norm: the limit would give " + describe(values) + " another shape, " + shape_text(scaled.extent()));
  const output larger = maximum(norm, limit);
  const output made = identity(scaled / larger, scope.text());
  return x.is_sparse() ? gradient_value(made, x.indices, x.dense_shape) : gradient_value(made);
}

LEAT_FUNCTION output clip_by_average_norm(const output& x, const operand_value& limit, std::string_view name,
                                          const std::source_location& where) {
  graph& g = x.owner();
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "clip_by_average_norm" : name);
  const output count = cast(element_count_of(x), dtype::float32);
  const output squares = x * x;
  const output rank = rank_of(x);
  output axes;
  {
    const name_scope range_scope(g, "range");
    const output start = g.named().make_constant(g, std::int32_t{0}, "start");
    const output delta = g.named().make_constant(g, std::int32_t{1}, "delta");
    const shape extent = detail::vector_of(x.extent().has_rank() ? x.extent().rank : unknown_dimension);
    axes = g.named()
               .raw(g, "Range", std::array{start, rank, delta}, {{"Tidx", dtype::int32}}, {{dtype::int32, extent}}, range_scope.text())
               .result();
  }
  const output inverse = rsqrt(reduce_sum(squares, axes), {});
  const output scaled = multiply(x, limit, "mul");
  const output average = inverse * count;
  const output one = g.named().make_constant(g, {x.type(), {}, 1}, "Const");
  const output least = minimum(average, divide(one, limit));
  return identity(scaled * least, scope.text());
}

LEAT_FUNCTION output global_norm(const std::vector<gradient_value>& all, std::string_view name, const std::source_location& where) {
  std::vector<output> values;
  for (const auto& v : all)
    if (static_cast<bool>(v)) values.push_back(v.values.owner().named().value_of(v.values));
  if (values.empty()) throw invalid_argument("global_norm: of no tensor");
  graph& g = values.front().owner();
  const source_scope line(g, where);
  const name_scope scope(g, name.empty() ? "global_norm" : name);
  std::vector<output> halves;
  for (const output& v : values) {
    const colocate_with there(v);
    halves.push_back(l2_loss(v, {}));
  }
  const output half = reduce_sum(stack(halves), all_axes);
  const output two = g.named().make_constant(g, {half.type(), {}, 2}, "Const");
  return sqrt(half * two, "global_norm");
}

LEAT_FUNCTION clipped_gradients clip_by_global_norm(const std::vector<gradient_value>& all, const operand_value& limit,
                                                    const output& use_norm, std::string_view name, const std::source_location& where) {
  const output norm = static_cast<bool>(use_norm) ? use_norm : global_norm(all, name, where);
  graph& g = norm.owner();
  const source_scope line(g, where);
  const std::string its_name(name.empty() ? "clip_by_global_norm" : name);
  const name_scope scope(g, its_name);
  const output inverse = divide(1.0f, norm);
  const output one = g.named().make_constant(g, {norm.type(), {}, 1}, "Const");
  const output highest = divide(one, limit);
  const output least = minimum(inverse, highest);
  const output finite = multiply(limit, least, "mul");
  const output zero_or_nan = norm - norm;
  const output scale = finite + zero_or_nan;
  clipped_gradients result{{}, norm};
  for (std::size_t k = 0; k < all.size(); ++k) {
    if (!static_cast<bool>(all[k])) {
      result.values.emplace_back();
      continue;
    }
    const colocate_with there(all[k].values);
    const output values = g.named().value_of(all[k].values);
    const output made = identity(values * scale, scope.text() + "_" + std::to_string(k));
    result.values.push_back(all[k].is_sparse() ? gradient_value(made, all[k].indices, all[k].dense_shape) : gradient_value(made));
  }
  return result;
}

LEAT_FUNCTION output clip_by_norm(const output& x, const operand_value& limit, const std::vector<std::int32_t>& axes, std::string_view name,
                                  const std::source_location& where) {
  return clip_by_norm(gradient_value(x), limit, axes, name, where).values;
}

LEAT_FUNCTION std::vector<gradient_value> as_gradients(const std::vector<output>& tensors) { return {tensors.begin(), tensors.end()}; }

}  // namespace leat
