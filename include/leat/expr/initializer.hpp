#pragma once
// Initial values of variables: zeros, ones, a number, random numbers.

#include <leat/expr/number.hpp>
#include <leat/expr/tensor.hpp>

#include <initializer_list>
#include <source_location>
#include <string_view>

namespace leat {

/// How a variable is initialized; the function `numbers` of an initializer returns its parameters.
enum class initializer_kind : int {
  zeros,
  ones,
  number,
  array,
  uniform,
  normal,
  truncated_normal,
  glorot_uniform,
  variance_scaling,
  orthogonal,
  identity
};
/// Whether an initializer draws random numbers.
constexpr bool is_random(initializer_kind kind) { return kind > initializer_kind::array && kind != initializer_kind::identity; }

namespace detail {
// Makes `zeros({2, 3})` in graphs with names; defined in <leat/graphs.hpp>.
template <initializer_kind Kind>
struct filled_by_leat_graphs_hpp;

template <initializer_kind Kind>
struct filled_initializer {
  static constexpr initializer_kind kind = Kind;
  constexpr std::array<std::uint64_t, 0> numbers() const { return {}; }

  template <initializer_kind K = Kind>
  output operator()(std::initializer_list<std::int64_t> extent, dtype type = dtype::float32, std::string_view name = {},
                    const std::source_location& where = std::source_location::current()) const {
    return filled_by_leat_graphs_hpp<K>::make(extent, type, name, where);
  }
  template <initializer_kind K = Kind>
  output operator()(const shape& extent, dtype type = dtype::float32, std::string_view name = {},
                    const std::source_location& where = std::source_location::current()) const {
    return filled_by_leat_graphs_hpp<K>::make(extent, type, name, where);
  }
};
}  // namespace detail
/// The type of `zeros`. Source: TensorFlow `zeros_initializer`.
using zeros_initializer = detail::filled_initializer<initializer_kind::zeros>;
/// The type of `ones`. Source: TensorFlow `ones_initializer`.
using ones_initializer = detail::filled_initializer<initializer_kind::ones>;
/// Initializes every element with 0. With a shape, `zeros({2, 3}, dtype::int32)` is a constant in the default graph (<leat/graphs.hpp>), as
/// made by `zeros_of`. Source: TensorFlow `zeros_initializer`, `zeros`.
inline constexpr zeros_initializer zeros{};
/// Initializes every element with 1. With a shape, `ones({2, 3})` is a constant likewise. Source: TensorFlow `ones_initializer`, `ones`.
inline constexpr ones_initializer ones{};

/// Initializes every element with one number.
struct number_initializer {
  static constexpr initializer_kind kind = initializer_kind::number;
  std::uint64_t bits = 0;
  constexpr std::array<std::uint64_t, 1> numbers() const { return {bits}; }
};

namespace detail {
template <initializer_kind Kind>
struct random_initializer {
  static constexpr initializer_kind kind = Kind;
  double first = 0;
  double second = 1;
  std::uint64_t seed = 0;
  constexpr std::array<std::uint64_t, 3> numbers() const {
    return {std::bit_cast<std::uint64_t>(first), std::bit_cast<std::uint64_t>(second), seed};
  }
};
}  // namespace detail

/// Uniform in [low, high). The numbers depend only on `seed` and the variable's name (Philox, counter-based). Source: TensorFlow
/// `random_uniform_initializer`.
constexpr auto random_uniform(double low = -0.05, double high = 0.05, std::uint64_t seed = 0) {
  return detail::random_initializer<initializer_kind::uniform>{low, high, seed};
}
/// Normal distribution with a mean and a standard deviation. Source: TensorFlow `random_normal_initializer`.
constexpr auto random_normal(double mean = 0.0, double stddev = 1.0, std::uint64_t seed = 0) {
  return detail::random_initializer<initializer_kind::normal>{mean, stddev, seed};
}
/// Normal distribution, redrawn beyond two standard deviations. Source: TensorFlow `truncated_normal_initializer`.
constexpr auto truncated_normal(double mean = 0.0, double stddev = 1.0, std::uint64_t seed = 0) {
  return detail::random_initializer<initializer_kind::truncated_normal>{mean, stddev, seed};
}
/// Uniform in ±sqrt(6 / (fan_in + fan_out)). Source: TensorFlow `glorot_uniform_initializer`; Glorot and Bengio 2010.
constexpr auto glorot_uniform(std::uint64_t seed = 0) {
  return detail::random_initializer<initializer_kind::glorot_uniform>{0, 0, seed};
}

/// An initial value of a variable: `zeros`, `random_normal(0, 0.1)`; not a plain number, which `variable` itself wraps.
template <class I>
concept initializer = requires(const I& i) {
  { I::kind } -> std::convertible_to<initializer_kind>;
  i.numbers();
};

}  // namespace leat
