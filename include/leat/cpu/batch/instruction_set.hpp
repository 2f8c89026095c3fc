// What the compiler's flags say of the processor, as macros for the header that includes this one behind all others, and
// end_instruction_set.hpp at its end, which takes them back. So no #pragma once.

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LEAT_BATCH_AVX512 1
#elif defined(__AVX2__)
#define LEAT_BATCH_AVX2 1
#endif
#if defined(__SSE2__)
#define LEAT_BATCH_SSE2 1
#if !defined(__SSE4_1__)
#define LEAT_BATCH_NO_ROUNDING 1
#endif
#endif
