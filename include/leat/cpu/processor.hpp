#pragma once
// Checks for a processor without the instructions for which the program, or a shared library, was compiled. The process then ends when it
// starts, or when the library is loaded, with a message on standard error and status 126, instead of by a signal at some later point.

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__CUDACC__) && (defined(__SSE4_2__) || defined(__AVX__))

#include <cstdlib>
#include <cstring>
#include <unistd.h>

namespace leat::cpu::detail {

// Runs before all other initialization, and is itself compiled for every x86-64.
[[gnu::constructor(101), gnu::target("general-regs-only,no-bmi,no-bmi2,no-lzcnt,no-popcnt")]] inline void require_processor() {
  __builtin_cpu_init();
  const char* missing = nullptr;
#if defined(__SSE4_2__)
  if (!__builtin_cpu_supports("sse4.2")) missing = "SSE4.2";
#endif
#if defined(__AVX__)
  if (!__builtin_cpu_supports("avx")) missing = "AVX";
#endif
#if defined(__AVX2__)
  if (!__builtin_cpu_supports("avx2")) missing = "AVX2";
#endif
#if defined(__FMA__)
  if (!__builtin_cpu_supports("fma")) missing = "FMA";
#endif
#if defined(__BMI2__)
  if (!__builtin_cpu_supports("bmi2")) missing = "BMI2";
#endif
#if defined(__AVX512F__)
  if (!__builtin_cpu_supports("avx512f")) missing = "AVX-512F";
#endif
#if defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
  if (!__builtin_cpu_supports("avx512bw") || !__builtin_cpu_supports("avx512dq") || !__builtin_cpu_supports("avx512vl") ||
      !__builtin_cpu_supports("avx512cd"))
    missing = "AVX-512 CD, BW, DQ and VL";
#endif
  if (missing == nullptr) return;
  const auto say = [](const char* text) {
    if (::write(2, text, std::strlen(text)) < 0) return;
  };
  say("leat: this program, or a library that it loads, was compiled for processors that have ");
  say(missing);
  say(", which this one has not: compile it with another -march\n");
  ::_exit(126);
}

}  // namespace leat::cpu::detail

#endif
