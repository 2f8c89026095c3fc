#pragma once
// Implementation of named_random.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/core/orthogonal.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/functions/random.hpp>

#include <algorithm>

namespace leat::detail {

LEAT_FUNCTION output random_node(graph& g, std::string_view type, const output& extent, const shape& result, dtype wanted,
                                 std::uint64_t seed) {
  const auto [first, second] = g.named().seeds.next(seed);
  return g.named()
      .raw(g, type, std::array{extent}, {{"T", dtype::int32}, {"dtype", wanted}, {"seed", first}, {"seed2", second}}, {{wanted, result}})
      .result();
}

LEAT_FUNCTION output shape_constant(graph& g, const shape& extent, std::string_view name) {
  if (!extent.is_static())
    throw invalid_argument("random numbers need a static shape, not " + leat::shape_text(extent) + ": draw them in a shape that is known");
  std::vector<std::int32_t> sizes;
  for (int i = 0; i < extent.rank; ++i) sizes.push_back(static_cast<std::int32_t>(extent[i]));
  return g.named().make_constant(g, tensor_literal(sizes), name);
}

LEAT_FUNCTION output scaled(graph& g, const output& value, const output& scale, const output& shift, std::string_view exact) {
  const output product = value * scale;
  const output both[]{product, shift};
  return g.named().build(g, info_of<add_op>, both, {}, exact);
}

LEAT_FUNCTION output random_normal_like(std::string_view type, std::string_view default_name, const shape& extent, double mean,
                                        double stddev, dtype wanted, std::uint64_t seed, std::string_view name) {
  graph& g = default_graph();
  const name_scope scope(g, name.empty() ? default_name : name);
  const output sizes = shape_constant(g, extent, "shape");
  const output middle = g.named().make_constant(g, {wanted, {}, mean}, "mean");
  const output spread = g.named().make_constant(g, {wanted, {}, stddev}, "stddev");
  return scaled(g, random_node(g, type, sizes, extent, wanted, seed), spread, middle, scope.text());
}

LEAT_FUNCTION void check_random_dtype(dtype type) {
  if (!is_floating(type))
    throw invalid_argument("Argument `dtype` is expected to be floating point. Received: " + std::string(name_of_dtype(type)) +
                           ": random initial values are float32 or float64");
}

LEAT_FUNCTION output scaled_first_value(const scaled_draw& draw, const shape& extent, dtype type, std::uint64_t seed) {
  switch (draw.kind) {
    case initializer_kind::uniform: return random_uniform_between(extent, -draw.spread, draw.spread, type, seed);
    case initializer_kind::normal: return random_normal_of(extent, 0, draw.spread, type, seed);
    default: return truncated_normal_of(extent, 0, draw.spread, type, seed);
  }
}

LEAT_FUNCTION shape whole_shape(const shape& extent) {
  const partition_info* part = default_graph().named().partitioned.current;
  return part != nullptr ? part->full_shape : extent;
}

LEAT_FUNCTION void check_matrix(initializer_kind kind, const shape& extent) {
  if (const std::string_view problem = matrix_problem(kind, extent); !problem.empty())
    throw invalid_argument(std::string(problem) + ". Received shape=" + leat::shape_text(extent));
}

// The initial value is computed here and becomes a constant, because the library has no operator for the decomposition.
LEAT_FUNCTION output orthogonal_first_value(double gain, const shape& extent, dtype type, std::uint64_t seed) {
  check_matrix(initializer_kind::orthogonal, extent);
  graph& g = default_graph();
  const auto columns = static_cast<std::size_t>(extent[extent.rank - 1]);
  const std::uint64_t name = hash_text(g.named().names.scope());  // gives variables with equal seeds different values
  std::vector<double> q;
  if (columns > 0) q = orthonormal(static_cast<std::size_t>(extent.elements()) / columns, columns, mix(seed, name));
  for (double& v : q) v *= gain;
  return g.named().make_constant(g, tensor_literal(extent, q).as(type), "orthogonal");
}

LEAT_FUNCTION output identity_first_value(double gain, const shape& extent, dtype type) {
  check_matrix(initializer_kind::identity, extent);
  graph& g = default_graph();
  const partition_info* part = g.named().partitioned.current;
  const std::int64_t row = part != nullptr ? part->var_offset[0] : 0;
  const std::int64_t column = part != nullptr ? part->var_offset[1] : 0;
  std::vector<double> values(static_cast<std::size_t>(extent.elements()), 0.0);
  for (std::int64_t i = 0; i < extent[0]; ++i)
    if (const std::int64_t j = i + row - column; j >= 0 && j < extent[1]) values[static_cast<std::size_t>(i * extent[1] + j)] = gain;
  return g.named().make_constant(g, tensor_literal(extent, values).as(type), "eye");
}

}  // namespace leat::detail

