// Defines macros for the instruction sets that the compiler's flags select. A header includes this one after all others, and
// end_instruction_set.hpp, which undefines the macros, at its end. For that reason there is no #pragma once.

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LEAT_BATCH_AVX512 1
#elif defined(__AVX2__)
#define LEAT_BATCH_AVX2 1
#endif
#if defined(__aarch64__) && defined(__ARM_NEON)
#define LEAT_BATCH_NEON64 1
#endif
#if defined(__SSE2__)
#define LEAT_BATCH_SSE2 1
#if !defined(__SSE4_1__)
#define LEAT_BATCH_NO_ROUNDING 1
#endif
#endif
