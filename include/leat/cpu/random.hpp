#pragma once
// Random numbers on the CPU: threads share the runs of numbers.

#include <leat/cpu/kernel_loops.hpp>
#include <leat/cpu/parallel.hpp>
#include <leat/kernels/random.hpp>

namespace leat::cpu {

template <class Kernel>
struct loops_of_runs {
  static void run(const Kernel& k) {
    if (k.items() < 16) {
      for (std::int64_t i = 0; i < k.items(); ++i) k(i);
    } else {
      parallel_for(k.items(), [&](std::int64_t i) { k(i); });
    }
  }
};
template <distribution_of_numbers How, class Seed>
struct loops_of<kernels::stateless_random_kernel<How, Seed>> : loops_of_runs<kernels::stateless_random_kernel<How, Seed>> {};
template <class Seed>
struct loops_of<kernels::stateless_integers_kernel<Seed>> : loops_of_runs<kernels::stateless_integers_kernel<Seed>> {};

}  // namespace leat::cpu
