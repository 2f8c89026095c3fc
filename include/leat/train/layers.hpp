#pragma once
// Layers: functions that make variables, with TensorFlow's names, and an expression of them.

#include <leat/ops/state.hpp>

namespace leat {

/// A dense layer: its output, and its variables, to be read, assigned, saved or penalized.
template <tensor_expression Output, tensor_expression Kernel, tensor_expression Bias>
struct dense_parts {
  Output output;
  Kernel kernel;
  Bias bias;
};

namespace detail {
template <class X>
concept dense_operand = tensor_expression<X> && requires { requires X::rank == 2 && X::extent.dim[1] >= 0 && is_floating(X::type); };
}  // namespace detail

/// x kernel + bias with both variables: `auto [hidden, kernel, bias] = dense_layer<"hidden", 256>(x)`. Variables: `Name/kernel`
/// [inputs, Units] (Glorot uniform by `seed`) and `Name/bias` [Units] (zeros).
/// Shapes: x […, inputs] of rank 2, `inputs` a size; output [rows, Units]. Dtypes: floating point. Source: TensorFlow `layers.Dense`.
template <fixed_string Name, std::int64_t Units, detail::dense_operand X>
constexpr auto dense_layer(const X& x, std::uint64_t seed = 0) {
  // Not by variable<>: nvcc would spell the user's own variable<"hidden/kernel", ...> with the names used here.
  using type = typename X::element;
  const auto kernel = detail::make_variable<name_of<Name / "kernel">, type, dims<X::extent[1], Units>, true>(glorot_uniform(seed));
  const auto bias = detail::make_variable<name_of<Name / "bias">, type, dims<Units>, true>(zeros);
  const auto output = matmul(x, kernel) + bias;
  return dense_parts<std::remove_const_t<decltype(output)>, std::remove_const_t<decltype(kernel)>, std::remove_const_t<decltype(bias)>>{
      output, kernel, bias};
}
/// The output of `dense_layer` alone. Source: TensorFlow `layers.dense`.
template <fixed_string Name, std::int64_t Units, detail::dense_operand X>
constexpr auto dense(const X& x, std::uint64_t seed = 0) {
  return dense_layer<Name, Units>(x, seed).output;
}

#define LEAT_DENSE_WORDS                                                                                                              \
  "<name, units>(x) takes a tensor of floating point, [rows, inputs] with a size as inputs, then perhaps a seed; name and units are " \
  "template arguments: <\"hidden\", 256>"
#define LEAT_DENSE_OTHERWISE(function)                                   \
  LEAT_OTHERWISE(#function LEAT_DENSE_WORDS) function(...) LEAT_DELETED; \
  template <LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>              \
  LEAT_OTHERWISE(#function LEAT_DENSE_WORDS)                             \
  function(...) LEAT_DELETED;                                            \
  template <LEAT_ANY_NUMBER First, fixed_string Name>                    \
  LEAT_OTHERWISE(#function LEAT_DENSE_WORDS)                             \
  function(...) LEAT_DELETED;                                            \
  template <fixed_string Name, LEAT_ANY_NUMBER... Units>                 \
  LEAT_OTHERWISE(#function LEAT_DENSE_WORDS)                             \
  function(...) LEAT_DELETED
LEAT_DENSE_OTHERWISE(dense);
LEAT_DENSE_OTHERWISE(dense_layer);
#undef LEAT_DENSE_OTHERWISE
#undef LEAT_DENSE_WORDS

}  // namespace leat
