// Collectives between GPUs: compiled and linked wherever nvcc and NCCL are, run where each rank has a GPU of its own.

#define DOCTEST_CONFIG_IMPLEMENT
#include <leat/collective.hpp>
#include <leat/leat.hpp>
#include <leat/thrust.hpp>

#include "collective/support/ranks.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <exception>
#include <vector>

using namespace leat;
using namespace leat_test;

namespace {

template <class T>
void check_collectives() {
  const auto x = placeholder<"x", T, 2, 3>();
  const auto sum = all_reduce<reduce_by::sum, "sum">(x);
  const auto mean = all_reduce<reduce_by::mean, "mean">(x);
  const auto most = all_reduce<reduce_by::maximum>(x);
  const auto same = broadcast<0>(x);
  auto s = session_on<thrust_cuda>(sum, mean, most, same);
  const std::vector<T> values{T(1 + rank()), T(-2), T(10 * rank()), T(0), T(7), T(-rank())};
  const auto [a, b, c, d] = s.run(fetch(sum, mean, most, same), x = values);
  CHECK(a(0, 0) == over_ranks([](int r) { return T(1 + r); }));
  CHECK(a(1, 2) == over_ranks([](int r) { return T(-r); }));
  CHECK(b(1, 1) == T(7));
  CHECK(c(0, 2) == T(10 * (size() - 1)));
  CHECK(d(0, 0) == T(1));
}

template <int Ranks>
void check_gather() {
  const auto x = placeholder<"x", float, 2>();
  const auto all = all_gather<Ranks>(x);
  auto s = session_on<thrust_cuda>(all);
  const auto [rows] = s.run(fetch(all), x = std::vector<float>{static_cast<float>(rank()), 5});
  for (std::size_t r = 0; r < Ranks; ++r) CHECK((rows(2 * r) == static_cast<float>(r) && rows(2 * r + 1) == 5));
}

}  // namespace

TEST_CASE("reductions and broadcasts of numbers on the device, and of integers by the host") {
  check_collectives<float>();
  check_collectives<double>();
  check_collectives<std::int32_t>();
}

TEST_CASE("the arrays of all ranks") {
  if (size() == 2) check_gather<2>();
}

TEST_CASE("a data-parallel step is that of one rank with all rows") {
  const auto x = placeholder<"x", float, "batch">();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float>(zeros);
  const auto loss = reduce_mean(square(x * w - y));
  const auto train = data_parallel(gradient_descent(0.25f)).minimize(loss);
  auto s = session_on<thrust_cuda>(train);
  s.initialize();
  s.run(fetch(train), x = std::vector<float>{1, 1}, y = std::vector<float>{static_cast<float>(rank()), static_cast<float>(rank())});
  CHECK(s.value(w) == doctest::Approx(0.5 * over_ranks([](int r) { return static_cast<double>(r); }) / size()));
}

int main(int argc, char** argv) {
  try {
    const collective::communicator ranks({.timeout = std::chrono::seconds(60)});
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices < ranks.size()) {
      std::printf("skipped: %d GPUs for %d ranks (%s)\n", status == cudaSuccess ? devices : 0, ranks.size(), cudaGetErrorString(status));
      return 77;
    }
    cudaSetDevice(ranks.rank());
    return doctest::Context(argc, argv).run();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s\n", e.what());
    return 1;
  }
}
