#pragma once
// Initializers with a spread that follows from a variable's shape, and initializers of matrices: for typed variables, and for
// `get_variable` and `variable_scope` of graphs with names. This header has the formulas for both.

#include <leat/expr/leaf.hpp>

#include <cmath>

namespace leat {

/// The quantity that divides the variance of `variance_scaling`.
enum class fan_mode { fan_in, fan_out, fan_avg };
/// The distribution of `variance_scaling`. A truncated normal distribution is scaled so that it has the requested standard deviation after
/// truncation.
enum class distribution { truncated_normal, untruncated_normal, uniform };

/// The number of inputs and outputs of a variable: each of its last two dimensions, times all dimensions before these two. Source:
/// TensorFlow `_compute_fans`.
struct fans {
  double in = 1;
  double out = 1;
};
constexpr fans fans_of(const shape& extent) {
  if (extent.rank == 0) return {};
  const auto last = static_cast<double>(extent[extent.rank - 1]);
  if (extent.rank == 1) return {last, last};
  double field = 1;
  for (int a = 0; a + 2 < extent.rank; ++a) field *= static_cast<double>(extent[a]);
  return {field * static_cast<double>(extent[extent.rank - 2]), field * last};
}

/// scale / fan: the variance of `variance_scaling`.
constexpr double scaled_variance(double scale, fan_mode mode, const shape& extent) {
  const fans f = fans_of(extent);
  const double fan = mode == fan_mode::fan_in ? f.in : mode == fan_mode::fan_out ? f.out : (f.in + f.out) / 2;
  return scale / (fan > 1 ? fan : 1);
}

/// How `variance_scaling` fills a variable: uniformly within ±`spread`, or normally with the standard deviation `spread`, before
/// truncation.
struct scaled_draw {
  initializer_kind kind;  // uniform, normal or truncated_normal
  double spread;
};
inline scaled_draw draw_of(double scale, fan_mode mode, distribution d, const shape& extent) {
  const double variance = scaled_variance(scale, mode, extent);
  // The standard deviation of a normal distribution that is truncated at ±2.
  constexpr double truncated = 0.87962566103423978;
  switch (d) {
    case distribution::uniform: return {initializer_kind::uniform, std::sqrt(3 * variance)};
    case distribution::untruncated_normal: return {initializer_kind::normal, std::sqrt(variance)};
    case distribution::truncated_normal: break;
  }
  return {initializer_kind::truncated_normal, std::sqrt(variance) / truncated};
}

namespace detail {
// Stores mode and distribution in one number, the second parameter of the initializer.
constexpr double packed(fan_mode mode, distribution d) { return static_cast<double>(4 * static_cast<int>(mode) + static_cast<int>(d)); }
constexpr fan_mode mode_of(double packed) { return static_cast<fan_mode>(static_cast<int>(packed) / 4); }
constexpr distribution distribution_of(double packed) { return static_cast<distribution>(static_cast<int>(packed) % 4); }
}  // namespace detail

/// Random numbers with the variance scale / fan, where fan is the number of inputs, of outputs, or the mean of both. Dtypes: floating
/// point.
/// Errors: invalid_argument unless scale > 0. Source: TensorFlow `variance_scaling_initializer`.
constexpr auto variance_scaling(double scale = 1.0, fan_mode mode = fan_mode::fan_in, distribution d = distribution::truncated_normal,
                                std::uint64_t seed = 0) {
  if (!(scale > 0)) LEAT_THROW(invalid_argument("Argument `scale` must be a positive float. Received: " + std::to_string(scale)));
  return detail::random_initializer<initializer_kind::variance_scaling>{scale, detail::packed(mode, d), seed};
}
/// Normal distribution with the variance 2 / (fan_in + fan_out). Source: TensorFlow `glorot_normal_initializer`; Glorot and Bengio 2010.
constexpr auto glorot_normal(std::uint64_t seed = 0) {
  return variance_scaling(1, fan_mode::fan_avg, distribution::truncated_normal, seed);
}
/// Normal or uniform distribution with the variance 2 / fan_in, for layers before a relu. Source: TensorFlow `initializers.he_normal`,
/// `he_uniform`; He et al. 2015.
constexpr auto he_normal(std::uint64_t seed = 0) { return variance_scaling(2, fan_mode::fan_in, distribution::truncated_normal, seed); }
constexpr auto he_uniform(std::uint64_t seed = 0) { return variance_scaling(2, fan_mode::fan_in, distribution::uniform, seed); }
/// Normal or uniform distribution with the variance 1 / fan_in. Source: TensorFlow `initializers.lecun_normal`, `lecun_uniform`; LeCun et
/// al. 1998.
constexpr auto lecun_normal(std::uint64_t seed = 0) { return variance_scaling(1, fan_mode::fan_in, distribution::truncated_normal, seed); }
constexpr auto lecun_uniform(std::uint64_t seed = 0) { return variance_scaling(1, fan_mode::fan_in, distribution::uniform, seed); }

/// Uniform distribution with the variance factor² / fan_in. Shapes: rank 2 or more. Source: TensorFlow `uniform_unit_scaling_initializer`.
constexpr auto uniform_unit_scaling(double factor = 1.0, std::uint64_t seed = 0) {
  return variance_scaling(factor * factor, fan_mode::fan_in, distribution::uniform, seed);
}

/// `gain` times a random matrix with orthonormal columns, or orthonormal rows if it has fewer rows than columns. All dimensions but the
/// last together count as rows.
/// Shapes: rank 2 or more. Dtypes: floating point. In graphs with names it is a constant, drawn when the graph is built.
/// Source: TensorFlow `orthogonal_initializer`; Saxe et al. 2014.
constexpr auto orthogonal(double gain = 1.0, std::uint64_t seed = 0) {
  return detail::random_initializer<initializer_kind::orthogonal>{gain, 0, seed};
}

/// `gain` on the diagonal, 0 elsewhere. Shapes: rank 2. Source: TensorFlow `initializers.identity`.
struct identity_matrix_initializer {
  static constexpr initializer_kind kind = initializer_kind::identity;
  double gain = 1;
  constexpr std::array<std::uint64_t, 1> numbers() const { return {std::bit_cast<std::uint64_t>(gain)}; }
};
/// Initializes a matrix with `gain` on the diagonal, 0 elsewhere. Source: TensorFlow `initializers.identity`.
constexpr identity_matrix_initializer identity_initializer(double gain = 1.0) { return {gain}; }

namespace detail {
/// The error message for a shape that an initializer of matrices does not accept; empty if it accepts the shape.
constexpr std::string_view matrix_problem(initializer_kind kind, const shape& extent) {
  const bool fits = kind == initializer_kind::identity ? extent.rank == 2 : kind == initializer_kind::orthogonal ? extent.rank >= 2 : true;
  return fits ? std::string_view{} : "The tensor to initialize, specified by argument `shape` must be at least two-dimensional";
}
}  // namespace detail

}  // namespace leat
