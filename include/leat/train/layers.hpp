#pragma once
// Layers: functions that create variables, with TensorFlow's names, and return an expression that uses them.

#include <leat/core/philox.hpp>
#include <leat/ops/images.hpp>
#include <leat/ops/random.hpp>
#include <leat/ops/state.hpp>
#include <leat/train/optimizer.hpp>

#include <span>
#include <string>
#include <tuple>

namespace leat {

/// A dense layer, or a convolution: its output, and its variables, which can be read, assigned, saved or penalized.
template <tensor_expression Output, tensor_expression Kernel, tensor_expression Bias>
struct dense_parts {
  Output output;  // the layer applied to its inputs
  Kernel kernel;  // a variable: the weights
  Bias bias;      // a variable: what is added
};

namespace detail {
template <class X>
concept dense_operand = tensor_expression<X> && requires { requires X::rank == 2 && X::extent.dim[1] >= 0 && is_floating(X::type); };
}  // namespace detail

/// x kernel + bias, and the two variables: `auto [hidden, kernel, bias] = dense_layer<"hidden", 256>(x)`. Variables: `Name/kernel` [inputs,
/// Units] (Glorot uniform by `seed`) and `Name/bias` [Units] (zeros).
/// Shapes: x […, inputs] of rank 2, `inputs` a size; output [rows, Units]. Dtypes: floating point. Source: TensorFlow `layers.Dense`.
template <fixed_string Name, std::int64_t Units, detail::dense_operand X>
constexpr auto dense_layer(const X& x, std::uint64_t seed = 0) {
  // Does not use variable<>: nvcc would print the user's own variable<"hidden/kernel", ...> with the names of these template arguments.
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

namespace detail {
template <class X>
concept image_operand =
    tensor_expression<X> && requires { requires X::rank == 4 && X::extent.dim[3] >= 0 && is_floating(X::type); };
}  // namespace detail
/// A convolution with a bias: `auto [maps, kernel, bias] = conv_layer<"conv1", 32, 5>(x)`; the arguments in <> are the name, the number of
/// filters, the size of a filter, strides and padding: `conv_layer<"conv2", 64, hw{3, 5}, 2, padding::same>(x)`. Variables: `Name/kernel`
/// [height, width, channels, Filters] (Glorot uniform by `seed`) and `Name/bias` [Filters] (zeros).
/// Shapes: x [batch, height, width, channels], all but the batch sizes; output [batch, windows down, windows right, Filters]. Dtypes:
/// floating point. Source: TensorFlow `layers.Conv2D`.
template <fixed_string Name, std::int64_t Filters, hw Size, hw Strides = 1, padding Padding = padding::valid, detail::image_operand X>
constexpr auto conv_layer(const X& x, std::uint64_t seed = 0) {
  using type = typename X::element;
  const auto kernel =
      detail::make_variable<name_of<Name / "kernel">, type, dims<Size.h, Size.w, X::extent[3], Filters>, true>(glorot_uniform(seed));
  const auto bias = detail::make_variable<name_of<Name / "bias">, type, dims<Filters>, true>(zeros);
  const auto output = conv2d<Strides, Padding>(x, kernel) + bias;
  return dense_parts<std::remove_const_t<decltype(output)>, std::remove_const_t<decltype(kernel)>, std::remove_const_t<decltype(bias)>>{
      output, kernel, bias};
}
/// The output of `conv_layer` alone. Source: TensorFlow `layers.conv2d`.
template <fixed_string Name, std::int64_t Filters, hw Size, hw Strides = 1, padding Padding = padding::valid, detail::image_operand X>
constexpr auto conv(const X& x, std::uint64_t seed = 0) {
  return conv_layer<Name, Filters, Size, Strides, Padding>(x, seed).output;
}
#define LEAT_CONV_WORDS                                                                                                                   \
  "<name, filters, size, strides, padding>(x) takes images of floating point, [batch, height, width, channels] with a size as channels, " \
  "then perhaps a seed; the others are template arguments: <\"conv1\", 32, 5>"
#define LEAT_CONV_OTHERWISE(function)                                   \
  LEAT_OTHERWISE(#function LEAT_CONV_WORDS) function(...) LEAT_DELETED; \
  template <fixed_string Name, LEAT_ANY_NUMBER... Sizes>                \
  LEAT_OTHERWISE(#function LEAT_CONV_WORDS)                             \
  function(...) LEAT_DELETED
LEAT_CONV_OTHERWISE(conv);
LEAT_CONV_OTHERWISE(conv_layer);
#undef LEAT_CONV_OTHERWISE
#undef LEAT_CONV_WORDS

/// An embedding: its output, and its table.
template <tensor_expression Output, tensor_expression Table>
struct embedding_parts {
  Output output;
  Table embeddings;
};
namespace detail {
template <class Ids>
concept embedding_operand = tensor_expression<Ids> && requires { requires Ids::type == dtype::int32 || Ids::type == dtype::int64; };
}  // namespace detail
/// Rows of a table by ids: `auto [rows, table] = embedding_layer<"words", 1000, 64>(ids)`. Variable: `Name/embeddings` [Rows, Units]
/// (uniform in ±0.05 by `seed`). Shapes: ids [...]; output [..., Units]. Dtypes: ids int32 or int64; output float32. Errors in a run:
/// invalid_argument for ids out of range. Source: TensorFlow `keras.layers.Embedding`.
template <fixed_string Name, std::int64_t Rows, std::int64_t Units, detail::embedding_operand Ids>
constexpr auto embedding_layer(const Ids& ids, std::uint64_t seed = 0) {
  const auto table = detail::make_variable<name_of<Name / "embeddings">, float, dims<Rows, Units>, true>(random_uniform(-0.05, 0.05, seed));
  const auto rows = gather(table, ids);
  return embedding_parts<std::remove_const_t<decltype(rows)>, std::remove_const_t<decltype(table)>>{rows, table};
}
/// The output of `embedding_layer` alone.
template <fixed_string Name, std::int64_t Rows, std::int64_t Units, detail::embedding_operand Ids>
constexpr auto embedding(const Ids& ids, std::uint64_t seed = 0) {
  return embedding_layer<Name, Rows, Units>(ids, seed).output;
}
LEAT_OTHERWISE("embedding<name, rows, units>(ids) takes a tensor of int32 or int64, then perhaps a seed") embedding(...) LEAT_DELETED;
template <fixed_string Name, LEAT_ANY_NUMBER... Sizes>
LEAT_OTHERWISE("embedding<name, rows, units>(ids) takes a tensor of int32 or int64, then perhaps a seed")
embedding(...) LEAT_DELETED;

namespace detail {
template <class X>
constexpr bool has_sizes_but_first() {
  for (int k = 1; k < X::rank; ++k)
    if (X::extent[k] < 0) return false;
  return X::rank >= 1;
}
template <class X>
concept flat_operand = tensor_expression<X> && has_sizes_but_first<X>();  // no lambda: nvcc takes none in a concept
template <class X>
constexpr std::int64_t width_of() {
  std::int64_t width = 1;
  for (int k = 1; k < X::rank; ++k) width *= X::extent[k];
  return width;
}
}  // namespace detail
/// Merges all dimensions but the first, which must be sizes, into one. Shapes: x [batch, ...]; result [batch, n]. Dtypes: any.
/// Source: TensorFlow `layers.flatten`.
template <detail::flat_operand X>
constexpr auto flatten_layer(const X& x) {
  return make<reshape_op, attributes<X::extent[0], detail::width_of<X>()>>(x);
}
LEAT_OTHERWISE("flatten_layer(x) takes a tensor of rank 1 or more, whose dimensions but the first are sizes")
flatten_layer(...) LEAT_DELETED;

namespace detail {
template <class S>
concept step_operand = tensor_expression<S> && requires { requires S::rank == 0 && (S::type == dtype::int32 || S::type == dtype::int64); };
}  // namespace detail
/// Dropout that draws its own mask: each element becomes 0 with probability `rate`, and x / (1 - rate) otherwise. The mask depends only on
/// the layer's name and on `step`, a counter that training advances: `auto steps = global_step(); auto kept = dropout<"drop1">(hidden,
/// 0.4f, steps);` and `minimize(loss, steps)`. For evaluation, make the expression of x without it. The rate is a number, a parameter or a
/// scalar tensor. Shapes: step [], result like x. Dtypes: x floating point, step int32 or int64. Source: TensorFlow `nn.dropout`.
template <fixed_string Name, tensor_expression X, detail::optimizer_setting Rate, detail::step_operand Step, LEAT_SITE>
  requires(is_floating(X::type))
constexpr auto dropout(const X& x, const Rate& rate, const Step& step) {
  using T = typename X::element;
  constexpr auto seed = static_cast<std::int64_t>(hash_text(Name.view()) & 0x7fffffffffff);
  const auto both = stack(constant<seed>(), cast<std::int64_t>(step));
  const auto drawn = make<stateless_uniform_op, detail::random_attributes_of<T, typename X::extents>>(both);
  const auto share = cast<T>(detail::as_setting<Site, 0>(rate));
  return select(greater_equal(drawn, share), x / (constant_beside<1>(share) - share), constant_beside<0>(x));
}
LEAT_OTHERWISE_OF(dropout, "<name>(x, rate, step) takes a tensor of floating point, a number or scalar tensor, and a scalar of integers, "
                           "such as global_step(); the name is a template argument: <\"drop1\">");
template <fixed_string Name>
LEAT_OTHERWISE(
    "dropout<name>(x, rate, step) takes a tensor of floating point, a number or scalar tensor, and a scalar of integers, such as "
    "global_step()")
dropout(...) LEAT_DELETED;

/// Dropout by a mask that is fed in each run: x mask / (1 - rate). The mask has x's shape; it is 0 where an element is dropped and 1
/// elsewhere. `draw_dropout_mask` fills a mask; a mask of ones with a rate of 0 drops nothing. The rate is a number, a parameter or a
/// scalar tensor. Dtypes: floating point. Source: TensorFlow `nn.dropout`.
template <tensor_expression X, tensor_expression M, detail::optimizer_setting Rate, LEAT_SITE>
  requires(is_floating(X::type) && X::type == M::type && X::extent == M::extent)
constexpr auto dropout_by_mask(const X& x, const M& mask, const Rate& rate) {
  const auto share = cast<typename X::element>(detail::as_setting<Site, 0>(rate));
  return x * mask / (constant_beside<1>(share) - share);
}
LEAT_OTHERWISE("dropout_by_mask(x, mask, rate) takes two tensors of one floating-point dtype and shape, and a number or scalar tensor")
dropout_by_mask(...) LEAT_DELETED;

/// Fills a mask for `dropout_by_mask`: each element is 0 with probability `rate`, otherwise 1. The mask depends only on `seed` and `step`.
/// Errors: invalid_argument for a rate outside [0, 1).
template <class T>
void draw_dropout_mask(std::span<T> mask, double rate, std::uint64_t seed, std::uint64_t step) {
  if (!(rate >= 0 && rate < 1)) LEAT_THROW(invalid_argument("draw_dropout_mask: rate is " + std::to_string(rate) + ", not in [0, 1)"));
  for (std::size_t i = 0; i < mask.size(); ++i) mask[i] = uniform<double>(mix(seed, step), i) < rate ? T(0) : T(1);
}

/// Composes functions: `sequential(f, g)(x)` is g(f(x)). The functions are layers, such as `[](const auto& x) { return relu(dense<"hidden",
/// 64>(x)); }`, or layers of graphs with names. Source: TensorFlow `keras.Sequential`.
template <class... Functions>
class sequential {
 public:
  constexpr explicit sequential(const Functions&... functions) : functions_(functions...) {}
  template <class X>
  constexpr auto operator()(const X& x) const {
    return apply<0>(x);
  }

 private:
  template <std::size_t K, class X>
  constexpr auto apply(const X& x) const {
    if constexpr (K == sizeof...(Functions)) return x;
    else return apply<K + 1>(std::get<K>(functions_)(x));
  }
  std::tuple<Functions...> functions_;
};

}  // namespace leat
