#pragma once
// Kernels of random numbers from a key and a counter, and from a variable that holds the state of a generator. Both give TensorFlow's
// numbers. Generators are Philox's. A generator's state is a vector of int64: two numbers for the counter of 128 bits, the lower first, and
// the key. Source: TensorFlow `tf.random.Generator` and `stateless_random_ops_v2`.

#include <leat/core/fill.hpp>
#include <leat/runtime/kernels/random.hpp>
#include <leat/runtime/kernels/random_gamma.hpp>

#include <random>

namespace leat::runtime {

/// Refuses all algorithms but Philox (1) and "automatic" (3).
inline void check_algorithm(std::int64_t id) {
  if (id != 1 && id != 3) throw invalid_argument("Unsupported algorithm id: " + std::to_string(id));
}
/// The sequence of the key, the counter and the algorithm that are the inputs from `k` on.
inline kernels::seeded_sequence sequence_of_key(kernel_context& c, int k) {
  const tensor_value key = c.input(k).widened(), counter = c.input(k + 1).widened();
  if (c.extent(k + 2).rank != 0)
    throw invalid_argument("input " + std::to_string(k + 2) + " (0-based) must have shape [], not " + brackets(c.extent(k + 2)));
  check_algorithm(c.number(k + 2));
  if (key.extent().rank != 1 || key.extent()[0] != 1)
    throw invalid_argument("key must have shape [1], not " + brackets(key.extent()) + ". (Note that batched keys are not supported yet.)");
  if (counter.extent().rank != 1 || counter.extent()[0] < 2)
    throw invalid_argument("counter must be a vector with length at least 2; got shape: " + brackets(counter.extent()) +
                           ". (Note that batched counters are not supported yet.)");
  const auto at = integers(counter);
  return {static_cast<std::uint64_t>(integers(key)[0]), static_cast<std::uint64_t>(at[0]), static_cast<std::uint64_t>(at[1])};
}

/// An array for integers that are drawn as a dtype of this one's width, which `give_integers` makes the node's result.
inline dtype drawn_integers(data_type type) {
  return type == data_type::int32 || type == data_type::uint32 ? dtype::int32 : dtype::int64;
}
inline void give_integers(kernel_context& c, data_type type, const tensor_value& made) {
  if (type == data_type::uint32 || type == data_type::uint64) {
    tensor_value wide(dtype::int64, made.extent());
    with_index(made.type(), [&]<class T>(T) {
      std::ranges::transform(made.values<T>(), wide.values<std::int64_t>().begin(), [](T x) { return static_cast<std::int64_t>(x); });
    });
    return c.set(0, wide.narrowed(type));
  }
  c.set(0, made);
}
template <distribution_of_numbers How>
void run_numbers_of_key(kernel_context& c) {
  tensor_value made(c.node.type_of("dtype", dtype::float32), shape_from(c.numbers(0)));
  fill_with_numbers<How>(sequence_of_key(c, 1), made);
  c.set(0, std::move(made));
}
inline void run_integers_of_key(kernel_context& c) {
  const auto [low, range] = bounds_of_integers(c, 4);
  tensor_value made(c.type(4), shape_from(c.numbers(0)));
  fill_with_integers(sequence_of_key(c, 1), low, range, made);
  c.set(0, std::move(made));
}
inline void run_all_integers(kernel_context& c, const kernels::seeded_sequence& sequence) {
  const data_type type = to_data_type(c.node.type_of("dtype"));
  tensor_value made(drawn_integers(type), shape_from(c.numbers(0)));
  fill_with_integers(sequence, 0, 0, made);
  give_integers(c, type, made);
}
inline void run_shuffle_of_key(kernel_context& c) {
  const kernels::seeded_sequence sequence = sequence_of_key(c, 1);
  const tensor_value in = c.input(0);
  if (in.extent().rank == 0 || in.extent()[0] <= 1 || in.elements() == 0) return c.set(0, in);
  c.set(0, shuffled_rows(sequence, in));
}

/// Gives the key and the counter that stand for a seed.
inline void run_key_of_seed(kernel_context& c) {
  const kernels::seeded_sequence sequence(integers(seed_pair(c, 0)).data());
  tensor_value key(dtype::int64, {1}), counter(dtype::int64, {2});
  key.values<std::int64_t>()[0] = static_cast<std::int64_t>(sequence.key);
  counter.values<std::int64_t>()[0] = static_cast<std::int64_t>(sequence.low);
  counter.values<std::int64_t>()[1] = static_cast<std::int64_t>(sequence.high);
  c.set(0, std::move(key));
  c.set(1, std::move(counter));
  if (c.result_count() > 2) c.set(2, tensor_value(std::int32_t{1}));
}

/// Advances the generator whose state is input 0 by `numbers` numbers. Returns its sequence before; `was` is set to a copy of that state.
inline kernels::seeded_sequence advance_generator(kernel_context& c, std::int64_t algorithm, std::uint64_t numbers,
                                                  tensor_value* was = nullptr) {
  check_algorithm(algorithm);
  variable_slot& state = c.variable(0);
  if (state.type() != dtype::int64)
    throw invalid_argument("dtype of RNG state variable must be int64, not " + dtype_name(state.type()));
  kernels::seeded_sequence sequence(0, 0, 0);
  state.update(
      [&](const tensor_value& now) {
        if (now.extent().rank != 1)
          throw invalid_argument("RNG state must have one and only one dimension, not " + std::to_string(now.extent().rank));
        if (now.extent()[0] < 3)
          throw invalid_argument("For the Philox algorithm, the size of state must be at least 3; got " + std::to_string(now.extent()[0]));
        if (was != nullptr) *was = now.copy();
      },
      [&](tensor_value& now) {
        const auto at = now.values<std::int64_t>();
        sequence = {static_cast<std::uint64_t>(at[2]), static_cast<std::uint64_t>(at[0]), static_cast<std::uint64_t>(at[1])};
        const kernels::seeded_sequence next = sequence.after(blocks_per_number * numbers);
        at[0] = static_cast<std::int64_t>(next.low);
        at[1] = static_cast<std::int64_t>(next.high);
      });
  return sequence;
}
template <distribution_of_numbers How>
void run_numbers_of_generator(kernel_context& c) {
  tensor_value made(c.node.type_of("dtype", dtype::float32), shape_from(c.numbers(2)));
  fill_with_numbers<How>(advance_generator(c, c.number(1), static_cast<std::uint64_t>(made.elements())), made);
  c.set(0, std::move(made));
}
inline void run_integers_of_generator(kernel_context& c) {
  const auto [low, range] = bounds_of_integers(c, 3);
  tensor_value made(c.type(3), shape_from(c.numbers(2)));
  fill_with_integers(advance_generator(c, c.number(1), static_cast<std::uint64_t>(made.elements())), low, range, made);
  c.set(0, std::move(made));
}
inline void run_all_integers_of_generator(kernel_context& c) {
  const data_type type = to_data_type(c.node.type_of("dtype"));
  tensor_value made(drawn_integers(type), shape_from(c.numbers(2)));
  fill_with_integers(advance_generator(c, c.number(1), static_cast<std::uint64_t>(made.elements())), 0, 0, made);
  give_integers(c, type, made);
}
inline void run_read_and_skip(kernel_context& c) {
  tensor_value was;
  advance_generator(c, c.number(1), static_cast<std::uint64_t>(c.number(2)), &was);
  c.set(0, std::move(was));
}

LEAT_FILL(fill_generator_kernels) {
  register_kernel("StatelessRandomUniformV2", run_numbers_of_key<distribution_of_numbers::uniform>);
  register_kernel("StatelessRandomNormalV2", run_numbers_of_key<distribution_of_numbers::normal>);
  register_kernel("StatelessTruncatedNormalV2", run_numbers_of_key<distribution_of_numbers::truncated_normal>);
  register_kernel("StatelessRandomUniformIntV2", run_integers_of_key);
  register_kernel("StatelessRandomUniformFullInt",
                  [](kernel_context& c) { run_all_integers(c, kernels::seeded_sequence(integers(seed_pair(c, 1)).data())); });
  register_kernel("StatelessRandomUniformFullIntV2", [](kernel_context& c) { run_all_integers(c, sequence_of_key(c, 1)); });
  register_kernel("StatelessShuffle", run_shuffle_of_key);
  register_kernels({"StatelessRandomGetKeyCounter", "StatelessRandomGetKeyCounterAlg"}, run_key_of_seed);
  register_kernel("StatelessRandomGetAlg", [](kernel_context& c) { c.set(0, tensor_value(std::int32_t{1})); });
  register_kernel("StatefulUniform", run_numbers_of_generator<distribution_of_numbers::uniform>);
  register_kernel("StatefulStandardNormalV2", run_numbers_of_generator<distribution_of_numbers::normal>);
  register_kernel("StatefulTruncatedNormal", run_numbers_of_generator<distribution_of_numbers::truncated_normal>);
  register_kernel("StatefulUniformInt", run_integers_of_generator);
  register_kernel("StatefulUniformFullInt", run_all_integers_of_generator);
  register_kernel("RngReadAndSkip", run_read_and_skip);
  register_kernel("RngSkip",
                  [](kernel_context& c) { advance_generator(c, c.number(1), static_cast<std::uint64_t>(c.number(2))); });
  register_kernel("NonDeterministicInts", [](kernel_context& c) {
    std::random_device device;
    const auto word = [&] { return (static_cast<std::uint64_t>(device()) << 32) | device(); };
    run_all_integers(c, kernels::seeded_sequence(word(), word(), word()));
  });
}

}  // namespace leat::runtime
