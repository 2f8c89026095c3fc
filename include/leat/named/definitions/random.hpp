#pragma once
// Definitions of operators that draw random numbers: from a node's own sequence, from a seed, from a key and a counter, and from a variable
// that holds the state of a generator.

#include <leat/core/fill.hpp>
#include <leat/named/definitions/shapes.hpp>

namespace leat::detail {

LEAT_FILL(fill_random_definitions) {
  constexpr facts draws{.is = nature::random, .work = work_kind::random, .stops_gradient = true};
  const auto random = [](shape_context& c) { c.set(0, shapes::from_numbers(c, 0)); };
  const auto below_one = [](facts its) {
    its.by_width = width_rule::uniform;
    return its;
  };
  const std::string drawn =
      "(shape: T) -> (output: dtype); seed: int = 0; seed2: int = 0; dtype: {half, bfloat16, float32, float64}; T: {int32, int64}";
  define_operator("RandomUniform" + drawn, below_one(draws), random);
  for (const char* type : {"RandomStandardNormal", "TruncatedNormal"}) define_operator(type + drawn, draws, random);
  define_operator(
      "RandomUniformInt(shape: T, minval: Tout, maxval: Tout) -> (output: Tout); seed: int = 0; seed2: int = 0; T: {int32, int64}", draws,
      random);
  constexpr facts of_seed{.is = nature::pure, .work = work_kind::random, .stops_gradient = true};
  const std::string made =
      "(shape: T, seed: Tseed) -> (output: dtype); dtype: {float32, float64} = float32; T: {int32, int64} = int32; Tseed: {int32, int64} = "
      "int64";
  define_operator("StatelessRandomUniform" + made, below_one(of_seed), random);
  for (const char* type : {"StatelessRandomNormal", "StatelessTruncatedNormal"}) define_operator(type + made, of_seed, random);
  define_operator(
      "StatelessRandomUniformInt(shape: T, seed: Tseed, minval: dtype, maxval: dtype) -> (output: dtype); dtype: {int32, int64}; T: "
      "{int32, int64}; Tseed: {int32, int64} = int64",
      {.is = nature::pure, .work = work_kind::random, .narrow = narrow_rule::refused, .stops_gradient = true}, random);
  define_operator(
      "StatelessMultinomial(logits: T, num_samples: int32, seed: Tseed) -> (output: output_dtype); T: {float32, float64}; Tseed: "
      "{int32, int64} = int64; output_dtype: {int32, int64} = int64",
      {.is = nature::pure, .work = work_kind::random, .values = {1, 1}, .stops_gradient = true}, [](shape_context& c) {
        shapes::want_rank(c, 0, 2);
        shapes::want_rank(c, 1, 0);
        const shape& logits = c.input(0).extent;
        shape result;
        result.push(logits.has_rank() ? logits[0] : unknown_dimension);
        result.push(std::max(shapes::number(c, 1).value_or(unknown_dimension), unknown_dimension));
        c.set(0, result);
      });
  // Normal numbers between bounds, for each batch of the result its own parameters or the same ones for all.
  define_operator(
      "ParameterizedTruncatedNormal(shape: T, means: dtype, stdevs: dtype, minvals: dtype, maxvals: dtype) -> (output: dtype); seed: int = 0; "
      "seed2: int = 0; dtype: {half, bfloat16, float32, float64}; T: {int32, int64}",
      draws, random);
  define_operator("RandomShuffle(value: T) -> (output: T); seed: int = 0; seed2: int = 0", draws, shapes::like<0>);
  define_operator(
      "Multinomial(logits: T, num_samples: int32) -> (output: output_dtype); seed: int = 0; seed2: int = 0; output_dtype: type = int64",
      {.is = nature::random, .stops_gradient = true});
  // Numbers for given parameters: as many for each of them.
  const auto for_each = [](shape_context& c) {
    shape result = shapes::from_numbers(c, 0);
    const shape& each = c.input(1).extent;
    if (!result.has_rank() || !each.has_rank() || result.rank + each.rank > max_rank) return;
    for (int k = 0; k < each.rank; ++k) result.push(each[k]);
    c.set(0, result);
  };
  const std::string any_rate = "R: {half, float32, float64, int32, int64} = float64; dtype: {half, float32, float64, int32, int64} = int64";
  define_operator(
      "RandomPoissonV2(shape: S, rate: R) -> (output: dtype); seed: int = 0; seed2: int = 0; S: {int32, int64} = int32; " + any_rate, draws,
      for_each);
  define_operator(
      "RandomGamma(shape: S, alpha: T) -> (output: T); seed: int = 0; seed2: int = 0; S: {int32, int64} = int32; T: {half, float32, "
      "float64}",
      {.is = nature::random, .work = work_kind::random}, for_each);
  define_operator("RandomGammaGrad(alpha: T, sample: T) -> (output: T); T: {float32, float64}", {.is = nature::pure}, shapes::broadcast);

  // Of a seed, or of a key and a counter, which stand for one.
  const std::string of_pair = "(shape: T, seed: Tseed", of_key = "(shape: T, key: uint64, counter: uint64, alg: int32";
  const std::string sizes = "T: {int32, int64} = int32", kinds_of_seed = "; Tseed: {int32, int64} = int64";
  constexpr facts of_uint64{.is = nature::pure, .work = work_kind::random, .narrow = narrow_rule::exact, .stops_gradient = true};
  constexpr facts of_any{.is = nature::pure, .work = work_kind::random, .narrow = narrow_rule::any, .stops_gradient = true};
  const std::string reals = "dtype: {half, bfloat16, float32, float64} = float32; ";
  define_operator("StatelessRandomUniformV2" + of_key + ") -> (output: dtype); " + reals + sizes, below_one(of_uint64), random);
  for (const char* type : {"StatelessRandomNormalV2", "StatelessTruncatedNormalV2"})
    define_operator(type + of_key + ") -> (output: dtype); " + reals + sizes, of_uint64, random);
  const std::string any_integers = "dtype: {int32, int64, uint32, uint64} = uint64; ";
  define_operator(
      "StatelessRandomUniformIntV2" + of_key + ", minval: dtype, maxval: dtype) -> (output: dtype); dtype: {int32, int64}; " + sizes,
      of_uint64, random);
  define_operator("StatelessRandomUniformFullInt" + of_pair + ") -> (output: dtype); " + any_integers + sizes + kinds_of_seed, of_any,
                  random);
  define_operator("StatelessRandomUniformFullIntV2" + of_key + ") -> (output: dtype); " + any_integers + sizes, of_any, random);
  define_operator("StatelessShuffle(value: T, key: uint64, counter: uint64, alg: int32) -> (output: T)", of_any, shapes::like<0>);
  constexpr facts with_gradient{.is = nature::pure, .work = work_kind::random};
  define_operator("StatelessRandomGammaV2" + of_pair + ", alpha: dtype) -> (output: dtype); dtype: {half, float32, float64}; " + sizes +
                      kinds_of_seed,
                  with_gradient, random);
  const std::string any_number = "{half, float32, float64, int32, int64}";
  define_operator(
      "StatelessRandomBinomial(shape: S, seed: Tseed, counts: T, probs: T) -> (output: dtype); S: {int32, int64}; Tseed: {int32, "
      "int64} = int64; T: " +
          any_number + " = float64; dtype: " + any_number + " = int64",
      of_seed, random);
  define_operator(
      "StatelessParameterizedTruncatedNormal(shape: S, seed: Tseed, means: dtype, stddevs: dtype, minvals: dtype, maxvals: dtype) "
      "-> (output: dtype); S: {int32, int64}; Tseed: {int32, int64} = int64; dtype: {half, float32, float64}",
      with_gradient, random);
  define_operator("StatelessRandomPoisson" + of_pair + ", lam: R) -> (output: dtype); " + any_rate + "; " + sizes + kinds_of_seed, of_seed,
                  random);

  constexpr facts of_generator{.is = nature::pure, .work = work_kind::none, .narrow = narrow_rule::exact, .stops_gradient = true};
  const auto key_and_counter = [](shape_context& c) {
    shapes::want_rank(c, 0, 1);
    c.set(0, shapes::vector_of(1));
    c.set(1, shapes::vector_of(2));
    if (c.result_count() > 2) c.set(2, shapes::scalar);
  };
  define_operator("StatelessRandomGetKeyCounter(seed: Tseed) -> (key: uint64, counter: uint64); Tseed: {int32, int64} = int64",
                  of_generator, key_and_counter);
  define_operator(
      "StatelessRandomGetKeyCounterAlg(seed: Tseed) -> (key: uint64, counter: uint64, alg: int32); Tseed: {int32, int64} = int64",
      of_generator, key_and_counter);
  define_operator("StatelessRandomGetAlg() -> (alg: int32)", of_generator, shapes::numbers);

  // Of a variable with the state of a generator, which they advance.
  constexpr facts advances{.is = nature::effect, .work = work_kind::random, .narrow = narrow_rule::exact, .stops_gradient = true};
  constexpr facts advances_any{.is = nature::effect, .work = work_kind::random, .narrow = narrow_rule::any, .stops_gradient = true};
  const auto by_state = [](shape_context& c) { c.set(0, shapes::from_numbers(c, 2)); };
  const std::string state = "(resource: &resource, algorithm: int64, shape: S", sizes_of_state = "; S: {int32, int64} = int64";
  const std::string drawn_reals = ") -> (output: dtype); dtype: {half, bfloat16, float32, float64} = float32" + sizes_of_state;
  define_operator("StatefulUniform" + state + drawn_reals, below_one(advances), by_state);
  for (const char* type : {"StatefulStandardNormalV2", "StatefulTruncatedNormal"})
    define_operator(type + state + drawn_reals, advances, by_state);
  define_operator(
      "StatefulUniformInt" + state + ", minval: dtype, maxval: dtype) -> (output: dtype); dtype: {int32, int64} = int64" + sizes_of_state,
      advances, by_state);
  define_operator(
      "StatefulUniformFullInt" + state + ") -> (output: dtype); dtype: {int32, int64, uint32, uint64} = uint64" + sizes_of_state,
      advances_any, by_state);
  define_operator("RngReadAndSkip(resource: &resource, alg: int32, delta: uint64) -> (value: int64)", advances,
                  [](shape_context& c) { c.set(0, shapes::vector_of(-1)); });
  define_operator("RngSkip(resource: &resource, algorithm: int64, delta: int64) -> ()", advances);
  define_operator(
      "NonDeterministicInts(shape: S) -> (output: dtype); dtype: {int32, int64, uint32, uint64} = int64; S: {int32, int64} = int64",
      {.is = nature::random, .work = work_kind::random, .narrow = narrow_rule::any, .stops_gradient = true}, random);
}

}  // namespace leat::detail
