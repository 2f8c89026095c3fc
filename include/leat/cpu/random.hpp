#pragma once
// Random numbers on the CPU: threads share the runs of numbers.

#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/random.hpp>

namespace leat::cpu {

template <bool Normal, class Seed>
struct loops_of<kernels::stateless_random_kernel<Normal, Seed>> {
  static void run(const kernels::stateless_random_kernel<Normal, Seed>& k) {
    if (k.items() < 16) {
      for (std::int64_t i = 0; i < k.items(); ++i) k(i);
    } else {
      parallel_for(k.items(), [&](std::int64_t i) { k(i); });
    }
  }
};

}  // namespace leat::cpu
