#pragma once
// Random tensors as pure functions of a seed: the same seed gives the same numbers, in each program, on each device, with any number of
// threads. A program that wants new numbers in each step makes the seed from a counter, such as the global step.

#include <leat/ops/array_parts.hpp>
#include <leat/ops/array_plan.hpp>
#include <leat/ops/comparison.hpp>

namespace leat {

/// How random fractions are distributed: in [0, 1), or normally, with mean 0 and standard deviation 1, of which `truncated_normal` keeps
/// those between -2 and 2.
enum class distribution_of_numbers { uniform, normal, truncated_normal };

namespace rule {

/// Rules that operators of a seed share. They have no form, because TensorFlow's nodes take numbers before the seed: `to_graph` writes them
/// (named/exchange/row_writers.hpp).
struct of_seed {
  static constexpr facts what{.work = work_kind::random, .stops_gradient = true};
  static constexpr op_kind kind = op_kind::kernel;
  /// The problem with operand `k` as a seed.
  static constexpr std::string_view seed_problem(const operand_list& x, int k) {
    if (x.type(k) != dtype::int32 && x.type(k) != dtype::int64) return "the seed is of int32 or int64";
    if (x.extent(k).rank != 1 || !may_equal(x.extent(k)[0], 2)) return "seed must have shape [2]";
    return {};
  }
  /// A result whose sizes are the attributes from `first` on.
  static constexpr inference sized(dtype type, const operand_list& x, int first) {
    inference got{type, {}};
    if (x.attribute_count - first > max_rank) return inference::wrong("more than 8 dimensions");
    for (int k = first; k < x.attribute_count; ++k) {
      if (x.attribute(k) == unknown_dimension) return inference::wrong("a size is negative");
      got.extent.push(x.attribute(k));
    }
    return got;
  }
};

}  // namespace rule

/// Random numbers of a seed. Attributes: the dtype and the shape of the result. Source: TensorFlow `StatelessRandomUniform`,
/// `StatelessRandomNormal` and `StatelessTruncatedNormal`, whose numbers these are.
template <distribution_of_numbers How>
struct stateless_random_op : rule::of_seed {
  static constexpr std::string_view type = How == distribution_of_numbers::uniform  ? "StatelessRandomUniform"
                                           : How == distribution_of_numbers::normal ? "StatelessRandomNormal"
                                                                                    : "StatelessTruncatedNormal";
  static constexpr facts what{.work = work_kind::random,
                              .by_width = How == distribution_of_numbers::uniform ? width_rule::uniform : width_rule::none,
                              .stops_gradient = true};
  static constexpr inference infer(const operand_list& x) {
    if (const auto problem = seed_problem(x, 0); !problem.empty()) return inference::wrong(problem);
    const auto its = static_cast<dtype>(x.attribute(0));
    return is_floating(its) ? sized(its, x, 1) : inference::wrong(rule::refusal(rule::takes::floating));
  }
};
using stateless_uniform_op = stateless_random_op<distribution_of_numbers::uniform>;
using stateless_normal_op = stateless_random_op<distribution_of_numbers::normal>;
using stateless_truncated_normal_op = stateless_random_op<distribution_of_numbers::truncated_normal>;

/// Random integers of a seed, from a number up to another one, which is not among them. Attributes: the dtype, the two numbers, the shape
/// of the result. Source: TensorFlow `StatelessRandomUniformInt`, whose numbers these are.
struct stateless_integers_op : rule::of_seed {
  static constexpr std::string_view type = "StatelessRandomUniformInt";
  static constexpr facts what{.work = work_kind::random, .narrow = narrow_rule::refused, .stops_gradient = true};
  static constexpr inference infer(const operand_list& x) {
    if (const auto problem = seed_problem(x, 0); !problem.empty()) return inference::wrong(problem);
    const auto its = static_cast<dtype>(x.attribute(0));
    if (its != dtype::int32 && its != dtype::int64) return inference::wrong("the numbers are of int32 or int64");
    const std::int64_t low = x.attribute(1), high = x.attribute(2);
    if (low >= high) return inference::wrong("Need minval < maxval");
    if (its == dtype::int32 && (low < -(std::int64_t{1} << 31) || high >= std::int64_t{1} << 31))
      return inference::wrong("minval and maxval are numbers of int32");
    return sized(its, x, 3);
  }
};

/// Classes drawn at random, row by row, with probabilities whose logarithms, up to a number, are the logits. Operands: logits, seed.
/// Attributes: the number of samples of each row, the dtype of the result. Source: TensorFlow `StatelessMultinomial`, with the samples that
/// its CPU kernel draws on one thread.
struct stateless_multinomial_op : rule::of_seed {
  static constexpr std::string_view type = "StatelessMultinomial";
  static constexpr inference infer(const operand_list& x) {
    if (!is_floating(x.type(0))) return inference::wrong(rule::refusal(rule::takes::floating));
    if (x.extent(0).rank != 2) return inference::wrong("logits should be a matrix [rows, classes]");
    if (x.extent(0)[1] == 0) return inference::wrong("num_classes should be positive, got 0");
    if (const auto problem = seed_problem(x, 1); !problem.empty()) return inference::wrong(problem);
    if (x.attribute(0) == unknown_dimension) return inference::wrong("num_samples should be non-negative");
    const auto its = static_cast<dtype>(x.attribute(1));
    if (its != dtype::int32 && its != dtype::int64) return inference::wrong("the samples are of int32 or int64");
    inference got{its, {}};
    got.extent.push(x.extent(0)[0]);
    got.extent.push(x.attribute(0));
    return got;
  }
};

/// The numbers from 0 on, as many as the attribute says, in a random order. Typed expressions alone have this operator, within
/// `stateless_shuffle`: TensorFlow 1.x has none for it.
struct stateless_order_op : rule::of_seed {
  static constexpr std::string_view type = "StatelessOrder";
  static constexpr inference infer(const operand_list& x) {
    if (const auto problem = seed_problem(x, 0); !problem.empty()) return inference::wrong(problem);
    return sized(dtype::int64, x, 0);
  }
};

namespace detail {
template <class T, class Dims, std::int64_t... Settings>
struct random_attributes;
template <class T, std::int64_t... Sizes, std::int64_t... Settings>
struct random_attributes<T, dims<Sizes...>, Settings...> {
  using type = attributes<static_cast<std::int64_t>(dtype_of<T>), Settings..., Sizes...>;
};
template <class T, class Dims, std::int64_t... Settings>
using random_attributes_of = typename random_attributes<T, Dims, Settings...>::type;
template <class T>
concept random_element = std::is_same_v<T, float> || std::is_same_v<T, double>;
template <class T>
concept random_index = std::is_same_v<T, std::int32_t> || std::is_same_v<T, std::int64_t>;

template <class X, class Seed>
struct shuffle_plan {
  static constexpr std::string_view function = "stateless_shuffle";
  static constexpr std::string_view problem() {
    if (X::rank == 0) return "nothing to shuffle: a scalar";
    const tensor_info seed[]{{Seed::type, Seed::extent}};
    return rule::of_seed::seed_problem({seed, 1, nullptr, 0}, 0);
  }
  static constexpr number_list rows() {
    number_list size;
    size.push(X::extent[0]);
    return size;
  }
};
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
/// Normally distributed numbers, of which those outside of (-2, 2) are drawn anew. Shapes, dtypes: as `stateless_random_uniform`. Source:
/// TensorFlow `stateless_truncated_normal`, with the same numbers except for the last bits of logarithm, sine and cosine.
LEAT_RANDOM_FUNCTION(stateless_truncated_normal, stateless_truncated_normal_op);
#undef LEAT_RANDOM_FUNCTION

/// Uniformly distributed integers from `Low` to `High` - 1: `stateless_random_integer<int, 0, 10, "batch", 8>(seed)`. Shapes: seed [2];
/// result of the sizes in the call. Dtypes: seed int32 or int64; result std::int32_t or std::int64_t. Errors: `Low` is not below `High`.
/// Source: TensorFlow `StatelessRandomUniformInt`, with the same numbers.
template <class T, std::int64_t Low, std::int64_t High, dimension... Ds, tensor_expression Seed>
  requires detail::random_index<T> && accepted_with<stateless_integers_op, detail::random_attributes_of<T, dims_of<Ds...>, Low, High>, Seed>
constexpr made_with<stateless_integers_op, detail::random_attributes_of<T, dims_of<Ds...>, Low, High>, Seed> stateless_random_integer(
    const Seed& seed) {
  return make<stateless_integers_op, detail::random_attributes_of<T, dims_of<Ds...>, Low, High>>(seed);
}
template <class T, std::int64_t Low, std::int64_t High, dimension... Ds, tensor_expression Seed>
  requires detail::random_index<T> && refused_with<stateless_integers_op, detail::random_attributes_of<T, dims_of<Ds...>, Low, High>, Seed>
why_with<stateless_integers_op, detail::random_attributes_of<T, dims_of<Ds...>, Low, High>, Seed> stateless_random_integer(const Seed&) =
    delete;
#define LEAT_RANDOM_INTEGER_WORDS                                                                                                        \
  "stateless_random_integer<type, low, high, sizes...>(seed) takes a tensor of two integers; the type, std::int32_t or std::int64_t, the " \
  "range and the shape are template arguments: stateless_random_integer<int, 0, 10, \"batch\", 8>(seed)"
LEAT_OTHERWISE(LEAT_RANDOM_INTEGER_WORDS) stateless_random_integer(...) LEAT_DELETED;
template <class T, dimension... Ds>
LEAT_OTHERWISE(LEAT_RANDOM_INTEGER_WORDS) stateless_random_integer(...) LEAT_DELETED;
template <LEAT_ANY_NUMBER First, LEAT_ANY_NUMBER... Rest>
LEAT_OTHERWISE(LEAT_RANDOM_INTEGER_WORDS) stateless_random_integer(...) LEAT_DELETED;
#undef LEAT_RANDOM_INTEGER_WORDS

/// Classes drawn at random for each row of logits: `stateless_multinomial<20>(logits, seed)` draws 20 of each row, with probabilities
/// softmax(logits). Classes whose logit is infinite or NaN are not drawn. Shapes: logits [rows, classes], seed [2]; result [rows, Samples].
/// Dtypes: logits floating point, seed int32 or int64; result `T`. Source: TensorFlow `stateless_multinomial`, with the samples that its
/// CPU kernel draws on one thread.
template <std::int64_t Samples, class T = std::int64_t, tensor_expression Logits, tensor_expression Seed>
  requires accepted_with<stateless_multinomial_op, attributes<Samples, static_cast<std::int64_t>(dtype_of<T>)>, Logits, Seed>
constexpr made_with<stateless_multinomial_op, attributes<Samples, static_cast<std::int64_t>(dtype_of<T>)>, Logits, Seed>
stateless_multinomial(const Logits& logits, const Seed& seed) {
  return make<stateless_multinomial_op, attributes<Samples, static_cast<std::int64_t>(dtype_of<T>)>>(logits, seed);
}
template <std::int64_t Samples, class T = std::int64_t, tensor_expression Logits, tensor_expression Seed>
  requires refused_with<stateless_multinomial_op, attributes<Samples, static_cast<std::int64_t>(dtype_of<T>)>, Logits, Seed>
why_with<stateless_multinomial_op, attributes<Samples, static_cast<std::int64_t>(dtype_of<T>)>, Logits, Seed> stateless_multinomial(
    const Logits&, const Seed&) = delete;
LEAT_OTHERWISE_OF_TYPE(stateless_multinomial,
                       "<samples>(logits, seed) takes a matrix and a tensor of two integers; the number of samples is a "
                       "template argument: stateless_multinomial<20>(logits, seed); " LEAT_TENSORS);

/// The subarrays of x along its first axis, in a random order. Shapes: x [d0, …, dn], seed [2]; result as x. Dtypes: x any, seed int32 or
/// int64. Source: TensorFlow 2's `random.experimental.stateless_shuffle`, with the same order. `to_graph` cannot write it: TensorFlow 1.x
/// has no such operator.
template <tensor_expression X, tensor_expression Seed>
  requires detail::fits_plan<detail::shuffle_plan<X, Seed>>
constexpr auto stateless_shuffle(const X& x, const Seed& seed) {
  return make<gather_op>(x, detail::make_from<stateless_order_op, detail::shuffle_plan<X, Seed>::rows>(seed));
}
template <tensor_expression X, tensor_expression Seed>
  requires(!detail::fits_plan<detail::shuffle_plan<X, Seed>>)
detail::why_not<detail::shuffle_plan<X, Seed>, X, Seed> stateless_shuffle(const X&, const Seed&) = delete;
LEAT_OTHERWISE("stateless_shuffle(x, seed) takes two tensors, the second of two integers; " LEAT_TENSORS)
stateless_shuffle(...) LEAT_DELETED;

}  // namespace leat
