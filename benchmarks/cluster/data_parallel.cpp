// Training on two ranks: the network 784-256-128-10 by gradient descent, 64 images on each, started by `mpirun -n 2 bench_data_parallel`.
// Beside it one rank with twice the batch on both processors, and a loop written by hand around MPI_Allreduce that has the same compiled
// gradients, and updates its arrays itself. In turns; of each the quickest of many steps. `[--rounds N]`

#include <leat/collective/data_parallel.hpp>
#include <leat/leat.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <tuple>
#include <vector>

namespace {

using namespace leat;

constexpr int batch = 64;
constexpr float rate = 0.05f;

std::vector<float> numbers(std::size_t count, float scale, unsigned seed) {
  std::vector<float> all(count);
  for (float& v : all) {
    seed = seed * 1664525u + 1013904223u;
    v = scale * (static_cast<float>(seed >> 8) / 8388608.0f - 1);
  }
  return all;
}
std::vector<std::int32_t> classes(std::size_t count) {
  std::vector<std::int32_t> all(count);
  for (std::size_t k = 0; k < count; ++k) all[k] = static_cast<std::int32_t>(7 * k % 10);
  return all;
}

struct layers {
  std::vector<float> w1 = numbers(784 * 256, 0.07f, 1), b1 = std::vector<float>(256), w2 = numbers(256 * 128, 0.12f, 2),
                     b2 = std::vector<float>(128), w3 = numbers(128 * 10, 0.2f, 3), b3 = std::vector<float>(10);
};

auto variables() {
  return std::make_tuple(variable<"w1", float, 784, 256>(zeros), variable<"b1", float, 256>(zeros), variable<"w2", float, 256, 128>(zeros),
                         variable<"b2", float, 128>(zeros), variable<"w3", float, 128, 10>(zeros), variable<"b3", float, 10>(zeros));
}
auto placeholders() {
  return std::make_tuple(placeholder<"w1", float, 784, 256>(), placeholder<"b1", float, 256>(), placeholder<"w2", float, 256, 128>(),
                         placeholder<"b2", float, 128>(), placeholder<"w3", float, 128, 10>(), placeholder<"b3", float, 10>());
}
template <int Batch>
auto images() {
  return placeholder<"x", float, Batch, 784>();
}
template <int Batch>
auto labels() {
  return placeholder<"y", std::int32_t, Batch>();
}
template <int Batch, class Weights>
auto loss_of(const Weights& weights) {
  const auto& [w1, b1, w2, b2, w3, b3] = weights;
  const auto hidden1 = relu(matmul(images<Batch>(), w1) + b1);
  const auto hidden2 = relu(matmul(hidden1, w2) + b2);
  return reduce_mean(sparse_softmax_cross_entropy_with_logits(labels<Batch>(), matmul(hidden2, w3) + b3));
}
template <class Session>
void set(Session& s, const layers& l) {
  s.initialize();
  const auto [w1, b1, w2, b2, w3, b3] = variables();
  const auto put = [&](const auto& v, const std::vector<float>& values) { s.assign(v, std::span<const float>(values)); };
  put(w1, l.w1), put(w2, l.w2), put(w3, l.w3);
}

// Seconds of the quickest step; all ranks take as many.
template <class Step>
double quickest(int steps, Step step) {
  double best = 1e9;
  for (int k = 0; k < steps; ++k) {
    const auto start = std::chrono::steady_clock::now();
    step();
    best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return best;
}

int measure(int rounds) {
  collective::communicator ranks;
  if (ranks.size() != 2) {
    std::fprintf(stderr, "mpirun -n 2 bench_data_parallel\n");
    return 2;
  }
  const auto r = static_cast<std::size_t>(ranks.rank());
  const layers start;
  const auto all_x = numbers(2 * batch * 784, 1, 5);
  const auto all_y = classes(2 * batch);
  const std::vector<float> own_x(all_x.begin() + static_cast<std::ptrdiff_t>(r * batch * 784),
                                 all_x.begin() + static_cast<std::ptrdiff_t>((r + 1) * batch * 784));
  const std::vector<std::int32_t> own_y(all_y.begin() + static_cast<std::ptrdiff_t>(r * batch),
                                        all_y.begin() + static_cast<std::ptrdiff_t>((r + 1) * batch));

  // One rank, twice the batch.
  const auto whole_train = gradient_descent(rate).minimize(loss_of<2 * batch>(variables()));
  session whole{whole_train};
  set(whole, start);
  auto whole_step = whole.prepare(fetch(whole_train), images<2 * batch>() = all_x, labels<2 * batch>() = all_y);

  // Two ranks.
  const auto train = data_parallel(gradient_descent(rate)).minimize(loss_of<batch>(variables()));
  session both{train};
  set(both, start);
  auto both_step = both.prepare(fetch(train), images<batch>() = own_x, labels<batch>() = own_y);

  // By hand: the gradients of arrays, one behind the other; their sum over ranks; the update.
  layers hand;
  std::vector<float>* const arrays[]{&hand.w1, &hand.b1, &hand.w2, &hand.b2, &hand.w3, &hand.b3};
  std::size_t elements = 0;
  std::span<float> parts[6];
  for (const auto* a : arrays) elements += a->size();
  std::vector<float> flat(elements);
  for (std::size_t k = 0, at = 0; k < 6; at += arrays[k++]->size()) parts[k] = {flat.data() + at, arrays[k]->size()};
  const auto [w1, b1, w2, b2, w3, b3] = placeholders();
  const auto [d1, e1, d2, e2, d3, e3] = gradients(loss_of<batch>(placeholders()), w1, b1, w2, b2, w3, b3);
  session slopes{d1, e1, d2, e2, d3, e3};
  auto slopes_step = slopes.prepare(
      fetch(into(d1, parts[0]), into(e1, parts[1]), into(d2, parts[2]), into(e2, parts[3]), into(d3, parts[4]), into(e3, parts[5])),
      images<batch>() = own_x, labels<batch>() = own_y, w1 = std::span<const float>(hand.w1), b1 = std::span<const float>(hand.b1),
      w2 = std::span<const float>(hand.w2), b2 = std::span<const float>(hand.b2), w3 = std::span<const float>(hand.w3),
      b3 = std::span<const float>(hand.b3));
  const auto hand_step = [&] {
    slopes_step();
    MPI_Allreduce(MPI_IN_PLACE, flat.data(), static_cast<int>(flat.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    for (std::size_t k = 0; k < 6; ++k) {
      float* const to = arrays[k]->data();
      const float* const g = parts[k].data();
      for (std::size_t i = 0; i < parts[k].size(); ++i) to[i] -= rate * 0.5f * g[i];
    }
  };
  // The sum alone, as a measure of the transport.
  std::vector<float> message(elements, 1);
  const auto sum_alone = [&] {
    MPI_Allreduce(MPI_IN_PLACE, message.data(), static_cast<int>(message.size()), MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
    message[0] = 1;
  };

  // All three compute the same.
  for (int k = 0; k < 5; ++k) whole_step(), both_step(), hand_step();
  const auto w3_of = [&](auto& s) { return s.value(std::get<4>(variables())); };
  const auto a = w3_of(whole), b = w3_of(both);
  float difference = 0;
  for (std::size_t i = 0; i < 128; ++i)
    for (std::size_t j = 0; j < 10; ++j)
      difference = std::max({difference, std::abs(a(i, j) - b(i, j)), std::abs(hand.w3[10 * i + j] - b(i, j))});
  if (difference > 1e-5f) {
    std::fprintf(stderr, "the three differ by %g\n", static_cast<double>(difference));
    return 1;
  }

  double one = 1e9, two = 1e9, written = 1e9, transport = 1e9;
  const int threads = cpu::thread_count();
  for (int k = 0; k < rounds; ++k) {
    cpu::set_thread_count(threads);
    if (ranks.rank() == 0) one = std::min(one, quickest(200, whole_step));
    ranks.barrier();
    cpu::set_thread_count(std::max(1, threads / 2));  // each rank its half
    two = std::min(two, quickest(200, both_step));
    ranks.barrier();
    written = std::min(written, quickest(200, hand_step));
    ranks.barrier();
    transport = std::min(transport, quickest(200, sum_alone));
    ranks.barrier();
  }
  if (ranks.rank() == 0) {
    std::printf("one rank, 128 images on all processors   %8.1f us a step\n", 1e6 * one);
    std::printf("data_parallel, 2 ranks of 64 images      %8.1f us   %.2f of one rank, %.2f of the loop by hand\n", 1e6 * two, two / one,
                two / written);
    std::printf("by hand around MPI_Allreduce             %8.1f us\n", 1e6 * written);
    std::printf("MPI_Allreduce of %zu numbers alone     %8.1f us\n", elements, 1e6 * transport);
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 5;
  for (int k = 1; k + 1 < argc; ++k)
    if (std::strcmp(argv[k], "--rounds") == 0) rounds = std::max(1, std::atoi(argv[k + 1]));
  try {
    return measure(rounds);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
