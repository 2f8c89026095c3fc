#pragma once
// Layers: functions that make variables, named as TensorFlow names them, and an expression from them.

#include <leat/ops/state.hpp>

namespace leat {

/// x kernel + bias, with variables `Name/kernel` [inputs, Units] (Glorot uniform by `seed`) and `Name/bias` [Units] (zeros).
/// Shapes: x […, inputs] of rank 2; result [rows, Units]. Source: TensorFlow `layers.dense`.
template <fixed_string Name, std::int64_t Units, tensor_expression X>
  requires(X::rank == 2)
constexpr auto dense(const X& x, std::uint64_t seed = 0) {
  // not by variable<>: nvcc would spell the user's own variable<"hidden/kernel", ...> with the names used here
  using type = typename X::element;
  const auto weights = detail::make_variable<name_of<Name / "kernel">, type, dims<X::extent[1], Units>, true>(glorot_uniform(seed));
  const auto bias = detail::make_variable<name_of<Name / "bias">, type, dims<Units>, true>(zeros);
  return matmul(x, weights) + bias;
}

}  // namespace leat
