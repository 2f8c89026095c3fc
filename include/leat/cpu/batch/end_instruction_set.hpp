// Undefines the macros of instruction_set.hpp, at the end of each header that uses them.

#undef LEAT_BATCH_AVX512
#undef LEAT_BATCH_AVX2
#undef LEAT_BATCH_NEON64
#undef LEAT_BATCH_SSE2
#undef LEAT_BATCH_NO_ROUNDING
