#pragma once
// Functions that are no templates but long: LEAT_FUNCTION before their bodies. They are inline, unless the program defines
// LEAT_SEPARATE_COMPILATION for all of its sources: then the one that includes <leat/separate.hpp> has them for the others, and
// that there is one is the linker's to see.

#ifdef LEAT_SEPARATE_COMPILATION
#define LEAT_FUNCTION
namespace leat::detail {
void one_source_must_include_leat_separate_hpp();
inline const bool separate_part_is_linked = (one_source_must_include_leat_separate_hpp(), true);
}  // namespace leat::detail
#else
#define LEAT_FUNCTION inline
#endif
