#pragma once
// Random tensors and initializers in named graphs, composed of the same nodes as in TensorFlow 1.x.

#include <leat/core/function_bodies.hpp>
#include <leat/expr/scaled_initializers.hpp>
#include <leat/named/functions/operand.hpp>
#include <leat/named/graph/default_graph.hpp>
#include <leat/named/graph/part.hpp>

namespace leat {

/// Sets the seed of a graph: the nodes that are made from now on draw the same numbers in every session, those that TensorFlow draws with
/// this seed. Nodes that exist keep their seeds. Source: TensorFlow `set_random_seed`.
inline void set_random_seed(std::uint64_t seed, graph& g = default_graph()) { g.named().seeds.set(seed); }

namespace detail {
// The node of a random operator in the current scope, with its shape as a constant.
output random_node(graph& g, std::string_view type, const output& extent, const shape& result, dtype wanted, std::uint64_t seed);
output shape_constant(graph& g, const shape& extent, std::string_view name);
// value * scale + shift; the last node gets the scope's name.
output scaled(graph& g, const output& value, const output& scale, const output& shift, std::string_view exact);
output random_normal_like(std::string_view type, std::string_view default_name, const shape& extent, double mean, double stddev,
                          dtype wanted, std::uint64_t seed, std::string_view name);
}  // namespace detail

/// Normally distributed values, drawn anew in each run. The shape must be static. Dtypes: floating point. Source: `random_normal`.
output random_normal_of(const shape_value& extent, double mean = 0, double stddev = 1, dtype type = dtype::float32, std::uint64_t seed = 0,
                        std::string_view name = {});
/// Normally distributed values; those more than two standard deviations from the mean are drawn again. Source: `truncated_normal`.
output truncated_normal_of(const shape_value& extent, double mean = 0, double stddev = 1, dtype type = dtype::float32,
                           std::uint64_t seed = 0, std::string_view name = {});
/// Uniformly distributed values in [0, 1), drawn anew in each run. Source: `random_uniform`.
output random_uniform_of(const shape_value& extent, dtype type = dtype::float32, std::uint64_t seed = 0, std::string_view name = {});
/// Uniformly distributed values in [low, high), drawn anew in each run. Source: `random_uniform`.
output random_uniform_between(const shape_value& extent, double low, double high, dtype type = dtype::float32, std::uint64_t seed = 0,
                              std::string_view name = {});

// TensorFlow's names are overloaded: `random_normal(0, 0.1)` is an initializer, `random_normal({3}, 0, 0.1)` a tensor. A braced list is
// preferred to a number, so that `random_normal({3})` is a tensor of three elements.

/// A tensor of normally distributed values, drawn anew in each run: `random_normal({2, 3}, 1, 2)`. The shape must be static.
/// Source: `random_normal`.
inline output random_normal(std::initializer_list<std::int64_t> extent, double mean = 0, double stddev = 1, dtype type = dtype::float32,
                            std::uint64_t seed = 0, std::string_view name = {}) {
  return random_normal_of(extent, mean, stddev, type, seed, name);
}
inline output random_normal(const shape& extent, double mean = 0, double stddev = 1, dtype type = dtype::float32, std::uint64_t seed = 0,
                            std::string_view name = {}) {
  return random_normal_of(extent, mean, stddev, type, seed, name);
}
/// A tensor of normally distributed values; those more than two standard deviations from the mean are drawn again.
/// Source: `truncated_normal`.
inline output truncated_normal(std::initializer_list<std::int64_t> extent, double mean = 0, double stddev = 1, dtype type = dtype::float32,
                               std::uint64_t seed = 0, std::string_view name = {}) {
  return truncated_normal_of(extent, mean, stddev, type, seed, name);
}
inline output truncated_normal(const shape& extent, double mean = 0, double stddev = 1, dtype type = dtype::float32, std::uint64_t seed = 0,
                               std::string_view name = {}) {
  return truncated_normal_of(extent, mean, stddev, type, seed, name);
}
/// A tensor of uniformly distributed values in [low, high), drawn anew in each run: `random_uniform({2, 3}, -1, 1)`.
/// Source: `random_uniform`.
inline output random_uniform(std::initializer_list<std::int64_t> extent, double low = 0, double high = 1, dtype type = dtype::float32,
                             std::uint64_t seed = 0, std::string_view name = {}) {
  return random_uniform_between(extent, low, high, type, seed, name);
}
inline output random_uniform(const shape& extent, double low = 0, double high = 1, dtype type = dtype::float32, std::uint64_t seed = 0,
                             std::string_view name = {}) {
  return random_uniform_between(extent, low, high, type, seed, name);
}

// ---- initializers ----------------------------------------------------------------------------------------------------

/// sqrt(6 / (fan in + fan out)) of a shape. The fans are the last two dimensions, each times the product of the dimensions before these.
double glorot_limit(const shape& extent);

namespace detail {
// The nodes of `variance_scaling`, `orthogonal` and `identity_initializer`.
output scaled_first_value(const scaled_draw& draw, const shape& extent, dtype type, std::uint64_t seed);
// The shape that determines the fans: while a slice of a partitioned variable is made, that of the whole variable.
shape whole_shape(const shape& extent);
output orthogonal_first_value(double gain, const shape& extent, dtype type, std::uint64_t seed);
output identity_first_value(double gain, const shape& extent, dtype type);
// Checks the dtype of random values. Errors: invalid_argument unless it is floating point.
void check_random_dtype(dtype type);
}  // namespace detail

/// An initializer of the library (`zeros`, `random_normal(0, 0.1)`, a constant) as a function of shape and dtype that makes nodes.
template <initializer I>
variable_initializer as_variable_initializer(const I& initial) {
  std::vector<double> numbers;
  std::uint64_t seed = 0;
  const auto bits = initial.numbers();
  for (std::size_t k = 0; k < bits.size(); ++k) {
    numbers.push_back(std::bit_cast<double>(bits[k]));
    if (k == 2) seed = bits[k];
  }
  return [numbers, seed](const shape& extent, dtype type) -> output {
    graph& g = default_graph();
    static_cast<void>(seed);  // used only by random initializers
    if constexpr (is_random(I::kind)) detail::check_random_dtype(type);
    if constexpr (I::kind == initializer_kind::zeros) return g.named().make_constant(g, {type, extent, 0}, "zeros");
    if constexpr (I::kind == initializer_kind::ones) return g.named().make_constant(g, {type, extent, 1}, "ones");
    if constexpr (I::kind == initializer_kind::number) return g.named().make_constant(g, {type, extent, numbers[0]}, "Const");
    if constexpr (I::kind == initializer_kind::uniform) return random_uniform_between(extent, numbers[0], numbers[1], type, seed);
    if constexpr (I::kind == initializer_kind::normal) return random_normal_of(extent, numbers[0], numbers[1], type, seed);
    if constexpr (I::kind == initializer_kind::truncated_normal) return truncated_normal_of(extent, numbers[0], numbers[1], type, seed);
    if constexpr (I::kind == initializer_kind::glorot_uniform)
      return detail::scaled_first_value(draw_of(1, fan_mode::fan_avg, distribution::uniform, detail::whole_shape(extent)), extent, type,
                                        seed);
    if constexpr (I::kind == initializer_kind::variance_scaling)
      return detail::scaled_first_value(
          draw_of(numbers[0], detail::mode_of(numbers[1]), detail::distribution_of(numbers[1]), detail::whole_shape(extent)), extent, type,
          seed);
    if constexpr (I::kind == initializer_kind::orthogonal) return detail::orthogonal_first_value(numbers[0], extent, type, seed);
    if constexpr (I::kind == initializer_kind::identity) return detail::identity_first_value(numbers[0], extent, type);
  };
}
/// A constant initial value: one value in every element, `constant_initializer(0.4f)`, or an array, whose last element is repeated to fill
/// the rest. With `verify_shape` the array must have the variable's shape.
/// Errors, thrown where a variable is made: invalid_argument for more values than elements, for another shape, and for fractions as
/// integers.
/// Source: `constant_initializer`.
variable_initializer constant_initializer(double value, bool verify_shape = false);
variable_initializer constant_initializer(const tensor_literal& values, bool verify_shape = false);

}  // namespace leat

#if LEAT_WITH_BODIES
#include <leat/named/functions/impl/random.hpp>
#endif
