#pragma once
// The random numbers of a node. A node without seeds draws different numbers in each session. A node with seeds draws the same sequence in
// every session, and each run continues it: the numbers are TensorFlow's for the same seeds, where a kernel takes them from `blocks_of`.
// Other kernels take them from `draw`.
// Source: TensorFlow's GuardedPhiloxRandom: `seed` is the key of Philox, `seed2` the upper half of its counter.

#include <leat/core/text.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/random.hpp>
#include <leat/runtime/kernels/kernel.hpp>
#include <leat/runtime/kernels/walk.hpp>

#include <cmath>
#include <random>

namespace leat::runtime {

/// A node's position in its sequence of random numbers.
struct random_source : kernel_memory {
  std::uint64_t seed = 0;
  std::uint64_t next = 0;
};

/// The seed of a node's sequence: that of its attributes, or a random one.
inline std::uint64_t first_seed(const kernel_context& c) {
  const auto first = c.node.integer("seed"), second = c.node.integer("seed2");
  if (first != 0 || second != 0) return mix(mix(0x5eed, static_cast<std::uint64_t>(first)), static_cast<std::uint64_t>(second));
  std::random_device device;
  return mix(device(), mix(device(), static_cast<std::uint64_t>(c.node.index)));
}
/// Reserves the next `count` positions of a node's sequence. Returns the seed, and the first position.
inline std::pair<std::uint64_t, std::uint64_t> reserve(kernel_context& c, std::uint64_t count) {
  const auto seed = [&] { return first_seed(c); };
  if (random_table* const shared = c.step.session.random_numbers.get()) return shared->draw(c.node.name(), count, seed);
  const std::lock_guard lock(c.node.guard);
  if (c.node.memory == nullptr) {
    auto made = std::make_unique<random_source>();
    made->seed = seed();
    c.node.memory = std::move(made);
  }
  auto& source = static_cast<random_source&>(*c.node.memory);
  const std::uint64_t begin = source.next;
  source.next += count;
  return {source.seed, begin};
}
/// Reserves `count` numbers of a node's sequence. Returns the seed, and the position of the first number, a multiple of 4.
inline std::pair<std::uint64_t, std::uint64_t> draw(kernel_context& c, std::int64_t count) {
  return reserve(c, (static_cast<std::uint64_t>(count) + 3) / 4 * 4);
}

/// Word k of a sequence.
inline std::uint32_t word_of(const kernels::seeded_sequence& sequence, std::uint64_t k) {
  return sequence.block(static_cast<std::int64_t>(k / 4)).words[k % 4];
}

/// How many blocks TensorFlow reserves for each number, for distributions that reject some.
inline constexpr std::uint64_t blocks_per_number = 256;
/// A node's sequence from block `begin` on: that of its attributes; without seeds, that of `seed`.
inline kernels::seeded_sequence sequence_from(const kernel_context& c, std::uint64_t seed, std::uint64_t begin) {
  const auto first = static_cast<std::uint64_t>(c.node.integer("seed")), second = static_cast<std::uint64_t>(c.node.integer("seed2"));
  return first != 0 || second != 0 ? kernels::seeded_sequence(first, begin, second) : kernels::seeded_sequence(seed, begin, mix(seed, 1));
}
/// Reserves blocks of a node's sequence, and returns it from the first of these on.
inline kernels::seeded_sequence blocks_of(kernel_context& c, std::uint64_t count) {
  const auto [seed, begin] = reserve(c, count);
  return sequence_from(c, seed, begin);
}
/// As many blocks as TensorFlow reserves for a result of this many elements.
inline kernels::seeded_sequence blocks_for(kernel_context& c, std::int64_t elements) {
  return blocks_of(c, blocks_per_number * static_cast<std::uint64_t>(elements));
}

/// Calls f(begin, end) for runs of the numbers 0 to `count`, on several threads if there are many. Runs begin at multiples of 256.
template <class F>
void in_runs(std::int64_t count, F f) {
  constexpr std::int64_t run = 256;
  const std::int64_t runs = (count + run - 1) / run;
  const auto one = [&](std::int64_t k) { f(k * run, std::min((k + 1) * run, count)); };
  if (runs >= 16) cpu::parallel_for(runs, one);
  else
    for (std::int64_t k = 0; k < runs; ++k) one(k);
}
/// Fills an array of float32 or float64 with numbers of a distribution.
template <distribution_of_numbers How>
void fill_with_numbers(const kernels::seeded_sequence& sequence, tensor_value& made) {
  with_fraction(made.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    in_runs(made.elements(), [&](std::int64_t begin, std::int64_t end) { kernels::draw_numbers<How>(sequence, begin, end, to); });
  });
}
/// Fills an array of int32 or int64 with integers from `low` on, of `range` numbers, where 0 stands for all numbers of the dtype.
inline void fill_with_integers(const kernels::seeded_sequence& sequence, std::uint64_t low, std::uint64_t range, tensor_value& made) {
  with_index(made.type(), [&]<class T>(T) {
    T* const to = made.values<T>().data();
    in_runs(made.elements(), [&](std::int64_t begin, std::int64_t end) { kernels::draw_integers(sequence, low, range, begin, end, to); });
  });
}
/// The bounds of integers, the inputs `k` and `k` + 1: the least number, and how many there are.
inline std::pair<std::uint64_t, std::uint64_t> bounds_of_integers(kernel_context& c, int k) {
  for (int i = k; i < k + 2; ++i)
    if (c.extent(i).rank != 0)
      throw invalid_argument((i == k ? "minval" : "maxval") + (" must be 0-D, got shape " + brackets(c.extent(i))));
  const std::int64_t low = c.number(k), high = c.number(k + 1);
  if (low >= high) throw invalid_argument("Need minval < maxval, got " + std::to_string(low) + " >= " + std::to_string(high));
  return {static_cast<std::uint64_t>(low), static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low)};
}

