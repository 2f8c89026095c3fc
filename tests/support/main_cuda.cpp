// The main of the programs compiled by nvcc: doctest's where a GPU is at hand, otherwise the exit status that ctest
// reports as skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include <cuda_runtime_api.h>
#include <doctest/doctest.h>

#include "support/allocations.hpp"

#include <cstdio>

namespace leat_test {
long allocations_so_far();
/// The allocations of this program until now.
long allocations_so_far() { return allocations.load(); }
}  // namespace leat_test

int main(int argc, char** argv) {
  int devices = 0;
  const cudaError_t status = cudaGetDeviceCount(&devices);
  if (status != cudaSuccess || devices == 0) {
    std::printf("skipped: no GPU (%s)\n", cudaGetErrorString(status));
    return 77;
  }
  return doctest::Context(argc, argv).run();
}
