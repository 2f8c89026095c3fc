#pragma once
// The configuration for which this layer is compiled: the library's version, the processor's instruction sets, the libraries selected by
// LEAT_USE_ macros, and whether bodies are compiled separately. It changes functions without changing their names (how many values a
// register holds, which members a class has), and a program keeps only one function of each name. All objects of a program must therefore
// be compiled with the same configuration. The linker rejects differing objects if g++ writes ELF; in all other cases, and for shared
// libraries, the first session does.

#include <leat/core/error.hpp>
#include <leat/core/function_bodies.hpp>
#include <leat/core/version.hpp>
#include <leat/cpu/processor.hpp>

#include <cstring>
#include <string>

// Each configuration has a section group of its own, and the linker keeps one copy of each group. All groups define the same symbol, so two
// configurations define it twice, which is an error. clang is excluded, because its link-time optimization ignores groups and would reject
// equal objects, too.
#if defined(__ELF__) && defined(__GNUC__) && !defined(__clang__) && !defined(__CUDACC__)
#define LEAT_DIFFERENT_OBJECTS "leat_objects_of_one_program_differ_in_version_or_processor_flags_or_LEAT_macros"
#endif

#if defined(__SSE3__)
#define LEAT_WITH_SSE3 ".sse3"
#else
#define LEAT_WITH_SSE3
#endif
#if defined(__SSSE3__)
#define LEAT_WITH_SSSE3 ".ssse3"
#else
#define LEAT_WITH_SSSE3
#endif
#if defined(__SSE4_1__)
#define LEAT_WITH_SSE4_1 ".sse4_1"
#else
#define LEAT_WITH_SSE4_1
#endif
#if defined(__SSE4_2__)
#define LEAT_WITH_SSE4_2 ".sse4_2"
#else
#define LEAT_WITH_SSE4_2
#endif
#if defined(__AVX__)
#define LEAT_WITH_AVX ".avx"
#else
#define LEAT_WITH_AVX
#endif
#if defined(__FMA__)
#define LEAT_WITH_FMA ".fma"
#else
#define LEAT_WITH_FMA
#endif
#if defined(__AVX2__)
#define LEAT_WITH_AVX2 ".avx2"
#else
#define LEAT_WITH_AVX2
#endif
#if defined(__AVX512F__)
#define LEAT_WITH_AVX512F ".avx512f"
#else
#define LEAT_WITH_AVX512F
#endif
#if defined(__AVX512CD__) && defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define LEAT_WITH_AVX512 ".avx512cd_bw_dq_vl"
#else
#define LEAT_WITH_AVX512
#endif
#if defined(LEAT_USE_ONEDNN)
#define LEAT_WITH_ONEDNN ".onednn"
#else
#define LEAT_WITH_ONEDNN
#endif
#if defined(LEAT_USE_BLAS)
#define LEAT_WITH_BLAS ".blas"
#else
#define LEAT_WITH_BLAS
#endif
#if defined(LEAT_USE_TBB)
#define LEAT_WITH_TBB ".tbb"
#else
#define LEAT_WITH_TBB
#endif

#if defined(LEAT_SEPARATE_COMPILATION)
#define LEAT_WITH_SEPARATE ".separate"
#else
#define LEAT_WITH_SEPARATE
#endif
#if defined(_GLIBCXX_DEBUG)
#define LEAT_WITH_DEBUG ".debug_containers"
#else
#define LEAT_WITH_DEBUG
#endif

#define LEAT_CONFIGURATION                                                                                                \
  ".leat_" LEAT_VERSION_TEXT LEAT_WITH_SSE3 LEAT_WITH_SSSE3 LEAT_WITH_SSE4_1 LEAT_WITH_SSE4_2 LEAT_WITH_AVX LEAT_WITH_FMA \
      LEAT_WITH_AVX2 LEAT_WITH_AVX512F LEAT_WITH_AVX512 LEAT_WITH_ONEDNN LEAT_WITH_BLAS LEAT_WITH_TBB LEAT_WITH_SEPARATE  \
      LEAT_WITH_DEBUG

#if defined(LEAT_DIFFERENT_OBJECTS)
// .ifndef is needed because link-time optimization concatenates the assembly of several sources.
__asm__(".ifndef leat_configuration" LEAT_CONFIGURATION
        "\n.set leat_configuration" LEAT_CONFIGURATION ", 1\n.pushsection " LEAT_CONFIGURATION
        ",\"G\",@progbits,leat_configuration_group" LEAT_CONFIGURATION ",comdat\n.globl " LEAT_DIFFERENT_OBJECTS
        "\n.hidden " LEAT_DIFFERENT_OBJECTS "\n" LEAT_DIFFERENT_OBJECTS ":\n.byte 0\n.popsection\n.endif\n");
#endif

namespace leat::cpu {

namespace detail {

// The configuration of the source from which the program takes its definitions, and one that differs from it, if any.
inline const char* first_configuration = LEAT_CONFIGURATION;
inline const char* other_configuration = nullptr;

inline bool note_configuration(const char* mine) noexcept {
  if (std::strcmp(mine, first_configuration) != 0) other_configuration = mine;
  return true;
}
[[maybe_unused]] static const bool configuration_is_noted = note_configuration(LEAT_CONFIGURATION);

}  // namespace detail

/// Checks that all objects and shared libraries that share the library's functions were compiled with one configuration. Errors:
/// failed_precondition, which names both configurations.
inline void require_one_configuration() {
#if defined(LEAT_SEPARATE_COMPILATION)
  if (leat::detail::is_one_of_two)
    throw failed_precondition(
        "the program was compiled with -fvisibility=hidden and links the shared leat::runtime, whose tables it would not share: link "
        "leat::runtime_static, or compile with default visibility");
#endif
  if (detail::other_configuration == nullptr) return;
  throw failed_precondition(leat::detail::joined(
      {"this program's objects or shared libraries differ in the library's version, in the processor they were compiled for (-march), or "
       "in LEAT_ macros: one has ",
       detail::first_configuration, ", one ", detail::other_configuration,
       "; compile all of them alike, or give each shared library functions of its own (-fvisibility=hidden)"}));
}

}  // namespace leat::cpu

#undef LEAT_DIFFERENT_OBJECTS
#undef LEAT_WITH_SSE3
#undef LEAT_WITH_SSSE3
#undef LEAT_WITH_SSE4_1
#undef LEAT_WITH_SSE4_2
#undef LEAT_WITH_AVX
#undef LEAT_WITH_FMA
#undef LEAT_WITH_AVX2
#undef LEAT_WITH_AVX512F
#undef LEAT_WITH_AVX512
#undef LEAT_WITH_ONEDNN
#undef LEAT_WITH_BLAS
#undef LEAT_WITH_TBB
#undef LEAT_WITH_SEPARATE
#undef LEAT_WITH_DEBUG
#undef LEAT_CONFIGURATION
