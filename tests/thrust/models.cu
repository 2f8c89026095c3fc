// Trained models and sessions' state on a GPU.

#include "models.hpp"

namespace leat_test {
long allocations_so_far();  // main_cuda.cpp, because nvcc takes no malloc of one's own
}
using namespace leat_test;

TEST_CASE("linear regression") { check_linear_regression<leat::thrust_cuda>(); }

TEST_CASE("a network with gradient descent") { check_network<leat::thrust_cuda>(gradient_descent(0.1_c)); }

TEST_CASE("a network with Adam") { check_network<leat::thrust_cuda>(adam(0.01_c)); }

TEST_CASE("rows of a table with Adagrad and momentum") {
  check_rows<leat::thrust_cuda>(adagrad(0.1_c));
  check_rows<leat::thrust_cuda>(momentum(0.1_c, 0.9_c));
}

TEST_CASE("variables and numbers") { check_state<leat::thrust_cuda>(); }

TEST_CASE("constant arrays") { check_constant_arrays<leat::thrust_cuda>(); }

TEST_CASE("errors") { check_errors<leat::thrust_cuda>(); }

TEST_CASE("recordings") { check_recordings<leat::thrust_cuda>(); }

TEST_CASE("a warm step allocates nothing") {
  const auto x = placeholder<"x", float, "batch", 10>();
  const auto y = placeholder<"y", float, "batch">();
  const auto w = variable<"w", float, 10, 1>(zeros);
  const auto loss = reduce_mean(square(squeeze<1>(matmul(x, w)) - y));
  const auto train = adam(0.01_c).minimize(loss);
  auto s = session_on<leat::thrust_cuda>(loss, train);
  s.initialize();
  const auto xs = filled<float>(std::array<std::size_t, 2>{100, 10});
  const auto ys = filled<float>(std::array<std::size_t, 1>{100});
  auto step = s.prepare(fetch(loss, train), x = xs, y = ys);
  for (int k = 0; k < 3; ++k) step();
  const auto free_memory = [] {
    std::size_t free = 0, all = 0;
    cudaMemGetInfo(&free, &all);
    return free;
  };
  const auto before = free_memory();
  const long allocations = allocations_so_far();
  step();
  CHECK(allocations_so_far() == allocations);
  CHECK(free_memory() == before);
}
