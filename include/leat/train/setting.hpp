#pragma once
// Settings of optimizers and of learning-rate schedules: numbers, parameters and other scalar expressions.

#include <leat/ops/state.hpp>

namespace leat::detail {

template <class T, std::uint64_t Hash>
struct setting_leaf : number_leaf<T, Hash> {
  static constexpr bool is_plain_number = true;
};
/// A setting of an optimizer: a number, a parameter or another scalar expression.
template <class S>
concept optimizer_setting = (std::is_arithmetic_v<S> && !std::same_as<S, bool>) || is_compile_time_number<S> ||
                            (tensor_expression<S> && requires { requires S::rank == 0; });
// A setting as an expression: a number becomes one that is identified by its source location; an expression stays as it is.
template <class Site, int K, class S>
constexpr auto as_setting(const S& s) {
  if constexpr (tensor_expression<S>) {
    return s;
  } else if constexpr (is_compile_time_number<S>) {
    return leaf_tensor<constant_leaf<double, bits_of(dtype::float64, S::value)>, double, dims<>>{};
  } else {
    leaf_tensor<setting_leaf<double, mix(site_hash<Site>, 700 + K)>, double, dims<>> result;
    result.carried[0] = number_bits<double>(static_cast<double>(s));
    return result;
  }
}

}  // namespace leat::detail
