#pragma once
// Bodies of non-template functions stand in headers of their own, *_bodies.hpp, behind LEAT_FUNCTION. A header includes its bodies at its
// end, and they are inline, unless the program defines LEAT_SEPARATE_COMPILATION for all of its sources: then only the source that
// includes <leat/separate.hpp> compiles them, for the others; if none does, the linker reports it.

#if !defined(LEAT_SEPARATE_COMPILATION)
#define LEAT_WITH_BODIES 1
#define LEAT_FUNCTION inline
#elif defined(LEAT_SEPARATE_SOURCE)
#define LEAT_WITH_BODIES 1
#define LEAT_FUNCTION [[gnu::used]] inline  // compiled whether or not this source calls them, and inlined where it does
#else
#define LEAT_WITH_BODIES 0
namespace leat::detail {
void one_source_must_include_leat_separate_hpp();
inline const bool separate_part_is_linked = (one_source_must_include_leat_separate_hpp(), true);
}  // namespace leat::detail
#endif
