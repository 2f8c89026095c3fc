#pragma once
// Implementation of named_random.hpp.

#include <leat/core/function_bodies.hpp>
#include <leat/named/functions/named_operand.hpp>
#include <leat/named/functions/named_random.hpp>

#include <cmath>

namespace leat::detail {

LEAT_FUNCTION output random_node(graph& g, std::string_view type, const output& extent, const shape& result, dtype wanted,
                                 std::uint64_t seed) {
  return g.named()
      .raw(g, type, std::array{extent},
           {{"T", dtype::int32},
            {"dtype", wanted},
            {"seed", seed == 0 ? std::int64_t{0} : std::int64_t{87654321}},
            {"seed2", static_cast<std::int64_t>(seed)}},
           {{wanted, result}})
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

LEAT_FUNCTION double glorot_limit(const shape& extent) {
  double in = 1;
  double out = 1;
  if (extent.rank == 1) in = out = static_cast<double>(extent[0]);
  if (extent.rank > 1) {
    double field = 1;
    for (int i = 0; i < extent.rank - 2; ++i) field *= static_cast<double>(extent[i]);
    in = field * static_cast<double>(extent[extent.rank - 2]);
    out = field * static_cast<double>(extent[extent.rank - 1]);
  }
  return std::sqrt(3.0 / std::max(1.0, (in + out) / 2));
}

LEAT_FUNCTION variable_initializer constant_initializer(double value) {
  return [value](const shape& extent, dtype type) {
    graph& g = default_graph();
    return g.named().make_constant(g, {type, extent, value}, "Const");
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
