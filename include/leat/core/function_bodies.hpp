#pragma once
// Bodies of non-template functions stand in headers of their own, *_bodies.hpp, behind LEAT_FUNCTION. A header includes its bodies at its
// end, and they are inline, unless the program defines LEAT_SEPARATE_COMPILATION for all of its sources: then they are compiled once for
// all sources, by the one that includes <leat/separate.hpp>, which lists them. If no source includes it, the linker reports an error.

#include <leat/core/version.hpp>

// LEAT_INLINE declares a virtual function whose body is in such a header: g++ compiles a class, used or not, if its first virtual function
// is not inline in it.
#if !defined(LEAT_SEPARATE_COMPILATION)
#define LEAT_WITH_BODIES 1
#define LEAT_FUNCTION inline
#define LEAT_INLINE inline
#elif defined(LEAT_SEPARATE_SOURCE)
#define LEAT_WITH_BODIES 0
// These bodies are compiled whether or not this source calls them, and inlined where it does. clang would emit only one of the two symbols
// of a constructor or destructor that is inline and used, and not the one that callers refer to.
#if defined(__clang__)
#define LEAT_FUNCTION
#else
#define LEAT_FUNCTION [[gnu::used]] inline
#endif
#else
#define LEAT_WITH_BODIES 0
#endif
#if !defined(LEAT_INLINE)
#define LEAT_INLINE
#endif

#if defined(LEAT_SEPARATE_COMPILATION)
namespace leat::detail {
// A program has one such variable, and one of each of the library's tables, unless it is compiled with hidden visibility and a shared
// library has copies of its own.
inline bool is_one_of_two = false;
// Defined by the source that includes <leat/separate.hpp>, as leat::runtime does, for its version of the library.
template <int Major, int Minor, int Patch>
bool link_leat_runtime_or_include_leat_separate_hpp_in_one_source(const bool* callers);
template <>
bool link_leat_runtime_or_include_leat_separate_hpp_in_one_source<LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH>(
    const bool* callers);
#if !defined(LEAT_SEPARATE_SOURCE)
inline const bool runtime_is_linked =
    link_leat_runtime_or_include_leat_separate_hpp_in_one_source<LEAT_VERSION_MAJOR, LEAT_VERSION_MINOR, LEAT_VERSION_PATCH>(
        &is_one_of_two);
#endif
}  // namespace leat::detail
#endif
