// Collectives between GPUs: compiled and linked wherever nvcc and NCCL are, run where each rank has a GPU of its own.

#define DOCTEST_CONFIG_IMPLEMENT
#include <leat/collective/data_parallel.hpp>  // what typed expressions need: with graphs nvcc takes two minutes more
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

template <int Ranks>
void check_gather() {
  const auto x = placeholder<"x", float, 2>();
  const auto all = all_gather<Ranks>(x);
  auto s = session_on<thrust_cuda>(all);
  const auto [rows] = s.run(fetch(all), x = std::vector<float>{static_cast<float>(rank()), 5});
  for (std::size_t r = 0; r < Ranks; ++r) CHECK((rows(2 * r) == static_cast<float>(r) && rows(2 * r + 1) == 5));
}

}  // namespace

// One session of all dtypes: nvcc takes long for each.
TEST_CASE("reductions and broadcasts of numbers on the device, and of integers by the host") {
  const auto x = placeholder<"x", float, 2, 3>();
  const auto d = placeholder<"d", double, 2>();
  const auto i = placeholder<"i", std::int32_t, 2>();
  const auto sum = all_reduce<reduce_by::sum, "sum">(x);
  const auto most = all_reduce<reduce_by::maximum>(x);
  const auto same = broadcast<0>(x);
  const auto mean = all_reduce<reduce_by::mean, "mean">(d);
  const auto integers = all_reduce<reduce_by::sum, "integers">(i);
  auto s = session_on<thrust_cuda>(sum, most, same, mean, integers);
  const int r = rank();
  const std::vector<float> values{static_cast<float>(1 + r), -2, static_cast<float>(10 * r), 0, 7, static_cast<float>(-r)};
  const auto [a, b, c, e, f] =
      s.run(fetch(sum, most, same, mean, integers), x = values, d = std::vector<double>{7, 2.0 * r}, i = std::vector<std::int32_t>{r, 1});
  CHECK(a(0, 0) == over_ranks([](int k) { return static_cast<float>(1 + k); }));
  CHECK(a(1, 2) == over_ranks([](int k) { return static_cast<float>(-k); }));
  CHECK(b(0, 2) == static_cast<float>(10 * (size() - 1)));
  CHECK(c(0, 0) == 1);
  CHECK(e(0) == 7);
  CHECK(e(1) == size() - 1);
  CHECK(f(0) == over_ranks([](int k) { return k; }));
  CHECK(f(1) == size());
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
