#pragma once
// Layers: functions that make variables, named as TensorFlow names them, and an expression from them.

#include <leat/ops/state.hpp>

namespace leat {

/// x kernel + bias, with variables `Name/kernel` [inputs, Units] (Glorot uniform by `seed`) and `Name/bias` [Units] (zeros).
/// Shapes: x […, inputs] of rank 2; result [rows, Units]. Source: TensorFlow `layers.dense`.
template <fixed_string Name, std::int64_t Units, tensor_expression X>
  requires(X::rank == 2)
constexpr auto dense(const X& x, std::uint64_t seed = 0) {
  const auto kernel = variable<Name / "kernel", typename X::element, X::extent[1], Units>(glorot_uniform(seed));
  const auto bias = variable<Name / "bias", typename X::element, Units>(zeros);
  return matmul(x, kernel) + bias;
}

}  // namespace leat
