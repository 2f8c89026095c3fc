#pragma once
// Implementation of named_shape.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/random.hpp>
#include <leat/named/functions/shape.hpp>
#include <leat/named/graph/call.hpp>
#include <leat/ops/add_n.hpp>

namespace leat::detail {

LEAT_FUNCTION graph_operation raw_named(graph& g, std::string_view type, std::string_view name, std::initializer_list<named_input> inputs,
                                        attribute_map attributes, std::vector<tensor_info> results, const std::source_location& where) {
  const source_scope line(g, where);
  const name_scope scope(g, name);
  std::vector<output> all;
  for (const auto& in : inputs) {
    if (const auto* literal = std::get_if<tensor_literal>(&in.value)) all.push_back(g.named().make_constant(g, *literal, in.name));
    else all.push_back(g.named().value_of(std::get<output>(in.value)));
  }
  return g.named().raw(g, type, all, std::move(attributes), std::move(results), scope.text());
}

LEAT_FUNCTION output raw_tensor(const operand_value& x) {
  graph& g = graph_of(std::span(&x, 1));
  return x.tensor() != nullptr ? g.named().value_of(*x.tensor()) : g.named().make_constant(g, *x.literal(), "Const");
}

LEAT_FUNCTION int axis_of(std::int64_t axis, int rank) {
  const auto at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank) throw invalid_argument("axis out of range: " + std::to_string(axis) + " of rank " + std::to_string(rank));
  return static_cast<int>(at);
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output shape_of(const operand_value& x, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  graph& g = t.owner();
  const source_scope line(g, where);
  if (t.extent().is_static()) return detail::shape_constant(g, t.extent(), name);
  return g.named()
      .raw(g, "Shape", std::array{t}, {{"T", t.type()}, {"out_type", dtype::int32}},
           {{dtype::int32, detail::vector_of(std::max(-1, t.extent().rank))}}, name)
      .result();
}

LEAT_FUNCTION output rank_of(const operand_value& x, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  graph& g = t.owner();
  const source_scope line(g, where);
  if (t.extent().has_rank()) return g.named().make_constant(g, std::int32_t{t.extent().rank}, name);
  return g.named().raw(g, "Rank", std::array{t}, {{"T", t.type()}}, {{dtype::int32, {}}}, name).result();
}

LEAT_FUNCTION output element_count_of(const operand_value& x, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  graph& g = t.owner();
  const source_scope line(g, where);
  if (t.extent().is_static()) return g.named().make_constant(g, static_cast<std::int32_t>(t.extent().elements()), name);
  return g.named().raw(g, "Size", std::array{t}, {{"T", t.type()}, {"out_type", dtype::int32}}, {{dtype::int32, {}}}, name).result();
}

LEAT_FUNCTION output zeros_like(const operand_value& x, std::string_view name, const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  graph& g = t.owner();
  const source_scope line(g, where);
  if (t.extent().is_static()) return g.named().make_constant(g, {t.type(), t.extent(), 0}, name);
  return g.named().raw(g, "ZerosLike", std::array{t}, {{"T", t.type()}}, {{t.type(), t.extent()}}, name).result();
}

LEAT_FUNCTION output fill(const shape_value& extent, const tensor_literal& value, std::string_view name,
                          const std::source_location& where) {
  std::vector<std::int32_t> sizes;
  for (int i = 0; i < extent.rank; ++i) sizes.push_back(static_cast<std::int32_t>(extent[i]));
  return detail::raw_named(default_graph(), "Fill", name, {{"dims", tensor_literal(sizes)}, {"value", value}},
                           {{"T", value.type()}, {"index_type", dtype::int32}}, {{static_cast<dtype>(value.type()), extent}}, where)
      .result();
}

LEAT_FUNCTION output range(std::int32_t start, std::int32_t limit, std::int32_t delta, std::string_view name,
                           const std::source_location& where) {
  if (delta == 0) throw invalid_argument("range: delta is 0");
  const std::int64_t distance = std::int64_t{limit} - start;
  const std::int64_t count = distance / delta + (distance % delta != 0 ? 1 : 0);
  return detail::raw_named(default_graph(), "Range", name,
                           {{"start", tensor_literal(start)}, {"limit", tensor_literal(limit)}, {"delta", tensor_literal(delta)}},
                           {{"Tidx", dtype::int32}}, {{dtype::int32, detail::vector_of(count > 0 ? count : 0)}}, where)
      .result();
}

LEAT_FUNCTION output stack(const std::vector<output>& values, std::int64_t axis, std::string_view name, const std::source_location& where) {
  if (values.empty()) throw invalid_argument("stack: nothing to put together");
  graph& g = values.front().owner();
  const source_scope line(g, where);
  return call_operator(g, "Pack", std::vector<number_argument>(values.begin(), values.end()), {{"axis", axis}}, name).result();
}

LEAT_FUNCTION std::vector<output> unstack(const operand_value& x, std::int64_t axis, std::string_view name,
                                          const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  graph& g = t.owner();
  const source_scope line(g, where);
  if (!t.extent().has_rank()) throw invalid_argument("unstack: " + describe(t) + ": its rank is not known");
  const int at = detail::axis_of(axis, t.extent().rank);
  if (t.extent()[at] < 0) throw invalid_argument("unstack: " + describe(t) + ": the size along the axis is not known");
  return call_operator(g, "Unpack", {t}, {{"num", t.extent()[at]}, {"axis", axis}}, name).outputs();
}

LEAT_FUNCTION std::vector<output> split(const operand_value& x, std::int64_t count, std::int32_t axis, std::string_view name,
                                        const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Split", {tensor_literal(axis), t}, {{"num_split", count}}, name).outputs();
}

LEAT_FUNCTION output tile(const operand_value& x, const std::vector<std::int32_t>& multiples, std::string_view name,
                          const std::source_location& where) {
  const output t = detail::raw_tensor(x);
  const source_scope line(t.owner(), where);
  return call_operator(t.owner(), "Tile", {t, tensor_literal(multiples)}, {}, name).result();
}

LEAT_FUNCTION output add_n(const std::vector<output>& values, std::string_view name, const std::source_location& where) {
  if (values.empty()) throw invalid_argument("add_n: nothing to add");
  graph& g = values.front().owner();
  const source_scope line(g, where);
  return g.named().build(g, info_of<add_n_op>, values, {}, name);
}

}  // namespace leat
