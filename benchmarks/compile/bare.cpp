// What every program that uses leat pays before leat: xtensor and xsimd, and two arrays added.
#include <xsimd/xsimd.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xtensor.hpp>

#include <cstdio>

int main() {
  const xt::xtensor<float, 1> a{1, 2, 3}, b{4, 5, 6};
  const xt::xtensor<float, 1> sum = a + b;
  std::printf("%g\n", static_cast<double>(sum(2)));
}
