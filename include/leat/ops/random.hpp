#pragma once
// Random tensors as pure functions of a seed: the same seed gives the same numbers, in each program, on each device, with any number of
// threads. A program that wants new numbers in each step makes the seed from a counter, such as the global step.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/comparison.hpp>

namespace leat {

/// Random numbers of a seed. Attributes: the dtype and the shape of the result. There is no form, because TensorFlow's node takes the shape
/// before the operand: `to_graph` writes it. Source: TensorFlow `StatelessRandomUniform` and
/// `StatelessRandomNormal`, whose numbers these are.
template <bool Normal>
struct stateless_random_op {
  static constexpr std::string_view type = Normal ? "StatelessRandomNormal" : "StatelessRandomUniform";
  static constexpr facts what{.work = work_kind::random, .stops_gradient = true};
  static constexpr op_kind kind = op_kind::kernel;
  static constexpr inference infer(const operand_list& x) {
    if (x.type(0) != dtype::int32 && x.type(0) != dtype::int64) return inference::wrong("the seed is of int32 or int64");
    if (x.extent(0).rank != 1 || !may_equal(x.extent(0)[0], 2)) return inference::wrong("seed must have shape [2]");
    inference got{static_cast<dtype>(x.attribute(0)), {}};
    if (!is_floating(got.type)) return inference::wrong(rule::refusal(rule::takes::floating));
    if (x.attribute_count - 1 > max_rank) return inference::wrong("more than 8 dimensions");
    for (int k = 1; k < x.attribute_count; ++k) {
      if (x.attribute(k) == unknown_dimension) return inference::wrong("a size is negative");
      got.extent.push(x.attribute(k));
    }
    return got;
  }
};
using stateless_uniform_op = stateless_random_op<false>;
using stateless_normal_op = stateless_random_op<true>;

namespace detail {
template <class T, class Dims>
struct random_attributes;
template <class T, std::int64_t... Sizes>
struct random_attributes<T, dims<Sizes...>> {
  using type = attributes<static_cast<std::int64_t>(dtype_of<T>), Sizes...>;
};
template <class T, class Dims>
using random_attributes_of = typename random_attributes<T, Dims>::type;
template <class T>
concept random_element = std::is_same_v<T, float> || std::is_same_v<T, double>;
}  // namespace detail

#define LEAT_RANDOM_FUNCTION(function, op)                                                                                         \
  template <class T, dimension... Ds, tensor_expression Seed>                                                                      \
    requires detail::random_element<T> && accepted_with<op, detail::random_attributes_of<T, dims_of<Ds...>>, Seed>                 \
  constexpr made_with<op, detail::random_attributes_of<T, dims_of<Ds...>>, Seed> function(const Seed& seed) {                      \
    return make<op, detail::random_attributes_of<T, dims_of<Ds...>>>(seed);                                                        \
  }                                                                                                                                \
  template <class T, dimension... Ds, tensor_expression Seed>                                                                      \
    requires detail::random_element<T> && refused_with<op, detail::random_attributes_of<T, dims_of<Ds...>>, Seed>                  \
  why_with<op, detail::random_attributes_of<T, dims_of<Ds...>>, Seed> function(const Seed&) = delete;                              \
  LEAT_OTHERWISE(#function "<type, sizes...>(seed) takes a tensor of two integers; the type, float or double, and the shape are " \
                           "template arguments: " #function "<float, \"batch\", 8>(seed)")                                         \
  function(...) LEAT_DELETED;                                                                                                      \
  template <class T, dimension... Ds>                                                                                              \
  LEAT_OTHERWISE(#function "<type, sizes...>(seed) takes a tensor of two integers; the type, float or double, and the shape are " \
                           "template arguments: " #function "<float, \"batch\", 8>(seed)")                                         \
  function(...) LEAT_DELETED
/// Uniformly distributed numbers in [0, 1): `stateless_random_uniform<float, "batch", 8>(seed)`. Shapes: seed [2]; result of the sizes in
/// the call. Dtypes: seed int32 or int64; result float or double. Source: TensorFlow `stateless_random_uniform`, with the same numbers.
LEAT_RANDOM_FUNCTION(stateless_random_uniform, stateless_uniform_op);
/// Normally distributed numbers, mean 0 and standard deviation 1. Shapes, dtypes: as `stateless_random_uniform`. Source: TensorFlow
/// `stateless_random_normal`, with the same numbers except for the last bits of logarithm, sine and cosine.
LEAT_RANDOM_FUNCTION(stateless_random_normal, stateless_normal_op);
#undef LEAT_RANDOM_FUNCTION

}  // namespace leat
