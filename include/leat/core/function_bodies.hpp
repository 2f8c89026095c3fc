#pragma once
// LEAT_FUNCTION, before the bodies of long non-template functions. They are inline, unless the program defines
// LEAT_SEPARATE_COMPILATION for all of its sources: then the one that includes <leat/separate.hpp> defines them for the others; if
// none does, the linker reports it.

#ifdef LEAT_SEPARATE_COMPILATION
#define LEAT_FUNCTION
namespace leat::detail {
void one_source_must_include_leat_separate_hpp();
inline const bool separate_part_is_linked = (one_source_must_include_leat_separate_hpp(), true);
}  // namespace leat::detail
#else
#define LEAT_FUNCTION inline
#endif