/// The rows of an array in a random order.
inline tensor_value shuffled_rows(const kernels::seeded_sequence& sequence, const tensor_value& in) {
  const shape& s = in.extent();
  std::vector<std::int64_t> order(static_cast<std::size_t>(s[0]));
  kernels::draw_order(sequence, s[0], order.data());
  tensor_value made(in.type(), s);
  const std::int64_t width = product(s, 1, s.rank);
  with_storage(in.type(), [&]<class S>(S) {
    S* to = stored<S>(made);
    for (auto row : order) to = std::copy_n(stored<S>(in) + row * width, width, to);
  });
  return made;
}

/// Fractions in [0, 1) and normal numbers from one sequence. Each takes the next block when it has none left, and gives the second number
/// of its block first, as TensorFlow's kernels do.
template <class T>
class mixed_numbers {
 public:
  explicit mixed_numbers(const kernels::seeded_sequence& sequence) : sequence_(sequence) {}
  T fraction() {
    if (fractions_left_ == 0) {
      const philox_block b = sequence_.block(next_++);
      for (int i = 0; i < each; ++i) fractions_[i] = kernels::unit_number<T>(b, i);
      fractions_left_ = each;
    }
    return fractions_[--fractions_left_];
  }
  T normal() {
    if (normals_left_ == 0) {
      const philox_block b = sequence_.block(next_++);
      for (int i = 0; i < each; i += 2) kernels::normal_numbers<T>(b, i, normals_ + i);
      normals_left_ = each;
    }
    return normals_[--normals_left_];
  }

 private:
  static constexpr int each = numbers_per_block<T>;
  kernels::seeded_sequence sequence_;
  std::int64_t next_ = 0;
  int fractions_left_ = 0, normals_left_ = 0;
  T fractions_[each], normals_[each];
};

}  // namespace leat::runtime