namespace leat {

LEAT_FUNCTION output random_uniform_of(const shape_value& extent, dtype type, std::uint64_t seed, std::string_view name) {
  graph& g = default_graph();
  const name_scope scope(g, name.empty() ? "random_uniform" : name);
  return detail::random_node(g, "RandomUniform", detail::shape_constant(g, extent, "shape"), extent, type, seed);
}

LEAT_FUNCTION output random_uniform_between(const shape_value& extent, double low, double high, dtype type, std::uint64_t seed,
                                            std::string_view name) {
  graph& g = default_graph();
  const name_scope scope(g, name.empty() ? "random_uniform" : name);
  const output sizes = detail::shape_constant(g, extent, "shape");
  const output least = g.named().make_constant(g, {type, {}, low}, "min");
  const output most = g.named().make_constant(g, {type, {}, high}, "max");
  const output unit = detail::random_node(g, "RandomUniform", sizes, extent, type, seed);
  return detail::scaled(g, unit, most - least, least, scope.text());
}

LEAT_FUNCTION double glorot_limit(const shape& extent) { return draw_of(1, fan_mode::fan_avg, distribution::uniform, extent).spread; }

LEAT_FUNCTION variable_initializer constant_initializer(double value, bool verify_shape) {
  return [value, verify_shape](const shape& extent, dtype type) {
    const bool is_empty = extent.elements() == 0;  // an empty array takes any value, as in TensorFlow
    if (verify_shape && extent.rank > 0 && !is_empty)
      throw invalid_argument("Expected Tensor's shape: " + shape_text(extent) + ", but got ().");
    if (!is_empty && !detail::fits(type, value)) detail::refuse_number("constant_initializer: ", type, value);
    graph& g = default_graph();
    return g.named().make_constant(g, {type, extent, is_empty ? 0.0 : value}, "Const");
  };
}

LEAT_FUNCTION variable_initializer constant_initializer(const tensor_literal& values, bool verify_shape) {
  return [values, verify_shape](const shape& extent, dtype type) {
    graph& g = default_graph();
    if (extent.elements() == 0) return g.named().make_constant(g, {type, extent, 0.0}, "Const");
    if (verify_shape && !(values.extent() == extent))
      throw invalid_argument("Expected Tensor's shape: " + shape_text(extent) + ", but got " + shape_text(values.extent()) + ".");
    return g.named().make_constant(g, values.as(type).shaped(extent), "Const");
  };
}

LEAT_FUNCTION output random_normal_of(const shape_value& extent, double mean, double stddev, dtype type, std::uint64_t seed,
                                      std::string_view name) {
  return detail::random_normal_like("RandomStandardNormal", "random_normal", extent, mean, stddev, type, seed, name);
}

LEAT_FUNCTION output truncated_normal_of(const shape_value& extent, double mean, double stddev, dtype type, std::uint64_t seed,
                                         std::string_view name) {
  return detail::random_normal_like("TruncatedNormal", "truncated_normal", extent, mean, stddev, type, seed, name);
}

}  // namespace leat
